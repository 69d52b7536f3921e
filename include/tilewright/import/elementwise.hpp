#pragma once
#include <tilewright/import/values.hpp>
#include <utility>
#include <vector>

// Operators that compute each element by itself. Operands are repeated to a common shape.
namespace tilewright::imported::detail {

/// Operands that are repeated to a common shape, and loops over it.
struct common_operands {
    std::vector<view> all;
    space loops;

    value operator[](std::size_t operand) const { return imported::at(all[operand], loops); }
};
/// Before version 7, the dimensions of the second operand begin at `axis` of the first.
inline view aligned(lowering const& of, view what, int rank) {
    auto const axis = of.node->version < 7 ? setting<std::int64_t>(of, "axis") : std::nullopt;
    if (!axis || integer(of, "broadcast", 0) == 0) return what;
    int const first = dimension_of(*axis, rank);
    if (first + what.rank() > rank) throw not_imported("dimensions from " + std::to_string(first) + " on, which are not there");
    what.dimensions.resize(static_cast<std::size_t>(rank - first));
    return what;
}
/// These views, repeated to a common shape, and loops over it.
inline common_operands repeated_together(lowering& of, std::vector<view> operands) {
    common_operands made{std::move(operands), {}};
    shape whole;
    for (view const& one : made.all) {
        auto const common = common_shape(whole, one.shape());
        if (!common) throw not_imported("shapes " + text_of(whole) + " and " + text_of(one.shape()) + " do not fit");
        whole = *common;
    }
    for (view& one : made.all) one = repeated_to(one, whole);
    made.loops = of.loops(made.all, whole);
    return made;
}
inline common_operands operands_of(lowering& of, std::size_t count) {
    if (count == 0) throw not_imported("no operands");
    std::vector<view> operands;
    for (std::size_t at = 0; at < count; ++at) {
        operands.push_back(of.operand(at));
        if (at > 0) operands.back() = aligned(of, operands.back(), operands[0].rank());
    }
    return repeated_together(of, std::move(operands));
}
template <class Make>
void elementwise(lowering& of, std::size_t operands, Make const& make) {
    auto const with = operands_of(of, operands);
    std::vector<value> values;
    for (std::size_t at = 0; at < operands; ++at) values.push_back(with[at]);
    of.compute(with.loops, make(values), 0);
}
template <value (*Of)(value const&)>
void unary(lowering& of) {
    elementwise(of, 1, [](auto const& x) { return Of(x[0]); });
}
template <operation Op>
void two(lowering& of) {
    elementwise(of, 2, [](auto const& x) { return binary(Op, x[0], x[1]); });
}
template <operation Op, bool Swapped = false>
void comparison(lowering& of) {
    elementwise(of, 2, [](auto const& x) { return truth(binary(Op, x[Swapped ? 1 : 0], x[Swapped ? 0 : 1])); });
}
template <operation Op>
void logic(lowering& of) {
    elementwise(of, 2, [](auto const& x) { return truth(binary(Op, is_true(x[0]), is_true(x[1]))); });
}
template <operation Op, bool Mean = false>
void several(lowering& of) {
    elementwise(of, of.node->inputs.size(), [](auto const& x) {
        value whole = x[0];
        for (std::size_t at = 1; at < x.size(); ++at) whole = binary(Op, whole, x[at]);
        return Mean ? whole / number(static_cast<double>(x.size()), whole.type()) : whole;
    });
}
inline void quotient(lowering& of) {
    elementwise(of, 2, [](auto const& x) {
        if (is_float(x[0].type()) || is_unsigned(x[0].type())) return x[0] / x[1];
        // The language rounds so that the remainder is not negative; ONNX truncates.
        return once(x[0], [&](value const& a) {
            return once(x[1], [&](value const& b) {
                value const zero = number(std::int64_t{0}, a.type()), one = number(std::int64_t{1}, a.type());
                value const quotient = a / b, rest = binary(operation::modulo, a, b);
                value const up = binary(operation::logical_and, a < zero, binary(operation::not_equal, rest, zero));
                return choose(up, choose(b < zero, quotient - one, quotient + one), quotient);
            });
        });
    });
}
inline value relu_of(value const& x) { return larger_of(x, number(std::int64_t{0}, x.type())); }
inline value reciprocal(value const& x) { return need_float(x), like(x, 1) / x; }
inline value not_of(value const& x) { return truth(equal(x, number(std::int64_t{0}, x.type()))); }
inline value sign_of(value const& x) {
    value const zero = number(std::int64_t{0}, x.type()), one = number(std::int64_t{1}, x.type());
    value const not_less = choose(zero < x, one, zero);
    return is_unsigned(x.type()) ? not_less : choose(x < zero, number(std::int64_t{-1}, x.type()), not_less);
}
inline value ceiling(value const& x) { return negated(floor_of(negated(x))); }
inline value softsign(value const& x) { return need_float(x), x / (like(x, 1) + magnitude(x)); }
inline value hard_swish(value const& x) {
    need_float(x);
    return x * larger_of(like(x, 0), smaller_of(like(x, 1), x * like(x, 1.0 / 6) + like(x, 0.5)));
}
inline void hard_sigmoid(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 0.2f)), beta = static_cast<double>(real(of, "beta", 0.5f));
    elementwise(of, 1, [&](auto const& x) {
        need_float(x[0]);
        return larger_of(like(x[0], 0), smaller_of(like(x[0], 1), x[0] * like(x[0], alpha) + like(x[0], beta)));
    });
}
inline void leaky(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 0.01f));
    elementwise(of, 1, [&](auto const& x) { return need_float(x[0]), choose(x[0] < like(x[0], 0), x[0] * like(x[0], alpha), x[0]); });
}
inline void parametric(lowering& of) {
    view const x = of.operand(0);
    view slopes = of.operand(1);
    // Before version 7, slopes are those of channels.
    if (of.node->version < 7 && slopes.rank() == 1) slopes.dimensions.resize(static_cast<std::size_t>(std::max(1, x.rank() - 1)));
    std::vector<view> all{x, repeated_to(slopes, x.shape())};
    space const loops = of.loops(all, x.shape());
    value const one = imported::at(all[0], loops), slope = imported::at(all[1], loops);
    of.compute(loops, choose(one < none_of(one.type()), one * slope, one), 0);
}
inline void thresholded(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 1.0f));
    elementwise(of, 1, [&](auto const& x) { return need_float(x[0]), choose(like(x[0], alpha) < x[0], x[0], like(x[0], 0)); });
}
/// x above 0, gamma * alpha * (exp(x / divisor) - 1) below.
inline void exponential_unit(lowering& of, float alpha, float gamma, float divisor) {
    elementwise(of, 1, [&](auto const& x) {
        value const below = (exponential(x[0] / like(x[0], static_cast<double>(divisor))) - like(x[0], 1)) *
                            like(x[0], static_cast<double>(alpha) * static_cast<double>(gamma));
        return choose(like(x[0], 0) < x[0], x[0] * like(x[0], static_cast<double>(gamma)), below);
    });
}
inline void elu(lowering& of) { exponential_unit(of, real(of, "alpha", 1), 1, 1); }
inline void selu(lowering& of) {
    bool const rounded_default = of.node->version < 6;
    exponential_unit(of, real(of, "alpha", rounded_default ? 1.6732f : 1.67326319f),
                     real(of, "gamma", rounded_default ? 1.0507f : 1.05070102f), 1);
}
inline void celu(lowering& of) { exponential_unit(of, real(of, "alpha", 1), 1, real(of, "alpha", 1)); }
inline void clip(lowering& of) {
    elementwise(of, 1, [&](auto const& x) {
        value limited = x[0];
        auto const limit = [&](std::size_t operand, char const* name, operation op) {
            if (of.has(operand)) limited = binary(op, limited, known_number(of, operand, limited.type()));
            else if (of.node->find(name)) limited = binary(op, limited, number(static_cast<double>(real(of, name, 0)), limited.type()));
        };
        limit(1, "min", operation::maximum);
        limit(2, "max", operation::minimum);
        return limited;
    });
}
/// A constant of float32 whose elements are rounded to 16 bits.
inline known_tensor rounded(known_tensor of, scalar_type half) {
    std::vector<float> const values = network::values_of<float>(of.bytes);
    of.bytes.clear();
    for (float const one : values)
        network::append_bytes(of.bytes, std::bit_cast<std::uint32_t>(value_of_half(half, half_bits_of(half, one))), 4);
    return of;
}
/// A float of 16 bits is a float32, and is rounded.
inline void convert_to(lowering& of) {
    std::int64_t const asked = integer(of, "to", 0);
    scalar_type const to = type_of_number(asked), half = asked == number_of_float16    ? scalar_type::float16
                                                         : asked == number_of_bfloat16 ? scalar_type::bfloat16
                                                                                       : scalar_type::literal;
    // Weights stay constants.
    if (to == scalar_type::float32 && of.is_constant(0)) {
        known_tensor known = of.known(0);
        if (known.what.type == to) return of.give_known(0, is_half(half) ? rounded(std::move(known), half) : std::move(known));
    }
    elementwise(of, 1, [&](auto const& x) {
        value const made = to == scalar_type::boolean ? truth(is_true(x[0])) : convert(x[0], to);
        return is_half(half) ? convert(convert(made, half), to) : made;
    });
}
inline void where(lowering& of) {
    elementwise(of, 3, [](auto const& x) { return choose(is_true(x[0]), x[1], x[2]); });
}
}  // namespace tilewright::imported::detail
