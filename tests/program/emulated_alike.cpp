#include <tilewright/emulate/program_emulator.hpp>

#include "alike_emulated.h"
#include "catch.hpp"
#include "program/alike_program.hpp"

TEST_CASE("kernels that share C functions, on the emulated machine: results are those by hand, cycles those of the plan") {
    using alike_programs::kinds;
    tilewright::program_emulator& on = tilewright::emulated_program<kinds>();
    for (tilewright::progress how : {tilewright::progress::earliest, tilewright::progress::latest, tilewright::progress::random}) {
        alike_programs::numbers n;
        on.use(how);
        on.fill_memories(0xa5);
        on.reset();
        REQUIRE(alike_emulated(n.a.data(), n.b.data(), n.less.data(), n.turned.data(), n.swapped.data(), n.scaled.data(), n.third.data()) ==
                0);
        REQUIRE(on.error() == "");
        CHECK(n.wrong() == 0);
        CHECK(tilewright::program_plan<kinds>.cycles() == on.cycles());
    }
}
