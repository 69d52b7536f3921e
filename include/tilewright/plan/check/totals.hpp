#pragma once
#include <tilewright/plan/ir/planning.hpp>

// Totals of a plan.
namespace tilewright::detail {

/// Cycles and bytes of a plan's steps, without overlap: a double holds sums that an int64 would not.
struct totals {
    double cycles = 0, bytes = 0;
};
constexpr totals totals_of(plan_value const& plan) {
    totals all;
    double times = 1;
    auto const trips = [&](step const& s) { return static_cast<double>(plan.variables[s.what].extent); };
    for (int at = 0; at < plan.steps.size(); ++at) {
        step const& s = plan.steps[at];
        if (s.kind == step_kind::loop) times *= trips(s);
        if (s.kind == step_kind::end) times /= trips(s);
        if (s.kind == step_kind::start) {
            movement const& m = plan.movements[s.what];
            all.cycles += times * static_cast<double>(m.cycles);
            all.bytes += times * static_cast<double>(m.bytes);
        }
        if (s.kind == step_kind::compute) {
            body const& b = plan.bodies[s.what];
            all.cycles += times * static_cast<double>(b.cycles > b.first_cycles ? b.cycles : b.first_cycles);
        }
    }
    return all;
}

/// Refuses totals that numbers cannot hold, before they are counted.
constexpr void limit_totals(plan_value const& plan, refusals const& to) {
    totals const all = totals_of(plan);
    label const& output = plan.stages[plan.stages.size() - 1].output;
    to.limited(all.cycles, plan_value::most_total, "cycles", output);
    to.limited(all.bytes, plan_value::most_total, "bytes moved", output);
}

constexpr std::int64_t count_cycles(plan_value const& plan) {
    std::int64_t total = 0;
    plan.walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        if (s.kind == step_kind::start || s.kind == step_kind::compute) total += plan.total_of(s, times, first_times).cycles;
    });
    return total;
}

}  // namespace tilewright::detail
