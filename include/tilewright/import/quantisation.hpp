#pragma once
#include <array>
#include <tilewright/import/products.hpp>
#include <tilewright/import/windows.hpp>

// Quantised elements: integers q that stand for the reals scale * (q - zero point).
namespace tilewright::imported::detail {

/// A list with one element for all, or one for each index along a dimension, as a shape with `rank` dimensions.
inline view along_dimension(view one, int axis, int rank) {
    if (one.elements() == 1) one.dimensions.clear();
    for (int at = axis + 1; one.rank() > 0 && at < rank; ++at) one.dimensions.push_back(factors{});
    return one;
}
/// A kernel of an operand's elements with the scale and the zero point of each: one for all, or one for each index along `axis`.
template <class Make>
void quantised(lowering& of, view const& x, Make const& make, scalar_type zero_type) {
    std::vector<view> all{x};
    for (std::size_t const operand : {1u, 2u}) {
        if (operand == 2 && !of.has(2)) continue;
        view const list = of.operand(operand);
        int const axis = list.elements() == 1 ? 0 : dimension_of(integer(of, "axis", 1), x.rank());
        if (list.elements() != 1 && list.rank() != 1) throw not_imported("scales of shape " + text_of(list.shape()));
        all.push_back(repeated_to(along_dimension(list, axis, x.rank()), x.shape()));
    }
    space const loops = of.loops(all, x.shape());
    value const zero = all.size() > 2 ? imported::at(all[2], loops) : number(std::int64_t{0}, zero_type);
    of.compute(loops, make(imported::at(all[0], loops), imported::at(all[1], loops), zero), 0);
}
inline void need_byte(scalar_type type) {
    if (type != scalar_type::uint8 && type != scalar_type::int8) throw not_imported(std::string("quantised elements of ") + name_of(type));
}
/// A float as the nearest integer that the type of the zero point has.
inline value quantised_value(value const& scaled, value const& zero) {
    scalar_type const to = zero.type();
    need_byte(to);
    value const moved = nearest_even(scaled) + convert(zero, scalar_type::float32);
    // In this order the limits make a number of what is none.
    value const limited_to = smaller_of(number(static_cast<double>(highest_of(to)), scalar_type::float32),
                                        larger_of(number(static_cast<double>(lowest_of(to)), scalar_type::float32), moved));
    return convert(convert(limited_to, scalar_type::int32), to);
}
inline void quantise(lowering& of) {
    view const x = of.operand(0);
    scalar_type const to = of.has(2) ? of.operand(2).type() : scalar_type::uint8;
    bool const whole = x.type() == scalar_type::int32;
    if (!whole) need_float32(none_of(x.type()));
    quantised(
        of, x,
        [&](value const& one, value const& scale, value const& zero) {
            return quantised_value(convert(one, scalar_type::float32) / scale, zero);
        },
        to);
}
inline void dequantise(lowering& of) {
    view const x = of.operand(0);
    quantised(
        of, x,
        [&](value const& one, value const& scale, value const& zero) {
            return convert(convert(one, scalar_type::int32) - convert(zero, scalar_type::int32), scalar_type::float32) * scale;
        },
        x.type());
}
/// Bytes with the scale that their range needs, which holds 0.
inline void quantise_dynamically(lowering& of) {
    view const x = of.operand(0);
    need_float32(none_of(x.type()));
    auto const limit = [&](operation op, operation both) {
        space loops = loops_over({x}, x.shape());
        std::vector<value> axes;
        for (auto const& one : loops.axes) axes.insert(axes.end(), one.begin(), one.end());
        view const found = of.compute(space{}, over(op, axes, imported::at(x, loops)));
        return binary(both, imported::at(found, space{}), number(std::int64_t{0}, scalar_type::float32));
    };
    value const low = limit(operation::reduce_minimum, operation::minimum), high = limit(operation::reduce_maximum, operation::maximum);
    view const scale = of.compute(space{}, (high - low) / number(255.0, scalar_type::float32), 1);
    value const step = imported::at(scale, space{}), none = number(std::int64_t{0}, scalar_type::float32);
    // Elements that are all 0 have the scale 0.
    auto const scaled = [&](value const& one) { return choose(equal(step, none), none, one / step); };
    view const zero = of.compute(space{}, quantised_value(scaled(negated(low)), number(std::int64_t{0}, scalar_type::uint8)), 2);
    space const loops = loops_over({x}, x.shape());
    of.compute(loops, quantised_value(scaled(imported::at(x, loops)), scalar_of(zero)), 0);
}
/// An integer minus the zero point that is an operand, or minus nothing.
inline value minus_zero(value const& x, std::optional<value> const& zero) {
    value const wide = convert(x, scalar_type::int32);
    return zero ? wide - convert(*zero, scalar_type::int32) : wide;
}
/// A sum of products as a quantised element: operands `scales` are the scales of both factors and of the result, which has `zero`.
///
/// @param element  makes the element of such an operand
template <class Element>
value requantised(value const& sum, std::array<std::size_t, 3> const& scales, std::size_t zero, Element const& element) {
    // The product of the scales first, as the reference has it.
    value const scale = element(scales[0]) * element(scales[1]) / element(scales[2]);
    return quantised_value(convert(sum, scalar_type::float32) * scale, element(zero));
}
inline void product_of_quantised(lowering& of) {
    for (std::size_t const operand : {1u, 2u, 4u, 5u, 6u, 7u}) {
        if (of.operand(operand).elements() != 1) throw not_imported("a scale or a zero point for each row or column");
    }
    auto const with = operands_of_product(of, of.operand(0), of.operand(3));
    auto const zero_of = [&](std::size_t operand) {
        return [&of, operand](value const& x) { return minus_zero(x, scalar_of(of.operand(operand))); };
    };
    value const sum = product_at(with.a, with.b, with.loops, scalar_type::int32, zero_of(2), zero_of(5));
    of.compute(loops_of_result(with), sum, 0, [&](value const& whole) {
        return requantised(whole, {1, 4, 6}, 7, [&](std::size_t operand) { return scalar_of(of.operand(operand)); });
    });
}
inline void convolve_quantised(lowering& of) {
    view const x = of.operand(0), weights = of.operand(3);
    need_byte(x.type());
    if (of.operand(1).elements() != 1 || of.operand(2).elements() != 1) throw not_imported("a scale for each channel of the input");
    if (of.operand(6).elements() != 1 || of.operand(7).elements() != 1) throw not_imported("a scale for each channel of the result");
    std::int64_t const zero = known_integer(of, 2);
    bool const several = of.operand(5).elements() != 1;
    std::optional<value> const weight_zero = several ? std::nullopt : std::optional(scalar_of(of.operand(5)));
    if (several) {
        for (std::int64_t const one : of.known_integers(5)) {
            if (one != 0) throw not_imported("a zero point for each channel");
        }
    }
    std::optional<view> const bias = of.has(8) ? std::optional(of.operand(8)) : std::nullopt;
    std::optional<value> const own = number(zero, scalar_type::int32);
    auto const made = convolution(
        of, x, weights, bias, scalar_type::int32, number(zero, x.type()), [&](value const& one) { return minus_zero(one, own); },
        [&](value const& one) { return minus_zero(one, weight_zero); });
    view const scales = of.indexable(of.operand(4));
    if (scales.elements() != 1 && scales.shape() != shape{weights.extent(0)})
        throw not_imported("scales of shape " + text_of(scales.shape()));
    of.compute(made.loops, made.sum, 0, [&](value const& sum) {
        return requantised(sum, {1, 4, 6}, 7, [&](std::size_t operand) {
            return operand != 4 || scales.elements() == 1 ? scalar_of(of.operand(operand)) : imported::at(scales, {made.loops.index(1)});
        });
    });
}

}  // namespace tilewright::imported::detail
