#pragma once
#include <tilewright/import/elements_by_instruction.hpp>
#include <tilewright/import/product_loops.hpp>

// The tiles of a sum of products, and the schedule that has them.
namespace tilewright::imported::detail {

/// Where an operand is staged: nowhere, since the instruction reads it where it lies; or once, for a tile of the result, for each column of
/// a window, or for each step of the sums. Weights of a whole block of channels that stay apart are staged once for the block, and not for
/// each tile of it.
enum class staged_at { nowhere, once, tile, column, step };
/// What is searched.
struct product_tiles {
    std::int64_t rows = 1, m = 1, n = 1, k = 1;
    bool n_first = false;  ///< the loop over tiles of n stands outside of those over m
    staged_at data = staged_at::tile, weights = staged_at::once;
    std::int64_t versions = 2;      ///< of operands
    std::int64_t sum_versions = 1;  ///< 2: an instruction finishes the sums of a tile while those of the next are added up
    bool joins_columns = false;     ///< a call sums on from column to column of a window
    /// A call goes on from row to row: the data is staged for one column of a window, without a border.
    bool joins_rows() const { return data == staged_at::column || data == staged_at::step; }
};

inline void add_loop(std::vector<ir::label>& to, std::optional<contracted_loop> const& loop, char const* ending) {
    if (loop) to.push_back(with_ending(loop->name, ending));
}

/// Whether a tile has all of a loop.
inline bool is_whole(std::optional<contracted_loop> const& loop, std::int64_t tile) { return !loop || loop->extent == tile; }

/// The loops around a tile. Blocks of columns go round as tiles of n do.
inline std::vector<ir::label> loops_around(product_loops const& loops, product_tiles const& tiles) {
    std::vector<ir::label> order, columns;
    for (ir::label const& one : loops.outer) {
        auto const is_it = [&](contracted_loop const& of_n) { return of_n.name == one; };
        (std::any_of(loops.of.n.begin(), loops.of.n.end(), is_it) ? columns : order).push_back(one);
    }
    add_loop(columns, loops.n, "_o");
    if (tiles.n_first) order.insert(order.end(), columns.begin(), columns.end());
    add_loop(order, loops.rows, "_o"), add_loop(order, loops.m, "_o");
    if (!tiles.n_first) order.insert(order.end(), columns.begin(), columns.end());
    return order;
}

/// The loops of the stage that sums.
struct summing_loops {
    std::vector<ir::label> order, covered;  ///< all of them; those that the instruction covers, which are the last
    ir::label step;                         ///< the loop of which an iteration is one step of the sums
    ir::label column;                       ///< the loop over columns of a window, where the data is staged for each
    ir::label all_rows, all_columns;        ///< fused loops, where calls go on from row to row or from column to column; else empty
};
/// @param tile  the innermost loop around a tile
inline summing_loops summing_loops_of(product_loops const& loops, product_tiles const& tiles, ir::label const& tile) {
    contraction const& what = loops.of;
    auto const in_sums = [&](contracted_loop const& of_result) {
        return what.finishes() ? what.in_sums(of_result.name) : with_ending(of_result.name, "_i");
    };
    summing_loops made;
    made.order = loops.summed, made.covered = loops.units;
    if (tiles.data == staged_at::column) {  // outside of the rows of the window, and inside of the channels
        made.column = loops.columns_of_window();
        std::stable_partition(made.order.begin(), made.order.end(), [&](ir::label const& one) { return one == made.column; });
        if (loops.k) made.order.insert(made.order.begin(), with_ending(loops.k->name, "_o"));
    } else if (tiles.joins_columns) {
        made.all_columns = with_ending(loops.k->name, "_columns"), made.order.pop_back();
    } else {
        add_loop(made.order, loops.k, "_o");
    }
    made.step = made.order.empty() ? tile : made.order.back();
    for (ir::label const& one : loops.outer) {
        if (what.finishes()) made.order.push_back(what.in_sums(one));
    }
    if (tiles.joins_rows()) {
        made.all_rows = with_ending(in_sums(*loops.rows), "_rows");
        made.covered.push_back(made.all_rows);
    } else {
        if (loops.rows) (loops.by.rows ? made.covered : made.order).push_back(in_sums(*loops.rows));
        if (loops.m) made.covered.push_back(in_sums(*loops.m));
    }
    if (loops.n) made.covered.push_back(in_sums(*loops.n));
    if (loops.batch) made.covered.push_back(what.finishes() ? what.in_sums(loops.batch->name) : loops.batch->name);
    made.covered.insert(made.covered.end(), loops.taps.begin(), loops.taps.end());
    if (tiles.joins_columns) made.covered.push_back(made.all_columns);
    else add_loop(made.covered, loops.k, "_i");
    made.order.insert(made.order.end(), made.covered.begin(), made.covered.end());
    return made;
}

/// What follows the sums of a tile.
struct after_sums {
    intrinsic_description const* finish = nullptr;  ///< the instruction that finishes them; null: the core does
    intrinsic_description const* add = nullptr;     ///< likewise, that adds other bytes to what it makes; null: nothing is added
    ir::label bytes_in{}, other{}, other_in{};      ///< where it takes what is finished; what it adds to it, and where it takes that
    ir::label written_to{};                         ///< the memory of what is last of these
};

/// Bytes that sums become, and what is added to them: for each tile, by an instruction each.
///
/// @param tile   the loop around a tile
inline void add_bytes(schedule& made, placed_layer const& of, product_loops const& loops, product_tiles const& tiles,
                      after_sums const& after, ir::label const& tile) {
    contraction const& what = loops.of;
    std::vector<ir::label> order;
    for (ir::label const& one : loops.outer) order.push_back(what.in_finished(one));
    for (auto const* const one : {&loops.rows, &loops.m, &loops.n, &loops.batch}) {
        if (*one) order.push_back(what.in_finished((*one)->name));
    }
    made.compute_at(of.tensor(what.finished), named(tile)).store_in(of.tensor(what.finished), of.memory_named(after.bytes_in));
    made.stage(of.tensor(what.finished));
    reorder(made, order);
    made.tensorize(named(order[order.size() - 2]), named(order.back()), *after.finish);
    if (of.may_lie_in(after.other, after.other_in)) {
        made.reads(of.tensor(after.other), of.memory_named(after.other_in));
        return;
    }
    made.cache_read(of.tensor(after.other), of.memory_named(after.other_in)).at(named(tile));
    if (tiles.versions > 1) made.buffers(tiles.versions);
}

/// The schedule with these tiles.
inline schedule schedule_of(placed_layer const& of, product_loops const& loops, product_tiles const& tiles, after_sums const& after) {
    contraction const& what = loops.of;
    schedule made = of.plain();
    auto const split = [&](std::optional<contracted_loop> const& loop, std::int64_t factor) {
        if (loop) made.split(named(loop->name), named(with_ending(loop->name, "_o")), named(with_ending(loop->name, "_i")), factor);
    };
    split(loops.rows, tiles.rows), split(loops.m, tiles.m), split(loops.n, tiles.n);
    std::vector<ir::label> order = loops_around(loops, tiles);
    ir::label const tile = order.back();
    ir::label const tile_of_weights = is_whole(loops.n, tiles.n) ? loops.block() : tiles.n_first ? with_ending(loops.n->name, "_o") : tile;

    summing_loops const sums = summing_loops_of(loops, tiles, tile);
    auto const split_sums = [&] {
        if (tiles.joins_columns) made.fuse(named(loops.summed.back()), named(loops.k->name), named(sums.all_columns));
        else split(loops.k, tiles.k);
    };
    if (what.finishes()) {
        bool const in_order = after.finish != nullptr && after.add == nullptr;
        std::vector<ir::label> tile_loops = tile_loops_of(loops, in_order);
        if (in_order && !what.unit_of_result.empty()) tile_loops.insert(tile_loops.begin(), what.unit_of_result);
        order.insert(order.end(), tile_loops.begin(), tile_loops.end());
        reorder(made, order);
        if (after.add != nullptr) made.tensorize(named(order.back()), *after.add);
        else if (after.finish != nullptr) made.tensorize(named(order[order.size() - 2]), named(order.back()), *after.finish);
        if (!after.written_to.empty()) made.writes(of.tensor(what.result), of.memory_named(after.written_to));
        if (after.add != nullptr) add_bytes(made, of, loops, tiles, after, tile);
        made.compute_at(of.tensor(what.sums), named(tile)).store_in(of.tensor(what.sums), of.memory_named(loops.by.sums.memory_name));
        if (tiles.sum_versions > 1) made.buffers(tiles.sum_versions);
        made.stage(of.tensor(what.sums));
        if (tiles.joins_rows()) made.fuse(named(what.in_sums(loops.rows->name)), named(what.in_sums(loops.m->name)), named(sums.all_rows));
        split_sums();
        reorder(made, sums.order);
    } else {
        split_sums();
        order.insert(order.end(), sums.order.begin(), sums.order.end());
        reorder(made, order);
        made.cache_write(of.tensor(what.sums), of.memory_named(loops.by.sums.memory_name)).at(named(tile));
    }
    auto const stage_in = [&](ir::label const& factor, operand_constraint const& at, staged_at when, ir::label const& tile_loop) {
        if (when == staged_at::nowhere) {
            made.reads(of.tensor(factor), of.memory_named(at.memory_name));
            return;
        }
        made.cache_read(of.tensor(factor), of.memory_named(at.memory_name));
        if (when == staged_at::once) return;
        made.at(named(when == staged_at::tile ? tile_loop : when == staged_at::column ? sums.column : sums.step));
        if (tiles.versions > 1) made.buffers(tiles.versions);
    };
    stage_in(what.data, loops.by.data.where, tiles.data, tile);
    stage_in(what.weights, loops.by.weights.where, tiles.weights, tile_of_weights);
    tensorize(made, sums.covered, loops.by.what);
    return made;
}

}  // namespace tilewright::imported::detail
