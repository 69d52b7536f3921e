#pragma once
#include <algorithm>
#include <cstdint>
#include <tilewright/program/program_plan_value.hpp>
#include <vector>

// When the layers of a program run, as planned.
namespace tilewright::reports {

/// When a layer runs, in cycles of the program.
struct layer_time {
    std::int64_t begin = 0, end = 0;

    bool operator==(layer_time const&) const = default;
};
/// Of every kernel of a program, by its position: the caller's core hands them out in the order of the steps.
inline std::vector<layer_time> layer_times(program_plan_value const& plan) {
    std::vector<layer_time> times(static_cast<std::size_t>(plan.kernels.size()));
    std::int64_t now = 0;
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::program_step const& s = plan.steps[at];
        if (s.kind == ir::program_step_kind::barrier) {
            now += plan.machine_of_cores().longest_barrier(plan.cores);
            continue;
        }
        ir::program_kernel const& k = plan.kernel_at(s.kernel);
        layer_time& time = times[static_cast<std::size_t>(s.kernel)];
        if (s.kind == ir::program_step_kind::join) {
            now = std::max(now, time.end);
            continue;
        }
        time = {now, now + k.cycles};
        now += s.kind == ir::program_step_kind::run ? k.cycles : k.issue_cycles;
    }
    return times;
}

}  // namespace tilewright::reports
