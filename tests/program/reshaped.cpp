// Kernels of a program that have a tensor in another shape than others.
#include "catch.hpp"
#include "program/chip.hpp"
#include "program/random_program.hpp"

using namespace chip;

namespace {

using programs::verdict_of;

constexpr axis all{"all", 100}, quarter{"quarter", 4}, rest{"rest", 25};
constexpr auto negated = r(all) = x(all) * -1;
constexpr auto shifted = r(quarter, rest) = x(quarter, rest) + 5;
constexpr auto second_half = r(rest) = x(rest + 50);
constexpr auto negate_on_cpu = schedule(negated, cpu_machine), shift_on_cpu = schedule(shifted, cpu_machine);
constexpr auto half_on_cpu = schedule(second_half, cpu_machine);
constexpr axis row{"row", 9}, column{"column", 10};
constexpr auto first_rows = r(row, column) = x(row, column) + 1;
constexpr auto rows_on_cpu = schedule(first_rows, cpu_machine);

/// t0 is written and read as 10 x 10, t1 written as 100, read as 10 x 10 and as 4 x 25, and t2 only by kernels that reshape it.
constexpr program reshaping = program("reshaping")
                                  .input(in, l2)
                                  .output(out, l2)
                                  .run("k0", cpu, double_on_cpu)
                                  .bind(x, in)
                                  .bind(r, t0)
                                  .run("k1", cpu, negate_on_cpu)
                                  .bind(x, t0)
                                  .bind(r, t1)
                                  .reshapes(x)
                                  .reshapes(r)
                                  .run("k2", cpu, turn_on_cpu)
                                  .bind(x, t1)
                                  .bind(r, t3)
                                  .run("k3", cpu, shift_on_cpu)
                                  .bind(x, t1)
                                  .bind(r, t2)
                                  .reshapes(x)
                                  .reshapes(r)
                                  .run("k4", cpu, negate_on_cpu)
                                  .bind(x, t2)
                                  .bind(r, out)
                                  .reshapes(x)
                                  .output(t3, l2);

ir::program_tensor tensor_of(program_plan_value const& plan, any_tensor const& tensor) {
    return plan.tensor_at(plan.find_tensor(tensor.name));
}

}  // namespace

TEST_CASE("a tensor has the shape of the kernels that do not reshape it, or else of the one that writes it") {
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(reshaping));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    CHECK(programs::fault_of(*plan) == "");
    CHECK(tensor_of(*plan, t0).rank == 2);
    CHECK(tensor_of(*plan, t1).rank == 2);
    CHECK(tensor_of(*plan, t1).extents[1] == 10);
    CHECK(tensor_of(*plan, t2).rank == 2);
    CHECK(tensor_of(*plan, t2).extents[1] == 25);
    CHECK(tensor_of(*plan, out).rank == 1);
    for (any_tensor const& one : {any_tensor(t0), any_tensor(t1), any_tensor(t2)}) CHECK(tensor_of(*plan, one).bytes == 400);
    static_assert(program_plan<reshaping>.peak(act) > 0);
}

TEST_CASE("a kernel that reshapes a tensor takes all of it") {
    program first("half");
    first.input(in, l2).output(out, l2).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0);
    program const with_part = program(first).run("k1", cpu, half_on_cpu).bind(x, t0).reshapes(x).bind(r, out);
    CHECK(verdict_of(with_part).find("`t0`: kernel `k1` reshapes it, and takes 25 of 100 elements: it must take all, from index 0 on") !=
          std::string::npos);
    program const unsaid = program(first).run("k1", cpu, negate_on_cpu).bind(x, t0).bind(r, out);
    CHECK(verdict_of(unsaid).find("`t0`: a tensor is indexed with two ranks (`k1`)") != std::string::npos);
    program const of_no_kernel = program(first).run("k1", cpu, double_on_cpu).bind(x, t0).reshapes(t0).bind(r, out);
    CHECK(make_program_plan(of_no_kernel).refusal.broken == ir::rule::not_of_the_kernel);
    CHECK(verdict_of(of_no_kernel).find("`t0`") != std::string::npos);
}

TEST_CASE("what is kept from run to run has one shape, whichever kernel reshapes it") {
    static constexpr tensor<std::int32_t> h{"h"}, next_h{"next_h"};
    auto const shapes_of = [&](program const& of) {
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(of));
        REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
        CHECK(programs::fault_of(*plan) == "");
        CHECK(plan->offset(h) == plan->offset(next_h));
        CHECK(tensor_of(*plan, h).extents == tensor_of(*plan, next_h).extents);
        CHECK(tensor_of(*plan, next_h).bytes == 400);
        return tensor_of(*plan, h).rank;
    };
    auto const kept = [] { return program("kept").input(in, l2).output(out, l2).state(h, next_h, act); };
    // Only the kernel that reads it, only the one that writes it, or both.
    CHECK(shapes_of(kept()
                        .run("reads", cpu, negate_on_cpu)
                        .bind(x, h)
                        .bind(r, out)
                        .reshapes(x)
                        .run("writes", cpu, turn_on_cpu)
                        .bind(x, in)
                        .bind(r, next_h)) == 2);
    CHECK(shapes_of(kept()
                        .run("reads", cpu, turn_on_cpu)
                        .bind(x, h)
                        .bind(r, out)
                        .run("writes", cpu, negate_on_cpu)
                        .bind(x, in)
                        .bind(r, next_h)
                        .reshapes(r)) == 2);
    CHECK(shapes_of(kept()
                        .run("reads", cpu, shift_on_cpu)
                        .bind(x, h)
                        .bind(r, out)
                        .reshapes(x)
                        .run("writes", cpu, negate_on_cpu)
                        .bind(x, in)
                        .bind(r, next_h)
                        .reshapes(r)) == 1);
}

TEST_CASE("a program states the shape of a tensor that nobody takes as a whole") {
    auto const with = [&](std::initializer_list<std::int64_t> shape) {
        program made("stated");
        made.input(in, l2).output(out, l2).run("k0", cpu, negate_on_cpu).bind(x, in).bind(r, t0).reshapes(r);
        made.run("k1", cpu, rows_on_cpu).bind(x, t0).bind(r, out);
        return shape.size() == 0 ? made : made.shape(t0, shape);
    };
    // Nine rows of ten are all that is known of it.
    CHECK(verdict_of(with({})).find("`t0`: kernel `k0` reshapes it, and takes 100 of 90 elements") != std::string::npos);
    program const stated = with({10, 10});
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(stated));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    CHECK(programs::fault_of(*plan) == "");
    CHECK(tensor_of(*plan, t0).extents[0] == 10);
    CHECK(tensor_of(*plan, t0).bytes == 400);
    CHECK(tensor_of(*plan, out).bytes == 360);
    // What is stated has to fit.
    CHECK(verdict_of(with({100})).find("its shape is stated with 1 extents, and kernels have it with 2 dimensions") != std::string::npos);
    CHECK(verdict_of(with({10, 11})).find("`t0`: kernel `k0` reshapes it, and takes 100 of 110 elements") != std::string::npos);
    CHECK(make_program_plan(with({8, 10})).refusal.kind == verdict_kind::outside_domain);
    CHECK(make_program_plan(with({0, 10})).refusal.kind == verdict_kind::outside_domain);
    program const unwritten =
        program("unwritten").input(in, l2).output(out, l2).run("k0", cpu, negate_on_cpu).bind(x, in).bind(r, out).shape(out, {101});
    CHECK(verdict_of(unwritten).find("`out`: kernel `k0` writes 100 elements along a dimension where its shape has 101") !=
          std::string::npos);
    CHECK(make_program_plan(program(stated).shape(t1, {10, 10})).refusal.broken == ir::rule::of_no_kernel);
}
