#pragma once
#include <tilewright/tilewright.hpp>

/// Instructions, and functions in C, that are told how much to do: up to so many rows, columns and steps of a reduction.
namespace micro_kernel {

using namespace tilewright;

// 6 rows and 16 columns in registers, over a reduction of any length, on the caller's matrices.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory panels{.name = "panels", .base = 0x7000'0000, .capacity = 64_KiB, .alignment = 64};
inline constexpr axis i{"i", 6}, j{"j", 16}, l{"l", 1 << 20}, any{"any", 1};
inline constexpr tensor<float> a{"a"}, b{"b"}, c{"c"};
inline constexpr intrinsic kernel(ir::label name, ir::direction of_sums, int adds) {
    auto made = intrinsic(name, c(i, j) += a(i, l) * b(l, j)).reads(a, dram).reads(b, panels);
    return (of_sums == ir::direction::updates ? made.updates(c, dram) : made.writes(c, dram))
        .up_to(i, j, l)
        .cycles(64)
        .calls("sgemm_6x16", argument::extent(i), argument::extent(j), argument::extent(l), argument::address(a), argument::stride(a, 0),
               argument::address(b), argument::stride(b, 0), argument::address(c), argument::stride(c, 0), argument::literal(adds));
}
inline constexpr auto first_product = kernel("first_product", ir::direction::writes, 0),
                      next_product = kernel("next_product", ir::direction::updates, 1);
inline constexpr auto pack = transfer("pack", dram, panels).dimensions(2);
inline constexpr auto cpu = machine("cpu_with_kernels", dram, panels, pack, first_product, next_product);

inline constexpr axis m{"m", 75}, n{"n", 53}, k{"k", 85};
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<float> A{"A"}, B{"B"}, C{"C"};
inline constexpr auto matmul = C(m, n) += A(m, k) * B(k, n);
// One reduction over all of k for each block of sums.
inline constexpr auto whole_reductions = schedule(matmul, cpu)
                                             .tile(m, n, mo, no, mi, ni, 24, 32)
                                             .reorder(no, mo, mi, ni, k)
                                             .cache_read(B, panels)
                                             .at(no)
                                             .tensorize(mi, ni, k, next_product);
// Blocks of the reduction: the first overwrites, the others add; the last has what is left of k.
inline constexpr auto blocked = schedule(matmul, cpu)
                                    .tile(m, n, mo, no, mi, ni, 20, 40)
                                    .split(k, ko, ki, 32)
                                    .reorder(no, ko, mo, mi, ni, ki)
                                    .cache_read(B, panels)
                                    .at(ko)
                                    .tensorize(mi, ni, ki, next_product);
inline constexpr axis open_m{"open_m", dynamic}, open_n{"open_n", dynamic}, open_k{"open_k", dynamic};
inline constexpr auto open_matmul = C(open_m, open_n) += A(open_m, open_k) * B(open_k, open_n);
inline constexpr auto open_blocked = schedule(open_matmul, cpu)
                                         .tile(open_m, open_n, mo, no, mi, ni, 20, 40)
                                         .split(open_k, ko, ki, 32)
                                         .reorder(no, ko, mo, mi, ni, ki)
                                         .cache_read(B, panels)
                                         .at(ko)
                                         .tensorize(mi, ni, ki, next_product);
// Rows are taken in steps of 13: every 13th row is the first of a step.
inline constexpr auto apart = schedule(matmul, cpu)
                                  .split(m, mo, mi, 13)
                                  .split(n, no, ni, 32)
                                  .reorder(no, mi, mo, ni, k)
                                  .cache_read(B, panels)
                                  .at(no)
                                  .tensorize(mo, ni, k, next_product);

}  // namespace micro_kernel
