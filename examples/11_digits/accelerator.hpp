#pragma once
#include <cstdint>

namespace lesson_digits {

/// Multiplies on the accelerator: scores = pixels * weights.
///
/// @param pixels   [padded_rows][padded_features], row-major
/// @param weights  [padded_features][padded_classes]
/// @param scores   [padded_rows][padded_classes], overwritten
/// @return 0, or the error code of the generated function
int run_on_accelerator(std::int8_t const* pixels, std::int8_t const* weights, std::int32_t* scores);

}  // namespace lesson_digits
