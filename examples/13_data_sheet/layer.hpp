#pragma once
#include <tilewright/tilewright.hpp>

/// Lesson 13: from a data sheet to a verified kernel.
namespace lesson_data_sheet {

using namespace tilewright;

// clang-format off
// Memories.
inline constexpr memory dram{.name = "dram"};
inline constexpr memory sram{.name = "sram", .base = 0x2000'0000, .capacity = 32_KiB, .alignment = 16, .host_visible = false};

// Engines, and their copies.
inline constexpr auto loader = engine{.name = "loader", .depth = 8}.waits("nx_wait_load", argument::tag);
inline constexpr auto storer = engine{.name = "storer", .depth = 8}.waits("nx_wait_store", argument::tag);
inline constexpr transfer_cost by_dma{.latency = 60, .setup = 8, .bytes_per_cycle = 8};
inline constexpr auto load = transfer("load", dram, sram).on(loader).asynchronous().dimensions(2).row_limit(1024).cost(by_dma)
    .calls("nx_load", argument::tag, argument::destination, argument::source, argument::row_bytes, argument::extent(1),
           argument::source_stride(1), argument::destination_stride(1));
inline constexpr auto store = transfer("store", sram, dram).on(storer).asynchronous().dimensions(2).row_limit(1024).cost(by_dma)
    .calls("nx_store", argument::tag, argument::destination, argument::source, argument::row_bytes, argument::extent(1),
           argument::source_stride(1), argument::destination_stride(1));

// The instruction, in its two forms.
inline constexpr axis o{"o", 32}, d{"d", 16};
inline constexpr tensor<std::int8_t> x{"x"}, w{"w"};
inline constexpr tensor<std::int32_t> y{"y"};
inline constexpr auto products = cast<std::int32_t>(x(d)) * cast<std::int32_t>(w(d, o));
inline constexpr engine array{"array"};
inline constexpr auto mul = intrinsic("mul", y(o) = sum(d, products)).reads(x, sram).reads(w, sram).writes(y, sram).up_to(o)
    .on(array).cycles(16)
    .calls("nx_mul", argument::address(y), argument::address(x), argument::address(w), argument::stride(w, 0), argument::extent(o));
inline constexpr auto mac = intrinsic("mac", y(o) += products).reads(x, sram).reads(w, sram).updates(y, sram).up_to(o)
    .on(array).cycles(16)
    .calls("nx_mac", argument::address(y), argument::address(x), argument::address(w), argument::stride(w, 0), argument::extent(o));

inline constexpr auto nx1 = machine("nx1", dram, sram, loader, storer, array, load, store, mul, mac);

// A layer: 4 samples of 256 bytes, 100 outputs.
inline constexpr axis batch{"batch", 4}, out{"out", 100}, in{"in", 256};
inline constexpr tensor<std::int8_t> samples{"samples"}, weights{"weights"};
inline constexpr tensor<std::int32_t> sums{"sums"};
inline constexpr auto layer = sums(batch, out) += cast<std::int32_t>(samples(batch, in)) * cast<std::int32_t>(weights(in, out));

inline constexpr axis in_tile{"in_tile"}, in_row{"in_row"}, step{"step"}, depth{"depth"}, block{"block"}, lane{"lane"};
inline constexpr auto layer_on_nx1 = schedule(layer, nx1)
    .split(in, in_tile, in_row, 64).split(in_row, step, depth, 16).split(out, block, lane, 32)
    .reorder(in_tile, batch, step, block, depth, lane)
    .cache_read(samples, sram)
    .cache_read(weights, sram).at(in_tile).double_buffer()
    .cache_write(sums, sram)
    .tensorize(lane, depth, mac);

/// The weights of 128 inputs at a time, in three versions: that is more than the SRAM has.
inline constexpr auto too_large = schedule(layer, nx1)
    .split(in, in_tile, in_row, 128).split(in_row, step, depth, 16).split(out, block, lane, 32)
    .reorder(in_tile, batch, step, block, depth, lane)
    .cache_read(samples, sram)
    .cache_read(weights, sram).at(in_tile).buffers(3)
    .cache_write(sums, sram)
    .tensorize(lane, depth, mac);
// clang-format on

static_assert(plan<layer_on_nx1>.peak(sram) <= 32_KiB);
static_assert(planned<too_large>::refusal.kind == verdict_kind::memory_overflow);

}  // namespace lesson_data_sheet
