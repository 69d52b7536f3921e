#pragma once
#include <functional>

#include "program/program_recipe.hpp"

namespace fuzz {

/// Takes away what can go: kernels, tensors, agents, directives, extents, parts of the machines, while the program still fails.
///
/// @param fails  whether a smaller program shows the same fault; what the planner refuses does not
/// @param enough  whether to stop looking
programs::recipe shrink_program(programs::recipe from, std::function<bool(programs::recipe const&)> const& fails,
                                std::function<bool()> const& enough);

}  // namespace fuzz
