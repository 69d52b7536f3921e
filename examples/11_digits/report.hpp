#pragma once
#include "../digits/digits.hpp"
#include "shape.hpp"

#include <span>

namespace lesson_digits {

/// Prints how often each digit (row) was read as each class (column); the last column says which part of the row was right.
void print_confusion_matrix(std::span<digit const> digits, std::span<int const> guesses);

/// Draws the first `most` digits that were read wrong, side by side, each under its label and guess.
void print_misread(std::span<digit const> digits, std::span<int const> guesses, int most);

}  // namespace lesson_digits
