#include "reference.hpp"

#include <algorithm>
#include <cstddef>

#include "network.hpp"

namespace lesson_import {
namespace {

constexpr int side = 8, half = side / 2, taps = 3;

/// x times multiplier / 2^31 * 2^shift. TensorFlow Lite rounds twice: the product, then what is shifted out.
std::int32_t rescaled(std::int32_t x, scale by) {
    std::int64_t const product = (std::int64_t{x} << std::max(by.shift, 0)) * by.multiplier;
    std::int64_t const nudge = product >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30);
    std::int64_t const high = (product + nudge) / (std::int64_t{1} << 31);
    int const right = std::max(-by.shift, 0);
    if (right == 0) return static_cast<std::int32_t>(high);
    // Halves go away from 0.
    std::int64_t const half_way = std::int64_t{1} << (right - 1), size = high < 0 ? -high : high;
    std::int64_t const rounded = (size + half_way) >> right;
    return static_cast<std::int32_t>(high < 0 ? -rounded : rounded);
}

/// @param least  the zero point, for a ReLU
std::int8_t finished(std::int32_t sum, scale by, int zero, int least = -128) {
    return static_cast<std::int8_t>(std::clamp(rescaled(sum, by) + zero, least, 127));
}

/// Calls `visit` with a tap and its pixel, for the taps around (y, x) that lie inside.
template <class Visit>
void around(int y, int x, Visit const& visit) {
    for (int r = 0; r < taps; ++r)
        for (int s = 0; s < taps; ++s) {
            int const row = y + r - 1, column = x + s - 1;
            if (row >= 0 && row < side && column >= 0 && column < side) visit(r * taps + s, row * side + column);
        }
}

using image = std::array<std::int8_t, side * side * channels>;

}  // namespace

std::array<std::int8_t, 10> scores_of(std::int8_t const* pixels) {
    image first, deep, joined;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            for (int c = 0; c < channels; ++c) {
                auto const at = static_cast<std::size_t>(c);
                std::int32_t sum = first_bias[at];
                around(y, x, [&](int tap, int pixel) {
                    sum += (pixels[pixel] - pixels_zero) * first_weights[static_cast<std::size_t>(c * taps * taps + tap)];
                });
                first[static_cast<std::size_t>((y * side + x) * channels + c)] =
                    finished(sum, {first_multiplier[at], first_shift[at]}, first_zero, first_zero);
            }
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            for (int c = 0; c < channels; ++c) {
                auto const at = static_cast<std::size_t>(c);
                std::int32_t sum = deep_bias[at];
                around(y, x, [&](int tap, int pixel) {
                    sum += (first[static_cast<std::size_t>(pixel * channels + c)] - first_zero) *
                           deep_weights[static_cast<std::size_t>(tap * channels + c)];
                });
                deep[static_cast<std::size_t>((y * side + x) * channels + c)] =
                    finished(sum, {deep_multiplier[at], deep_shift[at]}, deep_zero, deep_zero);
            }
    for (int pixel = 0; pixel < side * side; ++pixel)
        for (int f = 0; f < channels; ++f) {
            auto const at = static_cast<std::size_t>(f), element = static_cast<std::size_t>(pixel * channels + f);
            std::int32_t sum = point_bias[at];
            for (int c = 0; c < channels; ++c)
                sum += (deep[static_cast<std::size_t>(pixel * channels + c)] - deep_zero) *
                       point_weights[static_cast<std::size_t>(f * channels + c)];
            std::int8_t const point = finished(sum, {point_multiplier[at], point_shift[at]}, point_zero);
            // The sum of the block: both operands in 20 more bits, at one scale.
            std::int32_t const both =
                rescaled((first[element] - first_zero) * (1 << 20), add_first) + rescaled((point - point_zero) * (1 << 20), add_point);
            joined[element] = finished(both, add_joined, joined_zero, joined_zero);
        }
    std::array<std::int32_t, 10> sums = scores_bias;
    for (int y = 0; y < half; ++y)
        for (int x = 0; x < half; ++x)
            for (int c = 0; c < channels; ++c) {
                auto const pixel = [&](int r, int s) {
                    return joined[static_cast<std::size_t>(((2 * y + r) * side + 2 * x + s) * channels + c)];
                };
                int const largest = std::max({pixel(0, 0), pixel(0, 1), pixel(1, 0), pixel(1, 1)});
                int const input = (y * half + x) * channels + c;
                for (std::size_t label = 0; label < sums.size(); ++label)
                    sums[label] +=
                        (largest - joined_zero) * scores_weights[label * (half * half * channels) + static_cast<std::size_t>(input)];
            }
    std::array<std::int8_t, 10> scores{};
    for (std::size_t label = 0; label < sums.size(); ++label)
        scores[label] = finished(sums[label], {scores_multiplier[label], scores_shift[label]}, scores_zero);
    return scores;
}

}  // namespace lesson_import
