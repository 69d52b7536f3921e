#include <cstdlib>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "blur_aot.h"
#include "blur_c_backend.h"
#include "catch.hpp"
#include "contraction_aot.h"
#include "conv2d_aot.h"
#include "kernels/schedules.hpp"
#include "matmul_nn_aot.h"
#include "reference/fill.hpp"
#include "reference/reference.hpp"
#include "row_max_aot.h"
#include "select_aot.h"

// Kernels compiled by tilewright_add_kernel, on the emulated machine. Every allocation of the process is counted.

extern "C" {
void* __libc_malloc(std::size_t);
static int allocations = 0;
void* malloc(std::size_t bytes) {
    ++allocations;
    return __libc_malloc(bytes);
}
}

using namespace kernels;

namespace {

template <class T>
std::vector<T> random(std::size_t count, std::uint64_t seed) {
    std::vector<T> values(count);
    if constexpr (sizeof(T) == 4 && std::is_integral_v<T>) reference::fill_between(values.data(), count, seed, T{0}, T{1000});
    else reference::fill(values.data(), count, seed);
    return values;
}

/// Runs the kernel on the emulator: no code, no allocation, no error, the predicted cycles.
template <schedule const& Schedule, class Function, class... Operands>
void run(Function* function, Operands... operands) {
    emulator& on = emulated<dsp>();
    on.reset();
    int const before = allocations;
    int const code = tilewright::call<Schedule>(function, operands...);
    int const after = allocations;
    CHECK(code == 0);
    CHECK(after == before);
    CHECK(on.error().empty());
    CHECK(on.cycles() == plan<Schedule>.total_cycles);
}

}  // namespace

TEST_CASE("matmul") {
    auto const a = random<std::int8_t>(24 * 36, 1), b = random<std::int8_t>(36 * 40, 2);
    std::vector<std::int32_t> result(24 * 40, -1), expected(24 * 40);
    run<matmul_nn_on_dsp>(matmul_nn_aot, a.data(), b.data(), result.data());
    reference::matmul_nn(24, 40, 36, a.data(), b.data(), expected.data());
    CHECK(result == expected);
}
TEST_CASE("conv2d") {
    auto const image_data = random<std::int8_t>(19 * 27 * 8, 3), filter_data = random<std::int8_t>(3 * 3 * 8 * 16, 4);
    std::vector<std::int32_t> result(8 * 12 * 16, -1), expected(8 * 12 * 16);
    run<conv2d_on_dsp>(conv2d_aot, image_data.data(), filter_data.data(), result.data());
    reference::conv2d_nhwc(
        {.out_height = 8, .out_width = 12, .channels = 8, .filters = 16, .kernel_height = 3, .kernel_width = 3, .stride = 2, .dilation = 2},
        image_data.data(), filter_data.data(), expected.data());
    CHECK(result == expected);
}
TEST_CASE("two-stage blur, by Halide's object and by its C source") {
    auto const given = random<float>(26 * 34, 5);
    std::vector<float> result(24 * 32, -1), from_c(24 * 32, -1), expected(24 * 32);
    run<blur_on_dsp>(blur_aot, given.data(), result.data());
    run<blur_on_dsp>(blur_c_backend, given.data(), from_c.data());
    reference::blur(24, 32, given.data(), expected.data());
    CHECK(result == expected);
    CHECK(from_c == expected);
}
TEST_CASE("row maximum") {
    auto const given = random<float>(30 * 50, 6);
    std::vector<float> result(30, -9), expected(30);
    run<row_max_on_dsp>(row_max_aot, given.data(), result.data());
    reference::row_max(30, 50, given.data(), expected.data());
    CHECK(result == expected);
}
TEST_CASE("contraction of rank 5") {
    auto const first = random<std::int32_t>(6 * 5 * 4 * 8, 7), second = random<std::int32_t>(8 * 10 * 5, 8);
    std::vector<std::int32_t> result(6 * 4 * 10, -1), expected(6 * 4 * 10);
    run<contraction_on_dsp>(contraction_aot, first.data(), second.data(), result.data());
    reference::contraction(6, 4, 10, 5, 8, first.data(), second.data(), expected.data());
    CHECK(result == expected);
}
TEST_CASE("elementwise select") {
    auto const first = random<std::int16_t>(120, 9), second = random<std::int16_t>(120, 10);
    std::vector<std::int16_t> result(120, -1), expected(120);
    run<select_on_dsp>(select_aot, first.data(), second.data(), result.data());
    reference::select_difference(120, first.data(), second.data(), expected.data());
    CHECK(result == expected);
}
TEST_CASE("a counted allocation is seen") {
    int const before = allocations;
    void* volatile block = std::malloc(100);
    std::free(block);
    CHECK(allocations == before + 1);
}
