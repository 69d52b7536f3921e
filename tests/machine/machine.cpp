#include <tilewright/machine/clock.hpp>
#include <tilewright/machine/machine.hpp>
#include <tilewright/machine/structural.hpp>

#include "catch.hpp"

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, near{.name = "near", .capacity = 4_KiB};
constexpr engine dma{"dma"};
constexpr axis i{"i", 4}, j{"j", 4}, k{"k", 4};
constexpr tensor<float> a{"a"}, b{"b"}, c{"c"};
constexpr auto flat = transfer("flat", dram, near);
constexpr auto rows = transfer("rows", dram, near).on(dma).dimensions(3);
constexpr auto named =
    transfer("named", dram, near)
        .dimensions(2)
        .calls("copy2d", argument::destination, argument::source, argument::extent(1), argument::row_bytes, argument::literal(7));
constexpr auto multiply = intrinsic("multiply", c(i, j) += a(i, k) * b(k, j)).reads(a, near).reads(b, near).updates(c, near);
constexpr auto renamed = intrinsic("renamed", c(i, j) += a(i, k) * b(k, j))
                             .reads(a, near)
                             .reads(b, near)
                             .updates(c, near)
                             .calls("mma", argument::address(c), argument::address(a), argument::stride(a, 0), argument::literal(-1));
constexpr auto all = machine("all", named, dma, multiply, dram, flat, near, renamed, rows);

constexpr bool has_roles(device_call const& call, std::initializer_list<role> wanted) {
    if (call.count != static_cast<int>(wanted.size())) return false;
    int at = 0;
    for (role const one : wanted) {
        if (call.arguments[at++].is != one) return false;
    }
    return true;
}

// Default arguments
static_assert(has_roles(call_of(all, flat), {role::source, role::destination, role::bytes}));
static_assert(has_roles(call_of(all, rows), {role::source, role::destination, role::row_bytes, role::extent, role::source_stride,
                                             role::destination_stride, role::extent, role::source_stride, role::destination_stride}));
static_assert(call_of(all, rows).arguments[6].dimension == 2);
static_assert(has_roles(call_of(all, all.intrinsics[0]),
                        {role::address, role::stride, role::address, role::stride, role::address, role::stride}));
// Given arguments
static_assert(call_of(all, named).symbol == ir::label("copy2d"));
constexpr engine four{.name = "four", .channels = 4}, pair{.name = "pair", .channels = 2, .completes = completion::by_channel},
    whole{.name = "whole", .channels = 3, .completes = completion::by_engine};
constexpr auto by_tag = transfer("by_tag", dram, near).on(four).asynchronous(), by_count = transfer("by_count", dram, near).on(pair);
constexpr auto dealt = machine("dealt", dram, near, dma, four, pair, whole, by_tag, by_count);
static_assert(has_roles(call_of(dealt, by_tag), {role::source, role::destination, role::bytes, role::channel, role::tag}));
static_assert(has_roles(call_of(dealt, by_count), {role::source, role::destination, role::bytes, role::channel}));
// A multicast is told how many cores it reaches.
constexpr auto to_all = transfer("to_all", dram, near).multicast().on(four).asynchronous();
static_assert(has_roles(call_of(dealt, to_all), {role::source, role::destination, role::bytes, role::cores, role::channel, role::tag}));
static_assert(has_roles(wait_call_of(four), {role::channel, role::tag}) && has_roles(wait_call_of(pair), {role::channel, role::pending}));
static_assert(has_roles(wait_call_of(whole), {role::channel}) && has_roles(wait_call_of(dma), {role::tag}));
// Channels stand in one row.
static_assert(dealt.lane_count() == 1 + 4 + 2 + 3 && dealt.first_lane(0) == 0 && dealt.first_lane(1) == 1 && dealt.first_lane(3) == 7);
static_assert(dealt.engine_of_lane(0) == 0 && dealt.engine_of_lane(4) == 1 && dealt.engine_of_lane(5) == 2 && dealt.engine_of_lane(9) == 3);
// One channel of an engine, described by itself, is that engine's.
static_assert(is_same_engine(whole, engine{"one_of_them"}.waits("whole_wait", argument::literal(2))));
static_assert(!is_same_engine(whole, engine{"another"}.waits("other_wait", argument::literal(2))));
static_assert(has_roles(call_of(all, named), {role::destination, role::source, role::extent, role::row_bytes, role::literal}));
static_assert(call_of(all, all.intrinsics[1]).arguments[0].operand == 2 && call_of(all, all.intrinsics[1]).arguments[2].operand == 0);
static_assert(call_of(all, all.intrinsics[1]).arguments[3].value == -1);
// What the result overwrites is given once, as the result; its strides, too.
constexpr auto over = intrinsic("over", c(i, j) = b(i, j) + a(i, j)).reads(b, near).writes(c, near).reads(a, near).in_place(b);
constexpr auto with_over = machine("with_over", dram, near, over);
static_assert(has_roles(call_of(with_over, with_over.intrinsics[0]), {role::address, role::stride, role::address, role::stride}));
static_assert(call_of(with_over, with_over.intrinsics[0]).arguments[0].operand == 1);
static_assert(with_over.intrinsics[0].find_in_place() == 0 && all.intrinsics[0].find_in_place() < 0);
// A call takes its cycles, and more by what it covers: units that are begun count, factors multiply, axes of one factor are counted
// together.
constexpr auto priced = intrinsic("priced", c(i, j) += a(i, k) * b(k, j))
                            .reads(a, near)
                            .reads(b, near)
                            .updates(c, near)
                            .up_to(i, j)
                            .cycles(20, per(i), 3 * per(j).in_units_of(4) * per(k), per(i, j).in_units_of(3) * 2);
constexpr std::int64_t price(std::int64_t of_i, std::int64_t of_j, std::int64_t of_k) {
    return time_of(priced.costs, fixed_array<std::int64_t, 3>{of_i, of_j, of_k}.elements).busy;
}
static_assert(price(1, 1, 1) == 20 + 1 + 3 + 2);
static_assert(price(4, 4, 4) == 20 + 4 + 3 * 1 * 4 + 2 * 6);
static_assert(price(3, 5, 2) == 20 + 3 + 3 * 2 * 2 + 2 * 5);
static_assert(price(2, 3, 1) == 20 + 2 + 3 + 2 * 2);
static_assert(time_of(priced.costs, fixed_array<std::int64_t, 3>{4, 4, 4}.elements).latency == 0);
static_assert(time_of(multiply.costs, fixed_array<std::int64_t, 3>{4, 4, 4}.elements).busy == 1);
// What is said last holds; each named axis is the one of the semantics, wherever it stands there.
constexpr auto repriced = [] {
    auto made = priced;
    return made.cycles(5, per(k), per(j));
}();
static_assert(repriced.costs.term_count == 2 && repriced.costs.axes() == 0b110);
static_assert(repriced.costs.terms[0].factors[0] == cycle_factor{.axes = 0b100});
static_assert(time_of(repriced.costs, fixed_array<std::int64_t, 3>{100, 7, 30}.elements).busy == 42);
// The host of a machine without a core costs a cycle an operation.
static_assert(all.host().name == ir::label("host") && all.host().costs.divide == 1);
// Semantics stand in the machine's pool.
static_assert(all.view(all.intrinsics[1].semantics).count == all.intrinsics[0].semantics.count);
static_assert(all.intrinsics[1].semantics.first == all.intrinsics[0].semantics.count);

}  // namespace

TEST_CASE("a machine that is built part by part is the one that lists them") {
    machine built("all");
    built.add(named);
    built.add(dma);
    built.add(multiply);
    built.add(dram);
    built.add(flat);
    built.add(near);
    built.add(renamed);
    built.add(rows);
    CHECK(equal(built, all));
    built.add(core{.name = "core"});
    CHECK_FALSE(equal(built, all));
}
