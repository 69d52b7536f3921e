#pragma once
#include <tilewright/import/standard_schedule.hpp>
#include <utility>

// The standard schedule of sums of products by an instruction. Tiles, the order of loops, where operands are staged and how many versions
// of them there are: all are searched.
namespace tilewright::imported {

namespace detail {

/// A factor of an instruction.
struct instruction_factor {
    operand_constraint where{};
    bool k_is_last = false;  ///< its elements follow each other along k
};
/// An instruction as a product of matrices. Its axes have an extent, or are not there.
struct product_instruction {
    intrinsic_description what{};
    std::optional<std::int64_t> m{}, n{}, k{};
    instruction_factor data{}, weights{};
    operand_constraint sums{};

    /// The same, where what the first factor is for the instruction is the second one for the layer.
    product_instruction exchanged() const {
        product_instruction made = *this;
        std::swap(made.m, made.n);
        std::swap(made.data, made.weights);
        return made;
    }
};
inline std::optional<product_instruction> product_instruction_of(machine const& where, ir::label const& name) {
    int const at = where.intrinsics.find(name);
    if (at < 0) return std::nullopt;
    product_instruction made{.what = where.intrinsics[at]};
    computation_view const nodes = where.view(made.what.semantics);
    layer const as_layer{name, {nodes.nodes, nodes.nodes + nodes.count}, {}};
    auto const does = contraction_of(as_layer, [](ir::label const&) { return false; });
    if (!does || !does->batch.empty() || does->m.size() > 1 || does->n.size() > 1 || does->k.size() > 1 || !does->taps.empty())
        return std::nullopt;
    auto const extent = [](std::vector<contracted_loop> const& of) { return of.empty() ? std::nullopt : std::optional(of[0].extent); };
    made.m = extent(does->m), made.n = extent(does->n), made.k = extent(does->k);
    ir::stage stage;
    read_stage(nodes, 0, stage);
    auto const factor = [&](ir::label const& tensor) {
        instruction_factor one;
        if (int const found = made.what.find(tensor); found >= 0) one.where = made.what.operands[found];
        for (int node = 0; node < stage.store; ++node) {
            if (nodes[node].op != operation::access || nodes[node].name != tensor || nodes[node].argument_count == 0) continue;
            int const axis = does->k.empty() ? -1 : stage.find(does->k[0].name);
            one.k_is_last = axis >= 0 && (moves(nodes, stage, node, axis) >> (nodes[node].argument_count - 1) & 1) != 0;
        }
        return one;
    };
    made.data = factor(does->data), made.weights = factor(does->weights);
    if (int const found = made.what.find(does->sums); found >= 0) made.sums = made.what.operands[found];
    return made;
}

inline ir::label with_ending(ir::label const& name, char const* ending) { return ir::label((name.str() + ending).c_str()); }

/// `reorder` of a list of loops.
template <std::size_t... At>
void reorder(schedule& made, std::vector<ir::label> const& loops, std::index_sequence<At...>) {
    made.reorder(named(loops[0]), named(loops[At + 1])...);
}
inline void reorder(schedule& made, std::vector<ir::label> const& loops) {
    auto const of_size = [&]<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
        if (loops.size() == Count + 1) reorder(made, loops, std::make_index_sequence<Count>());
    };
    [&]<std::size_t... Count>(std::index_sequence<Count...>) { (of_size(std::integral_constant<std::size_t, Count + 1>()), ...); }
    (std::make_index_sequence<2 * ir::stage::most_axes>());
}

/// Where an operand is staged.
enum class staged_at { once, tile, step };
/// What is searched.
struct product_tiles {
    std::int64_t rows = 1, m = 1, n = 1, k = 1;
    bool n_first = false;  ///< the loop over tiles of n stands outside of those of m
    staged_at data = staged_at::tile, weights = staged_at::once;
    std::int64_t versions = 2;
};

/// The loops of a contraction that an instruction's axes cover, and those around them.
struct product_loops {
    std::optional<contracted_loop> rows, m, n, k;
    std::vector<ir::label> outer;   ///< of the result, in its order
    std::vector<ir::label> summed;  ///< that the instruction does not cover
};
inline product_loops loops_of(contraction const& of, product_instruction const& by) {
    product_loops made;
    if (by.m && !of.m.empty()) made.m = of.m.back();
    if (by.n && !of.n.empty()) made.n = of.n.back();
    if (by.k && !of.k.empty()) made.k = of.k.back();
    else if (by.k && !of.taps.empty()) made.k = of.taps.back();
    if (of.m.size() > 1 && made.m) made.rows = of.m[of.m.size() - 2];
    for (contracted_loop const& one : of.all) {
        bool const taken =
            (made.m && one.name == made.m->name) || (made.n && one.name == made.n->name) || (made.rows && one.name == made.rows->name);
        if (!taken) made.outer.push_back(one.name);
    }
    for (auto const* const loops : {&of.taps, &of.k}) {
        for (contracted_loop const& one : *loops) {
            if (!made.k || one.name != made.k->name) made.summed.push_back(one.name);
        }
    }
    return made;
}

/// The schedule with these tiles.
inline schedule schedule_of(placed_layer const& of, contraction const& what, product_instruction const& by, product_loops const& loops,
                            product_tiles const& tiles) {
    machine const& where = *of.where;
    auto const tensor = [](ir::label const& name) { return any_tensor{name, scalar_type::literal}; };
    auto const memory_of = [&](operand_constraint const& operand) { return where.memories[where.memories.find(operand.memory_name)]; };
    schedule made = of.plain();
    std::vector<ir::label> order = loops.outer, inner;
    auto const split = [&](std::optional<contracted_loop> const& loop, std::int64_t factor) {
        if (!loop) return;
        made.split(named(loop->name), named(with_ending(loop->name, "_o")), named(with_ending(loop->name, "_i")), factor);
    };
    split(loops.rows, tiles.rows), split(loops.m, tiles.m), split(loops.n, tiles.n);
    auto const add = [](std::vector<ir::label>& to, std::optional<contracted_loop> const& loop, char const* ending) {
        if (loop) to.push_back(with_ending(loop->name, ending));
    };
    if (tiles.n_first) add(order, loops.n, "_o");
    add(order, loops.rows, "_o"), add(order, loops.m, "_o");
    if (!tiles.n_first) add(order, loops.n, "_o");
    ir::label const tile = order.back();
    ir::label const of_weights = tiles.n_first && loops.n ? with_ending(loops.n->name, "_o") : tile;

    // The loops of the stage that sums.
    std::vector<ir::label> sums;
    ir::label const k = loops.k ? with_ending(loops.k->name, "_i") : ir::label{};
    for (ir::label const& one : loops.summed) sums.push_back(one);
    if (loops.k) sums.push_back(with_ending(loops.k->name, "_o"));
    ir::label const step = sums.empty() ? tile : sums.back();
    auto const loop_in_sums = [&](ir::label const& of_result, char const* ending) {
        return what.finishes() ? what.in_sums(of_result) : with_ending(of_result, ending);
    };
    if (what.finishes()) {
        for (ir::label const& one : loops.outer) sums.push_back(what.in_sums(one));
    }
    if (loops.rows) sums.push_back(loop_in_sums(loops.rows->name, "_i"));
    std::vector<loop_name> covered;
    if (loops.m) covered.push_back(named(loop_in_sums(loops.m->name, "_i")));
    if (loops.n) covered.push_back(named(loop_in_sums(loops.n->name, "_i")));
    if (loops.k) covered.push_back(named(k));
    for (loop_name const& one : covered) sums.push_back(one.name);

    if (what.finishes()) {
        add(order, loops.rows, "_i"), add(order, loops.m, "_i"), add(order, loops.n, "_i");
        reorder(made, order);
        made.compute_at(tensor(what.sums), named(tile)).store_in(tensor(what.sums), memory_of(by.sums));
        made.stage(tensor(what.sums));
        split(loops.k, tiles.k);
        reorder(made, sums);
    } else {
        split(loops.k, tiles.k);
        order.insert(order.end(), sums.begin(), sums.end());
        reorder(made, order);
        made.cache_write(tensor(what.sums), memory_of(by.sums)).at(named(tile));
    }
    auto const stage_in = [&](ir::label const& factor, operand_constraint const& at, staged_at when, ir::label const& tile_loop) {
        made.cache_read(tensor(factor), memory_of(at));
        if (when == staged_at::once) return;
        made.at(named(when == staged_at::tile ? tile_loop : step));
        if (tiles.versions > 1) made.buffers(tiles.versions);
    };
    stage_in(what.data, by.data.where, tiles.data, tile);
    stage_in(what.weights, by.weights.where, tiles.weights, of_weights);
    if (covered.size() == 3) made.tensorize(covered[0], covered[1], covered[2], by.what);
    else if (covered.size() == 2) made.tensorize(covered[0], covered[1], by.what);
    else made.tensorize(covered[0], by.what);
    return made;
}

/// Puts the dimensions of constant weights in the order in which the instruction takes them: taps first.
inline void order_weights(layer_shape& of, contraction const& what, bool k_is_last) {
    if (!of.is_constant(what.weights)) return;
    computation_view const nodes = of.nodes();
    ir::stage stage;
    read_stage(nodes, 0, stage);
    auto const in = [](std::vector<contracted_loop> const& loops, ir::label const& name) {
        return std::any_of(loops.begin(), loops.end(), [&](contracted_loop const& one) { return one.name == name; });
    };
    std::size_t const prefix = what.finishes() ? what.sums.str().size() + 1 : 0;
    for (int node = 0; node < stage.store; ++node) {
        if (nodes[node].op != operation::access || nodes[node].name != what.weights) continue;
        std::vector<std::pair<int, int>> ranked;  // the place of a dimension, and which it is
        for (int dimension = 0; dimension < nodes[node].argument_count; ++dimension) {
            int place = 0;
            for (int axis = 0; axis < stage.axis_count; ++axis) {
                if ((moves(nodes, stage, node, axis) >> dimension & 1) == 0) continue;
                bool const along_n = axis < stage.rank && in(what.n, ir::label(stage.axes[axis].name.str().substr(prefix).c_str()));
                if (along_n) place = k_is_last ? 1 : 2;
                else if (in(what.k, stage.axes[axis].name)) place = k_is_last ? 2 : 1;
            }
            ranked.emplace_back(place, dimension);
        }
        std::stable_sort(ranked.begin(), ranked.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
        std::vector<int> order;
        for (auto const& one : ranked) order.push_back(one.second);
        return of.reorder(what.weights, order);
    }
}

/// Extents of tiles along a loop: multiples of what a call covers, and the whole loop.
inline std::vector<std::int64_t> tiles_along(std::optional<contracted_loop> const& loop, std::int64_t unit) {
    if (!loop) return {1};
    std::vector<std::int64_t> made;
    for (std::int64_t tile = unit; tile < loop->extent && made.size() < 3; tile *= 2) made.push_back(tile);
    made.push_back(loop->extent);
    return made;
}

}  // namespace detail

/// Sums of products by an instruction of the machine, which adds up `m x n` sums of `k` products, or what of them a call covers. Its name
/// is that of the form that continues sums.
inline schedule_template products_by(ir::label const& instruction) {
    return [instruction](placed_layer& of) -> candidates {
        using namespace detail;
        machine const& where = *of.where;
        auto const given = product_instruction_of(where, instruction);
        if (!given) return {{}, "`" + instruction.str() + "` is no instruction of `" + where.name.str() + "` that sums products of two"};
        auto what = of.of.as_contraction();
        if (!what) return {{}, "it is no sum of products"};
        if (what->finishes() && what->starts_from_value) {
            of.of.start_from_zero();
            what = of.of.as_contraction();
        }
        // The factor that has the n of the instruction's second one, or its first one.
        bool const is_constant = of.of.is_constant(what->weights);
        candidates made;
        product_instruction const& by = *given;
        product_loops const loops = loops_of(*what, by);
        if (by.m && !loops.m) return {{}, "no loop of its result moves in `" + what->data.str() + "` alone"};
        if (by.n && !loops.n) return {{}, "no loop of its result moves in `" + what->weights.str() + "` alone"};
        if (by.k && !loops.k) return {{}, "nothing is summed"};
        if (is_constant) {
            order_weights(of.of, *what, by.weights.k_is_last);
            what = of.of.as_contraction();
        }
        auto const capacity = [&](operand_constraint const& at) {
            int const found = where.memories.find(at.memory_name);
            return found < 0 || where.memories[found].capacity == 0 ? highest_of(scalar_type::int64) : where.memories[found].capacity;
        };
        std::int64_t const of_element = bytes_of(what->element), of_sum = bytes_of(what->sum);
        std::int64_t summed = 1;
        for (auto const* const all : {&what->taps, &what->k}) {
            for (contracted_loop const& one : *all) summed *= one.extent;
        }
        bool const has_steps = !loops.summed.empty() || (loops.k && by.k && loops.k->extent > *by.k);
        std::vector<std::int64_t> rows{1};
        if (loops.rows) {
            for (std::int64_t const one : {2, 4, 8}) {
                if (one < loops.rows->extent) rows.push_back(one);
            }
            if (loops.rows->extent > 1) rows.push_back(loops.rows->extent);
        }
        for (std::int64_t const row : rows)
            for (std::int64_t const m : tiles_along(loops.m, by.m.value_or(1)))
                for (std::int64_t const n : tiles_along(loops.n, by.n.value_or(1)))
                    for (bool const n_first : {false, true})
                        for (staged_at const data : {staged_at::once, staged_at::tile})
                            for (staged_at const weights : {staged_at::once, staged_at::tile, staged_at::step})
                                for (std::int64_t const versions : {2, 1}) {
                                    product_tiles tiles{row, m, n, 1, n_first, data, weights, versions};
                                    if (loops.k)
                                        tiles.k =
                                            weights == staged_at::step ? std::min(by.k.value_or(1), loops.k->extent) : loops.k->extent;
                                    if (weights == staged_at::step && !has_steps) continue;
                                    bool const one_tile = (!loops.n || n == loops.n->extent) && (!loops.m || m == loops.m->extent) &&
                                                          (!loops.rows || row == loops.rows->extent);
                                    if (n_first && (!loops.n || n == loops.n->extent)) continue;
                                    if (weights == staged_at::tile && (!loops.n || n == loops.n->extent)) continue;
                                    if (data == staged_at::tile && one_tile) continue;
                                    if (versions > 1 && data == staged_at::once && weights == staged_at::once) continue;
                                    // At least as much as the plan needs.
                                    if (row * m * n * of_sum > capacity(by.sums)) continue;
                                    std::int64_t const weights_tile = n * (weights == staged_at::step ? tiles.k : summed) * of_element;
                                    if (weights_tile * (weights == staged_at::once ? 1 : versions) > capacity(by.weights.where)) continue;
                                    made.all.push_back(schedule_of(of, *what, by, loops, tiles));
                                }
        double const at_once = static_cast<double>(by.m.value_or(1) * by.n.value_or(1) * by.k.value_or(1));
        made.least_cycles = static_cast<double>(what->products()) / at_once * static_cast<double>(by.what.costs.cycles);
        if (made.all.empty()) made.none = "no tile of it fits the memories of `" + instruction.str() + "`";
        return made;
    };
}

}  // namespace tilewright::imported
