#pragma once
#include <tilewright/tune/tuned.hpp>

namespace gemm_winners {

inline constexpr tilewright::tune::winner winners[] = {
    {"gemm",
     {256, 196, 128},
     "zen4",
     {{"rows", 6},
      {"vectors", 2},
      {"block_rows", 96},
      {"block_columns", 256},
      {"block_depth", 128},
      {"columns_inside", 1},
      {"packs_rows", 0}}},
};

}  // namespace gemm_winners
