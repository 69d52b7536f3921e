#pragma once
#include <tilewright/tilewright.hpp>

/// Lesson 04: a memory of two blocks at two addresses. Tiles are loaded into one block while the other one is computed on.
namespace lesson_two_blocks {

using namespace tilewright;

// The machine. The vtcm consists of two physical blocks, which do not follow each other, and each has one port: while a transfer uses a
// block, nothing else may. Results are accumulated in a memory of their own.
inline constexpr memory ddr{.name = "ddr"};
inline constexpr memory vtcm{.name = "vtcm",
                             .capacity = 128_KiB,
                             .alignment = 128,
                             .banks = 2,
                             .ports = 1,
                             .bank_bases = {0xd800'0000, 0xda00'0000},
                             .host_visible = false};
inline constexpr memory acc{.name = "acc", .base = 0xd000'0000, .capacity = 32_KiB, .alignment = 128, .host_visible = false};

// Two DMA channels and a vector unit. A channel is waited for by the tag that a transfer was started with.
inline constexpr engine dma_in{"dma_in"}, dma_out{"dma_out"}, vector_unit{"vector_unit"};
inline constexpr transfer_cost by_dma{.latency = 200, .setup = 20, .bytes_per_cycle = 2};
inline constexpr auto load = transfer("load", ddr, vtcm).on(dma_in).asynchronous().dimensions(2).cost(by_dma);
inline constexpr auto store = transfer("store", acc, ddr).on(dma_out).asynchronous().dimensions(2).cost(by_dma);

// Its instructions work on vectors of 16 floats: an element of A times 16 of B, added to 16 of C, a vector a cycle.
inline constexpr axis i{"i", 1}, j{"j", 16}, l{"l", 1};
inline constexpr tensor<float> a{"a"}, b{"b"}, c{"c"};
inline constexpr auto product = a(i, l) * b(l, j);
inline constexpr auto vmac = intrinsic("vmac", c(i, j) += product).reads(a, vtcm).reads(b, vtcm).updates(c, acc).on(vector_unit);
inline constexpr auto vmul = intrinsic("vmul", c(i, j) = sum(l, product)).reads(a, vtcm).reads(b, vtcm).writes(c, acc).on(vector_unit);
inline constexpr auto dsp = machine("dsp", ddr, vtcm, acc, dma_in, dma_out, vector_unit, load, store, vmac, vmul);

// Another vector unit, which accumulates in the vtcm as well.
inline constexpr auto store_vtcm = transfer("store_vtcm", vtcm, ddr).on(dma_out).asynchronous().dimensions(2).cost(by_dma);
inline constexpr auto vmac_near = intrinsic("vmac_near", c(i, j) += product).reads(a, vtcm).reads(b, vtcm).updates(c, vtcm).on(vector_unit);
inline constexpr auto vmul_near =
    intrinsic("vmul_near", c(i, j) = sum(l, product)).reads(a, vtcm).reads(b, vtcm).writes(c, vtcm).on(vector_unit);

inline constexpr auto dsp_near = machine("dsp_near", ddr, vtcm, dma_in, dma_out, vector_unit, load, store_vtcm, vmac_near, vmul_near);

// The computation.
inline constexpr axis m{"m", 128}, n{"n", 128}, k{"k", 256};
inline constexpr tensor<float> A{"A"}, B{"B"}, C{"C"};
inline constexpr auto matmul = C(m, n) += A(m, k) * B(k, n);

// The schedules differ in their buffers only.
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
// clang-format off
constexpr schedule in_tiles(machine const& where) {
    return schedule(matmul, where).tile(m, n, mo, no, mi, ni, 64, 64).split(k, ko, ki, 64).reorder(mo, no, ko, mi, ki, ni);
}

/// One version of every tile: it is loaded, then used.
inline constexpr auto in_one_version = in_tiles(dsp)
    .cache_read(A, vtcm).at(ko)
    .cache_read(B, vtcm).at(ko)
    .cache_write(C, acc).at(no)
    .tensorize(mi, ki, ni, vmac);

/// Two versions of 64 x 64 = 4,096 elements: [2][4096] of A and of B. Version 0 lies in block 0, version 1 in block 1.
inline constexpr auto in_two_blocks = in_tiles(dsp)
    .cache_read(A, vtcm).at(ko).double_buffer().in_bank(0)
    .cache_read(B, vtcm).at(ko).double_buffer().in_bank(0)
    .cache_write(C, acc).at(no).double_buffer()
    .tensorize(mi, ki, ni, vmac);

/// One version, spread over the blocks: the left half of a tile of A lies in block 0, the right half in block 1, of B the upper and the lower
/// half. Tiles of 64 x 128 and 128 x 64 = 8,192 elements are [2][4096], at two addresses.
inline constexpr auto across_two_blocks = schedule(matmul, dsp)
    .tile(m, n, mo, no, mi, ni, 64, 64).split(k, ko, ki, 128).reorder(mo, no, ko, mi, ki, ni)
    .cache_read(A, vtcm).at(ko).layout([](auto row, auto column) { return index_map(column / 64, separator, row, column % 64); })
    .cache_read(B, vtcm).at(ko).layout([](auto row, auto column) { return index_map(row / 64, separator, row % 64, column); })
    .cache_write(C, acc).at(no)
    .tensorize(mi, ki, ni, vmac);

/// With C in block 1, which the next tiles of A and B are loaded into while C is computed. This is refused.
inline constexpr auto with_c_in_block_1 = in_tiles(dsp_near)
    .cache_read(A, vtcm).at(ko).double_buffer().in_bank(0)
    .cache_read(B, vtcm).at(ko).double_buffer().in_bank(0)
    .cache_write(C, vtcm).at(no).in_bank(1)
    .tensorize(mi, ki, ni, vmac_near);
// clang-format on

// What the compiler knows: half of each block is used, overlapping costs little more than the bound, and C has no place in block 1.
static_assert(plan<in_two_blocks>.peak(vtcm, 0) == 32_KiB && plan<in_two_blocks>.peak(vtcm, 1) == 32_KiB);
static_assert(plan<in_one_version>.peak(vtcm, 0) == 32_KiB && plan<in_one_version>.peak(vtcm, 1) == 0);
static_assert(plan<across_two_blocks>.peak(vtcm, 0) == 32_KiB && plan<across_two_blocks>.peak(vtcm, 1) == 32_KiB);
static_assert(planned<with_c_in_block_1>::refusal.kind == verdict_kind::bank_conflict);

}  // namespace lesson_two_blocks
