#pragma once
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/chip.hpp>

/// A chip whose memory holds not even strips of the network of lesson 14.
namespace tiny_chip {

using namespace tilewright;

constexpr memory dram{.name = "dram"}, act{.name = "act", .capacity = 256, .alignment = 16},
    wei{.name = "wei", .capacity = 16_KiB, .alignment = 16};
constexpr auto machine_of_core = machine("core", dram, act, wei);
constexpr agent core("core", machine_of_core);

inline imported::chip const loops = imported::chip("tiny")
                                        .inputs_in(act)
                                        .outputs_in(act)
                                        .constants_in(wei)
                                        .with(core, {.tensors = act, .inner = &act, .element = &act})
                                        .loops(core);

}  // namespace tiny_chip
