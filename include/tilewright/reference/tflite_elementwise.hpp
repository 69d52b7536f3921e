#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tilewright/reference/tflite_node.hpp>
#include <tilewright/reference/tflite_numbers.hpp>
#include <type_traits>
#include <utility>
#include <vector>

// Operators whose results are made element by element.
namespace tilewright::reference::tflite {

namespace detail {

/// The extents of what two operands make together: one of 1 is spread.
///
/// @throws not_covered  where extents do not fit
inline extent_list spread_extents(call const& of) {
    extent_list a = of.operand(0).extents, b = of.operand(1).extents;
    if (a.size() < b.size()) a.insert(a.begin(), b.size() - a.size(), 1);
    if (b.size() < a.size()) b.insert(b.begin(), a.size() - b.size(), 1);
    for (std::size_t at = 0; at < a.size(); ++at) {
        if (a[at] != b[at] && a[at] != 1 && b[at] != 1) of.refuse("extents " + std::to_string(a[at]) + " and " + std::to_string(b[at]));
        if (a[at] == 1) a[at] = b[at];
    }
    return a;
}
/// For each element of `to`, the one that `from` has for it.
inline std::vector<std::int64_t> spread_places(extent_list const& from, extent_list const& to) {
    extent_list const own = strides_of(from);
    extent_list strides(to.size(), 0);
    for (std::size_t at = 0; at < from.size(); ++at) {
        if (from[at] != 1) strides[to.size() - from.size() + at] = own[at];
    }
    return walk(to, 0, strides);
}
/// Combines two operands, of which `a` and `b` are the numbers, element by element.
template <class Number, class Combine>
elements combined(call const& of, std::vector<Number> const& a, std::vector<Number> const& b, Combine const& combine) {
    extent_list const extents = spread_extents(of);
    auto const in_a = spread_places(of.operand(0).extents, extents), in_b = spread_places(of.operand(1).extents, extents);
    std::vector<Number> made;
    for (std::size_t at = 0; at < in_a.size(); ++at)
        made.push_back(combine(a[static_cast<std::size_t>(in_a[at])], b[static_cast<std::size_t>(in_b[at])]));
    return finished(of, extents, std::move(made));
}
/// Changes each number of the one operand.
template <class Number, class Change>
std::vector<Number> changed(std::vector<Number> numbers, Change const& change) {
    for (Number& one : numbers) one = change(one);
    return numbers;
}

/// Integers shifted by 20 bits and brought to twice the larger scale of both operands.
inline std::vector<std::int64_t> shifted(call const& of, std::size_t at, double twice_the_scale) {
    factor const by = factor_of(static_cast<double>(scale_of(of.operand_tensor(at))) / twice_the_scale);
    return changed(centred(of, at), [&](std::int64_t one) { return scaled(one * (1 << 20), by); });
}
inline elements sum_of(call const& of, int sign) {
    return in_its_numbers(of, [&](auto zero) {
        if constexpr (std::is_same_v<decltype(zero), double>) {
            return combined(of, floats(of, 0), floats(of, 1), [&](double a, double b) { return a + sign * b; });
        } else {
            double const twice = 2 * static_cast<double>(std::max(scale_of(of.operand_tensor(0)), scale_of(of.operand_tensor(1))));
            factor const by = factor_of(twice / (0x1p20 * static_cast<double>(scale_of(of.result()))));
            return combined(of, shifted(of, 0, twice), shifted(of, 1, twice),
                            [&](std::int64_t a, std::int64_t b) { return scaled(as_int32(a + sign * b), by); });
        }
    });
}

/// The quotient of the scales of operand and result, of float32.
inline factor quotient_of_scales(call const& of) { return factor_of(scale_of(of.operand_tensor(0)) / scale_of(of.result())); }

/// RELU and RELU6: an activation by itself, which rescales.
inline elements activated(call const& of, std::string const& activation) {
    return in_its_numbers(of, [&](auto zero) {
        extent_list const& extents = of.operand(0).extents;
        if constexpr (std::is_same_v<decltype(zero), double>) {
            auto const bounds = real_bounds(activation);
            return finished(of, extents,
                            changed(floats(of, 0), [&](double one) { return std::min(std::max(one, bounds.first), bounds.second); }));
        } else {
            factor const by = quotient_of_scales(of);
            std::int64_t const zero_point = zero_point_of(of.result());
            return bounded(of, activation, extents,
                           changed(centred(of, 0), [&](std::int64_t one) { return scaled(one, by) + zero_point; }));
        }
    });
}

/// A function of float32 by a table of 256 values, to a result whose scale and zero point are given.
template <class Function>
elements by_table(call const& of, Function const& function, float scale, std::int64_t zero_point) {
    if (scale_of(of.result()) != scale || zero_point_of(of.result()) != zero_point) of.refuse("a result of another scale");
    float const from_scale = scale_of(of.operand_tensor(0));
    std::int64_t const least = int8_least - zero_point_of(of.operand_tensor(0));
    std::array<std::int64_t, 256> table = {};
    for (std::int64_t at = 0; at < 256; ++at) {
        float const made = function(from_scale * static_cast<float>(least + at)) * (1 / scale);
        table[static_cast<std::size_t>(at)] = nearest(made);
    }
    return finished(of, of.operand(0).extents,
                    changed(centred(of, 0), [&](std::int64_t one) { return table[static_cast<std::size_t>(one - least)]; }));
}

}  // namespace detail

/// ADD: operands are spread. Integers are brought to twice the larger scale first.
inline elements add(call const& of) { return detail::sum_of(of, 1); }
/// SUB: as ADD.
inline elements sub(call const& of) { return detail::sum_of(of, -1); }

/// MUL: operands are spread. The factor of integers is computed in float32, from left to right.
inline elements mul(call const& of) {
    return in_its_numbers(of, [&](auto zero) {
        using number = decltype(zero);
        auto const a = values<number>(of, 0), b = values<number>(of, 1);
        if constexpr (std::is_same_v<number, double>) {
            return detail::combined(of, a, b, [](double x, double y) { return x * y; });
        } else {
            float const product = scale_of(of.operand_tensor(0)) * scale_of(of.operand_tensor(1));
            factor const by = factor_of(product / scale_of(of.result()));
            return detail::combined(of, a, b, [&](std::int64_t x, std::int64_t y) { return scaled(x * y, by); });
        }
    });
}

namespace detail {

template <bool Larger>
elements extreme_of(call const& of) {
    for (std::size_t const at : {0U, 1U}) need_same_scale(of.operand_tensor(at), of.result());
    return in_its_numbers(of, [&](auto zero) {
        using number = decltype(zero);
        return combined(of, values<number>(of, 0), values<number>(of, 1),
                        [](number x, number y) { return Larger ? std::max(x, y) : std::min(x, y); });
    });
}
/// A factor of 16 bits as mantissa / 2^15 * 2^shift.
inline factor narrow_factor_of(float real) {
    factor made = factor_of(static_cast<double>(real));
    made.mantissa = std::min<std::int64_t>((made.mantissa + 32768) >> 16, 32767);
    return made;
}
inline std::int64_t bounded_to_16(std::int64_t x) { return std::max<std::int64_t>(-32768, std::min<std::int64_t>(x, 32767)); }
/// a * b / 2^15, rounded; halves go up.
inline std::int64_t narrow_product(std::int64_t a, std::int64_t b) {
    std::int64_t const product = a * b;
    return bounded_to_16((product + (product < 0 ? -16383 : 16384)) / 32768);
}

}  // namespace detail

/// MAXIMUM and MINIMUM of two operands, which are spread.
inline elements maximum(call const& of) { return detail::extreme_of<true>(of); }
inline elements minimum(call const& of) { return detail::extreme_of<false>(of); }

/// HARD_SWISH: x * min(max(x + 3, 0), 6) / 6. Integers in fixed point of 16 bits, where shifts to the left saturate.
inline elements hard_swish(call const& of) {
    return in_its_numbers(of, [&](auto zero) {
        extent_list const& extents = of.operand(0).extents;
        if constexpr (std::is_same_v<decltype(zero), double>) {
            return finished(of, extents,
                            detail::changed(floats(of, 0), [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }));
        } else {
            float const fine = scale_of(of.operand_tensor(0)) / 128;
            factor const output = detail::narrow_factor_of(fine / scale_of(of.result())), ramp = detail::narrow_factor_of(fine * 32768 / 3);
            if (output.shift > 0) of.refuse("a result of a finer scale");
            return finished(of, extents, detail::changed(centred(of, 0), [&](std::int64_t one) {
                                std::int64_t const x = one * 128;
                                std::int64_t part = x;
                                for (int bit = 1; bit < ramp.shift; ++bit) part = detail::bounded_to_16(2 * part);
                                part = detail::narrow_product(part, ramp.mantissa);
                                part = ramp.shift > 0 ? detail::bounded_to_16(2 * part) : divided_by_power(part, -ramp.shift);
                                std::int64_t const product = (part + 32768) / 2 * detail::narrow_product(x, output.mantissa) / 32768;
                                return divided_by_power(product, -output.shift);
                            }));
        }
    });
}

/// RELU: from 0 on.
inline elements relu(call const& of) { return detail::activated(of, "RELU"); }
/// RELU6: from 0 to 6.
inline elements relu6(call const& of) { return detail::activated(of, "RELU6"); }

/// LEAKY_RELU: what is below 0 is multiplied by alpha. Integers have a factor on either side of 0, of float32.
inline elements leaky_relu(call const& of) {
    float const alpha = of.setting<float>("alpha", 0);
    return in_its_numbers(of, [&](auto zero) {
        extent_list const& extents = of.operand(0).extents;
        if constexpr (std::is_same_v<decltype(zero), double>) {
            return finished(of, extents,
                            detail::changed(floats(of, 0), [&](double x) { return x < 0 ? x * static_cast<double>(alpha) : x; }));
        } else {
            factor const above = detail::quotient_of_scales(of);
            float const product = scale_of(of.operand_tensor(0)) * alpha;
            factor const below = factor_of(product / scale_of(of.result()));
            return finished(of, extents,
                            detail::changed(centred(of, 0), [&](std::int64_t x) { return scaled(x, x >= 0 ? above : below); }));
        }
    });
}

/// PRELU: the same with factors of their own, which are spread.
inline elements prelu(call const& of) {
    return in_its_numbers(of, [&](auto zero) {
        using number = decltype(zero);
        auto const from = values<number>(of, 0), factors = values<number>(of, 1);
        if constexpr (std::is_same_v<number, double>) {
            return detail::combined(of, from, factors, [](double x, double by) { return x < 0 ? x * by : x; });
        } else {
            factor const above = detail::quotient_of_scales(of);
            float const product = scale_of(of.operand_tensor(0)) * scale_of(of.operand_tensor(1));
            factor const below = factor_of(product / scale_of(of.result()));
            return detail::combined(of, from, factors,
                                    [&](std::int64_t x, std::int64_t by) { return x >= 0 ? scaled(x, above) : scaled(x * by, below); });
        }
    });
}

/// LOGISTIC: 1 / (1 + exp(-x)). Integers by a table; the result has scale 1/256 and zero point -128.
inline elements logistic(call const& of) {
    return in_its_numbers(of, [&](auto zero) {
        if constexpr (std::is_same_v<decltype(zero), double>) {
            return finished(of, of.operand(0).extents, detail::changed(floats(of, 0), [](double x) { return 1 / (1 + std::exp(-x)); }));
        } else {
            auto const function = [](float x) {
                double const power = std::exp(-static_cast<double>(x));
                float const infinite = std::numeric_limits<float>::infinity();
                return 1 / (1 + (power > static_cast<double>(std::numeric_limits<float>::max()) ? infinite : static_cast<float>(power)));
            };
            return detail::by_table(of, function, 0x1p-8f, -128);
        }
    });
}
/// TANH. Integers by a table; the result has scale 1/128 and zero point 0.
inline elements tanh(call const& of) {
    return in_its_numbers(of, [&](auto zero) {
        if constexpr (std::is_same_v<decltype(zero), double>) {
            return finished(of, of.operand(0).extents, detail::changed(floats(of, 0), [](double x) { return std::tanh(x); }));
        } else {
            auto const function = [](float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); };
            return detail::by_table(of, function, 0x1p-7f, 0);
        }
    });
}

/// QUANTIZE: from float32 to int8, divided by the scale in float32; or between integers of 8, 16 and 32 bits.
inline elements quantize(call const& of) {
    using network::element_type;
    extent_list const& extents = of.operand(0).extents;
    element_type const from = of.operand(0).type, to = of.result().type;
    if (from == element_type::float32 && to == element_type::int8) {
        std::vector<std::int64_t> made;
        for (double const one : floats(of, 0)) made.push_back(nearest(static_cast<float>(one) / scale_of(of.result())));
        return finished(of, extents, std::move(made));
    }
    auto const bits = [&](element_type type) {
        if (type != element_type::int8 && type != element_type::int16 && type != element_type::int32)
            of.refuse("from " + std::string(network::name_of(from)) + " to " + std::string(network::name_of(to)));
        return 8 * static_cast<int>(network::bytes_of(type));
    };
    bits(from);
    std::int64_t const most = (std::int64_t{1} << (bits(to) - 1)) - 1;
    factor const by = factor_of(static_cast<double>(scale_of(of.operand_tensor(0))) / static_cast<double>(scale_of(of.result())));
    return of_integers(to, extents, detail::changed(centred(of, 0, from), [&](std::int64_t one) {
                           return std::clamp(scaled(one, by) + zero_point_of(of.result()), -most - 1, most);
                       }));
}
/// DEQUANTIZE: from int8 to float32, computed in float32; from float16, which is there as float32, as it is.
inline elements dequantize(call const& of) {
    if (!makes_floats(of)) of.refuse("to " + std::string(network::name_of(of.result().type)));
    if (of.operand_tensor(0).type == network::element_type::float16) return of.operand(0);
    float const scale = scale_of(of.operand_tensor(0));
    std::vector<double> made;
    for (std::int64_t const one : centred(of, 0)) made.push_back(static_cast<double>(static_cast<float>(one) * scale));
    return of_reals(network::element_type::float32, of.operand(0).extents, made);
}

}  // namespace tilewright::reference::tflite
