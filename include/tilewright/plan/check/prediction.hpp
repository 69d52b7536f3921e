#pragma once
#include <tilewright/plan/check/clocks.hpp>
#include <tilewright/plan/check/core_shares.hpp>

// What a kernel costs on cores and engines that work side by side, without running it.
namespace tilewright::ir {

/// Cycles of a kernel. Not `resolved` if too little repeats for the compiler to follow it.
struct prediction {
    std::int64_t cycles = 0;
    bool resolved = false;
};

}  // namespace tilewright::ir

namespace tilewright::detail {

/// Cycles of several cores that work side by side: until the last of them, and of their engines, is ready.
constexpr prediction predict_cores(plan_value const& plan, visiting how) {
    clocks* const team = new clocks[static_cast<std::size_t>(plan.cores)];
    sent_signals signals;
    team->team = team;
    team->cores = plan.cores;
    for (int core = 0; core < plan.cores; ++core) team[core].signals = &signals, team[core].core = core;
    prediction found{0, program_run<clocks>(plan, *team, how).run()};
    for (int core = 0; core < plan.cores; ++core) {
        found.resolved &= !team[core].overflown;
        found.cycles = team[core].complete() > found.cycles ? team[core].complete() : found.cycles;
    }
    delete[] team;
    return found.resolved ? found : prediction{};
}

}  // namespace tilewright::detail

namespace tilewright::ir {

/// Cycles on engines that work side by side.
constexpr prediction predict(plan_value const& plan, visiting how = visiting::periods) {
    if (plan.refusal) return {};
    plan.need_extents();
    if (plan.cores > 1) return detail::predict_cores(plan, how);
    if (plan.rings.size() == 0 && !detail::is_ordered_aside(plan)) return {plan.total_cycles, true};
    detail::clocks times;
    if (!detail::program_run<detail::clocks>(plan, times, how).run() || times.overflown) return {};
    return {times.complete(), true};
}

constexpr quantity plan_value::cycles() const {
    if (refusal) return unknown;
    prediction const found = predict(*this);
    return found.resolved ? quantity(found.cycles) : quantity::at_least(bound());
}
constexpr bool plan_value::cycles_resolved() const { return refusal || predict(*this).resolved; }

}  // namespace tilewright::ir
