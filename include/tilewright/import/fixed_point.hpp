#pragma once
#include <cmath>
#include <tilewright/compute/functions.hpp>
#include <tilewright/import/attributes.hpp>

// The integer arithmetic of TensorFlow Lite: scales in fixed point, and what is rounded twice.
namespace tilewright::imported::detail {

/// The nearest integer; what lies halfway goes away from 0. Beyond 2^62, that.
inline std::int64_t nearest_away(double of) {
    double const most = 0x1p62;
    return static_cast<std::int64_t>(std::round(std::clamp(of, -most, most)));
}

/// A scale as multiplier / 2^31 * 2^shift. The multiplier is 0, or has 31 bits: it is from 2^30 up.
struct fixed_scale {
    std::int32_t multiplier = 0;
    int shift = 0;  ///< to the left; below 0 to the right

    friend bool operator==(fixed_scale const&, fixed_scale const&) = default;
};
inline fixed_scale fixed_scale_of(double real) {
    if (!(real >= 0) || real >= 2147483648.0) throw not_imported("scales whose quotient is " + std::to_string(real));
    fixed_scale made;
    std::int64_t multiplier = nearest_away(std::frexp(real, &made.shift) * 2147483648.0);
    if (multiplier == std::int64_t{1} << 31) multiplier /= 2, ++made.shift;
    if (multiplier == 0 || made.shift < -31) return {};
    made.multiplier = static_cast<std::int32_t>(multiplier);
    return made;
}

/// `x` of int32 in another scale. A value that a shift to the left takes out of int32 becomes the nearest that int32 has.
inline value rescaled(value const& x, fixed_scale const& by) {
    parameter<std::int32_t> const of{"x"}, multiplier{"m"};
    parameter<std::int64_t> const left{"l"}, right{"r"};
    value const moved = by.shift <= 0 ? x
                                      : imported::apply(saturating_cast<std::int32_t>(cast<std::int64_t>(of) << left),
                                                        {{"x", x}, {"l", number(std::int64_t{by.shift}, scalar_type::int64)}});
    argument const factor{"m", number(std::int64_t{by.multiplier}, scalar_type::int32)};
    auto const high = tilewright::detail::high_half(of, multiplier);
    if (by.shift >= 0) return imported::apply(cast<std::int32_t>(high), {{"x", moved}, factor});
    return imported::apply(cast<std::int32_t>(tilewright::detail::rounding_shift_with_room(high, right)),
                           {{"x", moved}, factor, {"r", number(std::int64_t{-by.shift}, scalar_type::int64)}});
}
/// Likewise by a multiplier and a shift of int32 that are read.
///
/// @param shift      to the right
/// @param only_right  no shift is below 0
inline value rescaled(value const& x, value const& multiplier, value const& shift, bool only_right) {
    parameter<std::int32_t> const of{"x"}, m{"m"}, s{"s"};
    std::vector<argument> const given{{"x", x}, {"m", multiplier}, {"s", shift}};
    if (!only_right) return imported::apply(rescale<rounding::doubling_high>(of, m, s), given);
    return imported::apply(cast<std::int32_t>(tilewright::detail::rounding_shift_with_room(tilewright::detail::high_half(of, m), s)),
                           given);
}

/// The values that a result can have.
struct bounds {
    std::int64_t low = lowest_of(scalar_type::int8), high = highest_of(scalar_type::int8);
};
/// Those that a fused activation lets through, of a result of int8.
inline bounds bounds_of(std::string const& activation, float scale, std::int64_t zero_point) {
    bounds made;
    auto const quantised = [&](float real) { return zero_point + nearest_away(static_cast<double>(real / scale)); };
    auto const from = [&](float real) { made.low = std::max(made.low, quantised(real)); };
    auto const to = [&](float real) { made.high = std::min(made.high, quantised(real)); };
    if (activation == "RELU") from(0);
    else if (activation == "RELU6") from(0), to(6);
    else if (activation == "RELU_N1_TO_1") from(-1), to(1);
    else if (activation != "NONE") throw not_imported("activation " + activation);
    return made;
}

/// `x` of int32 and the zero point as an integer within bounds.
inline value with_zero_point(value const& x, std::int64_t zero_point, bounds const& within, scalar_type type = scalar_type::int8) {
    if (within.low == within.high) return number(within.low, type);
    auto const in32 = [](std::int64_t of) { return number(of, scalar_type::int32); };
    // The limits come first, so that the sum fits.
    value const limited = smaller_of(larger_of(x, in32(within.low - zero_point)), in32(within.high - zero_point));
    return convert(zero_point == 0 ? limited : limited + in32(zero_point), type);
}

}  // namespace tilewright::imported::detail
