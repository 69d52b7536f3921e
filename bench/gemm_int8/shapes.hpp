#pragma once
#include <tilewright/kernels/avx2/gemm_bytes.hpp>
#include <tilewright/tilewright.hpp>

/// The products of bytes that are measured, each with the likeliest tile.
namespace gemm_int8_bench {

using tilewright::kernel::bytes_tiles_for;
using tilewright::kernel::gemm_bytes_of;
using tilewright::kernel::gemm_reduced_bytes_of;
using tilewright::kernel::gemm_shape;
using tilewright::kernel::tiled_gemm;

template <class Left, gemm_shape Shape>
inline constexpr auto product = tiled_gemm(gemm_bytes_of<Left, std::int8_t, Shape>, *bytes_tiles_for(Shape, 2, 1).begin());
/// One row: nothing is used twice.
template <class Left, gemm_shape Shape>
inline constexpr auto row = tiled_gemm(gemm_bytes_of<Left, std::int8_t, Shape>, {1, 4, 1, 256, 64});

/// The right operand has 7 bits.
template <gemm_shape Shape>
inline constexpr auto reduced_product = tiled_gemm(gemm_reduced_bytes_of<Shape>, *bytes_tiles_for(Shape, 4, 1).begin());
template <gemm_shape Shape>
inline constexpr auto reduced_row = tiled_gemm(gemm_reduced_bytes_of<Shape>, {1, 4, 1, 256, 64});

#define PRODUCT(of, rows, columns, depth)                                                                       \
    inline constexpr auto u8_##rows##x##columns##x##depth = of<std::uint8_t, gemm_shape{rows, columns, depth}>; \
    inline constexpr auto s8_##rows##x##columns##x##depth = of<std::int8_t, gemm_shape{rows, columns, depth}>;  \
    inline constexpr auto u8s7_##rows##x##columns##x##depth = reduced_##of<gemm_shape{rows, columns, depth}>;
PRODUCT(product, 64, 64, 64)
PRODUCT(product, 256, 256, 256)
PRODUCT(product, 512, 512, 512)
PRODUCT(product, 1024, 1024, 1024)
PRODUCT(product, 2048, 2048, 2048)
PRODUCT(product, 64, 3136, 576)
PRODUCT(product, 256, 3136, 64)
PRODUCT(product, 256, 196, 2304)
PRODUCT(product, 512, 49, 4608)
PRODUCT(row, 1, 1024, 1024)
#undef PRODUCT

}  // namespace gemm_int8_bench
