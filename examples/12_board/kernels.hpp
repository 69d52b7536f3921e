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

/// The same with its operands as 16 bits, which are made once: SMLAD then takes two products from memory as they are.
namespace product_of_halves {
using namespace product;
constexpr axis rows{"rows", 64}, columns{"columns", 64}, kh{"kh"}, k4{"k4"};
constexpr tensor<std::int16_t> wide_A{"wide_A"}, wide_W{"wide_W"};
constexpr auto what = stages(
    wide_A(rows, k) = cast<std::int16_t>(A(rows, k)), wide_W(columns, k) = cast<std::int16_t>(W(columns, k)),
    C(m, n) += cast<std::int32_t>(wide_A(m, k)) * cast<std::int32_t>(wide_W(n, k)));

inline constexpr auto on_board = schedule(what, board::core1)
    .split(m, mo, mi, 16).split(mi, mm, mr, 2).split(n, nn, nr, 2).split(k, kk, k4, 4).split(k4, kh, kr, 2)
    .reorder(mo, mm, nn, kk, nr, mr, kh, kr)
    .store_in(wide_W, board::sram).in_bank(2)                                // all of it, once
    .compute_at(wide_A, mo).store_in(wide_A, board::sram).in_bank(1)         // 16 rows
    .cache_write(C, board::sram).at(mo).double_buffer().in_bank(2)           // out of banks 2 and 3
    .cache_read(wide_A, board::words).at(kk)                                 // 2 x 4 elements: two loads of two words
    .cache_read(wide_W, board::words).at(nr)
    .cache_write(C, board::words).at(nn)                                     // 2 x 2 sums stay in registers
    .unroll(kk).unroll(nr).unroll(mr).unroll(kh).tensorize(kr, board::mac2)
    .stage(wide_A).cache_read(A, board::sram).in_bank(0).unroll(k, 16)
    .stage(wide_W).cache_read(W, board::sram).in_bank(3).unroll(k, 16);

/// On both cores, each of which has two banks and four channels: 32 rows for each, and all of W.
inline constexpr auto on_both = schedule(what, board::both)
    .split(m, mo, mi, 16).split(mi, mm, mr, 2).split(n, nn, nr, 2).split(k, kk, k4, 4).split(k4, kh, kr, 2)
    .reorder(mo, mm, nn, kk, nr, mr, kh, kr).distribute(mo, board::both_cores)
    .compute_at(wide_W, "mo.core").store_in(wide_W, board::sram)             // by each core for itself
    .compute_at(wide_A, mo).store_in(wide_A, board::sram)
    .cache_write(C, board::sram).at(mo).double_buffer()
    .cache_read(wide_A, board::words).at(kk)
    .cache_read(wide_W, board::words).at(nr)
    .cache_write(C, board::words).at(nn)
    .unroll(kk).unroll(nr).unroll(mr).unroll(kh).tensorize(kr, board::mac2)
    .stage(wide_A).cache_read(A, board::sram).at(mo).double_buffer().unroll(k, 16)
    .stage(wide_W).cache_read(W, board::sram).at("mo.core").unroll(k, 16);
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
    static constexpr axis xx{"xx"}, xr{"xr"}, ff{"ff"}, fr{"fr"}, cc{"cc"}, cr{"cr"};
    static constexpr tensor<std::int8_t> in{"in"}, weights{"weights"}, out{"out"};
    static constexpr tensor<std::int32_t> sums{"sums"}, bias{"bias"}, multiplier{"multiplier"}, shift{"shift"};

    // Pixels and weights as 16 bits, which are made once. The weights of a filter lie one behind the other.
    static constexpr axis wide_y{"wide_y", Side + 2}, wide_x{"wide_x", Side + 2}, c4{"c4"}, ch{"ch"};
    static constexpr tensor<std::int16_t> wide_in{"wide_in"}, wide_weights{"wide_weights"};
    static constexpr auto what_by_halves = stages(
        wide_in(wide_y, wide_x, channel) = cast<std::int16_t>(padded(in(in_y, in_x, channel), 0)(wide_y - 1, wide_x - 1, channel)),
        wide_weights(filter, r, s, channel) = cast<std::int16_t>(weights(r, s, filter, channel)),
        sums(y, x, filter) = sum(r, s, channel,
            cast<std::int32_t>(wide_in(y + r, x + s, channel)) * cast<std::int32_t>(wide_weights(filter, r, s, channel))),
        out(y, x, filter) = requantized_from_0(bias(filter) + sums(y, x, filter), multiplier(filter), shift(filter)));
    static constexpr auto sums_of_halves = [](schedule const& all) {
        return schedule(all).stage(sums)
            .split(x, xx, xr, 2).split(filter, ff, fr, 2).split(channel, cc, c4, 4).split(c4, ch, cr, 2)
            .reorder(y, ff, xx, r, s, cc, fr, xr, ch, cr)
            .cache_read(wide_in, board::words).at(cc).cache_read(wide_weights, board::words).at(fr)
            .cache_write(sums, board::words).at(xx)
            .unroll(r).unroll(s).unroll(cc).unroll(fr).unroll(xr).unroll(ch).tensorize(cr, board::mac2);
    };
    static constexpr auto by_halves = [] {
        return sums_of_halves(schedule(what_by_halves, board::core1)
            .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
            .store_in(wide_in, board::sram).in_bank(1).store_in(wide_weights, board::sram).in_bank(0)
            .reorder(y, filter, x).unroll(x, 4).compute_at(sums, y).store_in(sums, board::sram).in_bank(3)
            .stage(wide_in).cache_read(in, board::sram).in_bank(2).unroll(channel)
            .stage(wide_weights).unroll(channel));
    };
    // One channel makes no words, but the taps of a row do, of which there are four with a zero.
    static constexpr axis wide_row{"wide_row", Side + 4}, s4{"s4", 4}, sr{"sr"};
    static constexpr auto what_by_rows = stages(
        wide_in(wide_y, wide_row) = cast<std::int16_t>(padded(in(in_y, in_x, channel), 0)(wide_y - 1, wide_row - 1, 0)),
        wide_weights(filter, r, s4) = cast<std::int16_t>(padded(weights(r, s, filter, channel), 0)(r, s4, filter, 0)),
        sums(y, x, filter) = sum(r, s4, cast<std::int32_t>(wide_in(y + r, x + s4)) * cast<std::int32_t>(wide_weights(filter, r, s4))),
        out(y, x, filter) = requantized_from_0(bias(filter) + sums(y, x, filter), multiplier(filter), shift(filter)));
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
        return sums_of_halves(schedule(what_by_halves, board::both)
            .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
            .reorder(y, filter, x).distribute(y, board::both_cores)
            .compute_at(wide_in, "y.core").store_in(wide_in, board::sram).compute_at(wide_weights, "y.core").store_in(wide_weights, board::sram)
            .unroll(x, 4).compute_at(sums, y).store_in(sums, board::sram)
            .stage(wide_in).cache_read(in, board::sram).at("y.core").unroll(channel)
            .stage(wide_weights).unroll(channel));
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
