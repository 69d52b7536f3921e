#include <tilewright/plan/write/movement_writer.hpp>

#include <deque>
#include <tilewright/tilewright.hpp>

#include "plan/small_kernels.hpp"

// What transfers and instructions ask of addresses and strides: of what is walked, and of each dimension by itself.

using namespace tilewright;

namespace {

constexpr memory dram{.name = "dram"}, tcm{.name = "tcm", .base = 0x1000, .capacity = 64_KiB, .alignment = 64};
constexpr axis n{"n", 4}, k{"k", 8}, j{"j", 16}, l{"l", 16}, ko{"ko"}, ki{"ki"};
constexpr tensor<std::int8_t> W{"W"}, O{"O"};

plan_value plan_on(machine const& on, auto const& what, auto&& directives) { return make_plan(directives(schedule(what, on))); }
fixed_array<std::int64_t, max_rank> multiples_of(plan_value const& plan, int argument) { return plan.buffers[argument].stride_multiples; }
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
TEST_CASE("where joining fixes a stride that no call takes, rows go one by one") {
    // Rows of 10 of 20 bytes, 2 x 3 of them joined to 6: they lie 20 bytes apart, counted in 16.
    constexpr axis a{"a", 2}, b{"b", 3}, c{"c", 20}, co{"co"}, ci{"ci"};
    auto const load = transfer("load", dram, tcm)
                          .dimensions(2)
                          .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::source_stride(1).in_units_of(16), argument::destination_stride(1));
    auto const on = machine("on", dram, tcm, load);
    auto const cut = [&](schedule of) { return of.split(c, co, ci, 10).reorder(co, a, b, ci).cache_read(W, tcm).at(co); };
    plan_value const plan = plan_on(on, O(a, b, c) = W(a, b, c), cut);
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    CHECK(plan.calls(load) == 2 * 6);
    CHECK(multiples_of(plan, 0) == none);
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
    CHECK(plan.refusal.broken == ir::rule::stride_not_aligned);
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
    CHECK(refused.refusal.broken == ir::rule::operand_not_aligned);
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
TEST_CASE("where blocks are counted, a stride that the transfer fixes is no number of blocks, and calls begin at blocks") {
    constexpr memory wgt{.name = "wgt", .capacity = 256_KiB, .host_visible = false, .address_unit = 128};
    auto const stored_by = [&](transfer const& by, axis const& rows) {
        static std::deque<machine> kept;  // plans point to theirs
        machine const& on = kept.emplace_back("on", dram, wgt, by);
        return plan_on(on, O(rows, j) = W(rows, j), [&](schedule of) { return of.store_in(O, wgt).by(by); });
    };
    auto const in_rows = transfer("in_rows", dram, wgt).dimensions(2).row_limit(16).extent_limit(64);
    auto const fixed = transfer(in_rows).strides_of_destination({.exactly = 16}),
               follow = transfer(in_rows).strides_of_destination(rows_follow);
    constexpr axis whole{"whole", 72}, broken{"broken", 76};
    CHECK(stored_by(fixed, whole).calls(fixed) == 3);  // of 24 rows, where 36 would begin in the middle of a block
    CHECK(stored_by(follow, whole).calls(follow) == 3);
    CHECK(stored_by(fixed, broken).calls(fixed) == 2);  // of 64 rows, and of 12
    verdict const told = stored_by(in_rows, whole).refusal;
    CHECK((told.broken == ir::rule::stride_not_aligned && told.facts[0].value == 16 && told.facts[1].value == 128));
    // What a transfer asks of addresses itself, it asks of all strides.
    verdict const aligned = stored_by(transfer(fixed).alignment(32), whole).refusal;
    CHECK((aligned.broken == ir::rule::stride_not_aligned && aligned.facts[1].value == 32));
}

namespace {

// A copy of a tensor, staged whole or in tiles of columns.
constexpr axis r{"r", 8}, c{"c", 128}, co{"co"}, ci{"ci"};
constexpr auto copy_rows = O(r, c) = W(r, c);
plan_value staged_by(transfer const& by, auto const& what, std::int64_t columns) {
    static std::deque<machine> kept;  // plans point to theirs
    machine const& on = kept.emplace_back("on", dram, tcm, by);
    return plan_on(on, what, [&](schedule of) {
        return columns == 0 ? of.cache_read(W, tcm) : of.split(c, co, ci, columns).reorder(co, r, ci).cache_read(W, tcm).at(co);
    });
}

}  // namespace

TEST_CASE("a side without a stride takes rows that follow each other; others go one by one") {
    for (transfer const& by : {transfer("load", dram, tcm).dimensions(2).strides_of_source(rows_follow),
                               transfer("load", dram, tcm)
                                   .dimensions(2)
                                   .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                          argument::destination_stride(1))}) {
        plan_value const whole = staged_by(by, copy_rows, 0), tiles = staged_by(by, copy_rows, 64);
        REQUIRE(whole.refusal.kind == verdict_kind::none);
        CHECK(whole.calls(by) == 1);
        CHECK(whole.buffers[0].dense_from == 0);  // the caller's rows follow each other, too
        REQUIRE(tiles.refusal.kind == verdict_kind::none);
        CHECK(tiles.calls(by) == 2 * 8);  // half a row each
        CHECK(tiles.buffers[0].dense_from == 1);
    }
    // Columns of 48: rows of the last tile are 32 long, and in the box they lie 48 apart.
    auto const packed = transfer("load", dram, tcm).dimensions(2).strides_of_destination(rows_follow);
    CHECK(staged_by(packed, copy_rows, 64).calls(packed) == 2);
    CHECK(staged_by(packed, copy_rows, 48).calls(packed) == 3 * 8);
    auto const told_nothing =
        transfer("load", dram, tcm)
            .dimensions(2)
            .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1), argument::source_stride(1));
    CHECK(staged_by(told_nothing, copy_rows, 64).calls(told_nothing) == 2);
    CHECK(staged_by(told_nothing, copy_rows, 48).calls(told_nothing) == 3 * 8);
    auto const strided = transfer("load", dram, tcm).dimensions(2);
    CHECK(staged_by(strided, copy_rows, 48).calls(strided) == 3);
}
TEST_CASE("rows that are always one row of the memory apart") {
    auto const rows_of_64 = transfer("load", dram, tcm).dimensions(2).strides_of_destination({.exactly = 64});
    CHECK(staged_by(rows_of_64, copy_rows, 64).calls(rows_of_64) == 2);
    CHECK(staged_by(rows_of_64, copy_rows, 32).calls(rows_of_64) == 4 * 8);
    auto const from_rows_of_256 = transfer("load", dram, tcm).dimensions(2).strides_of_source({.exactly = 256});
    plan_value const plan = staged_by(from_rows_of_256, copy_rows, 64);
    CHECK(plan.calls(from_rows_of_256) == 2);  // where the caller's rows lie 256 apart, which the entry checks
    CHECK(plan.buffers[0].stride_multiples[0] == 256);
    CHECK(plan.buffers[0].longest_strides[0] == 256);
}
TEST_CASE("a stride that is too long, or no multiple, is not the call's") {
    auto const sixteen_bits = transfer("load", dram, tcm).dimensions(2).strides_of_source({.most = 65535});
    plan_value const near = staged_by(sixteen_bits, copy_rows, 64);
    CHECK(near.calls(sixteen_bits) == 2);
    CHECK(near.buffers[0].longest_strides[0] == 65535);
    constexpr axis far{"c", 65536};
    auto const on = machine("on", dram, tcm, sixteen_bits);
    auto const cut = [&](schedule of) { return of.split(far, co, ci, 4096).reorder(co, r, ci).cache_read(W, tcm).at(co); };
    plan_value const apart = plan_on(on, O(r, far) = W(r, far), cut);
    REQUIRE(apart.refusal.kind == verdict_kind::none);
    CHECK(apart.calls(sixteen_bits) == 16 * 8);
    CHECK(apart.buffers[0].longest_strides[0] == 0);
    // Boxes of 48 columns: their rows are no multiple of 32.
    auto const even = transfer("load", dram, tcm).dimensions(2).strides_of_destination({.multiple = 32});
    CHECK(staged_by(even, copy_rows, 64).calls(even) == 2);
    CHECK(staged_by(even, copy_rows, 16).calls(even) == 8 * 8);
}
TEST_CASE("limits are those of each dimension, and a dimension goes where it fits") {
    constexpr axis x{"x", 4}, y{"y", 16}, z{"z", 24}, zo{"zo"}, zi{"zi"}, yo{"yo"}, yi{"yi"};
    auto const plan_with = [&](transfer const& by) {
        static std::deque<machine> kept;
        machine const& on = kept.emplace_back("on", dram, tcm, by);
        // 4 x 16 rows of 12 of 24 elements
        return plan_on(on, O(x, y, z) = W(x, y, z),
                       [&](schedule of) { return of.split(z, zo, zi, 12).reorder(zo, x, y, zi).cache_read(W, tcm).at(zo); });
    };
    auto const rows_and_planes = transfer("load", dram, tcm).dimensions(3).extent_limit(1, 16).extent_limit(2, 4);
    plan_value const fits = plan_with(rows_and_planes);
    CHECK(fits.calls(rows_and_planes) == 2);
    auto const planes_first = transfer("load", dram, tcm).dimensions(3).extent_limit(1, 4).extent_limit(2, 16);
    plan_value const turned = plan_with(planes_first);
    CHECK(turned.calls(planes_first) == 2);
    ir::movement const& m = turned.movements[0];
    REQUIRE(m.dimension_count == 2);
    CHECK(m.dimensions[1].extent == 4);  // dimension 1
    CHECK(m.dimensions[0].extent == 16);
    // No rows at a stride, but planes: what follows in both is joined.
    auto const planes = transfer("load", dram, tcm).dimensions(3).strides_of_source(1, rows_follow).strides_of_destination(1, rows_follow);
    CHECK(plan_with(planes).calls(planes) == 2);
    // Half of each plane: 8 rows at a stride, 4 times.
    auto const on_planes = machine("on", dram, tcm, planes);
    plan_value const halves = plan_on(on_planes, O(x, y, z) = W(x, y, z), [&](schedule of) {
        return of.split(z, zo, zi, 12).split(y, yo, yi, 8).reorder(zo, yo, x, yi, zi).cache_read(W, tcm).at(yo);
    });
    CHECK(halves.calls(planes) == 2 * 2 * 4);
    // The longest, not the innermost.
    constexpr axis few{"y", 3}, many{"x", 60};
    auto const load = transfer("load", dram, tcm).dimensions(2);
    auto const on = machine("on", dram, tcm, load);
    plan_value const longest = plan_on(on, O(many, few, z) = W(many, few, z), [&](schedule of) {
        return of.split(z, zo, zi, 12)
            .reorder(zo, many, few, zi)
            .split(few, yo, yi, 2)
            .reorder(zo, yo, many, yi, zi)
            .cache_read(W, tcm)
            .at(yo);
    });
    CHECK(longest.refusal.kind == verdict_kind::none);
    CHECK(longest.calls(load) == 2 * (2 + 1));  // 60 at a time
}
TEST_CASE("where no equal parts are few, the last part is short") {
    constexpr axis odd{"r", 31}, prime{"c", 67};
    auto const by_16 = transfer("load", dram, tcm).dimensions(2).extent_limit(16);
    auto const on_16 = machine("on", dram, tcm, by_16);
    plan_value const rows = plan_on(on_16, O(odd, c) = W(odd, c),
                                    [&](schedule of) { return of.split(c, co, ci, 64).reorder(co, odd, ci).cache_read(W, tcm).at(co); });
    REQUIRE(rows.refusal.kind == verdict_kind::none);
    CHECK(rows.calls(by_16) == 2 * 2);  // 16 rows and 15
    CHECK(rows.bytes(by_16) == 31 * 128);
    constexpr axis one_more{"r", 17};
    plan_value const last_alone = plan_on(on_16, O(one_more, c) = W(one_more, c), [&](schedule of) {
        return of.split(c, co, ci, 64).reorder(co, one_more, ci).cache_read(W, tcm).at(co);
    });
    CHECK(last_alone.calls(by_16) == 2 * 2);  // 16 rows and one
    CHECK(last_alone.bytes(by_16) == 17 * 128);
    auto const short_rows = transfer("load", dram, tcm).row_limit(32);
    auto const on_32 = machine("on", dram, tcm, short_rows);
    plan_value const row = plan_on(on_32, O(prime) = W(prime), [&](schedule of) { return of.cache_read(W, tcm); });
    REQUIRE(row.refusal.kind == verdict_kind::none);
    CHECK(row.calls(short_rows) == 3);  // 32, 32 and 3 bytes
    CHECK(row.bytes(short_rows) == 67);
    // What ends early is short in granules, too.
    auto const granules = transfer("load", dram, tcm).row_limit(32).granularity(4);
    auto const on_granules = machine("on", dram, tcm, granules);
    CHECK(plan_on(on_granules, O(prime) = W(prime), [&](schedule of) { return of.cache_read(W, tcm); }).refusal.broken ==
          ir::rule::row_of_broken_granules);
}
TEST_CASE("what no argument tells is one row, or as many as follow from the bytes of all") {
    auto const told = [](auto const&... more) {
        return transfer("load", dram, tcm)
            .dimensions(2)
            .calls("load", argument::source, argument::destination, argument::row_bytes, argument::source_stride(1),
                   argument::destination_stride(1), more...);
    };
    CHECK(staged_by(told(), copy_rows, 64).calls(told()) == 2 * 8);
    CHECK(staged_by(told(argument::bytes), copy_rows, 64).calls(told(argument::bytes)) == 2);
    CHECK(staged_by(told(argument::extent(1)), copy_rows, 64).calls(told(argument::extent(1))) == 2);
    // Strides that stand in a register are told as well.
    constexpr configuration pitch("pitch");
    auto const configured = transfer("load", dram, tcm)
                                .dimensions(2)
                                .uses(pitch, argument::source_stride(1))
                                .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1));
    auto const on = machine("on", dram, tcm, pitch, configured);
    plan_value const plan =
        plan_on(on, copy_rows, [&](schedule of) { return of.split(c, co, ci, 64).reorder(co, r, ci).cache_read(W, tcm).at(co); });
    CHECK(plan.calls(configured) == 2);
}
TEST_CASE("equal parts are no longer than the limit, short as they are") {
    auto const by_3 = transfer("load", dram, tcm).dimensions(2).extent_limit(1, 3);
    auto const on = machine("on", dram, tcm, by_3);
    constexpr axis sixteen{"r", 16};
    plan_value const plan = plan_on(on, O(sixteen, c) = W(sixteen, c), [&](schedule of) {
        return of.split(c, co, ci, 64).reorder(co, sixteen, ci).cache_read(W, tcm).at(co);
    });
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    CHECK(plan.calls(by_3) == 2 * 8);  // two rows each
}
TEST_CASE("of a partial tile goes what there is, as one row and row by row") {
    constexpr axis ten{"r", 10}, ro{"ro"}, ri{"ri"};
    auto const rows = transfer("load", dram, tcm);
    auto const on = machine("on", dram, tcm, rows);
    plan_value const joined =
        plan_on(on, O(ten, c) = W(ten, c), [&](schedule of) { return of.split(ten, ro, ri, 4).cache_read(W, tcm).at(ro); });
    REQUIRE(joined.refusal.kind == verdict_kind::none);
    CHECK(joined.calls(rows) == 3);  // 4, 4 and 2 rows of 128
    CHECK(joined.bytes(rows) == 10 * 128);
    plan_value const one_by_one = plan_on(on, O(ten, c) = W(ten, c), [&](schedule of) {
        return of.split(ten, ro, ri, 4).split(c, co, ci, 64).reorder(ro, co, ri, ci).cache_read(W, tcm).at(co);
    });
    REQUIRE(one_by_one.refusal.kind == verdict_kind::none);
    CHECK(one_by_one.calls(rows) == 2 * 10);
    CHECK(one_by_one.bytes(rows) == 10 * 128);
}
TEST_CASE("a register that a loop leaves at something else is set again behind it") {
    // P is loaded for each half of the columns, Q and R in each of two tiles of rows there.
    constexpr configuration stride("stride");
    constexpr tensor<std::int8_t> P{"P"}, Q{"Q"}, R{"R"};
    constexpr axis ro{"ro"}, ri{"ri"};
    auto const load = transfer("load", dram, tcm)
                          .dimensions(2)
                          .uses(stride, argument::source_stride(1))
                          .calls("load", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                 argument::destination_stride(1));
    auto const on = machine("on", dram, tcm, stride, load);
    plan_value const plan = plan_on(on, O(r, c) = P(r, c) + Q(r, c) + R(r, c), [&](schedule of) {
        return of.split(c, co, ci, 64)
            .split(r, ro, ri, 4)
            .reorder(co, ro, ri, ci)
            .cache_read(P, tcm)
            .at(co)
            .cache_read(Q, tcm)
            .at(ro)
            .cache_read(R, tcm)
            .at(ro);
    });
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    CHECK(plan.calls(stride) == 2 + 2 * 2 * 2);
}
TEST_CASE("two forms that take turns set their register for themselves") {
    // The register says whether a sum goes on.
    constexpr configuration mode("mode");
    constexpr axis i{"i", 8}, jj{"j", 8}, ll{"l", 8}, rows{"rows", 16}, columns{"columns", 16}, depth{"depth", 16};
    constexpr tensor<std::int8_t> A{"A"}, B{"B"}, a{"a"}, b{"b"};
    constexpr tensor<std::int32_t> C{"C"}, c{"c"};
    auto const product = cast<std::int32_t>(a(i, ll)) * cast<std::int32_t>(b(ll, jj));
    auto const add = intrinsic("add", c(i, jj) += product).reads(a, tcm).reads(b, tcm).updates(c, tcm).uses(mode, argument::literal(1));
    auto const start =
        intrinsic("start", c(i, jj) = sum(ll, product)).reads(a, tcm).reads(b, tcm).writes(c, tcm).uses(mode, argument::literal(0));
    auto const on =
        machine("on", dram, tcm, mode, transfer("load", dram, tcm).dimensions(2), transfer("store", tcm, dram).dimensions(2), add, start);
    plan_value const plan = plan_on(
        on, C(rows, columns) += cast<std::int32_t>(A(rows, depth)) * cast<std::int32_t>(B(depth, columns)),
        [&](schedule of) { return of.cache_read(A, tcm).cache_read(B, tcm).cache_write(C, tcm).tensorize(rows, columns, depth, add); });
    REQUIRE(plan.refusal.kind == verdict_kind::none);
    CHECK(plan.calls(start) == 2 * 2);
    CHECK(plan.calls(add) == 2 * 2);
    CHECK(plan.calls(mode) == 2 * (2 * 2));
}

TEST_CASE("steps of a ring: those at which the loops stand, so many ahead, and one by its number") {
    small_kernels::blank t;
    std::int16_t const loop = small_kernels::add_loop(t.p.plan, "o", 3);
    t.p.add(ir::ring{.step = small_kernels::keep(t.p.plan, 1, {{2, loop}})});
    ir::ring_step const ahead = detail::step_of(t.p, 0, 3), fifth = detail::step_number(0, 5);
    CHECK((ahead.ahead == 3 && small_kernels::same(t.p.form_of(ahead.step), small_kernels::sum_of(4, {{2, loop}}))));
    CHECK((fifth.ring == 0 && fifth.ahead == 0 && small_kernels::same(t.p.form_of(fifth.step), small_kernels::sum_of(5))));
}
TEST_CASE("the one transfer between two memories is taken, or the one that is named") {
    auto const one = transfer("one", dram, tcm), other = transfer("other", dram, tcm), back = transfer("back", tcm, dram),
               twice = transfer("twice", tcm, dram, W(n) = O(n) * std::int8_t{2});
    auto const few = machine("few", dram, tcm, one, back, twice), many = machine("many", dram, tcm, one, other);
    auto const chosen = [&](machine const& on, int source, int destination, int named) {
        small_kernels::blank t(on);
        int const found = detail::choose_transfer(t.p, "A", source, destination, named, 0);
        return std::pair(found, t.p.first_verdict().kind);
    };
    using enum verdict_kind;
    CHECK(chosen(few, 0, 1, -1) == std::pair(0, verdict_kind::none));
    CHECK(chosen(few, 1, 0, -1) == std::pair(1, verdict_kind::none));  // what changes the data is no copy
    CHECK(chosen(few, 0, 0, -1) == std::pair(-1, no_transfer));
    CHECK(chosen(many, 0, 1, -1) == std::pair(-1, several_transfers));
    CHECK(chosen(many, 0, 1, 1) == std::pair(1, verdict_kind::none));
    CHECK(chosen(few, 0, 1, 1) == std::pair(-1, transfer_mismatch));
    CHECK(chosen(few, 1, 0, 2) == std::pair(-1, transfer_mismatch));
}
TEST_CASE("a call takes its setup, its bytes and its latency") {
    auto const load = transfer("load", dram, tcm).dimensions(2).cost({.latency = 9, .setup = 4, .bytes_per_cycle = 8});
    auto const on = machine("on", dram, tcm, load);
    small_kernels::blank t(on);
    t.p.add(ir::buffer{.kind = ir::buffer_kind::argument, .type = scalar_type::int8, .rank = 2, .extents = {6, 20}, .dense_from = 1});
    t.p.add(ir::buffer{.kind = ir::buffer_kind::staged, .memory = 1, .type = scalar_type::int8, .rank = 2, .extents = {3, 7}});
    detail::region r{.source = ir::buffer_id(0), .destination = ir::buffer_id(1)};
    for (std::int8_t d : {0, 1}) r.dimensions[d] = {.source_dimension = d, .destination_dimension = d};
    r.dimensions[0].extent = 3, r.dimensions[1].extent = 7, r.count = 2;
    detail::move_dense(t.p, r, 0, 0);
    REQUIRE(t.p.plan.movements.size() == 1);
    CHECK((t.p.plan.movements[0].bytes == 21 && t.p.plan.movements[0].cycles == 9 + 4 + 3));
    CHECK(t.p.plan.movements[0].at.ring == -1);
}
