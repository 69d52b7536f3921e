#pragma once
#include <tilewright/tilewright.hpp>

/// Kernels that leave extents to run time, compiled ahead of time.
namespace open_rows {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"}, l1{.name = "l1", .capacity = 32_KiB, .alignment = 16};
inline constexpr engine loader{"loader"}, storer{.name = "storer", .completes = completion::by_channel};
inline constexpr auto load = transfer("load", dram, l1).on(loader).asynchronous().dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
inline constexpr auto store =
    transfer("store", l1, dram).on(storer).asynchronous().dimensions(2).cost({.latency = 40, .bytes_per_cycle = 8});
inline constexpr auto streaming = machine("streaming", dram, l1, loader, storer, load, store);

inline constexpr axis m{"m", dynamic.up_to(1000)}, n{"n", dynamic}, k{"k", dynamic};
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, r{"r", 3};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"}, in{"in"}, out{"out"};

inline constexpr auto matmul = C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
inline constexpr auto open_matmul = schedule(matmul, streaming)
                                        .tile(m, n, mo, no, mi, ni, 8, 16)
                                        .split(k, ko, ki, 8)
                                        .reorder(mo, no, ko, mi, ki, ni)
                                        .vectorize(ni)
                                        .cache_read(A, l1)
                                        .at(ko)
                                        .buffers(2)
                                        .cache_read(B, l1)
                                        .at(ko)
                                        .buffers(3)
                                        .cache_write(C, l1)
                                        .at(no)
                                        .buffers(2);

inline constexpr auto sums = out(m, n) += in(m, 2 * n + r);
inline constexpr auto open_sums = schedule(sums, streaming)
                                      .split(n, no, ni, 16)
                                      .reorder(no, m, r, ni)
                                      .cache_read(in, l1)
                                      .at(m)
                                      .buffers(2)
                                      .cache_write(out, l1)
                                      .at(m)
                                      .buffers(2);

}  // namespace open_rows
