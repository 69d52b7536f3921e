// Schedules and programs are read line by line.
// clang-format off
#pragma once
#include "../09_network/weights.hpp"
#include "kernels.hpp"

#include <tilewright/program/program_plan.hpp>

/// Lesson 12: the network of lesson 09 that reads digits, on the board.
namespace lesson_board {

using namespace lesson_network;

/// The weights [row][column][channel][filter] as [row][column][filter][channel]: a word has channels.
template <int Channels, int Filters, std::size_t Size>
constexpr std::array<std::int8_t, Size> channels_last(std::array<std::int8_t, Size> const& from) {
    std::array<std::int8_t, Size> to{};
    for (std::size_t tap = 0; tap < Size / Channels / Filters; ++tap)
        for (std::size_t f = 0; f < Filters; ++f)
            for (std::size_t c = 0; c < Channels; ++c) to[(tap * Filters + f) * Channels + c] = from[(tap * Channels + c) * Filters + f];
    return to;
}
inline constexpr auto weights1 = channels_last<1, conv1_filters>(conv1_weights);
inline constexpr auto weights2 = channels_last<conv1_filters, conv2_filters>(conv2_weights);
inline constexpr auto weights3 = channels_last<4 * conv2_filters, 10>(dense_weights);

/// The largest of every 2 x 2.
template <int Side, int Channels>
struct pooling {
    static constexpr axis y{"y", Side / 2}, x{"x", Side / 2}, channel{"channel", Channels}, r{"r", 2}, s{"s", 2};
    static constexpr tensor<std::int8_t> in{"in"}, out{"out"};
    static constexpr auto what = out(y, x, channel) = maximum(r, s, in(2 * y + r, 2 * x + s, channel));
    static constexpr auto on_board = schedule(what, board::core1).reads(in, board::sram).writes(out, board::sram);
    static constexpr auto on_both = schedule(what, board::both).reads(in, board::common).writes(out, board::common)
        .distribute(y, board::both_cores);
};

/// Ten scores, two at a time.
struct dense {
    static constexpr axis y{"y", 2}, x{"x", 2}, channel{"channel", conv2_filters}, digit{"digit", 10};
    static constexpr axis cc{"cc"}, cr{"cr"}, dd{"dd"}, dr{"dr"};
    static constexpr tensor<std::int8_t> in{"in"}, weights{"weights"};
    static constexpr tensor<std::int32_t> bias{"bias"}, out{"out"};
    static constexpr auto what =
        out(digit) = bias(digit) + sum(y, x, channel, cast<std::int32_t>(in(y, x, channel)) * cast<std::int32_t>(weights(digit, y, x, channel)));
    static constexpr auto on_board = schedule(what, board::core1)
        .reads(in, board::sram).reads(weights, board::code).reads(bias, board::code)
        .split(channel, cc, cr, 4).split(digit, dd, dr, 2).reorder(dd, y, x, cc, dr, cr)
        .cache_read(in, board::words).at(cc).cache_read(weights, board::words).at(cc).cache_read(bias, board::words).at(dd)
        .cache_write(out, board::words).at(dd)
        .unroll(dr).tensorize(cr, board::mac4);
    static constexpr auto on_both = schedule(what, board::both)
        .reads(in, board::common).reads(weights, board::code).reads(bias, board::code)
        .split(channel, cc, cr, 4).split(digit, dd, dr, 2).reorder(dd, y, x, cc, dr, cr).distribute(dd, board::both_cores)
        .cache_read(in, board::sram).at("dd.core")
        .cache_read(in, board::words).at(cc).cache_read(weights, board::words).at(cc).cache_read(bias, board::words).at(dd)
        .cache_write(out, board::words).at(dd)
        .unroll(dr).tensorize(cr, board::mac4);
};

inline constexpr tensor<std::int8_t> image{"image"}, hidden1{"hidden1"}, pooled1{"pooled1"}, hidden2{"hidden2"}, pooled2{"pooled2"};
inline constexpr tensor<std::int32_t> scores{"scores"};
inline constexpr tensor<std::int8_t> w1{"w1"}, w2{"w2"}, w3{"w3"};
inline constexpr tensor<std::int32_t> b1{"b1"}, m1{"m1"}, s1{"s1"}, b2{"b2"}, m2{"m2"}, s2{"s2"}, b3{"b3"};

using conv1 = convolution<8, 1, conv1_filters, board::psram, board::sram, board::code>;
using conv2 = convolution<4, conv1_filters, conv2_filters, board::sram, board::sram, board::code>;
using pool1 = pooling<8, conv1_filters>;
using pool2 = pooling<4, conv2_filters>;

inline constexpr agent core("core1", board::core1), cores("both", board::both);

inline constexpr auto read_digits = program("read_digits")
    .input(image, board::psram)
    .constant(w1, board::code, weights1).constant(b1, board::code, conv1_bias)
    .constant(m1, board::code, conv1_multiplier).constant(s1, board::code, conv1_shift)
    .constant(w2, board::code, weights2).constant(b2, board::code, conv2_bias)
    .constant(m2, board::code, conv2_multiplier).constant(s2, board::code, conv2_shift)
    .constant(w3, board::code, weights3).constant(b3, board::code, dense_bias)
    .run("conv1", core, conv1::on_board).bind(conv1::in, image).bind(conv1::weights, w1)
        .bind(conv1::bias, b1).bind(conv1::multiplier, m1).bind(conv1::shift, s1).bind(conv1::out, hidden1)
    .run("pool1", core, pool1::on_board).bind(pool1::in, hidden1).bind(pool1::out, pooled1)
    .run("conv2", core, conv2::on_board).bind(conv2::in, pooled1).bind(conv2::weights, w2)
        .bind(conv2::bias, b2).bind(conv2::multiplier, m2).bind(conv2::shift, s2).bind(conv2::out, hidden2)
    .run("pool2", core, pool2::on_board).bind(pool2::in, hidden2).bind(pool2::out, pooled2)
    .run("dense", core, dense::on_board).bind(dense::in, pooled2).bind(dense::weights, w3).bind(dense::bias, b3)
        .bind(dense::out, scores)
    .output(scores, board::psram);

/// On both cores. What is between two kernels lies where both see it, and the cores meet there.
using conv1_on_both = convolution<8, 1, conv1_filters, board::psram, board::common, board::code>;
using conv2_on_both = convolution<4, conv1_filters, conv2_filters, board::common, board::common, board::code>;

inline constexpr auto read_digits_on_both = program("read_digits_on_both")
    .input(image, board::psram)
    .constant(w1, board::code, weights1).constant(b1, board::code, conv1_bias)
    .constant(m1, board::code, conv1_multiplier).constant(s1, board::code, conv1_shift)
    .constant(w2, board::code, weights2).constant(b2, board::code, conv2_bias)
    .constant(m2, board::code, conv2_multiplier).constant(s2, board::code, conv2_shift)
    .constant(w3, board::code, weights3).constant(b3, board::code, dense_bias)
    .run("conv1", cores, conv1_on_both::on_both).bind(conv1::in, image).bind(conv1::weights, w1)
        .bind(conv1::bias, b1).bind(conv1::multiplier, m1).bind(conv1::shift, s1).bind(conv1::out, hidden1)
    .run("pool1", cores, pool1::on_both).bind(pool1::in, hidden1).bind(pool1::out, pooled1)
    .run("conv2", cores, conv2_on_both::on_both).bind(conv2::in, pooled1).bind(conv2::weights, w2)
        .bind(conv2::bias, b2).bind(conv2::multiplier, m2).bind(conv2::shift, s2).bind(conv2::out, hidden2)
    .run("pool2", cores, pool2::on_both).bind(pool2::in, hidden2).bind(pool2::out, pooled2)
    .run("dense", cores, dense::on_both).bind(dense::in, pooled2).bind(dense::weights, w3).bind(dense::bias, b3)
        .bind(dense::out, scores)
    .output(scores, board::psram);

}  // namespace lesson_board
