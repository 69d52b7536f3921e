#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "../12_board/data.h"
#include "../digits/digits.hpp"
#include "digits_on_board.h"
#include "digits_onnx.h"
#include "digits_tflite.h"
#include "network.hpp"
#include "reference.hpp"

namespace {

using namespace lesson_import;
using handwritten::digit;

/// What a format did with all digits.
struct outcome {
    int right = 0;
    int failed = 0;        ///< calls that returned a code
    int different = 0;     ///< scores that plain loops do not have
    double fastest = 1e9;  ///< microseconds a digit, in the fastest of the passes
};

constexpr int passes = 5;

/// Reads all digits several times. `read` gives the label of a digit, or -1, and is all that is timed.
template <class Read>
outcome read_all(std::vector<digit> const& digits, Read const& read) {
    outcome of;
    std::vector<int> labels(digits.size());
    for (int pass = 0; pass < passes; ++pass) {
        auto const begin = std::chrono::steady_clock::now();
        for (std::size_t at = 0; at < digits.size(); ++at) labels[at] = read(digits[at]);
        std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
        of.fastest = std::min(of.fastest, took.count() / static_cast<double>(digits.size()));
    }
    for (std::size_t at = 0; at < digits.size(); ++at) {
        of.right += labels[at] == digits[at].label ? 1 : 0;
        of.failed += labels[at] < 0 ? 1 : 0;
    }
    return of;
}

outcome read_by_tflite(std::vector<digit> const& digits) {
    alignas(16) static std::array<unsigned char, TILEWRIGHT_digits_tflite_arena_BYTES> arena;
    digits_tflite_memories const memories{.arena = arena.data(), .weights = digits_tflite_weights_image};
    std::array<std::int8_t, handwritten::classes> scores{};
    auto const read = [&](digit const& one) {
        return digits_tflite(one.image.data(), scores.data(), &memories) == 0 ? guess(scores.data()) : -1;
    };
    outcome of = read_all(digits, read);
    for (digit const& one : digits) of.different += read(one) < 0 || scores != scores_of(one.image.data()) ? 1 : 0;
    return of;
}

outcome read_by_onnx(std::vector<digit> const& digits) {
    alignas(16) static std::array<unsigned char, TILEWRIGHT_digits_onnx_arena_BYTES> arena;
    digits_onnx_memories const memories{.arena = arena.data(), .weights = digits_onnx_weights_image};
    return read_all(digits, [&](digit const& one) {
        std::array<float, handwritten::image_pixels> pixels{};
        std::array<float, handwritten::classes> scores{};
        for (std::size_t at = 0; at < pixels.size(); ++at) pixels[at] = static_cast<float>(one.image[at]) / handwritten::brightest;
        return digits_onnx(pixels.data(), scores.data(), &memories) == 0 ? guess(scores.data()) : -1;
    });
}

/// What the board must print, by plain loops.
std::string expected_of_board(std::vector<digit> const& digits) {
    int right = 0;
    std::uint32_t sum = EMPTY_SUM;
    for (digit const& one : digits) {
        auto const scores = scores_of(one.image.data());
        right += guess(scores.data()) == one.label ? 1 : 0;
        sum = add_to_sum(sum, scores.data(), scores.size());
    }
    char text[100];
    std::snprintf(text, sizeof text, "%d of %d test digits read right, sum of the scores %08x\n", right, static_cast<int>(digits.size()),
                  sum);
    return text;
}

/// Runs a command and shows what it prints. @return the lines that count no instructions, and "" when it fails
std::string results_of(char const* command) {
    std::fflush(stdout);
    FILE* const pipe = popen(command, "r");
    if (pipe == nullptr) return "";
    std::string results;
    char text[256];
    while (std::fgets(text, sizeof text, pipe) != nullptr) {
        std::fputs(text, stdout);
        if (std::string(text).find(" instructions") == std::string::npos) results += text;
    }
    return pclose(pipe) == 0 ? results : "";
}

/// The C has a comment at the beginning of each kernel.
int kernels_in(char const* file) {
    std::ifstream in(file);
    int kernels = 0;
    for (std::string line; std::getline(in, line);) kernels += line.rfind("/* Kernel ", 0) == 0 ? 1 : 0;
    return kernels;
}

}  // namespace

int main() {
    std::vector<digit> digits = handwritten::load_digits(DIGITS_FILE);
    digits.erase(digits.begin(), digits.begin() + handwritten::training_digits);
    int const count = static_cast<int>(digits.size());
    outcome const tflite = read_by_tflite(digits), onnx = read_by_onnx(digits);

    auto const accuracy = [&](char const* file, outcome const& of, int expected) {
        std::printf("%-13s  %d of %d test digits read right, %.2f %%; %d expected\n", file, of.right, count, 100.0 * of.right / count,
                    expected);
        if (of.failed > 0) std::printf("%-13s  %d calls FAILED\n", file, of.failed);
    };
    accuracy("digits.tflite", tflite, read_in_tflite);
    accuracy("digits.onnx", onnx, read_in_onnx);
    std::printf("digits.tflite  scores %s plain loops\n\n", tflite.different == 0 ? "bit-equal to" : "DIFFERENT from");

    auto const sizes = [](char const* file, int kernels, int arena, int weights, char const* page) {
        std::printf("%-13s  %2d kernels, arena %5d bytes, weights %5d bytes\n", file, kernels, arena, weights);
        std::printf("  plan: %s\n", page);
    };
    sizes("digits.tflite", kernels_in(TFLITE_C), TILEWRIGHT_digits_tflite_arena_BYTES, TILEWRIGHT_digits_tflite_weights_BYTES, TFLITE_PAGE);
    sizes("digits.onnx", kernels_in(ONNX_C), TILEWRIGHT_digits_onnx_arena_BYTES, TILEWRIGHT_digits_onnx_weights_BYTES, ONNX_PAGE);

    std::printf("\ndigits.tflite  %6.1f microseconds a digit\ndigits.onnx    %6.1f microseconds a digit\n", tflite.fastest, onnx.fastest);

    auto const table = [](char const* where, char const* file) {
        std::ifstream layers(file);
        std::printf("\ndigits.tflite on the %s:\n", where);
        for (std::string line; std::getline(layers, line);) std::printf("  %s\n", line.c_str());
    };
    table("chip with two agents", CHIP_LAYERS);
    table("board", BOARD_LAYERS);
    std::printf("%d kernels, arena up to %d bytes of a bank, weights %d bytes of flash\n", kernels_in(BOARD_C),
                TILEWRIGHT_digits_on_board_sram_BYTES, TILEWRIGHT_digits_on_board_code_BYTES);
    bool is_equal = true;
    std::string const expected = expected_of_board(digits);
    for (auto const& [how, command] : {std::pair{"eager", RUN_EAGER}, {"lazy", RUN_LAZY}}) {
        std::printf("\nboard, %s controllers:\n", how);
        bool const same = results_of(command) == expected;
        std::printf("scores %s plain loops\n", same ? "bit-equal to" : "DIFFERENT from");
        is_equal &= same;
    }

    bool const good =
        is_equal && tflite.failed + onnx.failed + tflite.different == 0 && tflite.right >= read_in_tflite && onnx.right >= read_in_onnx;
    return good ? 0 : 1;
}
