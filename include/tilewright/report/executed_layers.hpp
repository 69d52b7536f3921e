#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <tilewright/emulate/program_emulator.hpp>
#include <tilewright/report/layer_times.hpp>
#include <vector>

// The layers of a program that has run on the emulated machines of its agents.
namespace tilewright::reports {

/// A layer that ran: what all cores did that share it.
struct executed_layer {
    std::vector<executed_kernel> shares{};  ///< of each core, in their order
    layer_time time{};                      ///< from the first core's begin to the last one's end
    emulation::work_done done{};            ///< its cycles are those of `time`

    machine const& where(program_emulator const& after) const { return after.on(shares.front()).what(); }
    /// 0, or the code of the first core that failed.
    int code() const {
        for (executed_kernel const& one : shares) {
            if (one.code != 0) return one.code;
        }
        return 0;
    }
};

/// What was recorded while a kernel, or a core's share of it, ran.
inline std::span<recorded_job const> jobs_of(executed_kernel const& one, program_emulator const& after) {
    return std::span(after.on(one).recorded()).subspan(one.before.jobs, one.after.jobs - one.before.jobs);
}

/// Of every kernel of the program, by its position; none: it has not run, or `record()` was not called before.
///
/// @throws std::invalid_argument when the emulator is of another program
inline std::vector<std::optional<executed_layer>> executed_layers(program_plan_value const& plan, program_emulator const& after) {
    if (!same_program(plan, after.plan()))
        throw std::invalid_argument("a report of `" + plan.of->name.str() + "`, but the emulator runs another program: `" +
                                    after.plan().of->name.str() + "`");
    std::vector<std::optional<executed_layer>> layers(static_cast<std::size_t>(plan.kernels.size()));
    for (executed_kernel const& one : after.executed()) {
        std::optional<executed_layer>& layer = layers[static_cast<std::size_t>(one.kernel)];
        emulation::work_done const share = one.after.since(one.before);
        if (layer) layer->done.join(share);
        else layer = {{}, {one.begin, one.end()}, share};
        layer->shares.push_back(one);
        layer->time = {std::min(layer->time.begin, one.begin), std::max(layer->time.end, one.end())};
        layer->done.cycles = layer->time.end - layer->time.begin;
    }
    for (std::optional<executed_layer>& layer : layers) {
        if (!layer) continue;
        std::sort(layer->shares.begin(), layer->shares.end(),
                  [](executed_kernel const& a, executed_kernel const& b) { return a.core < b.core; });
    }
    return layers;
}

}  // namespace tilewright::reports
