// Written by a tuner from what it measured: tilewright::tune::tuned(gemm_winners::winners, problem, shape, processor).
#pragma once
#include <tilewright/tune/tuned.hpp>

namespace gemm_winners {

// clang-format off
inline constexpr tilewright::tune::winner winners[] = {
    // time 2.80714 ms
    {"gemm", {64, 3136, 576}, "zen4",
     {{"rows", 4}, {"vectors", 2}, {"block_rows", 96}, {"block_columns", 256}, {"block_depth", 128}, {"columns_inside", 1}, {"packs_rows", 0}}},
    // time 0.118272 ms
    {"gemm", {256, 196, 128}, "zen4",
     {{"rows", 6}, {"vectors", 2}, {"block_rows", 96}, {"block_columns", 64}, {"block_depth", 128}, {"columns_inside", 0}, {"packs_rows", 0}}},
    // time 2.83201 ms
    {"gemm", {512, 49, 4608}, "zen4",
     {{"rows", 6}, {"vectors", 2}, {"block_rows", 48}, {"block_columns", 256}, {"block_depth", 256}, {"columns_inside", 1}, {"packs_rows", 0}}},
};
// clang-format on

}  // namespace gemm_winners
