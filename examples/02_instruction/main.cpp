#include "matmul.hpp"

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <random>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "loops.h"
#include "matmul.h"

namespace {

using namespace lesson_matmul;

// clang-format off
constexpr schedule on(machine const& where) {
    return schedule(lesson_matmul::matmul, where)
        .tile(m, n, mo, no, mi, ni, 64, 64).split(k, ko, ki, 64).reorder(mo, no, ko, mi, ni, ki)
        .cache_read(A, spad).at(ko).by(mvin)
        .cache_read(B, spad).at(ko).by(mvin)
        .cache_write(C, acc).at(no).by(mvout)
        .tensorize(mi, ni, ki, mac16);
}
// clang-format on

// Nothing starts the sums of this machine.
constexpr auto without_mul16 = machine("npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac16);
constexpr auto unstarted = on(without_mul16);
static_assert(planned<unstarted>::refusal.kind == tilewright::verdict_kind::missing_first_form);

}  // namespace

int main() {
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
    std::cout << "without mul16:\n" << to_string(make_plan(unstarted).refusal) << "\n\n";

    matmul_by_hand(left.data(), right.data(), expected.data());
    bool const equal = result == expected;
    std::printf("512 x 512 x 512 in int8, accelerator against plain loops: %s\n", equal ? "bit-equal" : "DIFFERENT");
    return equal && tilewright::agrees(kernel, tilewright::emulated<npu>()) ? 0 : 1;
}
