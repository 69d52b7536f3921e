#pragma once
#include <tilewright/import/finishes.hpp>
#include <tilewright/import/product_tiles.hpp>

// The standard schedule of sums of products by an instruction. Tiles, the order of loops, where operands are staged and how many versions
// of them there are: all are searched.
namespace tilewright::imported {

namespace detail {

/// Puts the dimensions of constant weights in the order in which the instruction takes them: what it does not cover first. Of
/// channels that stay apart, all weights of a block follow each other.
inline void order_weights(layer_shape& of, product_loops const& loops) {
    auto const found = std::find_if(of.nodes().nodes, of.nodes().nodes + of.nodes().count,
                                    [&](ir::node const& one) { return one.op == operation::access && one.name == loops.of.weights; });
    std::vector<std::pair<int, int>> ranked;  // the place of a dimension, and which it is
    for (int dimension = 0; dimension < found->argument_count; ++dimension) {
        auto const moves = [&](contracted_loop const& one) { return (one.in_weights >> dimension & 1) != 0; };
        bool const of_k = loops.k && moves(*loops.k);
        bool const of_n = (loops.n && moves(*loops.n)) || (loops.batch && moves(*loops.batch));
        bool const of_taps = !loops.of.batch.empty() && std::any_of(loops.of.taps.begin(), loops.of.taps.end(), moves);
        int const others = of_taps ? 1 : 0;
        ranked.emplace_back(of_k ? (loops.by.weights.k_is_last ? 3 : 2) : of_n ? (loops.by.weights.k_is_last ? 2 : 3) : others, dimension);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    std::vector<int> order;
    for (auto const& one : ranked) order.push_back(one.second);
    of.reorder(loops.of.weights, order);
}

/// Whether an instruction finishes sums beside the core and beside the array, so that the next can be added up meanwhile.
inline bool finishes_aside(product_loops const& loops, intrinsic_description const* finish) {
    return finish != nullptr && finish->is_asynchronous && finish->engine_name != loops.by.what.engine_name;
}

/// Where the data may be staged.
inline std::vector<staged_at> places_of_data(placed_layer const& of, product_loops const& loops, std::int64_t most_sums) {
    std::vector<staged_at> made = {staged_at::once, staged_at::tile};
    // Where each element of the data has few products, as in a depthwise convolution, caches would have lost a large copy of all of it when
    // it is used.
    std::int64_t results = bytes_of(loops.of.sum);
    for (contracted_loop const& one : loops.of.all) results *= one.extent;
    if (most_sums > 0 && results > most_sums && loops.of.n.empty()) made = {staged_at::tile};
    if (of.may_lie_in(loops.of.data, loops.by.data.where.memory_name)) {
        made.insert(made.begin(), staged_at::nowhere);
    } else if (loops.has_short_rows(of.of.nodes()) && loops.has_steps()) {
        made.push_back(staged_at::step);
        if (!loops.columns_of_window().empty()) made.push_back(staged_at::column);
    }
    return made;
}
/// Where the weights may be staged. Constants have no border, so they are read where they lie whenever they can be.
inline std::vector<staged_at> places_of_weights(placed_layer const& of, product_loops const& loops) {
    std::vector<staged_at> made;
    bool const lie_there = of.may_lie_in(loops.of.weights, loops.by.weights.where.memory_name);
    if (lie_there) made.push_back(staged_at::nowhere);
    if (!lie_there || !of.of.is_constant(loops.of.weights))
        made.insert(made.end(), {staged_at::once, staged_at::tile, staged_at::column, staged_at::step});
    return made;
}

/// All tiles that are worth a plan. What the planner would refuse for its size alone is left out: less than the least that it needs.
///
/// @param aside  sums are finished beside the core
inline std::vector<product_tiles> tiles_of(placed_layer const& of, product_loops const& loops, std::int64_t most_sums, bool aside) {
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
    std::vector<product_tiles> made;
    auto const add = [&](product_tiles tiles) {
        bool const whole_n = is_whole(loops.n, tiles.n);
        bool const one_tile = whole_n && is_whole(loops.m, tiles.m) && is_whole(loops.rows, tiles.rows) && loops.outer.empty();
        bool const by_column = tiles.weights == staged_at::column, by_step = by_column || tiles.weights == staged_at::step;
        // The same as another one.
        if ((by_step && !loops.has_steps()) || (by_column && tiles.data != staged_at::column) ||
            (tiles.n_first && (whole_n || tiles.weights == staged_at::nowhere)) ||
            (tiles.weights == staged_at::tile && whole_n && loops.block().empty()))
            return;
        if ((tiles.data == staged_at::tile || tiles.sum_versions > 1) && one_tile) return;
        // Tiles of the same number of rows: none ends inside a step.
        if (tiles.joins_rows() && (tiles.m != loops.m->extent || loops.rows->extent % tiles.rows != 0 || tiles.versions < 2)) return;
        if (tiles.joins_columns && (tiles.data != staged_at::tile || by_step)) return;
        auto const has_versions = [](staged_at when) { return when != staged_at::nowhere && when != staged_at::once; };
        if (tiles.versions > 1 && !has_versions(tiles.data) && !has_versions(tiles.weights)) return;
        if (loops.k) tiles.k = by_step ? std::min(*loops.by.k, loops.k->extent) : loops.k->extent;
        std::int64_t const whole = loops.n ? loops.n->extent : 1;
        std::int64_t const weights = tiles.weights == staged_at::nowhere ? 0
                                     : tiles.weights == staged_at::once  ? whole * summed
                                     : by_step                           ? tiles.n * tiles.k * tiles.versions
                                                                         : tiles.n * summed * tiles.versions;
        std::int64_t const sums = tiles.rows * tiles.m * tiles.n * tiles.sum_versions * sum;
        bool const is_least = tiles.rows == 1 && tiles.m <= loops.by.m.value_or(1) && tiles.n <= loops.by.n.value_or(1);
        if ((most_sums == 0 || sums <= most_sums || is_least) && fits(loops.by.sums, sums) &&
            fits(loops.by.weights.where, weights * element))
            made.push_back(tiles);
    };
    std::vector<staged_at> const data_at = places_of_data(of, loops, most_sums), weights_at = places_of_weights(of, loops);
    bool const short_columns = loops.has_short_columns(of.of.nodes());
    auto const joining_columns = [](product_tiles tiles) { return tiles.joins_columns = true, tiles; };
    for (std::int64_t const rows : along(loops.rows, 1)) {
        for (std::int64_t const m : along(loops.m, loops.by.m.value_or(1))) {
            for (std::int64_t const n : along(loops.n, loops.by.n.value_or(1))) {
                for (staged_at const data : data_at) {
                    for (staged_at const weights : weights_at) {
                        for (bool const n_first : {false, true}) {
                            for (std::int64_t const versions : {2, 1}) {
                                for (std::int64_t of_sums = aside ? 2 : 1; of_sums > 0; --of_sums) {
                                    product_tiles const tiles{rows, m, n, 1, n_first, data, weights, versions, of_sums};
                                    add(tiles);
                                    if (short_columns) add(joining_columns(tiles));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    return made;
}

/// The largest number of channels that divides all of them, and of which an instruction makes as many as it sums; 0: it sums none.
inline std::int64_t block_of_channels(product_instruction const& by, std::int64_t channels) {
    std::int64_t size = by.n && by.k ? std::min({*by.n, *by.k, channels}) : 0;
    while (size > 1 && channels % size != 0) --size;
    return size;
}

/// Which layers schedules are for, and in which form.
enum class product_form { any, channels_in_blocks, joined_taps, sums };

inline constexpr char const* no_bytes_to_add = "no instruction makes bytes of its sums, to which it adds others";

/// The memory that an instruction writes; empty: none.
inline ir::label written_memory(intrinsic_description const& by) {
    for (int at = 0; at < by.operand_count; ++at) {
        if (by.operands[at].is == ir::direction::writes) return by.operands[at].memory_name;
    }
    return {};
}

/// An instruction that adds other bytes to those that a layer makes of sums. @return why it cannot; empty: it can
///
/// @param after  has the instruction that finishes the sums
inline std::string add_after(after_sums& after, placed_layer& of, contraction const& what, ir::label const& instruction) {
    machine const& where = *of.where;
    if (after.finish == nullptr) return no_bytes_to_add;
    if (instruction.empty()) return "no instruction adds other bytes to what `" + after.finish->name.str() + "` makes";
    int const at = where.intrinsics.find(instruction);
    if (at < 0) return "`" + instruction.str() + "` is no instruction of `" + where.name.str() + "`";
    after.add = &where.intrinsics[at];
    std::string const other = "it computes something else than `" + instruction.str() + "` does";
    if (!of.of.add_by_tensors()) return other;
    ir::stage does;
    computation_view const semantics = where.view(after.add->semantics);
    std::vector<ir::label> read, operands;
    if (read_stage(semantics, 0, does) || does.reduces() || does.rank != 1) return other;
    read_in_order(of.of.nodes(), stages_of(of.of.nodes()).back().body, read), read_in_order(semantics, does.body, operands);
    if (read.size() != operands.size()) return other;
    auto const is_byte = [&](ir::node const& one) { return one.op == operation::access && one.type == scalar_type::int8; };
    for (std::size_t which = 0; which < read.size(); ++which) {
        ir::label const from = memory_of(*after.add, operands[which]);
        computation_view const nodes = of.of.nodes();
        if (read[which] == what.finished) after.bytes_in = from;
        else if (std::any_of(nodes.nodes, nodes.nodes + nodes.count,
                             [&](auto const& one) { return is_byte(one) && one.name == read[which]; }))
            after.other = read[which], after.other_in = from;
    }
    if (after.bytes_in != written_memory(*after.finish))
        return "`" + instruction.str() + "` does not read what `" + after.finish->name.str() + "` makes where that is";
    if (after.other == what.data) return "what it adds is what its sums are made of";
    after.written_to = written_memory(*after.add);
    return of.may_lie_in(what.result, after.written_to) ? "" : "`" + instruction.str() + "` writes what no other kernel reads there";
}

/// What `products_by`, `apart_by`, `windows_by` and `sums_by` make: see there.
inline candidates product_schedules(placed_layer& of, ir::label const& instruction, finishes const& finish, std::int64_t most_sums,
                                    product_form form, std::int64_t panel = 0) {
    bool const in_blocks = form == product_form::channels_in_blocks, joins = form == product_form::joined_taps;
    machine const& where = *of.where;
    auto const by = product_instruction_of(where, instruction);
    if (!by) return {{}, "`" + instruction.str() + "` is no instruction of `" + where.name.str() + "` that sums products of two"};
    auto what = of.of.as_contraction();
    if (form == product_form::sums) {
        if (what) return {{}, "it sums products"};
        of.of.join_sums();
        if (of.of.multiply_by_one()) what = of.of.as_contraction();
        if (!what) return {{}, "it is no sum of elements"};
    }
    if (!what) return {{}, "it is no sum of products"};
    if (what->element != by->element || what->sum != by->sum) {
        return {{},
                std::string("sums of ") + name_of(what->sum) + " of products of " + name_of(what->element) + ", and `" + instruction.str() +
                    "` makes those of " + name_of(by->sum) + " of " + name_of(by->element)};
    }
    bool const is_apart = what->n.empty() && !what->batch.empty();
    if (in_blocks && !is_apart) return {{}, "a channel of its result is made of several channels"};
    if (by->n && is_apart && !in_blocks) return {{}, "no loop of its result moves its weights alone, as in a depthwise convolution"};
    if (!product_loops(*what, *by).fits()) return {{}, "`" + instruction.str() + "` has an axis that no loop of it fits"};
    double const least_cycles = static_cast<double>(what->products()) * by->cycles_for_each;
    if (joins && !of.of.join_taps()) return {{}, "its channels do not follow the columns of a window"};
    if (by->m && !by->rows && of.of.join_loops()) what = of.of.as_contraction();
    // What no transfer takes out of the accumulators, the core does, as it does what is computed of sums.
    bool const is_stored = std::any_of(begin(where.transfers.parts), begin(where.transfers.parts) + where.transfers.size(),
                                       [&](transfer_description const& one) { return one.source == by->sums.memory_name; });
    if (!what->finishes() && (!is_stored || what->starts_from_value)) of.of.keep_sums_apart();
    after_sums after;
    intrinsic_description const*& finishing = after.finish;
    for (ir::label const& one : finish.names) {
        int const at = where.intrinsics.find(one);
        if (at < 0) return {{}, "`" + one.str() + "` is no instruction of `" + where.name.str() + "`"};
        if (finishing == nullptr && of.of.what().rescaled && scales_in_floats(where, at) == !of.of.what().rescaled->scales.empty())
            finishing = &where.intrinsics[at];
    }
    if (what->adds()) {
        if (std::string const why = add_after(after, of, *what, finish.adds); !why.empty()) return {{}, why};
    }
    bool const has_filters = !what->n.empty() || by->batch || in_blocks;
    if (!has_filters || (what->m.empty() && !by->m) || (finishing != nullptr && !of.of.finish_by_tensors())) finishing = nullptr;
    if (finishing == nullptr && what->adds()) return {{}, no_bytes_to_add};
    if (finishing == nullptr && what->starts_from_value) of.of.start_from_zero();
    if (in_blocks) {
        std::int64_t const size = block_of_channels(*by, what->batch.back().extent);
        if (size == 0) return {{}, "`" + instruction.str() + "` sums no channels"};
        if (!of.of.put_channels_in_blocks(size)) return {{}, "its weights are no constant that can be written as blocks of channels"};
    }
    if (!what->n.empty() && panel > 0 && panel < what->n.back().extent) of.of.put_channels_in_blocks(panel);
    product_loops loops(of.of.as_contraction().value(), *by, joins);
    // An instruction that finishes has the same axes, so the result needs the loop as well.
    bool const lacks_m = finishing != nullptr && by->m && !loops.m;
    bool const is_added = lacks_m && of.of.add_unit_loop_to_all();
    if (lacks_m && !is_added) finishing = nullptr;
    if (finishing == nullptr && what->adds()) return {{}, no_bytes_to_add};
    if (finishing != nullptr && after.add == nullptr) after.written_to = written_memory(*finishing);
    for (int missing = loops.missing() - (is_added ? 1 : 0); missing > 0; --missing) of.of.add_unit_loop();
    loops = product_loops(of.of.as_contraction().value(), *by, joins);
    if (loops.missing() > static_cast<int>(loops.units.size()))
        return {{}, "`" + instruction.str() + "` has an axis that no loop of it fits"};
    if (loops.outer.empty() && !loops.rows && !loops.m && !loops.n && !loops.batch) return {{}, "its result is one element"};
    if (of.of.is_constant(loops.of.weights)) {
        order_weights(of.of, loops);
        loops = product_loops(of.of.as_contraction().value(), *by, joins);
    }
    candidates made;
    auto const add = [&](product_loops const& with) {
        for (product_tiles const& tiles : tiles_of(of, with, most_sums, finishes_aside(with, finishing)))
            made.all.push_back(schedule_of(of, with, tiles, after));
    };
    add(loops);
    if (auto const other = loops.better_m()) add(product_loops(of.of.as_contraction().value(), *by, joins, *other));
    made.least_cycles = least_cycles;
    if (made.all.empty()) made.none = "no tile of it fits the memories of `" + instruction.str() + "`";
    return made;
}

inline schedule_template products_in(product_form form, ir::label const& instruction, finishes const& finish, std::int64_t most_sums,
                                     std::int64_t panel = 0) {
    return [=](placed_layer& of) { return product_schedules(of, instruction, finish, most_sums, form, panel); };
}

}  // namespace detail

/// Sums of products by an instruction of the machine, which adds up `m x n` sums of `k` products, or what of them a call covers. Its name
/// is that of the form that continues sums.
///
/// @param finish  instructions that compute `rescaled_bytes` or `scaled_bytes` of `m x n` sums, for layers that finish so; none: the core
///                does
/// @param most_sums  bytes of sums of a tile, where the machine has caches that they should stay in; 0: as many as fit their memory
/// @param panel  of so many columns of constant weights that follow each other, the rows are written after each other, where all columns
///               make whole panels: a call takes one panel; 0: weights are rows of all columns
inline schedule_template products_by(ir::label const& instruction, finishes const& finish = {}, std::int64_t most_sums = 0,
                                     std::int64_t panel = 0) {
    return detail::products_in(detail::product_form::any, instruction, finish, most_sums, panel);
}

/// Channels that stay apart, as in a depthwise convolution, by an instruction that sums over channels: it computes blocks of as many as it
/// covers, with weights of 0 between them. So it is busy for as many products with 0, and weights take as many times the room as a block
/// has channels. The weights have to be constants.
///
/// @param finish  as for `products_by`
inline schedule_template apart_by(ir::label const& instruction, finishes const& finish = {}) {
    return detail::products_in(detail::product_form::channels_in_blocks, instruction, finish, 0);
}

/// Convolutions of images whose channels come last, by an instruction that sums over more channels than a pixel has: it sums over the
/// columns of a window as well, since these follow each other in a row of pixels. The operands of neighbouring pixels overlap.
///
/// @param finish, most_sums  as for `products_by`
inline schedule_template windows_by(ir::label const& instruction, finishes const& finish = {}, std::int64_t most_sums = 0) {
    return detail::products_in(detail::product_form::joined_taps, instruction, finish, most_sums);
}

/// Means, pools of averages and other sums of elements, by an instruction that sums products: with factors of 1.
///
/// @param finish  as for `products_by`
inline schedule_template sums_by(ir::label const& instruction, finishes const& finish = {}) {
    return detail::products_in(detail::product_form::sums, instruction, finish, 0);
}

}  // namespace tilewright::imported
