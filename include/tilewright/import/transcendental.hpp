#pragma once
#include <tilewright/import/values.hpp>

// Functions that are no arithmetic, of one element. Logarithm and error function are computed in float; the others of this header in
// double, so that a float of the result is the nearest one or its neighbour.
namespace tilewright::imported::detail {

/// A polynomial, by Horner's rule: the coefficient of the highest power first. The argument is computed once.
inline value polynomial(value const& x, std::vector<double> const& coefficients) {
    value whole = x;
    auto const x_at = static_cast<std::int16_t>(whole.nodes.size() - 1);
    std::int16_t sum = -1;
    auto const put = [&](ir::node const& one) { return whole.nodes.push_back(one), static_cast<std::int16_t>(whole.nodes.size() - 1); };
    for (double const one : coefficients) {
        std::int16_t const added = put(number(one, x.type()).nodes[0]);
        if (sum < 0) {
            sum = added;
            continue;
        }
        sum = put({.op = operation::multiply, .type = x.type(), .argument_count = 2, .arguments = {sum, x_at}});
        sum = put({.op = operation::add, .type = x.type(), .argument_count = 2, .arguments = {sum, added}});
    }
    return whole;
}
inline value bits_of(value const& x, scalar_type type) { return node_of({.op = operation::reinterpret, .type = type}, {x}); }
inline value in_double(value const& x) { return convert(x, scalar_type::float64); }
inline value integer_like(value const& x, std::int64_t of) { return number(of, x.type()); }
inline value shifted_left(value const& x, std::int64_t by) { return binary(operation::shift_left, x, integer_like(x, by)); }
inline value shifted_right(value const& x, std::int64_t by) { return binary(operation::shift_right, x, integer_like(x, by)); }
constexpr double infinite = std::numeric_limits<double>::infinity();
inline value no_number(value const& x) { return like(x, std::numeric_limits<double>::quiet_NaN()); }

/// The logarithm: x is 2^n m with m near 1, and log m = 2 artanh((m - 1) / (m + 1)) by its series.
inline value logarithm(value const& x) {
    need_float(x);
    bool const wide = x.type() == scalar_type::float64;
    scalar_type const word = wide ? scalar_type::int64 : scalar_type::int32;
    // Numbers too small to be normal are scaled first.
    double const least = wide ? 0x1p-1022 : 0x1p-126, scale = wide ? 0x1p54 : 0x1p25;
    int const fraction = wide ? 52 : 23;
    std::int64_t const half_root = wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
    std::vector<double> series;
    for (int power = wide ? 21 : 9; power > 0; power -= 2) series.push_back(2.0 / power);
    return once(x, [&](value const& v) {
        value const is_small = v < like(v, least);
        // What has no logarithm is 1 for as long.
        value const some = choose(like(v, 0) < v, v, like(v, 1));
        value const bits = bits_of(choose(is_small, some * like(v, scale), some), word);
        value const exponent = shifted_right(bits - number(half_root, word), fraction);
        value const normal = once(exponent, [&](value const& n) {
            value const m = bits_of(bits - shifted_left(n, fraction), x.type());
            value const powers = convert(n, x.type()) - choose(is_small, like(v, wide ? 54 : 25), like(v, 0));
            value const of_m = once((m - like(v, 1)) / (m + like(v, 1)),
                                    [&](value const& s) { return s * once(s * s, [&](value const& q) { return polynomial(q, series); }); });
            // The upper part of log 2 has so few bits that its products are exact.
            double const high = wide ? 0x1.62e42fee00000p-1 : 0x1.62ep-1, low = wide ? 0x1.a39ef35793c76p-33 : 0x1.0bfbe8p-15;
            return powers * like(v, high) + (of_m + powers * like(v, low));
        });
        value const beyond = choose(equal(v, like(v, 0)), like(v, -infinite), no_number(v));
        value const positive = choose(v < like(v, infinite), normal, v);
        return choose(like(v, 0) < v, positive, choose(v <= like(v, 0), beyond, v));
    });
}
/// e to the power of a double.
inline value exponential_of_double(value const& of) {
    return once(of, [](value const& x) {
        // In this order the limits make a number of what is none.
        value const limited = smaller_of(like(x, 710), larger_of(like(x, -746), x));
        value const made = once(limited, [&](value const& v) {
            value const nearest =
                convert(v * like(v, 1.4426950408889634) + choose(v < like(v, 0), like(v, -0.5), like(v, 0.5)), scalar_type::int64);
            value const power = once(nearest, [&](value const& n) {
                std::vector<double> series{1.0};
                for (int at = 13; at > 0; --at) {
                    for (double& one : series) one /= at;
                    series.push_back(1.0);
                }
                value const rest = v - in_double(n) * like(v, 0x1.62e42fee00000p-1) - in_double(n) * like(v, 0x1.a39ef35793c76p-33);
                auto const power_of_two = [&](value const& which) {
                    return bits_of(shifted_left(which + integer_like(which, 1023), 52), scalar_type::float64);
                };
                value const half = shifted_right(n, 1);
                return once(rest, [&](value const& r) { return polynomial(r, series); }) * power_of_two(half) * power_of_two(n - half);
            });
            return power;
        });
        return choose(equal(x, x), made, x);
    });
}
/// e to the power of a float or a double.
inline value power_of_e(value const& x) { return x.type() == scalar_type::float64 ? exponential_of_double(x) : exponential(x); }
/// The error function: its series near 0, and farther out the approximation 7.1.26 of Abramowitz and Stegun, within 1.5e-7.
inline value error_function(value const& x) {
    need_float32(x);
    std::vector<double> series{1.0 / (39916800.0 * 23)};
    double factorial = 39916800.0, sign = -1;
    series[0] *= sign;
    for (int n = 10; n >= 0; --n) {
        factorial /= n + 1, sign = -sign;
        series.push_back(sign / (factorial * (2 * n + 1)));
    }
    for (double& one : series) one *= 1.1283791670955126;
    return once(x, [&](value const& v) {
        return once(magnitude(v), [&](value const& m) {
            value const near = v * once(v * v, [&](value const& q) { return polynomial(q, series); });
            value const t = like(v, 1) / (like(v, 1) + m * like(v, 0.3275911));
            value const tail = once(t, [&](value const& s) {
                return s * polynomial(s, {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592});
            });
            value const far = like(v, 1) - tail * exponential(negated(m * m));
            return choose(m < like(v, 1), near, choose(v < like(v, 0), negated(far), far));
        });
    });
}
/// The whole part of a double.
inline value whole_part(value const& x) {
    // Beyond 2^52 all are whole.
    value const inside = magnitude(x) < like(x, 0x1p52);
    return choose(inside, in_double(convert(choose(inside, x, like(x, 0)), scalar_type::int64)), x);
}
/// x to the power of y, doubles, from e to the power of y log |x|. Of x below 0, for whole y. What is no number is as C's `pow`.
inline value power_from(value const& size, value const& base, value const& exponent) {
    return once(base, [&](value const& x) {
        return once(exponent, [&](value const& y) {
            value const zero = like(x, 0), one = like(x, 1), half = y * like(y, 0.5);
            value const is_whole = equal(whole_part(y), y);
            value const is_odd = binary(operation::logical_and, is_whole, binary(operation::not_equal, whole_part(half), half));
            value const of_zero = choose(y < zero, choose(is_odd, one / x, like(x, infinite)), choose(is_odd, x, zero));
            value const below = choose(is_odd, negated(size), choose(is_whole, size, no_number(x)));
            value const regular = choose(equal(x, zero), of_zero, choose(x < zero, below, size));
            value const is_one = binary(operation::logical_or, equal(x, one), equal(y, zero));
            value const is_number = binary(operation::logical_and, equal(x, x), equal(y, y));
            return choose(is_one, one, choose(is_number, regular, no_number(x)));
        });
    });
}
/// A power of doubles where the loops are, in stages of its own.
inline view power_inside(lowering& of, space const& loops, value const& base, value const& exponent) {
    view const logarithms = of.stage(loops, in_double(exponent) * logarithm(magnitude(in_double(base))));
    view const sizes = of.stage(loops, exponential_of_double(imported::at(logarithms, loops)));
    return of.stage(loops, power_from(imported::at(sizes, loops), in_double(base), in_double(exponent)));
}
enum class circular { sine, cosine, tangent };
/// Sine, cosine or tangent, of arguments up to 1e9; of larger ones no number.
template <circular What>
value circular_of(value const& of) {
    need_float32(of);
    value const result = once(in_double(of), [&](value const& x) {
        value const inside = magnitude(x) < like(x, 1e9);
        value const limited = choose(inside, x, like(x, 0));
        // The nearest multiple of a quarter turn, which three doubles hold.
        value const turns =
            convert(limited * like(x, 0.6366197723675814) + choose(limited < like(x, 0), like(x, -0.5), like(x, 0.5)), scalar_type::int32);
        value const made = once(turns, [&](value const& n) {
            value const wide = in_double(n);
            value const rest = limited - wide * like(x, 1.57079632673412561417e+00) - wide * like(x, 6.07710050630396597660e-11) -
                               wide * like(x, 2.02226624879595063154e-21);
            return once(rest, [&](value const& r) {
                return once(r * r, [&](value const& q) {
                    std::vector<double> sines{1.0}, cosines{1.0};
                    for (int at = 8; at > 0; --at) {
                        for (double& one : sines) one /= -2.0 * at * (2 * at + 1);
                        for (double& one : cosines) one /= -2.0 * at * (2 * at - 1);
                        sines.push_back(1), cosines.push_back(1);
                    }
                    value const sine = r * polynomial(q, sines), cosine = polynomial(q, cosines);
                    auto const bit = [&](value const& from, std::int64_t which) {
                        return equal(binary(operation::modulo, shifted_right(from, which), integer_like(n, 2)), integer_like(n, 1));
                    };
                    value const odd = bit(n, 0);
                    if (What == circular::tangent) return choose(odd, negated(cosine) / sine, sine / cosine);
                    value const other = What == circular::cosine ? n + integer_like(n, 1) : n;
                    value const is_cosine =
                        What == circular::cosine ? equal(binary(operation::modulo, n, integer_like(n, 2)), integer_like(n, 0)) : odd;
                    value const one = choose(is_cosine, cosine, sine);
                    return choose(bit(other, 1), negated(one), one);
                });
            });
        });
        return choose(inside, made, no_number(x));
    });
    return convert(result, scalar_type::float32);
}
/// The arc tangent of a double, within 1e-10 of itself.
inline value arc_tangent_of_double(value const& of) {
    return once(of, [&](value const& x) {
        value const size = magnitude(x), one = like(x, 1);
        value const far = one < size;
        // An angle of at most a quarter of pi, then of at most an eighth, then the series.
        value const inner = once(choose(far, one / size, size), [&](value const& t) {
            value const upper = like(x, 0.41421356237309503) < t;
            std::vector<double> series;
            for (int at = 11; at >= 0; --at) series.push_back((at % 2 == 0 ? 1.0 : -1.0) / (2 * at + 1));
            value const angle = once(choose(upper, (t - one) / (t + one), t), [&](value const& s) {
                return s * once(s * s, [&](value const& q) { return polynomial(q, series); });
            });
            return choose(upper, angle + like(x, 0.78539816339744831), angle);
        });
        value const positive = once(inner, [&](value const& a) { return choose(far, like(x, 1.5707963267948966) - a, a); });
        return once(positive, [&](value const& p) { return choose(x < like(x, 0), negated(p), p); });
    });
}
inline value arc_tangent(value const& x) {
    need_float32(x);
    return convert(arc_tangent_of_double(in_double(x)), scalar_type::float32);
}
/// Angles in double, in stages of their own.
inline view arc_sines_of_double(lowering& of, view const& x) {
    view const tangents = of.each_inside(x, [](value const& one) {
        need_float32(one);
        return once(in_double(one), [](value const& v) { return v / root_of(like(v, 1) - v * v); });
    });
    return of.each_inside(tangents, arc_tangent_of_double);
}
template <int Sign>
value hyperbolic(value const& x) {
    need_float32(x);
    value const made = once(in_double(x), [](value const& v) {
        // Near 0 a series keeps the digits that the difference would lose.
        value const far = once(exponential_of_double(v), [&](value const& e) { return (e + like(v, Sign) / e) * like(v, 0.5); });
        if (Sign > 0) return far;
        value const near = v * once(v * v, [](value const& q) { return polynomial(q, {1.0 / 5040, 1.0 / 120, 1.0 / 6, 1.0}); });
        return choose(magnitude(v) < like(v, 0.01), near, far);
    });
    return convert(made, scalar_type::float32);
}
}  // namespace tilewright::imported::detail
