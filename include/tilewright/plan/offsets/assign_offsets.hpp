#pragma once
#include <tilewright/plan/offsets/solver.hpp>

// Byte offsets of buffers in a memory, with the smallest peak.
namespace tilewright::ir {

/// A budget that is cheap enough for constant evaluation: 0.3 to 0.7 s of g++ or clang when the search uses all of it.
constexpr std::int64_t compile_time_offset_steps = 5'000;

/// Assigns a byte offset, and a bank, to every buffer so that buffers alive at one time never overlap.
///
/// @param buffers      sizes in bytes, lifetimes as half-open intervals of program points; receive offsets and banks unless there is a
/// fault
/// @param budget_steps looks at buffers, after which the best that was found is returned; the same number gives the same result
///                     everywhere. A processor makes about 3·10^8 of them in a second.
/// @post  offsets are multiples of the alignments; the peak is the smallest possible when `proven` is set
/// @return the peak and what is known about it; a fault, and nothing changed, when the input has no meaning
/// @see   M. Moffitt, "MiniMalloc", ASPLOS 2023
constexpr offset_result assign_offsets(std::span<placed_buffer> buffers, address_space of,
                                       std::int64_t budget_steps = compile_time_offset_steps,
                                       offset_goal goal = offset_goal::smallest_peak) {
    return detail::offset_solver(buffers, of, goal, budget_steps).run();
}

}  // namespace tilewright::ir
