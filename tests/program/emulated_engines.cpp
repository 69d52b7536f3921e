#include <cstring>
#include <tilewright/emulate/program_emulator.hpp>

#include "catch.hpp"
#include "copying_emulated.h"
#include "program/engine_program.hpp"

using namespace engine_programs;

TEST_CASE("generated code of the emulated binding: results and cycles are the planned ones whenever data moves, also behind a failure") {
    program_emulator& on = emulated_program<copying>();
    std::array<std::int32_t, 100> result{};
    auto const prepare = [&](progress how) {
        on.use(how);
        on.fill_memories(0xa5);
        on.reset();
        result.fill(-1);
        for (int at = 0; at < 100; ++at) {
            std::int32_t const value = at * 7 - 50;
            std::memcpy(on.address(in) + 4 * at, &value, 4);
        }
    };
    auto const check = [&] {
        REQUIRE(copying_emulated(result.data()) == 0);
        REQUIRE(on.error() == "");
        CHECK(on.cycles() == 1790);
        for (int at = 0; at < 100; ++at) {
            std::int32_t const turned_in = (at % 10 * 10 + at / 10) * 7 - 50 + 1, number = at * at - 3000;
            std::int32_t saved = 0;
            std::memcpy(&saved, on.address(kept) + 4 * at, 4);
            REQUIRE(saved == turned_in + number);
            REQUIRE(result[at] == 2 * (turned_in + 2 * number));
        }
    };
    for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
        INFO(name_of(how));
        prepare(how);
        check();
        // The third call of the engine that saves fails, while the other one brings something.
        prepare(how);
        on.on(saver).fail_transfer(3, -7);
        CHECK(copying_emulated(result.data()) == -7);
        for (agent const& a : {cpu, loader, saver}) CHECK(on.on(a).in_flight() == 0);
        for (std::int32_t one : result) CHECK(one == -1);
        // Nothing is left of it.
        prepare(how);
        check();
    }
}
