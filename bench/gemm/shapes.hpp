#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/tilewright.hpp>

/// The products that are measured, each with its tile.
namespace gemm_bench {

using tilewright::kernel::gemm_of;
using tilewright::kernel::gemm_shape;
using tilewright::kernel::gemm_tile;
using tilewright::kernel::tiled_gemm;

/// Blocks of A that stay while narrow ones of B pass by, packed both.
constexpr gemm_tile with_rows_outside(gemm_tile tile) {
    tile.columns_inside = false, tile.unrolled = 8, tile.packs_rows = tile.rows_outside = tile.runs_ahead = true;
    return tile;
}
/// Of a C that does not stay near the core until its next block of the sum.
constexpr gemm_tile asking_for_sums(gemm_tile tile) {
    tile.asks_for_sums = true;
    return tile;
}
/// Both packed, blocks of B outside.
constexpr gemm_tile with_rows_packed(gemm_tile tile) {
    tile.columns_inside = false, tile.unrolled = 8, tile.packs_rows = true;
    return tile;
}

inline constexpr auto f32_64x64x64 = tiled_gemm(gemm_of<float, gemm_shape{64, 64, 64}>, {6, 2, 64, 64, 64, false});
inline constexpr auto f32_256x256x256 = tiled_gemm(gemm_of<float, gemm_shape{256, 256, 256}>, {4, 3, 96, 256, 256});
inline constexpr auto f32_512x512x512 = tiled_gemm(gemm_of<float, gemm_shape{512, 512, 512}>, with_rows_outside({6, 2, 480, 16, 256}));
inline constexpr auto f32_1024x1024x1024 = tiled_gemm(gemm_of<float, gemm_shape{1024, 1024, 1024}>, with_rows_packed({6, 2, 96, 512, 256}));
inline constexpr auto f32_2048x2048x2048 =
    tiled_gemm(gemm_of<float, gemm_shape{2048, 2048, 2048}>, asking_for_sums(with_rows_outside({6, 2, 480, 16, 256})));
inline constexpr auto f32_64x3136x576 = tiled_gemm(gemm_of<float, gemm_shape{64, 3136, 576}>, with_rows_outside({6, 2, 66, 16, 288}));
inline constexpr auto f32_256x3136x64 = tiled_gemm(gemm_of<float, gemm_shape{256, 3136, 64}>, with_rows_outside({6, 2, 256, 16, 64}));
inline constexpr auto f32_256x196x2304 = tiled_gemm(gemm_of<float, gemm_shape{256, 196, 2304}>, {4, 3, 256, 196, 256});
inline constexpr auto f32_512x49x4608 = tiled_gemm(gemm_of<float, gemm_shape{512, 49, 4608}>, {6, 2, 516, 49, 1152});
inline constexpr auto f32_1x1024x1024 = tiled_gemm(gemm_of<float, gemm_shape{1, 1024, 1024}>, {1, 8, 1, 1024, 8, false, true, 1, 2});

}  // namespace gemm_bench
