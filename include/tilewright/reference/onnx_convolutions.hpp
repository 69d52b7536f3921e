#pragma once
#include <tilewright/reference/onnx_windows.hpp>

// Convolutions.
namespace tilewright::reference::of_onnx {

/// Operands of a convolution as numbers: in[batch][channels][large…], weights[filters][channels / groups][taps…].
struct convolution {
    std::vector<double> in, weights;
    windows over;
    std::int64_t batch = 1, channels = 1, filters = 1, groups = 1;

    shape result() const {
        shape made = {batch, filters};
        for (window const& one : over) made.push_back(one.small);
        return made;
    }
};

/// Reads the settings; `in` and `weights` may be quantised.
///
/// @throws not_covered  where extents do not fit
inline convolution convolution_of(call const& of, elements const& in, elements const& weights) {
    shape const &x = in.extents, &w = weights.extents;
    require(x.size() == w.size() && x.size() > 2, "a convolution of operands of two ranks");
    convolution made{reals_of(in), reals_of(weights), {}, x[0], x[1], w[0], of.integer("group", 1)};
    shape const taps(w.begin() + 2, w.end());
    require(of.integers("kernel_shape", taps) == taps, "a kernel_shape that is not that of the weights");
    require(made.groups > 0 && made.channels == w[1] * made.groups && made.filters % made.groups == 0, "channels that do not fit");
    made.over = windows_of(of, taps);
    fit_to_input(made.over, x, of.word("auto_pad", "NOTSET"), false);
    return made;
}

/// to[i] += factor * from[i * step]
inline void add_run(double* to, double factor, double const* from, std::int64_t count, std::int64_t step) {
    if (step == 1) {
        for (std::int64_t at = 0; at < count; ++at) to[at] += factor * from[at];
    } else {
        for (std::int64_t at = 0; at < count; ++at) to[at] += factor * from[at * step];
    }
}

/// The sums, [batch][filters][small…]. What lies outside of the input counts as 0. Sums of integers of 8 bits are exact.
inline std::vector<double> sums_of(convolution const& of) {
    std::vector<run> const runs = runs_of(of.over);
    std::int64_t const large = count_of(extents_of(of.over, &window::large)), small = count_of(extents_of(of.over, &window::small)),
                       taps = count_of(extents_of(of.over, &window::taps)), stride = of.over.back().stride,
                       in_group = of.channels / of.groups, filters_of_group = of.filters / of.groups;
    std::vector<double> made(static_cast<std::size_t>(of.batch * of.filters * small));
    for (std::int64_t plane = 0; plane < of.batch * of.filters; ++plane) {
        std::int64_t const batch = plane / of.filters, filter = plane % of.filters, group = filter / filters_of_group;
        for (std::int64_t channel = 0; channel < in_group; ++channel) {
            double const* in = of.in.data() + (batch * of.channels + group * in_group + channel) * large;
            double const* weights = of.weights.data() + (filter * in_group + channel) * taps;
            double* out = made.data() + plane * small;
            for (run const& one : runs) add_run(out + one.small, weights[one.tap], in + one.large, one.count, stride);
        }
    }
    return made;
}

/// Adds bias[channel] to each channel of sums[batch][channels][size].
inline void add_bias(std::vector<double>& sums, elements const& bias, std::size_t channels, std::size_t size) {
    require(count_of(bias.extents) == static_cast<std::int64_t>(channels), "a bias of another shape");
    auto const added = reals_of(bias);
    for (std::size_t at = 0; at < sums.size(); ++at) sums[at] += added[at / size % channels];
}

/// Of floats. Operands: input, weights, bias or nothing.
inline elements conv(call const& of) {
    auto const& in = of.operand(0);
    require(is_float(in.type) && of.operand(1).type == in.type, "a convolution of integers");
    convolution const made = convolution_of(of, in, of.operand(1));
    std::vector<double> sums = sums_of(made);
    std::int64_t const size = count_of(extents_of(made.over, &window::small));
    if (auto const* bias = of.find(2)) add_bias(sums, *bias, static_cast<std::size_t>(made.filters), static_cast<std::size_t>(size));
    return of_reals(in.type, made.result(), sums);
}

/// Fits windows of a transposed convolution: its input is the small side. The output has the extents that `output_shape` says, or those
/// that pads leave.
inline void fit_to_output(windows& all, call const& of, shape const& small) {
    std::string const auto_pad = of.word("auto_pad", "NOTSET");
    bool const same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER", sized = of.has("output_shape");
    require(same || auto_pad == "NOTSET" || auto_pad == "VALID", "a padding of another name");
    shape const more = for_each_extent(of, "output_padding", all.size(), 0);
    shape wanted = of.integers("output_shape", shape(all.size(), 0));
    if (wanted.size() == all.size() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
    require(wanted.size() == all.size(), "an output_shape of another rank");
    for (std::size_t at = 0; at < all.size(); ++at) {
        window& one = all[at];
        one.small = small[at + 2];
        std::int64_t const whole = (one.small - 1) * one.stride + more[at] + one.reach();
        if (sized || same) {
            one.large = sized ? wanted[at] : one.small * one.stride;
            share_padding(one, std::max<std::int64_t>(0, whole - one.large), auto_pad != "SAME_UPPER");
        } else {
            one.large = whole - one.before - one.after;
        }
        require(one.large > 0, "an output without elements");
    }
}

/// Each element of the input adds its window to the output. Operands: in[batch][channels][small…],
/// weights[channels][filters / groups][taps…], bias[filters] or nothing.
inline elements conv_transpose(call const& of) {
    auto const &in = of.operand(0), &weights = of.operand(1);
    shape const &x = in.extents, &w = weights.extents;
    require(is_float(in.type) && weights.type == in.type, "a convolution of integers");
    require(x.size() == w.size() && x.size() > 2 && x[1] == w[0], "a convolution of operands that do not fit");
    windows over = windows_of(of, shape(w.begin() + 2, w.end()));
    fit_to_output(over, of, x);
    std::int64_t const groups = of.integer("group", 1), channels = x[1], filters_of_group = w[1], filters = groups * filters_of_group;
    require(groups > 0 && channels % groups == 0, "channels that do not fit");
    std::int64_t const large = count_of(extents_of(over, &window::large)), small = count_of(extents_of(over, &window::small)),
                       taps = count_of(extents_of(over, &window::taps)), stride = over.back().stride;
    auto const from = reals_of(in), factors = reals_of(weights);
    std::vector<double> sums(static_cast<std::size_t>(x[0] * filters * large));
    std::vector<run> const runs = runs_of(over);
    for (std::int64_t plane = 0; plane < x[0] * channels; ++plane) {
        std::int64_t const batch = plane / channels, channel = plane % channels, group = channel / (channels / groups);
        for (std::int64_t filter = 0; filter < filters_of_group; ++filter) {
            double const *source = from.data() + plane * small, *factor = factors.data() + (channel * filters_of_group + filter) * taps;
            double* to = sums.data() + (batch * filters + group * filters_of_group + filter) * large;
            for (run const& one : runs) {
                for (std::int64_t at = 0; at < one.count; ++at) to[one.large + at * stride] += factor[one.tap] * source[one.small + at];
            }
        }
    }
    if (auto const* bias = of.find(2)) add_bias(sums, *bias, static_cast<std::size_t>(filters), static_cast<std::size_t>(large));
    shape result = {x[0], filters};
    for (window const& one : over) result.push_back(one.large);
    return of_reals(in.type, result, sums);
}

}  // namespace tilewright::reference::of_onnx
