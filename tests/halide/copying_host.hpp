#pragma once
#include <tilewright/machine/machine.hpp>

/// A machine that this processor can be: its core copies between the caller's memory and one whose address the caller gives.
namespace copying {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory near{.name = "near", .capacity = 64_KiB};
inline constexpr core cpu{.name = "cpu"};
inline constexpr auto copy = transfer("copy", dram, near).on(cpu), back = transfer("back", near, dram).on(cpu);
inline constexpr auto host = machine("host", dram, near, cpu, copy, back);

}  // namespace copying
