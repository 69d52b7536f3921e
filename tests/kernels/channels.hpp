#pragma once
#include <tilewright/machine/machine.hpp>

/// A machine whose one DMA engine has several equal channels.
namespace channels {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory l2{.name = "l2", .base = 0x4200'0000, .capacity = 64_KiB, .alignment = 16};
inline constexpr memory l1{.name = "l1", .base = 0x4100'0000, .capacity = 32_KiB, .alignment = 16};

/// @param depth  of every channel
constexpr machine dsp_with(int channels, completion how, int depth = 16, transfer_cost const& cost = {20, 4, 2}) {
    machine made("dsp", dram, l2, l1);
    engine on{.name = "dma", .depth = depth, .channels = channels, .completes = how};
    if (how == completion::by_transfer) on = on.waits("dma_wait", argument::channel, argument::tag);
    if (how == completion::by_channel) on = on.waits("dma_wait", argument::channel, argument::pending);
    if (how == completion::by_engine) on = on.waits("dma_wait", argument::channel, argument::literal(0));
    made.add(on);
    auto const add = [&](char const* name, memory const& from, memory const& to) {
        transfer t(name, from, to);
        t.on(on).asynchronous().dimensions(2).cost(cost);
        t.calls("dma_start", argument::channel, how == completion::by_transfer ? argument::tag : argument::literal(0),
                argument::destination, argument::source, argument::row_bytes, argument::extent(1), argument::destination_stride(1),
                argument::source_stride(1));
        made.add(t);
    };
    add("in_l2", dram, l2), add("in_l1", dram, l1), add("up", l2, l1), add("down", l1, l2), add("out_l1", l1, dram),
        add("out_l2", l2, dram);
    return made;
}

}  // namespace channels
