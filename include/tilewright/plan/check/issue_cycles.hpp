#pragma once
#include <tilewright/plan/check/prediction.hpp>

// Plans that run in two parts: the core starts everything, does something else, and later waits for it.
namespace tilewright::ir {

/// The first step of a plan after which it only waits for asynchronous transfers that were started before, in loops or not.
/// @return -1 when there is none, or something else is done before or after it
constexpr int first_wait_of(plan_value const& plan) {
    int first = -1, depth = 0;
    for (int at = 0; at < plan.steps.size(); ++at) {
        step const& s = plan.steps[at];
        bool const waits = s.kind == step_kind::wait;
        bool const starts = s.kind == step_kind::start && plan.is_asynchronous(plan.movements[s.what]);
        bool const issues = starts || s.kind == step_kind::loop || s.kind == step_kind::end || s.kind == step_kind::configure;
        depth += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
        if (first < 0 && waits && depth == 0) first = at;
        if (first < 0 ? !issues : !waits) return -1;
    }
    return first;
}

/// Cycles of the core until everything is started. @pre the plan has a `first_wait_of`
constexpr prediction predict_issue(plan_value const& plan) {
    detail::clocks times;
    if (!detail::program_run<detail::clocks>(plan, times, detail::visiting::periods).run() || times.overflown) return {};
    return {times.first_wait, times.first_wait >= 0};
}

}  // namespace tilewright::ir
