#include "../digits/digits.hpp"
#include "accelerator.hpp"
#include "classifier.hpp"
#include "operands.hpp"
#include "reference.hpp"
#include "report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <vector>

#ifndef DIGITS_FILE
#define DIGITS_FILE "digits.csv.gz"
#endif

namespace {

using namespace lesson_digits;

constexpr double least_accuracy = 0.90;

double accuracy(std::span<digit const> digits, std::span<int const> guesses) {
    int right = 0;
    for (std::size_t index = 0; index < digits.size(); ++index) right += guesses[index] == digits[index].label;
    return static_cast<double>(right) / static_cast<double>(digits.size());
}

int read_digits(std::string const& file) {
    auto const digits = load_digits(file);
    auto const training = std::span(digits).first(training_digits);
    auto const test = std::span(digits).last(test_digits);

    classifier const fitted = fit_with_cross_validation(training);
    std::printf("fitted on %d handwritten digits, ridge penalty %g by cross-validation\n", training_digits, fitted.lambda);

    auto const pixels = int8_pixels(test);
    auto const weights = int8_weights(fitted);
    // A score that nobody writes must not look right.
    constexpr std::size_t all_scores = std::size_t{padded_rows} * padded_classes;
    std::vector<std::int32_t> scores(all_scores, -1), expected(all_scores, -2);
    if (int const code = run_on_accelerator(pixels.data(), weights.data(), scores.data()); code != 0) {
        std::fprintf(stderr, "the accelerator failed with code %d\n", code);
        return EXIT_FAILURE;
    }
    run_in_plain_cpp(pixels.data(), weights.data(), expected.data());

    auto const read = guesses(scores, test_digits);
    std::vector<int> read_in_double(test.size());
    std::transform(test.begin(), test.end(), read_in_double.begin(), [&](digit const& shown) { return guess(fitted, shown); });
    double const reached = accuracy(test, read);
    std::printf("accuracy on the other %d: %.2f %% with int8 weights, %.2f %% with double\n\n", test_digits, 100 * reached,
                100 * accuracy(test, read_in_double));
    print_confusion_matrix(test, read);
    std::printf("\nthe first ones that were misread:\n\n");
    print_misread(test, read, 5);

    bool const bit_equal = scores == expected;
    bool const accurate = reached >= least_accuracy;
    if (!accurate) std::printf("\naccuracy is below %.0f %%", 100 * least_accuracy);
    std::printf("\n%d x %d scores of the accelerator and of plain C++: %s\n", padded_rows, padded_classes,
                bit_equal ? "bit-equal" : "DIFFERENT");
    return bit_equal && accurate ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

/// Usage: digits [digits.csv.gz]
int main(int argument_count, char** arguments) {
    try {
        return read_digits(argument_count > 1 ? arguments[1] : DIGITS_FILE);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
