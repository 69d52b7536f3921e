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
TEST_CASE("limits cut the furthest value of an index in a tile body") {
    some_forms f;
    body b{.stage = 0_stage};
    b.loops[b.loop_count++] = f.j;
    f.plan.limits.push({keep(f.plan, 0, {{4, f.i}, {1, f.j}}), 10, 0_stage, no_variable, false});
    auto const furthest = [](linear const& form) {
        std::int64_t sum = form.constant;
        for (int at = 0; at < form.count; ++at) sum += form.terms[at].coefficient > 0 ? 3 * form.terms[at].coefficient : 0;
        return sum;
    };
    auto const cut = [&](linear const& index) { return cut_by_limits(f.plan, index, b, true, furthest); };
    CHECK(furthest(sum_of(0, {{4, f.i}, {1, f.j}})) == 15);
    CHECK(cut(sum_of(0, {{4, f.i}, {1, f.j}})) == 9);
    CHECK(cut(sum_of(7, {{4, f.i}, {1, f.j}})) == 16);
    // 5 i + j is 4 i + j + i, and 8 i + 3 j is 4 i + j + 4 i + 2 j: 9 + 3, and 9 + 18.
    CHECK(cut(sum_of(0, {{5, f.i}, {1, f.j}})) == 12);
    CHECK(cut(sum_of(0, {{8, f.i}, {3, f.j}})) == 27);
    // 3 i + j is less than 4 i + j; j alone runs to its end.
    CHECK(cut(sum_of(0, {{3, f.i}, {1, f.j}})) == 9);
    CHECK(cut(sum_of(0, {{1, f.j}})) == 3);
    CHECK(cut(sum_of(0, {{-1, f.j}})) == 0);
    // The nearest of two holds.
    f.plan.limits.push({keep(f.plan, 2, {{4, f.i}, {1, f.j}}), 10, 0_stage, no_variable, false});
    CHECK(cut(sum_of(0, {{4, f.i}, {1, f.j}})) == 7);
    b.stage = 1_stage;
    CHECK(cut(sum_of(0, {{4, f.i}, {1, f.j}})) == 15);
}
TEST_CASE("a limit shortens the steps of an intrinsic that cover less there, in both of its forms") {
    some_forms f;
    variable_id const lane = variable_id(f.plan.variables.push({.name = "lane", .extent = 4, .kind = variable_kind::lane}));
    limit const l{keep(f.plan, 0, {{4, f.i}, {1, lane}}), 10, 0_stage, no_variable, false};
    affine const rest = keep(f.plan, 0, {{4, f.i}});
    f.plan.step_extents.push({.most = 4});
    f.plan.step_extents.push({.most = 4, .weight = 1, .form = rest, .bound = 10});
    f.plan.step_extents.push({.most = 4, .weight = 1, .form = rest, .bound = 11});
    body b{.kind = body_kind::intrinsic, .stage = 0_stage, .extents = 0, .extent_count = 2};
    CHECK(limits_steps(f.plan, l, b));
    // The first step covers all.
    b.first_intrinsic = 0;
    CHECK_FALSE(limits_steps(f.plan, l, b));
    b.first_extents = 0, b.first_extent_count = 2;
    CHECK(limits_steps(f.plan, l, b));
    b.extent_count = 1;
    CHECK_FALSE(limits_steps(f.plan, l, b));
    b.extents = 2;
    CHECK_FALSE(limits_steps(f.plan, l, b));
    b = {.kind = body_kind::value, .stage = 0_stage, .extents = 0, .extent_count = 2};
    CHECK_FALSE(limits_steps(f.plan, l, b));
}
