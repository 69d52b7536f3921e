#pragma once
#include "kernels/unlike_cores.hpp"

/// The machine of four cores with engines that write to the memories of all cores at once, and kernels for it.
namespace cores_of_dsp {

inline constexpr engine noc{"cores_noc"};
/// Waited for by its tag; at once; and a fill of all copies.
inline constexpr auto spread =
    transfer("cores_spread", dram, tcm).multicast().on(noc).asynchronous().dimensions(2).cost({.latency = 30, .bytes_per_cycle = 8});
inline constexpr auto spread_now = transfer("cores_spread_now", dram, tcm).multicast().on(noc).dimensions(3).cost({.latency = 9});
inline constexpr auto spread_l2 =
    transfer("cores_spread_l2", l2, tcm).multicast().on(noc).asynchronous().dimensions(2).cost({.latency = 3, .bytes_per_cycle = 32});
/// Likewise, for core 0 alone.
inline constexpr auto keep =
    transfer("cores_keep", dram, tcm).on(noc).asynchronous().dimensions(2).cost({.latency = 30, .bytes_per_cycle = 8});
inline constexpr axis one{"one", 1};
inline constexpr tensor<std::int8_t> to{"to"};
inline constexpr auto clear_all =
    transfer("cores_clear", dram, tcm, to(one) = 0).multicast().on(noc).dimensions(2).cost({.bytes_per_cycle = 16});

inline constexpr auto with_noc =
    machine("dsp_noc", dram, l2, tcm, dma, l2_dma, noc, load, store, fetch, down, spread, spread_now, spread_l2, keep, clear_all, dsp);

/// Kernels in which one call brings a tile to all cores.
inline std::vector<schedule> with_multicasts() {
    schedule const blocks =
        schedule(matmul, with_noc).split(n, no, ni, 6).split(m, mo, mi, 3).reorder(no, mo, mi, ni, k).distribute(mo, dsp);
    static constexpr axis h{"h", 15}, w{"w", 16}, y{"y", 15}, x{"x", 16}, dy{"dy", 3}, dx{"dx", 3}, yo{"yo"}, yi{"yi"}, c{"c", 9};
    static constexpr tensor<std::int8_t> in{"in"}, weights{"weights"};
    static constexpr tensor<std::int32_t> out{"out"};
    static constexpr auto conv = out(c, y, x) +=
        cast<std::int32_t>(padded(in(h, w), 0)(y + dy - 1, x + dx - 1)) * cast<std::int32_t>(weights(c, dy, dx));
    return {
        // The whole of B, once: waited for at once, and by its tag.
        schedule(matmul, with_noc)
            .split(m, mo, mi, 3)
            .distribute(mo, dsp)
            .cache_read(B, tcm)
            .by(spread_now)
            .cache_read(A, tcm)
            .at(mo)
            .by(load)
            .buffers(2),
        schedule(matmul, with_noc).distribute(m, dsp).cache_read(B, tcm).by(spread),
        // Blocks of B, in one version and in two and three, of which the next ones come while all compute.
        schedule(blocks).cache_read(B, tcm).at(no).by(spread_now).cache_write(C, tcm).at(mo).buffers(2),
        schedule(blocks).cache_read(B, tcm).at(no).by(spread).cache_read(A, tcm).at(mo).by(load).buffers(2),
        schedule(blocks)
            .cache_read(B, tcm)
            .at(no)
            .by(spread)
            .buffers(2)
            .cache_read(A, tcm)
            .at(mo)
            .by(load)
            .buffers(2)
            .cache_write(C, tcm)
            .at(mo),
        schedule(matmul, with_noc)
            .split(n, no, ni, 3)
            .reorder(no, m, ni, k)
            .distribute(m, dsp)
            .cache_read(B, tcm)
            .at(no)
            .by(spread)
            .buffers(3),
        // By way of the memory that all see; three cores share.
        schedule(matmul, with_noc)
            .split(n, no, ni, 6)
            .split(m, mo, mi, 3)
            .reorder(no, mo, mi, ni, k)
            .distribute(mo, dsp, 3)
            .cache_read(B, l2)
            .by(fetch)
            .cache_read(B, tcm)
            .at(no)
            .by(spread_l2)
            .buffers(2),
        // Partial blocks, and blocks in another order in memory.
        schedule(matmul, with_noc)
            .split(n, no, ni, 5)
            .reorder(no, m, ni, k)
            .distribute(m, dsp)
            .cache_read(B, tcm)
            .at(no)
            .by(spread)
            .buffers(2),
        schedule(matmul, with_noc)
            .split(n, no, ni, 6)
            .reorder(no, m, ni, k)
            .distribute(m, dsp)
            .cache_read(B, tcm)
            .layout([](auto i, auto j) { return index_map(j % 2, i, j / 2); })
            .at(no)
            .by(spread_now),
        // Rows with a border for all channels, which cores share.
        schedule(conv, with_noc)
            .split(y, yo, yi, 5)
            .reorder(yo, c, yi, x, dy, dx)
            .distribute(c, dsp)
            .cache_read(in, tcm)
            .at(yo)
            .by(spread_now),
    };
}

}  // namespace cores_of_dsp

namespace unlike_cores {

inline constexpr auto mixed_noc = machine("mixed_noc", dram, l2, tcm, dma, l2_dma, noc, load, store, spread, spread_now, control, vector,
                                          mac, mac_of_vector, mul, mul_of_vector);

/// Kernels of cores of two kinds, to which one call brings a tile.
inline std::vector<schedule> with_multicasts() {
    return {
        // The slow core brings each block of B, and both kinds compute by their instructions.
        schedule(matmul, mixed_noc)
            .split(n, no, ni, 6)
            .split(m, mo, mi, 3)
            .split(k, ko, ki, 5)
            .reorder(no, mo, ko, mi, ni, ki)
            .distribute(mo, control, vector)
            .cache_read(B, tcm)
            .at(no)
            .by(spread)
            .buffers(2)
            .cache_read(A, tcm)
            .at(mo)
            .by(load)
            .cache_write(C, tcm)
            .at(mo)
            .tensorize(mi, ni, ki, mac),
        // It brings them for the fast cores, which compute.
        schedule(matmul, mixed_noc)
            .split(n, no, ni, 6)
            .reorder(no, m, ni, k)
            .distribute(m, vector)
            .cache_read(B, tcm)
            .at(no)
            .by(spread)
            .buffers(3)
            .prefetch(2),
        schedule(matmul, mixed_noc).distribute(m, vector).cache_read(B, tcm).by(spread_now),
    };
}

}  // namespace unlike_cores
