// Schedules and programs are read line by line.
// clang-format off
#pragma once
#include <tilewright/tilewright.hpp>

#include <tilewright/targets/mps2_an521.hpp>

/// Lesson 12: kernels on a board. Its controllers fill banks of SRAM while a core adds up products of words.
namespace lesson_board {

using namespace tilewright;
namespace board = targets::mps2_an521;

/// C = A times the rows of W: 64 x 64 x 64, int8.
namespace product {
constexpr axis m{"m", 64}, n{"n", 64}, k{"k", 64}, mo{"mo"}, mi{"mi"}, mm{"mm"}, mr{"mr"}, nn{"nn"}, nr{"nr"}, kk{"kk"}, kr{"kr"};
constexpr tensor<std::int8_t> A{"A"}, W{"W"};
constexpr tensor<std::int32_t> C{"C"};
constexpr auto what = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(W(n, k));
}  // namespace product

/// The same with its operands as 16 bits, which are made once: SMLAD then takes two products from memory as they are. Of four bytes, those
/// with even numbers make a word, and those with odd ones. Words of two rows lie one behind the other: one instruction loads both.
namespace product_of_halves {
using namespace product;
constexpr axis rows{"rows", 64}, columns{"columns", 64}, four{"four", 16}, odd{"odd", 2}, half{"half", 2};
constexpr axis ro{"ro"}, ri{"ri"}, co{"co"}, ci{"ci"}, mp{"mp"}, mq{"mq"};
constexpr tensor<std::int16_t> wide_A{"wide_A"}, wide_W{"wide_W"};
constexpr auto what = stages(
    wide_A(rows, four, odd, half) = cast<std::int16_t>(A(rows, 4 * four + 2 * half + odd)),
    wide_W(columns, four, odd, half) = cast<std::int16_t>(W(columns, 4 * four + 2 * half + odd)),
    C(m, n) += cast<std::int32_t>(wide_A(m, four, odd, half)) * cast<std::int32_t>(wide_W(n, four, odd, half)));
constexpr auto by_pairs = [](auto row, auto four, auto odd, auto half) { return index_map(row / 2, four, odd, row % 2, half); };

inline constexpr auto on_board = schedule(what, board::core1)
    .split(m, mo, mi, 16).split(mi, mm, mr, 4).split(mr, mp, mq, 2).split(n, nn, nr, 2)
    .reorder(mo, mm, nn, four, odd, mp, mq, nr, half)
    .store_in(wide_W, board::sram).in_bank(2).layout(by_pairs)               // all of it, once
    .compute_at(wide_A, mo)                                                  // 16 rows
    .store_in(wide_A, board::sram).in_bank(1).layout(by_pairs)
    .cache_write(C, board::sram).at(mo).double_buffer().in_bank(2)           // out of banks 2 and 3
    .cache_read(wide_W, board::words).at(odd)                                // two columns: one load of two words
    .cache_read(wide_A, board::words).at(mp)                                 // two rows
    .cache_write(C, board::words).at(nn)                                     // 4 x 2 sums stay in registers
    .unroll(four).unroll(odd).unroll(mp).unroll(mq).unroll(nr).tensorize(half, board::mac2)
    .stage(wide_A).cache_read(A, board::sram).in_bank(0)
        .split(rows, ro, ri, 2).reorder(four, odd, ri).tensorize(odd, ri, half, board::widen).unroll(four, 4)
    .stage(wide_W).cache_read(W, board::sram).in_bank(3)
        .split(columns, co, ci, 2).reorder(four, odd, ci).tensorize(odd, ci, half, board::widen).unroll(four, 4);

/// On both cores, each of which has two banks and four channels: 32 rows for each, and all of W.
inline constexpr auto on_both = schedule(what, board::both)
    .split(m, mo, mi, 16).split(mi, mm, mr, 4).split(mr, mp, mq, 2).split(n, nn, nr, 2)
    .reorder(mo, mm, nn, four, odd, mp, mq, nr, half).distribute(mo, board::both_cores)
    .compute_at(wide_W, "mo.core").store_in(wide_W, board::sram).layout(by_pairs)  // by each core for itself
    .compute_at(wide_A, mo).store_in(wide_A, board::sram).layout(by_pairs)
    .cache_write(C, board::sram).at(mo).double_buffer()
    .cache_read(wide_W, board::words).at(odd)
    .cache_read(wide_A, board::words).at(mp)
    .cache_write(C, board::words).at(nn)
    .unroll(four).unroll(odd).unroll(mp).unroll(mq).unroll(nr).tensorize(half, board::mac2)
    .stage(wide_A).cache_read(A, board::sram).at(mo).double_buffer()
        .split(rows, ro, ri, 2).reorder(four, odd, ri).tensorize(odd, ri, half, board::widen).unroll(four, 4)
    .stage(wide_W).cache_read(W, board::sram).at("mo.core")
        .split(columns, co, ci, 2).reorder(four, odd, ci).tensorize(odd, ci, half, board::widen).unroll(four, 4);
}  // namespace product_of_halves
inline constexpr auto matmul = product_of_halves::on_board, matmul_on_both = product_of_halves::on_both;

/// A sum times multiplier / 2^(31 + shift), rounded to the nearest, and limited to 0 ... 127: what `requantize` and the ReLU are together.
/// For a shift of 2 or more: the upper word of the product is then all that counts.
template <class Sum, class Multiplier, class Shift>
constexpr auto requantized_from_0(Sum const& sum, Multiplier const& multiplier, Shift const& shift) {
    auto const high = cast<std::int32_t>((cast<std::int64_t>(sum) * cast<std::int64_t>(multiplier)) >> 32);
    return cast<std::int8_t>(clamp((high + (1 << (shift - 2))) >> (shift - 1), 0, 127));
}

/// A convolution 3 x 3 with a border of zeros, requantised, and the ReLU: in [y][x][channel], weights [r][s][filter][channel]. The image
/// comes from a memory, the result goes to one, and weights and scales stay in one.
template <int Side, int Channels, int Filters, memory const& From = board::psram, memory const& To = board::psram,
          memory const& Constants = board::psram>
struct convolution {
    static constexpr axis y{"y", Side}, x{"x", Side}, filter{"filter", Filters}, r{"r", 3}, s{"s", 3}, channel{"channel", Channels};
    static constexpr axis in_y{"in_y", Side}, in_x{"in_x", Side};
    static constexpr axis xx{"xx"}, xr{"xr"}, ff{"ff"}, fr{"fr"}, cc{"cc"}, cr{"cr"}, yo{"yo"}, yi{"yi"};
    static constexpr tensor<std::int8_t> in{"in"}, weights{"weights"}, out{"out"};
    static constexpr tensor<std::int32_t> sums{"sums"}, bias{"bias"}, multiplier{"multiplier"}, shift{"shift"};

    // Pixels and weights as 16 bits, which are made once, in the order of `widen`. Words of pixels beside each other lie one behind the other,
    // and so do those of filters.
    static constexpr axis wide_y{"wide_y", Side + 2}, wide_x{"wide_x", Side + 2}, four{"four", Channels / 4}, odd{"odd", 2}, half{"half", 2};
    static constexpr axis wo{"wo"}, wi{"wi"}, fp{"fp"}, fq{"fq"}, fo{"fo"}, fi{"fi"};
    static constexpr tensor<std::int16_t> wide_in{"wide_in"}, wide_weights{"wide_weights"};
    static constexpr auto what_by_halves = stages(
        wide_in(wide_y, four, odd, wide_x, half) =
            cast<std::int16_t>(padded(in(in_y, in_x, channel), 0)(wide_y - 1, wide_x - 1, 4 * four + 2 * half + odd)),
        wide_weights(r, s, four, odd, filter, half) = cast<std::int16_t>(weights(r, s, filter, 4 * four + 2 * half + odd)),
        sums(y, filter, x) = sum(r, four, odd, s, half,
            cast<std::int32_t>(wide_in(y + r, four, odd, x + s, half)) * cast<std::int32_t>(wide_weights(r, s, four, odd, filter, half))),
        out(y, x, filter) = requantized_from_0(bias(filter) + sums(y, filter, x), multiplier(filter), shift(filter)));
    static constexpr auto sums_of_halves = [](schedule const& all) {
        return schedule(all).stage(sums)
            .split(x, xx, xr, 2).split(filter, fp, fq, 2)
            .reorder(xx, r, four, odd, s, fp, fq, xr)
            .cache_read(wide_in, board::words).at(s).cache_read(wide_weights, board::words).at(fp)
            .cache_write(sums, board::words).at(xx)
            .unroll(r).unroll(four).unroll(odd).unroll(s).unroll(fp).unroll(fq).unroll(xr).tensorize(half, board::mac2);
    };
    // Memory outside is written a tensor at a time, by a controller.
    static constexpr auto results = [](schedule const& all, auto at) {
        if constexpr (&To == &board::psram) return at(schedule(all).cache_write(out, board::sram));
        else return all;
    };
    static constexpr auto by_halves = [] {
        return sums_of_halves(results(schedule(what_by_halves, board::core1)
            .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
            .split(filter, fo, fi, 4).reorder(fo, y, fi, x).unroll(x, 16), [](schedule const& all) { return schedule(all).in_bank(2); })
            .store_in(wide_in, board::sram).in_bank(1).compute_at(wide_weights, fo).store_in(wide_weights, board::sram)
            .compute_at(sums, y).store_in(sums, board::sram).in_bank(3)
            .stage(wide_in).cache_read(in, board::sram).in_bank(2)
                .split(wide_x, wo, wi, 2).reorder(wo, four, odd).tensorize(odd, wi, half, board::widen).unroll(four)
            .stage(wide_weights).cache_read(weights, board::sram).in_bank(2)
                .split(filter, fp, fq, 2).reorder(fp, odd).tensorize(odd, fq, half, board::widen).unroll(four));
    };
    // One channel makes no words, but the taps of a row do, of which there are four with a zero.
    static constexpr axis wide_row{"wide_row", Side + 4}, s4{"s4", 4}, sr{"sr"};
    static constexpr auto what_by_rows = stages(
        wide_in(wide_y, wide_row) = cast<std::int16_t>(padded(in(in_y, in_x, channel), 0)(wide_y - 1, wide_row - 1, 0)),
        wide_weights(filter, r, s4) = cast<std::int16_t>(padded(weights(r, s, filter, channel), 0)(r, s4, filter, 0)),
        sums(y, filter, x) = sum(r, s4, cast<std::int32_t>(wide_in(y + r, x + s4)) * cast<std::int32_t>(wide_weights(filter, r, s4))),
        out(y, x, filter) = requantized_from_0(bias(filter) + sums(y, filter, x), multiplier(filter), shift(filter)));
    static constexpr auto sums_of_rows = [](schedule const& all) {
        return schedule(all).stage(sums)
            .split(x, xx, xr, 2).split(filter, ff, fr, 2).split(s4, cc, sr, 2).reorder(y, ff, xx, r, cc, xr, fr, sr)
            .cache_read(wide_in, board::words).at(xr).cache_read(wide_weights, board::words).at(cc)
            .cache_write(sums, board::words).at(xx)
            .unroll(r).unroll(cc).unroll(fr).unroll(xr).tensorize(sr, board::mac2);
    };
    static constexpr auto by_rows = [] {
        return sums_of_rows(schedule(what_by_rows, board::core1)
            .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
            .store_in(wide_in, board::sram).in_bank(1).store_in(wide_weights, board::sram).in_bank(0)
            .reorder(y, filter, x).unroll(x, 4).compute_at(sums, y).store_in(sums, board::sram).in_bank(3)
            .stage(wide_in).cache_read(in, board::sram).in_bank(2));
    };
    // On both cores: each computes half of the rows, of all filters.
    static constexpr auto by_halves_on_both = [] {
        return sums_of_halves(results(schedule(what_by_halves, board::both)
            .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
            .split(filter, fo, fi, 4).split(y, yo, yi, Side / 2).reorder(yo, fo, yi, fi, x).distribute(yo, board::both_cores).unroll(x, 16), [](schedule const& all) { return schedule(all).at(yo); })
            .compute_at(wide_in, yo).store_in(wide_in, board::sram).compute_at(wide_weights, fo).store_in(wide_weights, board::sram)
            .compute_at(sums, yi).store_in(sums, board::sram)
            .stage(wide_in).cache_read(in, board::sram).at(yo)
                .split(wide_x, wo, wi, 2).reorder(wo, four, odd).tensorize(odd, wi, half, board::widen).unroll(four)
            .stage(wide_weights).cache_read(weights, board::sram).at(fo)
                .split(filter, fp, fq, 2).reorder(fp, odd).tensorize(odd, fq, half, board::widen).unroll(four));
    };
    static constexpr auto by_rows_on_both = [] {
        return sums_of_rows(schedule(what_by_rows, board::both)
            .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
            .reorder(y, filter, x).distribute(y, board::both_cores)
            .compute_at(wide_in, "y.core").store_in(wide_in, board::sram).compute_at(wide_weights, "y.core").store_in(wide_weights, board::sram)
            .unroll(x, 4).compute_at(sums, y).store_in(sums, board::sram)
            .stage(wide_in).cache_read(in, board::sram).at("y.core"));
    };
    static constexpr auto on_board = [] { if constexpr (Channels % 4 == 0) return by_halves(); else return by_rows(); }();
    static constexpr auto on_both = [] { if constexpr (Channels % 4 == 0) return by_halves_on_both(); else return by_rows_on_both(); }();
};

inline constexpr auto conv2d = convolution<16, 16, 16>::on_board;
inline constexpr auto conv2d_on_both = convolution<16, 16, 16>::on_both;

}  // namespace lesson_board
