#include <tilewright/plan/ir/plan_value.hpp>

#include <tilewright/plan/check/totals.hpp>

#include <stdexcept>
#include <tilewright/plan/check/core_shares.hpp>
#include <vector>

#include "plan/small_kernels.hpp"

// What is asked of a plan: counts, peaks, and who does what.

using namespace small_kernels;

namespace {

constexpr axis r4{"r", 4};
constexpr tensor<float> x{"x"}, y{"y"};
constexpr engine pair{.name = "pair", .channels = 2}, unit{"unit"};
constexpr auto step_of = intrinsic("step", y(r4) = x(r4) * 2.0f).reads(x, spad).writes(y, spad).on(unit).asynchronous();
constexpr auto load = transfer("load", dram, spad).on(pair).asynchronous().cost({.latency = 7});
/// Memories dram 0, spad 1, banked 2; engines pair 0 (lanes 0 and 1), unit 1 (lane 2); transfers load 0, get 1.
constexpr auto where = machine("where", dram, spad, banked, pair, unit, load, get, step_of);

/// Loops of 3 around 4; a load in the outer loop, a body in both.
struct two_loops {
    plan_value plan = empty_plan(where, copy.view());
    variable_id o = add_loop(plan, "o", 3), i = add_loop(plan, "i", 4);
    two_loops() {
        plan.movements.push({.transfer = 1, .bytes = 16, .cycles = 20});
        plan.bodies.push({.cycles = 5});
        add_steps(plan, {{step_kind::loop, o},
                         {step_kind::start, 0},
                         {step_kind::loop, i},
                         {step_kind::compute, 0},
                         {step_kind::end, i},
                         {step_kind::end, o}});
    }
    std::vector<std::int64_t> times() const {
        std::vector<std::int64_t> all;
        plan.walk([&](step const&, std::int64_t times, std::int64_t) { all.push_back(times); });
        return all;
    }
};

}  // namespace

TEST_CASE("a step runs as often as the loops around it say") {
    two_loops t;
    CHECK(t.times() == std::vector<std::int64_t>{1, 3, 3, 12, 3, 1});
    CHECK(t.plan.traffic_of(1).calls == 3);
    CHECK(t.plan.traffic_of(1).bytes == 3 * 16);
    CHECK(t.plan.busy_cycles(-1) == 3 * 20 + 12 * 5);
    // counted exactly where tiles are partial
    t.plan.steps[3].tally = static_cast<std::int16_t>(t.plan.tallies.push({10, 2, 0, 44, 0}));
    CHECK(t.times()[3] == 10);
    CHECK(t.plan.busy_cycles(-1) == 3 * 20 + 44);
}
TEST_CASE("what a reduction starts from is written in the first iterations, and their cycles are those of the first form") {
    two_loops t;
    body& b = t.plan.bodies[0];
    b = {.kind = body_kind::identity, .cycles = 5};
    b.first_loops[b.first_loop_count++] = t.o;
    CHECK(t.times()[3] == 4);
    b.kind = body_kind::intrinsic, b.intrinsic = 0, b.first_intrinsic = 0, b.first_cycles = 2;
    CHECK(t.times()[3] == 12);
    CHECK(t.plan.executions_of(0) == 12);
    CHECK(t.plan.busy_cycles(1) == 4 * 2 + 8 * 5);
    tally const all = t.plan.total_of(t.plan.steps[3], 12, 4);
    CHECK((all.cycles == 48 && all.first_cycles == 8 && all.times == 12 && all.first_times == 4));
}
TEST_CASE("steps of a ring that lie in front of the loops or behind them are not there") {
    two_loops t;
    t.plan.rings.push({.versions = 3, .steps = 12});
    auto const times = [&](ring_step const& at) { return t.plan.with_step(12, at); };
    CHECK(times({.ring = 0}) == 12);
    CHECK(times({.ring = 0, .ahead = 2}) == 10);
    CHECK(times({.ring = 0, .ahead = -3}) == 9);
    CHECK(times({.ring = 0, .ahead = -3, .fewer = 5}) == 7);  // 3 steps back: of the last 5, 2 would come too late
    CHECK(times({.ring = 0, .ahead = 12}) == 0);
    CHECK(times({.ring = 0, .only_where = t.i}) == 3);
    CHECK(t.plan.with_step(24, {.ring = 0, .ahead = 2}) == 20);  // the loops around run twice
}
TEST_CASE("loops hold steps of rings, or none") {
    two_loops t;
    CHECK_FALSE(t.plan.holds_ring_steps(0));
    t.plan.movements[0].at.ring = 0;
    CHECK(t.plan.holds_ring_steps(0));
    CHECK_FALSE(t.plan.holds_ring_steps(2));
}
TEST_CASE("the peak of a bank is the highest end of what lies there") {
    plan_value plan = empty_plan(where, copy.view());
    plan.buffers.push({.kind = buffer_kind::argument, .memory = 2, .bytes = 999});
    plan.buffers.push({.kind = buffer_kind::staged, .memory = 2, .bytes = 32, .offset = 64, .versions = 3, .bank = 1, .part_stride = 32});
    plan.buffers.push({.kind = buffer_kind::staged, .memory = 2, .bytes = 8, .offset = 0, .bank = 0, .part_stride = 32});
    plan.buffers.push({.kind = buffer_kind::staged, .memory = 1, .bytes = 8, .offset = 500, .bank = 0});
    // Versions 0 and 2 lie in bank 1, version 1 in bank 0; the fullest bank counts for both.
    CHECK(plan.peak_bytes(2, 0) == 64 + 64);
    CHECK(plan.peak_bytes(2, 1) == 64 + 64);
    plan.buffers[1].versions = 1;
    CHECK(plan.peak_bytes(2, 0) == 8);
    CHECK(plan.peak(banked) == 8 + 96);
    CHECK(plan.peak(banked, 1) == 96);
    CHECK(plan.peak(spad) == 508);
    CHECK_THROWS_AS(plan.peak(memory{.name = "none"}), bad_query);
    CHECK_THROWS_AS(plan.peak(banked, 2), bad_query);
    CHECK_THROWS_AS(plan.peak(banked, -1), bad_query);
    plan.refusal.kind = verdict_kind::no_memory;
    CHECK_FALSE(plan.peak(spad).known);
}
TEST_CASE("versions of a ring go round the channels of its engine, and what blocks is for the first") {
    plan_value plan = empty_plan(where, copy.view());
    plan.rings.push({.engine = 0, .versions = 3, .first_channel = 1});
    plan.rings.push({.engine = 1, .versions = 2});
    movement moved{.transfer = 0, .at = {.ring = 0}};
    CHECK((plan.lane_of(moved, 0) == 1 && plan.lane_of(moved, 1) == 0 && plan.lane_of(moved, 2) == 1));
    CHECK(plan.lane_of(moved, 3) == 1);  // version 0 again
    moved.at.ring = -1;
    CHECK(plan.lane_of(moved, 1) == 0);
    moved.transfer = 1;
    CHECK(plan.lane_of(moved, 1) == -1);  // the core
    CHECK(plan.lane_of(plan.rings[1], 5) == 2);
    std::vector<int> busy;
    plan.each_busy_lane(0, [&](int lane) { busy.push_back(lane); });
    CHECK(busy == std::vector<int>{0, 1});
    plan.rings[0].versions = 1;
    busy.clear();
    plan.each_busy_lane(0, [&](int lane) { busy.push_back(lane); });
    CHECK(busy == std::vector<int>{1});
    CHECK((plan.is_busy_aside(0) && plan.is_busy_aside(1)));
    plan.rings.shrink(1);
    CHECK_FALSE(plan.is_busy_aside(1));
}
TEST_CASE("an engine's work leaves out latency, and its channels share it") {
    two_loops t;
    t.plan.movements[0] = {.transfer = 0, .bytes = 16, .cycles = 20};
    CHECK(t.plan.busy_cycles(0) == 3 * (20 - 7));
    CHECK(t.plan.shared_cycles(0) == 20);  // 39 on two channels
    CHECK(t.plan.bound() == 60);           // the core computes 12 times 5
}
TEST_CASE("what is left to run time has no numbers") {
    two_loops t;
    t.plan.run_time_extents = 1;
    CHECK_THROWS_AS(t.times(), bad_query);
    CHECK_THROWS_AS(t.plan.serial_cycles(), bad_query);
}
