#include <tilewright/plan/write/operand_strides.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/small_kernels.hpp"

// Strides of operands: those that functions are told, and those that follow from the axes of an intrinsic.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis i{"i", 2}, l{"l", 5};
constexpr tensor<std::int32_t> a{"a"}, c{"c"};
constexpr auto add = intrinsic("add", c(i) = sum(l, a(i, l))).reads(a, spad).writes(c, spad);

/// What is wrong with an instruction that makes sums of 5 elements of each of two rows, where rows lie 5 or 10 elements apart.
verdict refusal_of(intrinsic const& step, bool apart) {
    machine const on("on", dram, spad, get, put, step);
    axis const half{"half", 2}, five{"five", 5};
    computation const halves = C(m, half) = sum(five, A(m, 5 * half + five));
    computation const whole = C(m) = sum(five, A(m, five));
    schedule made = apart ? schedule(halves, on).reorder(half, m, five) : schedule(whole, on);
    made.cache_read(A, spad).cache_write(C, spad);
    if (apart) made.layout([](auto row, auto column) { return index_map(column, row); });
    return make_plan(made.tensorize(m, five, step)).refusal;
}
rule broken_by(intrinsic const& step, bool apart) { return refusal_of(step, apart).broken; }

}  // namespace

TEST_CASE("rows follow each other where no function is told their stride") {
    auto const untold = intrinsic(add).calls("add", argument::address(a), argument::address(c));
    CHECK(refusal_of(untold, false).kind == verdict_kind::none);
    CHECK(broken_by(untold, true) == rule::stride_not_told);
    CHECK(refusal_of(add, true).kind == verdict_kind::none);  // without a list, all strides are told
    CHECK(refusal_of(intrinsic(untold).calls("add", argument::address(a), argument::address(c), argument::stride(a, 0)), true).kind ==
          verdict_kind::none);
    CHECK(refusal_of(intrinsic(untold).then("set_stride", argument::stride(a, 0)), true).kind == verdict_kind::none);
}
TEST_CASE("a machine that limits strides says itself what its function takes") {
    auto const untold = intrinsic(add).calls("add", argument::address(a), argument::address(c));
    CHECK(refusal_of(intrinsic(untold).stride_at_most(a, 10).stride_multiple(a, 10), true).kind == verdict_kind::none);
    CHECK(broken_by(intrinsic(untold).stride_at_most(a, 5), true) == rule::stride_too_long);
}
TEST_CASE("strides of an argument are the caller's, so a function has to be told them") {
    auto const in_place = intrinsic("add", c(i) = sum(l, a(i, l))).reads(a, dram).writes(c, spad);
    auto const untold = intrinsic(in_place).calls("add", argument::address(a), argument::address(c));
    axis const five{"five", 5};
    computation const whole = C(m) = sum(five, A(m, five));
    for (intrinsic const& step : {in_place, untold}) {
        machine const on("on", dram, spad, get, put, step);
        verdict const refusal = make_plan(schedule(whole, on).cache_write(C, spad).tensorize(m, five, step)).refusal;
        CHECK((refusal.broken == rule::stride_not_known) == (step.call.count > 0));
    }
}
TEST_CASE("the stride without gaps is that of the axes further in, which the call must not leave open") {
    axis const x{"x", 4}, y{"y", 3}, z{"z", 8};
    tensor<std::int32_t> const t{"t"}, u{"u"};
    intrinsic const fixed = intrinsic("step", u(x, y, z) = t(x, 2 * y, z));
    intrinsic const open = intrinsic(fixed).up_to(y);
    for (intrinsic const* what : {&fixed, &open}) {
        machine const on("on", dram, *what);
        intrinsic_description const& described = on.intrinsics[0];
        computation_view const view = on.view(described.semantics);
        stage semantics;
        REQUIRE_FALSE(read_stage(view, 0, semantics));
        node_id read = no_node;
        for (node_id at{}; at < view.count; ++at) read = view[at].op == operation::access && view[at].name == label("t") ? at : read;
        CHECK(stride_without_gaps(view, described, semantics, read, 1) == 8);
        CHECK(stride_without_gaps(view, described, semantics, read, 0) == (what == &fixed ? 5 * 8 : 0));
    }
}
