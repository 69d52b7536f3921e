#include "layout.hpp"

#include <cstdio>
#include <iostream>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "loops.h"
#include "matmul_in_panels.h"

int main() {
    using namespace lesson_layout;
    std::cout << tilewright::loop_program(plan<in_panels>) << "\n" << tilewright::memory_map(plan<in_panels>) << "\n";

    constexpr int tiles = 2 * 2 * 2;
    std::printf("loads of A by   calls a tile   cycles of the kernel\n");
    std::printf("mvin    %20.0f %22lld\n", static_cast<double>((plan<in_panels_by_rows>.calls(mvin) - tiles) / tiles),
                static_cast<long long>(predict(plan<in_panels_by_rows>).cycles));
    std::printf("mvin_4d %20.0f %22lld\n\n", static_cast<double>(plan<in_panels>.calls(mvin_4d) / tiles),
                static_cast<long long>(predict(plan<in_panels>).cycles));

    std::cout << "A in rows:\n" << to_string(make_plan(in_rows).refusal) << "\n";
    std::cout << "a map that loses elements:\n" << to_string(make_plan(in_too_few_places).refusal) << "\n\n";

    std::vector<std::int8_t> left(128 * 128), right(128 * 128);
    std::vector<std::int32_t> result(128 * 128, -1), expected(128 * 128);
    for (std::size_t at = 0; at < left.size(); ++at) {
        left[at] = static_cast<std::int8_t>(at * 37 % 251);
        right[at] = static_cast<std::int8_t>(at * 53 % 241);
    }
    if (int const code = tilewright::call<in_panels>(::matmul_in_panels, left.data(), right.data(), result.data()); code != 0) {
        std::cerr << "the kernel failed with code " << code << ": " << tilewright::emulated<npu>().error() << "\n";
        return 1;
    }
    matmul_by_hand(left.data(), right.data(), expected.data());
    bool const equal = result == expected;
    std::printf("128 x 128 x 128 in int8, against the loops by hand: %s\n", equal ? "bit-equal" : "DIFFERENT");
    return equal && tilewright::agrees(plan<in_panels>, tilewright::emulated<npu>()) ? 0 : 1;
}
