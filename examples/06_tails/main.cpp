#include "tails.hpp"

#include <cstdio>
#include <iostream>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "filled_tails.h"
#include "loops.h"
#include "told_tails.h"

namespace {

using namespace lesson_tails;

std::vector<std::int8_t> left(100 * 50), right(50 * 70);
std::vector<std::int32_t> expected(100 * 70);

/// @return whether the kernel computes what the loops compute, in the cycles that were planned
template <schedule const& Schedule, class Kernel>
bool run(Kernel const& kernel, tilewright::emulator& on) {
    std::vector<std::int32_t> result(expected.size(), -1);
    int const code = tilewright::call<Schedule>(kernel, left.data(), right.data(), result.data());
    if (code != 0) std::cerr << "the kernel failed with code " << code << ": " << on.error() << "\n";
    std::cout << tilewright::comparison(plan<Schedule>, on) << "\n";
    return result == expected && tilewright::agrees(plan<Schedule>, on);
}

}  // namespace

int main() {
    for (std::size_t at = 0; at < left.size(); ++at) left[at] = static_cast<std::int8_t>(at * 37 % 251);
    for (std::size_t at = 0; at < right.size(); ++at) right[at] = static_cast<std::int8_t>(at * 53 % 241);
    matmul_by_hand(left.data(), right.data(), expected.data());

    std::cout << tilewright::loop_program(plan<with_fills>) << "\n";
    std::cout << "instructions of a fixed shape, zeros after the end of k:\n";
    bool const first = run<with_fills>(::filled_tails, tilewright::emulated<filling_npu>());
    std::cout << "instructions that are told how much there is:\n";
    bool const second = run<with_extents>(::told_tails, tilewright::emulated<told_npu>());

    std::cout << "neither:\n" << to_string(make_plan(with_neither).refusal) << "\n\n";
    std::printf("100 x 70 x 50 in int8, both kernels against the loops by hand: %s\n", first && second ? "bit-equal" : "DIFFERENT");
    return first && second ? 0 : 1;
}
