#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/targets/x86_avx512.hpp>
#include <tilewright/tilewright.hpp>

/// Products compiled for this processor, whose packed blocks are where the caller says.
namespace host_gemm {

using tilewright::kernel::gemm_of;
using tilewright::kernel::gemm_shape;
using tilewright::kernel::gemm_tile;
using tilewright::kernel::tiled_gemm;

inline constexpr gemm_shape odd{77, 131, 75};
inline constexpr auto in_blocks = tiled_gemm(gemm_of<float, odd>, {.rows = 6,
                                                                   .vectors = 2,
                                                                   .block_rows = 24,
                                                                   .block_columns = 48,
                                                                   .block_depth = 20,
                                                                   .packs = true,
                                                                   .columns_inside = false,
                                                                   .packs_rows = true});
/// Whole tiles on a core with AVX-512.
inline constexpr gemm_shape even{72, 128, 60};
inline constexpr gemm_tile of_12_rows{
    .rows = 12, .vectors = 2, .block_rows = 24, .block_columns = 64, .block_depth = 20, .columns_inside = false, .packs_rows = true};
inline constexpr auto on_avx512 = tiled_gemm(gemm_of<float, even>, of_12_rows, tilewright::targets::avx512::vectors);
/// The compiler's choice.
inline constexpr auto candidates = tilewright::kernel::tiles_for(odd, 5);
inline constexpr auto scheduled = [](tilewright::kernel::gemm_tile const& tile) { return tiled_gemm(gemm_of<float, odd>, tile); };

}  // namespace host_gemm
