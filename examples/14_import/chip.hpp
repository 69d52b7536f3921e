// Machines, schedules and chips are read line by line.
// clang-format off
#pragma once
#include "../09_network/machine.hpp"

#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/chip.hpp>
#include <tilewright/import/products_by_instruction.hpp>

/// Lesson 14: the chip with two agents of lesson 09, as networks from files run on it.
namespace lesson_import {

using namespace tilewright;
using namespace lesson_network;

inline imported::chip const two_agents =
    imported::chip("two_agents")
        .inputs_in(l2_mem).outputs_in(act_mem).constants_in(wei_mem)
        .with(npu, {.tensors = act_mem, .inner = &act_mem, .element = &act_mem, .semantics = &semantics_of<npu_machine>})
        .with(cpu, {.tensors = any_of(act_mem, l2_mem), .inner = &l2_mem, .element = &l2_mem, .semantics = &semantics_of<cpu_machine>})
        // Sums of products go to the array. What it does not take, the cpu computes.
        .standard("products", npu, imported::products_by(mac.name))
        .loops(cpu);

}  // namespace lesson_import
