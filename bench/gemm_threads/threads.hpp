#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/tilewright.hpp>

/// One product, by one thread and by two.
namespace gemm_threads {

using tilewright::kernel::gemm_of;
using tilewright::kernel::gemm_shape;
using tilewright::kernel::gemm_tile;
using tilewright::kernel::tiled_gemm;

inline constexpr gemm_shape shape{1024, 1024, 1024};
constexpr gemm_tile with_threads(std::int64_t threads) {
    return {.rows = 6, .vectors = 2, .block_rows = 96, .block_columns = 64, .block_depth = 1024, .threads = threads};
}
inline constexpr auto by_one = tiled_gemm(gemm_of<float, shape>, with_threads(1));
inline constexpr auto by_two = tiled_gemm(gemm_of<float, shape>, with_threads(2));

}  // namespace gemm_threads
