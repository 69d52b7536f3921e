#pragma once
#include <tilewright/plan/check/partial_counts.hpp>

// What each of several cores has its engines do.
namespace tilewright::detail {

/// Cycles that a core has an engine work; for engine -1, that it works itself: in its shares, and in the steps outside of them that
/// it runs.
constexpr std::int64_t share_of_core(plan_value const& plan, int engine_at, int core) {
    fixed_array<tally, plan_value::most_tallies> partial{};
    bool const has_share = core >= plan.first_core && core < plan.end_core;
    partial_counter(plan, has_share ? core : plan.first_core).run([&](int position, tally const& mine) {
        if (int const at = plan.steps[position].tally; at >= 0) partial[at] = mine;
    });
    std::int64_t total = 0;
    int sharing = 0;  // cores, in the shares of a loop
    plan.walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        bool const shared = (s.kind == step_kind::loop || s.kind == step_kind::end) && plan.variables[s.what].distributed;
        if (shared) sharing = s.kind == step_kind::loop ? static_cast<int>(plan.variables[s.what].extent) : 0;
        bool const of_each = is_upkeep(s.kind) && s.core < 0;
        if (shared || (sharing > 0 ? !has_share : core != s.core && !of_each)) return;
        int const parts = sharing > 0 ? sharing : of_each ? plan.cores : 1;
        total += plan.busy_in(s, s.tally >= 0 ? partial[s.tally] : plan.total_of(s, times / parts, first_times / parts), engine_at);
    });
    return total;
}

}  // namespace tilewright::detail

namespace tilewright::ir {

constexpr std::int64_t plan_value::busiest_share(int engine_at) const {
    std::int64_t most = 0;
    for (int core = 0; core < cores; ++core) {
        std::int64_t const one = detail::share_of_core(*this, engine_at, core);
        most = most < one ? one : most;
    }
    return most;
}
constexpr std::int64_t plan_value::shared_cycles(int engine_at) const {
    std::int64_t const units = engine_at < 0 ? 1 : channels_of(engine_at);
    return ((cores > 1 ? busiest_share(engine_at) : busy_cycles(engine_at)) + units - 1) / units;
}
constexpr quantity plan_value::bound() const {
    if (refusal) return unknown;
    std::int64_t most = 0;
    for (int at = -1; at < where->engines.size(); ++at) most = most < shared_cycles(at) ? shared_cycles(at) : most;
    return most;
}

}  // namespace tilewright::ir
