#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/reference/tflite_node.hpp>
#include <tilewright/reference/tflite_numbers.hpp>
#include <tilewright/reference/tflite_windows.hpp>
#include <type_traits>
#include <utility>
#include <vector>

// Sums of products: convolutions and matrices. Integers are summed in 64 bits and have to fit int32 at the end, with their bias.
namespace tilewright::reference::tflite {

namespace detail {

/// Which operands of a node are what.
struct product_roles {
    std::size_t image = 0, weights = 1, bias = 2;
};

/// The scale of each channel, as float64: image by weights by 1 / result.
///
/// @throws not_covered  where there are not as many scales as channels
inline std::vector<factor> factors_of(call const& of, product_roles roles, std::int64_t channels) {
    network::tensor const& weights = of.operand_tensor(roles.weights);
    if (!weights.quantised) of.refuse("weights without a scale");
    std::vector<float> scales = weights.quantised->scales;
    if (scales.size() == 1) scales.resize(static_cast<std::size_t>(channels), scales[0]);
    if (static_cast<std::int64_t>(scales.size()) != channels) of.refuse(std::to_string(scales.size()) + " scales");
    std::vector<factor> made;
    double const image = scale_of(of.operand_tensor(roles.image)), result = scale_of(of.result());
    for (float const one : scales) made.push_back(factor_of(image * static_cast<double>(one) / result));
    return made;
}
/// The scales of operands 0 and 1, multiplied in float32, by 1 / result.
inline factor factor_of_two(call const& of) {
    float const product = scale_of(of.operand_tensor(0)) * scale_of(of.operand_tensor(1));
    return factor_of(static_cast<double>(product) / static_cast<double>(scale_of(of.result())));
}
/// FULLY_CONNECTED multiplies its scales in float32 where its weights have one.
inline std::vector<factor> factors_of_matrix(call const& of, std::int64_t channels) {
    network::tensor const& weights = of.operand_tensor(1);
    if (!weights.quantised || weights.quantised->scales.size() != 1) return factors_of(of, {}, channels);
    return std::vector<factor>(static_cast<std::size_t>(channels), factor_of_two(of));
}

/// Matrices of an operand of BATCH_MATMUL: one [rows, columns] after the other.
template <class Number>
struct matrices {
    extent_list outer;  ///< how many, along the dimensions before the last two
    std::int64_t rows, columns;
    std::int64_t row_step, column_step;  ///< in elements
    std::vector<Number> numbers;

    /// @param turned  the file has columns before rows
    matrices(call const& of, std::size_t at, bool turned) : numbers(values<Number>(of, at)) {
        extent_list const& extents = of.operand(at).extents;
        if (extents.size() < 2) of.refuse("an operand that is no matrix");
        outer.assign(extents.begin(), extents.end() - 2);
        rows = extents[extents.size() - 2], columns = extents.back();
        row_step = columns, column_step = 1;
        if (turned) std::swap(rows, columns), std::swap(row_step, column_step);
    }
    /// The first element of the matrix that matrix `number` of the result takes; a dimension of extent 1 is taken again and again.
    Number const* matrix(std::int64_t number, extent_list const& whole) const {
        std::int64_t place = 0, step = rows * columns;
        for (std::size_t behind = 1; behind <= whole.size(); ++behind) {
            std::int64_t const extent = whole[whole.size() - behind], index = number % extent;
            number /= extent;
            if (behind > outer.size()) continue;
            std::int64_t const own = outer[outer.size() - behind];
            if (own != 1) place += index * step;
            step *= own;
        }
        return numbers.data() + place;
    }
};

/// Adds the bias, one number for each channel, to sums [..., channels].
///
/// @throws not_covered  where the bias has another type or number of elements
template <class Number>
void add_bias(call const& of, std::size_t at, std::int64_t channels, std::vector<Number>& sums) {
    if (!of.has(at)) return;
    std::vector<Number> bias;
    if constexpr (std::is_same_v<Number, double>) bias = floats(of, at);
    else bias = integers_of(operand_of_type(of, at, network::element_type::int32));
    if (static_cast<std::int64_t>(bias.size()) != channels) of.refuse("a bias of " + std::to_string(bias.size()));
    for (std::size_t one = 0; one < sums.size(); ++one) sums[one] += bias[one % bias.size()];
}
/// Scales sums [..., channels], each channel by its own factor. Floats have none.
inline void scale_sums(std::vector<std::int64_t>& sums, std::vector<factor> const& by) {
    for (std::size_t at = 0; at < sums.size(); ++at) sums[at] = scaled(as_int32(sums[at]), by[at % by.size()]);
}

/// @throws not_covered  where weights of int8 have a zero point
inline void need_symmetric(call const& of, std::size_t at) {
    network::tensor const& weights = of.operand_tensor(at);
    if (!weights.quantised) return;
    for (std::int64_t const one : weights.quantised->zero_points) {
        if (one != 0) of.refuse("weights whose zero point is " + std::to_string(one));
    }
}

/// What a convolution makes of its sums, [n, h, w, channels].
template <class Number>
elements of_sums(call const& of, product_roles roles, extent_list extents, std::vector<Number> sums) {
    std::int64_t const channels = extents.back();
    add_bias(of, roles.bias, channels, sums);
    if constexpr (std::is_same_v<Number, std::int64_t>) {
        need_symmetric(of, roles.weights);
        scale_sums(sums, factors_of(of, roles, channels));
    }
    return finished(of, std::move(extents), std::move(sums));
}

template <class Number>
Number inner_product(Number const* a, Number const* b, std::int64_t count) {
    Number sum = 0;
    for (std::int64_t at = 0; at < count; ++at) sum += a[at] * b[at];
    return sum;
}

/// A convolution at work: filters [count, y.taps, x.taps, depth] over an image, whose channels fall into groups of `depth`.
template <class Number>
struct convolution {
    image_extents image;
    window y, x;
    std::int64_t count, depth;
    std::vector<Number> pixels, weights;

    /// The sum of one filter at one place.
    Number sum_at(std::int64_t n, std::int64_t row, std::int64_t column, std::int64_t filter) const {
        std::int64_t const groups = image.channels / depth, group = filter / (count / groups);
        Number sum = 0;
        for (std::int64_t r = 0; r < y.taps; ++r) {
            if (!y.holds(y.at(row, r))) continue;
            for (std::int64_t c = 0; c < x.taps; ++c) {
                if (!x.holds(x.at(column, c))) continue;
                Number const* const pixel = pixels.data() + image.place(n, y.at(row, r), x.at(column, c)) + group * depth;
                sum += inner_product(pixel, weights.data() + ((filter * y.taps + r) * x.taps + c) * depth, depth);
            }
        }
        return sum;
    }
    std::vector<Number> sums() const {
        std::vector<Number> made;
        made.reserve(static_cast<std::size_t>(image.batch * y.out * x.out * count));
        for (std::int64_t n = 0; n < image.batch; ++n)
            for (std::int64_t row = 0; row < y.out; ++row)
                for (std::int64_t column = 0; column < x.out; ++column)
                    for (std::int64_t filter = 0; filter < count; ++filter) made.push_back(sum_at(n, row, column, filter));
        return made;
    }
};

/// Sums of a convolution that has one filter [y.taps, x.taps] for each channel of the result.
template <class Number>
std::vector<Number> depthwise_sums(image_extents const& image, window const& y, window const& x, std::int64_t channels,
                                   std::vector<Number> const& pixels, std::vector<Number> const& weights) {
    std::int64_t const multiplier = channels / image.channels;
    std::vector<Number> sums(static_cast<std::size_t>(image.batch * y.out * x.out * channels), 0);
    Number* made = sums.data();
    for (std::int64_t n = 0; n < image.batch; ++n)
        for (std::int64_t row = 0; row < y.out; ++row)
            for (std::int64_t column = 0; column < x.out; ++column, made += channels)
                for (std::int64_t tap = 0; tap < y.taps * x.taps; ++tap) {
                    std::int64_t const from_row = y.at(row, tap / x.taps), from_column = x.at(column, tap % x.taps);
                    if (!y.holds(from_row) || !x.holds(from_column)) continue;
                    Number const* const pixel = pixels.data() + image.place(n, from_row, from_column);
                    Number const* const weight = weights.data() + tap * channels;
                    for (std::int64_t channel = 0; channel < channels; ++channel)
                        made[channel] += pixel[channel / multiplier] * weight[channel];
                }
    return sums;
}

/// Sums of TRANSPOSE_CONV: each pixel of `image` adds to as many places of the result as the filter has, from its own place times the
/// stride on, less the rows in front. What falls outside is left out. The windows are those of the result.
template <class Number>
std::vector<Number> scattered_sums(image_extents const& image, window const& y, window const& x, image_extents const& result,
                                   std::vector<Number> const& pixels, std::vector<Number> const& weights) {
    std::vector<Number> sums(static_cast<std::size_t>(count_of(result.list())), 0);
    for (std::int64_t place = 0; place < image.batch * image.height * image.width; ++place)
        for (std::int64_t tap = 0; tap < y.taps * x.taps; ++tap) {
            std::int64_t const column = place % image.width, row = place / image.width % image.height,
                               n = place / image.width / image.height;
            std::int64_t const to_row = y.at(row, tap / x.taps), to_column = x.at(column, tap % x.taps);
            if (!y.holds(to_row) || !x.holds(to_column)) continue;
            Number* const made = sums.data() + result.place(n, to_row, to_column);
            Number const* const pixel = pixels.data() + place * image.channels;
            for (std::int64_t channel = 0; channel < result.channels; ++channel)
                made[channel] += inner_product(pixel, weights.data() + (channel * y.taps * x.taps + tap) * image.channels, image.channels);
        }
    return sums;
}

}  // namespace detail

/// CONV_2D: [n, h, w, i] by [o, fh, fw, i / groups] and [o] to [n, h', w', o].
inline elements conv_2d(call const& of) {
    image_extents const image = image_of(of, of.operand(0).extents), filter = image_of(of, of.operand(1).extents);
    window const y = window_of(of, "h", image.height, filter.height), x = window_of(of, "w", image.width, filter.width);
    if (filter.channels < 1 || image.channels % filter.channels != 0 || filter.batch % (image.channels / filter.channels) != 0)
        of.refuse(std::to_string(filter.channels) + " channels of a filter for " + std::to_string(image.channels));
    return in_its_numbers(of, [&](auto zero) {
        using number = decltype(zero);
        detail::convolution<number> const made{image, y, x, filter.batch, filter.channels, values<number>(of, 0), values<number>(of, 1)};
        return detail::of_sums(of, {}, {image.batch, y.out, x.out, filter.batch}, made.sums());
    });
}

/// DEPTHWISE_CONV_2D: [n, h, w, i] by [1, fh, fw, i * m] and [i * m] to [n, h', w', i * m]; channel c of the result sees channel c / m.
inline elements depthwise_conv_2d(call const& of) {
    image_extents const image = image_of(of, of.operand(0).extents), filter = image_of(of, of.operand(1).extents);
    window const y = window_of(of, "h", image.height, filter.height), x = window_of(of, "w", image.width, filter.width);
    if (filter.batch != 1 || image.channels < 1 || filter.channels % image.channels != 0 || filter.channels == 0)
        of.refuse(std::to_string(filter.channels) + " filters for " + std::to_string(image.channels) + " channels");
    return in_its_numbers(of, [&](auto zero) {
        using number = decltype(zero);
        auto sums = detail::depthwise_sums(image, y, x, filter.channels, values<number>(of, 0), values<number>(of, 1));
        return detail::of_sums(of, {}, {image.batch, y.out, x.out, filter.channels}, std::move(sums));
    });
}

/// TRANSPOSE_CONV: the operands are the extents of the result, weights [o, fh, fw, i], an image [n, h, w, i] and, if any, a bias [o].
inline elements transpose_conv(call const& of) {
    image_extents const result = image_of(of, integers_of(of.operand(0)));
    image_extents const filter = image_of(of, of.operand(1).extents), image = image_of(of, of.operand(2).extents);
    window const y = window_of(of, "h", result.height, filter.height), x = window_of(of, "w", result.width, filter.width);
    if (filter.channels != image.channels || filter.batch != result.channels || image.batch != result.batch)
        of.refuse("extents of image, weights and result that do not agree");
    return in_its_numbers(of, [&](auto zero) {
        using number = decltype(zero);
        auto sums = detail::scattered_sums(image, y, x, result, values<number>(of, 2), values<number>(of, 1));
        return detail::of_sums(of, {2, 1, 3}, result.list(), std::move(sums));
    });
}

/// FULLY_CONNECTED: [..., i] by [o, i] and [o] to [rows, o], or to [..., o] with keep_num_dims.
inline elements fully_connected(call const& of) {
    elements const& from = of.operand(0);
    extent_list const& matrix = of.operand(1).extents;
    if (matrix.size() != 2 || matrix[1] < 1 || count_of(from.extents) % matrix[1] != 0) of.refuse("a matrix that does not fit");
    std::int64_t const channels = matrix[0], depth = matrix[1], rows = count_of(from.extents) / depth;
    extent_list extents{rows, channels};
    if (of.number("keep_num_dims") != 0) {
        extents = from.extents;
        extents.back() = channels;
    }
    return in_its_numbers(of, [&](auto zero) {
        auto const image = values<decltype(zero)>(of, 0), weights = values<decltype(zero)>(of, 1);
        std::vector<decltype(zero)> sums;
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t channel = 0; channel < channels; ++channel)
                sums.push_back(detail::inner_product(image.data() + row * depth, weights.data() + channel * depth, depth));
        detail::add_bias(of, 2, channels, sums);
        if constexpr (std::is_same_v<decltype(zero), std::int64_t>) {
            detail::need_symmetric(of, 1);
            detail::scale_sums(sums, detail::factors_of_matrix(of, channels));
        }
        return finished(of, extents, std::move(sums));
    });
}

/// BATCH_MATMUL: [..., m, k] by [..., k, n] to [..., m, n], each operand turned where `adj_x` or `adj_y` says so.
inline elements batch_matmul(call const& of) {
    return in_its_numbers(of, [&](auto zero) {
        using number = decltype(zero);
        detail::matrices<number> const a(of, 0, of.number("adj_x") != 0), b(of, 1, of.number("adj_y") != 0);
        if (a.columns != b.rows) of.refuse("matrices that do not fit");
        extent_list whole = a.outer.size() > b.outer.size() ? a.outer : b.outer;
        for (detail::matrices<number> const* one : {&a, &b}) {
            for (std::size_t behind = 1; behind <= one->outer.size(); ++behind) {
                std::int64_t const extent = one->outer[one->outer.size() - behind];
                std::int64_t& of_both = whole[whole.size() - behind];
                if (extent != 1 && of_both != 1 && extent != of_both) of.refuse("numbers of matrices that do not fit");
                if (of_both == 1) of_both = extent;
            }
        }
        std::vector<number> sums;
        for (std::int64_t which = 0; which < count_of(whole); ++which)
            for (std::int64_t row = 0; row < a.rows; ++row)
                for (std::int64_t column = 0; column < b.columns; ++column) {
                    number const *left = a.matrix(which, whole) + row * a.row_step,
                                 *right = b.matrix(which, whole) + column * b.column_step;
                    number sum = 0;
                    for (std::int64_t at = 0; at < a.columns; ++at) sum += left[at * a.column_step] * right[at * b.row_step];
                    sums.push_back(sum);
                }
        if constexpr (std::is_same_v<number, std::int64_t>) detail::scale_sums(sums, {detail::factor_of_two(of)});
        whole.push_back(a.rows), whole.push_back(b.columns);
        return finished(of, whole, std::move(sums));
    });
}

}  // namespace tilewright::reference::tflite
