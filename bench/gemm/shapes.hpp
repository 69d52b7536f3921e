#pragma once
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/tilewright.hpp>

/// The products that are measured, each with its tile.
namespace gemm_bench {

using tilewright::kernel::gemm_of;
using tilewright::kernel::gemm_shape;
using tilewright::kernel::tiled_gemm;

inline constexpr auto f32_64x64x64 = tiled_gemm(gemm_of<float, gemm_shape{64, 64, 64}>, {6, 2, 64, 64, 64, false});
inline constexpr auto f32_256x256x256 = tiled_gemm(gemm_of<float, gemm_shape{256, 256, 256}>, {6, 2, 96, 256, 256});
inline constexpr auto f32_512x512x512 = tiled_gemm(gemm_of<float, gemm_shape{512, 512, 512}>, {6, 2, 96, 256, 512});
inline constexpr auto f32_1024x1024x1024 = tiled_gemm(gemm_of<float, gemm_shape{1024, 1024, 1024}>, {6, 2, 96, 128, 1024});
inline constexpr auto f32_2048x2048x2048 = tiled_gemm(gemm_of<float, gemm_shape{2048, 2048, 2048}>, {6, 2, 96, 64, 2048});
inline constexpr auto f32_64x3136x576 = tiled_gemm(gemm_of<float, gemm_shape{64, 3136, 576}>, {5, 2, 64, 224, 576});
inline constexpr auto f32_256x3136x64 = tiled_gemm(gemm_of<float, gemm_shape{256, 3136, 64}>, {6, 2, 96, 1024, 64});
inline constexpr auto f32_256x196x2304 = tiled_gemm(gemm_of<float, gemm_shape{256, 196, 2304}>, {4, 3, 96, 196, 576});
inline constexpr auto f32_512x49x4608 = tiled_gemm(gemm_of<float, gemm_shape{512, 49, 4608}>, {6, 2, 96, 49, 576});
inline constexpr auto f32_1x1024x1024 = tiled_gemm(gemm_of<float, gemm_shape{1, 1024, 1024}>, {1, 8, 1, 1024, 16, false});

}  // namespace gemm_bench
