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
    scalar_type element = scalar_type::literal, sum = scalar_type::literal;
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
    made.element = does->element, made.sum = does->sum;
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

/// Where an operand is staged: once, for a tile of the result, or for each step of the sums.
enum class staged_at { once, tile, step };
/// What is searched.
struct product_tiles {
    std::int64_t rows = 1, m = 1, n = 1, k = 1;
    bool n_first = false;  ///< the loop over tiles of n stands outside of those over m
    staged_at data = staged_at::tile, weights = staged_at::once;
    std::int64_t versions = 2;
};

/// A contraction, its loops that the axes of an instruction cover, and those around them.
struct product_loops {
    contraction of;
    product_instruction by;
    std::optional<contracted_loop> rows{}, m{}, n{}, k{};
    std::vector<ir::label> units{};   ///< of one iteration, for axes that the contraction has no loop for
    std::vector<ir::label> outer{};   ///< of the result, in its order
    std::vector<ir::label> summed{};  ///< that the instruction does not cover

    product_loops(contraction what, product_instruction with) : of(std::move(what)), by(std::move(with)), units(of.unit) {
        auto const last = [](std::vector<contracted_loop> const& loops) {
            return loops.empty() ? std::nullopt : std::optional(loops.back());
        };
        if (by.n) n = last(of.n);
        if (by.k) k = of.k.empty() ? last(of.taps) : last(of.k);
        // Elements that follow each other are taken along k, so m is another dimension.
        for (contracted_loop const& one : of.m) {
            bool const apart = !k || (one.in_data & k->in_data) == 0;
            if (by.m && apart) m = one;
        }
        for (contracted_loop const& one : of.m) {
            if (m && one.name != m->name) rows = one;
        }
        auto const is_one_of = [](contracted_loop const& loop, std::initializer_list<std::optional<contracted_loop> const*> taken) {
            return std::any_of(taken.begin(), taken.end(), [&](auto const* one) { return *one && (*one)->name == loop.name; });
        };
        for (contracted_loop const& one : of.all) {
            if (!is_one_of(one, {&rows, &m, &n})) outer.push_back(one.name);
        }
        for (auto const* const loops : {&of.taps, &of.k}) {
            for (contracted_loop const& one : *loops) {
                if (!is_one_of(one, {&k})) summed.push_back(one.name);
            }
        }
    }
    /// How many axes of the instruction have no loop.
    int missing() const { return (by.m && !m ? 1 : 0) + (by.n && !n ? 1 : 0) + (by.k && !k ? 1 : 0); }
    bool has_steps() const { return !summed.empty() || (k && k->extent > *by.k); }
};

/// The schedule with these tiles.
///
/// @param finish  the instruction that finishes sums; null: the core does
inline schedule schedule_of(placed_layer const& of, product_loops const& loops, product_tiles const& tiles,
                            intrinsic_description const* finish) {
    contraction const& what = loops.of;
    schedule made = of.plain();
    auto const split = [&](std::optional<contracted_loop> const& loop, std::int64_t factor) {
        if (loop) made.split(named(loop->name), named(with_ending(loop->name, "_o")), named(with_ending(loop->name, "_i")), factor);
    };
    auto const add = [](std::vector<ir::label>& to, std::optional<contracted_loop> const& loop, char const* ending) {
        if (loop) to.push_back(with_ending(loop->name, ending));
    };
    split(loops.rows, tiles.rows), split(loops.m, tiles.m), split(loops.n, tiles.n);
    std::vector<ir::label> order = loops.outer;
    if (tiles.n_first) add(order, loops.n, "_o");
    add(order, loops.rows, "_o"), add(order, loops.m, "_o");
    if (!tiles.n_first) add(order, loops.n, "_o");
    ir::label const tile = order.back();
    ir::label const tile_of_weights = tiles.n_first && loops.n ? with_ending(loops.n->name, "_o") : tile;

    // Those of the stage that sums: what is not covered, then what is.
    std::vector<ir::label> sums = loops.summed;
    add(sums, loops.k, "_o");
    ir::label const step = sums.empty() ? tile : sums.back();
    auto const in_sums = [&](contracted_loop const& of_result) {
        return what.finishes() ? what.in_sums(of_result.name) : with_ending(of_result.name, "_i");
    };
    for (ir::label const& one : loops.outer) {
        if (what.finishes()) sums.push_back(what.in_sums(one));
    }
    if (loops.rows) sums.push_back(in_sums(*loops.rows));
    std::vector<ir::label> covered = loops.units;
    if (loops.m) covered.push_back(in_sums(*loops.m));
    if (loops.n) covered.push_back(in_sums(*loops.n));
    add(covered, loops.k, "_i");
    sums.insert(sums.end(), covered.begin(), covered.end());

    if (what.finishes()) {
        add(order, loops.rows, "_i"), add(order, loops.m, "_i"), add(order, loops.n, "_i");
        reorder(made, order);
        if (finish != nullptr && loops.m && loops.n)
            made.tensorize(named(with_ending(loops.m->name, "_i")), named(with_ending(loops.n->name, "_i")), *finish);
        made.compute_at(of.tensor(what.sums), named(tile))
            .store_in(of.tensor(what.sums), of.memory_named(loops.by.sums.memory_name))
            .stage(of.tensor(what.sums));
        split(loops.k, tiles.k);
        reorder(made, sums);
    } else {
        split(loops.k, tiles.k);
        order.insert(order.end(), sums.begin(), sums.end());
        reorder(made, order);
        made.cache_write(of.tensor(what.sums), of.memory_named(loops.by.sums.memory_name)).at(named(tile));
    }
    auto const stage_in = [&](ir::label const& factor, operand_constraint const& at, staged_at when, ir::label const& tile_loop) {
        made.cache_read(of.tensor(factor), of.memory_named(at.memory_name));
        if (when == staged_at::once) return;
        made.at(named(when == staged_at::tile ? tile_loop : step));
        if (tiles.versions > 1) made.buffers(tiles.versions);
    };
    stage_in(what.data, loops.by.data.where, tiles.data, tile);
    stage_in(what.weights, loops.by.weights.where, tiles.weights, tile_of_weights);
    if (covered.size() == 3) made.tensorize(named(covered[0]), named(covered[1]), named(covered[2]), loops.by.what);
    else if (covered.size() == 2) made.tensorize(named(covered[0]), named(covered[1]), loops.by.what);
    else if (covered.size() == 1) made.tensorize(named(covered[0]), loops.by.what);
    return made;
}

/// Puts the dimensions of constant weights in the order in which the instruction takes them: what it does not cover first.
inline void order_weights(layer_shape& of, product_loops const& loops) {
    auto const found = std::find_if(of.nodes().nodes, of.nodes().nodes + of.nodes().count,
                                    [&](ir::node const& one) { return one.op == operation::access && one.name == loops.of.weights; });
    std::vector<std::pair<int, int>> ranked;  // the place of a dimension, and which it is
    for (int dimension = 0; dimension < found->argument_count; ++dimension) {
        auto const moves = [&](contracted_loop const& one) { return (one.in_weights >> dimension & 1) != 0; };
        bool const of_k = (loops.k && moves(*loops.k)) || std::any_of(loops.of.k.begin(), loops.of.k.end(), moves);
        bool const of_n = std::any_of(loops.of.n.begin(), loops.of.n.end(), moves);
        ranked.emplace_back(of_k ? (loops.by.weights.k_is_last ? 2 : 1) : of_n ? (loops.by.weights.k_is_last ? 1 : 2) : 0, dimension);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    std::vector<int> order;
    for (auto const& one : ranked) order.push_back(one.second);
    of.reorder(loops.of.weights, order);
}

/// All tiles that are worth a plan. What the planner would refuse for its size alone is left out: less than the least that it needs.
inline std::vector<product_tiles> tiles_of(machine const& where, product_loops const& loops) {
    auto const along = [](std::optional<contracted_loop> const& loop, std::int64_t unit) {
        std::vector<std::int64_t> made;
        for (std::int64_t tile = unit; loop && tile < loop->extent && made.size() < 4; tile *= 2) made.push_back(tile);
        made.push_back(loop ? loop->extent : 1);
        return made;
    };
    auto const fits = [&](operand_constraint const& at, std::int64_t bytes) {
        int const found = where.memories.find(at.memory_name);
        return found < 0 || where.memories[found].capacity == 0 || bytes <= where.memories[found].capacity;
    };
    std::int64_t const element = bytes_of(loops.of.element), sum = bytes_of(loops.of.sum), summed = loops.of.summed();
    auto const is_whole = [](std::optional<contracted_loop> const& loop, std::int64_t tile) { return !loop || loop->extent == tile; };
    std::vector<product_tiles> made;
    auto const add = [&](product_tiles tiles) {
        bool const whole_n = is_whole(loops.n, tiles.n);
        bool const one_tile = whole_n && is_whole(loops.m, tiles.m) && is_whole(loops.rows, tiles.rows) && loops.outer.empty();
        bool const by_step = tiles.weights == staged_at::step;
        // The same as another one.
        if ((by_step && !loops.has_steps()) || (tiles.n_first && whole_n) || (tiles.weights == staged_at::tile && whole_n)) return;
        if (tiles.data == staged_at::tile && one_tile) return;
        if (tiles.versions > 1 && tiles.data == staged_at::once && tiles.weights == staged_at::once) return;
        if (loops.k) tiles.k = by_step ? std::min(*loops.by.k, loops.k->extent) : loops.k->extent;
        std::int64_t const whole = loops.n ? loops.n->extent : 1;
        std::int64_t const weights = tiles.weights == staged_at::once ? whole * summed
                                     : by_step                        ? tiles.n * tiles.k * tiles.versions
                                                                      : tiles.n * summed * tiles.versions;
        if (fits(loops.by.sums, tiles.rows * tiles.m * tiles.n * sum) && fits(loops.by.weights.where, weights * element))
            made.push_back(tiles);
    };
    for (std::int64_t const rows : along(loops.rows, 1)) {
        for (std::int64_t const m : along(loops.m, loops.by.m.value_or(1))) {
            for (std::int64_t const n : along(loops.n, loops.by.n.value_or(1))) {
                for (staged_at const data : {staged_at::once, staged_at::tile}) {
                    for (staged_at const weights : {staged_at::once, staged_at::tile, staged_at::step}) {
                        for (bool const n_first : {false, true}) {
                            for (std::int64_t const versions : {2, 1}) add({rows, m, n, 1, n_first, data, weights, versions});
                        }
                    }
                }
            }
        }
    }
    return made;
}

}  // namespace detail

/// Sums of products by an instruction of the machine, which adds up `m x n` sums of `k` products, or what of them a call covers. Its name
/// is that of the form that continues sums.
///
/// @param finish  an instruction that computes `rescaled_bytes` of `m x n` sums, for layers that finish so; none: the core does
inline schedule_template products_by(ir::label const& instruction, ir::label const& finish = {}) {
    return [instruction, finish](placed_layer& of) -> candidates {
        using namespace detail;
        machine const& where = *of.where;
        auto const by = product_instruction_of(where, instruction);
        if (!by) return {{}, "`" + instruction.str() + "` is no instruction of `" + where.name.str() + "` that sums products of two"};
        auto what = of.of.as_contraction();
        if (!what) return {{}, "it is no sum of products"};
        if (what->element != by->element || what->sum != by->sum) {
            return {{},
                    std::string("sums of ") + name_of(what->sum) + " of products of " + name_of(what->element) + ", and `" +
                        instruction.str() + "` makes those of " + name_of(by->sum) + " of " + name_of(by->element)};
        }
        if (by->n && what->n.empty() && !what->batch.empty())
            return {{}, "no loop of its result moves its weights alone, as in a depthwise convolution"};
        // What no transfer takes out of the accumulators, the core does, as it does what is computed of sums.
        bool const is_stored = std::any_of(where.transfers.parts.begin(), where.transfers.parts.begin() + where.transfers.size(),
                                           [&](transfer_description const& one) { return one.source == by->sums.memory_name; });
        if (!what->finishes() && (!is_stored || what->starts_from_value)) of.of.keep_sums_apart();
        intrinsic_description const* finishing = nullptr;
        int const finish_at = where.intrinsics.find(finish);
        if (!finish.empty() && finish_at < 0) return {{}, "`" + finish.str() + "` is no instruction of `" + where.name.str() + "`"};
        if (!finish.empty() && !what->m.empty() && !what->n.empty() && of.of.finish_by_tensors()) finishing = &where.intrinsics[finish_at];
        if (finishing == nullptr && what->starts_from_value) of.of.start_from_zero();
        product_loops loops(of.of.as_contraction().value(), *by);
        for (int missing = loops.missing(); missing > 0; --missing) of.of.add_unit_loop();
        loops = product_loops(of.of.as_contraction().value(), *by);
        if (loops.missing() > static_cast<int>(loops.units.size()))
            return {{}, "`" + instruction.str() + "` has an axis that no loop of it fits"};
        if (loops.outer.empty() && !loops.rows && !loops.m && !loops.n) return {{}, "its result is one element"};
        if (of.of.is_constant(loops.of.weights)) {
            order_weights(of.of, loops);
            loops = product_loops(of.of.as_contraction().value(), *by);
        }
        candidates made;
        for (product_tiles const& tiles : tiles_of(where, loops)) made.all.push_back(schedule_of(of, loops, tiles, finishing));
        double const at_once = static_cast<double>(by->m.value_or(1) * by->n.value_or(1) * by->k.value_or(1));
        made.least_cycles = static_cast<double>(loops.of.products()) / at_once * static_cast<double>(by->what.costs.cycles);
        if (made.all.empty()) made.none = "no tile of it fits the memories of `" + instruction.str() + "`";
        return made;
    };
}

}  // namespace tilewright::imported
