#pragma once
#include <tilewright/import/movement.hpp>
#include <tilewright/import/windows.hpp>

// Transposed convolutions: each element of the input adds its window of weights to the result.
namespace tilewright::imported::detail {

/// One spatial dimension. Element `at` of the result is the sum of x[i] * w[k] where i * stride + k * dilation = at + before.
struct spread {
    std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1, before = 0, result = 1;
    bool by_phase = false;  ///< the result is stride elements for each step of the input, of which each reads every stride-th weight

    std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
    /// Elements of the result as they are stored: whole steps, so that each phase has as many.
    std::int64_t steps() const { return (result + stride - 1) / stride; }
};
inline std::vector<spread> spreads_of(lowering& of, shape const& input, shape const& kernel) {
    std::size_t const spatial = kernel.size();
    shape const strides = integers(of, "strides").value_or(shape(spatial, 1)),
                dilations = integers(of, "dilations").value_or(shape(spatial, 1)),
                more = integers(of, "output_padding").value_or(shape(spatial, 0)),
                pads = integers(of, "pads").value_or(shape(2 * spatial, 0));
    auto const given = integers(of, "output_shape");
    std::string const automatic = word(of, "auto_pad", "NOTSET");
    if (strides.size() != spatial || dilations.size() != spatial || more.size() != spatial || pads.size() != 2 * spatial ||
        (given && given->size() != spatial))
        throw not_imported("strides, dilations or pads of other dimensions");
    if (integers(of, "kernel_shape").value_or(kernel) != kernel) throw not_imported("weights of another shape than kernel_shape");
    std::vector<spread> all;
    for (std::size_t at = 0; at < spatial; ++at) {
        constexpr std::int64_t most = 1 << 20;  // products of two such numbers are far from 63 bits
        spread one{.input = limited(input[at + 2], 1, most, "an extent"),
                   .kernel = limited(kernel[at], 1, most, "a window"),
                   .stride = limited(strides[at], 1, most, "a stride"),
                   .dilation = limited(dilations[at], 1, most, "a dilation")};
        std::int64_t const whole = one.stride * (one.input - 1) + limited(more[at], 0, most, "a pad") + one.reach();
        if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER" || given) {
            one.result = given ? limited((*given)[at], 1, most_extent, "an extent") : one.input * one.stride;
            // What is more than is computed is 0, at the end.
            std::int64_t const cut_off = std::max<std::int64_t>(0, whole - one.result);
            if (of.node->version < 11 && cut_off % 2 != 0)
                throw not_imported("pads that sum up to " + std::to_string(cut_off) +
                                   ": ONNX contradicts itself about the longer one before opset 11");
            one.before = automatic == "SAME_UPPER" ? cut_off / 2 : cut_off - cut_off / 2;
        } else if (automatic == "NOTSET" || automatic == "VALID") {
            bool const padded = automatic == "NOTSET";
            one.before = padded ? limited(pads[at], -most, most, "a pad") : 0;
            one.result = whole - one.before - (padded ? limited(pads[at + spatial], -most, most, "a pad") : 0);
        } else {
            throw not_imported("padding by " + network::shown(automatic));
        }
        limited(one.result, 1, most_extent, "an extent");
        one.by_phase = one.stride > 1;
        all.push_back(one);
    }
    return all;
}
/// Weights with zeros between them along a spatial dimension.
inline view dilated(lowering& of, view const& weights, int dimension, std::int64_t by) {
    shape whole = weights.shape();
    std::int64_t const extent = weights.extent(dimension);
    whole[static_cast<std::size_t>(dimension)] = (extent - 1) * by + 1;
    space const loops = loops_over(whole);
    std::vector<value> index;
    for (int at = 0; at < weights.rank(); ++at) index.push_back(loops.index(at));
    value const tap = along("tap", extent), here = std::exchange(index[static_cast<std::size_t>(dimension)], tap);
    value const one = imported::at(weights, index);
    return of.compute(loops, reduced(operation::reduce_sum, {tap}, choose(equal(here, times(tap, by)), one, none_of(one.type()))));
}
inline void convolve_transposed(lowering& of) {
    view const x = of.plain(of.operand(0));
    view weights = of.indexable(of.operand(1));
    shape const input = x.shape(), kernel = weights.shape();
    if (input.size() < 3 || kernel.size() != input.size()) throw not_imported("of " + std::to_string(input.size()) + " dimensions");
    std::int64_t const groups = limited(integer(of, "group", 1), 1, most_extent, "groups"), channels = input[1] / groups, made = kernel[1];
    if (channels * groups != input[1] || kernel[0] != input[1]) throw not_imported("groups that do not fit");
    auto spatial = spreads_of(of, input, {kernel.begin() + 2, kernel.end()});
    std::optional<view> const bias = of.has(2) ? std::optional(of.operand(2)) : std::nullopt;
    if (bias && bias->shape() != shape{made * groups}) throw not_imported("a bias of " + text_of(bias->shape()));
    // A result that has too many dimensions with its phases goes through all of the input instead.
    auto const stored_dimensions = [&] {
        int count = (input[0] > 1 ? 1 : 0) + (groups > 1 ? 1 : 0) + (made > 1 ? 1 : 0);
        for (spread const& one : spatial) count += one.by_phase ? (one.steps() > 1 ? 2 : 1) : (one.result > 1 ? 1 : 0);
        return count;
    };
    for (std::size_t at = spatial.size(); at-- > 0 && stored_dimensions() > max_rank;) spatial[at].by_phase = false;
    for (std::size_t at = 0; at < spatial.size(); ++at) {
        if (spatial[at].dilation > 1 && spatial[at].kernel > 1)
            weights = dilated(of, weights, static_cast<int>(at) + 2, spatial[at].dilation);
    }
    weights = of.plain(weights);
    shape whole{input[0], made * groups};
    for (spread const& one : spatial) whole.push_back(one.by_phase ? one.steps() * one.stride : one.result);
    space loops = loops_over(whole);
    auto const parts = [&](std::size_t dimension, char const* outer, std::int64_t of_outer, char const* inner, std::int64_t of_inner) {
        loops.extents[dimension].clear(), loops.axes[dimension].clear();
        for (auto const& [name, extent] : {std::pair(outer, of_outer), std::pair(inner, of_inner)}) {
            if (extent == 1) continue;
            loops.extents[dimension].push_back(extent);
            loops.axes[dimension].push_back(along(ir::label(name), extent));
        }
    };
    auto const in32 = [](std::int64_t number_of_it) { return number(number_of_it, scalar_type::int32); };
    auto const along_or_zero = [&](std::string const& name, std::int64_t extent) {
        return extent > 1 ? along(ir::label(name.c_str()), extent) : in32(0);
    };
    if (groups > 1) parts(1, "group", groups, "member", made);
    value const group = along_or_zero("group", groups), member = groups > 1 ? along_or_zero("member", made) : loops.index(1);
    std::vector<value> axes;
    value channel = groups > 1 ? times(group, channels) : in32(0);
    if (channels > 1) {
        axes.push_back(along("channel", channels));
        channel = groups > 1 ? channel + axes[0] : axes[0];
    }
    std::vector<value> read{loops.index(0), channel}, weight{channel, member};
    for (std::size_t at = 0; at < spatial.size(); ++at) {
        spread const& one = spatial[at];
        std::string const number_of_it = std::to_string(at);
        if (!one.by_phase) {
            value const from = along_or_zero("from" + number_of_it, one.input);
            if (one.input > 1) axes.push_back(from);
            read.push_back(from);
            weight.push_back(loops.index(static_cast<int>(at) + 2) + in32(one.before) - times(from, one.stride));
            continue;
        }
        // i = step - t for each t whose weight at phase + before + t * stride can be one: of 0 <= phase < stride.
        auto const down = [](std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); };
        std::int64_t const first = -down(one.before + one.stride - 1, one.stride), last = down(one.reach() - 1 - one.before, one.stride);
        std::int64_t const count = std::max<std::int64_t>(1, last - first + 1);
        parts(at + 2, ("step" + number_of_it).c_str(), one.steps(), ("phase" + number_of_it).c_str(), one.stride);
        value const step = along_or_zero("step" + number_of_it, one.steps()), phase = along_or_zero("phase" + number_of_it, one.stride);
        value const tap = along_or_zero("tap" + number_of_it, count);
        if (count > 1) axes.push_back(tap);
        read.push_back(step - tap - in32(first));
        weight.push_back(phase + times(tap, one.stride) + in32(one.before + first * one.stride));
    }
    value const zero = none_of(x.type());
    value what = over(operation::reduce_sum, axes, padded_at(x, read, zero) * padded_at(weights, weight, none_of(weights.type())));
    if (bias) what = imported::at(of.indexable(*bias), {groups > 1 ? times(group, made) + member : loops.index(1)}) + what;
    bool const exact = std::all_of(spatial.begin(), spatial.end(),
                                   [](spread const& one) { return !one.by_phase || one.steps() * one.stride == one.result; });
    view all = exact ? of.compute(loops, what, 0) : of.compute(loops, what);
    if (exact) return;
    for (std::size_t at = 0; at < spatial.size(); ++at) all = sliced_or_copied(of, all, static_cast<int>(at) + 2, 0, 1, spatial[at].result);
    of.give(0, all);
}

}  // namespace tilewright::imported::detail
