#pragma once
#include <tilewright/tilewright.hpp>

#include "shape.hpp"

namespace lesson_digits {

using namespace tilewright;

// The accelerator of lesson 01, with smaller memories.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 16_KiB, .alignment = 64, .host_visible = false};
inline constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 8_KiB, .alignment = 64, .host_visible = false};
inline constexpr engine loader{"loader"}, storer{"storer"}, array{"array"};
inline constexpr auto mvin = transfer("mvin", dram, spad).on(loader).dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
inline constexpr auto mvout = transfer("mvout", acc, dram).on(storer).dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});

inline constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"};
inline constexpr tensor<std::int32_t> c{"c"};
inline constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
inline constexpr auto mac16 =
    intrinsic("mac16", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(16);
inline constexpr auto mul16 =
    intrinsic("mul16", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(16);
inline constexpr auto npu = machine("digits_npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac16, mul16);

// One score for every digit and class.
inline constexpr axis row{"row", padded_rows}, digit_class{"class", padded_classes}, feature{"feature", padded_features};
inline constexpr tensor<std::int8_t> pixels{"pixels"}, weights{"weights"};
inline constexpr tensor<std::int32_t> scores{"scores"};
inline constexpr auto classify =
    scores(row, digit_class) += cast<std::int32_t>(pixels(row, feature)) * cast<std::int32_t>(weights(feature, digit_class));

// All weights stay in the scratchpad; the digits stream through it, 48 at a time.
inline constexpr axis block{"block"}, digit_in_block{"digit"};
inline constexpr auto classify_on_npu = schedule(classify, npu)
                                            .split(row, block, digit_in_block, 48)
                                            .cache_read(weights, spad).by(mvin)
                                            .cache_read(pixels, spad).at(block).by(mvin)
                                            .cache_write(scores, acc).at(block).by(mvout)
                                            .tensorize(digit_in_block, digit_class, feature, mac16);

}  // namespace lesson_digits
