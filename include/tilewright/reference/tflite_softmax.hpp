#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tilewright/reference/tflite_node.hpp>
#include <tilewright/reference/tflite_numbers.hpp>
#include <type_traits>
#include <utility>
#include <vector>

// SOFTMAX in fixed point. An int32 with i integer bits stands for itself / 2^(31 - i).
namespace tilewright::reference::tflite {

namespace detail {

/// x by 2^bits, no further than int32 goes.
inline std::int64_t saturated_shift(std::int64_t x, int bits) { return std::clamp(x * (std::int64_t{1} << bits), int32_least, int32_most); }

/// exp(x) with 0 integer bits, for x <= 0 with 5 integer bits: a polynomial around -1/8 for what is left modulo 1/4, then a factor for each
/// bit of the quarters.
inline std::int64_t exp_of_negative(std::int64_t x) {
    if (x == 0) return int32_most;
    constexpr std::int64_t quarter = 1 << 24, third = 715827883, exp_of_minus_eighth = 1895147668;
    std::int64_t const rest = (x & (quarter - 1)) - quarter;
    std::int64_t const near = saturated_shift(rest, 5) + (1 << 28);
    std::int64_t const near2 = doubled_high_product(near, near), near3 = doubled_high_product(near2, near);
    std::int64_t const near4 = doubled_high_product(near2, near2);
    std::int64_t const higher = doubled_high_product(divided_by_power(near4, 2) + near3, third);  // near^3 / 3 + near^4 / 12
    std::int64_t const tail = divided_by_power(higher + near2, 1);
    std::int64_t result = exp_of_minus_eighth + doubled_high_product(exp_of_minus_eighth, near + tail);
    // exp(-1/4), exp(-1/2), exp(-1), ... exp(-16), with 0 integer bits.
    constexpr std::int64_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    std::int64_t bit = quarter;
    for (std::int64_t const one : factors) {
        if (((rest - x) & bit) != 0) result = doubled_high_product(result, one);
        bit *= 2;
    }
    return result;
}

/// 1 / (1 + x) with 0 integer bits, for x from 0 to below 1 with 0 integer bits: three steps of Newton from 48/17 - 32/17 d on.
inline std::int64_t one_over_one_plus(std::int64_t x) {
    std::int64_t const d = (x + int32_most + 1) / 2;
    std::int64_t estimate = 1515870810 + doubled_high_product(d, -1010580540);
    for (int step = 0; step < 3; ++step) {
        std::int64_t const error = (1 << 29) - doubled_high_product(d, estimate);
        estimate += saturated_shift(doubled_high_product(estimate, error), 2);
    }
    return saturated_shift(estimate, 1);
}

/// How differences from the largest element become exponents of 5 integer bits.
struct softmax_scale {
    factor by = {};
    std::int64_t smallest = 0;  ///< the difference below which an element counts as nothing
};
inline softmax_scale softmax_scale_of(call const& of) {
    double const real = static_cast<double>(of.setting<float>("beta", 0)) * static_cast<double>(scale_of(of.operand_tensor(0))) * 0x1p26;
    factor const by = factor_of(std::min(real, 0x1p31 - 1));
    if (by.shift < 0) of.refuse("beta * scale below 2^-27");
    return {by, -static_cast<std::int64_t>(std::floor(31 * 0x1p26 / std::ldexp(1.0, by.shift)))};
}

/// One row of int8, in place, to integers of so many bits, of which the smallest is 0 and the largest almost 1.
inline void softmax_row(std::int64_t* row, std::int64_t count, softmax_scale how, int bits) {
    std::int64_t const largest = *std::max_element(row, row + count);
    std::vector<std::int64_t> powers;
    std::int64_t total = 0;
    for (std::int64_t at = 0; at < count; ++at) {
        std::int64_t const difference = row[at] - largest;
        bool const counts = difference >= how.smallest;
        powers.push_back(counts ? exp_of_negative(doubled_high_product(difference * (std::int64_t{1} << how.by.shift), how.by.mantissa))
                                : -1);
        if (counts) total += divided_by_power(powers.back(), 12);
    }
    as_int32(total);
    int headroom = 0;
    while ((total << headroom & std::int64_t{1} << 31) == 0) ++headroom;
    std::int64_t const reciprocal = one_over_one_plus((total << headroom) - (std::int64_t{1} << 31));
    for (std::int64_t at = 0; at < count; ++at) {
        std::int64_t const power = powers[static_cast<std::size_t>(at)];
        std::int64_t const part =
            divided_by_power(doubled_high_product(reciprocal, std::max<std::int64_t>(power, 0)), 43 - bits - headroom);
        std::int64_t const most = (std::int64_t{1} << (bits - 1)) - 1;
        row[at] = power < 0 ? -most - 1 : std::min(part - most - 1, most);
    }
}
/// One row of floats, in place.
inline void softmax_row(double* row, std::int64_t count, double beta) {
    double const largest = *std::max_element(row, row + count);
    double total = 0;
    for (std::int64_t at = 0; at < count; ++at) total += row[at] = std::exp((row[at] - largest) * beta);
    for (std::int64_t at = 0; at < count; ++at) row[at] /= total;
}

}  // namespace detail

/// SOFTMAX along the last dimension. A result of int8 has scale 1/256 and zero point -128, one of int16 has 1/65536 and -32768.
inline elements softmax(call const& of) {
    extent_list const& extents = of.operand(0).extents;
    if (extents.empty() || extents.back() < 1) of.refuse("no row");
    std::int64_t const count = extents.back();
    auto const each_row = [&](auto numbers, auto const&... how) {
        for (std::size_t at = 0; at < numbers.size(); at += static_cast<std::size_t>(count))
            detail::softmax_row(numbers.data() + at, count, how...);
        return numbers;
    };
    if (makes_floats(of)) return finished(of, extents, each_row(floats(of, 0), static_cast<double>(of.setting<float>("beta", 0))));
    network::element_type const type = of.result().type;
    int const bits = type == network::element_type::int16 ? 16 : 8;
    double const part = std::ldexp(static_cast<double>(scale_of(of.result())), bits);
    if (std::abs(part - 1) > (bits == 16 ? 1e-3 : 0) || zero_point_of(of.result()) != -(1 << (bits - 1)))
        of.refuse("a result of another scale");
    return of_integers(type, extents,
                       each_row(integers_of(operand_of_type(of, 0, network::element_type::int8)), detail::softmax_scale_of(of), bits));
}

}  // namespace tilewright::reference::tflite
