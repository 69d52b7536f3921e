#pragma once
#include <span>
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/plan/ir/plan_value.hpp>

namespace tilewright {
struct program_plan_value;
}

namespace tilewright::bring_up {

/// The machine that the tool of a self-test or a trace works on. A source of the project itself defines it, so the tool is compiled once.
struct tool_machine {
    char const* name;  ///< of the C function, or of the header
    machine const& where;
};
extern tool_machine const machine_of_tool;

/// Likewise the kernel that traces are compared with.
struct traced_kernel {
    ir::plan_value const& plan;
    semantics_table const& semantics;
};
extern traced_kernel const kernel_of_trace;

/// Or the program, with what the machine of each of its agents does.
struct traced_program {
    program_plan_value const& plan;
    std::span<semantics_table const* const> semantics;
};
extern traced_program const program_of_trace;

}  // namespace tilewright::bring_up
