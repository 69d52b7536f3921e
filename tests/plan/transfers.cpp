#include <tilewright/tilewright.hpp>

#include "catch.hpp"

// What transfers and instructions ask of addresses and strides: of what is walked, and of each dimension by itself.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, tcm{.name = "tcm", .base = 0x1000, .capacity = 64_KiB, .alignment = 64};
constexpr axis n{"n", 4}, k{"k", 8}, j{"j", 16}, l{"l", 16}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> W{"W"}, O{"O"};

plan_value plan_on(machine const& on, auto const& what, auto&& directives) { return make_plan(directives(schedule(what, on))); }
fixed_array<std::int64_t, max_rank> multiples_of(plan_value const& plan, int argument) {
    return plan.buffers[static_cast<std::size_t>(argument)].stride_multiples;
}
constexpr fixed_array<std::int64_t, max_rank> none{};

constexpr auto copy_blocks = O(n, k, j, l) = W(n, k, j, l);
auto const by_blocks = [](schedule of) { return of.split(k, ko, ki, 4).reorder(ko, n, ki, j, l).cache_read(W, tcm).at(ko); };

}  // namespace

TEST_CASE("a stride is asked of the dimension that a call walks, not of those that are joined into its row") {
    auto const in_blocks =
        transfer("in_blocks", dram, tcm)
            .dimensions(2)
            .calls("in_blocks", argument::source, argument::destination, argument::row_bytes.in_units_of(256), argument::extent(1),
                   argument::source_stride(1).in_units_of(256), argument::destination_stride(1).in_units_of(256));
    auto const on = machine("on", dram, tcm, in_blocks);
    plan_value const plan = plan_on(on, copy_blocks, by_blocks);
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    CHECK(plan.buffers[0].dense_from == 1);  // rows of 4 x 16 x 16 bytes
    CHECK(multiples_of(plan, 0) == fixed_array<std::int64_t, max_rank>{256});
    CHECK(multiples_of(plan, 1) == none);  // loops write it
}
TEST_CASE("a stride that joining fixes and that must be a multiple is refused, not left to an entry that refuses every call") {
    // Rows of 10 of 20 bytes, 2 x 3 of them joined to 6: they lie 20 bytes apart, counted in 16.
    constexpr axis a{"a", 2}, b{"b", 3}, c{"c", 20}, co{"co"}, ci{"ci"};
    auto const load = transfer("load", dram, tcm)
                          .dimensions(2)
                          .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::source_stride(1).in_units_of(16), argument::destination_stride(1));
    auto const on = machine("on", dram, tcm, load);
    auto const cut = [&](schedule of) { return of.split(c, co, ci, 10).reorder(co, a, b, ci).cache_read(W, tcm).at(co); };
    plan_value const plan = plan_on(on, O(a, b, c) = W(a, b, c), cut);
    CHECK(plan.refusal.kind == verdict_kind::transfer_region);
    CHECK(plan.refusal.broken == rule::stride_not_aligned);
    CHECK(plan.refusal.facts[0].value == 20);
    CHECK(plan.refusal.facts[1].value == 16);
}
TEST_CASE("joining that comes after a multiple was asked for is refused likewise") {
    // Rows of 24 bytes: the first stage takes them one by one, at a multiple of 16 bytes; the second takes all at once.
    constexpr memory other{.name = "other", .base = 0x9000'0000, .capacity = 64_KiB};
    constexpr axis r{"r", 6}, c{"c", 24}, r1{"r1", 6}, c1{"c1", 24};
    constexpr tensor<std::int8_t> next{"next"};
    auto const rows = transfer("rows", dram, tcm)
                          .dimensions(2)
                          .calls("rows", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::source_stride(1).in_units_of(16), argument::destination_stride(1));
    auto const on = machine("on", dram, tcm, other, rows, transfer("all", dram, other));
    auto const both = stages(next(r1, c1) = W(r1, c1) + 1, O(r, c) = next(r, c) + W(r, c));
    auto const first_alone = [&](schedule of) { return of.store_in(next, tcm).stage(next).cache_read(W, tcm); };
    CHECK(multiples_of(plan_on(on, both, first_alone), 0) == fixed_array<std::int64_t, max_rank>{16});
    plan_value const plan =
        plan_on(on, both, [&](schedule of) { return of.store_in(next, tcm).cache_read(W, other).stage(next).cache_read(W, tcm); });
    CHECK(plan.refusal.broken == rule::stride_not_aligned);
    CHECK(plan.refusal.facts[0].value == 24);
    CHECK(plan.refusal.facts[1].value == 16);
}
TEST_CASE("the alignment of an address counts what moves it") {
    auto const load = transfer("load", dram, tcm).dimensions(1).alignment(8);
    auto const on = machine("on", dram, tcm, load);
    SECTION("rows that are joined lie 20 bytes apart, which nobody walks") {
        constexpr axis r{"r", 6}, c{"c", 20};
        plan_value const plan = plan_on(on, O(r, c) = W(r, c), [](schedule of) { return of.cache_read(W, tcm); });
        CHECK(plan.refusal.kind == verdict_kind::none);
        CHECK(plan.buffers[0].alignment == 8);
        CHECK(multiples_of(plan, 0) == none);
    }
    SECTION("a loop of one iteration moves nothing") {
        constexpr axis r{"r", 6}, c{"c", 20}, co{"co"}, ci{"ci"};
        plan_value const plan = plan_on(on, O(r, c) = W(r, c),
                                        [&](schedule of) { return of.split(c, co, ci, 20).reorder(co, r, ci).cache_read(W, tcm).at(co); });
        CHECK(plan.refusal.kind == verdict_kind::none);
    }
    SECTION("rows that a loop walks one by one do lie 20 bytes apart in the staged tensor, and so far in the argument as its caller says") {
        constexpr axis r{"r", 6}, c{"c", 20};
        auto const at_row = [&](schedule of) { return of.cache_read(W, tcm).at(r); };
        plan_value const plan = plan_on(on, O(r, c) = W(r, c), at_row);
        CHECK(plan.refusal.kind == verdict_kind::none);  // each row alone is staged at one address
        CHECK(multiples_of(plan, 0) == fixed_array<std::int64_t, max_rank>{8});
    }
    SECTION("two rows at a time without gaps are 40 bytes further on") {
        constexpr axis r{"r", 8}, c{"c", 20}, ro{"ro"}, ri{"ri"};
        auto const all = machine("on", dram, tcm, transfer("all", dram, tcm).alignment(8));
        plan_value const plan =
            plan_on(all, O(r, c) = W(r, c), [&](schedule of) { return of.split(r, ro, ri, 2).cache_read(W, tcm).at(ro); });
        CHECK(plan.refusal.kind == verdict_kind::none);  // 2 * 20 bytes without gaps
        CHECK(plan.buffers[0].dense_from == 0);
        CHECK(multiples_of(plan, 0) == none);
    }
}
TEST_CASE("operands in memories of numbered rows: the instruction is given addresses that are multiples, whatever lies between them") {
    constexpr memory s0{.name = "s0", .base = 0x1000, .capacity = 32_KiB},
        rows{.name = "rows", .capacity = 32_KiB, .alignment = 64, .host_visible = false, .address_unit = 64};
    constexpr axis i{"i", 8}, jj{"j", 8}, ll{"l", 8}, m{"m", 8}, nn{"n", 8}, kk{"k", 8};
    constexpr tensor<std::int8_t> A{"A"}, B{"B"}, a{"a"}, b{"b"};
    constexpr tensor<std::int32_t> C{"C"}, c{"c"};
    auto const product = cast<std::int32_t>(a(i, ll)) * cast<std::int32_t>(b(ll, jj));
    auto const mac = intrinsic("mac", c(i, jj) += product).reads(a, s0).reads(b, s0).updates(c, rows);
    auto const mul = intrinsic("mul", c(i, jj) = sum(ll, product)).reads(a, s0).reads(b, s0).writes(c, rows);
    auto const on =
        machine("on", dram, s0, rows, transfer("in", dram, s0).dimensions(2), transfer("out", rows, dram).dimensions(3), mac, mul);
    auto const one = C(m, nn) += cast<std::int32_t>(A(m, kk)) * cast<std::int32_t>(B(kk, nn));
    auto const staged = [&](schedule of) { return of.cache_read(A, s0).cache_read(B, s0); };
    auto const padded = [&](schedule of) {
        return staged(of)
            .cache_write(C, rows)
            .layout([](auto x, auto y) { return index_map(x, y / 16, y % 16); })
            .tensorize(m, nn, kk, mac);
    };
    CHECK(plan_on(on, one, padded).refusal.kind == verdict_kind::none);
    auto const stays = [&](schedule of) { return staged(of).store_in(C, rows).tensorize(m, nn, kk, mac); };
    CHECK(plan_on(on, one, stays).refusal.kind == verdict_kind::none);
    // Two tiles side by side: the second begins 32 bytes, half a row, further on.
    constexpr axis wide{"n", 16};
    auto const two = C(m, wide) += cast<std::int32_t>(A(m, kk)) * cast<std::int32_t>(B(kk, wide));
    auto const halves = [&](schedule of) { return staged(of).store_in(C, rows).tensorize(m, wide, kk, mac); };
    plan_value const refused = plan_on(on, two, halves);
    CHECK(refused.refusal.broken == rule::operand_not_aligned);
    CHECK(refused.refusal.facts[0].value == 32);
}
TEST_CASE("blocks of a memory that counts blocks hold rows that are shorter") {
    constexpr memory wgt{.name = "wgt", .capacity = 256_KiB, .host_visible = false, .address_unit = 256},
        inp{.name = "inp", .capacity = 32_KiB, .host_visible = false, .address_unit = 16},
        acc{.name = "acc", .capacity = 64_KiB, .host_visible = false, .address_unit = 64};
    constexpr tensor<std::int8_t> a{"a"}, b{"b"}, A{"A"};
    constexpr tensor<std::int32_t> c{"c"}, C{"C"};
    constexpr axis m{"m", 4}, nb{"nb", 4}, kb{"kb", 4}, j2{"j2", 16}, l2{"l2", 16};
    auto const plan_with = [&](auto const& block, auto const& weight) {
        auto const term = cast<std::int32_t>(a(l)) * cast<std::int32_t>(block);
        auto const mac = intrinsic("mac", c(j) += term).reads(a, inp).reads(b, wgt).updates(c, acc);
        auto const mul = intrinsic("mul", c(j) = sum(l, term)).reads(a, inp).reads(b, wgt).writes(c, acc);
        auto const on = machine("on", dram, wgt, inp, acc, transfer("tin", dram, inp).dimensions(2),
                                transfer("tw", dram, wgt).dimensions(2), transfer("tout", acc, dram).dimensions(2), mac, mul);
        return plan_on(on, C(m, nb, j2) += cast<std::int32_t>(A(m, kb, l2)) * cast<std::int32_t>(weight), [&](schedule of) {
            return of.reorder(m, nb, kb, j2, l2).cache_read(A, inp).cache_read(W, wgt).cache_write(C, acc).tensorize(j2, l2, mac);
        });
    };
    CHECK(plan_with(b(j, l), W(nb, kb, j2, l2)).refusal.kind == verdict_kind::none);
    CHECK(plan_with(b(16 * j + l), W(nb, kb, 16 * j2 + l2)).refusal.kind == verdict_kind::none);
}
