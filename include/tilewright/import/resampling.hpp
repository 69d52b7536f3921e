#pragma once
#include <cmath>
#include <numeric>
#include <tilewright/import/patterns.hpp>

// Resize: dimensions that are read at other places than their elements. Where these places are follows from shapes and settings, so that
// each element of the result is a sum of elements with known weights.
namespace tilewright::imported::detail {

/// One dimension of a resize: which elements each element of the result reads, and with which weights.
struct sampling {
    std::int64_t input = 1, result = 1;
    std::vector<std::vector<std::pair<std::int64_t, double>>> taps = {};  ///< for each element of the result
    std::optional<double> outside = {};                                   ///< what is read of places outside, where that is a value
    std::vector<bool> is_outside = {};
};
struct resize_settings {
    std::string mode, places, nearest;
    double cubic = -0.75, outside = 0;
    bool leaves_out = false;
};
inline resize_settings settings_of_resize(lowering const& of) {
    bool const before_11 = of.node->version < 11;
    resize_settings made{word(of, "mode", "nearest"),
                         word(of, "coordinate_transformation_mode", before_11 ? "asymmetric" : "half_pixel"),
                         word(of, "nearest_mode", before_11 ? "floor" : "round_prefer_floor"),
                         static_cast<double>(real(of, "cubic_coeff_a", -0.75f)),
                         static_cast<double>(real(of, "extrapolation_value", 0)),
                         integer(of, "exclude_outside", 0) != 0};
    auto const one_of = [&](std::string const& given, std::initializer_list<char const*> all, char const* what) {
        if (std::find(all.begin(), all.end(), given) == all.end()) throw not_imported(std::string(what) + " " + network::shown(given));
    };
    if (made.mode == "bilinear" || made.mode == "trilinear") made.mode = "linear";
    one_of(made.mode, {"nearest", "linear", "cubic"}, "mode");
    one_of(made.places,
           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
            "tf_half_pixel_for_nn"},
           "places by");
    one_of(made.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, "the nearest by");
    if (integer(of, "antialias", 0) != 0) throw not_imported("smoothed before it is read");
    if (of.node->find("keep_aspect_ratio_policy") && word(of, "keep_aspect_ratio_policy", "stretch") != "stretch")
        throw not_imported("sizes that keep the ratio of dimensions");
    return made;
}
/// Where element `at` of the result lies among the elements of the input. Scales make results that are not cut to whole elements.
inline double place_of(std::int64_t at, sampling const& of, double scale, std::string const& places, double begin, double end) {
    double const x = static_cast<double>(at), input = static_cast<double>(of.input), result = scale * input;
    if (places == "asymmetric") return x / scale;
    if (places == "align_corners") return of.result == 1 ? 0 : x * (input - 1) / (result - 1);
    if (places == "pytorch_half_pixel" && of.result == 1) return -0.5;
    if (places == "tf_crop_and_resize") {
        return of.result > 1 ? begin * (input - 1) + x * (end - begin) * (input - 1) / (result - 1) : 0.5 * (begin + end) * (input - 1);
    }
    if (places == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
    if (places == "half_pixel_symmetric") return input / 2 * (1 - static_cast<double>(of.result) / result) + (x + 0.5) / scale - 0.5;
    return (x + 0.5) / scale - 0.5;
}
inline void fill_taps(sampling& of, double scale, resize_settings const& how, double begin, double end) {
    for (std::int64_t at = 0; at < of.result; ++at) {
        double const place = place_of(at, of, scale, how.places, begin, end), last = static_cast<double>(of.input - 1);
        bool const outside = how.places == "tf_crop_and_resize" && (place < 0 || place > last);
        of.is_outside.push_back(outside);
        auto& taps = of.taps.emplace_back();
        double const limited_place = std::clamp(place, -4.0, last + 4);
        double const below = std::floor(limited_place), rest = limited_place - below;
        std::int64_t const first = static_cast<std::int64_t>(below);
        auto const add = [&](std::int64_t index, double weight) {
            if (how.leaves_out && (index < 0 || index >= of.input)) return;
            taps.emplace_back(std::clamp<std::int64_t>(index, 0, of.input - 1), weight);
        };
        if (how.mode == "nearest") {
            bool const up = how.nearest == "ceil"                ? rest > 0
                            : how.nearest == "floor"             ? false
                            : how.nearest == "round_prefer_ceil" ? rest >= 0.5
                                                                 : rest > 0.5;
            taps.emplace_back(std::clamp<std::int64_t>(first + (up ? 1 : 0), 0, of.input - 1), 1.0);
            continue;
        }
        if (how.mode == "linear") {
            add(first, 1 - rest), add(first + 1, rest);
        } else {
            double const a = how.cubic;
            auto const near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
            auto const far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
            add(first - 1, far(1 + rest)), add(first, near(rest)), add(first + 1, near(1 - rest)), add(first + 2, far(2 - rest));
        }
        // What is left out is shared by what is left.
        double sum = 0;
        for (auto const& one : taps) sum += one.second;
        for (auto& one : taps) one.second /= how.leaves_out ? sum : 1;
    }
}
/// A kernel for one dimension. The result is `steps` times `phases` elements, where a step of the result is a whole number of elements of
/// the input, so that an element reads a window that moves with its step. A table has a weight for each element of the result and of the
/// window.
inline view resampled(lowering& of, view x, int dimension, sampling const& how) {
    auto const at = static_cast<std::size_t>(dimension);
    x = of.plain(x);
    std::int64_t steps = std::gcd(how.input, how.result);
    int stored = 0;
    for (int one = 0; one < x.rank(); ++one) {
        if (one != dimension) stored += static_cast<int>(x.dimensions[static_cast<std::size_t>(one)].size());
    }
    if (steps > 1 && stored + 2 > max_rank) steps = 1;
    std::int64_t const phases = how.result / steps, moves = how.input / steps;
    std::int64_t low = 0, high = 0;
    for (std::int64_t one = 0; one < how.result; ++one) {
        for (auto const& tap : how.taps[static_cast<std::size_t>(one)]) {
            low = std::min(low, tap.first - one / phases * moves), high = std::max(high, tap.first - one / phases * moves);
        }
    }
    std::int64_t const window = high - low + 1;
    bool const weighs = is_float(x.type());
    if (how.result * window > 1 << 24) throw not_imported("a table of " + std::to_string(how.result * window) + " weights");
    std::vector<double> weights(static_cast<std::size_t>(how.result * window), 0);
    for (std::int64_t one = 0; one < how.result; ++one) {
        for (auto const& tap : how.taps[static_cast<std::size_t>(one)])
            weights[static_cast<std::size_t>(one * window + tap.first - one / phases * moves - low)] += tap.second;
    }
    view const table = of.constant(known_of(weighs ? x.type() : scalar_type::uint8, weights, {steps, phases, window}));
    shape whole = x.shape();
    whole[at] = how.result;
    space loops = loops_over(whole);
    loops.axes[at].clear(), loops.extents[at].clear();
    auto const in32 = [](std::int64_t number_of_it) { return number(number_of_it, scalar_type::int32); };
    auto const axis_of = [&](char const* name, std::int64_t extent) { return extent > 1 ? along(ir::label(name), extent) : in32(0); };
    value const step = axis_of("step", steps), phase = axis_of("phase", phases), tap = axis_of("tap", window);
    for (auto const& [axis, extent] : {std::pair(step, steps), std::pair(phase, phases)}) {
        if (extent > 1) loops.axes[at].push_back(axis), loops.extents[at].push_back(extent);
    }
    std::vector<value> index;
    for (int one = 0; one < x.rank(); ++one) index.push_back(loops.index(one));
    index[at] = times(step, moves) + tap + in32(low);
    value const weight = imported::at(table, {step, phase, tap}), read = padded_at(x, index, none_of(x.type()));
    // What has no weight is not read: it may be no number.
    value const what = choose(equal(weight, none_of(weight.type())), none_of(x.type()), weighs ? read * weight : read);
    return of.compute(loops, over(operation::reduce_sum, window > 1 ? std::vector<value>{tap} : std::vector<value>{}, what));
}
/// Where a dimension is outside, the value for that.
inline view with_outside(lowering& of, view const& x, int dimension, sampling const& how) {
    if (std::find(how.is_outside.begin(), how.is_outside.end(), true) == how.is_outside.end()) return x;
    std::vector<std::int64_t> flags(how.is_outside.begin(), how.is_outside.end());
    view flag = of.constant(known_of(scalar_type::uint8, flags, {how.result}));
    for (int at = dimension + 1; at < x.rank(); ++at) flag.dimensions.push_back(factors{});
    std::vector<view> all{x, repeated_to(flag, x.shape())};
    space const loops = of.loops(all, x.shape());
    value const one = imported::at(all[0], loops);
    return of.compute(loops, choose(is_true(imported::at(all[1], loops)), number(*how.outside, one.type()), one));
}
/// @param scales_at, sizes_at  the operands that have them, or -1
inline void resize_by(lowering& of, int region, int scales_at, int sizes_at) {
    view x = of.operand(0);
    resize_settings const how = settings_of_resize(of);
    int const rank = x.rank();
    std::vector<double> scales(static_cast<std::size_t>(rank), 1), ends(static_cast<std::size_t>(2 * rank), 0);
    shape whole = x.shape();
    shape axes;
    for (int at = 0; at < rank; ++at) axes.push_back(at);
    axes = integers(of, "axes").value_or(axes);
    dimensions_of(axes, rank);
    auto const known_list = [&](int operand, std::size_t count) {
        auto const all = of.known_numbers(static_cast<std::size_t>(operand));
        if (all.size() != count) throw not_imported(std::to_string(all.size()) + " numbers for " + std::to_string(count) + " dimensions");
        return all;
    };
    auto const given = [&](int operand) {
        return operand >= 0 && of.has(static_cast<std::size_t>(operand)) &&
               of.shape_of_operand(static_cast<std::size_t>(operand)) != shape{0};
    };
    bool const by_size = given(sizes_at);
    std::vector<double> numbers;
    if (!by_size && scales_at < 0) {
        auto const list = setting<std::vector<float>>(of, "scales").value_or(std::vector<float>{});
        numbers.assign(list.begin(), list.end());
        if (numbers.size() != axes.size()) throw not_imported("scales of another number of dimensions");
    } else {
        if (!by_size && !given(scales_at)) throw not_imported("neither scales nor sizes");
        numbers = known_list(by_size ? sizes_at : scales_at, axes.size());
    }
    std::vector<double> const regions =
        how.places == "tf_crop_and_resize" ? known_list(region, 2 * axes.size()) : std::vector<double>(2 * axes.size(), 0);
    for (std::size_t one = 0; one < axes.size(); ++one) {
        auto const at = static_cast<std::size_t>(dimension_of(axes[one], rank));
        double const extent = static_cast<double>(whole[at]), result = by_size ? numbers[one] : std::floor(extent * numbers[one]);
        if (!(result >= 1 && result <= 1 << 24) || !std::isfinite(numbers[one]))
            throw not_imported("an extent of " + std::to_string(result));
        scales[at] = by_size ? numbers[one] / extent : numbers[one];
        whole[at] = static_cast<std::int64_t>(result);
        ends[2 * at] = regions[one], ends[2 * at + 1] = regions[one + axes.size()];
    }
    count_of(whole);
    if (how.mode != "nearest") need_float(none_of(x.type()));
    std::vector<sampling> all;
    for (int at = 0; at < rank; ++at) {
        auto const dimension = static_cast<std::size_t>(at);
        sampling one{.input = x.extent(at), .result = whole[dimension]};
        if (how.places == "tf_crop_and_resize") one.outside = how.outside;
        bool const same_places = one.input == one.result && scales[dimension] == 1 && how.places != "tf_crop_and_resize";
        if (!same_places) fill_taps(one, scales[dimension], how, ends[2 * dimension], ends[2 * dimension + 1]);
        all.push_back(std::move(one));
    }
    for (int at = 0; at < rank; ++at) {
        auto const& one = all[static_cast<std::size_t>(at)];
        if (!one.taps.empty()) x = resampled(of, x, at, one);
    }
    for (int at = 0; at < rank; ++at) {
        auto const& one = all[static_cast<std::size_t>(at)];
        if (one.outside) x = with_outside(of, x, at, one);
    }
    of.give(0, x);
}
inline void resize(lowering& of) { of.node->version < 11 ? resize_by(of, -1, 1, -1) : resize_by(of, 1, 2, 3); }
inline void upsample(lowering& of) { resize_by(of, -1, of.has(1) ? 1 : -1, -1); }

}  // namespace tilewright::imported::detail
