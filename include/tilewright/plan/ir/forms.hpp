#pragma once
#include <tilewright/plan/ir/plan_value.hpp>

// Forms of a plan: what moves with which loop.
namespace tilewright::detail {

using namespace ir;

constexpr linear form_of(plan_value const& plan, affine const& kept) {
    linear form;
    form.constant = kept.constant;
    for (int at = 0; at < kept.count; ++at) form.terms[at] = plan.terms.slots[kept.first + at].part;
    form.count = kept.count;
    return form;
}

constexpr bool moves_with(plan_value const& plan, linear const& form, int loop);

/// Whether the value of an expression does, by its axes and by what it reads.
constexpr bool value_moves_with(plan_value const& plan, node_id value, int loop) {
    node const& n = plan.what[value];
    if (n.op == operation::constant || n.op == operation::parameter) return false;
    bool const is_place = n.op == operation::access || n.op == operation::axis_value;
    if (use const* const u = is_place ? plan.use_at(value) : nullptr; u != nullptr) {
        int const rank = n.op == operation::axis_value ? 1 : plan.buffers[u->buffer].rank;
        for (int dimension = 0; dimension < rank; ++dimension) {
            if (moves_with(plan, form_of(plan, u->at[dimension]), loop)) return true;
        }
        return false;
    }
    for (int argument = 0; argument < n.argument_count; ++argument) {
        if (value_moves_with(plan, n.argument(argument), loop)) return true;
    }
    return false;
}

/// Whether a form moves with a loop, as a whole, through the parts of a fused one, or by an index that is computed.
constexpr bool moves_with(plan_value const& plan, linear const& form, int loop) {
    for (int at = 0; at < form.count; ++at) {
        variable const& v = plan.variables[form.terms[at].variable];
        if (form.terms[at].variable == loop) return true;
        if (v.kind == variable_kind::element && value_moves_with(plan, v.value, loop)) return true;
        for (int part = 0; v.kind == variable_kind::component && part < v.fused.count; ++part) {
            linear whole;
            whole.add(1, plan.term_at(v.fused, part).variable);
            if (moves_with(plan, whole, loop)) return true;
        }
    }
    return false;
}

/// Whether a loop moves what an access touches of its buffer.
constexpr bool moves_with(plan_value const& plan, use const& u, int loop) {
    bool moves = false;
    for (int dimension = 0; dimension < plan.buffers[u.buffer].rank; ++dimension)
        moves |= moves_with(plan, form_of(plan, u.at[dimension]), loop);
    return moves;
}

/// Whether the limit of a tile body is one that its own loops can run past; those of the loops around it are skipped there.
constexpr bool limits_body(plan_value const& plan, limit const& l, body const& b, bool pure_only) {
    if (l.loop >= 0 || l.stage != b.stage || b.kind == body_kind::intrinsic || (pure_only && l.reduction)) return false;
    linear form;
    for (int t = 0; t < l.form.count; ++t) form.add(plan.term_at(l.form, t).coefficient, plan.term_at(l.form, t).variable);
    for (int at = 0; at < b.loop_count; ++at) {
        if (moves_with(plan, form, b.loops[at])) return true;
    }
    return false;
}

/// Whether a limit shortens the steps of an intrinsic, in both of its forms: where its loops reach the bound, they cover less.
constexpr bool limits_steps(plan_value const& plan, limit const& l, body const& b) {
    if (b.kind != body_kind::intrinsic || l.stage != b.stage || l.loop >= 0) return false;
    auto const covers_less = [&](int first, int count) {
        for (int at = first; at < first + count; ++at) {
            step_extent const& e = plan.step_extents[at];
            linear lane = form_of(plan, l.form);
            lane.add(form_of(plan, e.form), -1);
            bool const alone = lane.count == 1 && lane.constant == 0 && plan.variables[lane.terms[0].variable].kind == variable_kind::lane;
            if (alone && e.bound == l.bound && e.weight > 0 && lane.terms[0].coefficient == e.weight) return true;
        }
        return false;
    };
    return covers_less(b.extents, b.extent_count) && (b.first_intrinsic < 0 || covers_less(b.first_extents, b.first_extent_count));
}

/// The furthest value of an index in a tile body: each limit of the body that the index moves with cuts it.
/// @param pure_only  in the part of the body that does not run over the loops of a reduction
/// @param furthest   `furthest(form)`: the largest value of a form, as if there were no limits
template <class Furthest>
constexpr std::int64_t cut_by_limits(plan_value const& plan, linear const& index, body const& b, bool pure_only, Furthest const& furthest) {
    std::int64_t reached = furthest(index);
    for (int at = 0; at < plan.limits.size(); ++at) {
        limit const& l = plan.limits[at];
        if (!limits_body(plan, l, b, pure_only) && !limits_steps(plan, l, b)) continue;
        linear beyond = index;  // what the index has besides the limited form
        beyond.add(form_of(plan, l.form), -1);
        if (beyond.overflown) continue;
        std::int64_t const cut = l.bound - 1 + furthest(beyond);
        reached = cut < reached ? cut : reached;
    }
    return reached;
}

}  // namespace tilewright::detail
