#include "matmul.hpp"

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <random>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "matmul.h"

int main() {
    using namespace lesson_matmul;
    constexpr int size = 512;
    std::vector<std::int8_t> left(size * size), right(size * size);
    std::vector<std::int32_t> result(size * size, -1), expected(size * size);
    std::mt19937 random(1);
    for (auto* operand : {&left, &right}) {
        for (std::int8_t& element : *operand) element = static_cast<std::int8_t>(random());
    }

    auto const& kernel = plan<matmul_on_npu>;
    std::cout << tilewright::memory_map(kernel) << "\n" << tilewright::loop_program(kernel) << "\n" << tilewright::traffic(kernel) << "\n";

    if (int const code = tilewright::call<matmul_on_npu>(::matmul, left.data(), right.data(), result.data()); code != 0) {
        std::cerr << "the kernel failed with code " << code << ": " << tilewright::emulated<npu>().error() << "\n";
        return 1;
    }
    std::cout << tilewright::comparison(kernel, tilewright::emulated<npu>()) << "\n";

    for (int row = 0; row < size; ++row) {
        for (int inner = 0; inner < size; ++inner) {
            for (int column = 0; column < size; ++column) {
                expected[row * size + column] += left[row * size + inner] * right[inner * size + column];
            }
        }
    }
    bool const equal = result == expected;
    std::printf("512 x 512 x 512 in int8, accelerator against plain C++: %s\n", equal ? "bit-equal" : "DIFFERENT");
    return equal && tilewright::agrees(kernel, tilewright::emulated<npu>()) ? 0 : 1;
}
