#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tilewright/reference/tflite_node.hpp>
#include <utility>
#include <vector>

// Operators that only move elements, of any type. Operand and result have the same scale.
namespace tilewright::reference::tflite {

namespace detail {

/// The elements at some places of a tensor, as a tensor of these extents.
///
/// @throws not_covered  where a place lies outside
inline elements taken(call const& of, elements const& from, extent_list extents, std::vector<std::int64_t> const& places) {
    elements made{from.type, std::move(extents), {}};
    auto const size = static_cast<std::size_t>(network::bytes_of(from.type));
    made.bytes.reserve(places.size() * size);
    for (std::int64_t const place : places) {
        if (place < 0 || place >= count_of(from.extents)) of.refuse("an element outside of its operand");
        auto const first = from.bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(place) * size);
        made.bytes.insert(made.bytes.end(), first, first + static_cast<std::ptrdiff_t>(size));
    }
    return made;
}
/// Puts the elements of `from` at some places of a tensor.
///
/// @throws not_covered  where a place lies outside
inline void put(call const& of, elements const& from, std::vector<std::int64_t> const& places, elements& to) {
    auto const size = static_cast<std::size_t>(network::bytes_of(to.type));
    if (from.type != to.type || from.bytes.size() != places.size() * size) of.refuse("operands that differ");
    for (std::size_t at = 0; at < places.size(); ++at) {
        if (places[at] < 0 || places[at] >= count_of(to.extents)) of.refuse("an element outside of the result");
        std::copy_n(from.bytes.begin() + static_cast<std::ptrdiff_t>(at * size), size,
                    to.bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(places[at]) * size));
    }
}
/// A tensor full of one element.
inline elements filled(network::element_type type, extent_list extents, elements const& with) {
    elements made{type, std::move(extents), {}};
    for (std::int64_t at = 0; at < count_of(made.extents); ++at) made.bytes.insert(made.bytes.end(), with.bytes.begin(), with.bytes.end());
    return made;
}
/// An operand with other extents.
///
/// @throws not_covered  where these have another number of elements
inline elements reshaped(call const& of, extent_list extents) {
    elements made = of.operand(0);
    if (count_of(extents) != count_of(made.extents)) of.refuse("to another number of elements");
    made.extents = std::move(extents);
    return made;
}
inline void keeps_scale(call const& of) { need_same_scale(of.operand_tensor(0), of.result()); }

/// Some of an operand's elements: `begins` along each dimension, then `steps` apart, as many as `extents`.
inline elements cut(call const& of, elements const& from, extent_list const& begins, extent_list const& steps, extent_list const& extents) {
    extent_list strides = strides_of(from.extents);
    std::int64_t first = 0;
    for (std::size_t at = 0; at < strides.size(); ++at) {
        std::int64_t const last = begins[at] + (extents[at] - 1) * steps[at];
        bool const inside = begins[at] >= 0 && begins[at] < from.extents[at] && last >= 0 && last < from.extents[at];
        if (extents[at] > 0 && !inside) of.refuse("a part outside of its operand");
        first += begins[at] * strides[at];
        strides[at] *= steps[at];
    }
    return taken(of, from, extents, walk(extents, first, strides));
}

}  // namespace detail

/// RESHAPE to the second operand, or to new_shape; -1 is what is left over.
inline elements reshape(call const& of) {
    detail::keeps_scale(of);
    extent_list to = of.has(1) ? integers_of(of.operand(1)) : of.setting<extent_list>("new_shape", {});
    std::int64_t known = 1;
    for (std::int64_t const one : to) known *= one == -1 ? 1 : one;
    for (std::int64_t& one : to) {
        if (one == -1) one = known == 0 ? 0 : count_of(of.operand(0).extents) / known;
    }
    return detail::reshaped(of, std::move(to));
}
/// EXPAND_DIMS: an extent of 1 in front of the dimension that the second operand says.
inline elements expand_dims(call const& of) {
    detail::keeps_scale(of);
    std::vector<std::int64_t> const axis = integers_of(of.operand(1));
    if (axis.size() != 1) of.refuse("several axes");
    extent_list to = of.operand(0).extents;
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(dimension_of(of, axis[0], to.size() + 1)), 1);
    return detail::reshaped(of, std::move(to));
}
/// SQUEEZE: without the extents of 1 that squeeze_dims names; without any where it names none.
inline elements squeeze(call const& of) {
    detail::keeps_scale(of);
    extent_list const& from = of.operand(0).extents;
    extent_list const named = of.setting<extent_list>("squeeze_dims", {});
    std::vector<bool> leaves(from.size(), false);
    for (std::int64_t const one : named) leaves[dimension_of(of, one, from.size())] = true;
    extent_list to;
    for (std::size_t at = 0; at < from.size(); ++at) {
        if (named.empty() ? from[at] != 1 : !leaves[at]) to.push_back(from[at]);
    }
    return detail::reshaped(of, std::move(to));
}

/// TRANSPOSE: dimension i of the result is the dimension of the operand that the second operand has at i.
inline elements transpose(call const& of) {
    detail::keeps_scale(of);
    extent_list const& from = of.operand(0).extents;
    extent_list const own = strides_of(from);
    extent_list to, strides;
    for (std::int64_t const one : integers_of(of.operand(1))) {
        std::size_t const at = dimension_of(of, one, from.size());
        to.push_back(from[at]), strides.push_back(own[at]);
    }
    if (to.size() != from.size()) of.refuse("an order of other dimensions");
    std::vector<std::int64_t> const places = walk(to, 0, strides);
    return detail::taken(of, of.operand(0), std::move(to), places);
}

namespace detail {

/// Pixels in blocks: for each element of the result [n, h, w, c], the one of the operand that `from(n, y, x, c)` finds.
template <class From>
elements pixels_of(call const& of, extent_list const& to, From const& from) {
    keeps_scale(of);
    extent_list const steps = strides_of(of.operand(0).extents);
    std::vector<std::int64_t> places;
    for (std::int64_t n = 0; n < to[0]; ++n)
        for (std::int64_t y = 0; y < to[1]; ++y)
            for (std::int64_t x = 0; x < to[2]; ++x)
                for (std::int64_t c = 0; c < to[3]; ++c) {
                    auto const [row, column, channel] = from(y, x, c);
                    places.push_back(n * steps[0] + row * steps[1] + column * steps[2] + channel);
                }
    return taken(of, of.operand(0), to, places);
}

}  // namespace detail

/// SPACE_TO_DEPTH: blocks of pixels of [n, h, w, c] as channels, by row, column and channel.
inline elements space_to_depth(call const& of) {
    extent_list const& x = of.operand(0).extents;
    std::int64_t const size = of.number("block_size");
    if (x.size() != 4 || size < 1 || x[1] % size != 0 || x[2] % size != 0) of.refuse("blocks that do not fit");
    return detail::pixels_of(of, {x[0], x[1] / size, x[2] / size, x[3] * size * size},
                             [&](std::int64_t row, std::int64_t column, std::int64_t c) {
                                 return std::array{row * size + c / x[3] / size, column * size + c / x[3] % size, c % x[3]};
                             });
}
/// DEPTH_TO_SPACE: the reverse.
inline elements depth_to_space(call const& of) {
    extent_list const& x = of.operand(0).extents;
    std::int64_t const size = of.number("block_size");
    if (x.size() != 4 || size < 1 || x[3] % (size * size) != 0) of.refuse("blocks that do not fit");
    std::int64_t const channels = x[3] / (size * size);
    return detail::pixels_of(of, {x[0], x[1] * size, x[2] * size, channels}, [&](std::int64_t row, std::int64_t column, std::int64_t c) {
        return std::array{row / size, column / size, (row % size * size + column % size) * channels + c};
    });
}

/// SLICE: from the second operand on, as many as the third says; -1 is all that follow.
inline elements slice(call const& of) {
    detail::keeps_scale(of);
    extent_list const& from = of.operand(0).extents;
    extent_list const begins = integers_of(of.operand(1));
    extent_list sizes = integers_of(of.operand(2));
    if (begins.size() != from.size() || sizes.size() != from.size()) of.refuse("begins and sizes of other dimensions");
    for (std::size_t at = 0; at < from.size(); ++at) {
        if (sizes[at] == -1) sizes[at] = from[at] - begins[at];
    }
    return detail::cut(of, of.operand(0), begins, extent_list(from.size(), 1), sizes);
}

namespace detail {

/// Where STRIDED_SLICE begins along one dimension, how far it steps, and how many elements it takes.
struct strided_range {
    std::int64_t begin = 0, step = 1, count = 0;
    bool leaves = false;  ///< the result does not have this dimension
};
inline strided_range range_of(call const& of, std::size_t at, std::int64_t extent) {
    auto const masked = [&](std::string_view name) { return (of.number(name) >> at & 1) != 0; };
    auto const given = [&](std::size_t operand) { return integers_of(of.operand(operand))[at]; };
    std::int64_t const step = given(3);
    if (step == 0) of.refuse("a stride of 0");
    if (masked("shrink_axis_mask")) {
        std::int64_t const begin = masked("begin_mask") ? 0 : given(1);
        return {begin < 0 ? begin + extent : begin, 1, 1, true};
    }
    std::int64_t const low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    auto const inside = [&](std::int64_t place) { return std::clamp(place < 0 ? place + extent : place, low, high); };
    std::int64_t const begin = masked("begin_mask") ? (step > 0 ? low : high) : inside(given(1));
    std::int64_t const end = masked("end_mask") ? (step > 0 ? high : low) : inside(given(2) + (of.number("offset") != 0 ? given(1) : 0));
    std::int64_t const way = step > 0 ? end - begin : begin - end, stride = step > 0 ? step : -step;
    return {begin, step, std::max<std::int64_t>(0, (way + stride - 1) / stride), false};
}

}  // namespace detail

/// STRIDED_SLICE: from the second operand to the third by strides of the fourth, with masks: a bit for each dimension.
///
/// @throws not_covered  with an ellipsis or new dimensions
inline elements strided_slice(call const& of) {
    detail::keeps_scale(of);
    if (of.number("ellipsis_mask") != 0 || of.number("new_axis_mask") != 0) of.refuse("an ellipsis or a new dimension");
    extent_list const& from = of.operand(0).extents;
    auto const given = static_cast<std::size_t>(count_of(of.operand(1).extents));
    for (std::size_t const other : {2U, 3U}) {
        if (static_cast<std::size_t>(count_of(of.operand(other).extents)) != given)
            of.refuse("begins, ends and strides of other dimensions");
    }
    if (given > from.size()) of.refuse("more ranges than dimensions");
    extent_list begins, steps, extents, kept;
    for (std::size_t at = 0; at < from.size(); ++at) {
        detail::strided_range const range = at < given ? detail::range_of(of, at, from[at]) : detail::strided_range{0, 1, from[at], false};
        begins.push_back(range.begin), steps.push_back(range.step), extents.push_back(range.count);
        if (!range.leaves) kept.push_back(range.count);
    }
    elements made = detail::cut(of, of.operand(0), begins, steps, extents);
    made.extents = std::move(kept);
    return made;
}

namespace detail {

/// `count` equal parts along a dimension.
inline std::vector<elements> parts_of(call const& of, elements const& from, std::size_t along, std::int64_t count) {
    if (count < 1 || from.extents[along] % count != 0) of.refuse(std::to_string(count) + " parts");
    extent_list extents = from.extents, begins(from.extents.size(), 0);
    extents[along] /= count;
    std::vector<elements> made;
    for (std::int64_t part = 0; part < count; ++part, begins[along] += extents[along])
        made.push_back(cut(of, from, begins, extent_list(begins.size(), 1), extents));
    return made;
}
/// Puts operands one behind the other along a dimension; `extents(operand)` are those that it has there.
template <class Extents>
elements joined(call const& of, std::size_t along, Extents const& extents) {
    elements made{of.operand(0).type, extents(0), {}};
    made.extents[along] = 0;
    for (std::size_t at = 0; at < of.given.size(); ++at) {
        need_same_scale(of.operand_tensor(at), of.result());
        made.extents[along] += extents(at)[along];
    }
    made.bytes.resize(static_cast<std::size_t>(count_of(made.extents) * network::bytes_of(made.type)));
    std::int64_t place = 0;
    extent_list const strides = strides_of(made.extents);
    for (std::size_t at = 0; at < of.given.size(); ++at) {
        extent_list own = extents(at);
        put(of, of.operand(at), walk(own, place * strides[along], strides), made);
        place += own[along];
        own[along] = made.extents[along];
        if (own != made.extents) of.refuse("operands of other extents");
    }
    return made;
}

}  // namespace detail

/// SPLIT: the second operand in num_splits equal parts along the dimension that the first one says.
inline std::vector<elements> split(call const& of) {
    std::vector<std::int64_t> const axis = integers_of(of.operand(0));
    if (axis.size() != 1) of.refuse("several axes");
    need_same_scale(of.operand_tensor(1), of.result());
    return detail::parts_of(of, of.operand(1), dimension_of(of, axis[0], of.operand(1).extents.size()), of.number("num_splits"));
}
/// UNPACK: a result for each index along the axis, without that dimension.
inline std::vector<elements> unpack(call const& of) {
    detail::keeps_scale(of);
    elements const& from = of.operand(0);
    std::size_t const along = dimension_of(of, of.number("axis"), from.extents.size());
    if (of.number("num") != from.extents[along]) of.refuse("a number of results that is not the extent");
    std::vector<elements> made = detail::parts_of(of, from, along, from.extents[along]);
    for (elements& one : made) one.extents.erase(one.extents.begin() + static_cast<std::ptrdiff_t>(along));
    return made;
}
/// CONCATENATION: the operands one behind the other along the axis.
inline elements concatenation(call const& of) {
    if (of.setting<std::string>("fused_activation_function", "NONE") != "NONE") of.refuse("an activation");
    std::size_t const along = dimension_of(of, of.number("axis"), of.operand(0).extents.size());
    return detail::joined(of, along, [&](std::size_t at) {
        if (of.operand(at).extents.size() != of.operand(0).extents.size()) of.refuse("operands of other dimensions");
        return of.operand(at).extents;
    });
}
/// PACK: the operands one behind the other along a new dimension.
inline elements pack(call const& of) {
    std::size_t const along = dimension_of(of, of.number("axis"), of.operand(0).extents.size() + 1);
    return detail::joined(of, along, [&](std::size_t at) {
        extent_list made = of.operand(at).extents;
        if (made.size() != of.operand(0).extents.size()) of.refuse("operands of other dimensions");
        made.insert(made.begin() + static_cast<std::ptrdiff_t>(along), 1);
        return made;
    });
}

/// GATHER: along the axis, what the second operand names. Its extents take the place of that dimension.
///
/// @throws not_covered  with batches
inline elements gather(call const& of) {
    detail::keeps_scale(of);
    if (of.number("batch_dims") != 0) of.refuse("batches");
    extent_list const& from = of.operand(0).extents;
    extent_list const& named = of.operand(1).extents;
    std::size_t const along = dimension_of(of, of.number("axis"), from.size());
    auto const dimension = from.begin() + static_cast<std::ptrdiff_t>(along);
    std::int64_t const outer = count_of({from.begin(), dimension}), inner = count_of({dimension + 1, from.end()});
    std::vector<std::int64_t> const indices = integers_of(of.operand(1));
    std::vector<std::int64_t> places;
    for (std::int64_t before = 0; before < outer; ++before)
        for (std::int64_t const index : indices) {
            if (index < 0 || index >= from[along]) of.refuse("an index of " + std::to_string(index));
            for (std::int64_t at = 0; at < inner; ++at) places.push_back((before * from[along] + index) * inner + at);
        }
    extent_list to(from.begin(), dimension);
    to.insert(to.end(), named.begin(), named.end());
    to.insert(to.end(), dimension + 1, from.end());
    return detail::taken(of, of.operand(0), std::move(to), places);
}

namespace detail {

/// [in front, behind] of each dimension, filled with one element.
inline elements padded(call const& of, elements const& with) {
    keeps_scale(of);
    elements const& from = of.operand(0);
    std::vector<std::int64_t> const pads = integers_of(of.operand(1));
    if (pads.size() != 2 * from.extents.size()) of.refuse("pads of other dimensions");
    if (std::any_of(pads.begin(), pads.end(), [](std::int64_t one) { return one < 0; })) of.refuse("a negative pad");
    extent_list extents = from.extents;
    for (std::size_t at = 0; at < extents.size(); ++at) extents[at] += pads[2 * at] + pads[2 * at + 1];
    extent_list const strides = strides_of(extents);
    std::int64_t first = 0;
    for (std::size_t at = 0; at < extents.size(); ++at) first += pads[2 * at] * strides[at];
    elements made = filled(from.type, std::move(extents), with);
    put(of, from, walk(from.extents, first, strides), made);
    return made;
}

}  // namespace detail

/// PAD with what stands for 0.
inline elements pad(call const& of) { return detail::padded(of, of_integers(of.operand(0).type, {}, {zero_point_of(of.result())})); }
/// PADV2 with the third operand.
inline elements padv2(call const& of) {
    elements const& with = operand_of_type(of, 2, of.operand(0).type);
    if (count_of(with.extents) != 1) of.refuse("several elements to pad with");
    return detail::padded(of, with);
}

}  // namespace tilewright::reference::tflite
