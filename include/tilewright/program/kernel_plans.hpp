#pragma once
#include <memory>
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/program/program_plan.hpp>
#include <vector>

namespace tilewright {

/// A kernel of a program as it is generated: its schedule, and its plan with its own buffers where the program puts them.
struct kernel_build {
    std::unique_ptr<detail::copy_computation> copied;  ///< of a copy: what the schedule points at
    std::unique_ptr<schedule> what;
    plan_value plan{};
};

namespace detail {

/// Gives a kernel's own buffers the places that the program has for them.
/// @throws std::logic_error when the kernel could not be shown to be right there
inline void place_scratch(program_plan_value const& of, int kernel_at, plan_value& plan) {
    auto const wrong = [&](std::string const& what) {
        throw std::logic_error("kernel `" + of.kernel_at(kernel_at).name.str() + "`, where the program puts its buffers: " + what);
    };
    remove_fences(plan);
    for (int at = 0; at < of.scratch.size(); ++at) {
        ir::program_scratch const& s = of.scratch_at(at);
        if (s.kernel != kernel_at) continue;
        ir::buffer& held = plan.buffers[s.buffer];
        if (held.name != s.name) wrong("`" + s.name.str() + "` is not the buffer that was placed");
        held.offset = s.offset, held.bank = s.bank;
    }
    if (!add_fences(plan)) wrong("no room for its fences");
    auto const name = [&](int at) { return "`" + plan.buffers[at].name.str() + "`"; };
    if (misplaced const found = find_misplaced(plan); found.buffer >= 0)
        wrong(name(found.buffer) + (found.other == found.buffer ? " is out of place" : " and " + name(found.other) + " overlap"));
    if (hazard const found = find_hazard(plan)) wrong(name(found.buffer) + " is in a race");
}

}  // namespace detail

/// @throws std::invalid_argument when the program was refused
inline kernel_build build_kernel(program_plan_value const& of, int kernel_at) {
    if (of.refusal) throw std::invalid_argument(to_string(of.refusal));
    ir::program_kernel const& k = of.kernel_at(kernel_at);
    kernel_build made;
    if (k.is_copy()) {
        ir::program_tensor const* tensor = nullptr;
        for (int at = 0; at < of.uses.size(); ++at) {
            ir::program_use const& u = of.uses[at];
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
        detail::join_team(made.plan, of);
    }
    detail::place_scratch(of, kernel_at, made.plan);
    return made;
}

/// The plan of each kernel as it is generated.
/// @throws std::invalid_argument when the program was refused
inline std::vector<plan_value> kernel_plans(program_plan_value const& of) {
    std::vector<plan_value> all;
    for (int at = 0; at < of.kernels.size(); ++at) all.push_back(build_kernel(of, at).plan);
    return all;
}

/// The use of a program that is the argument at `buffer_at` of a kernel's plan.
inline ir::program_use const& use_of(program_plan_value const& of, int kernel_at, plan_value const& plan, int buffer_at) {
    bool const copy = of.kernel_at(kernel_at).is_copy();
    for (int at = 0; at < of.uses.size(); ++at) {
        ir::program_use const& u = of.uses[at];
        bool const same = copy ? u.written == plan.buffers[buffer_at].written : u.buffer == buffer_at;
        if (u.kernel == kernel_at && same) return u;
    }
    throw std::logic_error("an argument that the program does not know");
}

}  // namespace tilewright
