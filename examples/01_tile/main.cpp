#include "tile.hpp"

#include <cstdio>
#include <iostream>
#include <memory>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "loops.h"
#include "matmul_in_tiles.h"

int main() {
    using namespace lesson_tile;
    std::cout << tilewright::memory_map(plan<in_tiles_of_32>) << "\n" << tilewright::loop_program(plan<in_tiles_of_32>) << "\n";

    // Larger tiles move fewer bytes, and need more of the memory.
    std::printf("tiles of   bytes of tcm   bytes moved\n");
    for (std::int64_t side : {8, 16, 32, 64}) {
        auto const of = std::make_unique<tilewright::plan_value>(make_plan(in_tiles(side)));
        if (of->refusal) {
            std::cout << side << " x " << side << ": " << to_string(of->refusal) << "\n\n";
            continue;
        }
        std::printf("%3d x %-2d %14.0f %13.0f\n", static_cast<int>(side), static_cast<int>(side), static_cast<double>(of->peak(tcm)),
                    static_cast<double>(of->bytes(load) + of->bytes(store)));
    }

    std::vector<float> left(128 * 128), right(128 * 128), result(128 * 128, -1.0f), expected(128 * 128);
    for (std::size_t at = 0; at < left.size(); ++at) {
        left[at] = static_cast<float>(at * 37 % 101) / 8;
        right[at] = static_cast<float>(at * 53 % 97) / 16;
    }
    if (int const code = tilewright::call<in_tiles_of_32>(::matmul_in_tiles, left.data(), right.data(), result.data()); code != 0) {
        std::cerr << "the kernel failed with code " << code << ": " << tilewright::emulated<chip>().error() << "\n";
        return 1;
    }
    std::cout << tilewright::comparison(plan<in_tiles_of_32>, tilewright::emulated<chip>()) << "\n";

    matmul_by_hand(left.data(), right.data(), expected.data());
    std::printf("the loops by hand move %ld bytes\n", bytes_moved);
    bool const equal = result == expected;
    std::printf("128 x 128 x 128 in float, against the loops by hand: %s\n", equal ? "bit-equal" : "DIFFERENT");
    bool const moved = bytes_moved == plan<in_tiles_of_32>.bytes(load) + plan<in_tiles_of_32>.bytes(store);
    return equal && moved && tilewright::agrees(plan<in_tiles_of_32>, tilewright::emulated<chip>()) ? 0 : 1;
}
