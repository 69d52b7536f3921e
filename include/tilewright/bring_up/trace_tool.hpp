#pragma once
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <tilewright/bring_up/bring_up_subject.hpp>
#include <tilewright/bring_up/cost_fit.hpp>
#include <tilewright/bring_up/trace_diff.hpp>
#include <tilewright/halide/jit.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

// What an emulated machine is asked for while a kernel runs on it, and the program that compares a device's trace with it.
namespace tilewright::bring_up {

namespace detail {

/// The log of the kernel that runs; one at a time.
inline call_log*& active_log() {
    static call_log* log = nullptr;
    return log;
}
inline emulator& emulator_of(void* machine) { return *static_cast<emulator*>(machine); }

// As emulate/calls.hpp has them; each is written down before it is carried out.
inline std::int32_t logged_transfer(void* machine, std::int32_t at, void* source, void* destination, void* shape) {
    active_log()->transfer(emulator_of(machine), at, source, destination, static_cast<std::int64_t const*>(shape));
    return tilewright_emulate_transfer(machine, at, source, destination, shape);
}
inline std::int32_t logged_intrinsic(void* machine, std::int32_t at, void* operands) {
    active_log()->intrinsic(emulator_of(machine), at, static_cast<std::int64_t const*>(operands));
    return tilewright_emulate_intrinsic(machine, at, operands);
}
inline std::int32_t logged_wait(void* machine, std::int32_t lane, std::int64_t value) {
    active_log()->wait(emulator_of(machine), lane, value);
    return tilewright_emulate_wait(machine, lane, value);
}
inline std::int32_t logged_configure(void* machine, std::int32_t at, void* values) {
    active_log()->configure(emulator_of(machine), at, static_cast<std::int64_t const*>(values));
    return tilewright_emulate_configure(machine, at, values);
}
inline std::int32_t logged_push(void* machine, std::int32_t at, std::int32_t queue) {
    active_log()->token(emulator_of(machine), at, queue, true);
    return tilewright_emulate_push(machine, at, queue);
}
inline std::int32_t logged_pop(void* machine, std::int32_t at, std::int32_t queue) {
    active_log()->token(emulator_of(machine), at, queue, false);
    return tilewright_emulate_pop(machine, at, queue);
}
inline std::int32_t logged_barrier(void* machine) {
    active_log()->barrier(emulator_of(machine));
    return tilewright_emulate_barrier(machine);
}
inline std::int32_t logged_signal(void* machine, std::int32_t peer, std::int32_t queue) {
    active_log()->message(emulator_of(machine), peer, queue, true);
    return tilewright_emulate_signal(machine, peer, queue);
}
inline std::int32_t logged_await(void* machine, std::int32_t peer, std::int32_t queue) {
    active_log()->message(emulator_of(machine), peer, queue, false);
    return tilewright_emulate_await(machine, peer, queue);
}
inline std::int32_t logged_clean(void* machine, std::int32_t memory, std::uint64_t address, std::int64_t bytes, std::int64_t counted) {
    active_log()->keep_up(emulator_of(machine), memory, address, bytes, false);
    return tilewright_emulate_clean(machine, memory, address, bytes, counted);
}
inline std::int32_t logged_invalidate(void* machine, std::int32_t memory, std::uint64_t address, std::int64_t bytes, std::int64_t counted) {
    active_log()->keep_up(emulator_of(machine), memory, address, bytes, true);
    return tilewright_emulate_invalidate(machine, memory, address, bytes, counted);
}
inline std::map<std::string, Halide::JITExtern> logged_functions() {
    std::map<std::string, Halide::JITExtern> all = halide::emulator_functions();
    auto const log = [&](char const* name, auto* function) { all.insert_or_assign(name, Halide::JITExtern(function)); };
    log("tilewright_emulate_transfer", logged_transfer), log("tilewright_emulate_intrinsic", logged_intrinsic);
    log("tilewright_emulate_wait", logged_wait), log("tilewright_emulate_configure", logged_configure);
    log("tilewright_emulate_push", logged_push), log("tilewright_emulate_pop", logged_pop);
    log("tilewright_emulate_barrier", logged_barrier), log("tilewright_emulate_signal", logged_signal);
    log("tilewright_emulate_await", logged_await), log("tilewright_emulate_clean", logged_clean);
    log("tilewright_emulate_invalidate", logged_invalidate);
    return all;
}

}  // namespace detail

/// Runs a kernel on its emulated machine, with dense operands that are all 1, and writes down what it is asked for.
///
/// @param scalars  values of the first scalar parameters; those of the others are 1, too
/// @throws std::invalid_argument when the plan was refused, when its result stays in a memory of the machine, or with the emulator's error
inline void log_calls(call_log& log, plan_value const& plan, semantics_table const& semantics, std::vector<double> scalars = {}) {
    if (plan.refusal) throw std::invalid_argument(to_string(plan.refusal));
    ir::argument_list const list = ir::arguments_of(plan);
    scalars.resize(std::max(scalars.size(), static_cast<std::size_t>(list.parameter_count)), 1);
    std::vector<std::unique_ptr<std::byte, void (*)(void*)>> memory;
    std::vector<std::unique_ptr<tilewright::detail::tensor_argument>> arguments;
    std::vector<Halide::Buffer<>> given;
    bool has_result = false;
    for (int at = 0; at < list.tensor_count; ++at) {
        ir::buffer const& b = plan.buffers[list.tensors[at]];
        std::int64_t elements = 1;
        for (int d = 0; d < b.rank; ++d) elements *= b.extents[d];
        auto const alignment = static_cast<std::size_t>(std::max<std::int64_t>(b.alignment, 64));
        std::size_t const bytes = (static_cast<std::size_t>(elements * bytes_of(b.type)) + alignment - 1) / alignment * alignment;
        memory.emplace_back(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)), &std::free);
        visit_scalar(b.type, [&]<class T>(T) { std::fill_n(reinterpret_cast<T*>(memory.back().get()), elements, T{1}); });
        log.know(b.tensor.str(), memory.back().get(), elements * bytes_of(b.type));
        arguments.push_back(std::make_unique<tilewright::detail::tensor_argument>(b, memory.back().get()));
        given.emplace_back(*static_cast<halide_buffer_t*>(*arguments.back()));
        has_result = b.written;
    }
    if (!has_result) throw std::invalid_argument("the result stays in a memory of the machine: trace the kernel that reads it");
    Halide::Buffer<> const result = given.back();
    given.pop_back();
    detail::active_log() = &log;
    std::string error;
    if (plan.cores > 1) {
        core_team team(*plan.where, semantics, plan.cores);
        halide::jit_kernel kernel(plan, team);
        kernel.pipeline().set_jit_externs(detail::logged_functions());
        if (kernel.run(team, given, result, scalars) != 0) error = team.error();
    } else {
        emulator alone(*plan.where, semantics);
        halide::jit_kernel kernel(plan, &alone);
        kernel.pipeline().set_jit_externs(detail::logged_functions());
        kernel.run(given, result, scalars);
        error = alone.error();
    }
    detail::active_log() = nullptr;
    if (!error.empty()) throw std::invalid_argument(error);
}

inline std::vector<core_trace> trace_of_file(std::string const& path) {
    std::ifstream from(path);
    if (!from) throw std::invalid_argument("cannot read " + path);
    return read_trace(from);
}
/// @param named  a path, or AGENT=PATH
inline std::vector<core_trace> trace_of(std::string const& named) {
    std::size_t const sign = named.find('=');
    if (sign == named.npos || named.find('/') < sign) return trace_of_file(named);
    std::vector<core_trace> made = trace_of_file(named.substr(sign + 1));
    for (core_trace& one : made) one.agent = named.substr(0, sign);
    return made;
}
/// `tool diff TRACE…` names the first step that differs from what the emulator does, and returns 2. Several traces are those of processors
/// with memories of their own, of one run; AGENT=TRACE is all of an agent. `tool fit TRACE…` prints the costs of the machines' parts.
/// @param logs  writes down what should be called
/// @return 0, 1 after a message, or 2
inline int run_trace_tool(std::vector<machine const*> const& machines, std::function<void(call_log&)> const& logs, int count,
                          char** arguments) try {
    std::vector<std::string> const given(arguments + 1, arguments + count);
    bool const fits = given.size() >= 2 && given[0] == "fit";
    if (given.size() < 2 || (!fits && given[0] != "diff")) {
        std::cerr << "usage: " << arguments[0] << " diff [AGENT=]TRACE... | fit TRACE...\n";
        return 1;
    }
    std::vector<core_trace> traces;
    for (std::size_t at = 1; at < given.size(); ++at) {
        std::vector<core_trace> const one = trace_of(given[at]);
        traces.insert(traces.end(), one.begin(), one.end());
    }
    std::cout << lost_text(traces);
    if (fits) {
        for (machine const* const where : machines) std::cout << fit_text(*where, traces);
        return 0;
    }
    call_log log(machines);
    logs(log);
    std::string const wrong = trace_difference::between(log, traces);
    std::size_t calls = 0;
    for (core_trace const& one : traces) calls += one.calls.size();
    std::cout << (wrong.empty() ? std::to_string(calls) + " calls, as the emulator makes them\n" : wrong);
    return wrong.empty() ? 0 : 2;
} catch (std::exception const& wrong) {
    std::cerr << arguments[0] << ": " << wrong.what() << "\n";
    return 1;
}
/// Of a kernel.
inline int run_trace_tool(plan_value const& plan, semantics_table const& semantics, int count, char** arguments) {
    return run_trace_tool(
        {plan.where}, [&](call_log& log) { log_calls(log, plan, semantics); }, count, arguments);
}

}  // namespace tilewright::bring_up
