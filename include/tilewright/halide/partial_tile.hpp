#pragma once
#include <map>
#include <tilewright/halide/index_value.hpp>
#include <tilewright/plan/check/partial_counts.hpp>
#include <vector>

// Tiles that can lie beyond an end: whether a tile is whole, and otherwise the pieces of it that are there.
namespace tilewright::halide {

/// The ends that the loops of a tile body can run past.
inline std::vector<limit> limits_of(plan_value const& plan, body const& b, bool pure_only) {
    std::vector<limit> found;
    for (int at = 0; at < plan.limits.size(); ++at) {
        limit const& l = plan.limits[at];
        if (tilewright::detail::limits_body(plan, l, b, pure_only || b.kind == body_kind::identity)) found.push_back(l);
    }
    return found;
}

/// Whether all that the loops of a tile body reach of one axis is there, over the loops around it.
inline Halide::Expr is_whole(plan_value const& plan, limit const& l, body const& b, std::function<Halide::Expr(int)> const& loop) {
    Halide::Expr furthest = static_cast<int>(l.form.constant);
    for (int t = 0; t < l.form.count; ++t) {
        term const& part = plan.term_at(l.form, t);
        linear one;
        one.add(1, part.variable);
        bool inside = false;
        for (int at = 0; at < b.loop_count; ++at) inside |= tilewright::detail::moves_with(plan, one, b.loops[at]);
        variable const& v = plan.variables[part.variable];
        std::int64_t const most = v.extent - 1;
        if (most == 0 && v.trips < 0 && !tilewright::detail::is_given(v)) continue;  // a loop of one iteration
        if (!inside) furthest = furthest + static_cast<int>(part.coefficient) * variable_value(plan, part.variable, loop);
        else if (part.coefficient > 0) furthest = furthest + static_cast<int>(part.coefficient * most);
    }
    return Halide::Internal::simplify(furthest < static_cast<int>(l.bound));
}
/// Likewise of all axes.
inline Halide::Expr is_whole(plan_value const& plan, body const& b, std::function<Halide::Expr(int)> const& loop) {
    Halide::Expr whole = Halide::Internal::const_true();
    for (limit const& l : limits_of(plan, b, false)) whole = whole && is_whole(plan, l, b, loop);
    return Halide::Internal::simplify(whole);
}
/// Whether all that a tile body reads of padded tensors lies inside of them, over the loops around it; false where that is not known.
inline Halide::Expr is_all_inside(plan_value const& plan, body const& b, std::function<Halide::Expr(int)> const& loop) {
    using Halide::Expr;
    Expr inside = Halide::Internal::const_true();
    plan.each_use(b, [&](use const& u, bool, bool) {
        plan.each_padding(u.node, [&](padding const& one) {
            if (!one.guarded) return;
            Expr low = static_cast<int>(one.index.constant), high = low;
            for (int t = 0; t < one.index.count; ++t) {
                term const& part = plan.term_at(one.index, t);
                variable const& v = plan.variables[part.variable];
                if (v.kind == variable_kind::component || v.kind == variable_kind::element) inside = Halide::Internal::const_false();
                bool within = false;
                for (int at = 0; at < b.loop_count; ++at) within |= b.loops[at] == part.variable;
                Expr const step = static_cast<int>(part.coefficient);
                Expr const first = within ? Expr(0) : loop(part.variable), last = within ? Expr(static_cast<int>(v.extent - 1)) : first;
                low = low + step * (part.coefficient < 0 ? last : first);
                high = high + step * (part.coefficient < 0 ? first : last);
            }
            inside = inside && low >= 0 && high < static_cast<int>(one.extent);
        });
    });
    return Halide::Internal::simplify(inside);
}

/// Whether lanes past an end may be computed with those before it: their results stay in a buffer of the tile alone, which nobody reads
/// there, and what they read has memory, whatever is in it.
/// @param lanes  the innermost loop that the limit ends
inline bool may_fill_lanes(plan_value const& plan, limit const& l, body const& b, int lanes) {
    variable const& lane = plan.variables[lanes];
    if (!lane.vectorized || lane.reduction || l.reduction) return false;
    tilewright::ir::stage const& of = plan.stages[b.stage];
    for (int at = of.target; at < of.store; ++at) {
        operation const op = plan.what[at].op;
        if (op == operation::divide || op == operation::modulo || op == operation::shift_left || op == operation::shift_right) return false;
    }
    bool may = true;
    plan.each_use(b, [&](use const& u, bool, bool writes) {
        if (!writes && !tilewright::detail::moves_with(plan, u, lanes)) return;
        buffer const& one = plan.buffers[u.buffer];
        may &= one.kind != buffer_kind::argument && !plan.is_guarded(u.node);
        for (int dimension = 0; dimension < one.rank && may; ++dimension) {
            std::int64_t low = u.at[dimension].constant, high = low;
            bool of_lanes = false;  // along the other dimensions, these lanes are where those before the end are
            for (int t = 0; t < u.at[dimension].count; ++t) {
                term const& part = plan.term_at(u.at[dimension], t);
                bool inside = false;
                for (int at = 0; at < b.loop_count; ++at) inside |= b.loops[at] == part.variable;
                may &= inside || !writes;
                linear of_loop;
                of_loop.add(1, part.variable);
                of_lanes |= tilewright::detail::moves_with(plan, of_loop, lanes);
                std::int64_t const furthest = part.coefficient * (plan.variables[part.variable].extent - 1);
                (furthest < 0 ? low : high) += furthest;
            }
            may &= !of_lanes || (low >= 0 && high < one.extents[dimension]);
        }
    });
    return may;
}

/// The iterations of a tile body that a piece of code carries out.
struct tile_part {
    struct range {
        int first = 0, count = 0;
    };
    std::map<int, range> ranges;  ///< of loops that do not run in full
    bool guarded = false;         ///< every iteration asks whether it is there; then loops that end are not vectorised or unrolled
    bool goes_on = false;         ///< another piece has begun the reduction
    bool inside = false;          ///< everything that it reads of padded tensors is inside of them

    range of(int loop, variable const& v) const {
        auto const found = ranges.find(loop);
        return found == ranges.end() ? range{0, static_cast<int>(v.extent)} : found->second;
    }
};

}  // namespace tilewright::halide
