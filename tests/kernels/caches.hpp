// clang-format off: schedules are read line by line, a buffer a line.
#pragma once
#include <tilewright/tilewright.hpp>
#include <vector>

/// Two cores that see the outer memory and a common one through caches, which nothing keeps coherent; and kernels with that.
namespace cached_cores {

using namespace tilewright;

inline constexpr memory dram{.name = "dram", .alignment = 64, .cache_line = 64, .line_cycles = 3, .upkeep_cycles = 20},
    l2{.name = "l2", .base = 0x1000'0000, .capacity = 32_KiB, .alignment = 64, .cache_line = 64, .line_cycles = 1, .upkeep_cycles = 5},
    tcm{.name = "tcm", .base = 0x2000'0000, .capacity = 8_KiB, .alignment = 16, .per_core = true};
inline constexpr engine dma{.name = "cached_dma", .per_core = true}, l2_dma{.name = "cached_l2_dma", .channels = 4},
    npu{.name = "cached_npu", .per_core = true};
inline constexpr auto load =
    transfer("cached_load", dram, tcm).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 8});
inline constexpr auto store =
    transfer("cached_store", tcm, dram).on(dma).asynchronous().dimensions(2).cost({.latency = 20, .bytes_per_cycle = 8});
inline constexpr auto fetch =
    transfer("cached_fetch", dram, l2).on(l2_dma).asynchronous().dimensions(2).cost({.latency = 50, .bytes_per_cycle = 16});
inline constexpr auto drain =
    transfer("cached_drain", l2, dram).on(l2_dma).asynchronous().dimensions(2).cost({.latency = 50, .bytes_per_cycle = 16});
inline constexpr auto down = transfer("cached_down", l2, tcm).on(dma).dimensions(2).cost({.latency = 5, .bytes_per_cycle = 16});
inline constexpr core dsp{.name = "cached_dsp", .count = 2, .barrier_cycles = 7, .signal_cycles = 3};

inline constexpr axis lane{"lane", 16};
inline constexpr tensor<std::int32_t> from{"from"}, to{"to"};
/// Sixteen words, by a unit that sees the memory itself.
inline constexpr auto triple = intrinsic("cached_triple", to(lane) = from(lane) * 3).reads(from, l2).writes(to, l2).on(npu).cycles(9);
inline constexpr auto two = machine("cached_two", dram, l2, tcm, dma, l2_dma, npu, load, store, fetch, drain, down, triple, dsp);

inline constexpr axis y{"y", 22}, x{"x", 16}, yo{"yo"}, yi{"yi"}, p{"p", 24};
inline constexpr tensor<std::int32_t> in{"in"}, S{"S"}, out{"out"};
inline constexpr auto twice = out(y, x) = in(y, x) * 2;
inline constexpr auto two_stages = stages(S(y, x) = in(y, x) + 1, out(y, x) = S(y, x) * 3);
inline constexpr auto blur = stages(S(p, x) = in(p, x) + 5, out(y, x) = S(y, x) + S(y + 1, x) + S(y + 2, x));
inline constexpr axis part{"part", 2}, step{"step", 11};
inline constexpr auto in_parts = stages(S(part, x) += in(11 * part + step, x), out(x) += S(part, x));
inline constexpr auto onward = out(y, x) = in(y, x) * 2 + out(y, x);
inline constexpr axis row{"row", 22};
inline constexpr auto summed_on = out(x) = out(x) + sum(row, in(row, x));

inline std::vector<schedule> with_caches() {
    return {
        // The core computes on what the caller gives.
        schedule(twice, two),
        // Tiles come and go by an engine, while the core computes on others.
        schedule(twice, two).split(y, yo, yi, 4).cache_read(in, l2).at(yo).buffers(2).cache_write(out, l2).at(yo).buffers(2),
        // An engine brings what the core has written to a place that no cache lies before.
        schedule(two_stages, two).split(y, yo, yi, 4).store_in(S, l2).cache_read(S, tcm).at(yo).cache_write(out, tcm).at(yo),
        // A unit computes on it.
        schedule(two_stages, two).store_in(S, l2).tensorize(x, triple).cache_write(out, l2),
        // Each core writes rows that the other reads, too.
        schedule(blur, two).distribute(y, dsp).store_in(S, l2).stage(S).distribute(p, dsp),
        schedule(blur, two).store_in(S, l2).distribute(y, dsp),
        schedule(in_parts, two).stage(S).distribute(part, dsp).store_in(S, l2),
        // One core computes for the other.
        schedule(two_stages, two).split(y, yo, yi, 2).compute_at(S, yo).store_in(S, l2).buffers(2).stage(S).on(dsp, 1),
        // An engine brings what the core adds to: all of it, or tile by tile.
        schedule(onward, two).cache_write(out, l2),
        schedule(onward, two).split(y, yo, yi, 4).cache_read(in, l2).at(yo).buffers(2).cache_write(out, l2).at(yo).buffers(2),
        schedule(summed_on, two).split(row, yo, yi, 8).reorder(yo, x, yi).cache_read(in, l2).at(yo).cache_write(out, l2),
        // One core loads for both.
        schedule(twice, two).split(y, yo, yi, 8).distribute(yi, dsp).cache_read(in, l2).at(yo).buffers(2).cache_write(out, tcm).at(yi),
    };
}

}  // namespace cached_cores
