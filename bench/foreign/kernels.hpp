#pragma once
#include <tilewright/kernels/dot_products.hpp>
#include <tilewright/targets/aarch64_dot.hpp>
#include <tilewright/targets/riscv64_v.hpp>
#include <tilewright/tilewright.hpp>

/// Products for AArch64 and for RISC-V, each by one schedule.
namespace bench_foreign {

using namespace tilewright;
using namespace tilewright::kernel;
using targets::dot_products::dot_core;
inline constexpr dot_core const &arm = targets::aarch64_dot::dots, &riscv = targets::riscv64_v::dots;

/// One call, of operands where they are.
constexpr schedule square_on(dot_core const& on) {
    return tiled_gemm(wide_gemm_of<std::int8_t, std::int8_t, std::int32_t, gemm_shape{64, 64, 64}>,
                      {.rows = 64, .columns = 64, .depth = 64}, on);
}
inline constexpr auto square_on_aarch64 = square_on(arm), square_on_riscv64 = square_on(riscv);

/// Blocks of B are packed. Rows, columns and depth leave some of each.
constexpr schedule layer_on(dot_core const& on) {
    return tiled_gemm(wide_gemm_of<std::uint8_t, std::int8_t, std::int32_t, gemm_shape{196, 150, 300}>,
                      {.rows = 96, .columns = 64, .depth = 192, .packs = true}, on);
}
inline constexpr auto layer_on_aarch64 = layer_on(arm), layer_on_riscv64 = layer_on(riscv);

}  // namespace bench_foreign
