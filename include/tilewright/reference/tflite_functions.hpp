#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/reference/tflite_elementwise.hpp>
#include <vector>

// Functions of each element, and comparisons.
namespace tilewright::reference::tflite {

namespace detail {

template <class Function>
elements of_each_float(call const& of, Function const& function) {
    if (!makes_floats(of)) of.refuse("a result of " + std::string(network::name_of(of.result().type)));
    return finished(of, of.operand(0).extents, changed(floats(of, 0), function));
}
template <class Function>
elements of_two_floats(call const& of, Function const& function) {
    if (!makes_floats(of)) of.refuse("a result of " + std::string(network::name_of(of.result().type)));
    return combined(of, floats(of, 0), floats(of, 1), function);
}
/// A function of float32 by a table of 256 values, to a result of any scale.
template <class Function>
elements by_own_table(call const& of, Function const& function) {
    float const from_scale = scale_of(of.operand_tensor(0)), inverse = 1 / scale_of(of.result());
    return finished(of, of.operand(0).extents, changed(centred(of, 0), [&](std::int64_t one) {
                        float const made = function(from_scale * static_cast<float>(one)) * inverse;
                        if (!(std::abs(static_cast<double>(made)) < 2147483392.0)) of.refuse("an element beyond int32");
                        return nearest(static_cast<double>(made));
                    }));
}
inline factor small_factor(call const& of, double real) {
    if (real >= 1) of.refuse("a factor of at least 1");
    return factor_of(real);
}
/// Truths of two operands.
template <class Number, class Compare>
elements truths_of(call const& of, std::vector<Number> const& a, std::vector<Number> const& b, Compare const& compare) {
    extent_list const extents = spread_extents(of);
    auto const in_a = spread_places(of.operand(0).extents, extents), in_b = spread_places(of.operand(1).extents, extents);
    std::vector<std::int64_t> made;
    for (std::size_t at = 0; at < in_a.size(); ++at)
        made.push_back(compare(a[static_cast<std::size_t>(in_a[at])], b[static_cast<std::size_t>(in_b[at])]) ? 1 : 0);
    return of_integers(network::element_type::boolean, extents, made);
}
template <class Compare>
elements compared(call const& of, Compare const& compare) {
    if (of.operand(0).type == network::element_type::float32) return truths_of(of, floats(of, 0), floats(of, 1), compare);
    auto const scaled_operand = [&](std::size_t at) {
        factor const by = small_factor(of, static_cast<double>(scale_of(of.operand_tensor(at))));
        return changed(centred(of, at), [&](std::int64_t one) { return scaled(256 * one, by); });
    };
    return truths_of(of, scaled_operand(0), scaled_operand(1), compare);
}
inline std::vector<std::int64_t> booleans(call const& of, std::size_t at) {
    return integers_of(operand_of_type(of, at, network::element_type::boolean));
}
template <bool Rows>
elements selected(call const& of) {
    for (std::size_t const at : {1U, 2U}) need_same_scale(of.operand_tensor(at), of.result());
    auto const pick = booleans(of, 0);
    extent_list const &a = of.operand(1).extents, &b = of.operand(2).extents, picks = of.operand(0).extents;
    extent_list whole = a, spread = picks;
    if (Rows) {
        if (a != b) of.refuse("operands of two shapes");
        if (picks != a && pick.size() != 1) {
            if (picks.size() != 1 || a.empty() || picks[0] != a[0]) of.refuse("truths that do not fit");
            spread.resize(a.size(), 1);
        }
        if (pick.size() == 1) spread.clear();
    } else {
        whole.assign(std::max({a.size(), b.size(), picks.size()}), 1);
        for (extent_list const* one : {&a, &b, &picks}) {
            for (std::size_t at = 0; at < one->size(); ++at) {
                std::int64_t& extent = whole[whole.size() - one->size() + at];
                if (extent != (*one)[at] && extent != 1 && (*one)[at] != 1) of.refuse("extents that do not fit");
                extent = std::max(extent, (*one)[at]);
            }
        }
    }
    auto const at_pick = spread_places(spread, whole), at_a = spread_places(a, whole), at_b = spread_places(b, whole);
    return reference::detail::with_type(of.operand(1).type, [&](auto one) {
        using number = decltype(one);
        auto const x = reference::detail::numbers_of<number>(of.operand(1)), y = reference::detail::numbers_of<number>(of.operand(2));
        if (of.operand(1).type != of.operand(2).type) of.refuse("operands of two types");
        std::vector<number> made;
        for (std::size_t at = 0; at < at_pick.size(); ++at) {
            bool const first = pick[static_cast<std::size_t>(at_pick[at])] != 0;
            made.push_back(first ? x[static_cast<std::size_t>(at_a[at])] : y[static_cast<std::size_t>(at_b[at])]);
        }
        return reference::detail::of_numbers(of.operand(1).type, whole, made);
    });
}

}  // namespace detail

/// ABS: integers are rescaled where the scales differ.
inline elements abs(call const& of) {
    if (makes_floats(of)) return detail::of_each_float(of, [](double x) { return std::abs(x); });
    bool const same = scale_of(of.operand_tensor(0)) == scale_of(of.result());
    factor const by = detail::quotient_of_scales(of);
    return finished(of, of.operand(0).extents,
                    detail::changed(centred(of, 0), [&](std::int64_t x) { return same ? std::abs(x) : scaled(std::abs(x), by); }));
}
inline elements exp(call const& of) {
    if (makes_floats(of)) return detail::of_each_float(of, [](double x) { return std::exp(x); });
    return detail::by_own_table(of, [](float x) { return static_cast<float>(std::exp(static_cast<double>(x))); });
}
/// LOG: integers that are not above 0 give the lowest.
inline elements log(call const& of) {
    if (makes_floats(of)) return detail::of_each_float(of, [](double x) { return std::log(x); });
    float const lowest = static_cast<float>(int8_least - zero_point_of(of.result())) * scale_of(of.result());
    return detail::by_own_table(of, [&](float x) { return x > 0 ? static_cast<float>(std::log(static_cast<double>(x))) : lowest; });
}
inline elements neg(call const& of) {
    return detail::of_each_float(of, [](double x) { return -x; });
}
inline elements sqrt(call const& of) {
    return detail::of_each_float(of, [](double x) { return std::sqrt(x); });
}
inline elements rsqrt(call const& of) {
    return detail::of_each_float(of, [](double x) { return 1 / std::sqrt(x); });
}
inline elements sin(call const& of) {
    return detail::of_each_float(of, [](double x) { return std::sin(x); });
}
inline elements cos(call const& of) {
    return detail::of_each_float(of, [](double x) { return std::cos(x); });
}
inline elements floor(call const& of) {
    return detail::of_each_float(of, [](double x) { return std::floor(x); });
}
inline elements ceil(call const& of) {
    return detail::of_each_float(of, [](double x) { return std::ceil(x); });
}
/// ROUND: halves go to the even neighbour.
inline elements round(call const& of) {
    return detail::of_each_float(of, [](double x) { return std::nearbyint(x); });
}
inline elements square(call const& of) {
    return detail::of_each_float(of, [](double x) { return x * x; });
}
inline elements elu(call const& of) {
    return detail::of_each_float(of, [](double x) { return x < 0 ? std::expm1(x) : x; });
}
inline elements relu_n1_to_1(call const& of) { return detail::activated(of, "RELU_N1_TO_1"); }

inline elements div(call const& of) {
    return detail::of_two_floats(of, [](double x, double y) { return x / y; });
}
/// FLOOR_DIV: the quotient is a float32 before it is cut.
inline elements floor_div(call const& of) {
    return detail::of_two_floats(of, [](double x, double y) { return std::floor(static_cast<double>(static_cast<float>(x / y))); });
}
inline elements pow(call const& of) {
    return detail::of_two_floats(of, [](double x, double y) { return std::pow(x, y); });
}
/// SQUARED_DIFFERENCE: integers shifted by 7 bits and brought to twice the larger scale first.
inline elements squared_difference(call const& of) {
    if (makes_floats(of)) return detail::of_two_floats(of, [](double x, double y) { return (x - y) * (x - y); });
    double const scales[] = {static_cast<double>(scale_of(of.operand_tensor(0))), static_cast<double>(scale_of(of.operand_tensor(1)))};
    double const twice = 2 * std::max(scales[0], scales[1]);
    factor const by = detail::small_factor(of, twice * twice / (0x1p14 * static_cast<double>(scale_of(of.result()))));
    auto const brought = [&](std::size_t at) {
        return detail::changed(centred(of, at), [&](std::int64_t one) { return scaled(128 * one, factor_of(scales[at] / twice)); });
    };
    return detail::combined(of, brought(0), brought(1),
                            [&](std::int64_t x, std::int64_t y) { return scaled(as_int32((x - y) * (x - y)), by); });
}

inline elements equal(call const& of) {
    return detail::compared(of, [](auto x, auto y) { return x == y; });
}
inline elements not_equal(call const& of) {
    return detail::compared(of, [](auto x, auto y) { return x != y; });
}
inline elements less(call const& of) {
    return detail::compared(of, [](auto x, auto y) { return x < y; });
}
inline elements less_equal(call const& of) {
    return detail::compared(of, [](auto x, auto y) { return x <= y; });
}
inline elements greater(call const& of) {
    return detail::compared(of, [](auto x, auto y) { return x > y; });
}
inline elements greater_equal(call const& of) {
    return detail::compared(of, [](auto x, auto y) { return x >= y; });
}
inline elements logical_and(call const& of) {
    return detail::truths_of(of, detail::booleans(of, 0), detail::booleans(of, 1), [](auto x, auto y) { return x != 0 && y != 0; });
}
inline elements logical_or(call const& of) {
    return detail::truths_of(of, detail::booleans(of, 0), detail::booleans(of, 1), [](auto x, auto y) { return x != 0 || y != 0; });
}
inline elements logical_not(call const& of) {
    auto truths = detail::booleans(of, 0);
    for (std::int64_t& one : truths) one = one == 0 ? 1 : 0;
    return of_integers(network::element_type::boolean, of.operand(0).extents, truths);
}
/// SELECT: truths of each element, of each row, or one for all.
inline elements select(call const& of) { return detail::selected<true>(of); }
/// SELECT_V2: all operands are spread.
inline elements select_v2(call const& of) { return detail::selected<false>(of); }

}  // namespace tilewright::reference::tflite
