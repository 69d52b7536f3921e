#pragma once
#include <tilewright/reference/onnx_convolutions.hpp>
#include <tilewright/reference/onnx_products.hpp>

// Operators of quantised numbers: q stands for scale * (q - zero point). Scales are multiplied and divided as float32.
namespace tilewright::reference::of_onnx {

/// The nearest integer of a type to a float, halves to the even one, plus the zero point, limited to what the type holds.
inline std::int64_t saturated(float real, std::int64_t zero, element_type type) {
    require(!std::isnan(real), "a quantised NaN");
    struct limits {
        std::int64_t least, most;
    };
    auto const of = type == element_type::int8     ? limits{INT8_MIN, INT8_MAX}
                    : type == element_type::uint8  ? limits{0, UINT8_MAX}
                    : type == element_type::int16  ? limits{INT16_MIN, INT16_MAX}
                    : type == element_type::uint16 ? limits{0, UINT16_MAX}
                                                   : limits{0, 0};
    require(of.most > 0, "quantised numbers of another type");
    double const sum = std::nearbyint(static_cast<double>(real)) + static_cast<double>(zero);
    return static_cast<std::int64_t>(std::clamp(sum, static_cast<double>(of.least), static_cast<double>(of.most)));
}

inline std::vector<float> scales_of(elements const& from) {
    require(from.type == element_type::float32, "scales that are no float32");
    return detail::numbers_of<float>(from);
}

/// For each element of extents, the place of its scale: one for all, or one for each index along an axis.
inline places scale_places(call const& of, shape const& extents, elements const& scale) {
    require(of.integer("block_size", 0) == 0, "scales of blocks");
    shape steps(extents.size(), 0);
    if (count_of(scale.extents) != 1 || scale.extents.size() == 1) {
        require(scale.extents.size() == 1, "scales of another rank");
        if (scale.extents[0] != 1) {
            std::size_t const axis = axis_of(of.integer("axis", 1), extents.size());
            require(scale.extents[0] == extents[axis], "scales of another number of channels");
            steps[axis] = 1;
        }
    }
    return walk<std::size_t>(extents, 0, steps);
}

/// The zero points beside so many scales; without an operand, 0.
inline std::vector<std::int64_t> zeros_of(elements const* from, std::size_t count) {
    if (from == nullptr) return std::vector<std::int64_t>(count, 0);
    auto made = integers_of(*from);
    require(made.size() == count, "as many zero points as scales");
    return made;
}

/// Operands: float32 or int32, scales, zero points. Without zero points the result is uint8, or what `output_dtype` says.
inline elements quantize_linear(call const& of) {
    auto const &in = of.operand(0), &scale = of.operand(1);
    require(in.type == element_type::float32 || in.type == element_type::int32, "elements of another type");
    auto type = of.find(2) != nullptr ? of.operand(2).type : element_type::uint8;
    if (of.integer("output_dtype", 0) != 0) type = type_of(of.integer("output_dtype", 0));
    auto const scales = scales_of(scale);
    auto const zeros = zeros_of(of.find(2), scales.size());
    places const at = scale_places(of, in.extents, scale);
    auto const reals = detail::numbers_of<float>(in);
    std::vector<std::int64_t> made(reals.size());
    for (std::size_t to = 0; to < made.size(); ++to) made[to] = saturated(reals[to] / scales[at[to]], zeros[at[to]], type);
    return of_integers(type, in.extents, made);
}
inline elements dequantize_linear(call const& of) {
    auto const &in = of.operand(0), &scale = of.operand(1);
    auto const scales = scales_of(scale);
    auto const zeros = zeros_of(of.find(2), scales.size());
    places const at = scale_places(of, in.extents, scale);
    auto const numbers = integers_of(in);
    std::vector<float> made(numbers.size());
    for (std::size_t to = 0; to < made.size(); ++to) made[to] = static_cast<float>(numbers[to] - zeros[at[to]]) * scales[at[to]];
    return detail::of_numbers(element_type::float32, in.extents, made);
}

/// To uint8, with a scale and a zero point that cover the elements and 0. @throws not_covered  where all elements are 0
inline results dynamic_quantize_linear(call const& of) {
    auto const& in = of.operand(0);
    require(in.type == element_type::float32, "elements of another type");
    auto const reals = detail::numbers_of<float>(in);
    float least = 0, most = 0;
    for (float const one : reals) least = std::min(least, one), most = std::max(most, one);
    float const scale = (most - least) / 255.0f;
    require(scale > 0, "a scale of 0");
    std::int64_t const zero = saturated(0 - least / scale, 0, element_type::uint8);
    std::vector<std::int64_t> made(reals.size());
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = saturated(reals[at] / scale, zero, element_type::uint8);
    return {of_integers(element_type::uint8, in.extents, made), detail::of_numbers<float>(element_type::float32, {}, {scale}),
            of_integers(element_type::uint8, {}, {zero})};
}

/// Subtracts zero points. @param along  the axis that they count along where there are several
inline elements without_zero(elements const& in, elements const* zero, std::size_t along) {
    require(in.type == element_type::int8 || in.type == element_type::uint8, "quantised numbers of another type");
    auto numbers = integers_of(in);
    if (zero != nullptr) {
        require(zero->type == in.type, "operands of two types");
        auto const zeros = integers_of(*zero);
        shape steps(in.extents.size(), 0);
        if (zeros.size() != 1) {
            require(along < steps.size() && static_cast<std::int64_t>(zeros.size()) == in.extents[along], "zero points that do not fit");
            steps[along] = 1;
        }
        places const at = walk<std::size_t>(in.extents, 0, steps);
        for (std::size_t to = 0; to < numbers.size(); ++to) numbers[to] -= zeros[at[to]];
    }
    return of_integers(element_type::int32, in.extents, numbers);
}

/// Exact sums of products of integers.
inline std::vector<std::int64_t> whole(std::vector<double> const& sums) {
    std::vector<std::int64_t> made(sums.size());
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<std::int64_t>(sums[at]);
    return made;
}

/// Operands: input, weights, and a zero point of each.
inline elements conv_integer(call const& of) {
    elements const in = without_zero(of.operand(0), of.find(2), 0), weights = without_zero(of.operand(1), of.find(3), 0);
    convolution const made = convolution_of(of, in, weights);
    return of_integers(element_type::int32, made.result(), whole(sums_of(made)));
}
/// Operands: two stacks of matrices, and a zero point of each: for rows of the first, for columns of the second.
inline elements matmul_integer(call const& of) {
    auto const &a = of.operand(0), &b = of.operand(1);
    elements const left = without_zero(a, of.find(2), a.extents.size() - 2), right = without_zero(b, of.find(3), b.extents.size() - 1);
    product_shape const extents(a.extents, b.extents);
    return of_integers(element_type::int32, extents.result, product_of(extents, integers_of(left), integers_of(right)));
}

/// Sums to the scale of the result: each times a float32 multiplier, rounded, plus the zero point.
///
/// @param multiplier_at  for each sum, the place of its multiplier
inline elements rescaled(shape const& extents, std::vector<std::int64_t> const& sums, std::vector<float> const& multipliers,
                         places const& multiplier_at, elements const& zero) {
    std::int64_t const offset = integers_of(single(zero))[0];
    std::vector<std::int64_t> made(sums.size());
    for (std::size_t at = 0; at < made.size(); ++at)
        made[at] = saturated(static_cast<float>(sums[at]) * multipliers[multiplier_at[at]], offset, zero.type);
    return of_integers(zero.type, extents, made);
}

/// Operands: input with scale and zero point, weights with scales and zero points of filters, scale and zero point of the result, and an
/// int32 bias or nothing.
inline elements qlinear_conv(call const& of) {
    elements const in = without_zero(of.operand(0), &of.operand(2), outside);
    elements const weights = without_zero(of.operand(3), &of.operand(5), 0);
    convolution const made = convolution_of(of, in, weights);
    auto sums = sums_of(made);
    auto const filters = static_cast<std::size_t>(made.filters);
    if (auto const* bias = of.find(8)) {
        require(bias->type == element_type::int32, "a bias that is no int32");
        add_bias(sums, *bias, filters, static_cast<std::size_t>(count_of(extents_of(made.over, &window::small))));
    }
    float const in_scale = scales_of(single(of.operand(1)))[0], out_scale = scales_of(single(of.operand(6)))[0];
    std::vector<float> multipliers = scales_of(of.operand(4));
    require(multipliers.size() == 1 || multipliers.size() == filters, "scales of another number of filters");
    for (float& one : multipliers) one = in_scale * one / out_scale;
    shape steps(made.result().size(), 0);
    if (multipliers.size() > 1) steps[1] = 1;
    return rescaled(made.result(), whole(sums), multipliers, walk<std::size_t>(made.result(), 0, steps), of.operand(7));
}

/// Operands: two stacks of matrices, each with scale and zero point, then scale and zero point of the result. Scales of the first may be
/// those of rows, scales of the second those of columns.
inline elements qlinear_matmul(call const& of) {
    auto const &a = of.operand(0), &b = of.operand(3);
    product_shape const extents(a.extents, b.extents);
    elements const left = without_zero(a, &of.operand(2), a.extents.size() - 2),
                   right = without_zero(b, &of.operand(5), b.extents.size() - 1);
    auto const sums = product_of(extents, integers_of(left), integers_of(right));
    auto const rows = scales_of(of.operand(1)), columns = scales_of(of.operand(4));
    float const out_scale = scales_of(single(of.operand(6)))[0];
    require(rows.size() == 1 || static_cast<std::int64_t>(rows.size()) == extents.a.rows, "scales that do not fit");
    require(columns.size() == 1 || static_cast<std::int64_t>(columns.size()) == extents.b.columns, "scales that do not fit");
    std::vector<float> multipliers;
    for (float const row : rows) {
        for (float const column : columns) multipliers.push_back(row * column / out_scale);
    }
    places at(sums.size());
    auto const width = static_cast<std::size_t>(extents.b.columns), height = static_cast<std::size_t>(extents.a.rows);
    for (std::size_t to = 0; to < at.size(); ++to) {
        std::size_t const row = rows.size() == 1 ? 0 : to / width % height, column = columns.size() == 1 ? 0 : to % width;
        at[to] = row * columns.size() + column;
    }
    return rescaled(extents.result, sums, multipliers, at, of.operand(7));
}

}  // namespace tilewright::reference::of_onnx
