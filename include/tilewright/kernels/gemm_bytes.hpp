#pragma once
#include <tilewright/kernels/gemm.hpp>

/// Products of bytes with exact sums of 32 bits: C(m, n) = sum over k of A(m, k) * B(k, n).
namespace tilewright::kernel {

/// How a product of bytes is cut up for one core. Both operands are widened to 16 bits, in blocks: a multiply-add of pairs then cannot
/// saturate.
struct gemm_bytes_tile {
    std::int64_t rows = 6;            ///< of a tile of C in registers
    std::int64_t vectors = 2;         ///< of each of its rows
    std::int64_t block_rows = 240;    ///< of A that are widened together
    std::int64_t block_columns = 64;  ///< of B that are widened and packed together
    std::int64_t block_depth = 512;   ///< of the sum that is carried out before C is stored: a multiple of what is written out
    bool columns_inside = false;      ///< tiles follow each other along a row of C; otherwise along a column
    std::int64_t unrolled = 2;        ///< pairs of the sum that are written out
};

namespace detail {

/// The axes and tensors of a product of bytes.
template <class Left, class Right>
struct bytes_to_multiply {
    axis m, n, k;
    axis am, ak, bk, bn;  ///< of the widened operands
    tensor<Left> A{"A"};
    tensor<Right> B{"B"};
    tensor<std::int16_t> wide_A{"wide_A"}, wide_B{"wide_B"};
    tensor<std::int32_t> C{"C"};

    constexpr auto computation() const {
        return stages(wide_A(am, ak) = cast<std::int16_t>(A(am, ak)), wide_B(bk, bn) = cast<std::int16_t>(B(bk, bn)),
                      C(m, n) += cast<std::int32_t>(wide_A(m, k)) * cast<std::int32_t>(wide_B(k, n)));
    }
};

}  // namespace detail

/// A product of bytes: A and B are read as they are, C is written.
template <class Left, class Right>
struct gemm_bytes : detail::bytes_to_multiply<Left, Right> {
    using operands = detail::bytes_to_multiply<Left, Right>;
    decltype(operands{}.computation()) product;

    constexpr explicit gemm_bytes(gemm_shape const& of)
        : operands{.m{"m", of.rows},
                   .n{"n", of.columns},
                   .k{"k", of.depth},
                   .am{"am", of.rows},
                   .ak{"ak", of.depth},
                   .bk{"bk", of.depth},
                   .bn{"bn", of.columns}},
          product(operands::computation()) {}
};

/// A product whose shape is known to the compiler, where schedules can point at it.
template <class Left, class Right, gemm_shape Shape>
inline constexpr gemm_bytes<Left, Right> gemm_bytes_of{Shape};

/// The loops of a product of bytes on a core with vector registers. Two values of k lie beside each other, in both operands, and are added
/// up in a lane.
template <class Left, class Right>
constexpr schedule tiled_gemm(gemm_bytes<Left, Right> const& of, gemm_bytes_tile const& t) {
    using namespace targets::avx2;
    constexpr axis no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, mo{"mo"}, mi{"mi"}, row_tile{"row_tile"}, row{"row"}, column_tile{"column_tile"},
        column{"column"}, vector{"vector"}, lane{"lane"}, pairs{"pairs"}, steps{"steps"}, step{"step"}, pair{"pair"}, bpairs{"bpairs"},
        bpair{"bpair"}, bvector{"bvector"}, blane{"blane"};
    constexpr std::int64_t lanes = vector_bytes / static_cast<std::int64_t>(sizeof(std::int32_t));
    std::int64_t const width = t.vectors * lanes;
    schedule s(of.product, host);
    s.split(of.n, no, ni, t.block_columns).split(of.k, ko, ki, t.block_depth).split(of.m, mo, mi, t.block_rows);
    s.split(ki, pairs, pair, 2).split(ni, column_tile, column, width).split(column, vector, lane, lanes).split(mi, row_tile, row, t.rows);
    s.split(pairs, steps, step, t.unrolled);
    s.reorder(mo, ko, no, row_tile, column_tile, steps, step, row, vector, lane, pair);
    if (!t.columns_inside) s.reorder(column_tile, row_tile);
    s.unroll(step).unroll(row).unroll(vector).vectorize(lane).vectorize(pair);
    s.cache_write(of.C, ymm).at(t.columns_inside ? column_tile : row_tile);
    s.compute_at(of.wide_B, no).store_in(of.wide_B, l2);
    s.layout([width](auto i, auto j) { return index_map(j / width, i / 2, j % width, i % 2); });
    s.compute_at(of.wide_A, ko).store_in(of.wide_A, l2);
    s.stage(of.wide_B).split(of.bk, bpairs, bpair, 2).split(of.bn, bvector, blane, lanes);
    s.reorder(bpairs, bvector, bpair, blane).unroll(bpair).vectorize(blane);
    s.stage(of.wide_A).vectorize(of.ak, 16);
    return s;
}

}  // namespace tilewright::kernel
