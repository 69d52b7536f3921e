#pragma once
#include <string>
#include <tilewright/import/layers.hpp>

namespace networks {

/// A network on the chip of chip.hpp.
struct chip_figures {
    std::string refused = {};    ///< why it has no plan there; empty: it has one
    double seconds_to_plan = 0;  ///< layers placed and searched, and the program planned
    int layers = 0, on_npu = 0;
    double cycles = 0, emulated = 0;  ///< of the whole network, as planned and as counted; 0: not emulated
    double busy = 0, npu_cycles = 0;  ///< of layers on the npu with at least 16 channels: what the array needs, what they take
    bool proven = false;              ///< of the memory between kernels
    long long act_bytes = 0;          ///< the most that is alive there
};

/// @param inputs  their bytes, to be run on the emulated chip; none: only planned
chip_figures on_chip(tilewright::imported::layers layers, std::vector<std::vector<std::byte>> const& inputs);

}  // namespace networks
