#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/reference/tflite_node.hpp>
#include <tilewright/reference/tflite_numbers.hpp>
#include <type_traits>
#include <utility>
#include <vector>

// Windows that move over an image [batch, height, width, channels], and what pools and means make of them.
namespace tilewright::reference::tflite {

/// The extents of an image.
struct image_extents {
    std::int64_t batch = 1, height = 1, width = 1, channels = 1;

    std::size_t place(std::int64_t n, std::int64_t y, std::int64_t x) const {
        return static_cast<std::size_t>(((n * height + y) * width + x) * channels);
    }
    extent_list list() const { return {batch, height, width, channels}; }
};
/// @throws not_covered  where there are not 4 dimensions
inline image_extents image_of(call const& of, extent_list const& extents) {
    if (extents.size() != 4) of.refuse("an image of " + std::to_string(extents.size()) + " dimensions");
    return {extents[0], extents[1], extents[2], extents[3]};
}

/// How a window moves along one dimension of an image.
struct window {
    std::int64_t in = 1, out = 1, taps = 1, stride = 1, dilation = 1;
    std::int64_t before = 0;  ///< rows that it begins in front of the image

    std::int64_t at(std::int64_t position, std::int64_t tap) const { return position * stride + tap * dilation - before; }
    bool holds(std::int64_t row) const { return row >= 0 && row < in; }
};
/// The window of a node along one direction.
///
/// @param direction  `h` or `w`, as the settings call it
inline window window_of(call const& of, std::string const& direction, std::int64_t in, std::int64_t taps) {
    window made{in, 0, taps, of.number("stride_" + direction), of.number("dilation_" + direction + "_factor", 1), 0};
    if (made.stride < 1 || made.dilation < 1) of.refuse("a window that does not move");
    std::int64_t const reach = (taps - 1) * made.dilation + 1;
    if (of.setting<std::string>("padding", "SAME") == "VALID") {
        made.out = std::max<std::int64_t>(0, in - reach + made.stride) / made.stride;
    } else {
        made.out = (in + made.stride - 1) / made.stride;
        made.before = std::max<std::int64_t>(0, (made.out - 1) * made.stride + reach - in) / 2;
    }
    return made;
}

namespace detail {

/// Calls `use(places)` for each place of a pool and each channel: the places in the image of what lies under the window.
template <class Use>
void for_each_pool(image_extents const& image, window const& y, window const& x, Use const& use) {
    std::vector<std::size_t> under, places;
    for (std::int64_t n = 0; n < image.batch; ++n)
        for (std::int64_t row = 0; row < y.out; ++row)
            for (std::int64_t column = 0; column < x.out; ++column) {
                under.clear();
                for (std::int64_t r = 0; r < y.taps; ++r)
                    for (std::int64_t c = 0; c < x.taps; ++c)
                        if (y.holds(y.at(row, r)) && x.holds(x.at(column, c)))
                            under.push_back(image.place(n, y.at(row, r), x.at(column, c)));
                for (std::int64_t channel = 0; channel < image.channels; ++channel) {
                    places = under;
                    for (std::size_t& one : places) one += static_cast<std::size_t>(channel);
                    use(places);
                }
            }
}

/// The mean of int8, zero points included; halves go away from zero.
inline std::int64_t mean_of(std::int64_t sum, std::int64_t count) { return (sum > 0 ? sum + count / 2 : sum - count / 2) / count; }
inline double mean_of(double sum, std::int64_t count) { return sum / static_cast<double>(count); }

/// [n, h, w, c] to [n, h', w', c]: `gather(image, places)` says what becomes of the elements under a window.
template <class Number, class Gather>
elements pooled(call const& of, std::vector<Number> const& image, Gather const& gather) {
    image_extents const in = image_of(of, of.operand(0).extents);
    window const y = window_of(of, "h", in.height, of.number("filter_height")), x = window_of(of, "w", in.width, of.number("filter_width"));
    std::vector<Number> made;
    for_each_pool(in, y, x, [&](std::vector<std::size_t> const& places) { made.push_back(gather(image, places)); });
    extent_list extents{in.batch, y.out, x.out, in.channels};
    if constexpr (std::is_same_v<Number, double>) return finished(of, std::move(extents), std::move(made));
    else return bounded(of, activation_of(of), std::move(extents), std::move(made));
}
/// The same for either type. Integers keep their zero point: a pool rescales nothing.
template <class Gather>
elements pool_2d(call const& of, Gather const& gather) {
    return in_its_numbers(of, [&](auto zero) {
        if constexpr (std::is_same_v<decltype(zero), double>) {
            return pooled(of, floats(of, 0), gather);
        } else {
            need_same_scale(of.operand_tensor(0), of.result());
            return pooled(of, integers_of(operand_of_type(of, 0, network::element_type::int8)), gather);
        }
    });
}

}  // namespace detail

/// AVERAGE_POOL_2D: the mean of what lies inside the image.
inline elements average_pool_2d(call const& of) {
    return detail::pool_2d(of, [](auto const& image, std::vector<std::size_t> const& places) {
        auto sum = image[0] - image[0];
        for (std::size_t const one : places) sum += image[one];
        return detail::mean_of(sum, static_cast<std::int64_t>(places.size()));
    });
}
/// MAX_POOL_2D: the largest of what lies inside the image.
inline elements max_pool_2d(call const& of) {
    return detail::pool_2d(of, [](auto const& image, std::vector<std::size_t> const& places) {
        auto largest = image[places[0]];
        for (std::size_t const one : places) largest = std::max(largest, image[one]);
        return largest;
    });
}

namespace detail {

/// What MEAN does: along which dimensions, and to which extents.
struct reduction {
    std::int64_t count = 1;                 ///< elements of one mean
    extent_list extents = {}, kept = {};    ///< of the result, with extents of 1 and as the node wants it
    std::vector<std::int64_t> places = {};  ///< for each element of the operand, the mean that it counts for
};
inline reduction reduction_of(call const& of) {
    extent_list const& from = of.operand(0).extents;
    reduction made{1, from, {}, {}};
    std::vector<bool> reduced(from.size(), false);
    for (std::int64_t const axis : integers_of(of.operand(1))) reduced[dimension_of(of, axis, from.size())] = true;
    for (std::size_t at = 0; at < from.size(); ++at) {
        if (reduced[at]) made.extents[at] = 1, made.count *= from[at];
        if (!reduced[at] || of.number("keep_dims") != 0) made.kept.push_back(made.extents[at]);
    }
    extent_list strides = strides_of(made.extents);
    for (std::size_t at = 0; at < from.size(); ++at) {
        if (reduced[at]) strides[at] = 0;
    }
    made.places = walk(from, 0, strides);
    return made;
}
/// The factor from scale to scale, divided by a count after as many shifts to the left as keep its bits.
inline factor divided(factor by, std::int64_t count) {
    int bits = 0;
    while (count >> (bits + 1) > 0) ++bits;
    int const added = std::min({bits, 32, 31 + by.shift});
    return {by.mantissa * (std::int64_t{1} << added) / count, by.shift - added};
}

}  // namespace detail

/// MEAN along the dimensions of the second operand. For int8, the number of elements is part of the factor.
inline elements mean(call const& of) {
    detail::reduction const how = detail::reduction_of(of);
    if (how.count < 1) of.refuse("the mean of nothing");
    return in_its_numbers(of, [&](auto zero) {
        auto const from = values<decltype(zero)>(of, 0);
        std::vector<decltype(zero)> sums(static_cast<std::size_t>(count_of(how.extents)), zero);
        for (std::size_t at = 0; at < from.size(); ++at) sums[static_cast<std::size_t>(how.places[at])] += from[at];
        if constexpr (std::is_same_v<decltype(zero), double>) {
            for (double& one : sums) one /= static_cast<double>(how.count);
        } else {
            double const quotient = static_cast<double>(scale_of(of.operand_tensor(0))) / static_cast<double>(scale_of(of.result()));
            factor const by = detail::divided(factor_of(quotient), how.count);
            for (std::int64_t& one : sums) one = scaled(as_int32(one), by);
        }
        return finished(of, how.kept, std::move(sums));
    });
}

namespace detail {

template <bool Largest>
elements extreme_along(call const& of) {
    need_same_scale(of.operand_tensor(0), of.result());
    reduction const how = reduction_of(of);
    if (how.count < 1) of.refuse("the largest of nothing");
    std::vector<double> const from = reals_of(of.operand(0));
    double const none = Largest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    std::vector<double> made(static_cast<std::size_t>(count_of(how.extents)), none);
    for (std::size_t at = 0; at < from.size(); ++at) {
        double& one = made[static_cast<std::size_t>(how.places[at])];
        one = Largest ? std::max(one, from[at]) : std::min(one, from[at]);
    }
    if (makes_floats(of)) return of_reals(of.result().type, how.kept, made);
    return of_integers(of.result().type, how.kept, std::vector<std::int64_t>(made.begin(), made.end()));
}

}  // namespace detail

/// REDUCE_MAX and REDUCE_MIN along the dimensions of the second operand.
inline elements reduce_max(call const& of) { return detail::extreme_along<true>(of); }
inline elements reduce_min(call const& of) { return detail::extreme_along<false>(of); }

/// ARG_MAX along the dimension that the second operand has: of several largest elements, the first.
inline elements arg_max(call const& of) {
    extent_list extents = of.operand(0).extents;
    std::vector<double> const from = reals_of(of.operand(0));
    std::size_t const axis = dimension_of(of, integers_of(of.operand(1)).at(0), extents.size());
    std::int64_t const count = extents[axis];
    extent_list const steps = strides_of(extents);
    extent_list starts = extents;
    starts[axis] = 1;
    std::vector<std::int64_t> made;
    for (std::int64_t const start : walk(starts, 0, steps)) {
        std::int64_t best = 0;
        for (std::int64_t at = 1; at < count; ++at) {
            auto const element = [&](std::int64_t which) { return from[static_cast<std::size_t>(start + which * steps[axis])]; };
            if (element(at) > element(best)) best = at;
        }
        made.push_back(best);
    }
    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
    return of_integers(of.result().type, extents, made);
}

}  // namespace tilewright::reference::tflite
