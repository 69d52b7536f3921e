#include <cstdlib>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/runtime/call.hpp>

#include "blur_aot.h"
#include "blur_c_backend.h"
#include "catch.hpp"
#include "contraction_aot.h"
#include "conv2d_aot.h"
#include "guarded_operands.hpp"
#include "kernels/schedules.hpp"
#include "matmul_nn_aot.h"
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

/// On operands at the end of a page and at the beginning of one, it makes what the oracle says. @tparam Operands  inputs, then the result
template <schedule const& Schedule, class... Operands, class Function>
void check(Function* function) {
    for (guarded::side at : guarded::both_sides) {
        guarded_operands const given(plan<Schedule>, at);
        [&]<std::size_t... Position>(std::index_sequence<Position...>) { run<Schedule>(function, given.at<Operands>(Position)...); }
        (std::index_sequence_for<Operands...>());
        given.check();
    }
}

}  // namespace

TEST_CASE("matmul") { check<matmul_nn_on_dsp, std::int8_t, std::int8_t, std::int32_t>(matmul_nn_aot); }
TEST_CASE("conv2d") { check<conv2d_on_dsp, std::int8_t, std::int8_t, std::int32_t>(conv2d_aot); }
TEST_CASE("two-stage blur, by Halide's object and by its C source") {
    check<blur_on_dsp, float, float>(blur_aot);
    check<blur_on_dsp, float, float>(blur_c_backend);
}
TEST_CASE("row maximum") { check<row_max_on_dsp, float, float>(row_max_aot); }
TEST_CASE("contraction of rank 5") { check<contraction_on_dsp, std::int32_t, std::int32_t, std::int32_t>(contraction_aot); }
TEST_CASE("elementwise select") { check<select_on_dsp, std::int16_t, std::int16_t, std::int16_t>(select_aot); }
TEST_CASE("a counted allocation is seen") {
    int const before = allocations;
    void* volatile block = std::malloc(100);
    std::free(block);
    CHECK(allocations == before + 1);
}
