#pragma once
#include <tilewright/tilewright.hpp>

/// Lesson 01: a matmul in tiles, through a memory that is too small for all of it.
namespace lesson_tile {

using namespace tilewright;

// A core with 32 KiB beside it. One call of load or store moves rows that lie at a stride.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory tcm{.name = "tcm", .base = 0x5000'0000, .capacity = 32_KiB, .alignment = 64};
inline constexpr auto load = transfer("load", dram, tcm).dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
inline constexpr auto store = transfer("store", tcm, dram).dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
inline constexpr auto chip = machine("chip", dram, tcm, load, store);

// Each of the three matrices takes 64 KiB.
inline constexpr axis m{"m", 128}, n{"n", 128}, k{"k", 128};
inline constexpr tensor<float> A{"A"}, B{"B"}, C{"C"};
inline constexpr auto matmul = C(m, n) += A(m, k) * B(k, n);

// The schedule, for tiles of any side.
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
// clang-format off
constexpr schedule in_tiles(std::int64_t side) {
    return schedule(matmul, chip)
        .tile(m, n, mo, no, mi, ni, side, side)
        .split(k, ko, ki, side)
        .reorder(mo, no, ko, mi, ki, ni)
        .cache_read(A, tcm).at(ko).by(load)
        .cache_read(B, tcm).at(ko).by(load)
        .cache_write(C, tcm).at(no).by(store);
}
// clang-format on
inline constexpr schedule in_tiles_of_32 = in_tiles(32), in_tiles_of_64 = in_tiles(64);

static_assert(plan<in_tiles_of_32>.peak(tcm) == 3 * 32 * 32 * sizeof(float));
static_assert(planned<in_tiles_of_64>::refusal.kind == verdict_kind::memory_overflow);

}  // namespace lesson_tile
