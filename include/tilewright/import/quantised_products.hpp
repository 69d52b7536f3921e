#pragma once
#include <tilewright/import/copies.hpp>
#include <tilewright/import/products.hpp>
#include <tilewright/import/quantised.hpp>
#include <utility>

// Products of TensorFlow Lite: convolutions and fully connected layers. Each is one kernel: the sums of an element, then what is made of
// them. The sums are bias + sum(x * weight): the zero point of x is a part of the bias, and padding reads the zero point.
namespace tilewright::imported::detail::tflite {

/// The operands that products have: x, weights, and perhaps a bias for each channel of the result.
struct product {
    view x, weights;
    bool of_floats = false;
    quantisation in = {}, out = {};         ///< of int8
    std::vector<float> weight_scales = {};  ///< one, or one for each channel
    std::int64_t channels = 0;              ///< of the result
    std::int64_t subtracted = 0;            ///< from each element of x; 0: the bias has what the zero point adds
};
inline product product_of(lowering& of, std::size_t x_operand, std::size_t bias, int channel_axis) {
    network::tensor const& weights = operand_tensor(of, 1);
    product made{.x = of.operand(x_operand), .weights = of.operand(1)};
    if (is_float32(operand_tensor(of, x_operand)) && is_int8(weights))
        throw not_imported("weights of int8 for floats (dynamic-range quantisation): convert the model with integers for all tensors");
    made.of_floats = computes_floats(of, {x_operand, 1});
    if (channel_axis >= made.weights.rank()) throw not_imported("weights of " + std::to_string(made.weights.rank()) + " dimensions");
    made.channels = made.weights.extent(channel_axis);
    if (of.has(bias)) {
        shape const extents = of.operand(bias).shape();
        std::int64_t const count = of.operand(bias).elements();
        if (count != made.channels)
            throw not_imported("a bias of " + text_of(extents) + " for " + std::to_string(made.channels) + " channels");
        auto const wanted = made.of_floats ? network::element_type::float32 : network::element_type::int32;
        if (operand_tensor(of, bias).type != wanted) throw not_imported("a bias of " + type_text(operand_tensor(of, bias)));
    }
    if (made.of_floats) return made;
    made.in = operand_quantisation(of, x_operand), made.out = result_quantisation(of);
    if (!weights.quantised || weights.quantised->scales.empty()) throw not_imported("weights without a scale");
    for (std::int64_t const one : weights.quantised->zero_points) {
        if (one != 0) throw not_imported("weights whose zero point is " + std::to_string(one));
    }
    made.weight_scales = weights.quantised->scales;
    if (made.weight_scales.size() > 1 &&
        (weights.quantised->axis != channel_axis || static_cast<std::int64_t>(made.weight_scales.size()) != made.channels))
        throw not_imported("weights whose scales are not those of channels");
    return made;
}

/// What sums of int32 start from: for each channel a number, less what the zero point of x adds to each product.
///
/// @param starts  a number for each channel
/// @param from    of x: the values that are multiplied
/// @throws not_imported  where a sum can leave int32
inline std::vector<std::int64_t> folded_starts(shape const& extents, std::vector<std::int64_t> const& weights, int channel_axis,
                                               std::vector<std::int64_t> starts, std::int64_t zero_point, bounds const& from) {
    std::vector<std::int64_t> made = std::move(starts), lowest(made.size(), 0), highest(made.size(), 0);
    auto const add = [&](std::size_t channel, std::int64_t weight) {
        made[channel] -= zero_point * weight;
        lowest[channel] += std::min(weight * from.low, weight * from.high);
        highest[channel] += std::max(weight * from.low, weight * from.high);
    };
    each_along(extents, static_cast<std::size_t>(channel_axis), weights, add);
    for (std::size_t channel = 0; channel < made.size(); ++channel) {
        std::int64_t const low = made[channel] + lowest[channel], high = made[channel] + highest[channel];
        if (low < lowest_of(scalar_type::int32) || high > highest_of(scalar_type::int32))
            throw not_imported("sums of channel " + std::to_string(channel) + " can leave int32: " + std::to_string(low) + " to " +
                               std::to_string(high));
    }
    return made;
}
/// Those of a product: they start from its bias.
inline std::vector<std::int64_t> folded_biases(lowering& of, product const& with, std::size_t bias, int channel_axis) {
    known_tensor const weights = of.known(1);
    std::vector<std::int64_t> starts(static_cast<std::size_t>(with.channels), 0);
    if (of.has(bias)) starts = of.known_integers(bias);
    return folded_starts(weights.what.extents, lowering::integers_of(weights), channel_axis, std::move(starts), with.in.zero_point,
                         {-128 - with.subtracted, 127 - with.subtracted});
}
/// The scale of each channel's sums, by the scales of x, weights and result.
inline std::vector<fixed_scale> scales_of(product const& with) {
    std::vector<fixed_scale> made;
    for (float const one : with.weight_scales)
        made.push_back(fixed_scale_of(static_cast<double>(with.in.scale) * static_cast<double>(one) / static_cast<double>(with.out.scale)));
    return made;
}
/// Sums of a channel in another scale: constants where all channels have one, tensors of int32 where each has its own.
inline auto scaled_by(lowering& of, std::vector<fixed_scale> const& scales, value const& channel) {
    std::optional<value> multiplier, shift;
    bool only_right = true;
    if (std::any_of(scales.begin(), scales.end(), [&](fixed_scale const& one) { return !(one == scales[0]); })) {
        std::vector<std::int64_t> multipliers, shifts;
        for (fixed_scale const& one : scales) {
            multipliers.push_back(one.multiplier), shifts.push_back(-one.shift);
            only_right = only_right && one.shift <= 0;
        }
        multiplier = imported::at(of.constant(known_int32(multipliers)), {channel});
        shift = imported::at(of.constant(known_int32(shifts)), {channel});
    }
    return [=, first = scales[0]](value const& sums) {
        return multiplier ? rescaled(sums, *multiplier, *shift, only_right) : rescaled(sums, first);
    };
}
/// Sums of a channel as values of int8.
inline auto finished_by(lowering& of, std::vector<fixed_scale> const& scales, value const& channel, quantisation const& out) {
    return [scaled = scaled_by(of, scales, channel), out, within = result_bounds(of)](value const& sums) {
        return with_zero_point(scaled(sums), out.zero_point, within);
    };
}
/// Sums of a channel that start from a number of its own.
inline value started(lowering& of, std::vector<std::int64_t> const& starts, value const& channel, value const& sums) {
    std::optional<view> const start = list_of_channels(of, starts);
    return start ? imported::at(*start, {channel}) + sums : sums;
}

/// The kernel of sums of floats for result 0: the bias is added, if there is one, and the result has the activation.
inline void finish_floats(lowering& of, space const& loops, value const& sums, std::size_t bias, std::int64_t channels,
                          value const& channel) {
    value const whole = of.has(bias) ? imported::at(reshaped(of.operand(bias), {channels}).value(), {channel}) + sums : sums;
    if (activation_of(of) == "NONE") return void(of.compute(loops, whole, 0));
    of.compute(loops, whole, 0, [&](value const& x) { return activated(of, x); });
}
/// The kernel of a product: `body` is summed over axes, the bias is added, and the result has the activation.
///
/// @param channel  the index of the result's channel
inline void sum_products(lowering& of, product const& with, space const& loops, value const& channel, std::vector<value> const& axes,
                         value const& body, std::size_t bias, int channel_axis, std::vector<fixed_scale> const& scales) {
    value const sums = over(operation::reduce_sum, axes, body);
    if (with.of_floats) return finish_floats(of, loops, sums, bias, with.channels, channel);
    value const whole = started(of, folded_biases(of, with, bias, channel_axis), channel, sums);
    of.compute(loops, whole, 0, finished_by(of, scales, channel, with.out));
    note_rescaling(of, channel, scales, with.out, result_bounds(of));
}
inline value factor_of(product const& with, value const& x) { return with.of_floats ? x : convert(x, scalar_type::int32); }

inline std::vector<fixed_scale> channel_scales(product const& with) {
    return with.of_floats ? std::vector<fixed_scale>{} : scales_of(with);
}
/// Rows of x by rows of weights, of which there is one for each channel.
inline void multiply_rows(lowering& of, product const& with, view const& rows, view const& weights, int channel_axis,
                          std::vector<fixed_scale> const& scales) {
    rows_by_rows const by(rows, weights);
    value const body = factor_of(with, by.row) * factor_of(with, by.weight);
    sum_products(of, with, by.loops, by.channel(), by.axes, body, 2, channel_axis, scales);
}
/// The elements of x under a window, by the indices of its first dimension and its channels.
inline value under_window(product const& with, window const& windows, space const& loops, value const& y, value const& x,
                          std::vector<value> const& channel) {
    std::vector<std::vector<value>> const read{
        {loops.index(0)}, {windows.index(0, loops.index(1), y)}, {windows.index(1, loops.index(2), x)}, channel};
    bool const pads = windows.pads();
    return factor_of(with, pads ? padded_at_factors(with.x, read, number(with.in.zero_point, with.x.type())) : at_factors(with.x, read));
}

/// [n, y, x, i] by [o, y, x, i / groups].
inline void convolve(lowering& of) {
    product with = product_of(of, 0, 2, 0);
    shape const input = with.x.shape(), kernel = with.weights.shape();
    if (input.size() != 4 || kernel.size() != 4) throw not_imported("of " + text_of(input) + " by " + text_of(kernel));
    window const windows = window_over(of, {input[1], input[2]}, {kernel[1], kernel[2]});
    std::int64_t const channels = kernel[3], groups = input[3] / channels, members = kernel[0] / std::max<std::int64_t>(groups, 1);
    if (groups < 1 || groups * channels != input[3] || members * groups != kernel[0]) throw not_imported("groups that do not fit");
    bool const of_points = kernel[1] == 1 && kernel[2] == 1 && windows.strides == shape{1, 1};
    if (of_points && groups == 1) return multiply_rows(of, with, with.x, only(with.weights, {0, 3}), 0, channel_scales(with));
    for (int const dimension : {0, 1, 2}) with.x = of.joined(with.x, dimension);
    if (groups > 1) with.x = of.joined(with.x, 3);
    if (windows.pads()) with.x = of.with_whole_factors(with.x);
    space loops = loops_over({input[0], windows.result[0], windows.result[1], kernel[0]});
    std::vector<value> axes, channel;
    value const y = windows.tap(0, axes), x = windows.tap(1, axes);
    if (groups > 1) {
        loops.extents[3] = members > 1 ? shape{groups, members} : shape{groups};
        loops.axes[3] = {along("group", groups)};
        if (members > 1) loops.axes[3].push_back(along("member", members));
        channel = {times(loops.axes[3][0], channels)};
        if (channels > 1) axes.push_back(along("channel", channels)), channel[0] = channel[0] + axes.back();
    }
    value weight;
    if (groups > 1) {
        weight = imported::at(with.weights, {loops.index(3), y, x, channels > 1 ? axes.back() : in32(0)});
    } else {
        space const inner = reduction_over(only(with.x, {3}), only(with.weights, {3}));
        channel = inner.axes[0];
        axes.insert(axes.end(), channel.begin(), channel.end());
        weight = imported::at(with.weights, {loops.index(3), y, x, inner.index(0)});
    }
    value const body = under_window(with, windows, loops, y, x, channel) * factor_of(with, weight);
    sum_products(of, with, loops, loops.index(3), axes, body, 2, 0, channel_scales(with));
}
/// [n, y, x, i] by [1, y, x, i * m]: channel c of the result is made of channel c / m.
inline void convolve_channels(lowering& of) {
    product with = product_of(of, 0, 2, 3);
    shape const input = with.x.shape(), kernel = with.weights.shape();
    if (input.size() != 4 || kernel.size() != 4 || kernel[0] != 1) throw not_imported("of " + text_of(input) + " by " + text_of(kernel));
    std::int64_t const made = kernel[3] / input[3];
    if (made < 1 || made * input[3] != kernel[3]) throw not_imported("channels that do not fit");
    window const windows = window_over(of, {input[1], input[2]}, {kernel[1], kernel[2]});
    with.x = joined(of, with.x);
    if (windows.pads()) with.x = of.with_whole_factors(with.x);
    space loops = loops_over({input[0], windows.result[0], windows.result[1], kernel[3]});
    std::vector<value> channel = loops.axes[3];
    if (made > 1) {
        loops.extents[3] = {made}, loops.axes[3] = {along("member", made)}, channel.clear();
        if (input[3] > 1) {
            loops.extents[3] = {input[3], made};
            channel = {along("channel", input[3])};
            loops.axes[3].insert(loops.axes[3].begin(), channel[0]);
        }
    }
    std::vector<value> axes;
    value const y = windows.tap(0, axes), x = windows.tap(1, axes);
    value const body =
        under_window(with, windows, loops, y, x, channel) * factor_of(with, imported::at(with.weights, {in32(0), y, x, loops.index(3)}));
    sum_products(of, with, loops, loops.index(3), axes, body, 2, 3, channel_scales(with));
}
/// Rows of x by [o, i].
inline void connect_fully(lowering& of) {
    product const with = product_of(of, 0, 2, 0);
    shape const kernel = with.weights.shape();
    if (kernel.size() != 2 || with.x.elements() % kernel[1] != 0)
        throw not_imported("of " + text_of(with.x.shape()) + " by " + text_of(kernel));
    shape whole = with.x.shape();
    bool const keeps = integer(of, "keep_num_dims", 0) != 0 && !whole.empty() && whole.back() == kernel[1];
    if (!keeps) whole = {with.x.elements() / kernel[1], kernel[1]};
    auto const rows = reshaped(with.x, whole);
    if (!rows) throw not_imported("rows that would have to be copied");
    std::vector<fixed_scale> scales = channel_scales(with);
    // With one scale, the product of scales is a float.
    if (scales.size() == 1)
        scales[0] = fixed_scale_of(static_cast<double>(with.in.scale * with.weight_scales[0]) / static_cast<double>(with.out.scale));
    multiply_rows(of, with, *rows, with.weights, 0, scales);
}

/// [..., m, k] by [..., k, n]. `adj_x` and `adj_y`: the last two dimensions stand the other way round.
inline void multiply_matrices(lowering& of) {
    if (is_float32(operand_tensor(of, 0)) && is_int8(operand_tensor(of, 1)))
        throw not_imported("int8 for floats (dynamic-range quantisation): convert the model with integers for all tensors");
    bool const of_floats = computes_floats(of, {0, 1});
    auto const matrices_of = [&](std::size_t at, char const* turned) {
        view made = of.operand(at);
        if (made.rank() < 2) throw not_imported("of " + text_of(made.shape()) + ", which is no matrix");
        if (integer(of, turned, 0) != 0) std::swap(made.dimensions.back(), made.dimensions[made.dimensions.size() - 2]);
        return made;
    };
    auto const with = operands_of_product(of, matrices_of(0, "adj_x"), matrices_of(1, "adj_y"));
    if (of_floats) return void(result_of_product(of, with, product_at(with.a, with.b, with.loops, scalar_type::float32, same, same)));
    quantisation const x = operand_quantisation(of, 0), y = operand_quantisation(of, 1), out = result_quantisation(of);
    auto const largest = [](quantisation const& one) { return std::max(127 - one.zero_point, one.zero_point + 128); };
    std::int64_t const depth = with.a.shape().back();
    if (depth > highest_of(scalar_type::int32) / (largest(x) * largest(y)))
        throw not_imported("sums of " + std::to_string(depth) + " products can leave int32");
    auto const from_zero = [](std::int64_t zero_point) {
        return [zero_point](value const& element) {
            value const wide = convert(element, scalar_type::int32);
            return zero_point == 0 ? wide : wide - in32(zero_point);
        };
    };
    value const sums = product_at(with.a, with.b, with.loops, scalar_type::int32, from_zero(x.zero_point), from_zero(y.zero_point));
    // The product of the two scales is a float.
    fixed_scale const scale = fixed_scale_of(static_cast<double>(x.scale * y.scale) / static_cast<double>(out.scale));
    of.compute(loops_of_result(with), sums, 0, finished_by(of, {scale}, in32(0), out));
    note_rescaling(of, in32(0), {scale}, out, result_bounds(of));
}

/// x scattered by weights [o, y, x, i]: row r of x adds to rows r * stride - before + tap of the result. Operand 0 is the result's shape,
/// operand 2 is x. The result gathers: where its rows are a multiple of the stride, each from the few rows of x that reach it; otherwise
/// each looks at all rows of x, and weights outside of the filter are 0.
inline void convolve_transposed(lowering& of) {
    product with = product_of(of, 2, 3, 0);
    shape const input = with.x.shape(), kernel = with.weights.shape(), whole = of.known_integers(0);
    if (input.size() != 4 || kernel.size() != 4 || whole.size() != 4 || kernel[3] != input[3] || whole[0] != input[0] ||
        whole[3] != kernel[0])
        throw not_imported("of " + text_of(input) + " by " + text_of(kernel) + " to " + text_of(whole));
    imported::count_of(whole);
    std::int64_t const strides[] = {limited(integer(of, "stride_h", 1), 1, most_extent, "a stride"),
                                    limited(integer(of, "stride_w", 1), 1, most_extent, "a stride")};
    for (int const dimension : {0, 1, 2}) with.x = of.joined(with.x, dimension);
    with.x = of.with_whole_factors(with.x);
    space loops = loops_over(whole);
    std::vector<value> axes;
    std::vector<std::vector<value>> read{{loops.index(0)}}, weight{{loops.index(3)}};
    for (std::size_t at = 0; at < 2; ++at) {
        std::int64_t const extent = whole[at + 1], taps = kernel[at + 1], stride = strides[at];
        std::int64_t const room = (extent + stride - 1) / stride;
        std::int64_t const all = word(of, "padding", "") == "SAME" ? std::max<std::int64_t>(0, (room - 1) * stride + taps - extent) : 0;
        std::int64_t const before = all / 2;
        std::string const name = at == 0 ? "y" : "x";
        auto const along_it = [&](std::string const& what, std::int64_t count) {
            return count == 1 ? in32(0) : along(ir::label((what + name).c_str()), count);
        };
        auto const reduced_along = [&](std::int64_t count) {
            if (count == 1) return in32(0);
            axes.push_back(along(ir::label(("from_" + name).c_str()), count));
            return axes.back();
        };
        if (extent % stride == 0) {
            // Row stride * a + b, of x row a + d: the tap is b + before - stride * d.
            auto const floored = [&](std::int64_t number) { return number >= 0 ? number / stride : -((stride - 1 - number) / stride); };
            std::int64_t const first = -floored(taps - 1 - before), last = floored(stride - 1 + before);
            loops.extents[at + 1].clear(), loops.axes[at + 1].clear();
            value const a = along_it("a", extent / stride), b = along_it("b", stride);
            for (auto const& [axis, count] : {std::pair{a, extent / stride}, {b, stride}}) {
                if (count > 1) loops.axes[at + 1].push_back(axis), loops.extents[at + 1].push_back(count);
            }
            value const d = reduced_along(last - first + 1);
            read.push_back({a + d + in32(first)});
            weight.push_back({b - times(d, stride) + in32(before - stride * first)});
        } else {
            value const r = reduced_along(input[at + 1]);
            read.push_back({r});
            weight.push_back({loops.index(static_cast<int>(at) + 1) - times(r, stride) + in32(before)});
        }
    }
    space const inner = reduction_over(only(with.x, {3}), only(with.weights, {3}));
    axes.insert(axes.end(), inner.axes[0].begin(), inner.axes[0].end());
    read.push_back(inner.axes[0]), weight.push_back({inner.index(0)});
    value element = factor_of(with, padded_at_factors(with.x, read, number(with.in.zero_point, with.x.type())));
    // Other taps reach other rows of the result, so that no bias has all that the zero point adds.
    if (!with.of_floats && with.in.zero_point != 0) element = element - in32(with.in.zero_point);
    with.subtracted = std::exchange(with.in.zero_point, 0);
    value const body = element * factor_of(with, padded_at_factors(with.weights, weight, number(std::int64_t{0}, with.weights.type())));
    sum_products(of, with, loops, loops.index(3), axes, body, 3, 0, channel_scales(with));
}

}  // namespace tilewright::imported::detail::tflite
