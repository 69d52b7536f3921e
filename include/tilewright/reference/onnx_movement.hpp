#pragma once
#include <tilewright/reference/onnx_places.hpp>

// Operators that move elements and change none.
namespace tilewright::reference::of_onnx {

/// The axis `at` of the result is the axis order[at] of the operand.
inline elements permuted(elements const& in, shape const& order) {
    require(order.size() == in.extents.size(), "an order of another rank");
    shape extents, steps;
    for (std::int64_t const axis : order) {
        std::size_t const at = axis_of(axis, in.extents.size());
        extents.push_back(in.extents[at]);
        steps.push_back(strides_of(in.extents)[at]);
    }
    return pick(in, extents, walk<std::size_t>(extents, 0, steps));
}
inline elements transpose(call const& of) {
    shape order(of.operand(0).extents.size());
    for (std::size_t at = 0; at < order.size(); ++at) order[at] = static_cast<std::int64_t>(order.size() - 1 - at);
    return permuted(of.operand(0), of.integers("perm", order));
}

/// All operands, one behind the other along an axis.
inline elements concat(call const& of) {
    auto const& first = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", 1), first.extents.size());
    elements made{first.type, first.extents, {}};
    made.extents[axis] = 0;
    for (elements const* one : of.given) {
        require(one != nullptr && one->type == first.type && one->extents.size() == first.extents.size(), "operands that do not fit");
        for (std::size_t at = 0; at < first.extents.size(); ++at)
            require(at == axis || one->extents[at] == first.extents[at], "operands that do not fit");
        made.extents[axis] += one->extents[axis];
    }
    for (std::int64_t outer = 0; outer < count_between(first.extents, 0, axis); ++outer) {
        for (elements const* one : of.given) {
            std::int64_t const bytes = count_between(one->extents, axis, one->extents.size()) * network::bytes_of(one->type);
            auto const begin = one->bytes.begin() + outer * bytes;
            made.bytes.insert(made.bytes.end(), begin, begin + bytes);
        }
    }
    return made;
}

/// A box of elements: so many along each axis, from an index on, by steps that may be negative.
inline elements box_of(elements const& in, shape const& extents, shape const& starts, shape const& strides) {
    shape steps = strides_of(in.extents);
    std::int64_t first = 0;
    for (std::size_t at = 0; at < steps.size(); ++at) first += starts[at] * steps[at], steps[at] *= strides[at];
    return pick(in, extents, walk<std::size_t>(extents, first, steps));
}

/// Parts along an axis: of the sizes that are given, or equal ones. With `num_outputs` the last one may be smaller.
inline results split(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", 0), in.extents.size());
    std::int64_t const extent = in.extents[axis];
    auto const parts = static_cast<std::int64_t>(of.node.outputs.size());
    shape sizes = of.integers("split", std::size_t{1});
    if (sizes.empty()) {
        std::int64_t const count = of.integer("num_outputs", parts);
        require(count == parts && parts > 0 && (of.has("num_outputs") || extent % count == 0), "parts that are not equal");
        std::int64_t const whole = (extent + count - 1) / count;
        for (std::int64_t at = 0; at < count; ++at) sizes.push_back(std::clamp<std::int64_t>(extent - at * whole, 0, whole));
    }
    results made;
    shape starts(in.extents.size(), 0), extents = in.extents;
    for (std::int64_t const one : sizes) {
        extents[axis] = one;
        require(one >= 0 && starts[axis] + one <= extent, "parts that are more than the whole");
        made.push_back(box_of(in, extents, starts, shape(in.extents.size(), 1)));
        starts[axis] += one;
    }
    require(starts[axis] == extent, "parts that are less than the whole");
    return made;
}

/// Starts, ends, axes and steps are settings before version 10, then operands.
inline elements slice(call const& of) {
    auto const& in = of.operand(0);
    bool const settings = of.version() < 10;
    shape const first = settings ? of.integers("starts") : integers_of(of.operand(1));
    shape const last = settings ? of.integers("ends") : integers_of(of.operand(2));
    shape axes = of.integers("axes", std::size_t{3}), by = of.find(4) != nullptr ? integers_of(of.operand(4)) : shape(first.size(), 1);
    for (std::size_t at = axes.size(); at < first.size(); ++at) axes.push_back(static_cast<std::int64_t>(at));
    require(first.size() == last.size() && first.size() == axes.size() && first.size() == by.size(), "as many starts as ends");
    shape extents = in.extents, starts(extents.size(), 0), strides(extents.size(), 1);
    for (std::size_t at = 0; at < axes.size(); ++at) {
        std::size_t const axis = axis_of(axes[at], extents.size());
        std::int64_t const extent = in.extents[axis], step = by[at];
        require(step != 0 && step != INT64_MIN, "a step of 0");
        auto const limited = [&](std::int64_t index) {
            if (index < 0) index += extent;
            return step > 0 ? std::clamp<std::int64_t>(index, 0, extent) : std::clamp<std::int64_t>(index, -1, extent - 1);
        };
        std::int64_t const begin = limited(first[at]), end = limited(last[at]);
        std::int64_t const distance = step > 0 ? end - begin : begin - end, stride = step > 0 ? step : -step;
        extents[axis] = distance <= 0 ? 0 : (distance - 1) / stride + 1;
        starts[axis] = begin;
        strides[axis] = step;
    }
    return box_of(in, extents, starts, strides);
}

/// Where an index in front of or behind an extent looks, or -1.
inline std::int64_t padded_index(std::int64_t index, std::int64_t extent, std::string const& mode) {
    if (index >= 0 && index < extent) return index;
    if (mode == "constant" || extent == 0) return -1;
    if (mode == "edge") return index < 0 ? 0 : extent - 1;
    if (mode == "wrap") return (index % extent + extent) % extent;
    std::int64_t const period = std::max<std::int64_t>(1, 2 * (extent - 1)), at = (index % period + period) % period;
    return at < extent ? at : period - at;
}

/// Pads are a setting before version 11, then an operand. Negative ones cut.
inline elements pad(call const& of) {
    auto const& in = of.operand(0);
    std::string const mode = of.word("mode", "constant");
    require(mode == "constant" || mode == "edge" || mode == "reflect" || mode == "wrap", "a mode of another name");
    bool const settings = of.version() < 11;
    shape const given = settings ? of.integers(of.version() < 2 ? "paddings" : "pads") : integers_of(of.operand(1));
    shape axes = of.find(3) != nullptr ? integers_of(of.operand(3)) : shape{};
    if (of.find(3) == nullptr) {
        for (std::size_t at = 0; at < in.extents.size(); ++at) axes.push_back(static_cast<std::int64_t>(at));
    }
    require(given.size() == 2 * axes.size(), "pads for another number of axes");
    shape extents = in.extents, before(extents.size(), 0);
    for (std::size_t at = 0; at < axes.size(); ++at) {
        std::size_t const axis = axis_of(axes[at], extents.size());
        before[axis] = given[at];
        extents[axis] += given[at] + given[at + axes.size()];
        require(extents[axis] >= 0, "more is cut than there is");
    }
    elements fill = of_reals(in.type, {}, {0});
    if (settings && of.has("value")) fill = of_reals(in.type, {}, {of.real("value", 0)});
    if (!settings && of.find(2) != nullptr) fill = single(of.operand(2));
    places from;
    each_index(extents, [&](shape index) {
        for (std::size_t at = 0; at < index.size(); ++at) {
            index[at] = padded_index(index[at] - before[at], in.extents[at], mode);
            if (index[at] < 0) return from.push_back(outside);
        }
        from.push_back(place_of(index, in.extents));
    });
    return pick(in, extents, from, &fill);
}

/// Both the operand and the extents that are asked for broadcast.
inline elements expand(call const& of) {
    auto const& in = of.operand(0);
    shape const extents = broadcast(in.extents, integers_of(of.operand(1)));
    return pick(in, extents, broadcast_places(in.extents, extents));
}

/// Repeats along each axis. @throws not_covered  before version 6
inline elements tile(call const& of) {
    auto const& in = of.operand(0);
    require(of.version() >= 6, "tiles as before version 6");
    shape const repeats = integers_of(of.operand(1));
    require(repeats.size() == in.extents.size(), "repeats of another rank");
    shape extents = in.extents;
    for (std::size_t at = 0; at < repeats.size(); ++at) extents[at] *= repeats[at];
    places from;
    each_index(extents, [&](shape index) {
        for (std::size_t at = 0; at < index.size(); ++at) index[at] %= in.extents[at];
        from.push_back(place_of(index, in.extents));
    });
    return pick(in, extents, from);
}

/// Blocks of channels become squares of pixels. The channel is (row, column, channel) in mode DCR, (channel, row, column) in mode CRD.
inline elements depth_to_space(call const& of) {
    auto const& in = of.operand(0);
    std::int64_t const block = of.integer("blocksize", 0);
    std::string const mode = of.word("mode", "DCR");
    require(in.extents.size() == 4 && block > 0 && in.extents[1] % (block * block) == 0, "channels that are no blocks");
    require(mode == "DCR" || mode == "CRD", "a mode of another name");
    std::int64_t const batch = in.extents[0], channels = in.extents[1] / (block * block), height = in.extents[2], width = in.extents[3];
    bool const blocks_first = mode == "DCR";
    shape const apart =
        blocks_first ? shape{batch, block, block, channels, height, width} : shape{batch, channels, block, block, height, width};
    shape const order = blocks_first ? shape{0, 3, 4, 1, 5, 2} : shape{0, 1, 4, 2, 5, 3};
    return with_extents(permuted(with_extents(in, apart), order), {batch, channels, height * block, width * block});
}

/// Squares of pixels become channels: (row, column, channel).
inline elements space_to_depth(call const& of) {
    auto const& in = of.operand(0);
    std::int64_t const block = of.integer("blocksize", 0);
    require(in.extents.size() == 4 && block > 0 && in.extents[2] % block == 0 && in.extents[3] % block == 0, "pixels that are no blocks");
    std::int64_t const batch = in.extents[0], channels = in.extents[1], height = in.extents[2] / block, width = in.extents[3] / block;
    shape const apart = {batch, channels, height, block, width, block};
    return with_extents(permuted(with_extents(in, apart), {0, 3, 5, 1, 2, 4}), {batch, channels * block * block, height, width});
}

/// The first elements of each sequence, as many as the second operand says, stand in reverse order.
inline elements reverse_sequence(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const time = axis_of(of.integer("time_axis", 0), in.extents.size()),
                      batch = axis_of(of.integer("batch_axis", 1), in.extents.size());
    auto const lengths = integers_of(of.operand(1));
    require(time != batch && static_cast<std::int64_t>(lengths.size()) == in.extents[batch], "lengths that do not fit");
    places from;
    each_index(in.extents, [&](shape index) {
        std::int64_t const length = lengths[static_cast<std::size_t>(index[batch])];
        require(length >= 0 && length <= in.extents[time], "lengths that do not fit");
        if (index[time] < length) index[time] = length - 1 - index[time];
        from.push_back(place_of(index, in.extents));
    });
    return pick(in, in.extents, from);
}

}  // namespace tilewright::reference::of_onnx
