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

inline constexpr auto matmul = schedule(product::what, board::core1)
    .split(product::m, product::mo, product::mi, 16)
    .split(product::mi, product::mm, product::mr, 2).split(product::n, product::nn, product::nr, 2).split(product::k, product::kk, product::kr, 4)
    .reorder(product::mo, product::mm, product::nn, product::kk, product::mr, product::nr, product::kr)
    .cache_read(product::W, board::sram).in_bank(2)                                   // all of it, once
    .cache_read(product::A, board::sram).at(product::mo).double_buffer()              // 16 rows, into banks 0 and 1 in turns
    .cache_write(product::C, board::sram).at(product::mo).double_buffer().in_bank(2)  // out of banks 2 and 3
    .cache_read(product::A, board::words).at(product::kk)                             // 4 elements are a word
    .cache_read(product::W, board::words).at(product::kk)
    .cache_write(product::C, board::words).at(product::nn)                            // 2 x 2 sums stay in registers
    .unroll(product::mr).unroll(product::nr).tensorize(product::kr, board::mac4);

/// The same on both cores, each of which has two banks and four channels: 32 rows for each.
inline constexpr auto matmul_on_both = schedule(product::what, board::both)
    .split(product::m, product::mo, product::mi, 16)
    .split(product::mi, product::mm, product::mr, 2).split(product::n, product::nn, product::nr, 2).split(product::k, product::kk, product::kr, 4)
    .reorder(product::mo, product::mm, product::nn, product::kk, product::mr, product::nr, product::kr)
    .distribute(product::mo, board::both_cores)
    .cache_read(product::W, board::sram).at("mo.core")
    .cache_read(product::A, board::sram).at(product::mo).double_buffer()
    .cache_write(product::C, board::sram).at(product::mo).double_buffer()
    .cache_read(product::A, board::words).at(product::kk)
    .cache_read(product::W, board::words).at(product::kk)
    .cache_write(product::C, board::words).at(product::nn)
    .unroll(product::mr).unroll(product::nr).tensorize(product::kr, board::mac4);

/// A convolution 3 x 3 with a border of zeros, requantised, and the ReLU: in [y][x][channel], weights [r][s][filter][channel]. The image
/// comes from a memory, the result goes to one, and weights and scales stay in one.
template <int Side, int Channels, int Filters, memory const& From = board::psram, memory const& To = board::psram,
          memory const& Constants = board::psram>
struct convolution {
    static constexpr axis y{"y", Side}, x{"x", Side}, filter{"filter", Filters}, r{"r", 3}, s{"s", 3}, channel{"channel", Channels};
    static constexpr axis in_y{"in_y", Side}, in_x{"in_x", Side};
    static constexpr axis fo{"fo"}, fi{"fi"}, xx{"xx"}, xr{"xr"}, ff{"ff"}, fr{"fr"}, cc{"cc"}, cr{"cr"};
    static constexpr tensor<std::int8_t> in{"in"}, weights{"weights"}, out{"out"};
    static constexpr tensor<std::int32_t> sums{"sums"}, bias{"bias"}, multiplier{"multiplier"}, shift{"shift"};
    static constexpr auto what = stages(
        sums(y, x, filter) = bias(filter) + sum(r, s, channel,
            cast<std::int32_t>(padded(in(in_y, in_x, channel), 0)(y + r - 1, x + s - 1, channel)) * cast<std::int32_t>(weights(r, s, filter, channel))),
        out(y, x, filter) = max(requantize<std::int8_t>(sums(y, x, filter), multiplier(filter), shift(filter)), 0));

    // Weights of eight filters at a time are brought into two banks in turns.
    static constexpr auto base = schedule(what, board::core1)
        .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
        .split(filter, fo, fi, 8).reorder(fo, y, x, fi)
        .compute_at(sums, y).store_in(sums, board::sram).in_bank(3);
    static constexpr auto by_words = [] {
        return schedule(base).stage(sums)
            .split(x, xx, xr, 2).split(filter, ff, fr, 2).split(channel, cc, cr, 4).reorder(y, xx, ff, r, s, cc, xr, fr, cr)
            .cache_read(in, board::sram).in_bank(2)
            .cache_read(weights, board::sram).at(fo).double_buffer()
            .cache_read(in, board::words).at(cc).cache_read(weights, board::words).at(cc).cache_read(bias, board::words).at(ff)
            .cache_write(sums, board::words).at(ff)
            .unroll(xr).unroll(fr).tensorize(cr, board::mac4);
    };
    // On both cores: each computes half of the rows.
    static constexpr axis yo{"yo"}, yi{"yi"};
    static constexpr auto base_on_both = schedule(what, board::both)
        .reads(in, From).writes(out, To).reads(weights, Constants).reads(bias, Constants).reads(multiplier, Constants).reads(shift, Constants)
        .split(y, yo, yi, Side / 2).split(filter, fo, fi, 8).reorder(yo, fo, yi, x, fi).distribute(yo, board::both_cores)
        .compute_at(sums, yi).store_in(sums, board::sram);
    static constexpr auto by_words_on_both = [] {
        return schedule(base_on_both).stage(sums)
            .split(x, xx, xr, 2).split(filter, ff, fr, 2).split(channel, cc, cr, 4).reorder(y, xx, ff, r, s, cc, xr, fr, cr)
            .cache_read(in, board::sram).at(yo)
            .cache_read(weights, board::sram).at(fo).double_buffer()
            .cache_read(in, board::words).at(cc).cache_read(weights, board::words).at(cc).cache_read(bias, board::words).at(ff)
            .cache_write(sums, board::words).at(ff)
            .unroll(xr).unroll(fr).tensorize(cr, board::mac4);
    };
    // One channel makes no words: loops of the core.
    static constexpr auto by_loops = [] {
        return schedule(base).stage(sums).reorder(y, x, filter, r, s, channel).cache_read(in, board::sram).in_bank(2);
    };
    static constexpr auto by_loops_on_both = [] {
        return schedule(base_on_both).stage(sums).reorder(y, x, filter, r, s, channel).cache_read(in, board::sram).at(yo);
    };
    static constexpr auto on_board = [] { if constexpr (Channels % 4 == 0) return by_words(); else return by_loops(); }();
    static constexpr auto on_both = [] { if constexpr (Channels % 4 == 0) return by_words_on_both(); else return by_loops_on_both(); }();
};

inline constexpr auto conv2d = convolution<16, 16, 16>::on_board;
inline constexpr auto conv2d_on_both = convolution<16, 16, 16>::on_both;

}  // namespace lesson_board
