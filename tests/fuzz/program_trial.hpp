#pragma once
#include <cstdint>
#include <string>

#include "fuzz/outcome.hpp"

namespace fuzz {

/// Whether the case of a seed is a program: kernels on several agents, some of them aside, copies by engines, tensors that are spilled.
constexpr bool is_program(std::uint64_t seed) { return seed % 8 == 5; }
/// The program of a seed, in words.
std::string program_text(std::uint64_t seed);
/// Plans it, runs it in every way, lets calls of transfers fail, and compares its outputs with plain loops.
outcome try_program(std::uint64_t seed);

}  // namespace fuzz
