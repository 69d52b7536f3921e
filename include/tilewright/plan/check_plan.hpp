#pragma once
#include <tilewright/plan/check/excess.hpp>
#include <tilewright/plan/check/hazards.hpp>
#include <tilewright/plan/check/specialise.hpp>
#include <tilewright/plan/check/stale_settings.hpp>

namespace tilewright {

namespace detail {

constexpr verdict check_plan(plan_value const& plan, schedule const* of, visiting how) {
    if (plan.refusal) return plan.refusal;
    verdict_sheet sheet;
    refusals const to(sheet, of);
    refuse_stale_setting(plan, to, find_stale_setting(plan));
    auto const follow = [&](plan_value const& at) {
        if (!to.refused()) refuse_hazard(plan, to, find_hazard(at, how));
        if (!to.refused()) refuse_hazard(plan, to, find_core_hazard(at, how));
        if (!to.refused()) refuse_hazard(plan, to, find_excess(at, how));
    };
    if (plan.run_time_extents == 0) follow(plan);
    else {
        for (representatives some(plan, true); some.next();) {
            specialisation const at = specialised(plan, some.extents, false);
            if (at.wrong == nullptr) follow(at.plan);
        }
    }
    return sheet.first;
}

}  // namespace detail

/// Follows the program of a plan, and says what is wrong with it: the verdict that the planner would give; none if nothing is wrong. For
/// tools that change plans, or make some of their own.
///
/// Looks for registers that are not set to what a call needs; for accesses to one place that nothing orders, tokens that nobody pushes or
/// pops, and two users of a bank with one port; and, if tiles are partial, for what leaves a buffer. `broken` of the verdict is the rule.
/// If extents are left to run time, looks at a few hundred that stand for all others.
/// @param of   the schedule that the plan was made from: the verdict then names the directive and its line
/// @param how  `ir::visiting::everything` visits each iteration, and skips none that repeat others: slow, and meant for run time
/// @return the refusal of a plan that has one already
constexpr verdict check_plan(plan_value const& plan, schedule const& of, ir::visiting how = ir::visiting::periods) {
    return detail::check_plan(plan, &of, how);
}
/// Likewise, of a plan whose schedule is not at hand.
constexpr verdict check_plan(plan_value const& plan, ir::visiting how = ir::visiting::periods) {
    return detail::check_plan(plan, nullptr, how);
}

}  // namespace tilewright
