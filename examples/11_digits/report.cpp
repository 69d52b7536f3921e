#include "report.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace lesson_digits {
namespace {

/// Two characters for each pixel, since characters are about twice as high as wide.
void print_pixel(std::int8_t pixel) {
    constexpr char shades[] = " .:-=+*#%@";
    constexpr int darkest = sizeof shades - 2;
    char const shade = shades[pixel * darkest / brightest];
    std::printf("%c%c", shade, shade);
}

}  // namespace

void print_confusion_matrix(std::span<digit const> digits, std::span<int const> guesses) {
    std::array<std::array<int, classes>, classes> counts{};
    for (std::size_t index = 0; index < digits.size(); ++index) ++counts[digits[index].label][guesses[index]];

    std::printf("written |");
    for (int label = 0; label < classes; ++label) std::printf("%4d", label);
    std::printf("  <- read as\n--------+-----------------------------------------+-------\n");
    for (std::size_t label = 0; label < classes; ++label) {
        int shown = 0;
        std::printf("%7zu |", label);
        for (int const count : counts[label]) {
            shown += count;
            if (count == 0) std::printf("   .");
            else std::printf("%4d", count);
        }
        std::printf(" |%5.1f %%\n", shown == 0 ? 0.0 : 100.0 * counts[label][label] / shown);
    }
}

void print_misread(std::span<digit const> digits, std::span<int const> guesses, int most) {
    std::vector<std::size_t> misread;
    for (std::size_t index = 0; index < digits.size() && misread.size() < static_cast<std::size_t>(most); ++index)
        if (guesses[index] != digits[index].label) misread.push_back(index);

    for (std::size_t const index : misread) std::printf("  a %d, read as %d  ", digits[index].label, guesses[index]);
    std::printf("\n");
    for (std::size_t row = 0; row < image_side; ++row) {
        for (std::size_t const index : misread) {
            std::printf("  ");
            for (std::size_t column = 0; column < image_side; ++column) print_pixel(digits[index].image[row * image_side + column]);
        }
        std::printf("\n");
    }
}

}  // namespace lesson_digits
