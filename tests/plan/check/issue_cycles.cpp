#include <tilewright/plan/check/issue_cycles.hpp>

#include "plan/small_kernels.hpp"

// Plans that are carried out in two parts: everything is started, and later waited for.

using namespace small_kernels;

namespace {

constexpr engine shallow{.name = "shallow", .depth = 1};
constexpr auto load = transfer("load", dram, spad).on(shallow).asynchronous().cost({.latency = 5, .setup = 3});
constexpr auto block = transfer("block", dram, spad);
/// Jobs are given to `shallow` one at a time; transfers load 0, block 1.
constexpr auto where = machine("where", dram, spad, shallow, load, block);

/// Two loads of 8 bytes each, and waits for both.
struct two_loads {
    plan_value plan = empty_plan(where, copy.view());
    two_loads() {
        plan.buffers.push({.kind = buffer_kind::staged, .memory = 1, .type = scalar_type::int32});
        for (std::int16_t at : {std::int16_t{0}, std::int16_t{1}}) {
            plan.rings.push({.buffer = 0_buffer, .engine = 0, .first_tag = at});
            plan.movements.push({.transfer = 0, .destination = 0_buffer, .row_elements = 2, .at = {.ring = at}});
            plan.waits.push({.ring = at});
        }
        add_steps(plan, {{step_kind::start, 0}, {step_kind::start, 1}, {step_kind::wait, 0}, {step_kind::wait, 1}});
    }
    void set(std::initializer_list<step> steps) {
        plan.steps = {};
        add_steps(plan, steps);
    }
};

}  // namespace

TEST_CASE("a plan waits from one step on, or is not of that kind") {
    two_loads t;
    CHECK(first_wait_of(t.plan) == 2);
    variable_id const o = add_loop(t.plan, "o", 2);
    t.set({{step_kind::loop, o}, {step_kind::start, 0}, {step_kind::end, o}, {step_kind::start, 1}, {step_kind::wait, 0}});
    CHECK(first_wait_of(t.plan) == 4);
    t.set({{step_kind::start, 0}, {step_kind::wait, 0}, {step_kind::start, 1}, {step_kind::wait, 1}});
    CHECK(first_wait_of(t.plan) == -1);
    t.set({{step_kind::start, 0}, {step_kind::compute, 0}, {step_kind::wait, 0}});
    CHECK(first_wait_of(t.plan) == -1);
    t.set({{step_kind::loop, o}, {step_kind::start, 0}, {step_kind::wait, 0}, {step_kind::end, o}});
    CHECK(first_wait_of(t.plan) == -1);
    t.set({{step_kind::start, 0}, {step_kind::start, 1}});
    CHECK(first_wait_of(t.plan) == -1);
    t.plan.movements[1].transfer = 1;
    t.set({{step_kind::start, 0}, {step_kind::start, 1}, {step_kind::wait, 0}});
    CHECK(first_wait_of(t.plan) == -1);  // the second one blocks
}
TEST_CASE("the core has started all when the queue has taken the last job") {
    // The first takes 3 + 8 cycles and 5 more until it is complete: the queue of one job is free at 16.
    two_loads t;
    CHECK(predict_issue(t.plan).resolved);
    CHECK(predict_issue(t.plan).cycles == 16);
    CHECK(predict(t.plan).cycles == 16 + 3 + 8 + 5);
}
