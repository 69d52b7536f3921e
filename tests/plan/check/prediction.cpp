#include <tilewright/plan/check/prediction.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/small_kernels.hpp"

// Cycles of engines that work side by side.

using namespace small_kernels;

namespace {

constexpr auto at_a_byte = transfer("at_a_byte", dram, spad).on(loader).asynchronous().dimensions(2);
constexpr auto at_eight = transfer("at_eight", dram, spad).on(loader).asynchronous().dimensions(2).cost({.bytes_per_cycle = 8});
constexpr auto late = transfer("late", dram, spad).on(loader).asynchronous().dimensions(2).cost({.latency = 100, .setup = 4});
constexpr auto blocks = transfer("blocks", dram, spad).dimensions(2).cost({.latency = 2, .setup = 3});

/// Ten rows of six elements, 24 bytes each, that are copied with 6 loads and 6 stores of one cycle.
std::int64_t cycles_of(transfer const& by, int versions, int distance) {
    auto const on = machine("on", dram, spad, loader, by);
    schedule of(copy, on);
    of.cache_read(A, spad).at(m);
    if (by.is_asynchronous) of.buffers(versions).prefetch(distance);
    plan_value const plan = make_plan(of);
    REQUIRE_FALSE(plan.refusal);
    prediction const found = predict(plan), all = predict(plan, visiting::everything);
    CHECK(found.resolved);
    CHECK(found.cycles == all.cycles);
    return found.cycles;
}

}  // namespace

TEST_CASE("what blocks takes its time and that of the loops") { CHECK(cycles_of(blocks, 1, 0) == 10 * (3 + 24 + 2 + 12)); }
TEST_CASE("loads that run ahead hide the loops behind them, or the other way round") {
    // The loader is never idle: ten rows, and the last one is copied.
    CHECK(cycles_of(at_a_byte, 2, 1) == 10 * 24 + 12);
    // Three cycles for a row: then the loops are never idle.
    CHECK(cycles_of(at_eight, 2, 1) == 3 + 10 * 12);
    // Without running ahead, one after the other.
    CHECK(cycles_of(at_a_byte, 2, 0) == 10 * (24 + 12));
}
TEST_CASE("latency is hidden by as many loads as are under way") {
    // A row is there 4 + 24 + 100 cycles after it was asked for.
    CHECK(cycles_of(late, 1, 0) == 10 * (128 + 12));
    // Rows 0 and 1 are asked for at 0, there at 128 and 156, copied at 140 and 168; then two more in each 140 cycles.
    CHECK(cycles_of(late, 2, 1) == 168 + 4 * 140);
    // Far ahead, only the first has to be waited for: the engine begins one every 28 cycles.
    CHECK(cycles_of(late, 8, 7) == 9 * 28 + 128 + 12);
}
TEST_CASE("a plan without engines is its own cycles, and a refused one has none") {
    plan_value plan = make_plan(schedule(copy, blocking));
    CHECK(predict(plan).cycles == plan.total_cycles);
    CHECK(plan.cycles() == 10 * 6 * 2);
    plan.refusal.kind = verdict_kind::no_memory;
    CHECK_FALSE(predict(plan).resolved);
    CHECK(plan.cycles_resolved());
}
TEST_CASE("tokens hold an engine back until another has come so far") {
    // Jobs of 10 cycles on `loader`, of 7 on `storer`: a push behind the first, a pop in front of the second.
    static constexpr auto linked = machine("linked", dram, spad, loader, storer, tokens(loader, storer), fetch, drain);
    plan_value plan = empty_plan(linked, copy.view());
    plan.buffers.push({.kind = buffer_kind::staged, .memory = 1, .type = scalar_type::int8});
    plan.rings.push({.buffer = 0_buffer, .engine = 0, .first_tag = 0});
    plan.rings.push({.buffer = 0_buffer, .engine = 1, .first_tag = 1});
    plan.movements.push({.transfer = 0, .destination = 0_buffer, .row_elements = 10, .at = {.ring = 0}});
    plan.movements.push({.transfer = 1, .source = 0_buffer, .destination = 0_buffer, .row_elements = 7, .at = {.ring = 1}});
    plan.links.push({.from = 0, .to = 1, .tokens = 0});
    plan.waits.push({.link = 0});
    plan.waits.push({.ring = 1});
    auto const cycles = [&](std::initializer_list<step> steps) {
        plan.steps = {};
        add_steps(plan, steps);
        return predict(plan).cycles;
    };
    CHECK(cycles({{step_kind::start, 0}, {step_kind::start, 1}, {step_kind::wait, 1}}) == 10);
    CHECK(cycles({{step_kind::start, 0}, {step_kind::push, 0}, {step_kind::pop, 0}, {step_kind::start, 1}, {step_kind::wait, 1}}) == 17);
    // To the core: it waits for the first itself.
    plan.links[0].to = -1;
    CHECK(cycles({{step_kind::start, 0}, {step_kind::push, 0}, {step_kind::pop, 0}, {step_kind::start, 1}, {step_kind::wait, 1}}) == 17);
    CHECK(cycles({{step_kind::start, 1}, {step_kind::push, 0}, {step_kind::pop, 0}, {step_kind::start, 0}, {step_kind::wait, 1}}) == 10);
}
