#pragma once
#include <memory>
#include <tilewright/program/program_plan.hpp>

namespace tilewright {

/// A kernel of a program as it is generated: its schedule, and its plan with its own buffers where the program puts them.
struct kernel_build {
    std::unique_ptr<detail::copy_computation> copied;  ///< of a copy: what the schedule points at
    std::unique_ptr<schedule> what;
    plan_value plan{};
};

/// @throws std::invalid_argument when the program was refused
inline kernel_build build_kernel(program_plan_value const& of, int kernel_at) {
    if (of.refusal) throw std::invalid_argument(to_string(of.refusal));
    ir::program_kernel const& k = of.kernel_at(kernel_at);
    kernel_build made;
    if (k.is_copy()) {
        ir::program_tensor const* tensor = nullptr;
        for (int at = 0; at < of.uses.size(); ++at) {
            ir::program_use const& u = of.uses[static_cast<std::size_t>(at)];
            if (u.kernel == kernel_at && u.written) tensor = &of.tensor_at(u.tensor);
        }
        machine const& where = *of.agent_of(k).where;
        made.copied = std::make_unique<detail::copy_computation>(tensor->type, tensor->rank, tensor->extents);
        made.what = std::make_unique<schedule>(detail::copy_schedule(*made.copied, where, where.transfers[k.transfer]));
        made.plan = make_plan(*made.what);
    } else {
        made.plan = make_plan(*k.what);
        made.what = std::make_unique<schedule>(detail::schedule_of(of, kernel_at, made.plan));
        if (!detail::is_as_written(of, kernel_at, made.plan)) made.plan = make_plan(*made.what);
    }
    for (int at = 0; at < of.frames.size(); ++at) {
        ir::program_frame const& f = of.frames[static_cast<std::size_t>(at)];
        if (f.kernel != kernel_at) continue;
        int const memory_at = made.plan.where->memories.find(of.memories[static_cast<std::size_t>(f.memory)].what.name);
        for (int b = 0; b < made.plan.buffers.size(); ++b) {
            ir::buffer& held = made.plan.buffers[static_cast<std::size_t>(b)];
            if (held.kind != ir::buffer_kind::argument && held.memory == memory_at) held.offset += f.offset;
        }
    }
    return made;
}

/// The use of a program that is the argument at `buffer_at` of a kernel's plan.
inline ir::program_use const& use_of(program_plan_value const& of, int kernel_at, plan_value const& plan, int buffer_at) {
    bool const copy = of.kernel_at(kernel_at).is_copy();
    for (int at = 0; at < of.uses.size(); ++at) {
        ir::program_use const& u = of.uses[static_cast<std::size_t>(at)];
        bool const same = copy ? u.written == plan.buffers[static_cast<std::size_t>(buffer_at)].written : u.buffer == buffer_at;
        if (u.kernel == kernel_at && same) return u;
    }
    throw std::logic_error("an argument that the program does not know");
}

}  // namespace tilewright
