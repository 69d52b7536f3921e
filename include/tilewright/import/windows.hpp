#pragma once
#include <tilewright/import/values.hpp>

// Convolutions and pooling: a window that moves over a tensor.
namespace tilewright::imported::detail {

/// A window that moves over spatial dimensions 2, 3, …
struct window {
    shape kernel = {}, strides = {}, dilations = {}, before = {}, after = {}, result = {};

    value index(std::size_t at, value const& out, value const& in) const {
        value moved = times(out, strides[at]);
        if (kernel[at] > 1) moved = moved + times(in, dilations[at]);
        return before[at] == 0 ? moved : moved - number(before[at], scalar_type::int32);
    }
    /// The loop over one side of the window, which joins the axes that are reduced where there is more than one tap.
    value tap(std::size_t at, std::vector<value>& axes) const {
        if (kernel[at] == 1) return number(std::int64_t{0}, scalar_type::int32);
        axes.push_back(along(ir::label(("tap" + std::to_string(at)).c_str()), kernel[at]));
        return axes.back();
    }
    bool pads() const {
        return std::any_of(before.begin(), before.end(), [](auto one) { return one > 0; }) ||
               std::any_of(after.begin(), after.end(), [](auto one) { return one > 0; });
    }
};
inline window window_of(lowering& of, shape const& input, shape const& kernel) {
    std::size_t const spatial = kernel.size();
    if (spatial + 2 != input.size()) throw not_imported("a window of " + std::to_string(spatial) + " dimensions");
    window made{.kernel = kernel,
                .strides = integers(of, "strides").value_or(shape(spatial, 1)),
                .dilations = integers(of, "dilations").value_or(shape(spatial, 1)),
                .before = shape(spatial, 0),
                .after = shape(spatial, 0)};
    if (made.strides.size() != spatial || made.dilations.size() != spatial) throw not_imported("strides or dilations of other dimensions");
    std::string const automatic = word(of, "auto_pad", "NOTSET");
    if (automatic != "NOTSET" && automatic != "VALID" && automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
        throw not_imported("padding by " + network::shown(automatic));
    auto const pads = integers(of, "pads");
    bool const up = integer(of, "ceil_mode", 0) != 0;
    for (std::size_t at = 0; at < spatial; ++at) {
        limited(made.kernel[at], 1, most_extent, "a window");
        limited(made.strides[at], 1, most_extent, "a stride");
        limited(made.dilations[at], 1, most_extent, "a dilation");
        std::int64_t const reach = (kernel[at] - 1) * made.dilations[at] + 1, extent = input[at + 2];
        if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
            std::int64_t const count = (extent + made.strides[at] - 1) / made.strides[at];
            std::int64_t const all = std::max<std::int64_t>(0, (count - 1) * made.strides[at] + reach - extent);
            made.before[at] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
            made.after[at] = all - made.before[at];
        } else if (automatic == "NOTSET" && pads) {
            if (pads->size() != 2 * spatial) throw not_imported("pads of other dimensions");
            made.before[at] = (*pads)[at], made.after[at] = (*pads)[at + spatial];
        }
        limited(made.before[at], 0, most_extent, "a pad");
        limited(made.after[at], 0, most_extent, "a pad");
        std::int64_t const room = extent + made.before[at] + made.after[at] - reach;
        if (room < 0) throw not_imported("a window that is larger than what it moves over");
        std::int64_t count = room / made.strides[at] + 1;
        if (up && room % made.strides[at] != 0 && count * made.strides[at] < extent + made.before[at]) {
            made.after[at] += count * made.strides[at] - room;
            ++count;
        }
        made.result.push_back(count);
    }
    return made;
}
/// What a window moves over, so that it can be read at any index.
inline view under_window(lowering& of, view const& x, window const& with) { return with.pads() ? of.plain(x) : of.indexable(x); }
inline value read_window(view const& x, std::vector<value> const& index, window const& with, value const& border) {
    return with.pads() ? padded_at(x, index, border) : imported::at(x, index);
}
/// Loops over a result, and the sum that each of its elements is.
struct sums_of_products {
    space loops;
    value sum;
};
/// A convolution; `left` and `right` make the factors of what is read, and `border` is what padding reads.
template <class Left, class Right>
sums_of_products convolution(lowering& of, view x, view weights, std::optional<view> const& bias, scalar_type sum, value const& border,
                             Left const& left, Right const& right) {
    shape const input = x.shape(), kernel = weights.shape();
    if (input.size() < 3 || kernel.size() != input.size()) throw not_imported("of " + std::to_string(input.size()) + " dimensions");
    window const with = window_of(of, input, {kernel.begin() + 2, kernel.end()});
    x = under_window(of, x, with), weights = of.indexable(weights);
    if (integers(of, "kernel_shape").value_or(with.kernel) != with.kernel) throw not_imported("weights of another shape than kernel_shape");
    std::int64_t const groups = limited(integer(of, "group", 1), 1, most_extent, "groups"), channels = input[1] / groups,
                       made = kernel[0] / groups;
    if (channels * groups != input[1] || made * groups != kernel[0] || kernel[1] != channels) throw not_imported("groups that do not fit");
    shape whole{input[0], kernel[0]};
    whole.insert(whole.end(), with.result.begin(), with.result.end());
    space loops = loops_over(whole);
    value channel = number(std::int64_t{0}, scalar_type::int32);
    if (groups > 1) {
        // The channel of the result is a group and a channel in it, as the channel that is read is.
        loops.extents[1] = made > 1 ? shape{groups, made} : shape{groups};
        loops.axes[1] = {along("group", groups)};
        if (made > 1) loops.axes[1].push_back(along("member", made));
        channel = times(loops.axes[1][0], channels);
    }
    std::vector<value> axes;
    if (channels > 1) {
        axes.push_back(along("channel", channels));
        channel = groups > 1 ? channel + axes[0] : axes[0];
    }
    std::vector<value> read{loops.index(0), channel};
    std::vector<value> weight{loops.index(1), channels > 1 ? axes[0] : number(std::int64_t{0}, scalar_type::int32)};
    for (std::size_t at = 0; at < with.kernel.size(); ++at) {
        value const tap = with.tap(at, axes);
        read.push_back(with.index(at, loops.index(static_cast<int>(at) + 2), tap));
        weight.push_back(tap);
    }
    value what = convert(left(read_window(x, read, with, border)), sum) * convert(right(imported::at(weights, weight)), sum);
    what = over(operation::reduce_sum, axes, what);
    if (bias && bias->shape() != shape{kernel[0]}) throw not_imported("a bias of " + text_of(bias->shape()));
    if (bias) what = imported::at(*bias, {loops.index(1)}) + what;
    return {loops, what};
}
inline void convolve(lowering& of) {
    view const x = of.operand(0);
    std::optional<view> const bias = of.has(2) ? std::optional(of.operand(2)) : std::nullopt;
    auto const made = convolution(of, x, of.operand(1), bias, x.type(), number(std::int64_t{0}, x.type()), same, same);
    of.compute(made.loops, made.sum, 0);
}
inline void convolve_integers(lowering& of) {
    view const x = of.operand(0);
    auto const zero = [&](std::size_t operand) { return of.has(operand) ? known_integer(of, operand) : 0; };
    auto const minus = [](std::int64_t by) {
        return [by](value const& one) {
            value const wide = convert(one, scalar_type::int32);
            return by == 0 ? wide : wide - number(by, scalar_type::int32);
        };
    };
    auto const made = convolution(of, x, of.operand(1), {}, scalar_type::int32, number(zero(2), x.type()), minus(zero(2)), minus(zero(3)));
    of.compute(made.loops, made.sum, 0);
}
/// What pools have in common: the operand as windows of it are read, and loops over the result.
struct pooled {
    view x;
    shape input, kernel;
    window with;
    space loops;
};
inline pooled pooled_view(lowering& of, view const& x, bool global) {
    shape const input = x.shape();
    if (input.size() < 3) throw not_imported("of " + std::to_string(input.size()) + " dimensions");
    shape kernel(input.begin() + 2, input.end());
    if (!global) kernel = integers(of, "kernel_shape").value_or(kernel);
    window const with = window_of(of, input, kernel);
    shape whole{input[0], input[1]};
    whole.insert(whole.end(), with.result.begin(), with.result.end());
    return {under_window(of, x, with), input, kernel, with, loops_over(whole)};
}
/// The index that a window reads, and the axes that it is reduced over.
struct taps_of_pool {
    std::vector<value> index, axes;
};
inline taps_of_pool taps_of(pooled const& from) {
    taps_of_pool made{{from.loops.index(0), from.loops.index(1)}, {}};
    for (std::size_t at = 0; at < from.kernel.size(); ++at) {
        value const tap = from.with.tap(at, made.axes);
        made.index.push_back(from.with.index(at, from.loops.index(static_cast<int>(at) + 2), tap));
    }
    return made;
}
/// How many elements the mean of a window counts, as a number of this type.
inline value counted_by(lowering const& of, pooled const& from, scalar_type type) {
    window const& with = from.with;
    double all = 1;
    value counted = number(std::int64_t{1}, type);
    bool varies = false;
    for (std::size_t at = 0; at < from.kernel.size(); ++at) {
        all *= static_cast<double>(from.kernel[at]);
        // Taps inside: all of the window, less those before 0 and those after the end. With `count_include_pad`, the declared padding
        // counts.
        bool const counts_pads = integer(of, "count_include_pad", 0) != 0;
        if (with.dilations[at] != 1) throw not_imported("an average of a dilated window");
        std::int64_t const low = counts_pads ? -with.before[at] : 0;
        auto const declared = integers(of, "pads");
        std::int64_t const after =
            declared && word(of, "auto_pad", "NOTSET") == "NOTSET" ? (*declared)[at + from.kernel.size()] : with.after[at];
        std::int64_t const high = from.input[at + 2] + (counts_pads ? after : 0);
        bool const ends_inside = (with.result[at] - 1) * with.strides[at] - with.before[at] + from.kernel[at] <= high;
        if (-with.before[at] >= low && ends_inside) {
            counted = counted * number(static_cast<double>(from.kernel[at]), type);
            continue;
        }
        varies = true;
        auto const in32 = [](std::int64_t of_it) { return number(of_it, scalar_type::int32); };
        value const first = times(from.loops.index(static_cast<int>(at) + 2), with.strides[at]) - in32(with.before[at]);
        value const inside = smaller_of(in32(high), first + in32(from.kernel[at])) - larger_of(in32(low), first);
        counted = counted * convert(inside, type);
    }
    return varies ? counted : number(all, type);
}
template <bool Average, bool Global>
void pool(lowering& of) {
    if (of.results() > 1) throw not_imported("positions of the maxima are not computed");
    pooled const from = pooled_view(of, of.operand(0), Global);
    scalar_type const type = from.x.type();
    value const lowest = is_float(type) ? number(-std::numeric_limits<double>::infinity(), type) : number(lowest_of(type), type);
    auto const [read, axes] = taps_of(from);
    value const border = Average ? number(std::int64_t{0}, type) : lowest;
    value const what =
        over(Average ? operation::reduce_sum : operation::reduce_maximum, axes, read_window(from.x, read, from.with, border));
    if (!Average) return void(of.compute(from.loops, what, 0));
    need_float(what);
    of.compute(from.loops, what, 0, [&](value const& sum) { return sum / counted_by(of, from, type); });
}
/// The root of the sum of powers in each window: of magnitudes, or of squares.
template <bool Global>
void pool_of_powers(lowering& of) {
    std::int64_t const power = integer(of, "p", 2);
    if (power != 1 && power != 2) throw not_imported("a power of " + std::to_string(power));
    pooled const from = pooled_view(of, of.operand(0), Global);
    auto const [read, axes] = taps_of(from);
    value const one = read_window(from.x, read, from.with, none_of(from.x.type()));
    value const what = over(operation::reduce_sum, axes, power == 1 ? magnitude(one) : one * one);
    if (power == 1) return void(of.compute(from.loops, what, 0));
    of.compute(from.loops, what, 0, root_of);
}

}  // namespace tilewright::imported::detail
