// clang-format off: schedules are read line by line, a buffer a line.
#include "catch.hpp"
#include "kernels/features.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"
#include "reference/reference.hpp"

// Tiles that do not divide their extents, compared with plain loops.

using namespace tilewright;

namespace {

using kernels::dsp, kernels::l1, kernels::l2;
constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, mii{"mii"}, mio{"mio"}, kio{"kio"}, kii{"kii"}, f{"f"};
constexpr tensor<std::int8_t> A{"A"}, B{"B"};
constexpr tensor<std::int32_t> C{"C"}, in{"in"}, mid{"mid"}, out{"out"};

/// A matrix multiplication whose axes have these extents.
struct product {
    axis m, n, k;
    product(std::int64_t rows, std::int64_t columns, std::int64_t depth) : m{"m", rows}, n{"n", columns}, k{"k", depth} {}
    auto what() const { return C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n)); }
    void check(schedule const& s, emulator& on) const {
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        kernels::check_kernel(*plan, on, [&](kernels::operand_data const& d) {
            reference::matmul_nn(static_cast<int>(m.extent), static_cast<int>(n.extent), static_cast<int>(k.extent), d.in<std::int8_t>(0),
                                 d.in<std::int8_t>(1), d.out<std::int32_t>());
        });
    }
};

// "mac" is 4 x 8 x 4; here its operands can be filled with zeros.
constexpr axis any{"any", 1};
constexpr auto zero_spad = transfer("zero_spad", features::dram, features::spad, features::s8(any) = 0)
                               .on(features::dma)
                               .dimensions(2)
                               .cost({.setup = 2, .bytes_per_cycle = 32});
constexpr auto filling = machine("filling", features::dram, features::spad, features::acc, features::dma, features::unit, features::dots,
                                 features::first_dots, features::mac, features::in_spad, features::out_acc, features::zero_acc, zero_spad);

verdict refusal_of(schedule const& s) { return make_plan(s).refusal; }

}  // namespace

TEST_CASE("tiles of any extents, smaller ones than a tile included") {
    for (auto const& [rows, columns, depth] : {std::array{10, 19, 11}, {1, 1, 1}, {7, 13, 5}, {8, 8, 8}, {17, 3, 97}, {4, 31, 2}}) {
        product const p(rows, columns, depth);
        auto const what = p.what();
        p.check(schedule(what, dsp)
                    .tile(p.m, p.n, mo, no, mi, ni, 4, 8)
                    .split(p.k, ko, ki, 3)
                    .reorder(mo, no, ko, mi, ki, ni)
                    .vectorize(ni)
                    .cache_read(A, l1)
                    .at(ko)
                    .cache_read(B, l2)
                    .at(no)
                    .cache_read(B, l1)
                    .at(ko)
                    .cache_write(C, l1)
                    .at(no),
                emulated<dsp>());
    }
}
TEST_CASE("pieces of a reduction inside of a tile go on from each other") {
    product const p(8, 16, 22);  // of k: 2 x 8 and 6, and of these 1 x 4 and 2
    auto const what = p.what();
    p.check(schedule(what, dsp).split(p.k, ko, ki, 8).unroll(ki).cache_write(C, l1).at(p.m), emulated<dsp>());
    p.check(schedule(what, dsp).split(p.k, ko, ki, 8).split(ki, kio, kii, 4).reorder(p.m, ko, p.n, kio, kii).cache_write(C, l1).at(p.m),
            emulated<dsp>());
}
TEST_CASE("a reduction runs in lanes, alone or between those of the result", "[long]") {
    for (int depth : {8, 13, 24}) {
        product const p(6, 10, depth);
        auto const what = p.what();
        // Pairs in front of lanes and behind them, a factor that is no power of two, everything in one vector.
        p.check(schedule(what, dsp).split(p.k, ko, ki, 2).vectorize(p.n, 4).reorder(p.m, ko, "n.outer", "n.lanes", ki).vectorize(ki),
                emulated<dsp>());
        p.check(schedule(what, dsp).split(p.k, ko, ki, 3).vectorize(p.n, 4).reorder(p.m, ko, "n.outer", ki, "n.lanes").vectorize(ki),
                emulated<dsp>());
        p.check(schedule(what, dsp).vectorize(p.k), emulated<dsp>());
        p.check(schedule(what, dsp).vectorize(p.k, 8).unroll(p.n, 2).cache_read(B, l1).at(p.m).cache_write(C, l1).at(p.m), emulated<dsp>());
    }
    axis const row{"row", 7}, along{"along", 29};
    auto const highest = out(row) = maximum(along, in(row, along));
    auto const lowest = out(row) = minimum(along, in(row, along));
    for (schedule const& s : {schedule(highest, dsp).vectorize(along, 8), schedule(lowest, dsp).vectorize(along, 4)}) {
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        kernels::check_kernel(*plan, emulated<dsp>());
    }
}
TEST_CASE("what is left of a sum of integers keeps its vectors inside of loops that go on, and that of floats its order") {
    constexpr axis j{"j", 16}, r{"r", 3}, t{"t", 11}, to{"to"}, ti{"ti"};
    auto const loops_over_the_rest = [&]<class Sum>(Sum) {
        constexpr tensor<Sum> x{"x"}, w{"w"}, y{"y"};
        auto const what = y(j) += x(r, t) * w(r, t, j);
        // The last tile of `t` has three of four values, in every iteration of `r`.
        schedule const s = schedule(what, dsp).split(t, to, ti, 4).reorder(r, to, ti, j).unroll(ti).vectorize(j, 8).cache_write(y, l1);
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        REQUIRE(!plan->refusal);
        std::string const code = halide::jit_kernel(*plan, &emulated<dsp>()).statement();
        kernels::check_kernel(*plan, emulated<dsp>());
        return code.find("ti, 0, ") != std::string::npos;
    };
    CHECK(!loops_over_the_rest(std::int32_t()));
    CHECK(loops_over_the_rest(float()));
}
TEST_CASE("splits of splits that do not divide either, and fused parts of them") {
    product const p(23, 10, 6);
    auto const what = p.what();
    p.check(schedule(what, dsp).split(p.m, mo, mi, 8).split(mi, mio, mii, 3).cache_read(A, l1).at(mio).cache_write(C, l1).at(mio),
            emulated<dsp>());
    p.check(schedule(what, dsp).split(p.m, mo, mi, 8).split(mo, mio, mii, 2).cache_read(A, l1).at(mii), emulated<dsp>());
    p.check(schedule(what, dsp).tile(p.m, p.n, mo, no, mi, ni, 5, 4).fuse(mo, no, f).split(f, mio, mii, 4).cache_read(B, l1),
            emulated<dsp>());
}
TEST_CASE("a partial tile keeps the vectors of loops that are whole") {
    product const p(10, 8, 6);
    auto const what = p.what();
    auto const count_of = [&](schedule const& s, std::string const& text) {
        auto const plan = std::make_unique<plan_value>(make_plan(s));
        REQUIRE(!plan->refusal);
        std::string const code = halide::jit_kernel(*plan, &emulated<dsp>()).statement();
        int found = 0;
        for (std::size_t at = code.find(text); at != std::string::npos; at = code.find(text, at + 1)) ++found;
        return found;
    };
    // Whole, a row of C is eight lanes wide where it is set and where it is summed; the last tile of two rows does the same.
    auto const rows = schedule(what, dsp).split(p.m, mo, mi, 4).reorder(mo, p.k, mi, p.n).vectorize(p.n).cache_read(A, l1).at(mo);
    int const in_whole =
        count_of(schedule(what, dsp).split(p.m, mo, mi, 5).reorder(mo, p.k, mi, p.n).vectorize(p.n).cache_read(A, l1).at(mo), "int32x8");
    CHECK(in_whole > 0);
    CHECK(count_of(rows, "int32x8") == 2 * in_whole);
    p.check(rows, emulated<dsp>());
    // The loop that ends early has no lanes there.
    auto const columns = [&](int factor) {
        return schedule(what, dsp).split(p.n, no, ni, factor).reorder(no, p.m, p.k, ni).vectorize(ni).cache_read(B, l1).at(no);
    };
    CHECK(count_of(columns(3), "int32x3") == count_of(columns(4), "int32x4"));
    p.check(columns(3), emulated<dsp>());
}
TEST_CASE("partial tiles move what there is, and no more") {
    product const p(10, 8, 6);
    auto const what = p.what();
    // 4, 4 and 2 rows of 6 bytes, 8 bytes a cycle after 48
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(what, dsp).split(p.m, mo, mi, 4).cache_read(A, l1).at(mo)));
    REQUIRE(!plan->refusal);
    CHECK(plan->bytes(kernels::dram_l1) == 60);
    CHECK(plan->calls(kernels::dram_l1) == 3);
    CHECK(plan->buffers[0].extents[0] == 10);
    // 480 iterations of loads, products, conversions, a sum and a store, 80 identities
    CHECK(plan->total_cycles == 2 * (48 + 3) + (48 + 2) + 480 * (3 * 2 + 3 + 2 + 1 + 2) + 80 * 2);
}
TEST_CASE("halos of partial tiles, and of producers that are computed in them") {
    for (std::int64_t extent : {1, 5, 16, 29}) {
        axis const i{"i", extent}, i2{"i2", extent + 2};
        auto const what = stages(mid(i2) = in(i2)*3, out(i) = mid(i) + mid(i + 2));
        auto const plan = std::make_unique<plan_value>(make_plan(schedule(what, dsp)
                                                                     .split(i, mo, mi, 8)
                                                                     .cache_write(out, l1)
                                                                     .at(mo)
                                                                     .compute_at(mid, mo)
                                                                     .store_in(mid, l1)
                                                                     .stage(mid)
                                                                     .cache_read(in, l1)
                                                                     .at(mo)));
        REQUIRE(!plan->refusal);
        CHECK(plan->buffers[0].extents[0] == extent + 2);
        kernels::check_kernel(*plan, emulated<dsp>(), [&](kernels::operand_data const& d) {
            for (std::int64_t x = 0; x < extent; ++x)
                d.out<std::int32_t>()[x] = 3 * d.in<std::int32_t>(0)[x] + 3 * d.in<std::int32_t>(0)[x + 2];
        });
    }
}
TEST_CASE("a tensor that is read backwards is clipped at its beginning") {
    axis const i{"i", 13};
    auto const what = out(i) = in(12 - i) * 2;
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(what, dsp).split(i, mo, mi, 5).cache_read(in, l1).at(mo)));
    REQUIRE(!plan->refusal);
    CHECK(plan->buffers[0].minimum[0] == 0);
    CHECK(plan->bytes(kernels::dram_l1) == 13 * 4);
    kernels::check_kernel(*plan, emulated<dsp>(), [&](kernels::operand_data const& d) {
        for (int x = 0; x < 13; ++x) d.out<std::int32_t>()[x] = 2 * d.in<std::int32_t>(0)[12 - x];
    });
}
TEST_CASE("instructions of a fixed shape carry partial steps out in full") {
    for (auto const& [rows, columns, depth] : {std::array{10, 19, 11}, {1, 1, 1}, {4, 8, 4}, {13, 7, 9}}) {
        product const p(rows, columns, depth);
        auto const what = p.what();
        p.check(schedule(what, filling)
                    .cache_read(A, features::spad)
                    .cache_read(B, features::spad)
                    .cache_write(C, features::acc)
                    .tensorize(p.m, p.n, p.k, features::mac),
                emulated<filling>());
        p.check(schedule(what, filling)
                    .split(p.m, mo, mi, 6)
                    .split(p.k, ko, ki, 6)
                    .reorder(mo, ko, mi, p.n, ki)
                    .cache_read(A, features::spad)
                    .at(ko)
                    .cache_read(B, features::spad)
                    .at(ko)
                    .cache_write(C, features::acc)
                    .at(mo)
                    .tensorize(mi, p.n, ki, features::mac),
                emulated<filling>());
    }
}
TEST_CASE("a step that would begin where its axis ends is not carried out") {
    // Tiles of 20 and 4 rows: the second step of the last tile would begin at row 24.
    product const p(24, 8, 4);
    auto const what = p.what();
    auto const in_tiles = schedule(what, filling)
                              .split(p.m, mo, mi, 20)
                              .cache_read(A, features::spad)
                              .at(mo)
                              .cache_read(B, features::spad)
                              .cache_write(C, features::acc)
                              .at(mo)
                              .tensorize(mi, p.n, p.k, features::mac);
    CHECK(make_plan(in_tiles).calls(features::mac) == 24 / 4);
    p.check(in_tiles, emulated<filling>());
}
TEST_CASE("only partial steps of a reduction are filled in front of") {
    product const p(8, 8, 11);
    auto const what = p.what();
    auto const plan = std::make_unique<plan_value>(make_plan(schedule(what, filling)
                                                                 .split(p.k, ko, ki, 4)
                                                                 .reorder(ko, p.m, p.n, ki)
                                                                 .cache_read(A, features::spad)
                                                                 .at(ko)
                                                                 .cache_read(B, features::spad)
                                                                 .at(ko)
                                                                 .cache_write(C, features::acc)
                                                                 .tensorize(p.m, p.n, ki, features::mac)));
    REQUIRE(!plan->refusal);
    CHECK(plan->calls(zero_spad) == 1);
    CHECK(plan->calls(features::in_spad) == 6);
    product const whole(10, 9, 12);
    auto const other = whole.what();
    auto const none = std::make_unique<plan_value>(make_plan(schedule(other, filling)
                                                                 .cache_read(A, features::spad)
                                                                 .cache_read(B, features::spad)
                                                                 .cache_write(C, features::acc)
                                                                 .tensorize(whole.m, whole.n, whole.k, features::mac)));
    REQUIRE(!none->refusal);
    CHECK(none->calls(zero_spad) == 0);
}
TEST_CASE("partial steps that would do harm are refused") {
    product const p(10, 19, 11);
    auto const what = p.what();
    auto const unfilled = schedule(what, features::npu)
                              .cache_read(A, features::spad)
                              .cache_read(B, features::spad)
                              .cache_write(C, features::acc)
                              .tensorize(p.m, p.n, p.k, features::mac);
    CHECK(refusal_of(unfilled).broken == ir::rule::step_behind_a_reduction);
    auto const on_the_next = schedule(what, filling)
                                 .split(p.m, mo, mi, 6)
                                 .reorder(mo, mi, p.n, p.k)
                                 .cache_read(A, features::spad)
                                 .cache_read(B, features::spad)
                                 .cache_write(C, features::acc)
                                 .tensorize(mi, p.n, p.k, features::mac);
    CHECK(refusal_of(on_the_next).broken == ir::rule::step_on_the_next_tile);
    auto const counted_twice = schedule(what, filling)
                                   .split(p.k, ko, ki, 6)
                                   .reorder(ko, p.m, p.n, ki)
                                   .cache_read(A, features::spad)
                                   .cache_read(B, features::spad)
                                   .cache_write(C, features::acc)
                                   .tensorize(p.m, p.n, ki, features::mac);
    CHECK(refusal_of(counted_twice).broken == ir::rule::step_on_the_next_tile);
}
TEST_CASE("a partial row must be made of whole granules") {
    static constexpr auto coarse = transfer("coarse", features::dram, features::tcm).dimensions(2).granularity(16);
    static constexpr auto granular = machine("granular", features::dram, features::tcm, coarse);
    axis const i{"i", 22}, even{"even", 24};
    auto const ragged = out(i) = in(i) + 1, smooth = out(even) = in(even) + 1;
    verdict const refused = refusal_of(schedule(ragged, granular).split(i, mo, mi, 8).cache_read(in, features::tcm).at(mo));
    CHECK(refused.broken == ir::rule::row_of_broken_granules);
    CHECK(refused.facts[0].value == 6 * 4);
    CHECK(!refusal_of(schedule(smooth, granular).split(even, mo, mi, 16).cache_read(in, features::tcm).at(mo)));
}

TEST_CASE("registers are set for every call whose tile is partial") {
    constexpr configuration rows{"rows", 2}, pitch{"pitch"};
    constexpr memory near{.name = "near", .capacity = 64_KiB};
    constexpr auto to_near = transfer("to_near", features::dram, near)
                                 .dimensions(2)
                                 .uses(rows, argument::extent(1), argument::extent(0))
                                 .uses(pitch, argument::source_stride(1)),
                   from_near = transfer("from_near", near, features::dram).dimensions(2).uses(rows, argument::extent(1), argument::bytes);
    static constexpr auto where = machine("registers", features::dram, near, rows, pitch, to_near, from_near);
    emulator on(where, semantics_table{});
    product const p(10, 19, 11);
    auto const what = p.what();
    p.check(schedule(what, where)
                .tile(p.m, p.n, mo, no, mi, ni, 4, 8)
                .split(p.k, ko, ki, 3)
                .reorder(mo, no, ko, mi, ni, ki)
                .cache_read(A, near)
                .at(ko)
                .cache_read(B, near)
                .at(ko)
                .cache_write(C, near)
                .at(no),
            on);
}

TEST_CASE("steps that reach beyond what a stage computes have room there") {
    constexpr memory acc{.name = "acc", .capacity = 64_KiB, .alignment = 16};
    constexpr axis i{"i", 4}, j{"j", 16};
    constexpr tensor<std::int32_t> c{"c"}, d{"d"};
    constexpr auto doubled = intrinsic("doubled", d(i, j) = c(i, j) * 2).reads(c, acc).writes(d, acc);
    constexpr auto turned = intrinsic("turned", d(i, j) = c(i, j) + 3).reads(c, acc).writes(d, acc);
    static constexpr auto where = machine("steps", features::dram, acc, transfer("load", features::dram, acc).dimensions(2),
                                          transfer("store", acc, features::dram).dimensions(2), doubled, turned);
    static constexpr axis m{"m", 11}, n{"n", 36}, p{"p", 11}, q{"q", 36}, u{"u", 11}, v{"v", 36};
    // Loops compute `in`'s copy for the whole kernel; steps of 4 x 16 read it inside of tiles, and beyond its last row and column.
    static constexpr auto stacked = stages(mid(p, q) = in(p, q) - 1, C(m, n) = mid(m, n) * 2, out(u, v) = C(u, v) + 3);
    // Backwards, so that they read before its first.
    static constexpr auto backwards = stages(mid(p, q) = in(p, q) - 1, C(m, n) = mid(10 - m, n) * 2, out(u, v) = C(u, v) + 3);
    emulator& on = emulated<where>();
    for (int tile : {4, 3, 8}) {
        INFO("tiles of " << tile << " rows");
        kernels::check_kernel(make_plan(schedule(stacked, where)
                                            .split(u, mo, mi, tile)
                                            .cache_write(out, acc)
                                            .at(mo)
                                            .tensorize(mi, v, turned)
                                            .compute_at(C, mo)
                                            .store_in(C, acc)
                                            .stage(C)
                                            .tensorize(m, n, doubled)
                                            .store_in(mid, acc)),
                              on);
    }
    kernels::check_kernel(make_plan(schedule(stacked, where).store_in(C, acc).stage(C).tensorize(m, n, doubled).store_in(mid, acc)), on);
    verdict const refused = refusal_of(schedule(backwards, where).store_in(C, acc).stage(C).tensorize(m, n, doubled).store_in(mid, acc));
    CHECK(refused.kind == verdict_kind::intrinsic_mismatch);  // a step goes forwards
}

TEST_CASE("a tile ends where both of its ends are passed") {
    // `mid` is computed for whole steps of its reader, and no further than that needs: the tile of nine has two ends, and its loops two
    // parts.
    constexpr memory near{.name = "near", .capacity = 64_KiB};
    constexpr axis i{"i", 4};
    constexpr tensor<std::int32_t> c{"c"}, d{"d"};
    constexpr auto third = intrinsic("third", d(i) = c(3 * i)).reads(c, near).writes(d, near);
    static constexpr auto where = machine("ends", features::dram, near, transfer("load", features::dram, near).dimensions(2),
                                          transfer("store", near, features::dram).dimensions(2), third);
    static constexpr axis m{"m", 2}, n{"n", 6}, p{"p", 20}, po{"po"}, pi{"pi"};
    static constexpr auto thirds = stages(mid(p) = in(p)-1, out(m, n) = mid(3 * n));
    for (int factor : {2, 3, 4, 7}) {
        INFO("loops in parts of " << factor);
        kernels::check_kernel(make_plan(schedule(thirds, where)
                                            .split(n, no, ni, 4)
                                            .reorder(no, m, ni)
                                            .cache_write(out, near)
                                            .tensorize(ni, third)
                                            .compute_at(mid, no)
                                            .store_in(mid, near)
                                            .stage(mid)
                                            .split(p, po, pi, factor)),
                              emulated<where>());
    }
}
