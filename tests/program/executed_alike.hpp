#pragma once
#include <tilewright/emulate/program_emulator.hpp>
#include <tilewright/report/program_page.hpp>

namespace programs {

/// Which kernel did not run when it was planned to; empty: none. Cores that share a kernel begin it together, and the last ends it.
inline std::string executed_otherwise(tilewright::program_plan_value const& plan, tilewright::program_emulator const& on) {
    using namespace tilewright;
    std::vector<reports::layer_time> const planned = reports::layer_times(plan);
    std::vector<int> times(planned.size(), 0);
    std::vector<std::int64_t> ends(planned.size(), 0);
    for (executed_kernel const& one : on.executed()) {
        auto const at = static_cast<std::size_t>(one.kernel);
        ++times[at];
        ends[at] = std::max(ends[at], one.end());
        if (one.begin != planned[at].begin)
            return plan.kernel_at(one.kernel).name.str() + " of core " + std::to_string(one.core) + " began in cycle " +
                   std::to_string(one.begin) + ", planned: " + std::to_string(planned[at].begin);
    }
    for (int k = 0; k < plan.kernels.size(); ++k) {
        auto const at = static_cast<std::size_t>(k);
        std::string const name = plan.kernel_at(k).name.str();
        if (int const wanted = plan.kernel_at(k).cores > 1 ? plan.cores : 1; times[at] != wanted)
            return name + " ran " + std::to_string(times[at]) + " times, not " + std::to_string(wanted);
        if (ends[at] != planned[at].end)
            return name + " ended in cycle " + std::to_string(ends[at]) + ", planned: " + std::to_string(planned[at].end);
    }
    return {};
}

}  // namespace programs
