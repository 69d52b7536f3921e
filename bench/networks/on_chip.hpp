#pragma once
#include <string>
#include <tilewright/import/layers.hpp>

namespace networks {

/// How busy the array is with layers.
struct array_use {
    double busy = 0, cycles = 0;  ///< what the array needs; what the layers take
    double at_work = 0;           ///< for which it carries out calls, whether they do all that they can or not
    double least = 0;  ///< what they take at least: the array's need, or the time for loading each operand once, if that is longer

    void add(array_use const& more) { busy += more.busy, at_work += more.at_work, cycles += more.cycles, least += more.least; }
    double share() const { return cycles > 0 ? busy / cycles : 0; }
    double share_at_work() const { return cycles > 0 ? at_work / cycles : 0; }
    double bound() const { return least > 0 ? busy / least : 0; }  ///< the share that no schedule exceeds
};

/// A network on the chip of chip.hpp.
struct chip_figures {
    std::string refused = {};    ///< why it has no plan there; empty: it has one
    double seconds_to_plan = 0;  ///< layers placed and searched, and the program planned
    int layers = 0, on_npu = 0;
    double cycles = 0, emulated = 0;  ///< of the whole network, as planned and as counted; 0: not emulated
    array_use array = {};             ///< with layers on the npu of at least 16 channels
    array_use images = {};            ///< with those of them that have several pixels
    bool proven = false;              ///< of the memory between kernels
    long long act_bytes = 0;          ///< the most that is alive there
};

/// @param inputs  their bytes, to be run on the emulated chip; none: only planned
chip_figures on_chip(tilewright::imported::layers layers, std::vector<std::vector<std::byte>> const& inputs);

}  // namespace networks
