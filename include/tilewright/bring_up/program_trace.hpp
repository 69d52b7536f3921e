#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/bring_up/trace_tool.hpp>
#include <tilewright/halide/jit_program.hpp>
#include <vector>

// What the emulated machines of a program are asked for while it runs, layer by layer, and the program that compares a device's trace with
// it.
namespace tilewright::bring_up {

/// Different machines of its agents, in their order.
inline std::vector<machine const*> machines_of(program_plan_value const& plan) {
    std::vector<machine const*> all;
    for (int a = 0; a < plan.of->agent_count; ++a) {
        machine const* const where = plan.of->agents[a].where;
        if (std::find(all.begin(), all.end(), where) == all.end()) all.push_back(where);
    }
    return all;
}

/// Runs a program on the emulated machines of its agents and writes down what they are asked for. Tensors that the caller passes are zeros.
///
/// @throws std::invalid_argument when the program was refused, or with the emulator's error
inline void log_calls(call_log& log, program_plan_value const& plan, std::vector<semantics_table> const& semantics) {
    if (plan.refusal) throw std::invalid_argument(to_string(plan.refusal));
    for (int at = 0; at < plan.kernels.size(); ++at) log.know(plan.agent_of(plan.kernel_at(at)));
    program_emulator on(plan, semantics);
    halide::jit_program compiled(on);
    std::vector<std::unique_ptr<std::byte, void (*)(void*)>> memory;
    std::map<std::string, void*> passed;
    for (int at = 0; at < plan.tensors.size(); ++at) {
        ir::program_tensor const& t = plan.tensor_at(at);
        if (!t.passed) continue;
        constexpr std::size_t alignment = 4096;  // more than any memory asks for
        std::size_t const bytes = (static_cast<std::size_t>(t.bytes) + alignment - 1) / alignment * alignment;
        memory.emplace_back(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)), &std::free);
        std::fill_n(memory.back().get(), bytes, std::byte{});
        passed[t.name.str()] = memory.back().get();
        log.know(t.name.str(), memory.back().get(), t.bytes);
    }
    compiled.watch({detail::logged_functions(),
                    [&](int kernel) {
                        if (kernel < 0) return log.in_layer("", "");
                        ir::program_kernel const& k = plan.kernel_at(kernel);
                        log.in_layer(k.name.str(), plan.agent_of(k).name.str());
                    },
                    [&](emulator& core) { log.barrier(core); }});
    detail::active_log() = &log;
    int const code = compiled.run(passed);
    detail::active_log() = nullptr;
    if (code != 0) throw std::invalid_argument("the emulated program failed with " + std::to_string(code) + ": " + on.error());
}

/// The tool of a program's traces: see `run_trace_tool` of a kernel.
inline int run_trace_tool(program_plan_value const& plan, std::vector<semantics_table> const& semantics, int count, char** arguments) {
    return run_trace_tool(
        machines_of(plan), [&](call_log& log) { log_calls(log, plan, semantics); }, count, arguments);
}

}  // namespace tilewright::bring_up
