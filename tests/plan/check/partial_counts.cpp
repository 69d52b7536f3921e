#include <tilewright/plan/check/partial_counts.hpp>

#include <tilewright/plan/planner.hpp>
#include <vector>

#include "plan/small_kernels.hpp"

// What the steps of a program with partial tiles do in one run.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// The counts of all steps of a kind, as they are counted again.
std::vector<tally> counted(schedule const& of, step_kind kind) {
    plan_value plan = make_plan(of);
    REQUIRE_FALSE(plan.refusal);
    plan.tallies = {};
    for (int at = 0; at < plan.steps.size(); ++at) plan.steps[at].tally = -1;
    REQUIRE(count_partial(plan).what == nullptr);
    std::vector<tally> found;
    for (int at = 0; at < plan.steps.size(); ++at) {
        if (plan.steps[at].kind == kind && plan.steps[at].tally >= 0) found.push_back(plan.tallies[plan.steps[at].tally]);
    }
    return found;
}

}  // namespace

TEST_CASE("ten rows in tiles of four: what is moved and computed is ten rows") {
    schedule const of = schedule(copy, blocking).split(m, mo, mi, 4).cache_read(A, spad).at(mo).cache_write(C, spad).at(mo);
    for (tally const& moved : counted(of, step_kind::start)) {
        CHECK((moved.times == 3 && moved.bytes == 10 * 6 * 4));
        CHECK(moved.cycles == 240);  // a byte a cycle
    }
    auto const computed = counted(of, step_kind::compute);
    REQUIRE(computed.size() == 1);
    CHECK((computed[0].times == 3 && computed[0].cycles == 10 * 6 * 2));
}
TEST_CASE("cycles of a call are rounded up for each, and have what is the same for all") {
    static constexpr auto wide = transfer("wide", dram, spad).dimensions(2).cost({.latency = 7, .setup = 2, .bytes_per_cycle = 32});
    static constexpr auto on = machine("on", dram, spad, wide);
    // Rows of 6 are dense: 96 bytes, twice, and 48 bytes, which take 3, 3 and 2 cycles.
    auto const moved = counted(schedule(copy, on).split(m, mo, mi, 4).cache_read(A, spad).at(mo), step_kind::start);
    REQUIRE(moved.size() == 1);
    CHECK(moved[0].cycles == 3 * (7 + 2) + 3 + 3 + 2);
}
TEST_CASE("loads that run ahead are counted in front of the loop and in it, once for each tile") {
    auto const moved =
        counted(schedule(copy, asynchronous).split(m, mo, mi, 4).cache_read(A, spad).by(fetch).at(mo).buffers(2), step_kind::start);
    REQUIRE(moved.size() == 2);
    CHECK((moved[0].times == 1 && moved[0].bytes == 4 * 24));
    CHECK((moved[1].times == 2 && moved[1].bytes == (4 + 2) * 24));
    // More versions than tiles: all of them in front.
    auto const early =
        counted(schedule(copy, asynchronous).split(m, mo, mi, 4).cache_read(A, spad).by(fetch).at(mo).buffers(5), step_kind::start);
    REQUIRE(early.size() == 1);
    CHECK((early[0].times == 3 && early[0].bytes == 240));
}
TEST_CASE("what a reduction starts from is written once for each element, and its steps are those that there are") {
    // k of 5 by 2: a step loads two operands and the sum, multiplies, adds and stores.
    auto const steps =
        counted(schedule(product, blocking).split(k, ko, ki, 2).reorder(ko, m, n, ki).cache_read(A, spad).at(ko), step_kind::compute);
    REQUIRE(steps.size() == 1);
    operation_costs const costs = blocking.host().costs;
    CHECK((steps[0].times == 3 && steps[0].cycles == 10 * 6 * 5 * (3 * costs.load + costs.multiply + costs.arithmetic + costs.store)));
    // All of it a body: the start is in it, for pure loops alone.
    auto const whole =
        counted(schedule(product, blocking).split(m, mo, mi, 4).cache_read(A, spad).at(mo).split(k, ko, ki, 2), step_kind::compute);
    REQUIRE(whole.size() == 1);
    CHECK(whole[0].cycles == 10 * 6 * 5 * (3 * costs.load + costs.multiply + costs.arithmetic + costs.store) + 10 * 6 * costs.store);
}
TEST_CASE("whole tiles need no counts, and what cannot be counted is refused") {
    CHECK(counted(schedule(copy, blocking).split(m, mo, mi, 5).cache_read(A, spad).at(mo), step_kind::start).empty());
    blank t;
    refuse_excess(t.p, {});
    CHECK_FALSE(t.p.refused());
    refuse_excess(t.p, {"sizes of partial tiles", 64});
    CHECK(t.p.first_verdict().names[0] == "sizes of partial tiles");
    CHECK((t.p.first_verdict().facts[0].value == 65 && t.p.first_verdict().facts[1].value == 64));
}
TEST_CASE("loops of a ring are known") {
    ring r;
    r.loops[r.loop_count++] = 4_variable;
    CHECK((is_loop_of(r, 4) && !is_loop_of(r, 0)));
}
