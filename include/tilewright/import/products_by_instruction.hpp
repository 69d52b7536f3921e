#pragma once
#include <tilewright/import/standard_schedule.hpp>
#include <tilewright/machine/clock.hpp>
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
/// An instruction that sums products. Its axes have an extent, or are not there.
struct product_instruction {
    intrinsic_description what{};
    std::optional<std::int64_t> rows{}, m{}, n{}, k{}, batch{};
    std::size_t taps = 0;  ///< axes of a window
    instruction_factor data{}, weights{};
    operand_constraint sums{};
    scalar_type element = scalar_type::literal, sum = scalar_type::literal;
    double cycles_for_each = 0;  ///< product, in a call that covers as much as it can
};
inline std::optional<product_instruction> product_instruction_of(machine const& where, ir::label const& name) {
    int const at = where.intrinsics.find(name);
    if (at < 0) return std::nullopt;
    product_instruction made{.what = where.intrinsics[at]};
    computation_view const nodes = where.view(made.what.semantics);
    layer const as_layer{name, {nodes.nodes, nodes.nodes + nodes.count}, {}};
    auto const does = contraction_of(as_layer, [](ir::label const&) { return false; });
    if (!does || does->batch.size() > 1 || does->m.size() > 2 || does->n.size() > 1 || does->k.size() > 1) return std::nullopt;
    auto const last = [](std::vector<contracted_loop> const& of) { return of.empty() ? std::nullopt : std::optional(of.back().extent); };
    made.element = does->element, made.sum = does->sum;
    made.m = last(does->m), made.n = last(does->n), made.k = last(does->k), made.batch = last(does->batch);
    if (does->m.size() == 2) made.rows = does->m[0].extent;
    made.taps = does->taps.size();
    // Channels that stay apart are not summed: what is summed are taps, though the instruction may make one row of sums alone.
    if (made.batch && made.k) ++made.taps, made.k.reset();
    ir::stage stage;
    read_stage(nodes, 0, stage);
    fixed_array<std::int64_t, ir::stage::most_axes> extents{};
    double products = 1;
    for (int axis = 0; axis < stage.axis_count; ++axis) products *= static_cast<double>(extents[axis] = stage.axes[axis].extent);
    made.cycles_for_each = static_cast<double>(time_of(made.what.costs, extents).busy) / products;
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

/// `tensorize` of a list of loops.
inline void tensorize(schedule& made, std::vector<ir::label> const& loops, intrinsic_description const& by) {
    auto const by_all = [&]<std::size_t... At>(std::index_sequence<At...>) { made.tensorize(named(loops[At])..., by); };
    auto const of_size = [&]<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
        if (loops.size() == Count) by_all(std::make_index_sequence<Count>());
    };
    [&]<std::size_t... Count>(std::index_sequence<Count...>) { (of_size(std::integral_constant<std::size_t, Count + 1>()), ...); }
    (std::make_index_sequence<ir::stage::most_axes>());
}

/// Where an operand is staged: nowhere, since the instruction reads it where it lies; or once, for a tile of the result, or for each step
/// of the sums.
enum class staged_at { nowhere, once, tile, step };
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
    std::optional<contracted_loop> rows{}, m{}, n{}, k{}, batch{};
    std::vector<ir::label> taps{};    ///< that the instruction covers
    std::vector<ir::label> units{};   ///< of one iteration, for axes that the contraction has no loop for
    std::vector<ir::label> outer{};   ///< of the result, in its order
    std::vector<ir::label> summed{};  ///< that the instruction does not cover

    product_loops(contraction what, product_instruction with) : of(std::move(what)), by(std::move(with)), units(of.unit) {
        auto const last = [](std::vector<contracted_loop> const& loops) {
            return loops.empty() ? std::nullopt : std::optional(loops.back());
        };
        if (by.n) n = last(of.n);
        if (by.batch) batch = last(of.batch);
        for (std::size_t at = of.taps.size() - std::min(by.taps, of.taps.size()); at < of.taps.size(); ++at)
            taps.push_back(of.taps[at].name);
        if (by.k) k = of.k.empty() && by.taps == 0 ? last(of.taps) : last(of.k);
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
            if (!is_one_of(one, {&rows, &m, &n, &batch})) outer.push_back(one.name);
        }
        for (auto const* const loops : {&of.taps, &of.k}) {
            for (contracted_loop const& one : *loops) {
                if (!is_one_of(one, {&k}) && std::find(taps.begin(), taps.end(), one.name) == taps.end()) summed.push_back(one.name);
            }
        }
    }
    /// Whether it has a loop for each axis for which no loop of one iteration can be added: see `missing`.
    bool fits() const { return (!by.rows || rows) && (!by.batch || batch) && taps.size() == by.taps && (!by.k || k); }
    /// How many other axes of the instruction have no loop.
    int missing() const { return (by.m && !m ? 1 : 0) + (by.n && !n ? 1 : 0); }
    bool has_steps() const { return !summed.empty() || (k && k->extent > *by.k); }
};

/// The loops of a tile, in the order of the result's dimensions, so that neighbours are computed one after the other.
///
/// @param for_instruction  in the order of its axes instead
inline std::vector<ir::label> tile_loops_of(product_loops const& loops, bool for_instruction) {
    std::vector<contracted_loop> all;
    for (auto const* const one : {&loops.rows, &loops.m, &loops.n, &loops.batch}) {
        if (*one) all.push_back(**one);
    }
    auto const place = [&](contracted_loop const& loop) {
        auto const& result = loops.of.all;
        return std::find_if(result.begin(), result.end(), [&](contracted_loop const& one) { return one.name == loop.name; }) -
               result.begin();
    };
    if (!for_instruction) std::sort(all.begin(), all.end(), [&](auto const& a, auto const& b) { return place(a) < place(b); });
    std::vector<ir::label> made;
    for (contracted_loop const& one : all) {
        bool const is_whole = loops.batch && one.name == loops.batch->name;
        made.push_back(is_whole ? one.name : with_ending(one.name, "_i"));
    }
    return made;
}

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
    std::vector<ir::label> covered = loops.units;
    if (loops.rows) (loops.by.rows ? covered : sums).push_back(in_sums(*loops.rows));
    if (loops.m) covered.push_back(in_sums(*loops.m));
    if (loops.n) covered.push_back(in_sums(*loops.n));
    if (loops.batch) covered.push_back(what.finishes() ? what.in_sums(loops.batch->name) : loops.batch->name);
    covered.insert(covered.end(), loops.taps.begin(), loops.taps.end());
    add(covered, loops.k, "_i");
    sums.insert(sums.end(), covered.begin(), covered.end());

    if (what.finishes()) {
        std::vector<ir::label> const tile_loops = tile_loops_of(loops, finish != nullptr);
        order.insert(order.end(), tile_loops.begin(), tile_loops.end());
        reorder(made, order);
        if (finish != nullptr) {
            made.tensorize(named(order[order.size() - 2]), named(order.back()), *finish);
            for (int at = 0; at < finish->operand_count; ++at) {
                operand_constraint const& one = finish->operands[at];
                if (one.is == ir::direction::writes) made.writes(of.tensor(what.result), of.memory_named(one.memory_name));
            }
        }
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
        if (when == staged_at::nowhere) {
            made.reads(of.tensor(factor), of.memory_named(at.memory_name));
            return;
        }
        made.cache_read(of.tensor(factor), of.memory_named(at.memory_name));
        if (when == staged_at::once) return;
        made.at(named(when == staged_at::tile ? tile_loop : step));
        if (tiles.versions > 1) made.buffers(tiles.versions);
    };
    stage_in(what.data, loops.by.data.where, tiles.data, tile);
    stage_in(what.weights, loops.by.weights.where, tiles.weights, tile_of_weights);
    tensorize(made, covered, loops.by.what);
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
        bool const of_n = std::any_of(loops.of.n.begin(), loops.of.n.end(), moves) || (loops.batch && moves(*loops.batch));
        ranked.emplace_back(of_k ? (loops.by.weights.k_is_last ? 2 : 1) : of_n ? (loops.by.weights.k_is_last ? 1 : 2) : 0, dimension);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    std::vector<int> order;
    for (auto const& one : ranked) order.push_back(one.second);
    of.reorder(loops.of.weights, order);
}

/// All tiles that are worth a plan. What the planner would refuse for its size alone is left out: less than the least that it needs.
inline std::vector<product_tiles> tiles_of(placed_layer const& of, product_loops const& loops, std::int64_t most_sums) {
    machine const& where = *of.where;
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
        if ((by_step && !loops.has_steps()) || (tiles.n_first && (whole_n || tiles.weights == staged_at::nowhere)) ||
            (tiles.weights == staged_at::tile && whole_n))
            return;
        if (tiles.data == staged_at::tile && one_tile) return;
        auto const has_versions = [](staged_at when) { return when == staged_at::tile || when == staged_at::step; };
        if (tiles.versions > 1 && !has_versions(tiles.data) && !has_versions(tiles.weights)) return;
        if (loops.k) tiles.k = by_step ? std::min(*loops.by.k, loops.k->extent) : loops.k->extent;
        std::int64_t const whole = loops.n ? loops.n->extent : 1;
        std::int64_t const weights = tiles.weights == staged_at::nowhere ? 0
                                     : tiles.weights == staged_at::once  ? whole * summed
                                     : by_step                           ? tiles.n * tiles.k * tiles.versions
                                                                         : tiles.n * summed * tiles.versions;
        std::int64_t const sums = tiles.rows * tiles.m * tiles.n * sum;
        bool const is_least = tiles.rows == 1 && tiles.m <= loops.by.m.value_or(1) && tiles.n <= loops.by.n.value_or(1);
        if ((most_sums == 0 || sums <= most_sums || is_least) && fits(loops.by.sums, sums) &&
            fits(loops.by.weights.where, weights * element))
            made.push_back(tiles);
    };
    // Constants have no border, so they are read where they lie whenever they can be.
    std::vector<staged_at> data_at = {staged_at::once, staged_at::tile}, weights_at = {staged_at::nowhere};
    bool const weights_lie_there = of.may_lie_in(loops.of.weights, loops.by.weights.where.memory_name);
    // Where each iteration around the tiles has data of its own, as in a depthwise convolution, caches would have lost a large copy of all
    // of it when it is used.
    std::int64_t results = sum;
    for (contracted_loop const& one : loops.of.all) results *= one.extent;
    if (most_sums > 0 && results > most_sums && !loops.n && !loops.outer.empty()) data_at = {staged_at::tile};
    if (of.may_lie_in(loops.of.data, loops.by.data.where.memory_name)) data_at.insert(data_at.begin(), staged_at::nowhere);
    if (!weights_lie_there) weights_at.clear();
    if (!weights_lie_there || !of.of.is_constant(loops.of.weights))
        weights_at.insert(weights_at.end(), {staged_at::once, staged_at::tile, staged_at::step});
    for (std::int64_t const rows : along(loops.rows, 1)) {
        for (std::int64_t const m : along(loops.m, loops.by.m.value_or(1))) {
            for (std::int64_t const n : along(loops.n, loops.by.n.value_or(1))) {
                for (staged_at const data : data_at) {
                    for (staged_at const weights : weights_at) {
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
/// @param most_sums  bytes of sums of a tile, where the machine has caches that they should stay in; 0: as many as fit their memory
inline schedule_template products_by(ir::label const& instruction, ir::label const& finish = {}, std::int64_t most_sums = 0) {
    return [instruction, finish, most_sums](placed_layer& of) -> candidates {
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
        if (!product_loops(*what, *by).fits()) return {{}, "`" + instruction.str() + "` has an axis that no loop of it fits"};
        if (by->m && !by->rows && of.of.join_loops()) what = of.of.as_contraction();
        // What no transfer takes out of the accumulators, the core does, as it does what is computed of sums.
        bool const is_stored = std::any_of(where.transfers.parts.begin(), where.transfers.parts.begin() + where.transfers.size(),
                                           [&](transfer_description const& one) { return one.source == by->sums.memory_name; });
        if (!what->finishes() && (!is_stored || what->starts_from_value)) of.of.keep_sums_apart();
        intrinsic_description const* finishing = nullptr;
        int const finish_at = where.intrinsics.find(finish);
        if (!finish.empty() && finish_at < 0) return {{}, "`" + finish.str() + "` is no instruction of `" + where.name.str() + "`"};
        if (!finish.empty() && !what->m.empty() && !(what->n.empty() && !by->batch) && of.of.finish_by_tensors())
            finishing = &where.intrinsics[finish_at];
        if (finishing == nullptr && what->starts_from_value) of.of.start_from_zero();
        product_loops loops(of.of.as_contraction().value(), *by);
        for (int missing = loops.missing(); missing > 0; --missing) of.of.add_unit_loop();
        loops = product_loops(of.of.as_contraction().value(), *by);
        if (loops.missing() > static_cast<int>(loops.units.size()))
            return {{}, "`" + instruction.str() + "` has an axis that no loop of it fits"};
        if (loops.outer.empty() && !loops.rows && !loops.m && !loops.n && !loops.batch) return {{}, "its result is one element"};
        if (of.of.is_constant(loops.of.weights)) {
            order_weights(of.of, loops);
            loops = product_loops(of.of.as_contraction().value(), *by);
        }
        candidates made;
        for (product_tiles const& tiles : tiles_of(of, loops, most_sums)) made.all.push_back(schedule_of(of, loops, tiles, finishing));
        made.least_cycles = static_cast<double>(loops.of.products()) * by->cycles_for_each;
        if (made.all.empty()) made.none = "no tile of it fits the memories of `" + instruction.str() + "`";
        return made;
    };
}

}  // namespace tilewright::imported
