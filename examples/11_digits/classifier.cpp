#include "classifier.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace lesson_digits {
namespace {

using feature_vector = std::array<double, features>;
using feature_matrix = std::array<feature_vector, features>;

feature_vector features_of(digit const& shown) {
    feature_vector result{};
    std::copy(shown.image.begin(), shown.image.end(), result.begin());
    result.back() = brightest;
    return result;
}

// The two loops that take the time, on pointers: a build without optimisation stays bearable.

double dot(double const* x, double const* y, std::size_t count) {
    double sum = 0;
    for (std::size_t index = 0; index < count; ++index) sum += x[index] * y[index];
    return sum;
}

/// y += factor * x
void add_multiple(double* y, double factor, double const* x, std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) y[index] += factor * x[index];
}

/// Replaces the lower triangle of a symmetric positive definite matrix A by that of L, where A = L L^T.
void cholesky_factorise(feature_matrix& a) {
    for (std::size_t column = 0; column < features; ++column)
        for (std::size_t row = column; row < features; ++row) {
            double const rest = a[row][column] - dot(a[row].data(), a[column].data(), column);
            a[row][column] = row == column ? std::sqrt(rest) : rest / a[column][column];
        }
}

/// Solves L L^T x = b.
feature_vector cholesky_solve(feature_matrix const& l, feature_vector const& b) {
    feature_vector x = b;
    for (std::size_t row = 0; row < features; ++row) x[row] = (x[row] - dot(l[row].data(), x.data(), row)) / l[row][row];
    for (std::size_t row = features; row-- > 0;) {
        x[row] /= l[row][row];
        add_multiple(x.data(), -x[row], l[row].data(), row);
    }
    return x;
}

/// The weights w that minimise |X w - t|^2 + lambda |w|^2 over the samples that are in use.
feature_vector ridge_regression(std::span<feature_vector const> samples, std::span<double const> targets, std::vector<bool> const& used,
                                double lambda) {
    feature_matrix normal{};     // X^T X + lambda I without the bias, lower triangle
    feature_vector projected{};  // X^T t
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
        if (!used[sample]) continue;
        double const* const x = samples[sample].data();
        add_multiple(projected.data(), targets[sample], x, features);
        for (std::size_t row = 0; row < features; ++row) add_multiple(normal[row].data(), x[row], x, row + 1);
    }
    for (std::size_t pixel = 0; pixel < image_pixels; ++pixel) normal[pixel][pixel] += lambda;
    cholesky_factorise(normal);
    return cholesky_solve(normal, projected);
}

/// Repeats the regression on the samples that fall short of their target, until these stay the same.
feature_vector fit_one_class(std::span<feature_vector const> samples, std::span<double const> targets, double lambda) {
    constexpr int most_rounds = 30;  // about ten are needed; with a tiny penalty it can go round in circles
    std::vector<bool> used(samples.size(), true);
    feature_vector weights{};
    for (int round = 0; round < most_rounds; ++round) {
        weights = ridge_regression(samples, targets, used, lambda);
        std::vector<bool> short_of_target(samples.size());
        for (std::size_t sample = 0; sample < samples.size(); ++sample)
            short_of_target[sample] = targets[sample] * dot(samples[sample].data(), weights.data(), features) < 1;
        if (short_of_target == used) break;
        used = std::move(short_of_target);
    }
    return weights;
}

/// How many of block `fold` of `folds` are read right after fitting on the other blocks.
std::ptrdiff_t right_in_fold(std::span<digit const> digits, std::size_t fold, std::size_t folds, double lambda) {
    std::size_t const begin = digits.size() * fold / folds;
    std::size_t const end = digits.size() * (fold + 1) / folds;
    std::vector<digit> others(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(begin));
    others.insert(others.end(), digits.begin() + static_cast<std::ptrdiff_t>(end), digits.end());
    classifier const fitted = fit(others, lambda);
    auto const held_out = digits.subspan(begin, end - begin);
    return std::count_if(held_out.begin(), held_out.end(), [&](digit const& shown) { return guess(fitted, shown) == shown.label; });
}

}  // namespace

classifier fit(std::span<digit const> digits, double lambda) {
    std::vector<feature_vector> samples(digits.size());
    std::transform(digits.begin(), digits.end(), samples.begin(), features_of);

    classifier result{.lambda = lambda};
    std::vector<double> targets(digits.size());
    for (std::size_t label = 0; label < classes; ++label) {
        std::transform(digits.begin(), digits.end(), targets.begin(),
                       [&](digit const& shown) { return shown.label == static_cast<int>(label) ? 1.0 : -1.0; });
        feature_vector const fitted = fit_one_class(samples, targets, lambda);
        for (std::size_t feature = 0; feature < features; ++feature) result.weights[feature][label] = fitted[feature];
    }
    return result;
}

classifier fit_with_cross_validation(std::span<digit const> digits) {
    constexpr std::size_t folds = 5;
    double best_lambda = 0;
    std::ptrdiff_t most_right = -1;
    for (double const lambda : {10.0, 100.0, 1000.0, 10000.0}) {
        std::ptrdiff_t right = 0;
        for (std::size_t fold = 0; fold < folds; ++fold) right += right_in_fold(digits, fold, folds, lambda);
        if (right > most_right) {
            most_right = right;
            best_lambda = lambda;
        }
    }
    return fit(digits, best_lambda);
}

int guess(classifier const& fitted, digit const& shown) {
    feature_vector const x = features_of(shown);
    std::array<double, classes> scores{};
    for (std::size_t feature = 0; feature < features; ++feature)
        for (std::size_t label = 0; label < classes; ++label) scores[label] += x[feature] * fitted.weights[feature][label];
    return static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

}  // namespace lesson_digits
