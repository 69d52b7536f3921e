#pragma once
#include <tilewright/plan/place/buffers.hpp>

// cache_read and cache_write: levels, boxes, and which buffer every access uses.
namespace tilewright::detail {

/// Whether a loop variable is one that the stage's intrinsic covers.
constexpr bool is_covered(planning const& p, stage_id s, variable_id variable_at) {
    nest const& n = p.nest_at(s);
    for (int at = 0; at < n.covered_count; ++at) {
        if (n.axes[n.covered[at]].variable == variable_at) return true;
    }
    return false;
}

/// The border of a padded tensor in the box of a staged buffer. All accesses must agree on it.
constexpr void find_border(planning const& p, staging& st) {
    node_id padded = no_node;
    p.each_access(st.stage, [&](node_id node) {
        if (p.plan.what.nodes[node].name == st.tensor && is_padded(p.plan.what, node)) padded = node;
    });
    if (padded < 0) return;
    bool same = true;
    p.each_access(st.stage, [&](node_id node) {
        if (p.plan.what.nodes[node].name != st.tensor) return;
        bool inside = true;
        for (int dimension = 0; dimension < p.plan.what.nodes[node].argument_count; ++dimension) {
            std::int64_t const extent = padded_extent(p.plan.what, padded, dimension);
            planning::index_range const all = p.range_of_index(st.stage, node, dimension);
            inside &= all.low >= 0 && all.high.count == 0 && all.high.constant < extent;
        }
        same &= is_padded(p.plan.what, node) ? p.plan.what.nodes[node].value == p.plan.what.nodes[padded].value : inside;
    });
    if (!same) p.refuse(verdict_kind::no_border, rule::border_of_two_values, {st.tensor, p.stage_at(st.stage).output}, st.ordinal);
    for (int dimension = 0; dimension < p.plan.what.nodes[padded].argument_count; ++dimension) {
        linear const begin = p.form_of(p.from.box_at[st.buffer][dimension]);
        std::int64_t const extent = box_extent(p, p.buffer_at(st.buffer), dimension);
        if (lowest_of(p, begin) < 0 || highest_of(p, begin) + extent > padded_extent(p.plan.what, padded, dimension)) st.border = padded;
    }
}

/// Finds the level and the box of every staged buffer, and the buffer that it is a part of.
constexpr void place_stagings(placing& p) {
    for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
        staging& st = p.staging_at(at);
        stage_placement const& place = p.placed(st.stage);
        if (st.loop_ordinal != 0) {
            int depth = -1;
            for (int position = 0; position < place.path_length; ++position) {
                if (p.var(place.path.elements[position]).name == st.loop) depth = position + 1;
            }
            if (depth < 0) {
                p.refuse(verdict_kind::unknown_axis, st.loop_ordinal).names = {st.loop, p.stage_at(st.stage).output};
                return;
            }
            st.depth = static_cast<std::int16_t>(depth);
            st.level = place.path[depth - 1];
            variable const& loop = p.var(st.level);
            if (p.nest_at(st.stage).intrinsic >= 0 && is_covered(p, st.stage, st.level)) {
                label const& intrinsic_name = p.of->where().intrinsics[p.nest_at(st.stage).intrinsic].name;
                return p.refuse(verdict_kind::loop_order, rule::inside_the_intrinsic, {loop.name, intrinsic_name}, st.loop_ordinal);
            }
        }
        // The output of a stage that is computed in another one's loops exists only there.
        stage_id const producer = p.producer_of(st.tensor);
        if (st.writes && st.loop_ordinal == 0) {
            st.depth = static_cast<std::int16_t>(place.outer_depth);
            st.level = place.level;
        } else if (producer >= 0 && st.depth < p.placed(producer).outer_depth) {
            p.refuse(verdict_kind::loop_order, rule::outside_its_producer, {st.loop.empty() ? label("the kernel") : st.loop, st.tensor},
                     st.loop_ordinal != 0 ? st.loop_ordinal : st.ordinal);
            return;
        }
        if (st.writes) {
            for (int position = 0; position < st.depth; ++position) {
                variable const& loop = p.var(place.path[position]);
                st.partial_sums |= loop.reduction && position >= place.outer_depth;
            }
        }
        box whole;
        scalar_type type{};
        p.each_access(
            st.stage,
            [&](node_id node) {
                ir::node const& n = p.plan.what.nodes[node];
                bool const mine = n.name == st.tensor && (node == p.stage_at(st.stage).target) == st.writes;
                if (!mine || p.refused()) return;
                type = n.type;
                int const wrong = widen(p, whole, st.stage, node, st.depth);
                if (wrong >= 0) refuse_box(p, st.tensor, wrong, st.stage, st.depth, st.loop_ordinal != 0 ? st.loop_ordinal : st.ordinal);
            },
            true);
        if (p.refused()) return;
        if (whole.open >= 0)
            return refuse_open_box(p, st.tensor, whole.open, st.stage, st.depth, st.loop_ordinal != 0 ? st.loop_ordinal : st.ordinal);
        // The whole box is stored, so it needs no gaps, unless a stage that continues has loaded it after the step before has stored it.
        bool const loaded = p.stage_at(st.stage).continues && st.versions == 1;
        coverage const written = st.writes && !loaded ? cover(p, st.stage, st.depth) : coverage{};
        if (written.computed != written.spanned) {
            p.refuse(verdict_kind::loop_order, rule::gaps_between_outputs, {st.loop, st.tensor}, st.loop_ordinal,
                     {fact{fact_kind::have, written.computed}, fact{fact_kind::need, written.spanned}});
            return;
        }
        st.buffer = add_planned(p, {st.tensor, st.memory, type, st.ordinal, st.layout, st.layout_ordinal}, whole);
        if (!st.writes && !p.refused()) find_border(p, st);
    }
}

/// The buffer that stage `s` uses for `tensor` at level `depth` or further out. Of two at one level, the earlier directive is further out.
constexpr buffer_id buffer_for(planning const& p, stage_id s, label const& tensor, bool writes, int depth, int before) {
    buffer_id found = no_buffer;
    int found_depth = -1;
    for (int at = 0, count = p.staging_count(); at < count; ++at) {
        staging const& st = p.staging_at(at);
        if (st.stage != s || st.writes != writes || st.tensor != tensor) continue;
        if (st.depth > depth || (st.depth == depth && at >= before) || st.depth < found_depth) continue;
        found = st.buffer;
        found_depth = st.depth;
    }
    if (found >= 0) return found;
    stage_id const producer = p.producer_of(tensor);
    if (producer >= 0) return p.placed(producer).home;
    for (buffer_id at{}; at < p.plan.buffers.count; ++at) {
        if (p.buffer_at(at).tensor == tensor && p.buffer_at(at).kind == buffer_kind::argument) return at;
    }
    return no_buffer;
}

/// An axis that is used as a value, and not in an index, is a use without a buffer.
constexpr void bind_axis_values(writing& p, stage_id s, node_id at) {
    node const& n = p.plan.what.nodes[at];
    if (n.op == operation::axis_value && p.plan.use_at(at) == nullptr && !p.refused()) {
        use u{.node = at};
        u.at[0] = p.keep(p.placed(s).axis_values[p.stage_at(s).find(n.name)]);
        p.add(u);
    }
    if (n.op == operation::constant) return;
    for (int argument = 0; argument < n.argument_count; ++argument) {
        node_id const part = n.argument(argument);
        node_id const computed = n.op == operation::access ? p.access_index(s, at, argument).computed : part;
        if (computed >= 0) bind_axis_values(p, s, computed);
    }
}

constexpr bool is_staged(planning const& p, int buffer_at) {
    for (int at = 0; at < p.staging_count(); ++at) {
        if (p.staging_at(at).buffer == buffer_at) return true;
    }
    return false;
}

/// Keeps where the padded access at `node` of stage `s` may leave its tensor. A staged buffer holds its border.
constexpr void add_paddings(writing& p, stage_id s, node_id node, buffer_id buffer_at) {
    bool const guarded = !is_staged(p, buffer_at);
    for (int dimension = 0; dimension < p.plan.what.nodes[node].argument_count; ++dimension) {
        linear const index = p.index_form(s, node, dimension);
        std::int64_t const extent = padded_extent(p.plan.what, node, dimension);
        if (node_id const value = p.access_index(s, node, dimension).computed; value >= 0) {
            if (!range_of(p.plan.what, value).is_inside({0, extent - 1, true}))
                p.add(padding{node, static_cast<std::int8_t>(dimension), true, true, p.keep(index), extent});
            continue;
        }
        if (lowest_of(p, index) >= 0 && highest_of(p, index) < extent) continue;
        p.add(padding{node, static_cast<std::int8_t>(dimension), guarded, false, p.keep(index), extent});
        if (guarded && p.buffer_at(buffer_at).layout >= 0)
            p.refuse(verdict_kind::no_border, rule::border_not_staged, {p.plan.what.nodes[node].name}, p.buffer_at(buffer_at).ordinal);
    }
}

constexpr void bind_accesses(placing& p) {
    constexpr int innermost = 1 << 10;
    for (int at = 0; at < p.staging_count(); ++at) {
        staging& st = p.staging_at(at);
        st.outward = buffer_for(p, st.stage, st.tensor, st.writes, st.depth, at);
        // The staged buffer around it has the border already.
        if (st.border >= 0 && is_staged(p, st.outward)) st.border = no_node;
        if (st.border >= 0) p.from.borders = true;
    }
    for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
        p.each_access(
            s,
            [&](node_id node) {
                ir::node const& n = p.plan.what.nodes[node];
                bool const writes = node == p.stage_at(s).target;
                use u{.node = node, .buffer = buffer_for(p, s, n.name, writes, innermost, innermost)};
                fixed_array<linear, max_rank> in_box{};
                for (int dimension = 0; dimension < n.argument_count; ++dimension)
                    in_box.elements[dimension] = place_in_box(p, s, node, dimension, u.buffer);
                fixed_array<linear, max_rank> const index = place_in_buffer(p, u.buffer, in_box);
                int const rank = p.buffer_at(u.buffer).rank;
                for (int dimension = 0; dimension < rank; ++dimension) u.at.elements[dimension] = p.keep(index.elements[dimension]);
                if (!p.refused()) p.add(u);
                if (is_padded(p.plan.what, node)) add_paddings(p, s, node, u.buffer);
            },
            true);
        bind_axis_values(p, s, p.stage_at(s).body);
        if (p.stage_at(s).start >= 0) bind_axis_values(p, s, p.stage_at(s).start);
    }
}

}  // namespace tilewright::detail
