#pragma once
#include <tilewright/compute/functions.hpp>
#include <tilewright/compute/tensor.hpp>

namespace tilewright::kernel {

/// Rows [batch][inputs] times weights [outputs][inputs], plus a bias of each output.
struct fully_connected_shape {
    std::int64_t batch = 1, inputs = 1, outputs = 1;
};

/// Quantised: `sums` of int32, which need a memory, then scaled for each output and saturated to 8 bits; see `requantize`.
template <fully_connected_shape Shape, class Element = std::int8_t, rounding How = rounding::half_away>
struct fully_connected {
    static constexpr axis batch{"batch", Shape.batch}, output{"output", Shape.outputs}, input{"input", Shape.inputs};
    static constexpr tensor<Element> in{"in"}, weights{"weights"}, out{"out"};
    static constexpr tensor<std::int32_t> sums{"sums"}, bias{"bias"}, multiplier{"multiplier"}, shift{"shift"};
    static constexpr auto what =
        stages(sums(batch, output) += cast<std::int32_t>(in(batch, input)) * cast<std::int32_t>(weights(output, input)),
               out(batch, output) = requantize<Element, How>(sums(batch, output) + bias(output), multiplier(output), shift(output)));
};

/// Of floats: the sums, then the bias.
template <fully_connected_shape Shape>
struct fully_connected<Shape, float, rounding::half_away> {
    static constexpr axis batch{"batch", Shape.batch}, output{"output", Shape.outputs}, input{"input", Shape.inputs};
    static constexpr tensor<float> in{"in"}, weights{"weights"}, sums{"sums"}, bias{"bias"}, out{"out"};
    static constexpr auto what =
        stages(sums(batch, output) += in(batch, input) * weights(output, input), out(batch, output) = sums(batch, output) + bias(output));
};

}  // namespace tilewright::kernel
