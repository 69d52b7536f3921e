#pragma once
#include <tilewright/plan/movement.hpp>
#include <tilewright/plan/spread.hpp>
#include <tilewright/plan/trip_count.hpp>

// Where tiles are partial: which part of a staged box is moved, and which iterations of the program's loops do nothing.
namespace tilewright::detail {

/// Keeps the clips of dimension `dimension` of a region whose destination has its dimensions in the same order.
constexpr std::int64_t clip_region(planning& p, touched const& found, int dimension, region& r) {
    for (int at = 0; at < found.clips.items.size(); ++at) {
        clip_list::item const& c = found.clips.items[static_cast<std::size_t>(at)];
        r.add(p, {c.form, c.bound, static_cast<std::int8_t>(dimension), c.is});
    }
    return found.extent;
}

/// The access that a staged buffer holds, when all accesses to its tensor move alike, and how far they lie apart in one dimension.
struct staged_access {
    int node = -1;
    range constants{};
    bool alike = true;
};
constexpr staged_access access_of(planning const& p, staging const& st, int dimension) {
    stage const& s = p.stage_at(st.stage);
    staged_access found;
    p.each_access(
        st.stage,
        [&](int node) {
            if (p.plan.what[node].name != st.tensor || (node == s.target) != st.writes) return;
            stage_index const index = index_of(p.plan.what, s, node, dimension);
            if (found.node < 0) {
                found = {node, {index.constant, index.constant}, true};
                return;
            }
            found.alike &= index.coefficients == index_of(p.plan.what, s, found.node, dimension).coefficients;
            if (index.constant < found.constants.low) found.constants.low = index.constant;
            if (index.constant > found.constants.high) found.constants.high = index.constant;
        },
        true);
    return found;
}

/// Clips dimension `dimension` of what is moved into or out of a staged buffer to what the iteration really touches. Of a tensor whose
/// accesses do not move alike, to what the kernel touches of it.
/// @return its extent where the tile is whole
constexpr std::int64_t clip_staged(planning& p, staging const& st, int dimension, region& r) {
    auto const d = static_cast<std::size_t>(dimension);
    staged_access const access = access_of(p, st, dimension);
    if (access.alike)
        return clip_region(p, touched_by(p, st.stage, access.node, dimension, st.depth, access.constants.high - access.constants.low),
                           dimension, r);
    std::int64_t const extent = p.buffer_at(st.buffer).extents[d];
    linear const at = p.form_of(p.box_at[static_cast<std::size_t>(st.buffer)][d]);
    auto const keep_inside = [&](linear const& form, std::int64_t low, affine const& high) {
        linear negative, beyond = form;
        negative.add(form, -1);
        std::int64_t const highest = take_highest(p, high, beyond);
        if (highest_of(p, beyond) + extent - 1 > highest)
            r.add(p, {beyond, highest + 1, static_cast<std::int8_t>(dimension), clip_kind::end});
        if (-highest_of(p, negative) < low) r.add(p, {form, low, static_cast<std::int8_t>(dimension), clip_kind::begin});
    };
    int const producer = p.producer_of(st.tensor);
    for (int buffer_at = 0; buffer_at < p.plan.buffers.size() && producer < 0; ++buffer_at) {
        buffer const& b = p.buffer_at(buffer_at);
        if (b.tensor != st.tensor || b.kind != buffer_kind::argument) continue;
        bool open = false;
        for (int which = 0; which < p.plan.shapes.size(); ++which) {
            shape const& one = p.plan.shapes[static_cast<std::size_t>(which)];
            if (one.buffer != buffer_at || one.dimension != dimension) continue;
            if (open) p.refuse(verdict_kind::not_honoured, st.ordinal).names = {st.tensor, "the further of two ends"};
            open = true;
            affine last = one.end;
            last.constant -= 1;
            keep_inside(at, b.minimum[d], last);
        }
        if (!open) keep_inside(at, b.minimum[d], {b.minimum[d] + b.extents[d] - 1, 0, 0});
    }
    if (producer >= 0) keep_inside(at, p.placed(producer).lowest[d], p.placed(producer).highest[d]);
    buffer const& outward = p.buffer_at(st.outward);
    if (outward.kind == buffer_kind::argument) return extent;
    linear relative = at;
    relative.add(p.form_of(p.box_at[static_cast<std::size_t>(st.outward)][d]), -1);
    keep_inside(relative, 0, {outward.extents[d] - 1, 0, 0});
    return extent;
}

/// An iteration of the loop at `depth` of stage `s` that lies beyond an end, wherever the loops inside stand, does nothing.
constexpr void add_guards(planning& p, int s, int depth) {
    int const loop = p.nest_at(s).axis_of_loop(depth).variable;
    for (int at = 0; at < p.plan.limits.size() && !p.refused(); ++at) {
        limit const l = p.plan.limits[static_cast<std::size_t>(at)];
        if (l.stage != s || l.loop >= 0) continue;
        linear outside;
        range inside;
        split_at_level(p, s, p.form_of(l.form), p.placed(s).outer_depth + depth + 1, outside, inside);
        if (!moves_with(p.plan, outside, loop) || highest_of(p, outside) + inside.low < l.bound) continue;
        p.add(limit{p.keep(outside), l.bound - inside.low, static_cast<std::int16_t>(s), static_cast<std::int16_t>(loop), l.reduction});
    }
}

}  // namespace tilewright::detail
