#include <tilewright/plan/check/may_be_result.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/small_kernels.hpp"

// Whether an input may be the very tensor that the kernel writes.

using namespace small_kernels;
using tilewright::detail::may_be_result;

namespace {

constexpr axis s{"s", 6}, t{"t", 6};
constexpr tensor<std::uint32_t> U{"U"};
constexpr tensor<std::int8_t> bytes{"bytes"};

/// Of the first input of a computation, as the schedule has it.
bool of_first(schedule const& how) {
    plan_value const plan = make_plan(how);
    REQUIRE_FALSE(plan.refusal);
    return may_be_result(plan, 0);
}
template <class Computation>
bool in_loops(Computation const& what) {
    return of_first(schedule(what, blocking));
}

}  // namespace

TEST_CASE("an input that is read where the result is written may be it") {
    auto const sum = C(m, n) = A(m, n) + B(n);
    CHECK(in_loops(sum));
    CHECK_FALSE(may_be_result(make_plan(schedule(sum, blocking)), 1));  // of another rank
    CHECK_FALSE(may_be_result(make_plan(schedule(sum, blocking)), 2));  // the result itself
    auto const same_size = C(m, n) = cast<std::int32_t>(U(m, n));
    CHECK(in_loops(same_size));
    auto const twice = C(m, n) = A(m, n) * A(m, n);
    CHECK(in_loops(twice));
    auto const narrow = C(m, n) = cast<std::int32_t>(bytes(m, n));
    CHECK_FALSE(in_loops(narrow));
}
TEST_CASE("what is read elsewhere, or again later, may not") {
    auto const shifted = C(s, t) = A(s, t) + A(s, t + 1);
    auto const turned = C(s, t) = A(t, s);
    auto const backwards = C(s, t) = A(s, 5 - t);
    auto const reduced = C(m, n) = sum(k, A(m, n) * B(k));
    auto const more = C(m, n) = C(m, n) + sum(k, A(m, n) * B(k));
    CHECK_FALSE(in_loops(turned));
    CHECK_FALSE(in_loops(backwards));
    CHECK_FALSE(in_loops(shifted));
    CHECK_FALSE(in_loops(reduced));
    CHECK_FALSE(in_loops(more));
    auto const in_two = stages(B(m, n) = A(m, n) + 1, C(m, n) = A(m, n) + B(m, n));
    CHECK_FALSE(of_first(schedule(in_two, blocking).store_in(B, spad)));
    auto const around = C(s, t) = padded(A(s, t), 0)(s, t - 1);
    CHECK_FALSE(in_loops(around));
}
TEST_CASE("copies into the machine and out of it read before they write; one that goes from the input to the result may not") {
    auto const sum = C(m, n) = A(m, n) + B(n);
    CHECK(of_first(schedule(sum, blocking).cache_read(A, spad).at(m).cache_write(C, spad).at(m)));
    plan_value plan = make_plan(schedule(sum, blocking));
    plan.movements.push({.transfer = 0, .source = 0_buffer, .destination = 2_buffer});
    CHECK_FALSE(may_be_result(plan, 0));
    plan.movements.shrink(0);
    CHECK(may_be_result(plan, 0));
    plan.operands.push({.buffer = 2_buffer});
    CHECK_FALSE(may_be_result(plan, 0));
}
TEST_CASE("extents that are left to run time are not compared") {
    axis const open{"m", dynamic};
    auto const sum = C(open, n) = A(open, n) + 1;
    CHECK_FALSE(of_first(schedule(sum, blocking)));
}
