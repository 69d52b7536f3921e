#pragma once
#include <span>
#include <tilewright/plan/ir/plan_value.hpp>
#include <tilewright/schedule/schedule.hpp>

// The input of the programs that write a kernel's files. Does not need Halide.
namespace tilewright {

struct program_plan_value;

namespace halide {

using namespace ir;

enum class binding { emulated, device };

/// A schedule of the kernel that a tool works on. A source of the kernel itself defines it, and sees nothing of Halide. So the tools are
/// compiled once for all kernels of a project.
struct tool_kernel {
    char const* name;  ///< of the C function
    schedule const& made_by;
    plan_value const& plan;
    binding to;
    char const* schedule_name;  ///< with its namespaces
};
/// One; or several, each for a target of its own, in the order in which a processor is asked whether it can run them.
extern std::span<tool_kernel const> const kernels_of_tool;

/// The program that a tool works on.
struct tool_program {
    char const* name;  ///< of the C function
    program_plan_value const& plan;
};
extern tool_program const program_of_tool;

}  // namespace halide
}  // namespace tilewright
