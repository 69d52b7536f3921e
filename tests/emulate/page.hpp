#pragma once
#include <tilewright/tilewright.hpp>

/// The kernel that docs/reference/emulator.md speaks of.
namespace emulator_page {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x5000'0000, .capacity = 16_KiB, .alignment = 64, .host_visible = false};
inline constexpr memory acc{.name = "acc", .base = 0x5100'0000, .capacity = 16_KiB, .alignment = 64, .host_visible = false};
inline constexpr engine loader{"loader"}, storer{"storer"}, array{"array"};
inline constexpr auto mvin =
    transfer("mvin", dram, spad).on(loader).asynchronous().dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
inline constexpr auto mvout =
    transfer("mvout", acc, dram).on(storer).asynchronous().dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
inline constexpr axis i{"i", 16}, j{"j", 16}, l{"l", 16};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"};
inline constexpr tensor<std::int32_t> c{"c"};
inline constexpr auto product = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
inline constexpr auto mac16 = intrinsic("mac16", c(i, j) += product).reads(a, spad).reads(b, spad).updates(c, acc).on(array).cycles(16);
inline constexpr auto mul16 =
    intrinsic("mul16", c(i, j) = sum(l, product)).reads(a, spad).reads(b, spad).writes(c, acc).on(array).cycles(16);
inline constexpr auto npu = machine("npu", dram, spad, acc, loader, storer, array, mvin, mvout, mac16, mul16);

inline constexpr axis m{"m", 64}, n{"n", 64}, k{"k", 64}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
inline constexpr auto matmul_on_npu = schedule(matmul, npu)
                                          .tile(m, n, mo, no, mi, ni, 32, 32)
                                          .split(k, ko, ki, 32)
                                          .reorder(mo, no, ko, mi, ni, ki)
                                          .cache_read(A, spad)
                                          .at(ko)
                                          .by(mvin)
                                          .buffers(2)
                                          .cache_read(B, spad)
                                          .at(ko)
                                          .by(mvin)
                                          .buffers(2)
                                          .cache_write(C, acc)
                                          .at(no)
                                          .by(mvout)
                                          .tensorize(mi, ni, ki, mac16);

}  // namespace emulator_page
