#pragma once
#include "../digits/digits.hpp"
#include "shape.hpp"

#include <array>
#include <span>

namespace lesson_digits {

/// One linear score per class; the class with the largest score is the guess.
struct classifier {
    std::array<std::array<double, classes>, features> weights{};  ///< [feature][class]
    double lambda = 0;                                            ///< the ridge penalty it was fitted with
};

/// Fits each class against all others by ridge regression with the targets +1 and -1.
///
/// A digit that is beyond its target is no mistake, yet least squares would pull it back. So the regression is repeated on the digits
/// that fall short of their target until these stay the same. Each round solves the normal equations by a Cholesky factorisation.
/// @param lambda  the penalty on the squared weights, the bias excepted; more than 0, so that pixels that are never inked get weight 0
/// @see   S. S. Keerthi, D. DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs", JMLR 2005
classifier fit(std::span<digit const> digits, double lambda);

/// Fits on all of `digits` with the lambda, out of 10, 100, 1000 and 10000, that did best in a five-fold cross-validation on them.
///
/// The folds are blocks: digits of one writer lie side by side in the file, and hardly any test digit is by a writer of `digits`.
classifier fit_with_cross_validation(std::span<digit const> digits);

/// The class with the largest score.
int guess(classifier const& fitted, digit const& shown);

}  // namespace lesson_digits
