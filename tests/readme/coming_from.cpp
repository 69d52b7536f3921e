// The two kernels of docs/coming_from.md that are C++ give what plain loops give.
#include "overlapped.hpp"
#include "overlapped_matmul.h"

#include <Halide.h>

#include <cstdio>
#include <random>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

Halide::Pipeline in_tiles(Halide::ImageParam A, Halide::ImageParam B);

int main() {
    constexpr int size = 512;
    std::vector<std::int8_t> left(size * size), right(size * size);
    std::mt19937 random(1);
    for (auto* operand : {&left, &right})
        for (std::int8_t& value : *operand) value = static_cast<std::int8_t>(random());

    std::vector<std::int32_t> expected(size * size);
    for (int m = 0; m < size; ++m)
        for (int k = 0; k < size; ++k)
            for (int n = 0; n < size; ++n) expected[m * size + n] += left[m * size + k] * right[k * size + n];

    std::vector<std::int32_t> ours(size * size);
    int const code = tilewright::call<overlapped>(overlapped_matmul, left.data(), right.data(), ours.data());

    Halide::ImageParam A(Halide::Int(8), 2), B(Halide::Int(8), 2);
    A.set(Halide::Buffer<std::int8_t>(left.data(), size, size));
    B.set(Halide::Buffer<std::int8_t>(right.data(), size, size));
    std::vector<std::int32_t> halides(size * size);
    Halide::Buffer<std::int32_t> product(halides.data(), size, size);
    in_tiles(A, B).realize(product);

    std::printf("Tilewright: code %d, %s; Halide: %s\n", code, ours == expected ? "right" : "WRONG",
                halides == expected ? "right" : "WRONG");
    return code == 0 && ours == expected && halides == expected ? 0 : 1;
}
