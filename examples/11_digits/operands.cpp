#include "operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lesson_digits {

std::vector<std::int8_t> int8_pixels(std::span<digit const> digits) {
    std::vector<std::int8_t> matrix(std::size_t{padded_rows} * padded_features);
    for (std::size_t row = 0; row < digits.size(); ++row) {
        auto const bias = std::copy(digits[row].image.begin(), digits[row].image.end(), &matrix[row * padded_features]);
        *bias = brightest;
    }
    return matrix;
}

std::vector<std::int8_t> int8_weights(classifier const& fitted) {
    double largest = 0;
    for (auto const& row : fitted.weights)
        for (double const weight : row) largest = std::max(largest, std::abs(weight));
    double const scale = largest > 0 ? 127 / largest : 0;

    std::vector<std::int8_t> matrix(std::size_t{padded_features} * padded_classes);
    for (std::size_t feature = 0; feature < features; ++feature)
        for (std::size_t label = 0; label < classes; ++label)
            matrix[feature * padded_classes + label] = static_cast<std::int8_t>(std::lround(fitted.weights[feature][label] * scale));
    return matrix;
}

std::vector<int> guesses(std::span<std::int32_t const> scores, int count) {
    std::vector<int> result;
    for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row) {
        auto const of_classes = scores.subspan(row * padded_classes, classes);
        result.push_back(static_cast<int>(std::max_element(of_classes.begin(), of_classes.end()) - of_classes.begin()));
    }
    return result;
}

}  // namespace lesson_digits
