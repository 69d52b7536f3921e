#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tilewright/reference/tflite_node.hpp>
#include <utility>
#include <vector>

// Fixed point as the reference kernels of TensorFlow Lite compute it, with two roundings per multiplication. Where their int32 would wrap,
// nothing is defined here.
namespace tilewright::reference::tflite {

inline constexpr std::int64_t int8_least = -128, int8_most = 127;
inline constexpr std::int64_t int32_least = std::numeric_limits<std::int32_t>::min(), int32_most = std::numeric_limits<std::int32_t>::max();

/// @return the value
/// @throws not_covered  where int32 does not hold it
inline std::int64_t as_int32(std::int64_t value) {
    if (value < int32_least || value > int32_most) throw not_covered("int32 does not hold " + std::to_string(value));
    return value;
}

/// The nearest integer; halves go away from zero. What is far beyond int32 comes out as 2^40 or -2^40.
///
/// @throws not_covered  for what is no number
inline std::int64_t nearest(double value) {
    if (std::isnan(value)) throw not_covered("the integer nearest to what is no number");
    return static_cast<std::int64_t>(std::clamp(std::round(value), -0x1p40, 0x1p40));
}

/// A real factor as mantissa / 2^31 * 2^shift.
struct factor {
    std::int64_t mantissa = 0;  ///< 0, or at least 2^30 and below 2^31; negative for a negative factor
    int shift = 0;
};
/// A factor with 31 bits; 0 where it is below 2^-32.
inline factor factor_of(double real) {
    if (real == 0) return {};
    factor made;
    double const fraction = std::frexp(real, &made.shift);
    made.mantissa = nearest(std::ldexp(fraction, 31));
    if (made.mantissa == std::int64_t{1} << 31) {
        made.mantissa /= 2;
        ++made.shift;
    }
    return made.shift < -31 ? factor{} : made;
}

/// a * b / 2^31, rounded; halves go up. -2^31 by itself gives the largest int32.
inline std::int64_t doubled_high_product(std::int64_t a, std::int64_t b) {
    std::int64_t const product = a * b, half = std::int64_t{1} << 30;
    return std::min((product + (product >= 0 ? half : 1 - half)) / (std::int64_t{1} << 31), int32_most);
}
/// x / 2^exponent, rounded; halves go away from zero.
inline std::int64_t divided_by_power(std::int64_t x, int exponent) {
    std::int64_t const mask = (std::int64_t{1} << exponent) - 1;
    std::int64_t const half = (mask >> 1) + (x < 0 ? 1 : 0);
    return (x >> exponent) + ((x & mask) > half ? 1 : 0);
}
/// x by a factor, rounded twice.
///
/// @throws not_covered  where the shift to the left leaves int32
inline std::int64_t scaled(std::int64_t x, factor by) {
    if (x != 0 && by.shift > 31) as_int32(std::int64_t{1} << 40);
    std::int64_t const shifted = x == 0 ? 0 : as_int32(x * (std::int64_t{1} << std::max(by.shift, 0)));
    return divided_by_power(doubled_high_product(shifted, by.mantissa), std::max(-by.shift, 0));
}

/// What a fused activation lets through, as reals.
///
/// @throws not_covered  for activations that are no bounds
inline std::pair<double, double> real_bounds(std::string const& activation) {
    double const infinite = std::numeric_limits<double>::infinity();
    if (activation == "NONE") return {-infinite, infinite};
    if (activation == "RELU") return {0, infinite};
    if (activation == "RELU6") return {0, 6};
    if (activation == "RELU_N1_TO_1") return {-1, 1};
    throw not_covered("activation " + activation);
}
/// The least and the largest int8 that an activation lets through. A bound is divided by the scale in float32.
///
/// @throws not_covered  for activations that are no bounds
inline std::pair<std::int64_t, std::int64_t> integer_bounds(std::string const& activation, network::tensor const& result) {
    auto const [low, high] = real_bounds(activation);
    auto const quantised = [&](double bound) { return zero_point_of(result) + nearest(static_cast<float>(bound) / scale_of(result)); };
    return {std::isinf(low) ? int8_least : std::max(int8_least, quantised(low)),
            std::isinf(high) ? int8_most : std::min(int8_most, quantised(high))};
}
inline std::string activation_of(call const& of) { return of.setting<std::string>("fused_activation_function", "NONE"); }

/// The result of int8 that has these integers, bounded by the activation.
inline elements bounded(call const& of, std::string const& activation, extent_list extents, std::vector<std::int64_t> integers) {
    auto const [low, high] = integer_bounds(activation, of.result());
    for (std::int64_t& one : integers) one = std::min(std::max(one, low), high);
    return of_integers(network::element_type::int8, std::move(extents), integers);
}
/// The result of int8 that stands for these integers: adds the zero point and applies the node's activation.
inline elements finished(call const& of, extent_list extents, std::vector<std::int64_t> integers) {
    for (std::int64_t& one : integers) one += zero_point_of(of.result());
    return bounded(of, activation_of(of), std::move(extents), std::move(integers));
}
/// The result of float32: applies the node's activation, then rounds.
inline elements finished(call const& of, extent_list extents, std::vector<double> reals) {
    auto const [low, high] = real_bounds(activation_of(of));
    for (double& one : reals) one = one < low ? low : one > high ? high : one;
    return of_reals(network::element_type::float32, std::move(extents), reals);
}

}  // namespace tilewright::reference::tflite
