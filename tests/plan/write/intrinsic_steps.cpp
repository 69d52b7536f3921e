#include <tilewright/plan/write/intrinsic_steps.hpp>

#include <bit>
#include <limits>

#include "plan/passes.hpp"

// Which intrinsic the innermost step of a stage calls, on which operands, and what comes before it.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis i{"i", 2}, l{"l", 5}, z{"z", 1};
constexpr tensor<std::int32_t> a{"a"}, b{"b"}, c{"c"}, d{"d"};
constexpr auto mac = intrinsic("mac", c(i) += a(i, l) * b(l)).reads(a, spad).reads(b, spad).updates(c, spad).cycles(3);
constexpr auto mul = intrinsic("mul", c(i) = sum(l, a(i, l) * b(l))).reads(a, spad).reads(b, spad).writes(c, spad).cycles(2);
constexpr auto zero = transfer("zero", dram, spad, d(z) = 0).dimensions(2);
constexpr auto three = transfer("three", dram, spad, d(z) = 3).dimensions(2);
constexpr auto where = machine("where", dram, spad, get, put, mac, mul), filling = machine("filling", dram, spad, get, put, zero, mac),
               alone = machine("alone", dram, spad, get, put, three, mac);
constexpr axis ten{"k", 10};
constexpr auto weighted = C(m) = sum(ten, A(m, ten) * B(ten));
constexpr auto from_three = C(m) = 3 + sum(ten, A(m, ten) * B(ten));

/// Ten rows in steps of two, and two steps of the reduction.
schedule stepped(computation_view what, machine const& on) {
    return schedule(what, on)
        .split("k", ko, ki, 5)
        .reorder(ko, m, ki)
        .cache_read(A, spad)
        .cache_read(B, spad)
        .cache_write(C, spad)
        .tensorize(m, ki, mac);
}
body body_of(planned_to const& t) {
    REQUIRE_FALSE(t.p.refused());
    REQUIRE(t.p.plan.bodies.size() == 1);
    return t.p.plan.bodies[0];
}

}  // namespace

TEST_CASE("the identity of a reduction is what changes nothing") {
    CHECK((lowest_or_highest(scalar_type::int8, true) == -128 && lowest_or_highest(scalar_type::uint8, false) == 255));
    CHECK(lowest_or_highest(scalar_type::float32, true) == std::bit_cast<std::int64_t>(-std::numeric_limits<double>::infinity()));
    CHECK((is_identity({.value = 0}, operation::reduce_sum, scalar_type::int32) &&
           !is_identity({.value = 1}, operation::reduce_sum, scalar_type::int32)));
    CHECK(is_identity({.value = -128}, operation::reduce_maximum, scalar_type::int8));
    CHECK_FALSE(is_identity({.value = -128}, operation::reduce_minimum, scalar_type::int8));
    CHECK(is_identity({.value = 127}, operation::reduce_minimum, scalar_type::int8));
}
TEST_CASE("the first step of a reduction overwrites, by another form of the intrinsic") {
    planned_to const t(pass::program, stepped(weighted.view(), where));
    body const step_of = body_of(t);
    CHECK((step_of.intrinsic == 0 && step_of.first_intrinsic == 1 && !step_of.begun));
    CHECK((step_of.cycles == 3 && step_of.first_cycles == 2));
    REQUIRE(step_of.first_loop_count == 1);
    CHECK(step_of.first_loops[0] == t.variable("ko"));
    CHECK(step_of.first_operands == step_of.operands + 3);
}
TEST_CASE("of several forms that overwrite, one that takes its operands where they lie is the first") {
    constexpr static auto far = intrinsic("far", c(i) = sum(l, a(i, l) * b(l))).reads(a, dram).reads(b, spad).writes(c, spad).cycles(9);
    constexpr static auto both = machine("both", dram, spad, get, put, mac, far, mul),
                          only_far = machine("only_far", dram, spad, get, put, mac, far);
    planned_to const t(pass::program, stepped(weighted.view(), both));
    body const step_of = body_of(t);
    CHECK((step_of.intrinsic == 0 && step_of.first_intrinsic == 2 && step_of.first_cycles == 2));
    // The only one there is says what is wrong with it.
    verdict const elsewhere = planned_to(pass::program, stepped(weighted.view(), only_far)).refusal();
    CHECK((elsewhere.kind == verdict_kind::operand_memory && elsewhere.names[0] == "far"));
}
TEST_CASE("a value without a reduction is the first step of a reduction of integers that the intrinsic covers no loop of") {
    constexpr static axis lanes{"lanes", 2};
    constexpr static tensor<std::int32_t> x{"x"}, y{"y"}, start{"start"};
    constexpr static auto add = intrinsic("add", y(lanes) += x(lanes)).reads(x, spad).updates(y, spad),
                          take = intrinsic("take", y(lanes) = x(lanes)).reads(x, spad).writes(y, spad),
                          lift = intrinsic("lift", y(lanes) = maximum(x(lanes))).reads(x, spad).updates(y, spad);
    constexpr static auto adds = machine("adds", dram, spad, get, put, add, take),
                          lifts = machine("lifts", dram, spad, get, put, lift, take);
    constexpr static auto sums = C(m) = sum(ten, A(m, ten));
    constexpr static auto most = C(m) = maximum(ten, A(m, ten));
    constexpr static auto from = C(m) = start(m) + sum(ten, A(m, ten));
    auto const columns = [](computation_view what, machine const& on, intrinsic const& by) {
        return schedule(what, on)
            .reorder(ten, m)
            .cache_read(A, spad)
            .layout([](auto row, auto column) { return index_map(column, row); })
            .cache_write(C, spad)
            .tensorize(m, by);
    };
    body const of_sums = body_of(planned_to(pass::program, columns(sums.view(), adds, add)));
    CHECK((of_sums.intrinsic == 0 && of_sums.first_intrinsic == 1 && of_sums.first_loop_count == 1));
    body const of_most = body_of(planned_to(pass::program, columns(most.view(), lifts, lift)));
    CHECK((of_most.intrinsic == 0 && of_most.first_intrinsic == 1));
    // The value alone does not start from another one, and is not all steps.
    body const of_from = body_of(planned_to(pass::program, columns(from.view(), adds, add)));
    CHECK((of_from.first_intrinsic == -1 && of_from.begun));
    CHECK(planned_to(pass::program, columns(sums.view(), adds, take)).refusal().kind == verdict_kind::intrinsic_operation);
    // 0 + -0.0 is 0.0.
    constexpr static tensor<float> fx{"fx"}, fy{"fy"}, fa{"fa"}, fc{"fc"};
    constexpr static auto fadd = intrinsic("fadd", fy(lanes) += fx(lanes)).reads(fx, spad).updates(fy, spad),
                          ftake = intrinsic("ftake", fy(lanes) = fx(lanes)).reads(fx, spad).writes(fy, spad);
    constexpr static auto floats = machine("floats", dram, spad, get, put, fadd, ftake);
    constexpr static auto of_floats = fc(m) = sum(ten, fa(m, ten));
    CHECK(planned_to(pass::program, schedule(of_floats, floats)
                                        .reorder(ten, m)
                                        .cache_read(fa, spad)
                                        .layout([](auto row, auto column) { return index_map(column, row); })
                                        .cache_write(fc, spad)
                                        .tensorize(m, fadd))
              .refusal()
              .kind == verdict_kind::missing_first_form);
}
TEST_CASE("operands lie where the loops stand, their lanes left out") {
    planned_to const t(pass::program, stepped(weighted.view(), where));
    body const step_of = body_of(t);
    operand_use const& left = t.p.plan.operands[step_of.operands];
    CHECK(left.buffer == t.buffer("A.spad"));
    int const row = t.p.nest_at(0).axes[0].variable;
    CHECK(same(t.p.form_of(left.at[0]), sum_of(0, {{2, row}})));
    CHECK(same(t.p.form_of(left.at[1]), sum_of(0, {{5, t.variable("ko")}, {5, t.variable("ki")}})));  // ki has one step, of five
    CHECK((left.dimension[0] == 0 && left.dimension[1] == 1 && left.factor[0] == 1));
}
TEST_CASE("or else a transfer writes what the reduction starts from") {
    planned_to const t(pass::program, stepped(weighted.view(), filling));
    body const step_of = body_of(t);
    CHECK((step_of.first_intrinsic == -1 && step_of.begun && step_of.first_loop_count == 0));
    bool filled = false;
    for (int at = 0; at < t.p.plan.movements.size(); ++at)
        filled |= t.p.plan.movements[at].transfer == 2 && t.p.plan.movements[at].source < 0;
    CHECK(filled);
    planned_to constant(pass::rings, stepped(from_three.view(), alone)), missing(pass::rings, stepped(weighted.view(), alone));
    CHECK(find_start_transfer(constant.p, 0_stage).transfer == 2);
    CHECK_FALSE(find_start_transfer(missing.p, 0_stage));
    CHECK(planned_to(pass::program, stepped(weighted.view(), alone)).refusal().kind == verdict_kind::missing_first_form);
    CHECK(start_of(weighted.view(), missing.p.stage_at(0)).empty());
    CHECK(start_of(from_three.view(), constant.p.stage_at(0)) == "a constant");
}
TEST_CASE("an intrinsic that overwrites takes a reduction in one step") {
    auto const overwriting = [](int tile) {
        return planned_to(pass::program, schedule(weighted, where)
                                             .split(ten, ko, ki, tile)
                                             .reorder(ko, m, ki)
                                             .cache_read(A, spad)
                                             .cache_read(B, spad)
                                             .cache_write(C, spad)
                                             .tensorize(m, ki, mul))
            .refusal();
    };
    verdict const steps = overwriting(5);
    CHECK((steps.broken == rule::overwriting_every_step && steps.facts[0].value == 2));
}
TEST_CASE("operands are in the memory, at addresses and at strides that the intrinsic takes") {
    auto const refusal_of = [](intrinsic const& by, schedule (*how)(schedule)) {
        machine const on("on", dram, spad, get, put, by, mul);
        return planned_to(pass::program, how(schedule(weighted, on).split("k", ko, ki, 5).reorder(ko, m, ki).cache_read(A, spad)))
            .refusal();
    };
    auto const all = [](schedule of) { return of.cache_read(B, spad).cache_write(C, spad).tensorize(m, ki, mac); };
    auto const outside = [](schedule of) { return of.cache_write(C, spad).tensorize(m, ki, mac); };
    CHECK_FALSE(refusal_of(mac, all));
    CHECK(refusal_of(mac, outside).kind == verdict_kind::operand_memory);
    verdict const address = refusal_of(intrinsic(mac).alignment(b, 8), all), stride = refusal_of(intrinsic(mac).stride_multiple(a, 4), all);
    CHECK((address.broken == rule::operand_not_aligned && address.facts[0].value == 4 && address.facts[1].value == 8));  // 5 elements of 4
    CHECK((stride.broken == rule::stride_not_a_multiple && stride.facts[0].value == 10));
    CHECK_FALSE(refusal_of(intrinsic(mac).stride_multiple(a, 5), all));
    CHECK(refusal_of(intrinsic(mac).stride_at_most(a, 9), all).broken == rule::stride_too_long);
    CHECK_FALSE(refusal_of(intrinsic(mac).stride_at_most(a, 10), all));
}
TEST_CASE("what a step covers of an axis that may end early follows from its limits") {
    static constexpr axis four{"r", 4};
    static constexpr auto up_to_four = intrinsic("up_to_four", d(four) = b(four) + 1).reads(b, spad).writes(d, spad).up_to(four);
    static constexpr auto on = machine("on", dram, spad, get, put, up_to_four);
    static constexpr auto rows = C(m) = A(m) + 1;
    planned_to const t(pass::program, schedule(rows, on).cache_read(A, spad).cache_write(C, spad).tensorize(m, up_to_four));
    body const step_of = body_of(t);

    REQUIRE(step_of.extent_count == 2);
    step_extent const &whole = t.p.plan.step_extents[step_of.extents], &end = t.p.plan.step_extents[step_of.extents + 1];
    CHECK((whole.most == 4 && whole.weight == 0 && end.weight == 1 && end.bound == 10));
    CHECK(same(t.p.form_of(end.form), sum_of(0, {{4, t.variable("m")}})));
}
TEST_CASE("a step ends with an axis when no other lane moves its form") {
    blank t;
    int const lane = t.p.add(variable{.extent = 4, .kind = variable_kind::lane}),
              other = t.p.add(variable{.extent = 4, .kind = variable_kind::lane});
    std::int16_t const o = add_loop(t.p.plan, "o", 3);
    detail::nest_axis const along{.lane = variable_id(lane)};
    CHECK(ends_step(t.p, sum_of(0, {{4, o}, {1, lane}}), along));
    CHECK_FALSE(ends_step(t.p, sum_of(0, {{-1, lane}}), along));
    CHECK_FALSE(ends_step(t.p, sum_of(0, {{1, lane}, {1, other}}), along));
}
TEST_CASE("a tile of one block lies in blocks as well as a tile of several does") {
    axis const q{"q", 3}, e{"e", 4};
    auto const blocks = intrinsic("blocks", c(i) = sum(q, e, a(q, i, e))).reads(a, spad).writes(c, spad).up_to(q);
    machine const on("on", dram, spad, get, put, blocks);
    for (int count : {1, 2, 3}) {
        INFO(count << " blocks");
        axis const block{"block", count}, in_block{"in_block", 4};
        computation const sums = C(m) = sum(block, in_block, A(m, 4 * block + in_block));
        auto const made =
            schedule(sums, on).cache_read(A, spad).layout([](auto row, auto column) { return index_map(column / 4, row, column % 4); });
        CHECK(make_plan(schedule(made).cache_write(C, spad).tensorize(m, block, in_block, blocks)).refusal.kind == verdict_kind::none);
    }
}
