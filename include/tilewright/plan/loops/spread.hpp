#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/loops/level.hpp>
#include <tilewright/plan/loops/nest.hpp>

// Which values of an index, and of an axis, the loops inside a level reach, and where these end if tiles are partial.
namespace tilewright::detail {

constexpr void split_at_level(planning& p, stage_id s, linear const& form, int depth, linear& outside, range& inside);

/// How many values of an axis the loops inside a level reach.
constexpr std::int64_t valid_of(planning& p, stage_id s, int axis, int depth);

/// The values that the loops inside a level reach of a part of a fused loop that lies across it.
struct reached {
    linear begin;  ///< over loops outside
    std::int64_t count = 1;
};

/// The least constant number of values, from where they begin, that is enough at all iterations of the loops outside. The last values can
/// lie past the end of the part: boxes are clipped there.
constexpr reached reach_of(planning& p, stage_id s, variable_id component, int depth) {
    variable const part = p.var(component);
    linear outside;
    range inside;
    split_at_level(p, s, p.form_of(part.fused), depth, outside, inside);
    for (int axis = 0; axis < p.nest_at(s).axes.size(); ++axis) {
        nest_axis const& a = p.nest_at(s).axes[axis];
        if (a.is == nest_axis::role::fused && a.variable == component) inside.high = valid_of(p, s, a.outer, depth) - 1;
    }
    std::int64_t const row = row_of(part), last = furthest_in_row(p, outside, row) + inside.high;
    std::int64_t const count = part.modulus == 0 ? last / row + 1 : last < row ? inside.high + 1 : row;
    if (count >= part.extent) return {{}, part.extent};
    p.note_cut();
    return {part_of(p, outside, part), count};
}

/// Splits a form at a level: what varies outside stays a form, what varies inside becomes a range. For a fused loop that lies across the
/// level, the range is enough in all iterations.
constexpr void split_at_level(planning& p, stage_id s, linear const& form, int depth, linear& outside, range& inside) {
    outside = {};
    inside = {form.constant, form.constant};
    outside.overflown = form.overflown;
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[at];
        side const where = side_of(p, s, t.variable, depth);
        if (where == side::outside) {
            outside.add(t.coefficient, t.variable);
            continue;
        }
        std::int64_t count = p.var(t.variable).extent;
        if (where == side::across) {
            reached const found = reach_of(p, s, t.variable, depth);
            outside.add(found.begin, t.coefficient);
            count = found.count;
        }
        std::int64_t const reach = t.coefficient * (count - 1);
        (reach < 0 ? inside.low : inside.high) += reach;
    }
}

/// The values of one axis, or of a part of it, that the loops inside a level reach while those outside stand at 0.
struct spread {
    std::int64_t valid = 1;   ///< values from 0 on that the axis has
    std::int64_t padded = 1;  ///< likewise, with what steps of an intrinsic cover beyond its end
    std::int64_t count = 1;   ///< iterations that compute one of them; `valid` when there is no gap between them
    std::int64_t grain = 0;   ///< values where a step begins are multiples of it, wherever the loops stand
    std::int64_t lanes = 0;   ///< how far a step reaches from there
    bool ends = false;        ///< steps cover no more than there is
};

constexpr spread spread_of(planning& p, stage_id s, int axis, int depth) {
    nest_axis const& a = p.nest_at(s).axes[axis];
    if (a.is != nest_axis::role::split) {
        side const where = side_of(p, s, a.variable, depth);
        bool const inside = where != side::outside;
        if (a.lane_extent == 0) {
            std::int64_t const values = where == side::across ? reach_of(p, s, a.variable, depth).count : inside ? a.extent : 1;
            return {values, values, values, a.extent > 1 ? 1 : 0, 0};
        }
        std::int64_t const padded = a.lane_extent * (inside ? p.var(a.variable).extent : 1);
        std::int64_t const valid = padded < a.extent ? padded : a.extent;
        return {valid, a.flexible ? valid : padded, valid, a.lane_extent, a.lane_extent - 1, a.flexible};
    }
    spread const outer = spread_of(p, s, a.outer, depth), inner = spread_of(p, s, a.inner, depth);
    spread whole{
        .grain = gcd(a.factor * outer.grain, inner.grain), .lanes = a.factor * outer.lanes + inner.lanes, .ends = outer.ends || inner.ends};
    auto const least = [](std::int64_t one, std::int64_t other) { return one < other ? one : other; };
    std::int64_t const furthest = whole.grain == 0 ? 0 : (a.extent - 1) / whole.grain * whole.grain;
    whole.padded = least(a.factor * (outer.padded - 1) + inner.padded, furthest + whole.lanes + 1);
    whole.valid = least(a.factor * (outer.valid - 1) + inner.valid, least(a.extent, whole.padded));
    if (whole.ends) whole.padded = whole.valid;
    // Without gaps when the inner part is whole, or the outer one stands still.
    bool const follow = inner.valid == a.factor && inner.count == a.factor && outer.count == outer.valid;
    bool const alone = outer.count == 1 && inner.count == inner.valid;
    whole.count = follow || alone ? whole.valid : outer.count * inner.count;
    return whole;
}

constexpr std::int64_t valid_of(planning& p, stage_id s, int axis, int depth) { return spread_of(p, s, axis, depth).valid; }

/// Cuts from the range of an index inside a level what lies beyond the ends of its axes.
constexpr void trim(planning& p, stage_id s, node_id node, int dimension, int depth, range& inside) {
    stage_index const index = index_of(p.plan.what, p.stage_at(s), node, dimension);
    for (int axis = 0; axis < p.stage_at(s).axis_count; ++axis) {
        std::int64_t const c = index.coefficients[axis];
        if (c == 0) continue;
        linear outside;
        range whole;
        split_at_level(p, s, value_of(p, s, axis), depth, outside, whole);
        std::int64_t const beyond = whole.high + 1 - spread_of(p, s, axis, depth).padded;
        (c > 0 ? inside.high : inside.low) -= c * beyond;
    }
}

/// Up to `most` clips of one dimension, before it is known which dimension of which movement it becomes.
struct clip_list {
    static constexpr int most = 12;

    struct item {
        linear form;
        std::int64_t bound = 0;
        clip_kind is = clip_kind::end;
    };
    part_pool<item, most> items{};

    constexpr void add(planning const& p, linear const& form, std::int64_t bound, clip_kind is) {
        if (items.full()) return p.refuse_capacity("clips of one dimension", most + 1, most);
        items.push({form, bound, is});
    }
};

/// Whether the loops of an axis run past its end, although every part of it that runs inside a tile stays in its tile.
constexpr bool exceeds(planning const& p, stage_id s, int axis) {
    nest const& n = p.nest_at(s);
    nest_axis const& a = n.axes[axis];
    if (a.is != nest_axis::role::split) return a.lane_extent > 0 && a.extent % a.lane_extent != 0;
    return a.trips >= 0 || a.factor * n.axes[a.outer].extent > a.extent || exceeds(p, s, a.outer);
}

/// Whether an axis is made of a part of a fused loop that lies across a level.
constexpr bool is_across(planning const& p, stage_id s, int axis, int depth) {
    nest_axis const& a = p.nest_at(s).axes[axis];
    if (a.is == nest_axis::role::split) return is_across(p, s, a.outer, depth) || is_across(p, s, a.inner, depth);
    return a.is == nest_axis::role::fused && side_of(p, s, a.variable, depth) == side::across;
}

/// Where the values of an axis that the loops inside a level reach end, counted from the first. That depends on the loops outside.
/// @param before  values that lie before those of the axis
constexpr void add_ends(planning& p, stage_id s, int axis, int depth, std::int64_t before, clip_list& ends) {
    nest_axis const& a = p.nest_at(s).axes[axis];
    bool const split = a.is == nest_axis::role::split;
    bool const across = is_across(p, s, axis, depth);
    bool const whole = a.lane_extent == 0 && !across;
    if (!split && whole && (a.trips < 0 || side_of(p, s, a.variable, depth) == side::outside)) return;
    if (split && spread_of(p, s, a.outer, depth).count == 1) add_ends(p, s, a.inner, depth, before, ends);
    if (split && !across && !exceeds(p, s, axis)) return;
    linear outside;
    range inside;
    split_at_level(p, s, value_of(p, s, axis), depth, outside, inside);
    std::int64_t const spans = spread_of(p, s, axis, depth).valid, end = end_before(outside, a);
    if (highest_of(p, outside) + spans > end) ends.add(p, outside, end + before, clip_kind::end);
}

/// The part of one dimension of a box that holds what the iterations of a level really touch.
struct touched {
    std::int64_t extent = 1;
    clip_list clips{};
};

/// @pre `node` is the only access to its tensor in stage `s`, or all of them move it alike: `hull` is what they lie apart
constexpr touched touched_by(planning& p, stage_id s, node_id node, int dimension, int depth, std::int64_t hull) {
    stage_index const index = index_of(p.plan.what, p.stage_at(s), node, dimension);
    stage_placement const& place = p.placed(s);
    touched found{.extent = 1 + hull};
    if (index.computed >= 0) found.extent = padded_extent(p.plan.what, node, dimension);
    fixed_array<std::int64_t, stage::most_axes> spans{};
    fixed_array<linear, stage::most_axes> outsides{};
    fixed_array<range, stage::most_axes> bases{};
    for (int axis = 0; axis < p.stage_at(s).axis_count; ++axis) {
        std::int64_t const c = index.coefficients[axis];
        if (c == 0) continue;
        // The value is a base that the loops around the stage move, plus what the axis' own loops reach.
        linear base = place.axis_values[axis], own_outside;
        linear const own = value_of(p, s, axis);
        range flat;
        base.add(own, -1);
        split_at_level(p, s, place.axis_values[axis], depth, outsides[axis], flat);
        split_at_level(p, s, base, depth, own_outside, bases[axis]);
        spans[axis] = bases[axis].high - bases[axis].low + spread_of(p, s, axis, depth).valid;
        found.extent += (c > 0 ? c : -c) * (spans[axis] - 1);
    }
    for (int axis = 0; axis < p.stage_at(s).axis_count; ++axis) {
        std::int64_t const c = index.coefficients[axis];
        if (c == 0) continue;
        clip_list ends;
        add_ends(p, s, axis, depth, bases[axis].high - bases[axis].low, ends);
        // A producer has ends of its own: where the values that its readers need begin and end.
        linear first = outsides[axis], negative;
        first.constant += bases[axis].low;
        negative.add(first, -1);
        linear beyond = first;
        std::int64_t const highest = take_highest(p, place.highest[axis], beyond);
        if (place.at_stage >= 0 && highest_of(p, beyond) + spans[axis] - 1 > highest) ends.add(p, beyond, highest + 1, clip_kind::end);
        if (place.at_stage >= 0 && -highest_of(p, negative) < place.lowest[axis]) ends.add(p, first, place.lowest[axis], clip_kind::begin);
        // What an axis loses at its end, its dimension loses at the same end, or at the other end if the axis runs backwards. What two axes
        // lose adds up.
        int const before = found.clips.items.size();
        for (int e = 0; e < ends.items.size() && !p.refused(); ++e) {
            clip_list::item const end = ends.items[e];
            bool const high = end.is == clip_kind::end;
            clip_kind const is = high == (c > 0) ? clip_kind::end : clip_kind::begin;
            linear form;
            form.add(end.form, c);
            std::int64_t const bound = c * (end.bound - (high ? spans[axis] : 0)) + (is == clip_kind::end ? found.extent : 0);
            found.clips.add(p, form, bound, is);
            for (int other = 0; other < before && !p.refused(); ++other) {
                clip_list::item const& o = found.clips.items[other];
                if (o.is != is) continue;
                linear both = o.form;
                both.add(form);
                found.clips.add(p, both, o.bound + bound - (is == clip_kind::end ? found.extent : 0), is);
            }
        }
    }
    return found;
}

}  // namespace tilewright::detail
