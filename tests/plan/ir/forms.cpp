#include <tilewright/plan/ir/forms.hpp>

#include "plan/small_kernels.hpp"

// What moves with which loop.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// Loops `i` and `j` of 4; `part` is (4 i + 6) / 3, and `inner` part % 2 of it.
struct some_forms {
    plan_value plan = empty_plan(blocking, copy.view());
    variable_id i = add_loop(plan, "i", 4), j = add_loop(plan, "j", 4);
    variable_id part = add_component(plan, keep(plan, 6, {{4, i}}), 3, 0, 7);
    variable_id inner = add_component(plan, keep(plan, 0, {{1, part}}), 1, 2, 2);
};

}  // namespace

TEST_CASE("a kept form comes back with its constant and terms") {
    some_forms f;
    affine const kept = keep(f.plan, 5, {{2, f.j}, {-1, f.i}});
    CHECK(same(form_of(f.plan, kept), sum_of(5, {{-1, f.i}, {2, f.j}})));
    CHECK(same(form_of(f.plan, affine{}), sum_of(0)));
}
TEST_CASE("a form moves with a loop as a whole, or through parts of fused ones, however deep") {
    some_forms f;
    CHECK(moves_with(f.plan, sum_of(0, {{3, f.i}}), f.i));
    CHECK_FALSE(moves_with(f.plan, sum_of(3, {{3, f.i}}), f.j));
    CHECK(moves_with(f.plan, sum_of(0, {{1, f.part}}), f.i));
    CHECK(moves_with(f.plan, sum_of(0, {{1, f.inner}}), f.i));
    CHECK_FALSE(moves_with(f.plan, sum_of(0, {{1, f.inner}}), f.j));
    CHECK_FALSE(moves_with(f.plan, sum_of(7), f.i));
}
TEST_CASE("an access moves with a loop when one of its dimensions does, beyond its rank nothing counts") {
    some_forms f;
    f.plan.buffers.push({.name = "A", .rank = 2});
    use u{.buffer = 0_buffer};
    u.at[0] = keep(f.plan, 0, {{1, f.inner}});
    u.at[1] = keep(f.plan, 2);
    u.at[2] = keep(f.plan, 0, {{1, f.j}});
    CHECK(moves_with(f.plan, u, f.i));
    CHECK_FALSE(moves_with(f.plan, u, f.j));
}
TEST_CASE("a body is limited by what its own loops can run past") {
    some_forms f;
    body b{.stage = 0_stage};
    b.loops[b.loop_count++] = f.j;
    limit l{keep(f.plan, 0, {{4, f.i}, {1, f.j}}), 10, 0_stage, no_variable, false};
    CHECK(limits_body(f.plan, l, b, false));
    limit const of_program{l.form, 10, 0_stage, f.i, false}, of_another_stage{l.form, 10, 1_stage, no_variable, false};
    CHECK_FALSE(limits_body(f.plan, of_program, b, false));
    CHECK_FALSE(limits_body(f.plan, of_another_stage, b, false));
    // loops around alone
    limit const outside{keep(f.plan, 0, {{4, f.i}}), 10, 0_stage, no_variable, false};
    CHECK_FALSE(limits_body(f.plan, outside, b, false));
    // of a reduction, where only the other loops are asked for
    l.reduction = true;
    CHECK(limits_body(f.plan, l, b, false));
    CHECK_FALSE(limits_body(f.plan, l, b, true));
    b.kind = body_kind::intrinsic;
    CHECK_FALSE(limits_body(f.plan, l, b, false));
}
