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

/// Whether a form moves with a loop, as a whole or through the parts of a fused one.
constexpr bool moves_with(plan_value const& plan, linear const& form, int loop) {
    for (int at = 0; at < form.count; ++at) {
        variable const& v = plan.variables[form.terms[at].variable];
        if (form.terms[at].variable == loop) return true;
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

}  // namespace tilewright::detail
