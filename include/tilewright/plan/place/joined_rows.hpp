#pragma once
#include <tilewright/plan/ir/forms.hpp>
#include <tilewright/plan/loops/level.hpp>

// Steps of an intrinsic along a loop that is fused of two: they go on from the end of a row to the next row.
namespace tilewright::detail {

/// A coefficient that no index has: the loop is part of a fused one, and the index is not linear in it.
inline constexpr std::int64_t not_linear = std::int64_t{1} << 40;

/// How far `axis` moves when the leaf `leaf` moves by one.
constexpr std::int64_t leaf_coefficient(nest const& n, int axis, int leaf) {
    if (axis == leaf) return 1;
    nest_axis const& a = n.axes.slots[axis].part;
    if (a.is == nest_axis::role::split) {
        std::int64_t const outer = leaf_coefficient(n, a.outer, leaf), inner = leaf_coefficient(n, a.inner, leaf);
        return outer == not_linear || inner == not_linear ? not_linear : a.factor * outer + inner;
    }
    if (a.is == nest_axis::role::fused) return leaf_coefficient(n, a.outer, leaf) != 0 ? not_linear : 0;
    return 0;
}

/// Where a fused loop moves an access: along rows, and from row to row in the dimension before.
struct joined_rows {
    int dimension = -1;    ///< of the tensor, along a row; -1: the loop does not move the access so
    std::int64_t row = 0;  ///< iterations of the inner of the fused loops
};
/// @param whole  where the fused loop stands among the axes of the nest
constexpr joined_rows joined_rows_of(planning const& p, stage_id s, node_id node, int whole) {
    nest const& n = p.nest_at(s);
    int outer = -1, inner = -1;
    for (int axis = 0; axis < p.stage_at(s).axis_count; ++axis) {
        nest_axis const& a = n.axes[axis];
        if (a.is == nest_axis::role::fused && a.outer == whole) (a.modulus == 0 ? outer : inner) = axis;
    }
    if (outer < 0 || inner < 0) return {};
    joined_rows found{.row = n.axes[inner].modulus};
    int rows = -1;
    for (int dimension = 0; dimension < p.plan.what.nodes[node].argument_count; ++dimension) {
        stage_index const index = p.access_index(s, node, dimension);
        std::int64_t const by_row = index.coefficients[outer], along_row = index.coefficients[inner];
        if (by_row == 0 && along_row == 0) continue;
        if (by_row == 1 && along_row == 0 && rows < 0) rows = dimension;
        else if (by_row == 0 && along_row == 1 && found.dimension < 0) found.dimension = dimension;
        else return {};
    }
    return rows >= 0 && found.dimension == rows + 1 ? found : joined_rows{};
}

/// An axis of an intrinsic along which an operand goes on from row to row.
struct joined_axis {
    std::int64_t row = 0;       ///< see `joined_rows`; 0: there is none
    std::int8_t axis = 0;       ///< of the semantics
    std::int8_t dimension = 0;  ///< of the operand
};

/// What is asked of a buffer whose rows a step goes along, and what it has; the same where it is given.
struct rows_asked {
    std::int64_t has = 0, asked = 0;
    constexpr explicit operator bool() const { return has != asked; }
};
/// A step goes from row to row by one stride where rows follow each other without gaps. No other end than that of the fused loop may cut
/// it short.
///
/// @param along  the buffer's dimension along a row
/// @param loop   the fused loop
constexpr rows_asked wrong_rows(planning const& p, stage_id s, buffer const& b, int along, std::int64_t row, nest_axis const& loop) {
    if (b.kind == buffer_kind::argument || b.layout >= 0) return {0, row};
    if (b.extents[along] != row) return {b.extents[along], row};
    if (!loop.flexible && loop.extent % loop.lane_extent != 0) return {loop.extent % loop.lane_extent, 0};
    for (int at = 0; at < p.plan.limits.count; ++at) {
        limit const& l = p.plan.limits[at];
        linear const form = p.form_of(l.form);
        if (l.stage == s && form.coefficient_of(loop.lane) == 0 && moves_with(p.plan, form, loop.lane)) return {l.bound, 0};
    }
    return {};
}

/// The index of the first element that a step covers: lanes stand at 0, and parts of a fused loop are those of its first lane.
constexpr linear first_of_step(writing& p, linear const& whole) {
    linear base;
    base.constant = whole.constant;
    for (int t = 0; t < whole.count; ++t) {
        term const& part = whole.terms[t];
        variable const v = p.var(part.variable);
        if (v.kind == variable_kind::lane) continue;
        linear const fused = v.kind == variable_kind::component ? p.form_of(v.fused) : linear{};
        linear first;
        for (int at = 0; at < fused.count; ++at) {
            term const& one = fused.terms[at];
            if (p.var(one.variable).kind != variable_kind::lane) first.add(one.coefficient, one.variable);
        }
        if (first.count == fused.count) base.add(part.coefficient, part.variable);
        else base.add(part_of(p, first, v), part.coefficient);
    }
    return base;
}

}  // namespace tilewright::detail
