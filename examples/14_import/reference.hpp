#pragma once
#include <array>
#include <cstdint>

namespace lesson_import {

/// The scores of int8 that digits.tflite gives for a digit, in plain loops.
///
/// @param pixels  8 x 8, 0 to 16, row by row
std::array<std::int8_t, 10> scores_of(std::int8_t const* pixels);

/// The place of the largest of 10 scores; of equal ones the first.
template <class Score>
int guess(Score const* scores) {
    int best = 0;
    for (int label = 1; label < 10; ++label) best = scores[label] > scores[best] ? label : best;
    return best;
}

}  // namespace lesson_import
