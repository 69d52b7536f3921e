#pragma once
#include <limits>
#include <tilewright/compute/exponential.hpp>
#include <tilewright/import/attributes.hpp>

// What operators compute of one element: expressions.
namespace tilewright::imported::detail {

inline value same(value const& x) { return x; }
inline value like(value const& of, double constant) { return number(constant, of.type()); }
inline value negated(value const& of) { return is_float(of.type()) ? of * like(of, -1) : number(std::int64_t{0}, of.type()) - of; }
inline value exponential(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    return apply(exp(x), {{"x", of}});
}
/// The square root, by Heron's rule from a first guess of the exponent.
inline value root_of(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"}, y{"y"};
    value near = apply(reinterpret<float>((reinterpret<std::int32_t>(x) >> 1) + 0x1fbb4f2e), {{"x", of}});
    for (int round = 0; round < 3; ++round) near = apply((y + x / y) * 0.5f, {{"x", of}, {"y", near}});
    // Below 0 there is none: 0 / 0 is no number.
    auto const none = (x - x) / (x - x);
    return apply(select(x == 0.0f, x, select(x < 0.0f, none, select(x < std::numeric_limits<float>::infinity(), y, x))),
                 {{"x", of}, {"y", near}});
}
inline value hyperbolic_tangent(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"}, s{"s"};
    value const square = of * of;
    // Near 0 a series keeps the digits that the quotient would lose.
    value const near =
        apply(x + x * s * (s * (s * (s * 0.021869488f - 0.053968254f) + 0.13333333f) - 0.33333333f), {{"x", of}, {"s", square}});
    value const far = apply(1.0f - 2.0f / (exp(x * 2.0f) + 1.0f), {{"x", of}});
    return choose(square < like(of, 0.09), near, far);
}
inline value logistic(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    return apply(1.0f / (exp(x * -1.0f) + 1.0f), {{"x", of}});
}
inline value magnitude(value const& of) {
    if (is_unsigned(of.type())) return of;
    return larger_of(of, negated(of));
}
inline value truth(value const& condition) {
    return choose(condition, number(std::int64_t{1}, scalar_type::uint8), number(std::int64_t{0}, scalar_type::uint8));
}
inline value is_true(value const& of) { return binary(operation::not_equal, of, number(std::int64_t{0}, of.type())); }
/// Towards minus infinity; what has no fraction stays.
template <tilewright::detail::symbolic T>
constexpr auto floor(T const& x) {
    return tilewright::detail::compute_once(tilewright::detail::to_expression(x), [](auto const& given) {
        auto const whole = cast<float>(cast<std::int32_t>(given));
        return select(max(given, given * -1.0f) < 8388608.0f, select(given < whole, whole - 1.0f, whole), given);
    });
}
inline value floor_of(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    return apply(floor(x), {{"x", of}});
}
/// To the nearest; of halves, the even one.
inline value nearest_even(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    auto const rounded = tilewright::detail::compute_once(floor(x), [&](auto const& lower) {
        auto const rest = x - lower;
        auto const is_even = floor(lower * 0.5f) == lower * 0.5f;
        return select(rest < 0.5f, lower, select(0.5f < rest, lower + 1.0f, select(is_even, lower, lower + 1.0f)));
    });
    return apply(rounded, {{"x", of}});
}

/// The only element of a view.
inline value scalar_of(view of) {
    of.dimensions.clear();
    return imported::at(of, space{});
}
/// A kernel of an operand's elements with the scale and the zero point of each: one for all, or one for each index along `axis`.
template <class Make>
void quantised(lowering& of, view const& x, Make const& make, scalar_type zero_type) {
    auto const of_elements = [&](view one) {
        if (one.elements() == 1) one.dimensions.clear();
        if (one.rank() > 0) {
            int const axis = dimension_of(integer(of, "axis", 1), x.rank());
            for (int at = axis + 1; at < x.rank(); ++at) one.dimensions.push_back(factors{});
        }
        return repeated_to(one, x.shape());
    };
    view const scale = of_elements(of.operand(1));
    std::optional<view> const zero = of.has(2) ? std::optional(of_elements(of.operand(2))) : std::nullopt;
    space const loops = loops_over(zero ? std::vector<view>{x, scale, *zero} : std::vector<view>{x, scale}, x.shape());
    of.compute(
        loops,
        make(imported::at(x, loops), imported::at(scale, loops), zero ? imported::at(*zero, loops) : number(std::int64_t{0}, zero_type)),
        0);
}

}  // namespace tilewright::imported::detail
