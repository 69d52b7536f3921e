#pragma once
#include <tilewright/tilewright.hpp>

/// Lesson 02: C = A * B in int8 with int32 results, on an accelerator like a systolic array.
namespace lesson_matmul {

using namespace tilewright;

// The machine: what the hardware manual says, once.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 256_KiB, .alignment = 64, .host_visible = false};
inline constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 64_KiB, .alignment = 64, .host_visible = false};

inline constexpr engine loader{"loader"}, storer{"storer"}, array{"array"};

inline constexpr auto mvin = transfer("mvin", dram, spad).on(loader).dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
inline constexpr auto mvout = transfer("mvout", acc, dram).on(storer).dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});

// Instructions, written as what they compute on 16 x 16 x 16 elements.
inline constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"};
inline constexpr tensor<std::int32_t> c{"c"};
inline constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));

inline constexpr auto mac16 = intrinsic("mac16", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(16);
inline constexpr auto mul16 =
    intrinsic("mul16", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(16);

inline constexpr auto npu = machine("npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac16, mul16);

// The computation.
inline constexpr axis m{"m", 512}, n{"n", 512}, k{"k", 512};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));

// The schedule: 64 x 64 tiles of C stay in the accumulator while tiles of A and B stream through the scratchpad.
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
// clang-format off
inline constexpr auto matmul_on_npu = schedule(matmul, npu)
    .tile(m, n, mo, no, mi, ni, 64, 64)
    .split(k, ko, ki, 64)
    .reorder(mo, no, ko, mi, ni, ki)
    .cache_read(A, spad).at(ko).by(mvin)
    .cache_read(B, spad).at(ko).by(mvin)
    .cache_write(C, acc).at(no).by(mvout)
    .tensorize(mi, ni, ki, mac16);
// clang-format on

// The compiler knows what fits and what it costs.
static_assert(plan<matmul_on_npu>.peak(spad) == 8_KiB);
static_assert(plan<matmul_on_npu>.peak(acc) == 16_KiB);

}  // namespace lesson_matmul
