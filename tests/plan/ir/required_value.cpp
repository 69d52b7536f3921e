#include <tilewright/plan/ir/required_value.hpp>

#include <bit>

#include "plan/small_kernels.hpp"

// What configurations must be set to when transfers and intrinsics are called.

using namespace small_kernels;

namespace {

/// Rows of 6 of an argument A(…, 12), to a box of 4 x 6 in the scratchpad.
struct a_call {
    plan_value plan = empty_plan(blocking, copy.view());
    movement m{.transfer = 0, .source = 0_buffer, .destination = 1_buffer, .row_elements = 6, .bytes = 96};
    a_call() {
        plan.buffers.push({.name = "A", .kind = buffer_kind::argument, .type = scalar_type::int32, .rank = 2, .extents = {10, 12}});
        plan.buffers.push({.name = "A.spad", .kind = buffer_kind::staged, .type = scalar_type::int32, .rank = 2, .extents = {4, 6}});
        m.dimensions[m.dimension_count++] = {.extent = 4, .source_dimension = 0, .destination_dimension = 0, .source_factor = 2};
    }
    void clip_by(clip const& c) { plan.clips.push(c), ++m.clip_count; }
    required_value of(role is, int dimension = 0, std::int64_t value = 0) const {
        call_argument a{.is = is};
        a.dimension = static_cast<decltype(a.dimension)>(dimension);
        a.value = value;
        return required_of(plan, m, a);
    }
};

}  // namespace

TEST_CASE("extents and bytes of a call are numbers, in the units that are asked for") {
    a_call c;
    CHECK(c.of(role::literal, 0, 17).value.number == 17);
    CHECK(c.of(role::bytes).value.number == 96);
    CHECK((c.of(role::element_bytes).value.number == 4 && !c.of(role::element_bytes).varies));
    CHECK(c.of(role::bytes, 0, 32).value.number == 3);
    CHECK(c.of(role::row_bytes).value.number == 24);
    CHECK(c.of(role::row_bytes, 0, 8).value.number == 3);
    CHECK(c.of(role::extent, 0).value.number == 6);
    CHECK(c.of(role::extent, 1).value.number == 4);
    CHECK(c.of(role::extent, 2).value.number == 1);  // there is no such dimension
    CHECK_FALSE((c.of(role::bytes).varies || c.of(role::extent, 1).varies));
}
TEST_CASE("where tiles end early, numbers vary that have to do with it") {
    a_call c;
    c.clip_by({keep(c.plan, 0), 3, 0, clip_kind::end});
    CHECK((c.of(role::bytes).varies && c.of(role::extent, 1).varies));
    CHECK_FALSE((c.of(role::row_bytes).varies || c.of(role::extent, 0).varies));
    c.clip_by({keep(c.plan, 0), 3, -1, clip_kind::begin});
    CHECK((c.of(role::row_bytes).varies && c.of(role::extent, 0).varies));
}
TEST_CASE("strides of boxes are known, those of arguments are so many times what the caller gives") {
    a_call c;
    setting_value const staged = c.of(role::destination_stride, 1, 8).value;
    CHECK((staged.number == 6 * 4 / 8 && staged.buffer == -1));
    setting_value const given = c.of(role::source_stride, 1, 16).value;
    CHECK((given.number == 2 * 4 && given.unit == 16 && given.buffer == 0 && given.dimension == 0));
    // Neighbours in a row lie side by side, whatever the caller gives.
    CHECK(stride_value(c.plan, 0_buffer, 1, 4, 1).number == 4);
    CHECK(c.of(role::source_stride, 2).value == setting_value{});
    CHECK(stride_value(c.plan, no_buffer, 0, 4, 1) == setting_value{});
}
TEST_CASE("the border of a call is what its clips leave out, and varies where loops move it") {
    a_call c;
    c.clip_by({keep(c.plan, -2), 0, 0, clip_kind::border_begin});  // two in front
    c.clip_by({keep(c.plan, 3), 6, 0, clip_kind::border_end});     // of 4 from 3 on, those from 6 on: one
    CHECK((c.of(role::pad_before, 1).value.number == 2 && !c.of(role::pad_before, 1).varies));
    CHECK((c.of(role::pad_after, 1).value.number == 1 && !c.of(role::pad_after, 1).varies));
    CHECK(c.of(role::pad_before, 0).value.number == 0);
    CHECK(c.of(role::pad_before, 3).value.number == 0);
    variable_id const i = add_loop(c.plan, "i", 3);
    c.clip_by({keep(c.plan, 0, {{4, i}}), 6, 0, clip_kind::border_end});
    CHECK(c.of(role::pad_after, 1).varies);
    CHECK_FALSE(c.of(role::pad_before, 1).varies);
}
TEST_CASE("a border beside an end that varies varies, too") {
    a_call c;
    c.clip_by({keep(c.plan, -2), 0, 0, clip_kind::border_begin});
    c.clip_by({keep(c.plan, 0), 3, 0, clip_kind::end});
    CHECK(c.of(role::pad_before, 1).varies);
}
TEST_CASE("a constant is passed as the bits of its type") {
    CHECK(argument_bits({.type = scalar_type::int32, .value = -3}) == -3);
    CHECK(argument_bits({.type = scalar_type::float32, .value = std::bit_cast<std::int64_t>(1.0)}) == 0x3f80'0000);
}
TEST_CASE("what an intrinsic covers of an axis is the most, and varies where an end leaves less") {
    a_call c;
    c.plan.step_extents.push({.axis = 0, .most = 16});
    c.plan.step_extents.push({.axis = 1, .most = 8});
    c.plan.step_extents.push({.axis = 1, .most = 8, .weight = 1});
    c.plan.operands.push({.buffer = 1_buffer, .dimension = {0}, .factor = {3}});
    intrinsic_form const form{.operands = 0, .extents = 0, .extent_count = 3};
    auto const of = [&](call_argument const& a) { return required_of(c.plan, form, a); };
    call_argument covered{.is = role::covered};
    covered.dimension = 0;
    CHECK((of(covered).value.number == 16 && !of(covered).varies));
    covered.dimension = 1;
    CHECK((of(covered).value.number == 8 && of(covered).varies));
    call_argument stride{.is = role::stride};
    stride.operand = 0, stride.dimension = 0;
    CHECK(of(stride).value.number == 6 * 3);
    CHECK(of({.is = role::address}).varies);  // each call has its own
}
