#pragma once
#include <tilewright/plan/loops/box.hpp>
#include <tilewright/plan/write/clipping.hpp>
#include <tilewright/plan/place/match.hpp>

// Stages that one transfer carries out: it declares to compute what they compute.
namespace tilewright::detail {

/// A transfer whose semantics have two axes or more says which source dimension each of the last destination dimensions comes from.
constexpr int declared_source(transfer_description const& t, computation_view view, stage const& semantics, int semantic_node, int rank,
                              int dimension) {
    if (copies(t) || semantic_node < 0 || semantics.rank < 2 || dimension < rank - semantics.rank) return -1;
    int const axis = dimension - (rank - semantics.rank);
    for (int from = 0; from < view[semantic_node].argument_count; ++from) {
        if (index_of(view, semantics, semantic_node, from).coefficients[axis] != 0) return from + rank - semantics.rank;
    }
    return -1;
}

constexpr bool same_value(planning& p, int node, computation_view view, int other, int& source_node, int& semantic_node) {
    tilewright::node const& a = p.plan.what[node];
    tilewright::node const& b = view[other];
    if (a.op != b.op || a.type != b.type) return false;
    if (a.op == operation::access) {
        if (is_padded(p.plan.what, node)) return false;
        if (source_node >= 0 && !same_tree(p.plan.what, source_node, node)) return false;
        source_node = node;
        semantic_node = other;
        return true;
    }
    if (a.op == operation::axis_value || a.op == operation::parameter || a.value != b.value) return false;
    for (int argument = 0; argument < a.argument_count; ++argument) {
        if (!same_value(p, a.argument(argument), view, b.argument(argument), source_node, semantic_node)) return false;
    }
    return true;
}

/// A stage that one transfer carries out, in every iteration of the loops of its own that the program holds.
constexpr void transfer_stage(planning& p, int s) {
    stage const& st = p.stage_at(s);
    stage_placement const& place = p.placed(s);
    transfer_description const& t = p.of->where().transfers[place.transfer];
    int const home = place.home;
    auto const refuse = [&](rule why) { p.refuse(verdict_kind::transfer_mismatch, why, {t.name, st.output}, place.transfer_ordinal); };
    auto const refuse_memory = [&](rule why, int at) {
        p.refuse(verdict_kind::transfer_mismatch, why, {t.name, st.output, p.of->where().memories[p.buffer_at(at).memory].name},
                 place.transfer_ordinal);
    };
    if (memory_under(p.of->where(), t.destination) != p.buffer_at(home).memory) return refuse_memory(rule::other_destination, home);
    // What the semantics compute for an element, with its one source; without semantics, a copy.
    stage semantics;
    computation_view const view = p.of->where().view(t.semantics);
    if (!copies(t)) read_stage(view, 0, semantics);  // is well formed: the machine was checked
    int source_node = -1, semantic_node = -1;
    if (st.reduces() || st.continues) return refuse(rule::a_reduction);
    if (copies(t)) {
        if (p.plan.what[st.body].op != operation::access || is_padded(p.plan.what, st.body)) return refuse(rule::another_value);
        source_node = st.body;
    } else if (st.type != semantics.type) {
        return refuse(rule::another_type);
    } else if (!same_value(p, st.body, view, semantics.body, source_node, semantic_node)) {
        return refuse(rule::another_value);
    }
    region r{.source = source_node < 0 ? -1 : p.plan.use_at(source_node)->buffer, .destination = home};
    if (r.source >= 0) {
        if (memory_under(p.of->where(), t.source) != p.buffer_at(r.source).memory) return refuse_memory(rule::other_source, r.source);
        if (copies(t) && p.buffer_at(r.source).type != st.type) return refuse(rule::another_type);
    }
    nest const& n = p.nest_at(s);
    int const depth = place.outer_depth + place.owned;
    coverage const moved_at_once = cover(p, s, depth);
    if (moved_at_once.computed != moved_at_once.spanned) {
        p.refuse(verdict_kind::loop_order, rule::gaps_between_outputs, {n.axis_of_loop(place.owned - 1).name, st.output},
                 place.transfer_ordinal);
        p.kept.facts = {fact{fact_kind::have, moved_at_once.computed}, fact{fact_kind::need, moved_at_once.spanned}};
        return;
    }
    fixed_array<bool, max_rank> taken{};
    int previous = -1;
    for (int dimension = 0; dimension < st.rank; ++dimension) {
        movement_dimension& moved = r.dimensions[dimension];
        moved = {.extent = n.axes[dimension].extent, .destination_dimension = static_cast<std::int8_t>(dimension)};
        if (place.owned > 0) {
            range inside;
            split_at_level(p, s, place_in_box(p, s, st.target, dimension, home), depth, r.destination_at[dimension], inside);
            r.destination_at[dimension].constant = inside.low;
            moved.extent = inside.high - inside.low + 1;
        }
        if (r.source < 0) continue;
        for (int from = 0; from < p.plan.what[source_node].argument_count; ++from) {
            std::int64_t const factor = index_of(p.plan.what, st, source_node, from).coefficients[dimension];
            if (factor == 0) continue;
            if (factor < 0 || moved.source_dimension >= 0 || taken[from]) return refuse(rule::another_pattern);
            taken[from] = true;
            moved.source_dimension = static_cast<std::int8_t>(from);
            moved.source_factor = factor;
        }
        if (moved.source_dimension < 0 && moved.extent > 1) return refuse(rule::another_pattern);
        int const wanted = declared_source(t, view, semantics, semantic_node, st.rank, dimension);
        if (wanted >= 0 ? wanted != moved.source_dimension : (moved.source_dimension >= 0 && moved.source_dimension < previous)) {
            return refuse(rule::another_order);
        }
        if (moved.source_dimension >= 0) previous = moved.source_dimension;
    }
    r.count = st.rank;
    if (r.source >= 0) {
        for (int from = 0; from < box_rank(p, p.buffer_at(r.source)); ++from) {
            // The region begins where all of the loops that it is moved in are at 0.
            linear outside;
            range inside;
            linear const at = place_in_box(p, s, source_node, from, r.source);
            split_at_level(p, s, at, depth, outside, inside);
            outside.constant = at.constant;
            r.source_at[from] = outside;
        }
    }
    for (int dimension = 0; dimension < st.rank && p.is_partial(); ++dimension) {
        std::int64_t const extent = clip_region(p, touched_by(p, s, st.target, dimension, depth, 0), dimension, r);
        if (place.owned > 0) r.dimensions[dimension].extent = extent;
    }
    move_now(p, r, place.transfer, place.transfer_ordinal);
}

}  // namespace tilewright::detail
