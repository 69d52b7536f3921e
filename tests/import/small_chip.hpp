#pragma once
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/chip.hpp>

/// A chip whose memory for what is between layers is too small for the network of lesson 14.
namespace small_chip {

using namespace tilewright;

constexpr memory dram{.name = "dram"}, act{.name = "act", .capacity = 3_KiB, .alignment = 16},
    wei{.name = "wei", .capacity = 16_KiB, .alignment = 16};
constexpr auto machine_of_core = machine("core", dram, act, wei);
constexpr agent core("core", machine_of_core);

inline imported::chip const loops =
    imported::chip("small")
        .inputs_in(dram)
        .outputs_in(dram)
        .constants_in(wei)
        .with(core, {.tensors = any_of(act, dram), .inner = &act, .element = &act, .semantics = &semantics_of<machine_of_core>})
        .loops(core);

}  // namespace small_chip
