#pragma once
#include <tilewright/plan/loops/spread.hpp>

// The part of a tensor that one iteration of a loop touches.
namespace tilewright::detail {

/// The box of a tensor inside the first `depth` loops of a path: where it begins, over the loops outside, and how far it reaches.
struct box {
    int rank = 0;
    fixed_array<linear, max_rank> at{};
    fixed_array<std::int64_t, max_rank> extents{};
    bool started = false;
    int open = -1;  ///< an extent without a bound; the box would be as large as it
};

/// Whether an index runs over an extent without a bound inside the first `depth` loops of a path. A level that cuts through a fused loop
/// leaves a part of it inside. That part has a bound if its loops do.
constexpr bool find_open(planning const& p, box& whole, stage_id s, linear const& form, int depth) {
    for (int at = 0; at < form.count && whole.open < 0; ++at) {
        variable_id const v = form.terms[at].variable;
        side const where = side_of(p, s, v, depth);
        int const open = where == side::outside ? -1 : open_extent_of(p, p.var(v).trips);
        if (open >= 0 && where == side::across) find_open(p, whole, s, p.form_of(p.var(v).fused), depth);
        else whole.open = open;
    }
    return whole.open >= 0;
}

/// Widens `whole` by the access at `node` of stage `s`, seen from inside the first `depth` loops of its path.
/// @return -1, or the dimension whose extent would not be constant
constexpr int widen(planning& p, box& whole, stage_id s, node_id node, int depth) {
    whole.rank = p.plan.what.nodes[node].argument_count;
    for (int dimension = 0; dimension < whole.rank; ++dimension) {
        linear outside;
        range inside;
        linear const form = p.index_form(s, node, dimension);
        if (p.plan.run_time_extents > 0 && find_open(p, whole, s, form, depth)) return -1;
        split_at_level(p, s, form, depth, outside, inside);
        if (p.nest_at(s).partial) trim(p, s, node, dimension, depth, inside);
        if (!whole.started) {
            whole.at.elements[dimension] = outside;
            whole.at.elements[dimension].constant = inside.low;
            whole.extents.elements[dimension] = inside.high - inside.low + 1;
            continue;
        }
        if (!whole.at.elements[dimension].same_terms(outside)) return dimension;
        std::int64_t const low = whole.at.elements[dimension].constant, high = low + whole.extents.elements[dimension] - 1;
        whole.at.elements[dimension].constant = low < inside.low ? low : inside.low;
        whole.extents.elements[dimension] = (high > inside.high ? high : inside.high) - whole.at.elements[dimension].constant + 1;
    }
    whole.started = true;
    return -1;
}

struct coverage {
    std::int64_t computed = 1, spanned = 1;
};

/// How many elements the loops inside the first `depth` loops of its path compute in a dimension of the target of stage `s`, and how many
/// the box spans there. Taken in the first dimension with gaps, or in the two dimensions of a fused loop that lies across the level. Both
/// numbers are equal if there are no gaps.
constexpr coverage cover(planning& p, stage_id s, int depth) {
    for (int dimension = 0; dimension < p.stage_at(s).rank; ++dimension) {
        spread const found = spread_of(p, s, dimension, depth);
        if (found.count != found.valid) return {found.count, found.valid};
    }
    nest const& n = p.nest_at(s);
    for (int at = 0; at < n.axes.size(); ++at) {
        nest_axis const& a = n.axes[at];
        if (a.is != nest_axis::role::fused || a.modulus != 0 || side_of(p, s, a.variable, depth) != side::across) continue;
        std::int64_t spanned = 1;
        for (int part = 0; part < n.axes.size(); ++part) {
            nest_axis const& b = n.axes[part];
            if (b.is == nest_axis::role::fused && b.outer == a.outer) spanned *= reach_of(p, s, b.variable, depth).count;
        }
        std::int64_t const computed = spread_of(p, s, a.outer, depth).count;
        if (computed != spanned) return {computed, spanned};
    }
    return {};
}

/// Refuses a box that would be as large as an extent without a bound.
constexpr void refuse_open_box(planning const& p, label const& tensor, int open, stage_id s, int depth, int ordinal) {
    stage_placement const& place = p.placed(s);
    label const level = depth > 0 ? p.var(place.path[depth - 1]).name : label("the kernel");
    p.refuse(verdict_kind::run_time_box, ordinal).names = {tensor, p.var(open).name, level};
}

/// Refuses a box whose extent changes from one iteration of the loop at `depth` to the next.
constexpr void refuse_box(planning const& p, label const& tensor, int dimension, stage_id s, int depth, int ordinal) {
    stage_placement const& place = p.placed(s);
    verdict& v = p.refuse(verdict_kind::box_not_constant, ordinal);
    v.names = {tensor, depth > 0 ? p.var(place.path[depth - 1]).name : label("the kernel")};
    v.facts = {fact{fact_kind::dimension, dimension}};
}

}  // namespace tilewright::detail
