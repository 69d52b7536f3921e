// Schedules are read line by line.
// clang-format off
#pragma once
#include <tilewright/targets/aarch64_dot.hpp>
#include <tilewright/targets/aarch64_neon.hpp>
#include <tilewright/targets/riscv64_v.hpp>
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/tilewright.hpp>

/// Products for AArch64 and for RISC-V, each by one schedule.
namespace bench_foreign {

using namespace tilewright;
namespace arm = targets::aarch64_dot;
namespace riscv = targets::riscv64_v;

inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::uint8_t> image{"image"};
inline constexpr tensor<std::int32_t> C{"C"};

/// int8, 64 x 64 x 64: one block of the depth, operands read where they are.
inline constexpr axis m{"m", 64}, n{"n", 64}, k{"k", 64};
inline constexpr auto square = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
constexpr schedule square_on(machine const& host) {
    return schedule(square, host).tensorize(m, n, k, arm::mac_s8s8);
}
inline constexpr auto square_on_aarch64 = square_on(arm::host), square_on_riscv64 = square_on(riscv::host);

/// uint8 by int8, 196 x 150 x 300: blocks of B are packed, rows, columns and depth leave some of each.
inline constexpr axis rows{"rows", 196}, columns{"columns", 150}, depth{"depth", 300};
inline constexpr auto layer = C(rows, columns) += cast<std::int32_t>(image(rows, depth)) * cast<std::int32_t>(B(depth, columns));
constexpr schedule layer_on(machine const& host) {
    return schedule(layer, host).split(rows, mo, mi, 96).split(columns, no, ni, 64).split(depth, ko, ki, 192).reorder(no, ko, mo, mi, ni, ki)
        .cache_read(B, arm::l2).at(ko).tensorize(mi, ni, ki, arm::mac_u8s8);
}
inline constexpr auto layer_on_aarch64 = layer_on(arm::packs_right), layer_on_riscv64 = layer_on(riscv::packs_right);

}  // namespace bench_foreign
