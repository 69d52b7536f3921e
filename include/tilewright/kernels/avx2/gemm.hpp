#pragma once
#include <tilewright/kernels/avx2/tile_list.hpp>
#include <tilewright/kernels/gemm.hpp>
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
};

namespace detail {

/// Tiles of registers that fill a core: rows, and vectors of each. The likeliest two stand first.
struct register_tiles {
    static constexpr int count = 5;
    std::int64_t rows[count], vectors[count];
};
constexpr register_tiles register_tiles_of(targets::vector_core const& on) {
    if (on.registers().registers >= 32) return {{12, 8, 14, 6, 9}, {2, 3, 2, 4, 3}};
    return {{6, 4, 4, 5, 3}, {2, 3, 2, 2, 4}};
}

}  // namespace detail

/// Tiles that are worth trying for a shape: those of registers that fill them, and blocks whose part of B stays in the second-level cache.
constexpr tile_list<gemm_tile> tiles_for(gemm_shape const& of, int limit = tile_list<gemm_tile>::most,
                                         targets::vector_core const& on = targets::avx2::vectors) {
    tile_list<gemm_tile> found(limit);
    using detail::at_most;
    std::int64_t const lanes = on.lanes_of<float>();
    // One row uses each value of B once: packing it would be twice the work.
    if (of.rows == 1) {
        for (std::int64_t depth : {8, 4, 16}) {
            for (std::int64_t vectors : {8, 4, 2}) found.add({1, vectors, 1, of.columns, at_most(depth, of.depth), false, true});
        }
        return found;
    }
    bool const small = of.columns * of.depth * 4 <= 16384;
    constexpr int count = detail::register_tiles::count;
    detail::register_tiles const fitting = detail::register_tiles_of(on);
    for (bool likely : {true, false}) {
        for (std::int64_t depth : {256, 576, 384, 1024}) {
            if ((depth > of.depth || small) && depth != 256) continue;
            for (int which = likely ? 0 : 2; which < (likely ? 2 : count); ++which) {
                std::int64_t const rows = fitting.rows[which], vectors = fitting.vectors[which], width = vectors * lanes;
                if (rows > of.rows) continue;
                if (small) {
                    found.add({rows, vectors, of.rows, of.columns, of.depth, false, which != 2});
                    continue;
                }
                std::int64_t const block = at_most(depth, of.depth), columns = at_most(131072 / block / width * width, of.columns);
                if (which == 0) found.add({rows, vectors, at_most(72, of.rows), columns, block, true, false, 1, 8, true});
                found.add({rows, vectors, at_most(96 / rows * rows, of.rows), columns, block, true, true});
                if (columns > 64) found.add({rows, vectors, at_most(96 / rows * rows, of.rows), 64 / width * width, block, true, true});
            }
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
    return s;
}

}  // namespace tilewright::kernel
