#pragma once
#include <tilewright/import/copies.hpp>
#include <tilewright/import/elementwise.hpp>
#include <tilewright/import/quantised.hpp>

// Operators of TensorFlow Lite that compute each element by itself.
namespace tilewright::imported::detail::tflite {

/// An integer without its zero point, as an int32.
inline value without_zero_point(value const& x, quantisation const& with) {
    value const wide = convert(x, scalar_type::int32);
    return with.zero_point == 0 ? wide : wide - in32(with.zero_point);
}

/// Both operands are shifted to the left by 20 bits and brought to twice the larger scale; their sum is brought to that of the result.
template <operation Op>
void add_or_subtract(lowering& of) {
    if (computes_floats(of, {0, 1})) return elementwise(of, 2, [&](auto const& x) { return activated(of, binary(Op, x[0], x[1])); });
    quantisation const in[] = {operand_quantisation(of, 0), operand_quantisation(of, 1)}, out = result_quantisation(of);
    double const twice = 2 * static_cast<double>(std::max(in[0].scale, in[1].scale)), left = 1 << 20;
    auto const scale_of = [&](std::size_t at) { return fixed_scale_of(static_cast<double>(in[at].scale) / twice); };
    fixed_scale const by = fixed_scale_of(twice / (left * static_cast<double>(out.scale)));
    bounds const within = result_bounds(of);
    elementwise(of, 2, [&](auto const& x) {
        auto const scaled = [&](std::size_t at) { return rescaled(without_zero_point(x[at], in[at]) * in32(1 << 20), scale_of(at)); };
        return with_zero_point(rescaled(binary(Op, scaled(0), scaled(1)), by), out.zero_point, within);
    });
    if (Op != operation::add || within.low == within.high) return;
    adding numbers{
        .multiplier = by.multiplier, .shift = -by.shift, .low = within.low - out.zero_point, .high = within.high - out.zero_point};
    numbers.zero_point = out.zero_point;
    for (std::size_t at = 0; at < 2; ++at) {
        numbers.zero_points[at] = in[at].zero_point;
        numbers.multipliers[at] = scale_of(at).multiplier, numbers.shifts[at] = -scale_of(at).shift;
    }
    of.result.all.back().added = numbers;
}
inline void multiply(lowering& of) {
    if (computes_floats(of, {0, 1})) return elementwise(of, 2, [&](auto const& x) { return activated(of, x[0] * x[1]); });
    quantisation const in[] = {operand_quantisation(of, 0), operand_quantisation(of, 1)}, out = result_quantisation(of);
    // The scale of the product is a float, computed from left to right.
    fixed_scale const by = fixed_scale_of(static_cast<double>(in[0].scale * in[1].scale / out.scale));
    elementwise(of, 2, [&](auto const& x) {
        value const product = without_zero_point(x[0], in[0]) * without_zero_point(x[1], in[1]);
        return with_zero_point(rescaled(product, by), out.zero_point, result_bounds(of));
    });
}
/// RELU and its kin as operators of their own: rescaled by the quotient of the scales, a float.
inline void rectify(lowering& of, char const* activation) {
    if (computes_floats(of, {0})) {
        return elementwise(of, 1, [&](auto const& x) { return activated(activation, x[0]); });
    }
    quantisation const in = operand_quantisation(of, 0), out = result_quantisation(of);
    fixed_scale const by = fixed_scale_of(static_cast<double>(in.scale / out.scale));
    elementwise(of, 1, [&](auto const& x) {
        return with_zero_point(rescaled(without_zero_point(x[0], in), by), out.zero_point,
                               bounds_of(activation, out.scale, out.zero_point));
    });
}
inline void rectify_all(lowering& of) { rectify(of, "RELU"); }
inline void rectify_to_six(lowering& of) { rectify(of, "RELU6"); }
inline void rectify_to_one(lowering& of) { rectify(of, "RELU_N1_TO_1"); }
/// What is not below 0 has a scale of its own, and so has what is.
inline void leak(lowering& of) {
    float const alpha = real(of, "alpha", 0);
    if (computes_floats(of, {0})) {
        return elementwise(
            of, 1, [&](auto const& x) { return choose(x[0] < like(x[0], 0), x[0] * like(x[0], static_cast<double>(alpha)), x[0]); });
    }
    quantisation const in = operand_quantisation(of, 0), out = result_quantisation(of);
    fixed_scale const above = fixed_scale_of(static_cast<double>(in.scale / out.scale)),
                      below = fixed_scale_of(static_cast<double>(in.scale * alpha / out.scale));
    elementwise(of, 1, [&](auto const& x) {
        value const real = without_zero_point(x[0], in);
        return with_zero_point(choose(real < in32(0), rescaled(real, below), rescaled(real, above)), out.zero_point, {});
    });
}
/// Likewise, where what is below 0 has factors of int8.
inline void leak_by_factors(lowering& of) {
    if (computes_floats(of, {0, 1}))
        return elementwise(of, 2, [](auto const& x) { return choose(x[0] < like(x[0], 0), x[0] * x[1], x[0]); });
    quantisation const in = operand_quantisation(of, 0), factors = operand_quantisation(of, 1), out = result_quantisation(of);
    fixed_scale const above = fixed_scale_of(static_cast<double>(in.scale / out.scale)),
                      below = fixed_scale_of(static_cast<double>(in.scale * factors.scale / out.scale));
    elementwise(of, 2, [&](auto const& x) {
        value const real = without_zero_point(x[0], in), product = real * without_zero_point(x[1], factors);
        return with_zero_point(choose(real < in32(0), rescaled(product, below), rescaled(real, above)), out.zero_point, {});
    });
}

/// The larger or the smaller of two elements.
template <bool Larger>
void larger_or_smaller(lowering& of) {
    if (!computes_floats(of, {0, 1})) need_same_quantisation(of, 0), need_same_quantisation(of, 1);
    elementwise(of, 2, [](auto const& x) { return Larger ? larger_of(x[0], x[1]) : smaller_of(x[0], x[1]); });
}

/// What a table has for each integer from `lowest` on; 0 beside it.
inline value by_table(lowering& of, value const& x, std::int64_t lowest, std::vector<std::int64_t> const& table, scalar_type type) {
    value const at = convert(x, scalar_type::int32);
    view const all = of.constant(known_integers(type, table, {static_cast<std::int64_t>(table.size())}));
    return padded_at(all, {lowest == 0 ? at : at - in32(lowest)}, none_of(type));
}
/// HARD_SWISH of each int8: x by a ramp that is 0 up to -3 and 1 from 3 on, in fixed point of 16 bits.
inline std::vector<std::int64_t> hard_swish_table(quantisation const& in, quantisation const& out) {
    auto const narrow = [](float real) {
        fixed_scale const by = fixed_scale_of(static_cast<double>(real));
        return std::pair(std::min((std::int64_t{by.multiplier} + (1 << 15)) >> 16, std::int64_t{32767}), by.shift);
    };
    auto const within = [](std::int64_t x) { return std::clamp<std::int64_t>(x, -32768, 32767); };
    auto const high = [&](std::int64_t a, std::int64_t b) {
        std::int64_t const product = a * b;
        return within((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
    };
    auto const to_right = [](std::int64_t x, int by) {
        std::int64_t const mask = (std::int64_t{1} << by) - 1;
        return (x >> by) + ((x & mask) > (mask >> 1) + (x < 0 ? 1 : 0) ? 1 : 0);
    };
    float const fine = 1.0f / 128 * in.scale;
    auto const [output, shift] = narrow(fine / out.scale);
    auto const [ramp, ramp_shift] = narrow(fine / (3.0f / 32768));
    if (shift > 0) throw not_imported("scales whose quotient is " + std::to_string(in.scale / out.scale));
    std::vector<std::int64_t> table;
    for (std::int64_t q = -128; q < 128; ++q) {
        std::int64_t const x = (q - in.zero_point) * 128;
        // A shift to the left saturates: all but its last bit come before the product.
        std::int64_t part = ramp_shift > 0 ? within(x * (std::int64_t{1} << std::min(ramp_shift - 1, 31))) : x;
        part = high(part, ramp);
        part = ramp_shift > 0 ? within(2 * part) : to_right(part, -ramp_shift);
        std::int64_t const made = within(((part + (1 << 15)) >> 1) * high(x, output) / (1 << 15));
        table.push_back(std::clamp<std::int64_t>(to_right(made, -shift) + out.zero_point, -128, 127));
    }
    return table;
}
inline void swish_hard(lowering& of) {
    if (computes_floats(of, {0})) {
        return elementwise(of, 1, [](auto const& x) {
            value const ramp = smaller_of(larger_of(x[0] + like(x[0], 3), like(x[0], 0)), like(x[0], 6));
            return x[0] * ramp / like(x[0], 6);
        });
    }
    auto const table = hard_swish_table(operand_quantisation(of, 0), result_quantisation(of));
    elementwise(of, 1, [&](auto const& x) { return by_table(of, x[0], -128, table, scalar_type::int8); });
}

/// A function of floats as a table of int8.
///
/// @param scale, zero_point  those that the format says that the result has
template <class Function>
void function_by_table(lowering& of, double scale, std::int64_t zero_point, Function const& function) {
    quantisation const in = operand_quantisation(of, 0);
    if (!(result_quantisation(of) == quantisation{static_cast<float>(scale), zero_point}))
        throw not_imported("a result whose scale is not 1/" + std::to_string(static_cast<int>(1 / scale)) + " or whose zero point is not " +
                           std::to_string(zero_point));
    std::vector<std::int64_t> table;
    for (std::int64_t q = -128; q < 128; ++q) {
        float const made = function(in.scale * static_cast<float>(q - in.zero_point)) * static_cast<float>(1 / scale);
        table.push_back(std::clamp<std::int64_t>(nearest_away(static_cast<double>(made)) + zero_point, -128, 127));
    }
    elementwise(of, 1, [&](auto const& x) { return by_table(of, x[0], -128, table, scalar_type::int8); });
}
inline void logistic_function(lowering& of) {
    if (computes_floats(of, {0})) return elementwise(of, 1, [](auto const& x) { return logistic(x[0]); });
    function_by_table(of, 1.0 / 256, -128, [](float x) { return 1 / (1 + static_cast<float>(std::exp(-static_cast<double>(x)))); });
}
inline void tangent_function(lowering& of) {
    if (computes_floats(of, {0})) return elementwise(of, 1, [](auto const& x) { return hyperbolic_tangent(x[0]); });
    function_by_table(of, 1.0 / 128, 0, [](float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); });
}

/// A float as the nearest int8; halves go away from 0.
inline value nearest_int8(value const& x, quantisation const& out) {
    value const scaled = x / like(x, static_cast<double>(out.scale));
    auto const limit = [&](std::int64_t of_result) { return like(x, static_cast<double>(of_result - out.zero_point)); };
    // In this order the limits make a number of what is none.
    value const limited = smaller_of(limit(127), larger_of(limit(-128), scaled));
    parameter<float> const v{"v"};
    auto const rounded = tilewright::detail::compute_once(cast<std::int32_t>(v), [&](auto const& whole) {
        auto const rest = v - cast<float>(whole);
        return whole + select(rest >= 0.5f, cast<std::int32_t>(1), 0) - select(rest <= -0.5f, cast<std::int32_t>(1), 0);
    });
    value const whole = imported::apply(rounded, {{"v", limited}});
    return convert(out.zero_point == 0 ? whole : whole + in32(out.zero_point), scalar_type::int8);
}
inline void quantise(lowering& of) {
    network::tensor const &from = operand_tensor(of, 0), &to = result_tensor(of);
    auto const is_integer = [](network::tensor const& one) {
        using enum network::element_type;
        return one.type == int8 || one.type == int16 || one.type == int32;
    };
    if (!(is_float32(from) && is_int8(to)) && !(is_integer(from) && is_integer(to)))
        throw not_imported("from " + type_text(from) + " to " + type_text(to));
    quantisation const out = quantisation_of(to);
    if (is_float32(from)) return elementwise(of, 1, [&](auto const& x) { return nearest_int8(x[0], out); });
    quantisation const in = quantisation_of(from);
    for (auto const& [one, how] : {std::pair(&from, &in), {&to, &out}}) {
        if (one->type == network::element_type::int32 && how->zero_point != 0) throw not_imported("an int32 whose zero point is not 0");
    }
    fixed_scale const by = fixed_scale_of(static_cast<double>(in.scale) / static_cast<double>(out.scale));
    scalar_type const type = type_of(to.type);
    elementwise(of, 1, [&](auto const& x) {
        return with_zero_point(rescaled(without_zero_point(x[0], in), by), out.zero_point, {lowest_of(type), highest_of(type)}, type);
    });
}
inline void dequantise(lowering& of) {
    network::tensor const &from = operand_tensor(of, 0), &to = result_tensor(of);
    if (is_float32(to) && from.type == network::element_type::float16) return of.give_known(0, of.known(0));
    if (!is_float32(to) || !is_int8(from)) throw not_imported("from " + type_text(from) + " to " + type_text(to));
    quantisation const in = quantisation_of(from);
    elementwise(of, 1, [&](auto const& x) {
        return convert(without_zero_point(x[0], in), scalar_type::float32) * number(static_cast<double>(in.scale), scalar_type::float32);
    });
}

}  // namespace tilewright::imported::detail::tflite
