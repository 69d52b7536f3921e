#pragma once
#include "fuzz/recipe.hpp"

namespace fuzz {

/// The case of a seed.
drawn_case draw(std::uint64_t seed);

}  // namespace fuzz
