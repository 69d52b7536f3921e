// Machines, schedules and programs are read line by line.
// clang-format off
#pragma once
#include "machine.hpp"
#include "weights.hpp"

#include <tilewright/kernels/convolution.hpp>
#include <tilewright/kernels/pooling.hpp>

/// Lesson 09: the network that reads digits, a kernel a layer.
namespace lesson_network {

/// A convolution 3 x 3 with a border of zeros, of one image, requantised, and the ReLU: what `requantise_and_relu` of reference.hpp does.
template <int Side, int Channels, int Filters>
struct convolution {
    static constexpr kernel::window three{.extent = Side, .taps = 3, .before = 1, .after = 1};
    using conv = kernel::conv2d<kernel::conv2d_shape{.channels = Channels, .filters = Filters, .y = three, .x = three}, std::int8_t,
                                std::int32_t>;
    static constexpr tensor<std::int32_t> bias{"bias"}, multiplier{"multiplier"}, shift{"shift"};
    static constexpr tensor<std::int8_t> relu{"relu"};
    static constexpr auto what = stages(
        conv::what,
        relu(conv::batch, conv::y, conv::x, conv::filter) =
            max(requantize<std::int8_t>(conv::out(conv::batch, conv::y, conv::x, conv::filter) + bias(conv::filter),
                                        multiplier(conv::filter), shift(conv::filter)), 0));
    // A row at a time: the array sums up in its accumulators, where the controller finishes the elements.
    static constexpr auto on_npu = schedule(what, npu_machine)
        .reads(conv::in, act_mem).reads(conv::weights, wei_mem).reads(bias, wei_mem).reads(multiplier, wei_mem).reads(shift, wei_mem)
        .writes(relu, act_mem)
        .compute_at(conv::out, conv::y).store_in(conv::out, acc)
        .stage(conv::out)
            .reorder(conv::batch, conv::y, conv::r, conv::s, conv::x, conv::filter, conv::channel)
            .cache_read(conv::in, spad).at(conv::y).by(mvin).double_buffer()
            .cache_read(conv::weights, spad).by(mvin_weights)
            .tensorize(conv::x, conv::filter, conv::channel, mac);
};

/// The largest of every 2 x 2.
template <int Side, int Channels>
struct pooling {
    static constexpr kernel::window two{.extent = Side, .taps = 2, .stride = 2};
    using pool = kernel::max_pool2d<kernel::pool2d_shape{.channels = Channels, .y = two, .x = two}, std::int8_t>;
    static constexpr auto on_npu = schedule(pool::what, npu_machine).reads(pool::in, act_mem).writes(pool::out, act_mem);
};

/// Ten scores; they may be left in either memory.
struct dense {
    static constexpr axis batch{"batch", 1}, y{"y", 2}, x{"x", 2}, channel{"channel", conv2_filters}, digit{"digit", 10};
    static constexpr tensor<std::int8_t> in{"in"}, weights{"weights"};
    static constexpr tensor<std::int32_t> products{"products"}, bias{"bias"}, out{"out"};
    static constexpr auto what = stages(
        products(batch, digit) += cast<std::int32_t>(in(batch, y, x, channel)) * cast<std::int32_t>(weights(y, x, channel, digit)),
        out(batch, digit) = products(batch, digit) + bias(digit));
    static constexpr auto on_cpu = schedule(what, cpu_machine).store_in(products, act_mem).stage(products)
                                       .reorder(batch, y, x, channel, digit);
};

constexpr tensor<std::int8_t> image{"image"}, hidden1{"hidden1"}, pooled1{"pooled1"}, hidden2{"hidden2"}, pooled2{"pooled2"};
constexpr tensor<std::int32_t> scores{"scores"};
constexpr tensor<std::int8_t> w1{"w1"}, w2{"w2"}, w3{"w3"};
constexpr tensor<std::int32_t> b1{"b1"}, m1{"m1"}, s1{"s1"}, b2{"b2"}, m2{"m2"}, s2{"s2"}, b3{"b3"};

using conv1 = convolution<8, 1, conv1_filters>;
using conv2 = convolution<4, conv1_filters, conv2_filters>;
using pool1 = pooling<8, conv1_filters>;
using pool2 = pooling<4, conv2_filters>;

constexpr auto digits_network = program("digits_network")
    .input(image, l2_mem)
    .constant(w1, wei_mem, conv1_weights).constant(b1, wei_mem, conv1_bias)
    .constant(m1, wei_mem, conv1_multiplier).constant(s1, wei_mem, conv1_shift)
    .constant(w2, wei_mem, conv2_weights).constant(b2, wei_mem, conv2_bias)
    .constant(m2, wei_mem, conv2_multiplier).constant(s2, wei_mem, conv2_shift)
    .constant(w3, wei_mem, dense_weights).constant(b3, wei_mem, dense_bias)
    .run("conv1", npu, conv1::on_npu).bind(conv1::conv::in, image).bind(conv1::conv::weights, w1)
        .bind(conv1::bias, b1).bind(conv1::multiplier, m1).bind(conv1::shift, s1).bind(conv1::relu, hidden1)
    .run("pool1", npu, pool1::on_npu).bind(pool1::pool::in, hidden1).bind(pool1::pool::out, pooled1)
    .run("conv2", npu, conv2::on_npu).bind(conv2::conv::in, pooled1).bind(conv2::conv::weights, w2)
        .bind(conv2::bias, b2).bind(conv2::multiplier, m2).bind(conv2::shift, s2).bind(conv2::relu, hidden2)
    .run("pool2", npu, pool2::on_npu).bind(pool2::pool::in, hidden2).bind(pool2::pool::out, pooled2)
    .run("dense", cpu, dense::on_cpu).bind(dense::in, pooled2).bind(dense::weights, w3).bind(dense::bias, b3)
        .bind(dense::out, scores)
    .output(scores, l2_mem);

}  // namespace lesson_network
