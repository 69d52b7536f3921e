#pragma once
#include "classifier.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// The matrices as the accelerator takes them: int8, row-major, padded with zeros to whole tiles.
namespace lesson_digits {

/// One row per digit: its pixels as they are, then the constant of the bias. [padded_rows][padded_features]
///
/// @pre at most `padded_rows` digits
std::vector<std::int8_t> int8_pixels(std::span<digit const> digits);

/// The weights, scaled so that the largest is ±127, and rounded. [padded_features][padded_classes]
///
/// One scale serves all classes, so int32 scores compare between classes as the fitted scores do.
std::vector<std::int8_t> int8_weights(classifier const& fitted);

/// The class with the largest score in each of the first `count` rows of int32 scores. [padded_rows][padded_classes]
std::vector<int> guesses(std::span<std::int32_t const> scores, int count);

}  // namespace lesson_digits
