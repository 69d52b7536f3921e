#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/targets/aarch64_neon.hpp>
#include <tilewright/tilewright.hpp>

/// A product of floats for AArch64, by the schedule that serves x86.
namespace foreign {

using namespace tilewright::kernel;
/// Neither rows nor columns are whole tiles, and the depth is no whole block.
inline constexpr gemm_shape floats_shape{77, 53, 75};
inline constexpr auto floats_on_neon = tiled_gemm(
    gemm_of<float, floats_shape>,
    {.rows = 8, .vectors = 2, .block_rows = 24, .block_columns = 48, .block_depth = 20, .columns_inside = false, .packs_rows = true},
    tilewright::targets::neon::vectors);

}  // namespace foreign
