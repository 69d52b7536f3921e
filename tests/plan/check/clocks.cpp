#include <tilewright/plan/check/clocks.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/cores.hpp"

// A clock for each core. A copied element takes a load and a store; an element of `twice` takes three cycles in each stage.

using namespace small_kernels;

namespace {
std::int64_t cycles_of(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!plan->refusal);
    prediction const found = predict(*plan), followed = predict(*plan, visiting::everything);
    CHECK((found.resolved && followed.resolved && found.cycles == followed.cycles));
    return found.cycles;
}
}  // namespace

TEST_CASE("cores work side by side, until the one with the largest share is ready") {
    CHECK(cycles_of(schedule(copy, two)) == 10 * 6 * 2);
    CHECK(cycles_of(schedule(copy, two).distribute(m, pair_of_cores)) == 5 * 6 * 2);
    CHECK(cycles_of(schedule(copy, four).distribute(m, four_cores)) == 3 * 6 * 2);   // 3, 3, 3 and 1 rows
    CHECK(cycles_of(schedule(copy, four).distribute(n, four_cores)) == 10 * 2 * 2);  // 2, 2, 2 and 0 columns
    CHECK(cycles_of(schedule(copy, four).distribute(m, four_cores, 3)) == 4 * 6 * 2);
}
TEST_CASE("at a barrier all go on when the last has come") {
    auto const both = schedule(twice, two).store_in(S, common).distribute(m, pair_of_cores).stage(S).distribute(m, pair_of_cores);
    CHECK(cycles_of(both) == 5 * 6 * 3 + 7 + 5 * 6 * 3);
    // Core 0 computes all of the first stage.
    CHECK(cycles_of(schedule(twice, two).store_in(S, common).distribute(m, pair_of_cores)) == 10 * 6 * 3 + 7 + 5 * 6 * 3);
}
TEST_CASE("cores do not meet in tiles that the axis does not have") {
    axis const moo{"moo"}, moi{"moi"};
    auto const in_turns = schedule(twice, two)
                              .split(m, mo, mi, 4)
                              .split(mo, moo, moi, 2)
                              .distribute(n, pair_of_cores)
                              .reorder(moo, moi, n, mi)
                              .compute_at(S, moi)
                              .stage(S)
                              .store_in(S, common)
                              .distribute(n, pair_of_cores);
    // Three tiles, and none where the fourth would be. In each, C has three columns for each core, with a barrier before each of them and
    // after the last. Half of 60 elements, three cycles in each stage.
    CHECK(cycles_of(in_turns) == 30 * (3 + 3) + 3 * (3 + 1) * 7);
}
TEST_CASE("loops that are run as one are those of the core that leads them") {
    auto const on = [&](int core) {
        return cycles_of(schedule(twice, two).stage(S).parallel(m).on(pair_of_cores, core).store_in(S, common));
    };
    CHECK(on(0) == 60 * (3 + 3));
    CHECK(on(1) == 60 * 3 + 5 + 60 * 3);
}
TEST_CASE("a core goes on when it has taken a signal") {
    auto const in_turns = [](int versions) {
        schedule s(twice, two);
        return s.compute_at(S, m).stage(S).on(pair_of_cores, 1).store_in(S, common).buffers(versions);
    };
    // In one version a row follows the other: 18 cycles, a signal of 5, 18 cycles, a signal of 5.
    CHECK(cycles_of(in_turns(1)) == 10 * (18 + 5 + 18 + 5));
    // In two versions a version goes round in as many cycles, while the other one does.
    CHECK(cycles_of(in_turns(2)) == 23 + 4 * 46 + 18 + 18 + 5);
}
TEST_CASE("every core has engines of its own") {
    // Each loads 5 rows of 24 bytes into its own memory, one ahead, a byte a cycle: row t + 1 arrives while row t is copied in 12 cycles.
    CHECK(cycles_of(schedule(copy, two).distribute(m, pair_of_cores).cache_read(A, own).at(m).buffers(2)) == 5 * 24 + 12);
}
