#pragma once
#include <tilewright/machine/machine.hpp>

namespace tilewright::bring_up {

/// The machine that the tool of a self-test or a trace works on. A source of the project itself defines it, so the tool is compiled once.
struct tool_machine {
    char const* name;  ///< of the C function, or of the header
    machine const& where;
};
extern tool_machine const machine_of_tool;

}  // namespace tilewright::bring_up
