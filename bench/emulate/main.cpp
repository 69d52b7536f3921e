#include <cstdint>
#include <cstdio>
#include <random>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "matmul.hpp"
#include "matmul_emulated.h"
#include "report.hpp"

// How long the emulated machine takes for lesson 02 (512³ in int8, 134 million multiply-adds), beside plain loops that the compiler
// vectorises.

namespace {

constexpr int size = 512;
std::vector<std::int8_t> left(size*size), right(size*size);
std::vector<std::int32_t> emulated_result(size*size), plain_result(size*size);

void emulated(benchmark::State& state) {
    for (auto _ : state) {
        int const code = tilewright::call<lesson_matmul::matmul_on_npu>(matmul_emulated, left.data(), right.data(), emulated_result.data());
        if (code != 0) state.SkipWithError("the kernel failed");
    }
}

void plain_loops(benchmark::State& state) {
    for (auto _ : state) {
        std::fill(plain_result.begin(), plain_result.end(), 0);
        for (int row = 0; row < size; ++row) {
            for (int inner = 0; inner < size; ++inner) {
                std::int32_t const factor = left[row * size + inner];
                std::int8_t const* const from = right.data() + inner * size;
                std::int32_t* const into = plain_result.data() + row * size;
                for (int column = 0; column < size; ++column) into[column] += factor * from[column];
            }
        }
        benchmark::ClobberMemory();
    }
}

BENCHMARK(emulated)->Unit(benchmark::kMillisecond)->Repetitions(5)->ReportAggregatesOnly();
BENCHMARK(plain_loops)->Unit(benchmark::kMillisecond)->Repetitions(5)->ReportAggregatesOnly();

}  // namespace

int main(int argument_count, char** arguments) {
    std::mt19937 random(1);
    for (auto* operand : {&left, &right}) {
        for (std::int8_t& element : *operand) element = static_cast<std::int8_t>(random());
    }
    figures const measured(argument_count, arguments);
    if (emulated_result != plain_result) {
        std::fprintf(stderr, "the results differ\n");
        return EXIT_FAILURE;
    }
    std::printf("emulate: seconds=%.4f slowdown=%.2f\n", measured.seconds("emulated"),
                measured.seconds("emulated") / measured.seconds("plain_loops"));
}
