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
        if (is_upkeep(s.kind)) all.cycles += times * plan.cores * static_cast<double>(plan.upkeep_cycles(plan.upkeeps[s.what]));
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
        if (s.kind == step_kind::start || s.kind == step_kind::compute || is_upkeep(s.kind))
            total += plan.total_of(s, times, first_times).cycles;
    });
    return total;
}

}  // namespace tilewright::detail

namespace tilewright::ir {

constexpr quantity plan_value::calls(transfer_description const& of) const {
    return refusal ? unknown : quantity(traffic_of(position_in(where->transfers, of.name)).calls);
}
constexpr quantity plan_value::bytes(transfer_description const& of) const {
    return refusal ? unknown : quantity(traffic_of(position_in(where->transfers, of.name)).bytes);
}
constexpr quantity plan_value::calls(configuration const& of) const {
    return refusal ? unknown : quantity(settings_of(position_in(where->configurations, of.name)));
}
constexpr quantity plan_value::calls(intrinsic_description const& of) const {
    return refusal ? unknown : quantity(executions_of(position_in(where->intrinsics, of.name)));
}
constexpr plan_value::traffic plan_value::traffic_of(int transfer_position) const {
    traffic total;
    walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        if (s.kind != step_kind::start || movements[s.what].transfer != transfer_position) return;
        total.calls += times, total.bytes += total_of(s, times, first_times).bytes;
    });
    return total;
}
constexpr std::int64_t plan_value::settings_of(int configuration_position) const {
    std::int64_t total = 0;
    auto const set_by = [&](part_range const& of, unsigned sets) {
        bool found = false;
        for (int which = 0; which < of.count; ++which) {
            label const& name = where->settings[of.first + which].configuration_name;
            found |= (sets >> which & 1) != 0 && where->configurations.find(name) == configuration_position;
        }
        return found;
    };
    walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        int const at = s.what;
        if (s.kind == step_kind::configure && settings[at].configuration == configuration_position) total += times;
        bool const moves = s.kind == step_kind::start && movements[at].transfer >= 0;
        if (moves && set_by(where->transfers[movements[at].transfer].settings, movements[at].sets)) total += times;
        if (s.kind != step_kind::compute || bodies[at].kind != body_kind::intrinsic) return;
        body const& b = bodies[at];
        bool const has_first = b.first_intrinsic >= 0;
        if (set_by(where->intrinsics[b.intrinsic].settings, b.sets)) total += has_first ? times - first_times : times;
        if (has_first && set_by(where->intrinsics[b.first_intrinsic].settings, b.first_sets)) total += first_times;
    });
    return total;
}
constexpr std::int64_t plan_value::executions_of(int intrinsic_position) const {
    std::int64_t total = 0;
    walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        if (s.kind != step_kind::compute) return;
        body const& b = bodies[s.what];
        if (b.kind != body_kind::intrinsic) return;
        bool const has_first = b.first_intrinsic >= 0;
        if (b.intrinsic == intrinsic_position) total += has_first ? times - first_times : times;
        if (has_first && b.first_intrinsic == intrinsic_position) total += first_times;
    });
    return total;
}

}  // namespace tilewright::ir
