#pragma once
#include <tilewright/plan/ir/trip_count.hpp>
#include <tilewright/plan/loops/spread.hpp>
#include <tilewright/plan/write/packing.hpp>

// Partial tiles: which part of a staged box is moved, and which iterations of the program's loops do nothing.
namespace tilewright::detail {

/// Keeps the clips of dimension `dimension` of a region whose destination has its dimensions in the same order.
constexpr std::int64_t clip_region(planning const& p, touched const& found, int dimension, region& r) {
    for (int at = 0; at < found.clips.items.size(); ++at) {
        clip_list::item const& c = found.clips.items[at];
        r.add(p, {c.form, c.bound, static_cast<std::int8_t>(dimension), c.is});
    }
    return found.extent;
}

/// The access that a staged buffer holds, if all accesses to its tensor move alike, and how far they lie apart in one dimension.
struct staged_access {
    node_id node = no_node;
    range constants{};
    bool alike = true;
};
constexpr staged_access access_of(planning const& p, staging const& st, int dimension) {
    stage const& s = p.stage_at(st.stage);
    staged_access found;
    p.each_access(
        st.stage,
        [&](node_id node) {
            if (p.plan.what.nodes[node].name != st.tensor || (node == s.target) != st.writes) return;
            stage_index const index = index_of(p.plan.what, s, node, dimension);
            if (found.node < 0) {
                found = {node, {index.constant, index.constant}, true};
                return;
            }
            stage_index const first = index_of(p.plan.what, s, found.node, dimension);
            found.alike &= index.coefficients == first.coefficients && (index.computed >= 0) == (first.computed >= 0);
            if (index.constant < found.constants.low) found.constants.low = index.constant;
            if (index.constant > found.constants.high) found.constants.high = index.constant;
        },
        true);
    return found;
}

/// The least and the most of `to` - `from`. Parts of fused loops move together if their fused loops do.
constexpr range lead_of(planning const& p, linear const& from, linear const& to) {
    linear rest = to;
    rest.add(from, -1);
    range found{rest.constant, rest.constant};
    rest.constant = 0;
    for (int at = 0; at < rest.count; ++at) {
        term const behind = rest.terms[at];
        variable const& v = p.var(behind.variable);
        if (behind.coefficient > 0 || v.kind != variable_kind::component) continue;
        for (int other = 0; other < rest.count; ++other) {
            term const ahead = rest.terms[other];
            variable const& u = p.var(ahead.variable);
            if (ahead.coefficient < 0 || u.kind != variable_kind::component || u.divisor != v.divisor || u.modulus != v.modulus) continue;
            range const wholes = lead_of(p, p.form_of(v.fused), p.form_of(u.fused));
            std::int64_t const last = furthest_in_row(p, p.form_of(v.fused), row_of(v)) + wholes.high;
            if (wholes.low < 0 || (v.modulus != 0 && last >= v.modulus)) continue;
            std::int64_t const times = ahead.coefficient < -behind.coefficient ? ahead.coefficient : -behind.coefficient;
            found.high += times * (v.modulus != 0 ? wholes.high : last / v.divisor);
            rest.add(times, behind.variable);
            rest.add(-times, ahead.variable);
            at = -1;
            break;
        }
    }
    for (int at = 0; at < rest.count; ++at) {
        term const& t = rest.terms[at];
        std::int64_t const reach = t.coefficient * (p.var(t.variable).extent - 1);
        (reach < 0 ? found.low : found.high) += reach;
    }
    return found;
}

/// Decides the clips of a dimension that no loop moves: it is smaller by them in all calls. A dimension of a single element, which may be
/// in a border, is moved if it is not. A dimension without elements is never moved.
constexpr void settle_clips(planning const& p, region& r, int dimension) {
    movement_dimension& d = r.dimensions[dimension];
    region const given = r;
    std::int64_t first = 0, end = d.extent;
    r.clips = {};
    for (int at = 0; at < given.clips.size(); ++at) {
        region::clipped const& c = given.clips[at];
        if (c.dimension != dimension || !shortens(c.is) || c.form.count > 0) {
            r.clips.push(c);
            continue;
        }
        std::int64_t const bound = c.bound - c.form.constant;
        if (c.is == clip_kind::end) end = bound < end ? bound : end;
        else first = bound > first ? bound : first;
    }
    d.extent = end - first;
    if (r.source >= 0) r.source_at[d.source_dimension].constant += first * d.source_factor;
    r.destination_at[d.destination_dimension].constant += first * d.destination_factor;
    r.each_end(dimension, [&](region::clipped& c) {
        c.bound -= first;
        if (d.extent == 1 && p.from.borders && shortens(c.is)) region::call_where_there_is(c);
    });
}

/// Clips dimension `dimension` of what is moved into or out of a staged buffer to what the iteration really touches. If the accesses to its
/// tensor do not move alike, clips it to what the kernel touches.
/// @return its extent in a whole tile
constexpr std::int64_t clip_staged(planning& p, staging const& st, int dimension, region& r) {
    staged_access const access = access_of(p, st, dimension);
    std::int64_t extent = box_extent(p, p.buffer_at(st.buffer), dimension);
    linear const at = p.form_of(p.from.box_at[st.buffer][dimension]);
    auto const keep_inside = [&](linear const& form, std::int64_t low, affine const& high, bool pads = false) {
        linear negative, beyond = form;
        negative.add(form, -1);
        std::int64_t const highest = take_highest(p, high, beyond);
        clip_kind const begin = pads ? clip_kind::border_begin : clip_kind::begin, end = pads ? clip_kind::border_end : clip_kind::end;
        if (highest_of(p, beyond) + extent - 1 > highest) r.add(p, {beyond, highest + 1, static_cast<std::int8_t>(dimension), end});
        if (-highest_of(p, negative) < low) r.add(p, {form, low, static_cast<std::int8_t>(dimension), begin});
    };
    stage_id const producer = p.producer_of(st.tensor);
    if (st.border >= 0) keep_inside(at, 0, {padded_extent(p.plan.what, st.border, dimension) - 1, 0, 0}, st.pads);
    if (access.alike) {
        extent = clip_region(p, touched_by(p, st.stage, access.node, dimension, st.depth, access.constants.high - access.constants.low),
                             dimension, r);
    } else if (producer >= 0) {
        keep_inside(at, p.placed(producer).lowest[dimension], p.placed(producer).highest[dimension], st.pads);
    }
    for (int buffer_at = 0; buffer_at < p.plan.buffers.count && producer < 0 && !access.alike; ++buffer_at) {
        buffer const& b = p.buffer_at(buffer_at);
        if (b.tensor != st.tensor || b.kind != buffer_kind::argument) continue;
        bool open = false;
        for (int which = 0; which < p.plan.shapes.count; ++which) {
            shape const& one = p.plan.shapes[which];
            if (one.buffer != buffer_at || one.dimension != dimension) continue;
            if (open) p.refuse(verdict_kind::not_honoured, st.ordinal).names = {st.tensor, "the further of two ends"};
            open = true;
            affine last = one.end;
            last.constant -= 1;
            keep_inside(at, b.minimum[dimension], last, st.pads);
        }
        if (!open) keep_inside(at, b.minimum[dimension], {b.minimum[dimension] + b.extents[dimension] - 1, 0, 0}, st.pads);
    }
    // A box at a level that cuts through a fused loop can be larger than what is touched, and than the box around it.
    buffer const& outward = p.buffer_at(st.outward);
    if (outward.kind == buffer_kind::argument || (access.alike && !p.from.cuts)) return extent;
    linear const around = p.form_of(p.from.box_at[st.outward][dimension]);
    linear relative = at;
    relative.add(around, -1);
    range const lies = lead_of(p, around, at);
    std::int64_t const outward_extent = box_extent(p, outward, dimension), room = outward_extent - lies.low;
    if (lies.low == lies.high && room < extent) extent = room;
    if (lies.high + extent > outward_extent) r.add(p, {relative, outward_extent, static_cast<std::int8_t>(dimension), clip_kind::end});
    if (lies.low < 0) r.add(p, {relative, 0, static_cast<std::int8_t>(dimension), clip_kind::begin});
    return extent;
}

/// A dimension that only ends early has no border.
constexpr void drop_idle_borders(planning const& p, int dimension, region& r) {
    std::int64_t const extent = r.dimensions[dimension].extent;
    for (int at = 0; at < r.clips.size(); ++at) {
        region::clipped const& c = r.clips[at];
        if (c.dimension == dimension && pads(c.is) && reach_of_border(p, r, c, extent).outside < 1) r.clips.erase(at--);
    }
}
/// A call that writes a border must read something: refuses a box that may lie outside of the tensor as a whole in a dimension.
constexpr void settle_border(planning const& p, staging const& st, int dimension, region& r, int transfer_at) {
    std::int64_t const extent = r.dimensions[dimension].extent;
    drop_idle_borders(p, dimension, r);
    for (int at = 0; at < r.clips.size() && !p.refused(); ++at) {
        region::clipped const& c = r.clips[at];
        if (c.dimension != dimension || !pads(c.is)) continue;
        border_reach const found = reach_of_border(p, r, c, extent);
        if (found.inside > 0) continue;
        p.refuse(verdict_kind::transfer_region, rule::border_around_nothing, {p.of->where().transfers[transfer_at].name, st.tensor},
                 st.moved_by(), {fact{fact_kind::need, found.outside}, fact{fact_kind::limit, found.outside + found.inside}});
    }
}

/// An iteration of the loop at `depth` of stage `s` does nothing if it lies beyond an end at all iterations of the loops inside.
constexpr void add_guards(writing& p, stage_id s, int depth) {
    variable_id const loop = p.nest_at(s).axis_of_loop(depth).variable;
    for (int at = 0; at < p.plan.limits.count && !p.refused(); ++at) {
        limit const l = p.plan.limits[at];
        if (l.stage != s || l.loop >= 0) continue;
        linear outside;
        range inside;
        split_at_level(p, s, p.form_of(l.form), p.placed(s).outer_depth + depth + 1, outside, inside);
        if (!moves_with(p.plan, outside, loop) || highest_of(p, outside) + inside.low < l.bound) continue;
        p.add(limit{p.keep(outside), l.bound - inside.low, s, loop, l.reduction});
    }
}

}  // namespace tilewright::detail
