#include "nx1_calls.h"

#include "layer.hpp"
#include "layer_on_nx1.h"
#include "nx1_self_test.h"

#include <cstdio>
#include <iostream>
#include <tilewright/report/text.hpp>
#include <vector>

namespace {

void put(char letter) { std::putchar(letter); }

/// Runs the self-test on the chip, which looks into the SRAM through the debug port. Returns how many cases failed.
int test_chip() {
    alignas(64) static unsigned char dram[nx1_self_test_dram_BYTES];
    nx1_self_test_setup setup{};
    setup.dram = dram;
    setup.read = [](void*, int memory, std::uint64_t address, std::int64_t bytes, void* to) {
        if (memory == nx1_self_test_memory_sram) return nx_peek(static_cast<std::uint32_t>(address), static_cast<std::int32_t>(bytes), to);
        std::copy_n(reinterpret_cast<unsigned char const*>(address), bytes, static_cast<unsigned char*>(to));
        return 0;
    };
    setup.write = [](void*, int memory, std::uint64_t address, std::int64_t bytes, void const* from) {
        if (memory == nx1_self_test_memory_sram)
            return nx_poke(static_cast<std::uint32_t>(address), static_cast<std::int32_t>(bytes), from);
        std::copy_n(static_cast<unsigned char const*>(from), bytes, reinterpret_cast<unsigned char*>(address));
        return 0;
    };
    setup.failed = [](void*, nx1_self_test_failure const* what) { nx1_self_test_print(what, put); };
    int const failed = nx1_self_test(&setup);
    nx1_self_test_print_rows(put);
    return failed;
}

/// The layer on the chip, against plain loops.
bool run_layer() {
    std::vector<std::int8_t> samples(4 * 256), weights(256 * 100);
    for (std::size_t at = 0; at < samples.size(); ++at) samples[at] = static_cast<std::int8_t>(at * 7 % 255 - 127);
    for (std::size_t at = 0; at < weights.size(); ++at) weights[at] = static_cast<std::int8_t>(at * 11 % 253 - 126);
    std::vector<std::int32_t> sums(4 * 100), expected(4 * 100);
    for (int batch = 0; batch < 4; ++batch)
        for (int out = 0; out < 100; ++out)
            for (int in = 0; in < 256; ++in) expected[batch * 100 + out] += samples[batch * 256 + in] * weights[in * 100 + out];
    int const code = layer_on_nx1(samples.data(), 256, weights.data(), 100, sums.data(), 100);
    std::printf("layer_on_nx1: code %d, %s\n", code, sums == expected ? "as plain loops have it" : "DIFFERENT");
    return code == 0 && sums == expected;
}

}  // namespace

int main() {
    std::printf("first silicon:\n");
    nx_first_silicon = 1;
    bool const found = test_chip() > 0;
    std::printf("\nsecond silicon:\n");
    nx_first_silicon = 0;
    bool const passed = test_chip() == 0;

    std::cout << '\n' << tilewright::plan<lesson_data_sheet::layer_on_nx1> << '\n';
    bool const right = run_layer();
    std::cout << "\ntiles of 128 inputs, three versions:\n" << to_string(make_plan(lesson_data_sheet::too_large).refusal) << "\n";
    return found && passed && right ? 0 : 1;
}
