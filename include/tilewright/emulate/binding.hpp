#pragma once
#include <tilewright/emulate/semantics.hpp>

// What NAME_binding.cpp calls, the file between a kernel of the emulated binding and the emulator. The functions are those of
// emulate/calls.hpp and of what includes it. A build compiles them once for all its kernels, so a binding does not include the emulator.
namespace tilewright {
struct program_plan_value;
}

extern "C" {

/// The emulator of a machine: see `tilewright::shared_emulator`.
void* tilewright_emulated_machine(tilewright::machine const* what, tilewright::semantics_table const* semantics);
/// The emulator of the core that the calling thread runs, or else `machine`: see `tilewright::running_core`.
void* tilewright_running_core(void* machine);
/// Where a bank of a memory lies in this process.
std::uint64_t tilewright_emulated_base(void* machine, std::int32_t memory, std::int32_t bank);

/// The emulated machines of a program: see `tilewright::shared_program`. @param semantics  of each agent's machine, in the agents' order
void* tilewright_emulated_program(tilewright::program_plan_value const* plan, tilewright::semantics_table const* const* semantics);
/// The emulator of an agent of a program; of the agent whose cores share kernels, that of the core that the calling thread runs.
void* tilewright_emulated_agent(void* program, std::int32_t agent);

}  // extern "C"
