#pragma once
#include <tilewright/kernels/avx2/gemm.hpp>

/// Products of bytes with exact sums of 32 bits: C(m, n) = sum over k of A(m, k) * B(k, n).
namespace tilewright::kernel {

/// How a product of bytes is cut up for one core. Both operands are copied in blocks, with zeros that make every sum one of whole groups of
/// terms.
struct gemm_bytes_tile {
    std::int64_t rows = 6;            ///< of a tile of C in registers
    std::int64_t vectors = 2;         ///< of each of its rows
    std::int64_t block_rows = 240;    ///< of A that are copied together
    std::int64_t block_columns = 64;  ///< of B that are packed together
    std::int64_t block_depth = 512;   ///< of the sum that is carried out before C is stored: a multiple of what is written out
    bool columns_inside = false;      ///< tiles follow each other along a row of C; otherwise along a column
    std::int64_t unrolled = 2;        ///< groups of terms that are written out

    friend constexpr bool operator==(gemm_bytes_tile const&, gemm_bytes_tile const&) = default;
};

/// Tiles that are worth trying for a shape. @param terms  of the sum that a lane adds up at once: 2 where both operands are widened, 4
/// where the right one has 7 bits
constexpr tile_list<gemm_bytes_tile> bytes_tiles_for(gemm_shape const& of, std::int64_t terms,
                                                     int limit = tile_list<gemm_bytes_tile>::most) {
    tile_list<gemm_bytes_tile> found(limit);
    using detail::at_most;
    std::int64_t const rows_in_registers = terms == 2 ? 6 : 4;  // with two vectors each, the most that fit
    auto const parts_of = [](std::int64_t extent, std::int64_t wanted) {
        return extent > wanted ? (2 * extent + wanted) / (2 * wanted) : 1;
    };
    for (std::int64_t depth : {terms == 2 ? 512 : 1024, terms == 2 ? 1024 : 512, 256}) {
        std::int64_t const whole = detail::equal_part(of.depth, parts_of(of.depth, depth), 8);
        for (std::int64_t columns : {64, 128, 256}) {
            if (columns > of.columns && columns != 64) continue;
            for (std::int64_t rows : {rows_in_registers, rows_in_registers - 1}) {
                if (of.rows == 1 && rows != rows_in_registers) continue;
                std::int64_t const tile = at_most(rows, of.rows);
                for (std::int64_t height : {256, 512}) {
                    std::int64_t const block = detail::equal_part(of.rows, parts_of(of.rows, height), tile);
                    // Both blocks in the memory of copies, each term in as many bytes as a lane leaves for it.
                    if ((block + columns) * whole * 4 / terms > targets::avx2::l2.capacity) continue;
                    found.add({tile, of.rows == 1 ? 4 : 2, block, columns, whole});
                }
            }
        }
    }
    return found;
}

namespace detail {

/// The axes and tensors of a product of bytes, whose sums are of whole pairs.
template <class Left, class Right>
struct bytes_to_multiply {
    axis m, n, k;
    axis left_k, right_k;  ///< of the operands as they are
    axis am, ak, bk, bn;   ///< of the widened ones
    tensor<Left> A{"A"};
    tensor<Right> B{"B"};
    tensor<std::int16_t> wide_A{"wide_A"}, wide_B{"wide_B"};
    tensor<std::int32_t> C{"C"};

    constexpr auto computation() const {
        return stages(wide_A(am, ak) = cast<std::int16_t>(padded(A(am, left_k), 0)(am, ak)),
                      wide_B(bk, bn) = cast<std::int16_t>(padded(B(right_k, bn), 0)(bk, bn)),
                      C(m, n) += cast<std::int32_t>(wide_A(m, k)) * cast<std::int32_t>(wide_B(k, n)));
    }
};

/// Likewise, with a right operand of 7 bits, and sums of whole fours.
struct reduced_bytes_to_multiply {
    axis m, n, k;
    axis left_k, right_k;
    axis am, ak, bk, bn;  ///< of the copied operands
    tensor<std::uint8_t> A{"A"}, whole_A{"whole_A"};
    tensor<std::int8_t> B{"B"}, reduced_B{"reduced_B"};
    tensor<std::int32_t> C{"C"};

    constexpr auto computation() const {
        constexpr auto furthest = targets::avx2::furthest_reduced;
        return stages(reduced_B(bk, bn) = clamp(padded(B(right_k, bn), 0)(bk, bn), -furthest, furthest),
                      whole_A(am, ak) = padded(A(am, left_k), 0)(am, ak),
                      C(m, n) += cast<std::int32_t>(whole_A(m, k)) * cast<std::int32_t>(reduced_B(k, n)));
    }
};

/// Operands, with their axes for a shape and groups of so many terms.
template <class Operands>
constexpr Operands operands_of(gemm_shape const& of, std::int64_t terms) {
    std::int64_t const whole = (of.depth + terms - 1) / terms * terms;
    return {.m{"m", of.rows},
            .n{"n", of.columns},
            .k{"k", whole},
            .left_k{"left_k", of.depth},
            .right_k{"right_k", of.depth},
            .am{"am", of.rows},
            .ak{"ak", whole},
            .bk{"bk", whole},
            .bn{"bn", of.columns}};
}

}  // namespace detail

/// A product of bytes: A and B are read as they are, C is written. Both are widened to 16 bits: a multiply-add of pairs then cannot
/// saturate.
template <class Left, class Right>
struct gemm_bytes : detail::bytes_to_multiply<Left, Right> {
    using operands = detail::bytes_to_multiply<Left, Right>;
    decltype(operands{}.computation()) product;

    constexpr explicit gemm_bytes(gemm_shape const& of)
        : operands(detail::operands_of<operands>(of, 2)), product(operands::computation()) {}
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
        : operands(detail::operands_of<operands>(of, 4)), product(operands::computation()) {}
};
template <gemm_shape Shape>
inline constexpr gemm_reduced_bytes gemm_reduced_bytes_of{Shape};

namespace detail {

/// The loops of a product of bytes: `Group` values of k lie beside each other in the packed operand, and are added up in a lane.
template <int Group>
constexpr schedule tiled_bytes(auto const& of, any_tensor const& copied, any_tensor const& packed, gemm_bytes_tile const& t) {
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
    s.compute_at(copied, ko).store_in(copied, l2).stage(copied).vectorize(of.ak, 8 * Group);
    return s;
}

}  // namespace detail

/// The loops of a product of bytes on a core with vector registers.
template <class Left, class Right>
constexpr schedule tiled_gemm(gemm_bytes<Left, Right> const& of, gemm_bytes_tile const& t) {
    return detail::tiled_bytes<2>(of, of.wide_A, of.wide_B, t);
}
constexpr schedule tiled_gemm(gemm_reduced_bytes const& of, gemm_bytes_tile const& t) {
    return detail::tiled_bytes<4>(of, of.whole_A, of.reduced_B, t);
}

}  // namespace tilewright::kernel
