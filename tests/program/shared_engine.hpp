#pragma once
#include "chip.hpp"

/// A caller's core and an agent beside it, whose machines name one DMA channel in two ways.
namespace shared_engines {

using namespace tilewright;
using chip::r, chip::x;

constexpr memory dram{.name = "dram"};
constexpr memory tcm{.name = "tcm", .capacity = 4_KiB};
constexpr engine channel{"channel"};
constexpr engine other_name = engine{"other_name"}.waits("channel_wait");
constexpr configuration pitch("pitch", 1);
constexpr auto fetch_by(engine const& which) {
    return transfer("fetch", dram, tcm)
        .on(which)
        .asynchronous()
        .dimensions(2)
        .calls("fetch", argument::source, argument::destination, argument::row_bytes, argument::extent(1), argument::tag)
        .uses(pitch, argument::source_stride(1));
}
constexpr auto host = machine("host", dram, tcm, channel, pitch, fetch_by(channel));
constexpr auto beside = machine("beside", dram, tcm, other_name, pitch, fetch_by(other_name));
constexpr agent cpu("cpu", host);
constexpr agent npu = agent("npu", beside).aside("npu_start", "npu_join");

// Blocks of 5 columns, out of rows of 10 and of 20.
constexpr axis i{"i", 10}, j{"j", 10}, k{"k", 20}, o{"o"}, n{"n"};
constexpr auto narrow = r(i, j) = x(i, j) * 2;
constexpr auto wide = r(i, k) = x(i, k) * 3;
constexpr auto narrow_on_host = schedule(narrow, host).split(j, o, n, 5).reorder(o, i, n).cache_read(x, tcm).at(o).buffers(2);
constexpr auto wide_beside = schedule(wide, beside).split(k, o, n, 5).reorder(o, i, n).cache_read(x, tcm).at(o).buffers(2);

constexpr tensor<std::int32_t> a{"a"}, b{"b"}, two_a{"two_a"}, three_b{"three_b"};
constexpr auto sharing = program("sharing")
                             .input(a, dram)
                             .input(b, dram)
                             .run("wide", npu, wide_beside)
                             .bind(x, b)
                             .bind(r, three_b)
                             .run("narrow", cpu, narrow_on_host)
                             .bind(x, a)
                             .bind(r, two_a)
                             .output(two_a, dram)
                             .output(three_b, dram);

}  // namespace shared_engines
