#pragma once
#include <tilewright/compute/shared.hpp>

namespace tilewright {

/// e to the power of x, a float: within 2 units in the last place wherever that is a normal number; 0 and infinity beyond what a float can
/// be, and of the infinities. What is no number stays as it is.
///
/// Made of sums, products, conversions and comparisons, so that it has the same bits wherever it is computed.
template <detail::symbolic T>
constexpr auto exp(T const& x) {
    // x = n ln 2 + r with |r| <= ln 2 / 2; the upper part of ln 2 has so few bits that n times it is exact.
    constexpr float log2_of_e = 0x1.715476p+0f, ln2_high = 0x1.63p-1f, ln2_low = -0x1.bd0106p-13f;
    auto const of_number = [=](auto const& limited) {
        auto const nearest = cast<std::int32_t>(limited * log2_of_e + select(limited < 0.0f, -0.5f, cast<float>(0.5f)));
        return detail::compute_once(nearest, [=](auto const& n) {
            auto const rest = limited - cast<float>(n) * ln2_high - cast<float>(n) * ln2_low;
            auto const power = detail::compute_once(rest, [](auto const& r) {
                // Taylor's series: what is left out is less than a tenth of a unit in the last place.
                auto const upper = ((r * (1.0f / 5040) + 1.0f / 720) * r + 1.0f / 120) * r + 1.0f / 24;
                return ((((upper * r + 1.0f / 6) * r + 0.5f) * r) + 1.0f) * r + 1.0f;
            });
            // 2^n in two factors, for n that no exponent can be.
            auto const power_of_two = [](auto const& exponent) { return reinterpret<float>((exponent + 127) << 23); };
            return power * power_of_two(n >> 1) * power_of_two(n - (n >> 1));
        });
    };
    return detail::compute_once(detail::to_expression(x), [=](auto const& given) {
        // In this order the limits make a number of what is none, so that it can be converted to an integer.
        return select(given == given, detail::compute_once(min(89.0f, max(-104.0f, given)), of_number), given);
    });
}

}  // namespace tilewright
