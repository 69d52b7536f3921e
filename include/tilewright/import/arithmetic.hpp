#pragma once
#include <cmath>
#include <tilewright/import/elementwise.hpp>
#include <tilewright/import/reductions.hpp>

// Operators that compute each element by itself, of integers and floats in several types: powers, remainders, shifts; and activations that
// are made of logarithms.
namespace tilewright::imported::detail {

inline value both(value const& a, value const& b) { return binary(operation::logical_and, a, b); }
inline value differ(value const& a, value const& b) { return binary(operation::not_equal, a, b); }

/// An integer to the power of an integer. Where an int64 cannot hold it, it wraps, and from the 64th power on it is 0; below the 0th, it is
/// the integer part.
inline value integer_power(value const& base, value const& exponent) {
    scalar_type const wide = scalar_type::uint64;
    auto const constant_of = [](std::int64_t of) { return number(of, scalar_type::int64); };
    return once(convert(base, scalar_type::int64), [&](value const& x) {
        return once(convert(exponent, scalar_type::int64), [&](value const& y) {
            value const one = number(std::int64_t{1}, wide), bits = convert(y, wide);
            value power = one, square = convert(x, wide);
            for (std::int64_t bit = 0; bit < 6; ++bit) {
                value const moved = binary(operation::modulo, shifted_right(bits, bit), number(std::int64_t{2}, wide));
                power = power * choose(equal(moved, one), square, one);
                square = once(square, [](value const& s) { return s * s; });
            }
            value const is_odd = equal(binary(operation::modulo, y, constant_of(2)), constant_of(1));
            value const of_minus_one = choose(is_odd, constant_of(-1), constant_of(1));
            value const of_few = choose(equal(x, constant_of(1)), x, choose(equal(x, constant_of(-1)), of_minus_one, constant_of(0)));
            value const is_usual = both(constant_of(0) <= y, y < constant_of(64));
            return choose(is_usual, convert(power, scalar_type::int64), of_few);
        });
    });
}
inline void power(lowering& of) {
    auto const with = operands_of(of, 2);
    scalar_type const type = with.all[0].type();
    if (!is_float(type) && !is_float(with.all[1].type())) {
        view const made = of.stage(with.loops, integer_power(with[0], with[1]));
        return void(of.compute(with.loops, convert(imported::at(made, with.loops), type), 0));
    }
    if (is_float(type) && of.is_constant(1)) {
        auto const exponents = of.known_numbers(1);
        double const exponent = exponents.size() == 1 ? exponents[0] : 0;
        for (int times = 1; times <= 4; ++times) {
            if (exponent != times) continue;
            auto const product = [&](value const& x) {
                value made = x;
                for (int at = 1; at < times; ++at) made = made * x;
                return made;
            };
            return void(of.compute(with.loops, once(with[0], product), 0));
        }
        if (exponent == 0.5) return void(of.compute(with.loops, root_of(with[0]), 0));
    }
    view const made = power_inside(of, with.loops, with[0], with[1]);
    value const result = imported::at(made, with.loops);
    if (is_float(type)) return void(of.compute(with.loops, convert(result, type), 0));
    // A result so near to a whole number is that number. What an int64 cannot hold has no meaning.
    value const whole = once(result * like(result, 1 + 1e-12), [&](value const& p) {
        value const fits = magnitude(p) < like(p, 9.2e18);
        return convert(convert(choose(fits, p, like(p, 0)), scalar_type::int64), type);
    });
    of.compute(with.loops, whole, 0);
}
inline void arc_sine(lowering& of) {
    finish_each(of, arc_sines_of_double(of, of.operand(0)), [](value const& x) { return convert(x, scalar_type::float32); });
}
inline void arc_cosine(lowering& of) {
    finish_each(of, arc_sines_of_double(of, of.operand(0)),
                [](value const& x) { return convert(like(x, 1.5707963267948966) - x, scalar_type::float32); });
}
/// Inverses of hyperbolic functions: logarithms of what a first stage computes in double.
template <class Inner, class Outer>
void logarithm_of_each(lowering& of, Inner const& inner, Outer const& outer) {
    view const x = of.operand(0);
    need_float32(none_of(x.type()));
    view const made = of.each_inside(x, [&](value const& one) { return once(in_double(one), inner); });
    space const loops = loops_over({x, made}, x.shape());
    of.compute(
        loops,
        convert(once(logarithm(imported::at(made, loops)), [&](value const& l) { return outer(l, imported::at(x, loops)); }), x.type()), 0);
}
inline void area_sine(lowering& of) {
    logarithm_of_each(
        of, [](value const& v) { return once(magnitude(v), [](value const& m) { return m + root_of(m * m + like(m, 1)); }); },
        [](value const& l, value const& x) { return choose(x < like(x, 0), negated(l), l); });
}
inline void area_cosine(lowering& of) {
    logarithm_of_each(
        of, [](value const& v) { return v + root_of(v * v - like(v, 1)); }, [](value const& l, value const&) { return l; });
}
inline void area_tangent(lowering& of) {
    logarithm_of_each(
        of, [](value const& v) { return (like(v, 1) + v) / (like(v, 1) - v); },
        [](value const& l, value const&) { return l * like(l, 0.5); });
}
/// The remainder of floats, towards 0 and exact: quotients are taken away 29 bits at a time, the highest first, in a kernel each.
inline void float_remainder(lowering& of, common_operands const& with) {
    need_float32(with[0]), need_float32(with[1]);
    view rest = of.compute(with.loops, magnitude(in_double(with[0])));
    for (int bits = 261; bits >= 0; bits -= 29) {
        value const left = imported::at(rest, with.loops), size = magnitude(in_double(with[1]));
        rest = of.compute(with.loops, once(left, [&](value const& r) {
                              return once(size * like(size, std::ldexp(1.0, bits)), [&](value const& part) {
                                  return once(r / part, [&](value const& quotient) {
                                      value const in_range = quotient < like(r, 0x1p31);  // what is not comes of infinity, or of nothing
                                      value const whole = in_double(convert(choose(in_range, quotient, like(r, 0)), scalar_type::int64));
                                      // Of an infinite part nothing is taken away.
                                      value const less = r - choose(equal(whole, like(r, 0)), like(r, 0), whole * part);
                                      return once(less, [&](value const& few) { return choose(few < like(r, 0), few + part, few); });
                                  });
                              });
                          }));
    }
    value const left = in_double(with[0]), size = magnitude(in_double(with[1])), r = imported::at(rest, with.loops);
    value const is_none = binary(operation::logical_or, equal(size, like(size, 0)), differ(left - left, like(left, 0)));
    value const made = choose(is_none, no_number(left), choose(left < like(left, 0), negated(r), r));
    of.compute(with.loops, convert(choose(equal(size, size), made, size), scalar_type::float32), 0);
}
/// Remainders: of the sign of the dividend with `fmod`, or else of the divisor.
inline void remainder(lowering& of) {
    bool const as_dividend = integer(of, "fmod", 0) != 0;
    auto const with = operands_of(of, 2);
    if (is_float(with.all[0].type())) {
        if (!as_dividend) throw not_imported("a remainder of floats with the sign of the divisor");
        return float_remainder(of, with);
    }
    elementwise(of, 2, [&](auto const& x) {
        // The language's is never negative.
        value const rest = binary(operation::modulo, x[0], x[1]);
        if (is_unsigned(x[0].type())) return rest;
        value const zero = number(std::int64_t{0}, x[0].type());
        return once(rest, [&](value const& r) {
            value const negative = x[1] < zero, moved = differ(r, zero);
            if (!as_dividend) return choose(both(negative, moved), r + x[1], r);
            return choose(both(x[0] < zero, moved), choose(negative, r + x[1], r - x[1]), r);
        });
    });
}
inline void shift_bits(lowering& of) {
    std::string const direction = word(of, "direction", "");
    if (direction != "LEFT" && direction != "RIGHT") throw not_imported("direction " + network::shown(direction));
    elementwise(of, 2, [&](auto const& x) {
        scalar_type const type = x[0].type();
        if (!is_unsigned(type) || x[1].type() != type) throw not_imported(std::string("of elements of ") + name_of(type));
        std::int64_t const bits = 8 * bytes_of(type);
        value const limit = number(bits, type), fits = x[1] < limit, amount = choose(fits, x[1], number(bits - 1, type));
        value const moved = binary(direction == "LEFT" ? operation::shift_left : operation::shift_right, x[0], amount);
        return choose(fits, moved, number(std::int64_t{0}, type));
    });
}
inline void convert_like(lowering& of) {
    if (!of.has(1)) throw not_imported("operand 1 is missing");
    scalar_type const to = of.operand(1).type();
    auto const declared = of.from.tensors[static_cast<std::size_t>(of.node->inputs[1])].type;
    if (declared == network::element_type::unknown && to == scalar_type::uint8) throw not_imported("to a byte, which may be a boolean");
    if (network::is_half(declared)) throw not_imported("to " + std::string(network::name_of(declared)) + ", which a Cast says");
    bool const to_boolean = declared == network::element_type::boolean;
    elementwise(of, 1, [&](auto const& x) { return to_boolean ? truth(is_true(x[0])) : convert(x[0], to); });
}
inline value is_no_number(value const& x) { return need_float(x), truth(differ(x, x)); }
inline void is_infinite(lowering& of) {
    bool const above = integer(of, "detect_positive", 1) != 0, below = integer(of, "detect_negative", 1) != 0;
    elementwise(of, 1, [&](auto const& x) {
        need_float(x[0]);
        value const limit = like(x[0], infinite);
        value const is_above = above ? equal(x[0], limit) : differ(limit, limit),
                    is_below = below ? equal(x[0], negated(limit)) : differ(limit, limit);
        return truth(binary(operation::logical_or, is_above, is_below));
    });
}
inline void shrink(lowering& of) {
    double const bias = static_cast<double>(real(of, "bias", 0)), limit = static_cast<double>(real(of, "lambd", 0.5f));
    elementwise(of, 1, [&](auto const& x) {
        value const zero = like(x[0], 0), by = like(x[0], bias);
        return choose(x[0] < like(x[0], -limit), x[0] + by, choose(like(x[0], limit) < x[0], x[0] - by, zero));
    });
}
/// log(1 + e^x), without losing the digits of a small power: log(1 + p) = 2 artanh(p / (2 + p)).
inline value soft_plus(value const& of) {
    need_float32(of);
    return once(of, [](value const& x) {
        value const tail = once(exponential(negated(magnitude(x))), [](value const& p) {
            return once(p / (like(p, 2) + p), [](value const& s) {
                std::vector<double> series;
                for (int at = 15; at > 0; at -= 2) series.push_back(2.0 / at);
                return s * once(s * s, [&](value const& q) { return polynomial(q, series); });
            });
        });
        return larger_of(like(x, 0), x) + tail;
    });
}
inline void mish(lowering& of) {
    view const x = of.operand(0), inner = of.each_inside(x, soft_plus);
    space const loops = loops_over({x, inner}, x.shape());
    of.compute(loops, imported::at(x, loops) * hyperbolic_tangent(imported::at(inner, loops)), 0);
}
inline void swish(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 1));
    elementwise(of, 1, [&](auto const& x) { return x[0] * logistic(alpha == 1 ? x[0] : x[0] * like(x[0], alpha)); });
}
/// x times the share of a normal distribution below x: by its integral, or by an approximation.
inline value gelu_of(value const& of, bool by_tangent) {
    return once(of, [&](value const& x) {
        value const inner =
            by_tangent ? (x + x * x * x * like(x, 0.044715)) * like(x, 0.79788456080286536) : x * like(x, 0.70710678118654752);
        value const around = once(inner, [&](value const& i) { return by_tangent ? hyperbolic_tangent(i) : error_function(i); });
        return x * like(x, 0.5) * (like(x, 1) + around);
    });
}
inline void gelu(lowering& of) {
    std::string const how = word(of, "approximate", "none");
    if (how != "none" && how != "tanh") throw not_imported("approximation " + network::shown(how));
    elementwise(of, 1, [&](auto const& x) { return gelu_of(x[0], how == "tanh"); });
}

}  // namespace tilewright::imported::detail
