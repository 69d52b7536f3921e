#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>

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

/// Tiles that are worth trying for a shape. @param terms  of the sum that a lane adds up at once: 2 where both operands are widened, 4
/// where the right one has 7 bits
constexpr tile_list<gemm_bytes_tile> bytes_tiles_for(gemm_shape const& of, std::int64_t terms,
                                                     int limit = tile_list<gemm_bytes_tile>::most) {
    tile_list<gemm_bytes_tile> found(limit);
    using detail::at_most;
    std::int64_t const rows_in_registers = terms == 2 ? 6 : 4;  // with two vectors each, the most that fit
    for (std::int64_t depth : {512, 256, 1024}) {
        if (depth > of.depth && depth != 512) continue;
        for (std::int64_t columns : {64, 128, 256}) {
            if (columns > of.columns && columns != 64) continue;
            for (std::int64_t rows : {rows_in_registers, rows_in_registers - 1}) {
                if (of.rows == 1 && rows != rows_in_registers) continue;
                std::int64_t const tile = at_most(rows, of.rows), block = at_most(240 / tile * tile, (of.rows + tile - 1) / tile * tile);
                // A group that is not whole, beside one that is not there, in the only block would run without vectors: it gets a block.
                bool const is_cut = of.depth % terms != 0 && (of.depth / terms + 1) % 2 == 1 && of.depth <= depth && of.depth > 8;
                std::int64_t const whole = is_cut ? of.depth / 8 * 8 : at_most(depth, (of.depth + 7) / 8 * 8);
                // One of two whole groups that are written out would run without vectors.
                bool const one_is_left = of.depth % terms == 0 && ((of.depth - 1) % whole + 1) / terms % 2 == 1;
                found.add({tile, of.rows == 1 ? 4 : 2, block, columns, whole, false, one_is_left ? 1 : 2});
            }
        }
    }
    return found;
}

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

/// Likewise, with a right operand of 7 bits.
struct reduced_bytes_to_multiply {
    axis m, n, k;
    axis bk, bn;  ///< of the packed operand
    tensor<std::uint8_t> A{"A"};
    tensor<std::int8_t> B{"B"}, reduced_B{"reduced_B"};
    tensor<std::int32_t> C{"C"};

    constexpr auto computation() const {
        return stages(reduced_B(bk, bn) = clamp(B(bk, bn), -targets::avx2::furthest_reduced, targets::avx2::furthest_reduced),
                      C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(reduced_B(k, n)));
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

/// A product of bytes whose right operand is moved into [-64, 64] while it is packed: the sum of two products then fits 16 bits, and four
/// bytes are multiplied and added up where they are, without widening. Numbers of 7 bits stay what they are. A kernel takes B in front of
/// A.
struct gemm_reduced_bytes : detail::reduced_bytes_to_multiply {
    using operands = detail::reduced_bytes_to_multiply;
    decltype(operands{}.computation()) product;

    constexpr explicit gemm_reduced_bytes(gemm_shape const& of)
        : operands{.m{"m", of.rows}, .n{"n", of.columns}, .k{"k", of.depth}, .bk{"bk", of.depth}, .bn{"bn", of.columns}},
          product(operands::computation()) {}
};
template <gemm_shape Shape>
inline constexpr gemm_reduced_bytes gemm_reduced_bytes_of{Shape};

namespace detail {

/// The loops of a product of bytes: `Group` values of k lie beside each other in the packed operand, and are added up in a lane.
template <int Group>
constexpr schedule tiled_bytes(auto const& of, any_tensor const& packed, gemm_bytes_tile const& t) {
    using namespace targets::avx2;
    constexpr axis no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, mo{"mo"}, mi{"mi"}, row_tile{"row_tile"}, row{"row"}, column_tile{"column_tile"},
        column{"column"}, vector{"vector"}, lane{"lane"}, groups{"groups"}, steps{"steps"}, step{"step"}, term{"term"}, bgroups{"bgroups"},
        bterm{"bterm"}, bvector{"bvector"}, blane{"blane"};
    constexpr std::int64_t lanes = lanes_of<std::int32_t>;
    std::int64_t const width = t.vectors * lanes;
    schedule s(of.product, host);
    s.split(of.n, no, ni, t.block_columns).split(of.k, ko, ki, t.block_depth).split(of.m, mo, mi, t.block_rows);
    s.split(ki, groups, term, Group)
        .split(ni, column_tile, column, width)
        .split(column, vector, lane, lanes)
        .split(mi, row_tile, row, t.rows);
    s.split(groups, steps, step, t.unrolled);
    s.reorder(mo, ko, no, row_tile, column_tile, steps, step, row, vector, lane, term);
    if (!t.columns_inside) s.reorder(column_tile, row_tile);
    s.unroll(step).unroll(row).unroll(vector).vectorize(lane).vectorize(term);
    s.cache_write(of.C, ymm).at(t.columns_inside ? column_tile : row_tile);
    s.compute_at(packed, no).store_in(packed, l2);
    s.layout([width](auto i, auto j) { return index_map(j / width, i / Group, j % width, i % Group); });
    s.stage(packed).split(of.bk, bgroups, bterm, Group).split(of.bn, bvector, blane, lanes);
    s.reorder(bgroups, bvector, bterm, blane).unroll(bterm).vectorize(blane);
    return s;
}

}  // namespace detail

/// The loops of a product of bytes on a core with vector registers.
template <class Left, class Right>
constexpr schedule tiled_gemm(gemm_bytes<Left, Right> const& of, gemm_bytes_tile const& t) {
    using targets::avx2::l2;
    schedule s = detail::tiled_bytes<2>(of, of.wide_B, t);
    s.compute_at(of.wide_A, axis{"ko"}).store_in(of.wide_A, l2).stage(of.wide_A).vectorize(of.ak, 16);
    return s;
}
constexpr schedule tiled_gemm(gemm_reduced_bytes const& of, gemm_bytes_tile const& t) {
    return detail::tiled_bytes<4>(of, of.reduced_B, t);
}

}  // namespace tilewright::kernel
