#pragma once
#include <tilewright/reference/onnx_places.hpp>

// Operators that give elements other extents, and those that make elements of extents and settings.
namespace tilewright::reference::of_onnx {

inline elements identity(call const& of) { return of.operand(0); }
/// What one of two branches gives: the results of the first one are the operands after the condition, then come those of the other one.
inline results choice(call const& of) {
    std::size_t const count = of.node.outputs.size();
    std::vector<std::int64_t> const condition = integers_of(of.operand(0));
    require(condition.size() == 1, "a condition of several elements");
    results made;
    for (std::size_t at = 0; at < count; ++at) made.push_back(of.operand(1 + at + (condition[0] != 0 ? 0 : count)));
    return made;
}

/// For inference: the operand, and a mask that is true everywhere.
inline results dropout(call const& of) {
    auto const& in = of.operand(0);
    require(of.version() >= 7 || of.integer("is_test", 0) != 0, "training");
    if (auto const* training = of.find(2)) require(integers_of(single(*training))[0] == 0, "training");
    auto const mask = of.version() >= 10 ? element_type::boolean : in.type;
    return {in, of_integers(mask, in.extents, std::vector<std::int64_t>(static_cast<std::size_t>(count_of(in.extents)), 1))};
}

/// 0 keeps an extent, unless `allowzero` says otherwise; -1 stands for what is left.
inline elements reshape(call const& of) {
    auto const& in = of.operand(0);
    shape wanted = of.version() < 5 ? of.integers("shape") : integers_of(of.operand(1));
    bool const zero_is_extent = of.integer("allowzero", 0) != 0;
    std::int64_t known = 1;
    auto open = wanted.end();
    for (auto at = wanted.begin(); at != wanted.end(); ++at) {
        if (*at == 0 && !zero_is_extent) {
            auto const axis = static_cast<std::size_t>(at - wanted.begin());
            require(axis < in.extents.size(), "an extent to keep that the operand does not have");
            *at = in.extents[axis];
        } else if (*at == -1) {
            require(open == wanted.end(), "two extents that are left open");
            open = at;
            continue;
        }
        known *= *at;
    }
    if (open != wanted.end()) {
        require(known > 0 && count_of(in.extents) % known == 0, "an extent that does not follow from the others");
        *open = count_of(in.extents) / known;
    }
    return with_extents(in, wanted);
}

/// A matrix: the extents in front of the axis, and the others.
inline elements flatten(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = split_axis(of, in.extents.size());
    return with_extents(in, {count_between(in.extents, 0, axis), count_between(in.extents, axis, in.extents.size())});
}

/// Without axes, each extent of 1 goes.
inline elements squeeze(call const& of) {
    auto const& in = of.operand(0);
    shape const axes = of.integers("axes", std::size_t{1});
    std::vector<bool> goes(in.extents.size());
    for (std::int64_t const axis : axes) goes[axis_of(axis, goes.size())] = true;
    shape kept;
    for (std::size_t at = 0; at < goes.size(); ++at) {
        require(!goes[at] || in.extents[at] == 1, "an extent that is not 1");
        bool const dropped = goes[at] || (axes.empty() && in.extents[at] == 1);
        if (!dropped) kept.push_back(in.extents[at]);
    }
    return with_extents(in, kept);
}

/// Axes count in the result.
inline elements unsqueeze(call const& of) {
    auto const& in = of.operand(0);
    shape const axes = of.integers("axes", std::size_t{1});
    shape made(in.extents.size() + axes.size(), 0);
    for (std::int64_t const axis : axes) {
        std::int64_t& extent = made[axis_of(axis, made.size())];
        require(extent == 0, "an axis that is named twice");
        extent = 1;
    }
    auto next_extent = in.extents.begin();
    for (std::int64_t& extent : made) {
        if (extent == 0) extent = *next_extent++;
    }
    return with_extents(in, made);
}

/// The extents from `start` up to `end`, which are limited to the rank.
inline elements shape_of(call const& of) {
    shape const& extents = of.operand(0).extents;
    auto const rank = static_cast<std::int64_t>(extents.size());
    auto const limited = [rank](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
    std::int64_t const start = limited(of.integer("start", 0)), end = std::max(start, limited(of.integer("end", rank)));
    return of_integers(element_type::int64, {end - start}, shape(extents.begin() + start, extents.begin() + end));
}
inline elements size(call const& of) { return of_integers(element_type::int64, {}, {count_of(of.operand(0).extents)}); }

/// The elements of a setting that is a tensor.
inline elements tensor_of(call const& of, network::literal const& from) {
    require(from.constant != network::no_constant, "a tensor without elements");
    return {from.type, from.extents, of.whole.constants[static_cast<std::size_t>(from.constant)]};
}

inline elements constant(call const& of) {
    if (auto const* value = of.setting<network::literal>("value")) return tensor_of(of, *value);
    if (of.has("value_int")) return of_integers(element_type::int64, {}, {of.integer("value_int", 0)});
    if (of.has("value_float")) return of_reals(element_type::float32, {}, {of.real("value_float", 0)});
    if (of.has("value_ints")) {
        shape const values = of.integers("value_ints");
        return of_integers(element_type::int64, {static_cast<std::int64_t>(values.size())}, values);
    }
    auto const* values = of.setting<std::vector<float>>("value_floats");
    require(values != nullptr, "a constant of another kind");
    return of_reals(element_type::float32, {static_cast<std::int64_t>(values->size())}, {values->begin(), values->end()});
}

/// One value everywhere, by default a float of 0. The operand has the extents.
inline elements constant_of_shape(call const& of) {
    shape const extents = integers_of(of.operand(0));
    for (std::int64_t const extent : extents) require(extent >= 0, "a negative extent");
    auto const* value = of.setting<network::literal>("value");
    elements const one = value != nullptr ? single(tensor_of(of, *value)) : of_reals(element_type::float32, {}, {0});
    return pick(one, extents, places(static_cast<std::size_t>(count_of(extents)), 0));
}

/// From the first operand up to the second, which is not reached, by steps of the third.
inline elements range(call const& of) {
    auto const type = of.operand(0).type;
    for (std::size_t at : {0U, 1U, 2U}) require(single(of.operand(at)).type == type, "operands of two types");
    if (is_float(type)) {
        double const start = reals_of(of.operand(0))[0], limit = reals_of(of.operand(1))[0], step = reals_of(of.operand(2))[0];
        require(step != 0, "a range without steps");
        std::vector<double> made(static_cast<std::size_t>(std::max(0.0, std::ceil((limit - start) / step))));
        for (std::size_t at = 0; at < made.size(); ++at) made[at] = start + static_cast<double>(at) * step;
        return of_reals(type, {static_cast<std::int64_t>(made.size())}, made);
    }
    std::int64_t const start = integers_of(of.operand(0))[0], limit = integers_of(of.operand(1))[0], step = integers_of(of.operand(2))[0];
    require(step != 0, "a range without steps");
    shape made;
    for (std::int64_t at = start; step > 0 ? at < limit : at > limit; at += step) made.push_back(at);
    return of_integers(type, {static_cast<std::int64_t>(made.size())}, made);
}

/// 1 on the diagonal `k`, else 0. Extents and, without `dtype`, the type are those of the operand.
inline elements eye_like(call const& of) {
    auto const& in = of.operand(0);
    require(in.extents.size() == 2, "a matrix of another rank");
    shape made;
    each_index(in.extents, [&](shape const& at) { made.push_back(at[1] - at[0] == of.integer("k", 0) ? 1 : 0); });
    return of_integers(of.has("dtype") ? type_of(of.integer("dtype", 0)) : in.type, in.extents, made);
}

/// The upper or the lower triangle of matrices, from the diagonal `k` on; elsewhere 0.
inline elements trilu(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const rank = in.extents.size();
    require(rank > 1, "a matrix of another rank");
    std::int64_t const k = of.find(1) != nullptr ? integers_of(single(of.operand(1)))[0] : 0;
    bool const upper = of.integer("upper", 1) != 0;
    places at;
    each_index(in.extents, [&](shape const& index) {
        std::int64_t const diagonal = index[rank - 1] - index[rank - 2];
        at.push_back((upper ? diagonal >= k : diagonal <= k) ? at.size() : outside);
    });
    return pick(in, in.extents, at);
}

}  // namespace tilewright::reference::of_onnx
