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
TEST_CASE("a step that is neither moved nor computed is left out past the end of an axis, unless its loop goes on there") {
    // Three tiles of four rows, of which the third is past the end, and three of two columns.
    plan_value plan = empty_plan(asynchronous, copy.view());
    variable_id const o = add_loop(plan, "o", 3), p = add_loop(plan, "p", 3);
    plan.limits.push({keep(plan, 0, {{4, o}}), 8, 0_stage, o, false});
    plan.rings.push({.engine = 0, .steps = 3, .step = keep(plan, 0, {{1, o}})});
    plan.waits.push({.ring = 0, .step = plan.rings[0].step});
    auto const times_of = [&](step_kind kind, bool around) {
        plan.steps = {}, plan.tallies = {};
        add_steps(plan, {{step_kind::loop, o}, {step_kind::loop, p}, {kind, 0}, {step_kind::end, p}});
        if (around) add_steps(plan, {{step_kind::wait, 0}});
        add_steps(plan, {{kind, 0}, {step_kind::end, o}});
        REQUIRE(count_partial(plan).what == nullptr);
        std::vector<std::int64_t> times;
        plan.walk([&](step const& s, std::int64_t number, std::int64_t) {
            if (s.kind == kind) times.push_back(number);
        });
        return times;
    };
    for (step_kind const kind : {step_kind::barrier, step_kind::configure, step_kind::fence}) {
        CHECK(times_of(kind, false) == std::vector<std::int64_t>{2 * 3, 2});
        // The inner loop has no step of a ring.
        CHECK(times_of(kind, true) == std::vector<std::int64_t>{2 * 3, 3});
    }
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
