#include "layouts_network.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <tilewright/emulate/program_emulator.hpp>
#include <tilewright/report/program_report.hpp>

#include "../digits/digits.hpp"
#include "convolve.h"
#include "read_digit.h"
#include "reference.hpp"

namespace {

using namespace lesson_network;

static_assert(program_plan<digits_network>.peak(act_mem) <= 2_KiB);
static_assert(program_plan<digits_network>.cycles_resolved() && program_plan<layouts_network>.cycles_resolved());
static_assert(program_plan<layouts_network>.copies() == 1 && program_plan<layouts_network>.memory_of(features) == act_mem.name);

constexpr progress modes[] = {progress::earliest, progress::latest, progress::random, progress::threads};

/// The network of layouts in loops.
std::array<std::int8_t, filters_used * side * side> layouts_by_hand(std::int8_t const* image) {
    std::array<std::int8_t, filters_used * side * side> result{};
    for (int f = 0; f < filters_used; ++f)
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x) {
                std::int32_t sum = block_bias[f];
                for (int r = -1; r <= 1; ++r)
                    for (int s = -1; s <= 1; ++s)
                        for (int c = 0; c < channels; ++c) {
                            bool const inside = y + r >= 0 && y + r < side && x + s >= 0 && x + s < side;
                            int const weight = block_weights[(((r + 1) * 3 + s + 1) * lanes + c) * lanes + f];
                            if (inside) sum += image[(c * side + y + r) * side + x + s] * weight;
                        }
                result[(f * side + y) * side + x] = requantise_and_relu(sum, block_multiplier[f], block_shift[f]);
            }
    return result;
}

/// Runs the network of layouts in all modes. @return whether all results are those of the loops
bool run_layouts() {
    program_emulator& on = emulated_program<layouts_network>();
    std::array<std::int8_t, channels * side * side> image{};
    for (std::size_t at = 0; at < image.size(); ++at) image[at] = static_cast<std::int8_t>(static_cast<int>(at * 73 % 255) - 127);
    auto const expected = layouts_by_hand(image.data());
    bool good = true;
    for (progress how : modes) {
        on.use(how);
        on.fill_memories(0xa5);
        on.reset();
        std::memcpy(on.address(planes), image.data(), image.size());
        int const code = ::convolve();
        bool const equal = code == 0 && std::memcmp(on.address(result), expected.data(), expected.size()) == 0;
        std::printf("layouts, data moves %-8s: code %d, %s plain C++, %lld cycles\n", name_of(how), code,
                    equal ? "bit-equal to" : "DIFFERENT from", static_cast<long long>(on.cycles()));
        if (code != 0) std::cerr << on.error() << "\n";
        good &= equal && on.cycles() == static_cast<double>(program_plan<layouts_network>.cycles());
    }
    return good;
}

/// Reads the digits that nothing was learnt from. @return whether all scores are those of reference.hpp
bool read_digits() {
    program_emulator& on = emulated_program<digits_network>();
    std::vector<handwritten::digit> const digits = handwritten::load_digits(DIGITS_FILE);
    int right = 0, different = 0, read = 0;
    std::int64_t cycles = 0;
    for (std::size_t at = handwritten::training_digits; at < digits.size(); ++at, ++read) {
        // One in a hundred in every way in which data can move.
        for (progress how : modes) {
            if (how != progress::earliest && read % 100 != 0) continue;
            on.use(how);
            on.reset();
            std::memcpy(on.address(image), digits[at].image.data(), digits[at].image.size());
            activations const expected = run_network(digits[at].image.data());
            int const code = ::read_digit();
            bool const equal = code == 0 && std::memcmp(on.address(scores), expected.scores.data(), sizeof expected.scores) == 0;
            different += equal ? 0 : 1;
            if (code != 0) std::cerr << "code " << code << ": " << on.error() << "\n";
            cycles = on.cycles();
            auto const* const found = reinterpret_cast<std::int32_t const*>(on.address(scores));
            if (how == progress::earliest) right += std::max_element(found, found + 10) - found == digits[at].label ? 1 : 0;
        }
        if (read % 300 == 299) std::printf("%d digits, %d read right\n", read + 1, right);
    }
    std::printf("%d of %d test digits read right, %.2f %%; scores %s plain C++; %lld cycles a digit, planned %lld\n", right, read,
                100.0 * right / read, different == 0 ? "bit-equal to" : "DIFFERENT from", static_cast<long long>(cycles),
                static_cast<long long>(static_cast<double>(program_plan<digits_network>.cycles())));
    return different == 0 && right == test_digits_read && cycles == static_cast<double>(program_plan<digits_network>.cycles());
}

}  // namespace

int main() {
    std::cout << memory_report(program_plan<layouts_network>) << "\n";
    bool const layouts = run_layouts();
    std::cout << "\n" << memory_report(program_plan<digits_network>) << "\n";
    bool const digits = read_digits();
    return layouts && digits ? 0 : 1;
}
