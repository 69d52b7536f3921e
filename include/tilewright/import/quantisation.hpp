#pragma once
#include <array>
#include <cmath>
#include <tilewright/import/products.hpp>
#include <tilewright/import/rescaling.hpp>
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
/// A float as the nearest integer that the type of the zero point has, halves as the even one; with `relu`, none below the zero point.
inline value quantised_value(value const& scaled, value const& zero, bool relu = false) {
    scalar_type const to = zero.type();
    need_byte(to);
    auto const real = [](std::int64_t of) { return number(static_cast<double>(of), scalar_type::float32); };
    value const zero_as_float = convert(zero, scalar_type::float32);
    value const least = relu ? real(0) : real(lowest_of(to)) - zero_as_float, most = real(highest_of(to)) - zero_as_float;
    // In this order the limits make a number of what is none.
    value const limited_to = smaller_of(most, larger_of(least, scaled));
    parameter<float> const x{"x"};
    value const nearest = imported::apply(nearest_of_few(x), {{"x", limited_to}});
    return convert(convert(nearest, scalar_type::int32) + convert(zero, scalar_type::int32), to);
}
inline void quantise(lowering& of) {
    view const x = of.operand(0);
    std::int64_t const asked = integer(of, "output_dtype", 0);
    scalar_type const wanted = asked == 0 ? scalar_type::uint8 : type_of_number(asked);
    scalar_type const to = of.has(2) ? of.operand(2).type() : wanted;
    if (asked != 0 && to != wanted)
        throw not_imported(std::string("output_dtype is ") + name_of(wanted) + ", and the zero point is " + name_of(to));
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
/// Bytes, and their scale and zero point: one element each.
struct bytes_of_range {
    view elements, scale, zero;
};
/// Floats as bytes with the scale that their range needs, which holds 0.
///
/// @param as_results  whether these are the results of the node, or what other kernels read
inline bytes_of_range bytes_by_range(lowering& of, view const& x, bool as_results) {
    auto const put = [&](space const& loops, value const& what, std::size_t output) {
        return as_results ? of.compute(loops, what, output) : of.compute(loops, what);
    };
    need_float32(none_of(x.type()));
    auto const limit = [&](operation op, operation both) {
        space loops = loops_over({x}, x.shape());
        std::vector<value> axes;
        for (auto const& one : loops.axes) axes.insert(axes.end(), one.begin(), one.end());
        view const found = of.compute(space{}, over(op, axes, imported::at(x, loops)));
        return binary(both, imported::at(found, space{}), number(std::int64_t{0}, scalar_type::float32));
    };
    value const low = limit(operation::reduce_minimum, operation::minimum), high = limit(operation::reduce_maximum, operation::maximum);
    view const scale = put(space{}, (high - low) / number(255.0, scalar_type::float32), 1);
    value const step = imported::at(scale, space{}), none = number(std::int64_t{0}, scalar_type::float32);
    // Elements that are all 0 have the scale 0.
    auto const scaled = [&](value const& one) { return choose(equal(step, none), none, one / step); };
    view const zero = put(space{}, quantised_value(scaled(negated(low)), number(std::int64_t{0}, scalar_type::uint8)), 2);
    space const loops = loops_over({x}, x.shape());
    return {put(loops, quantised_value(scaled(imported::at(x, loops)), scalar_of(zero)), 0), scale, zero};
}
inline void quantise_dynamically(lowering& of) { bytes_by_range(of, of.operand(0), true); }
/// An integer minus the zero point that is an operand, or minus nothing.
inline value minus_zero(value const& x, std::optional<value> const& zero) {
    value const wide = convert(x, scalar_type::int32);
    return zero ? wide - convert(*zero, scalar_type::int32) : wide;
}
/// What sums of products start from where the zero point of x is a part of it, so that x is read as it is: for each channel its bias
/// (operand 8), less what the zero point adds to each product. Nothing where x (operands 0 and 2) or the weights (3 and 5) are of another
/// type than int8, weights are no constants or have a zero point, or sums could leave int32.
inline std::optional<std::vector<std::int64_t>> folded_zero_point(lowering& of, std::size_t channel_axis) {
    bool const bytes = of.operand(0).type() == scalar_type::int8 && of.operand(3).type() == scalar_type::int8;
    if (!bytes || !of.is_constant(2) || !of.is_constant(3) || !of.is_constant(5) || (of.has(8) && !of.is_constant(8))) return std::nullopt;
    for (std::int64_t const one : of.known_integers(5)) {
        if (one != 0) return std::nullopt;
    }
    known_tensor const weights = of.known(3);
    if (weights.what.extents.size() <= channel_axis) return std::nullopt;
    std::int64_t const zero = known_integer(of, 2);
    std::vector<std::int64_t> made(static_cast<std::size_t>(weights.what.extents[channel_axis]), 0);
    if (of.has(8)) {
        auto const biases = of.known_integers(8);
        if (biases.size() != made.size()) return std::nullopt;
        made = biases;
    }
    std::vector<std::int64_t> reach(made.size(), 0);
    each_along(weights.what.extents, channel_axis, lowering::integers_of(weights), [&](std::size_t channel, std::int64_t weight) {
        made[channel] -= zero * weight;
        reach[channel] += 128 * std::abs(weight);
    });
    for (std::size_t channel = 0; channel < made.size(); ++channel) {
        if (std::abs(made[channel]) + reach[channel] > highest_of(scalar_type::int32)) return std::nullopt;
    }
    return made;
}
/// A sum of products as a quantised element: operands `scales` are the scales of both factors and of the result, which has `zero`.
///
/// @param element  makes the element of such an operand
template <class Element>
value requantised(value const& sum, std::array<std::size_t, 3> const& scales, std::size_t zero, bool relu, Element const& element) {
    // The product of the scales first, as the reference has it.
    value const scale = element(scales[0]) * element(scales[1]) / element(scales[2]);
    return quantised_value(convert(sum, scalar_type::float32) * scale, element(zero), relu);
}
/// What a node of products makes of its sums, without the channel, where that is known: operands 1, 4 and 6 are the scales of both factors
/// and of the result, which has the zero point 7. Nothing where they are no constants or no usual numbers, or where the result is no int8.
inline std::optional<rescaling> known_scaling_of(lowering& of, bool relu) {
    if (of.operand(7).type() != scalar_type::int8) return std::nullopt;
    for (std::size_t const operand : {1u, 4u, 6u, 7u}) {
        bool const fits = of.is_constant(operand) && (operand == 7 || of.operand(operand).type() == scalar_type::float32);
        if (!fits || (operand != 4 && of.operand(operand).elements() != 1)) return std::nullopt;
    }
    auto const floats = [&](std::size_t operand) { return network::values_of<float>(of.known(operand).bytes); };
    std::int64_t const zero = known_integer(of, 7);
    rescaling made{.low = relu ? 0 : lowest_of(scalar_type::int8) - zero,
                   .high = highest_of(scalar_type::int8) - zero,
                   .zero_point = zero,
                   .scales = floats(4)};
    float const of_x = floats(1)[0], of_result = floats(6)[0];
    for (float& one : made.scales) {
        one = of_x * one / of_result;  // in this order, as `requantised` has it
        if (!std::isnormal(one) || one < 0) return std::nullopt;
    }
    return made;
}
/// The kernel of sums of products of int8 that are scaled by known numbers, in a form that an instruction can have.
///
/// @param channel  the index of the result's channel
inline void scale_by_known(lowering& of, space const& loops, value const& sums, rescaling const& by, value const& channel) {
    auto const real = [](std::int64_t whole) { return number(static_cast<double>(whole), scalar_type::float32); };
    bool const is_one = std::all_of(by.scales.begin(), by.scales.end(), [&](float one) { return one == by.scales[0]; });
    value const scale = is_one ? number(static_cast<double>(by.scales[0]), scalar_type::float32)
                               : imported::at(of.constant(known_float32(by.scales)), {channel});
    parameter<std::int32_t> const s{"s"}, z{"z"};
    parameter<float> const m{"m"}, l{"l"}, u{"u"};
    of.compute(loops, sums, 0, [&](value const& all) {
        return imported::apply(
            scaled_bytes(s, m, l, u, z),
            {{"s", all}, {"m", scale}, {"l", real(by.low)}, {"u", real(by.high)}, {"z", number(by.zero_point, scalar_type::int32)}});
    });
    of.note_rescaling(channel, by);
}
/// A product of matrices; b may have a scale and a zero point for each column. What quantised_pairs.hpp makes of Gemm may have `transB`,
/// and a bias as operand 8.
inline void product_of_quantised(lowering& of) {
    for (std::size_t const operand : {1u, 2u, 6u, 7u}) {
        if (of.operand(operand).elements() != 1) throw not_imported("a scale or a zero point for each row");
    }
    bool const turned = integer(of, "transB", 0) != 0, relu = integer(of, "relu", 0) != 0;
    view b = of.operand(3);
    if (turned) b = transposed(b, {1, 0});
    auto const with = operands_of_product(of, of.operand(0), b);
    shape whole = with.a.shape();
    whole.back() = with.b.shape().back();
    auto const in_columns = [&](view const& list) {
        if (list.shape() != shape{whole.back()} || with.squeezed_b) throw not_imported("a scale or a bias of " + text_of(list.shape()));
        return imported::at(repeated_to(of.indexable(list), whole), with.loops);
    };
    auto const folded = b.rank() == 2 && !with.squeezed_b ? folded_zero_point(of, turned ? 0 : 1) : std::nullopt;
    auto const element_of = [&](std::size_t operand) {
        view const one = of.operand(operand);
        return one.elements() != 1 ? in_columns(one) : scalar_of(one);
    };
    auto const zero_of = [&](std::size_t operand) {
        return [&, operand, plain = folded.has_value()](value const& x) {
            return minus_zero(x, plain ? std::nullopt : std::optional(element_of(operand)));
        };
    };
    value sum = product_at(with.a, with.b, with.loops, scalar_type::int32, zero_of(2), zero_of(5));
    std::optional<view> const start = folded ? list_of_channels(of, *folded) : of.has(8) ? std::optional(of.operand(8)) : std::nullopt;
    if (start) sum = in_columns(*start) + sum;
    space const loops = loops_of_result(with);
    auto const scaling = folded ? known_scaling_of(of, relu) : std::nullopt;
    bool const fits = scaling && (scaling->scales.size() == 1 || static_cast<std::int64_t>(scaling->scales.size()) == whole.back());
    if (fits) return scale_by_known(of, loops, sum, *scaling, loops.index(static_cast<int>(loops.axes.size()) - 1));
    of.compute(loops, sum, 0, [&](value const& all) { return requantised(all, {1, 4, 6}, 7, relu, element_of); });
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
    auto const folded = folded_zero_point(of, 0);
    std::optional<view> const bias = folded ? list_of_channels(of, *folded) : of.has(8) ? std::optional(of.operand(8)) : std::nullopt;
    std::optional<value> const own = folded ? std::nullopt : std::optional(number(zero, scalar_type::int32));
    auto const made = convolution(
        of, x, weights, bias, scalar_type::int32, number(zero, x.type()), [&](value const& one) { return minus_zero(one, own); },
        [&](value const& one) { return minus_zero(one, folded ? std::nullopt : weight_zero); });
    view const scales = of.indexable(of.operand(4));
    if (scales.elements() != 1 && scales.shape() != shape{weights.extent(0)})
        throw not_imported("scales of shape " + text_of(scales.shape()));
    bool const relu = integer(of, "relu", 0) != 0;
    if (auto const scaling = folded ? known_scaling_of(of, relu) : std::nullopt)
        return scale_by_known(of, made.loops, made.sum, *scaling, made.loops.index(1));
    of.compute(made.loops, made.sum, 0, [&](value const& sum) {
        return requantised(sum, {1, 4, 6}, 7, relu, [&](std::size_t operand) {
            return operand != 4 || scales.elements() == 1 ? scalar_of(of.operand(operand)) : imported::at(scales, {made.loops.index(1)});
        });
    });
}

/// A sum of two: each with its scale and zero point, as the result has (operands 6 and 7).
inline void add_quantised(lowering& of) {
    auto const real = [&](std::size_t operand, value const& x) {
        value const whole = convert(x, scalar_type::int32) - convert(scalar_of(of.operand(operand + 2)), scalar_type::int32);
        return convert(whole, scalar_type::float32) * scalar_of(of.operand(operand + 1));
    };
    view const a = of.operand(0), b = of.operand(3);
    for (std::size_t const operand : {1u, 2u, 4u, 5u, 6u, 7u}) {
        if (of.operand(operand).elements() != 1) throw not_imported("operand " + std::to_string(operand) + " of several elements");
    }
    auto const whole = common_shape(a.shape(), b.shape());
    if (!whole) throw not_imported("shapes " + text_of(a.shape()) + " and " + text_of(b.shape()) + " do not fit");
    std::vector<view> all{repeated_to(a, *whole), repeated_to(b, *whole)};
    space const loops = of.loops(all, *whole);
    value const sum = real(0, imported::at(all[0], loops)) + real(3, imported::at(all[1], loops));
    of.compute(loops, quantised_value(sum / scalar_of(of.operand(6)), scalar_of(of.operand(7)), integer(of, "relu", 0) != 0), 0);
}

}  // namespace tilewright::imported::detail
