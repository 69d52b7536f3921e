#include "network.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/emulate/program_emulator.hpp>
#include <tilewright/report/program_report.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "../09_network/reference.hpp"
#include "../digits/digits.hpp"
#include "data.h"
#include "emulated_conv2d.h"
#include "emulated_conv2d_on_both.h"
#include "emulated_matmul.h"
#include "emulated_matmul_on_both.h"
#include "emulated_network.h"
#include "emulated_network_on_both.h"

namespace {

using namespace lesson_board;

static_assert(program_plan<read_digits>.peak(board::sram) <= 16_KiB);

// Core 0 has no such instruction.
constexpr auto on_core0 = schedule(product::what, board::core0).tensorize(product::k, board::mac4);
static_assert(planned<on_core0>::refusal.kind == verdict_kind::unknown_part);

std::string line(char const* format, auto... values) {
    char text[200];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}
template <class T>
unsigned sum_of(std::vector<T> const& all) {
    return add_to_sum(EMPTY_SUM, all.data(), all.size() * sizeof(T));
}
std::vector<std::int8_t> bytes(std::size_t count, std::uint32_t seed) {
    std::vector<std::int8_t> made(count);
    make_bytes(made.data(), count, seed);
    return made;
}

/// Both cores, one that goes on until it waits before the other.
int run_on_both(auto const& kernel) {
    core_team team(board::both, semantics_of<board::both>);
    team.use(interleaving::last);
    team.watch();
    int const code = team.run(kernel);
    if (code != 0) std::cerr << "code " << code << ": " << team.error() << "\n";
    return code;
}
/// What the board must print, from the emulated machine.
std::string matmul_on_emulator() {
    auto const left = bytes(64 * 64, 1), right = bytes(64 * 64, 2);
    std::vector<std::int32_t> result(64 * 64), from_both(64 * 64);
    int const code = tilewright::call<lesson_board::matmul>(::emulated_matmul, left.data(), right.data(), result.data());
    int const code_of_both = run_on_both([&](int) {
        return tilewright::call<lesson_board::matmul_on_both>(::emulated_matmul_on_both, left.data(), right.data(), from_both.data());
    });
    return line("matmul 64 x 64 x 64: code %d, sum %08x\n", code, sum_of(result)) +
           line("matmul on both cores: code %d, sum %08x\n", code_of_both, sum_of(from_both));
}
std::string conv2d_on_emulator() {
    auto const in = bytes(16 * 16 * 16, 3), weights = bytes(3 * 3 * 16 * 16, 4);
    std::vector<std::int32_t> bias(CONV_FILTERS), multiplier(CONV_FILTERS), shift(CONV_FILTERS);
    make_scales(bias.data(), multiplier.data(), shift.data());
    std::vector<std::int8_t> out(in.size()), from_both(in.size());
    int const code = tilewright::call<lesson_board::conv2d>(::emulated_conv2d, in.data(), weights.data(), bias.data(), multiplier.data(),
                                                            shift.data(), out.data());
    int const code_of_both = run_on_both([&](int) {
        return tilewright::call<lesson_board::conv2d_on_both>(::emulated_conv2d_on_both, in.data(), weights.data(), bias.data(),
                                                              multiplier.data(), shift.data(), from_both.data());
    });
    return line("conv2d 3 x 3, 16 to 16 channels, 16 x 16: code %d, sum %08x\n", code, sum_of(out)) +
           line("conv2d on both cores: code %d, sum %08x\n", code_of_both, sum_of(from_both));
}
/// All digits, in the ways in which data can move. @param agrees  becomes false where scores are not those of plain C++
std::string network_on_emulator(bool& agrees) {
    program_emulator& on = emulated_program<lesson_board::read_digits>();
    std::vector<handwritten::digit> const digits = handwritten::load_digits(DIGITS_FILE);
    constexpr progress modes[] = {progress::earliest, progress::latest, progress::random, progress::threads};
    program_emulator& both = emulated_program<lesson_board::read_digits_on_both>();
    both.cores().watch();
    constexpr interleaving turns[] = {interleaving::first, interleaving::last, interleaving::threads};
    int right = 0;
    std::uint32_t sum = EMPTY_SUM, sum_of_both = EMPTY_SUM;
    for (std::size_t at = handwritten::training_digits; at < digits.size(); ++at) {
        lesson_network::activations const expected = lesson_network::run_network(digits[at].image.data());
        right += guess(expected) == digits[at].label ? 1 : 0;
        on.use(modes[at % 4]);
        on.reset();
        std::array<std::int32_t, 10> found{}, found_by_both{};
        int const code = ::emulated_network(digits[at].image.data(), found.data());
        both.use(modes[at / 4 % 4]);
        both.cores().use(at % 31 == 0 ? interleaving::random : turns[at % 3]);  // random turns pass at every call, which takes its time
        both.reset();
        int const code_of_both =
            both.cores().run([&](int core) { return ::emulated_network_on_both(core, digits[at].image.data(), found_by_both.data()); });
        sum = add_to_sum(sum, found.data(), sizeof found);
        sum_of_both = add_to_sum(sum_of_both, found_by_both.data(), sizeof found_by_both);
        agrees &= code == 0 && found == expected.scores && code_of_both == 0 && found_by_both == expected.scores;
        if (code != 0 || code_of_both != 0)
            std::cerr << "digit " << at << ": codes " << code << ", " << code_of_both << ": " << on.error() << both.error() << "\n";
    }
    auto const text = [&](char const* name, std::uint32_t found) {
        return line("%s: %d of %d digits read right, sum of the scores %08x\n", name, right, handwritten::test_digits, found);
    };
    return text("network", sum) + text("network on both cores", sum_of_both);
}

/// Runs a command and shows what it prints. @return its results: the lines that count no instructions, and "" when it fails
std::string results_of(char const* command) {
    FILE* const pipe = popen(command, "r");
    if (pipe == nullptr) return "";
    std::string results;
    char text[256];
    while (std::fgets(text, sizeof text, pipe) != nullptr) {
        std::cout << text;
        if (std::string(text).find(" instructions") == std::string::npos) results += text;
    }
    return pclose(pipe) == 0 ? results : "";
}

}  // namespace

int main() {
    std::cout << memory_report(program_plan<lesson_board::read_digits>) << "\n";
    bool agrees = true;
    std::string const expected = matmul_on_emulator() + conv2d_on_emulator() + network_on_emulator(agrees);
    std::cout << "emulated:\n" << expected << std::flush;
    if (!agrees) std::cout << "the emulated network is DIFFERENT from plain C++\n";
    for (auto const& [how, command] : {std::pair{"eager controllers", RUN_EAGER},
                                       {"lazy controllers", RUN_LAZY},
                                       {"eager controllers, DSP instructions on core 0, too", RUN_DSP}}) {
        std::cout << "\nboard, " << how << ":\n" << std::flush;
        bool const good = results_of(command) == expected;
        std::cout << (good ? "bit-equal to the emulated machine\n" : "DIFFERENT from the emulated machine\n");
        agrees &= good;
    }
    return agrees ? 0 : 1;
}
