#include <tilewright/emulate/program_emulator.hpp>

#include "catch.hpp"
#include "program/executed_alike.hpp"
#include "program/team_program.hpp"
#include "shared_by_four_emulated.h"
#include "team_emulated.h"

using namespace core_programs;

TEST_CASE("generated code on four emulated cores: right bits and the planned cycles, whichever core goes on and whenever data moves") {
    program_emulator& on = emulated_program<shared_by_four>();
    on.cores().watch();
    std::array<std::int32_t, 100> given{}, result{};
    for (int at = 0; at < 100; ++at) given[static_cast<std::size_t>(at)] = at * 7 - 50;
    auto const run = [&] { return on.cores().run([&](int core) { return shared_by_four_emulated(core, given.data(), result.data()); }); };
    auto const prepare = [&](progress how) {
        on.use(how);
        on.fill_memories(0xa5);
        on.reset();
        result.fill(-1);
    };
    auto const check = [&] {
        REQUIRE(run() == 0);
        REQUIRE(on.error() == "");
        CHECK(program_plan<shared_by_four>.cycles() == on.cycles());
        for (int at = 0; at < 100; ++at)
            REQUIRE(result[static_cast<std::size_t>(at)] == 2 * (2 * ((at % 10 * 10 + at / 10) * 7 - 50 + 1) + at * at - 3000));
    };
    for (interleaving turns : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            INFO(static_cast<int>(turns) << " " << name_of(how));
            on.cores().use(turns, 3);
            prepare(how);
            check();
            // A transfer of core 2 fails. The others stop at their next meeting, and core 0 makes no result.
            prepare(how);
            on.cores().on(2).fail_transfer(3, -7);
            CHECK(run() == -7);
            for (int core = 0; core < 4; ++core) CHECK(on.cores().on(core).in_flight() == 0);
            for (std::int32_t one : result) CHECK(one == -1);
            prepare(how);
            check();
        }
    }
    CHECK(shared_by_four_emulated(4, given.data(), result.data()) == -3000);
    CHECK(shared_by_four_emulated(-1, given.data(), result.data()) == -3000);
    // Nobody else comes.
    on.reset();
    CHECK(shared_by_four_emulated(0, given.data(), result.data()) == emulation_deadlock);
}

TEST_CASE("generated code on cores of two kinds with an agent beside them: right bits and the planned cycles, and nothing left under way") {
    using namespace team_programs;
    program_emulator& on = emulated_program<team>();
    on.cores().watch();
    std::array<std::int32_t, 100> given{}, result{};
    for (int at = 0; at < 100; ++at) given[static_cast<std::size_t>(at)] = at * 7 - 50;
    auto const run = [&](progress how) {
        on.use(how);
        on.fill_memories(0xa5);
        result.fill(-1);
        return on.cores().run([&](int core) { return team_emulated(core, given.data(), result.data()); });
    };
    on.record();
    auto const check = [&](progress how) {
        on.reset();
        REQUIRE(run(how) == 0);
        REQUIRE(on.error() == "");
        CHECK(program_plan<team>.cycles() == on.cycles());
        CHECK(programs::executed_otherwise(program_plan<team>, on) == "");
        for (int at = 0; at < 100; ++at) REQUIRE(result[static_cast<std::size_t>(at)] == expected(at));
    };
    for (interleaving turns : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            INFO(static_cast<int>(turns) << " " << name_of(how));
            on.cores().use(turns, 3);
            check(how);
            // While the agent works beside them, a transfer of each core fails: core 0 joins the agent before it returns.
            for (int core = 0; core < 4; ++core) {
                on.reset();
                on.cores().on(core).fail_transfer(2, -7);
                INFO("core " << core);
                CHECK(run(how) == -7);
                for (std::int32_t one : result) CHECK(one == -1);
                check(how);
            }
        }
    }
}
