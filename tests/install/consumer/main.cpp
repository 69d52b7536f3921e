#include <HalideBuffer.h>

#include <cstdint>
#include <cstdio>

#include "brighten.h"

int main() {
    Halide::Runtime::Buffer<std::uint8_t> dark(64, 32), bright(64, 32);
    dark.for_each_element([&](int x, int y) { dark(x, y) = static_cast<std::uint8_t>(5 * x + 3 * y); });

    if (int const code = brighten(dark, bright); code != 0) return std::printf("brighten failed with code %d\n", code), 1;

    int wrong = 0;
    bright.for_each_element([&](int x, int y) { wrong += bright(x, y) != (dark(x, y) > 245 ? 255 : dark(x, y) + 10); });
    std::printf("%d of %d pixels are wrong\n", wrong, 64 * 32);
    return wrong == 0 ? 0 : 1;
}
