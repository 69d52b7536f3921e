#pragma once
#include <tilewright/targets/vector_cycles.hpp>
#include <tilewright/targets/x86_avx2.hpp>

namespace tilewright::targets::avx2 {

/// What plans for such a core are compared by.
using cycles = vector_cycles;

}  // namespace tilewright::targets::avx2
