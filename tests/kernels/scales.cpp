#include "kernels/scales.hpp"

#include <algorithm>
#include <tilewright/c_source/binding_files.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

// Instructions with large semantics and with scales that are data, compared with loops of plain integers.

using namespace tilewright;

namespace {

/// The upper half of the doubled product, nudged by sign and divided towards 0, as gemmlowp defines it.
std::int64_t high_half(std::int64_t x, std::int64_t multiplier) {
    std::int64_t const product = x * multiplier, nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    return (product + nudge) / (std::int64_t{1} << 31);
}
/// value / 2^shift to the nearest, halves away from 0.
std::int64_t halves_away(std::int64_t value, int shift) {
    std::int64_t const size = value < 0 ? -value : value, rounded = shift == 0 ? size : (size + (std::int64_t{1} << (shift - 1))) >> shift;
    return value < 0 ? -rounded : rounded;
}
std::int64_t scaled(std::int64_t x, std::int64_t multiplier, int shift) { return halves_away(high_half(x, multiplier), shift); }

}  // namespace

TEST_CASE("an ADD of bytes with three scales is one instruction") {
    static_assert(plan<scales::add_on_npu>.calls(scales::add8) == 3 * 3);
    static_assert(scales::npu.intrinsics[scales::npu.intrinsics.find("add8")].semantics.count > 64);
    kernels::check_kernel(plan<scales::add_on_npu>, emulated<scales::npu>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 48; ++at) {
            std::int64_t const left = scaled((data.in<std::int8_t>(0)[at] - 3) * (1 << 20), 1073741824, 0);
            std::int64_t const right = scaled((data.in<std::int8_t>(1)[at] + 5) * (1 << 20), 1518500250, 1);
            std::int64_t const sum = scaled(left + right, 1717986918, 18) + 4;
            data.out<std::int8_t>()[at] = static_cast<std::int8_t>(std::clamp<std::int64_t>(sum, -120, 115));
        }
    });
}
TEST_CASE("a requantisation with bounds is one instruction") {
    static_assert(plan<scales::bounds_on_npu>.calls(scales::bound8) == 3 * 3);
    kernels::check_kernel(plan<scales::bounds_on_npu>, emulated<scales::npu>(), [](kernels::operand_data const& data) {
        for (int at = 0; at < 24 * 48; ++at) {
            std::int64_t const value = scaled(data.in<std::int32_t>(0)[at], 1518500250, 9) - 6;
            data.out<std::int8_t>()[at] = static_cast<std::int8_t>(std::clamp<std::int64_t>(value, -100, 100));
        }
    });
}
TEST_CASE("an epilogue takes the scales of its channels from memory") {
    static constexpr plan_value const& plan = tilewright::plan<scales::layer_on_npu>;
    REQUIRE(!plan.refusal);
    CHECK(plan.calls(scales::scale8) == 3 * 3);
    CHECK(plan.calls(scales::mul) == 3 * 3);
    CHECK(plan.calls(scales::mac) == 3 * 3 * 3);
    kernels::operand_data const data = kernels::random_operands(plan, 23);
    auto const numbers = [&](ir::label const& name) {
        std::size_t at = 0;
        for (ir::buffer const& b : halide::detail::passed_buffers(plan)) {
            if (b.tensor == name) break;
            at += b.written ? 0 : 1;
        }
        return static_cast<std::int32_t*>(data.inputs.at(at).data());
    };
    std::int32_t *const by = numbers("multipliers"), *const right = numbers("shifts"), *const zero = numbers("zeros"),
                        *const low = numbers("lows"), *const high = numbers("highs");
    for (int x = 0; x < 48; ++x) {
        by[x] = (1 << 30) + 22369621 * x;
        right[x] = x % 12;
        zero[x] = x - 20;
        low[x] = -128 + 3 * (x % 5);
        high[x] = 127 - x;
    }
    auto const* const left = static_cast<std::int8_t const*>(data.inputs.at(0).data());
    auto const* const other = static_cast<std::int8_t const*>(data.inputs.at(1).data());
    Halide::Buffer<> const expected = data.output.copy();
    for (int y = 0; y < 24; ++y)
        for (int x = 0; x < 48; ++x) {
            std::int32_t sum = 0;
            for (int z = 0; z < 32; ++z) sum += left[y * 32 + z] * other[z * 48 + x];
            std::int64_t const value = std::clamp<std::int64_t>(scaled(sum, by[x], right[x]) + zero[x], low[x], high[x]);
            static_cast<std::int8_t*>(const_cast<void*>(expected.data()))[y * 48 + x] = static_cast<std::int8_t>(value);
        }
    emulator& on = emulated<scales::npu>();
    on.reset();
    halide::jit_kernel planned(plan, &on);
    CHECK(kernels::same_bits(kernels::result_of(planned, data, {}), expected));
    CHECK(on.error() == "");
}
TEST_CASE("an epilogue of a convolution takes them, too") {
    static constexpr plan_value const& plan = tilewright::plan<scales::convolution_on_npu>;
    REQUIRE(!plan.refusal);
    CHECK(plan.calls(scales::scale8) == 6 * 3 * 3);
    CHECK(plan.calls(scales::mul) == 6 * 3 * 3);
    CHECK(plan.calls(scales::mac) == 6 * (9 * 2 - 1) * 3 * 3);
    kernels::check_kernel(plan, emulated<scales::npu>());
}
