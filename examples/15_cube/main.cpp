#include "cube.hpp"

#include <cstdio>
#include <iostream>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "loops.h"
#include "matmul_on_cube.h"

int main() {
    using namespace lesson_cube;
    std::cout << plan<on_cube> << "\n" << tilewright::loop_program(plan<on_cube>) << "\n";

    std::vector<float16> given_left(300 * 200), given_right(250 * 200), result(304 * 256);
    std::vector<float> left_by_hand, right_by_hand, expected(304 * 256);
    for (std::size_t at = 0; at < given_left.size(); ++at) given_left[at] = float16(static_cast<float>(at * 37 % 251) / 100 - 1);
    for (std::size_t at = 0; at < given_right.size(); ++at) given_right[at] = float16(static_cast<float>(at * 53 % 241) / 100 - 1);
    left_by_hand.assign(given_left.begin(), given_left.end());
    right_by_hand.assign(given_right.begin(), given_right.end());
    if (int const code = tilewright::call<on_cube>(matmul_on_cube, given_left, given_right, result); code != 0) {
        std::cerr << "the kernel failed with code " << code << ": " << tilewright::emulated<npu>().error() << "\n";
        return 1;
    }
    matmul_by_hand(left_by_hand.data(), right_by_hand.data(), expected.data());
    int different = 0;
    for (std::size_t at = 0; at < result.size(); ++at) different += result[at].bits != float16(expected[at]).bits;
    std::printf("300 x 250 x 200 in float16, against the loops by hand: %s\n", different == 0 ? "bit-equal" : "DIFFERENT");
    return different == 0 && tilewright::agrees(plan<on_cube>, tilewright::emulated<npu>()) ? 0 : 1;
}
