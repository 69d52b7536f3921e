#pragma once
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/kernels/tile_list.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/targets/x86_avx2.hpp>

/// Matrix products for one core with AVX2, as schedules parameterised by shape and tile.
namespace tilewright::kernel {

/// How a product is cut up for one core.
struct gemm_tile {
    std::int64_t rows = 6;             ///< of a tile of C in registers
    std::int64_t vectors = 2;          ///< of each of its rows
    std::int64_t block_rows = 96;      ///< of A that are used together
    std::int64_t block_columns = 256;  ///< of B that are packed together
    std::int64_t block_depth = 384;    ///< of the sum that is carried out before C is stored
    bool packs = true;                 ///< B, into panels as wide as a tile; otherwise it is read where it is
    bool columns_inside = true;        ///< tiles follow each other along a row of C; otherwise along a column
    std::int64_t threads = 1;          ///< that share the columns of C, each with a packed block of its own
    std::int64_t unrolled = 4;         ///< steps of the sum that are written out; a block that is not the whole sum holds a multiple
    bool packs_rows = false;           ///< A too, a block at a time: what `unrolled` steps of a tile take of it lies together
    bool rows_outside = false;         ///< a packed block of A stays while all blocks of B, which can be narrow, pass by
    bool runs_ahead = false;           ///< while a packed block of B is used, the caches are asked for the lines of the next one
    bool asks_for_sums = false;        ///< while a tile of C is computed, the caches are asked for the sums of the next one

    friend constexpr bool operator==(gemm_tile const&, gemm_tile const&) = default;
};

namespace detail {

/// Tiles of registers that fill a core: rows, and vectors of each. The likeliest stand first, as many as `likely`. The depths of blocks
/// suit the second-level caches that come with so many registers.
struct register_tiles {
    static constexpr int count = 5;
    int likely;
    std::int64_t rows[count], vectors[count], depths[4];
};
constexpr register_tiles register_tiles_of(targets::vector_core const& on) {
    if (on.registers().registers >= 32) return {3, {12, 8, 6, 10, 5}, {2, 3, 4, 2, 4}, {256, 512, 704, 1024}};
    return {2, {6, 4, 4, 5, 3}, {2, 3, 2, 2, 4}, {256, 512, 1024, 384}};
}

constexpr std::int64_t whole_blocks(std::int64_t extent, std::int64_t of) { return (extent + of - 1) / of * of; }
constexpr std::int64_t equal_part(std::int64_t extent, std::int64_t parts, std::int64_t of) {
    return whole_blocks((extent + parts - 1) / parts, of);
}

/// Steps of a sum that fall into equal blocks of about `wanted` steps; whole groups of written-out steps, if that is possible.
constexpr std::int64_t block_depth_for(std::int64_t depth, std::int64_t wanted) {
    std::int64_t const parts = (2 * depth + wanted) / (2 * wanted) > 1 ? (2 * depth + wanted) / (2 * wanted) : 1;
    for (std::int64_t one : {parts, parts + 1, parts > 1 ? parts - 1 : 1}) {
        if (depth % (8 * one) == 0) return depth / one;
    }
    return parts == 1 ? depth : equal_part(depth, parts, 8);
}
/// Steps that are written out, at most so many: of a sum that is one block, a number that divides it, or a larger one that does; if there
/// is none, four, since a long rest is slow.
constexpr std::int64_t unrolled_for(std::int64_t depth, std::int64_t block, std::int64_t most) {
    if (block < depth) return most;
    for (std::int64_t limit : {most, std::int64_t{8}}) {
        for (std::int64_t one : {8, 4, 6, 5, 7, 3, 2}) {
            if (one <= limit && depth % one == 0) return one;
        }
    }
    return at_most(most, 4);
}

/// Adds the ways to cut up a product for a tile of registers and a depth of blocks: both operands packed; B alone; A alone where few tiles
/// use a value of B; both, and A outside.
/// @param near  bytes that stay near the core: a larger C does not until its next block of the sum
constexpr void add_tiles(tile_list<gemm_tile>& into, gemm_shape const& of, std::int64_t rows, std::int64_t vectors, std::int64_t width,
                         std::int64_t depth, bool several_heights, std::int64_t near) {
    std::int64_t const fitting = 131072 / depth / width * width, columns = fitting > width ? fitting : width;
    std::int64_t const blocks = (of.columns + columns - 1) / columns, block = at_most(equal_part(of.columns, blocks, width), of.columns);
    std::int64_t const unrolled = unrolled_for(of.depth, depth, 8), fewer = unrolled_for(of.depth, depth, 4);
    auto const height = [&](std::int64_t wanted) { return at_most(wanted / rows * rows, of.rows); };
    auto const add = [&, asks = depth < of.depth && of.rows * of.columns * 4 > near](gemm_tile tile) {
        tile.asks_for_sums = asks;
        into.add(tile);
    };
    if (of.rows <= 16 * rows) add({rows, vectors, of.rows, of.columns, depth, false, false, 1, unrolled, true});
    add({rows, vectors, height(96), block, depth, true, true, 1, fewer});
    add({rows, vectors, height(96), block, depth, true, false, 1, unrolled, true});
    std::int64_t const tall = height(depth < 300 ? 480 : 240);
    // A block of B that is not whole takes as long as one: among a few, it makes up for what the caches are asked ahead.
    bool const few_partial = of.columns % width == 0 || of.columns >= 16 * width;
    add({rows, vectors, tall, width, depth, true, false, 1, unrolled, true, true, few_partial});
    if (several_heights) add({rows, vectors, height(192), block, depth, true, false, 1, unrolled, true});
}

}  // namespace detail

/// Tiles that are worth trying for a shape: those of registers that fill them, and blocks whose part of B stays in the second-level cache.
constexpr tile_list<gemm_tile> tiles_for(gemm_shape const& of, int limit = tile_list<gemm_tile>::most,
                                         targets::vector_core const& on = targets::avx2::vectors) {
    tile_list<gemm_tile> found(limit);
    using detail::at_most;
    std::int64_t const lanes = on.lanes_of<float>();
    // One row uses each value of B once: packing it would be twice the work. Few rows of B at a time are read best.
    if (of.rows == 1) {
        for (std::int64_t depth : {4, 8}) {
            for (std::int64_t vectors : {8, 4, 2}) found.add({1, vectors, 1, of.columns, at_most(depth, of.depth), false, true});
        }
        return found;
    }
    bool const small = of.columns * of.depth * 4 <= 16384;
    detail::register_tiles const fitting = detail::register_tiles_of(on);
    for (int first : {0, fitting.likely}) {
        std::int64_t before = 0;
        for (std::int64_t wanted : fitting.depths) {
            std::int64_t const depth = small ? of.depth : detail::block_depth_for(of.depth, wanted);
            // Tiles that are less likely are tried at the first depth.
            if (depth == before || (before > 0 && first > 0)) continue;
            before = depth;
            int const last = first == 0 ? fitting.likely : small ? detail::register_tiles::count : 4;
            for (int which = first; which < last; ++which) {
                std::int64_t const rows = fitting.rows[which], vectors = fitting.vectors[which], width = vectors * lanes;
                if (rows > of.rows) continue;
                // In a packed block, lanes past the last column are computed with the rest; elsewhere they are code of their own.
                if (small)
                    found.add({rows, vectors, of.rows, of.columns, of.depth, of.columns % lanes != 0, which != 2, 1,
                               detail::unrolled_for(of.depth, of.depth, 4)});
                else detail::add_tiles(found, of, rows, vectors, width, depth, first == 0 && wanted == 256, on.blocks().capacity);
            }
            if (small) break;
        }
    }
    // Fewer rows than any of these tiles: all of them.
    if (found.count == 0) {
        for (std::int64_t vectors : {4, 3, 2}) found.add({of.rows, vectors, of.rows, at_most(256, of.columns), at_most(256, of.depth)});
    }
    return found;
}

/// `constexpr auto on_avx2 = tiled_gemm(gemm_of<float, gemm_shape{512, 512, 512}>, {.rows = 6});`: the loops of a product on a core with
/// vector registers: blocks of B, of k and of A outside, tiles of C in registers inside.
template <class Element>
constexpr schedule tiled_gemm(gemm<Element> const& of, gemm_tile const& t, targets::vector_core const& on = targets::avx2::vectors) {
    constexpr axis no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, mo{"mo"}, mi{"mi"}, row_tile{"row_tile"}, row{"row"}, column_tile{"column_tile"},
        column{"column"}, vector{"vector"}, lane{"lane"}, steps{"steps"}, step{"step"}, part{"part"}, columns{"columns"};
    std::int64_t const lanes = on.lanes_of<Element>(), width = t.vectors * lanes;
    schedule s(of.product, on.host());
    if (t.threads > 1) s.split(of.n, part, columns, (of.n.extent + t.threads - 1) / t.threads).parallel(part);
    s.split(t.threads > 1 ? columns : of.n, no, ni, t.block_columns).split(of.k, ko, ki, t.block_depth).split(of.m, mo, mi, t.block_rows);
    s.split(ni, column_tile, column, width).split(column, vector, lane, lanes).split(mi, row_tile, row, t.rows);
    s.split(ki, steps, step, t.unrolled);
    s.reorder(no, ko, mo, row_tile, column_tile, steps, step, row, vector, lane);
    if (!t.columns_inside) s.reorder(column_tile, row_tile);
    if (t.rows_outside) s.reorder(ko, mo, no);
    if (t.threads > 1) t.rows_outside ? s.reorder(part, ko, mo, no) : s.reorder(part, no, ko, mo);
    s.unroll(step).unroll(row).unroll(vector).vectorize(lane);
    if (t.packs) {
        s.cache_read(of.B, on.blocks()).at(t.rows_outside ? no : ko).layout([width](auto i, auto j) {
            return index_map(j / width, i, j % width);
        });
        if (t.runs_ahead) s.prefetch(1, steps);
    }
    if (t.packs_rows)
        s.cache_read(of.A, on.blocks()).at(mo).layout([&t](auto i, auto j) {
            return index_map(i / t.rows, j / t.unrolled, i % t.rows, j % t.unrolled);
        });
    s.cache_write(of.C, on.registers()).at(t.columns_inside ? column_tile : row_tile);
    if (t.asks_for_sums) s.prefetch(1, steps);
    return s;
}

}  // namespace tilewright::kernel
