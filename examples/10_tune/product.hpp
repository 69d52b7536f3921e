#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>
#include <tilewright/tilewright.hpp>

#include "gemm_winners.hpp"

/// Lesson 10: a product whose tile is measured, and then built.
namespace lesson_tune {

using namespace tilewright;

/// The schedule with its numbers left open: for the tuner, which tries them, and for the compiler, which is given the best.
constexpr schedule product(kernel::gemm<float> const& of, tune::configuration const& c) {
    return kernel::tiled_gemm(of, {.rows = c["rows"],
                                   .vectors = c["vectors"],
                                   .block_rows = c["block_rows"],
                                   .block_columns = c["block_columns"],
                                   .block_depth = c["block_depth"],
                                   .columns_inside = c["columns_inside"] != 0,
                                   .packs_rows = c["packs_rows"] != 0});
}

/// What the build uses: the winner of the table, without measuring again.
inline constexpr kernel::gemm_shape known{256, 196, 128};
inline constexpr auto best = tune::tuned(gemm_winners::winners, "gemm", {known.rows, known.columns, known.depth}, "zen4");
inline constexpr auto on_avx2 = product(kernel::gemm_of<float, known>, best);
static_assert(plan<on_avx2>.peak(targets::avx2::l2) <= 512_KiB);

}  // namespace lesson_tune
