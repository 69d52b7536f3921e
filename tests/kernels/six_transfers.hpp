#pragma once
#include <tilewright/machine/machine.hpp>

// Machines of two scratchpads whose six transfers, all asynchronous, stand in one, two or three queues, waited for in different ways.
namespace six_transfers {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};

inline machine machine_with(engine const& in, engine const& out, engine const& between, memory const& l2, memory const& l1) {
    machine made("dsp", dram, l2, l1, in);
    if (out.name != in.name) made.add(out);
    if (between.name != in.name && between.name != out.name) made.add(between);
    transfer_cost const far{.latency = 40, .setup = 8, .bytes_per_cycle = 8}, near{.latency = 4, .setup = 2, .bytes_per_cycle = 16};
    made.add(transfer("dram_l2", dram, l2).on(in).asynchronous().dimensions(2).cost(far));
    made.add(transfer("l2_dram", l2, dram).on(out).asynchronous().dimensions(2).cost(far));
    made.add(transfer("l2_l1", l2, l1).on(between).asynchronous().dimensions(3).cost(near));
    made.add(transfer("l1_l2", l1, l2).on(between).asynchronous().dimensions(3).cost(near));
    made.add(transfer("dram_l1", dram, l1).on(in).asynchronous().dimensions(4).cost(far));
    made.add(transfer("l1_dram", l1, dram).on(out).asynchronous().dimensions(4).cost(far));
    return made;
}

inline engine const loader{"loader"}, storer{"storer"}, copier{"copier"}, dma{.name = "dma", .depth = 3};
inline engine const channel{.name = "channel", .completes = completion::by_channel},
    other_channel{.name = "other", .depth = 2, .completes = completion::by_channel};
inline engine const two_of{.name = "two_of", .depth = 3, .channels = 2, .completes = completion::by_channel},
    three_of{.name = "three_of", .channels = 3};

}  // namespace six_transfers
