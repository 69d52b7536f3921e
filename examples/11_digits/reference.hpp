#pragma once
#include <cstdint>

namespace lesson_digits {

/// The accelerator's job in plain C++, shapes as in `run_on_accelerator`.
void run_in_plain_cpp(std::int8_t const* pixels, std::int8_t const* weights, std::int32_t* scores);

}  // namespace lesson_digits
