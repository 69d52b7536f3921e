#include <tilewright/plan/ir/arguments.hpp>

#include "plan/small_kernels.hpp"

// What the function of a kernel takes.

using namespace small_kernels;

namespace {

constexpr memory pool{.name = "pool", .capacity = 64_KiB}, spare{.name = "spare", .capacity = 64_KiB};
constexpr auto device = machine("device", dram, spad, pool, spare);
constexpr parameter<std::int32_t> scale{"scale"}, bias{"bias"};
constexpr auto scaled = C(m, n) = A(m, n) * scale + (bias + scale);

}  // namespace

TEST_CASE("what is read comes first, what is written last, and memories without an address behind") {
    plan_value plan = empty_plan(device, scaled.view());
    plan.buffers.push({.name = "C", .kind = buffer_kind::argument, .written = true});
    plan.buffers.push({.name = "A.pool", .kind = buffer_kind::staged, .memory = 2});
    plan.buffers.push({.name = "A", .kind = buffer_kind::argument});
    plan.buffers.push({.name = "A.spad", .kind = buffer_kind::staged, .memory = 1});
    plan.buffers.push({.name = "B", .kind = buffer_kind::argument});
    argument_list const list = arguments_of(plan);
    CHECK((list.tensor_count == 3 && list.input_count == 2));
    CHECK((list.tensors[0] == 2 && list.tensors[1] == 4 && list.tensors[2] == 0));
    CHECK(list.kept_result == -1);
    REQUIRE(list.pool_count == 1);  // `spad` has an address, nothing lies in `spare`
    CHECK(list.pools[0] == 2);
    REQUIRE(list.parameter_count == 2);  // each once
    CHECK((plan.what[list.parameters[0]].name == "scale" && plan.what[list.parameters[1]].name == "bias"));
}
TEST_CASE("a result that stays in the machine is no argument") {
    plan_value plan = empty_plan(device, scaled.view());
    plan.buffers.push({.name = "A", .kind = buffer_kind::argument});
    plan.buffers.push({.name = "C.spad", .kind = buffer_kind::result, .memory = 1});
    argument_list const list = arguments_of(plan);
    CHECK((list.tensor_count == 1 && list.input_count == 1 && list.kept_result == 1 && list.pool_count == 0));
}
TEST_CASE("an extent is read from the result, or else from the first input that has it and nothing more") {
    plan_value plan = empty_plan(device, scaled.view());
    std::int16_t const open = add_loop(plan, "m", 100), other = add_loop(plan, "n", 100);
    plan.buffers.push({.name = "A", .kind = buffer_kind::argument});
    plan.buffers.push({.name = "C", .kind = buffer_kind::argument, .written = true});
    plan.shapes.push({0_buffer, 0, keep(plan, 1, {{1, open}}), false});  // one more than the extent
    plan.shapes.push({0_buffer, 1, keep(plan, 0, {{1, other}}), true});
    plan.shapes.push({0_buffer, 2, keep(plan, 0, {{1, open}}), true});
    plan.shapes.push({1_buffer, 0, keep(plan, 0, {{1, open}}), true});
    CHECK(shape_of_extent(plan, open, true).buffer == 1);
    CHECK(shape_of_extent(plan, open, false).dimension == 2);
    CHECK(shape_of_extent(plan, other, true).dimension == 1);
}
