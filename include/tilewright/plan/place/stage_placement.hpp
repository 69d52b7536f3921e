#pragma once
#include <tilewright/plan/place/buffers.hpp>
#include <tilewright/plan/place/match.hpp>

// Where every stage stands, and which of its loops the program holds.
namespace tilewright::detail {

/// What the loops of stage `s` run past: ends of tiles and of axes.
constexpr void add_limits(planning& p, int s) {
    nest const& n = p.nest_at(s);
    stage_placement const& place = p.placed(s);
    // Forms end behind the last value of an axis, or of what is needed of it.
    auto const moving = [&](linear const& form) {  // without loops of one iteration
        linear rest;
        rest.constant = form.constant;
        for (int at = 0; at < form.count; ++at) {
            term const& t = form.terms[at];
            if (p.var(t.variable).extent > 1 || p.var(t.variable).trips >= 0) rest.add(t.coefficient, t.variable);
        }
        return rest;
    };
    auto const is_known = [&](linear const& form, std::int64_t bound) {
        for (int at = 0; at < p.plan.limits.size(); ++at) {
            limit const& l = p.plan.limits[at];
            linear const known = moving(p.form_of(l.form));
            if (l.stage == s && l.bound - known.constant == bound - form.constant && known.same_terms(form)) return true;
        }
        return false;
    };
    auto const add = [&](linear const& form, std::int64_t bound, bool reduction) {
        if (highest_of(p, form) >= bound && !p.refused() && !is_known(moving(form), bound))
            p.add(limit{p.keep(form), bound, static_cast<std::int16_t>(s), -1, reduction});
    };
    for (int axis = 0; axis < n.axes.size() && n.partial; ++axis) {
        nest_axis const& a = n.axes[axis];
        if (a.is != nest_axis::role::split && a.lane_extent == 0) continue;
        linear form = value_of(p, s, axis);
        std::int64_t const end = end_before(form, a);
        add(form, end, a.reduction);
    }
    // What a producer computes for a partial tile of its reader is more than the reader needs.
    for (int dimension = 0; dimension < p.stage_at(s).rank && place.at_stage >= 0; ++dimension) {
        linear negative;
        negative.add(place.axis_values[dimension], -1);
        linear beyond = place.axis_values[dimension];
        std::int64_t const highest = take_highest(p, place.highest[dimension], beyond);
        add(beyond, highest + 1, false);
        add(negative, 1 - place.lowest[dimension], false);
    }
}

/// Where stage `s` stands, how large it is there, and its loops.
constexpr void place_stage(planning& p, int s) {
    stage const& st = p.stage_at(s);
    stage_placement& place = p.placed(s);
    bool const last = s == p.plan.stages.size() - 1;
    if (place.at_ordinal != 0) {
        if (last) return p.refuse(verdict_kind::misplaced_directive, rule::without_consumer, {st.output}, place.at_ordinal);
        // The loop of a stage that reads it, or that holds a stage which does.
        fixed_array<bool, plan_value::most_stages> holds_reader{};
        for (int consumer = s + 1; consumer < p.plan.stages.size(); ++consumer) {
            p.each_access(consumer, [&](int node) {
                if (p.plan.what[node].name != st.output) return;
                for (int t = consumer; t >= 0; t = p.placed(t).at_stage) holds_reader[t] = true;
            });
        }
        for (int t = s + 1; t < p.plan.stages.size() && place.at_stage < 0; ++t) {
            int const position = holds_reader[t] ? p.nest_at(t).position_of(place.at_loop) : -1;
            if (position < 0) continue;
            place.at_stage = static_cast<std::int16_t>(t);
            place.level = p.nest_at(t).axis_of_loop(position).variable;
            place.outer_depth = p.placed(t).outer_depth + position + 1;
            place.path = p.placed(t).path;
        }
        if (place.at_stage < 0) {
            p.refuse(verdict_kind::unknown_axis, place.at_ordinal).names = {place.at_loop, p.stage_at(s + 1).output};
            return;
        }
    }
    // The box that its consumers need: they must all stand inside the same loops.
    box needed{.rank = st.rank};
    for (int axis = 0; axis < st.axis_count; ++axis) {
        stage_axis const& a = st.axes[axis];
        affine& highest = place.highest[axis];
        highest.constant = a.extent - 1;
        if (!a.run_time || reaches_as_read(p, a)) continue;
        linear value;
        value.constant = -1;
        value.add(1, extent_of(p, a));
        highest = p.keep(value);
    }
    fixed_array<range, max_rank> stepped{};  // what steps of intrinsics read, idle lanes included
    fixed_array<planning::index_range, max_rank> all{};
    bool is_read = false, open = false;  // open: run time would have to say which access goes furthest
    for (int consumer = s + 1; consumer < p.plan.stages.size(); ++consumer) {
        bool inside = true;
        for (int depth = 0; depth < place.outer_depth; ++depth) {
            inside &= depth < p.placed(consumer).path_length && p.placed(consumer).path[depth] == place.path[depth];
        }
        p.each_access(consumer, [&](int node) {
            if (p.plan.what[node].name != st.output || p.refused()) return;
            if (!inside) {
                return p.refuse(verdict_kind::loop_order, rule::read_outside, {place.at_loop, p.stage_at(consumer).output},
                                place.at_ordinal);
            }
            int const wrong = widen(p, needed, consumer, node, place.outer_depth);
            if (wrong >= 0) return refuse_box(p, st.output, wrong, consumer, place.outer_depth, place.at_ordinal);
            box one{.rank = st.rank};
            bool const by_steps = place.outer_depth == 0 && p.nest_at(consumer).intrinsic >= 0 && !is_padded(p.plan.what, node);
            if (by_steps && widen(p, one, consumer, node, 0) < 0 && one.open < 0) {
                for (int dimension = 0; dimension < st.rank; ++dimension) {
                    std::int64_t const first = one.at[dimension].constant, last = first + one.extents[dimension] - 1;
                    if (first < stepped[dimension].low) stepped[dimension].low = first;
                    if (last > stepped[dimension].high) stepped[dimension].high = last;
                }
            }
            for (int dimension = 0; dimension < st.rank; ++dimension) {
                planning::index_range& whole = all[dimension];
                planning::index_range const one = p.range_of_index(consumer, node, dimension);
                if (one.open >= 0 || (is_read && !whole.high.same_terms(one.high))) open = true;
                std::int64_t const high = is_read && whole.high.constant > one.high.constant ? whole.high.constant : one.high.constant;
                whole.low = is_read && whole.low < one.low ? whole.low : one.low;
                whole.high = one.high;
                whole.high.constant = high;
            }
            is_read = true;
        });
    }
    for (int dimension = 0; dimension < st.rank && is_read; ++dimension) {
        std::int64_t const low = all[dimension].low;
        bool const as_read = st.axes[dimension].run_time && reaches_as_read(p, st.axes[dimension]);
        linear above = all[dimension].high;
        std::int64_t const furthest = as_read ? highest_of(p, above) : take_highest(p, place.highest[dimension], above);
        std::int64_t const high = highest_of(p, above);
        if (place.at_stage >= 0) place.lowest[dimension] = low;
        if (place.at_stage >= 0 || as_read) place.highest[dimension] = p.keep(all[dimension].high);
        if (low >= 0 && high <= furthest && !open) continue;
        if (open || above.count > 0) {
            p.refuse(verdict_kind::run_time_domain).names = {st.output, st.axes[dimension].name};
            return;
        }
        verdict& v = p.refuse(verdict_kind::outside_domain);
        v.names = {st.output};
        v.facts = {fact{fact_kind::dimension, dimension}, fact{fact_kind::from, low}, fact{fact_kind::to, high},
                   fact{fact_kind::limit, furthest}};
    }
    if (p.refused()) return;
    if (needed.open >= 0) return refuse_open_box(p, st.output, needed.open, place.at_stage, place.outer_depth, place.at_ordinal);
    if (last || place.at_stage < 0) {
        needed.at = {};
        for (int dimension = 0; dimension < st.rank; ++dimension) {
            bool const as_read = st.axes[dimension].run_time && reaches_as_read(p, st.axes[dimension]);
            needed.extents[dimension] = as_read ? highest_of(p, p.form_of(place.highest[dimension])) + 1 : st.axes[dimension].extent;
        }
    }
    fixed_array<std::int64_t, stage::most_axes> extents{};
    for (int position = 0; position < st.axis_count; ++position) {
        extents[position] = position < st.rank ? needed.extents[position] : st.axes[position].extent;
    }
    build_loops(p, s, extents, place.at_stage >= 0);
    nest& n = p.nest_at(s);
    if (!p.refused() && n.intrinsic >= 0) {
        matching found;
        if (!match_intrinsic(p, s, n.intrinsic, found)) {
            for (int axis = 0; axis < found.semantics.axis_count; ++axis) {
                nest_axis& covered = n.axes[found.loop_of_axis[axis]];
                covered.lane_extent = found.semantics.axes[axis].extent;
                covered.flexible = p.of->where().intrinsics[n.intrinsic].is_flexible(axis);
                if (covered.flexible && covered.extent < covered.lane_extent) covered.lane_extent = covered.extent;
                n.partial |= covered.extent % covered.lane_extent != 0;
            }
        }
    }
    if (!p.refused()) finish_loops(p, s);
    for (int position = 0; position < st.axis_count && !p.refused(); ++position) {
        linear& value = place.axis_values[position];
        value = value_of(p, s, position);
        if (position < st.rank) value.add(needed.at[position]);
    }
    if (!p.refused()) add_limits(p, s);
    if (p.refused() || place.home >= 0) return;
    // What a step of an intrinsic covers beyond the end has room in the buffer.
    for (int dimension = 0; dimension < st.rank && n.partial; ++dimension) {
        std::int64_t const padded = spread_of(p, s, dimension, place.outer_depth).padded;
        if (padded > needed.extents[dimension]) needed.extents[dimension] = padded;
    }
    // Likewise what steps of those that read it reach beyond its ends.
    for (int dimension = 0; dimension < st.rank && place.at_stage < 0; ++dimension) {
        if (stepped[dimension].high >= needed.extents[dimension]) needed.extents[dimension] = stepped[dimension].high + 1;
        needed.at[dimension].constant = stepped[dimension].low;
        needed.extents[dimension] -= stepped[dimension].low;
    }
    for (int dimension = 0; dimension < st.rank && place.at_stage < 0; ++dimension) {
        affine const& highest = place.highest[dimension];
        for (int t = 0; t < highest.count; ++t) {
            int const extent = p.plan.term_at(highest, t).variable;
            if (!is_open(p, extent)) continue;
            p.refuse(verdict_kind::run_time_box, place.store_ordinal).names = {st.output, p.var(extent).name, "the kernel"};
            return;
        }
    }
    if (place.store_memory < 0) {
        p.refuse(verdict_kind::no_memory, place.at_ordinal).names = {st.output};
        return;
    }
    place.home = static_cast<std::int16_t>(add_planned(p, st.output, place.store_memory, st.type, needed, place.store_ordinal,
                                                       place.store_layout, place.store_layout_ordinal));
    if (last) p.buffer_at(place.home).kind = buffer_kind::result;
}

/// The program holds every loop that something is staged or computed in, all loops of a tensorized stage, and what stands around them.
constexpr void choose_owned_loops(planning& p) {
    for (int s = 0; s < p.plan.stages.size(); ++s) {
        stage_placement& place = p.placed(s);
        nest const& n = p.nest_at(s);
        if (n.intrinsic >= 0) place.owned = n.depth;
        auto const hold = [&](int level) {
            for (int position = 0; position < n.depth; ++position) {
                if (n.axis_of_loop(position).variable == level && place.owned < position + 1) place.owned = position + 1;
            }
        };
        for (int at = 0; at < p.stagings.size(); ++at) hold(p.staging_at(at).level);
        for (int t = 0; t < s; ++t) hold(p.placed(t).level);
        for (int position = 0; position < n.depth; ++position) {
            if (n.axis_of_loop(position).parallel) hold(n.axis_of_loop(position).variable);
        }
        // Tile bodies have loops of constant extents.
        for (int position = 0; position < n.depth && p.plan.run_time_extents > 0 && place.transfer < 0; ++position) {
            if (n.axis_of_loop(position).trips >= 0) place.owned = place.owned < position + 1 ? position + 1 : place.owned;
        }
    }
}

/// A stage that a transfer carries out has no loops of its own to direct, but those that other stages are computed in.
constexpr void check_transfer_stages(planning& p) {
    for (int s = 0; s < p.plan.stages.size() && !p.refused(); ++s) {
        stage_placement const& place = p.placed(s);
        if (place.transfer < 0) continue;
        bool directed = p.nest_at(s).intrinsic >= 0 || (place.owned == 0 && p.nest_at(s).axes.size() != p.stage_at(s).axis_count);
        for (int at = 0; at < p.stagings.size(); ++at) directed |= p.staging_at(at).stage == s;
        for (int position = 0; position < p.nest_at(s).depth; ++position) {
            nest_axis const& a = p.nest_at(s).axis_of_loop(position);
            bool const moved = place.owned == 0 && p.nest_at(s).order[position] != position;
            directed |= a.vectorized || a.parallel || (a.unrolled && position >= place.owned) || moved;
        }
        if (directed) p.refuse(verdict_kind::misplaced_directive, rule::without_loops, {p.stage_at(s).output}, place.transfer_ordinal);
    }
}

}  // namespace tilewright::detail
