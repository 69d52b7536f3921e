#pragma once
#include "../02_instruction/matmul.hpp"
#include "shape.hpp"

namespace lesson_digits {

using namespace tilewright;

// The accelerator of lesson 02: a machine is described once, for all kernels that run on it.
using lesson_matmul::acc, lesson_matmul::mac16, lesson_matmul::mvin, lesson_matmul::mvout, lesson_matmul::npu, lesson_matmul::spad;

// One score for every digit and class.
inline constexpr axis row{"row", padded_rows}, digit_class{"class", padded_classes}, feature{"feature", padded_features};
inline constexpr tensor<std::int8_t> pixels{"pixels"}, weights{"weights"};
inline constexpr tensor<std::int32_t> scores{"scores"};
inline constexpr auto classify = scores(row, digit_class) +=
    cast<std::int32_t>(pixels(row, feature)) * cast<std::int32_t>(weights(feature, digit_class));

// All weights stay in the scratchpad; the digits stream through it, 48 at a time.
inline constexpr axis block{"block"}, digit_in_block{"digit"};
// clang-format off
inline constexpr auto classify_on_npu = schedule(classify, npu)
    .split(row, block, digit_in_block, 48)
    .cache_read(weights, spad).by(mvin)
    .cache_read(pixels, spad).at(block).by(mvin)
    .cache_write(scores, acc).at(block).by(mvout)
    .tensorize(digit_in_block, digit_class, feature, mac16);
// clang-format on

}  // namespace lesson_digits
