#pragma once
#include <string>

#include "fuzz/recipe.hpp"

namespace fuzz {

/// A case as C++ to paste into a function: it makes `work`, `where` and `made`, a schedule to plan.
std::string cpp_of(drawn_case const& of);

}  // namespace fuzz
