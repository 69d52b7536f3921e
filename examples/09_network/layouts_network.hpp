// Machines, schedules and programs are read line by line.
// clang-format off
#pragma once
#include "digits_network.hpp"

/// Lesson 09: a convolution between two changes of layout: channels first in l2_mem, channels last and 16 at a time where the npu computes.
namespace lesson_network {

constexpr int side = 12, channels = 3, filters_used = 10, lanes = 16;

// [3][12][12] -> [1][12][12][16]: channels that are not there are zeros.
constexpr axis one{"one", 1}, row{"row", side}, column{"column", side}, lane{"lane", lanes}, channel{"channel", channels};
constexpr tensor<std::int8_t> planes{"planes"}, packed{"packed"}, features{"features"}, result{"result"};
constexpr auto to_channels_last =
    packed(one, row, column, lane) = padded(planes(channel, row, column), 0)(lane, row, column);
constexpr auto pack_on_cpu = schedule(to_channels_last, cpu_machine);

// The same convolution as in the other network, with other numbers.
using block = convolution<side, lanes, lanes>;
constexpr auto block_weights = [] {
    std::array<std::int8_t, 9 * lanes * lanes> made{};
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<std::int8_t>(static_cast<int>(at * 37 % 251) - 125);
    return made;
}();
constexpr auto filled = [](std::int32_t first, std::int32_t step) {
    std::array<std::int32_t, lanes> made{};
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = first + step * static_cast<std::int32_t>(at);
    return made;
};
constexpr auto block_bias = filled(-800, 100), block_multiplier = filled(1'200'000'000, 30'000'000), block_shift = filled(6, 0);

// [1][12][12][16] -> [10][12][12]: channels first again, without the filters that only fill the block.
constexpr axis filter{"filter", filters_used};
constexpr auto to_channels_first = result(filter, row, column) = features(0, row, column, filter);
constexpr auto slice_on_cpu = schedule(to_channels_first, cpu_machine);

constexpr tensor<std::int8_t> weights{"weights"};
constexpr tensor<std::int32_t> bias{"bias"}, multiplier{"multiplier"}, shift{"shift"};

constexpr auto layouts_network = program("layouts_network")
    .input(planes, l2_mem)
    .constant(weights, wei_mem, block_weights).constant(bias, wei_mem, block_bias)
    .constant(multiplier, wei_mem, block_multiplier).constant(shift, wei_mem, block_shift)
    // The cpu packs where it is at home, and its DMA brings what the npu reads to where the npu sees it: nobody says so. What the convolution
    // writes needs no such statement: act_mem is the one memory that it and the cpu both see.
    .run("pack", cpu, pack_on_cpu).writes(packed, l2_mem)
    .run("conv", npu, block::on_npu).bind(block::conv::in, packed).bind(block::conv::weights, weights).bind(block::relu, features)
    .run("slice", cpu, slice_on_cpu)
    .output(result, l2_mem);

}  // namespace lesson_network
