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

/// One row of int8, in place, to integers of scale 1/256 and zero point -128.
inline void softmax_row(std::int64_t* row, std::int64_t count, softmax_scale how) {
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
        std::int64_t const part = divided_by_power(doubled_high_product(reciprocal, std::max<std::int64_t>(power, 0)), 35 - headroom);
        row[at] = power < 0 ? int8_least : std::clamp(part + int8_least, int8_least, int8_most);
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

/// SOFTMAX along the last dimension. A result of int8 has scale 1/256 and zero point -128.
inline elements softmax(call const& of) {
    extent_list const& extents = of.operand(0).extents;
    if (extents.empty() || extents.back() < 1) of.refuse("no row");
    return in_its_numbers(of, [&](auto zero) {
        std::int64_t const count = extents.back();
        if constexpr (std::is_same_v<decltype(zero), double>) {
            std::vector<double> made = floats(of, 0);
            double const beta = of.setting<float>("beta", 0);
            for (std::size_t at = 0; at < made.size(); at += static_cast<std::size_t>(count))
                detail::softmax_row(made.data() + at, count, beta);
            return finished(of, extents, std::move(made));
        } else {
            if (scale_of(of.result()) != 0x1p-8f || zero_point_of(of.result()) != -128) of.refuse("a result of another scale");
            std::vector<std::int64_t> made = integers_of(operand_of_type(of, 0, network::element_type::int8));
            detail::softmax_scale const how = detail::softmax_scale_of(of);
            for (std::size_t at = 0; at < made.size(); at += static_cast<std::size_t>(count))
                detail::softmax_row(made.data() + at, count, how);
            return of_integers(network::element_type::int8, extents, made);
        }
    });
}

}  // namespace tilewright::reference::tflite
