#pragma once
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/tilewright.hpp>

/// The products that are measured, each with its tile.
namespace gemm_bench {

using tilewright::kernel::gemm_of;
using tilewright::kernel::gemm_shape;
using tilewright::kernel::tiled_gemm;

inline constexpr auto f32_64x64x64 = tiled_gemm(gemm_of<float, gemm_shape{64, 64, 64}>, {6, 2, 64, 64, 64, false, false});
inline constexpr auto f32_256x256x256 = tiled_gemm(gemm_of<float, gemm_shape{256, 256, 256}>, {6, 2, 96, 256, 256});
inline constexpr auto f32_512x512x512 = tiled_gemm(gemm_of<float, gemm_shape{512, 512, 512}>, {6, 2, 96, 256, 512});
inline constexpr auto f32_1024x1024x1024 = tiled_gemm(gemm_of<float, gemm_shape{1024, 1024, 1024}>, {6, 2, 96, 256, 512});
inline constexpr auto f32_2048x2048x2048 = tiled_gemm(gemm_of<float, gemm_shape{2048, 2048, 2048}>, {6, 2, 192, 256, 512});
inline constexpr auto f32_64x3136x576 = tiled_gemm(gemm_of<float, gemm_shape{64, 3136, 576}>, {5, 2, 65, 224, 576, true, false});
inline constexpr auto f32_256x3136x64 = tiled_gemm(gemm_of<float, gemm_shape{256, 3136, 64}>, {4, 3, 256, 1008, 64});
inline constexpr auto f32_256x196x2304 = tiled_gemm(gemm_of<float, gemm_shape{256, 196, 2304}>, {4, 3, 256, 196, 256});
inline constexpr auto f32_512x49x4608 = tiled_gemm(gemm_of<float, gemm_shape{512, 49, 4608}>, {6, 2, 516, 49, 1152});
inline constexpr auto f32_1x1024x1024 = tiled_gemm(gemm_of<float, gemm_shape{1, 1024, 1024}>, {1, 8, 1, 1024, 256, false, true, 1, 2});

}  // namespace gemm_bench
