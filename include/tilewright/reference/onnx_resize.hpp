#pragma once
#include <tilewright/reference/onnx_places.hpp>

// Resize and Upsample: each axis by itself.
namespace tilewright::reference::of_onnx {

/// What one element of the result takes of one axis: indices with weights.
struct taps_of_axis {
    std::vector<std::int64_t> index = {};
    std::vector<double> weight = {};
    bool outside = false;  ///< of the operand, where a crop reaches behind it
};

/// How an axis is resized.
struct resized_axis {
    std::int64_t from = 1, to = 1;
    double scale = 1;           ///< to / from, as it is given
    double begin = 0, end = 1;  ///< of the crop, relative to the extent
};

/// How all axes are resized.
struct resize_settings {
    std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
    double cubic = -0.75;
    bool exclude_outside = false;
};

/// The position in the operand of an index of the result.
inline double position_of(std::int64_t index, resized_axis const& axis, std::string const& mode) {
    auto const at = static_cast<double>(index), from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
    if (mode == "half_pixel") return (at + 0.5) / axis.scale - 0.5;
    if (mode == "pytorch_half_pixel") return axis.to > 1 ? (at + 0.5) / axis.scale - 0.5 : 0;
    if (mode == "asymmetric") return at / axis.scale;
    if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / axis.scale;
    if (mode == "half_pixel_symmetric") return from / 2 * (1 - to / (axis.scale * from)) + (at + 0.5) / axis.scale - 0.5;
    if (mode == "align_corners") {
        require(to == axis.scale * from, "corners of an extent that the scale does not give");
        return axis.to > 1 ? at * (from - 1) / (to - 1) : 0;
    }
    require(mode == "tf_crop_and_resize", "coordinates of another name");
    if (axis.to == 1) return 0.5 * (axis.begin + axis.end) * (from - 1);
    return axis.begin * (from - 1) + at * (axis.end - axis.begin) * (from - 1) / (to - 1);
}

inline double nearest_of(double position, std::string const& how) {
    if (how == "floor") return std::floor(position);
    if (how == "ceil") return std::ceil(position);
    if (how == "round_prefer_floor") return std::ceil(position - 0.5);
    require(how == "round_prefer_ceil", "a rounding of another name");
    return std::floor(position + 0.5);
}

/// The weight of a cubic convolution at a distance. @see R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981
inline double cubic_weight(double distance, double a) {
    double const x = std::abs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

inline taps_of_axis taps_at(std::int64_t index, resized_axis const& axis, resize_settings const& how) {
    taps_of_axis made;
    double const position = position_of(index, axis, how.coordinates), first = std::floor(position);
    auto const last = axis.from - 1;
    made.outside = how.coordinates == "tf_crop_and_resize" && (position < 0 || position > static_cast<double>(last));
    auto const add = [&](double at, double weight) {
        made.index.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, last));
        made.weight.push_back(weight);
    };
    if (how.mode == "nearest") {
        add(nearest_of(position, how.nearest), 1);
    } else if (how.mode == "linear") {
        add(first, 1 - (position - first));
        add(first + 1, position - first);
    } else {
        require(how.mode == "cubic", "a mode of another name");
        double sum = 0;
        for (double at = first - 1; at < first + 3; ++at) {
            bool const excluded = how.exclude_outside && (at < 0 || at > static_cast<double>(last));
            add(at, excluded ? 0 : cubic_weight(position - at, how.cubic));
            sum += made.weight.back();
        }
        for (double& one : made.weight) one = how.exclude_outside ? one / sum : one;
    }
    return made;
}

/// Resizes one axis of values[extents].
inline std::vector<double> resize_axis(std::vector<double> const& values, shape const& extents, std::size_t axis,
                                       std::vector<taps_of_axis> const& taps) {
    std::int64_t const outer = count_between(extents, 0, axis), inner = count_between(extents, axis + 1, extents.size());
    std::vector<double> made;
    made.reserve(static_cast<std::size_t>(outer * inner) * taps.size());
    for (std::int64_t before = 0; before < outer; ++before) {
        for (taps_of_axis const& one : taps) {
            for (std::int64_t behind = 0; behind < inner; ++behind) {
                double sum = 0;
                for (std::size_t at = 0; at < one.index.size(); ++at)
                    sum += one.weight[at] * values[static_cast<std::size_t>((before * extents[axis] + one.index[at]) * inner + behind)];
                made.push_back(sum);
            }
        }
    }
    return made;
}

/// @param extrapolated  what stands where a crop reaches behind the operand
inline elements resized(elements const& in, std::vector<resized_axis> const& axes, resize_settings const& how, double extrapolated) {
    auto values = reals_of(in);
    shape extents = in.extents;
    require(is_float(in.type) || how.mode == "nearest", "integers between others");
    std::vector<std::vector<bool>> outside_of(extents.size());
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        std::vector<taps_of_axis> taps;
        bool const stays = axes[axis].from == axes[axis].to && axes[axis].scale == 1 && how.coordinates != "tf_crop_and_resize";
        for (std::int64_t at = 0; at < axes[axis].to; ++at) {
            taps.push_back(stays ? taps_of_axis{{at}, {1.0}} : taps_at(at, axes[axis], how));
            outside_of[axis].push_back(taps.back().outside);
        }
        values = resize_axis(values, extents, axis, taps);
        extents[axis] = axes[axis].to;
    }
    std::size_t place = 0;
    each_index(extents, [&](shape const& index) {
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
            if (outside_of[axis][static_cast<std::size_t>(index[axis])]) values[place] = extrapolated;
        }
        ++place;
    });
    return of_reals(in.type, extents, values);
}

/// Operands: the input, a crop, scales, sizes; in version 10: the input, scales. Sizes take the place of scales.
///
/// @throws not_covered  for antialias, for sizes that keep proportions, and for align_corners with scales that give no whole extent,
///                      where implementations differ
inline elements resize(call const& of) {
    auto const& in = of.operand(0);
    bool const old = of.version() < 11;
    std::string const coordinates = of.word("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
    resize_settings const how{of.word("mode", "nearest"), coordinates, of.word("nearest_mode", old ? "floor" : "round_prefer_floor"),
                              of.real("cubic_coeff_a", -0.75f), of.integer("exclude_outside", 0) != 0};
    require(of.integer("antialias", 0) == 0, "antialias");
    auto const given = [&](std::size_t at) { return of.find(at) != nullptr && count_of(of.operand(at).extents) > 0; };
    bool const sized = !old && given(3);
    require(sized || given(old ? 1 : 2), "neither scales nor sizes");
    require(!sized || of.word("keep_aspect_ratio_policy", "stretch") == "stretch", "sizes that keep proportions");
    std::size_t const rank = in.extents.size();
    shape named = of.integers("axes");
    for (std::size_t at = 0; at < rank && !of.has("axes"); ++at) named.push_back(static_cast<std::int64_t>(at));
    std::vector<resized_axis> axes(rank);
    for (std::size_t at = 0; at < rank; ++at) axes[at].from = axes[at].to = in.extents[at];
    auto const numbers = reals_of(of.operand(sized ? 3 : old ? 1 : 2));
    auto const crop = how.coordinates == "tf_crop_and_resize" ? reals_of(of.operand(1)) : std::vector<double>(2 * named.size());
    require(numbers.size() == named.size() && crop.size() == 2 * named.size(), "scales of another rank");
    for (std::size_t at = 0; at < named.size(); ++at) {
        resized_axis& one = axes[axis_of(named[at], rank)];
        auto const from = static_cast<double>(one.from);
        require(numbers[at] > 0 && one.from > 0, "an extent of 0");
        one.to = static_cast<std::int64_t>(std::floor(sized ? numbers[at] : numbers[at] * from));
        one.scale = sized ? numbers[at] / from : numbers[at];
        if (how.coordinates == "tf_crop_and_resize") one.begin = crop[at], one.end = crop[at + named.size()];
    }
    return resized(in, axes, how, of.real("extrapolation_value", 0));
}

/// Scales are a setting before version 9, then an operand.
inline elements upsample(call const& of) {
    auto const& in = of.operand(0);
    resize_settings const how{of.word("mode", "nearest"), "asymmetric", "floor"};
    std::vector<double> scales;
    if (auto const* setting = of.setting<std::vector<float>>("scales")) scales.assign(setting->begin(), setting->end());
    else scales = reals_of(of.operand(1));
    require(scales.size() == in.extents.size(), "scales of another rank");
    std::vector<resized_axis> axes;
    for (std::size_t at = 0; at < scales.size(); ++at) {
        std::int64_t const from = in.extents[at];
        axes.push_back({from, static_cast<std::int64_t>(std::floor(scales[at] * static_cast<double>(from))), scales[at]});
    }
    return resized(in, axes, how, 0);
}

}  // namespace tilewright::reference::of_onnx
