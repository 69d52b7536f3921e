#pragma once
#include <tilewright/plan/planner.hpp>

#include "fuzz/drawing.hpp"

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

/// Calls `visit(schedule)` with a product of matrices on a machine, whose extents, tiles, levels and versions are drawn.
template <class Visit>
void draw_product(drawing& draw, machine const& where, Visit const& visit) {
    constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
    constexpr tensor<std::int8_t> A{"A"}, B{"B"};
    constexpr tensor<std::int32_t> C{"C"};
    axis const m{"m", draw.between(1, 40)}, n{"n", draw.between(1, 30)}, k{"k", draw.between(1, 24)};
    auto const product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
    auto const from_zero = C(m, n) += product;
    auto const more = C(m, n) = C(m, n) + sum(k, product);
    schedule made(draw.below(3) == 0 ? more.view() : from_zero.view(), where);
    made.tile(m, n, mo, no, mi, ni, draw.between(1, 12), draw.between(1, 12)).split(k, ko, ki, draw.between(1, 9));
    made.reorder(mo, no, ko, mi, ki, ni);
    auto const versions = [&] {
        if (int const some = draw.between(1, 4); some > 1) made.buffers(some);
    };
    if (draw.below(2) == 0) made.cache_read(A, l2).at(mo), versions();
    made.cache_read(A, l1).at(ko), versions();
    if (draw.below(3) > 0) made.cache_read(B, l1).at(draw.below(2) == 0 ? ko : no), versions();
    if (draw.below(3) > 0) made.cache_write(C, l1).at(draw.below(2) == 0 ? no : mo), versions();
    visit(made);
}

}  // namespace channels
