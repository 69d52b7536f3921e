#pragma once
#include <limits>
#include <tilewright/compute/exponential.hpp>
#include <tilewright/import/attributes.hpp>

// What operators compute of one element: expressions.
namespace tilewright::imported::detail {

inline value same(value const& x) { return x; }
inline value none_of(scalar_type type) { return number(std::int64_t{0}, type); }
inline value like(value const& of, double constant) { return number(constant, of.type()); }
inline value negated(value const& of) { return is_float(of.type()) ? of * like(of, -1) : number(std::int64_t{0}, of.type()) - of; }
inline value exponential(value const& of) {
    need_float32(of);
    parameter<float> const x{"x"};
    return apply(exp(x), {{"x", of}});
}
/// The square root, by Heron's rule from a first guess of the exponent.
inline value root_of(value const& of) {
    need_float(of);
    bool const wide = of.type() == scalar_type::float64;
    scalar_type const word = wide ? scalar_type::int64 : scalar_type::int32;
    return once(of, [&](value const& x) {
        value const bits = node_of({.op = operation::reinterpret, .type = word}, {x});
        value const halved = binary(operation::shift_right, bits, number(std::int64_t{1}, word));
        value near = node_of({.op = operation::reinterpret, .type = x.type()},
                             {halved + number(wide ? std::int64_t{0x1ff769e5c0000000} : std::int64_t{0x1fbb4f2e}, word)});
        for (int round = 0; round < (wide ? 5 : 3); ++round) near = once(near, [&](value const& y) { return (y + x / y) * like(x, 0.5); });
        // Below 0 there is none: 0 / 0 is no number.
        value const none = (x - x) / (x - x);
        value const regular = choose(x < like(x, std::numeric_limits<double>::infinity()), near, x);
        return choose(equal(x, like(x, 0)), x, choose(x < like(x, 0), none, regular));
    });
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
}  // namespace tilewright::imported::detail
