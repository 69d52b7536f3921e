#pragma once
#include <functional>

#include "fuzz/recipe.hpp"

namespace fuzz {

/// Takes away what can go: directives, stages, dimensions, operations, extents, parts of the machine, while the case still fails.
///
/// @param fails  whether a smaller case shows the same fault; what the planner refuses does not
/// @param enough  whether to stop looking
drawn_case shrink(drawn_case from, std::function<bool(drawn_case const&)> const& fails, std::function<bool()> const& enough);

}  // namespace fuzz
