#pragma once
#include <tilewright/import/standard_schedule.hpp>

// The standard schedule of what is computed of single elements, by an instruction: sums of two images, activations.
namespace tilewright::imported {

namespace detail {

/// The tensors that an expression reads, from the left to the right, each once.
inline void read_in_order(computation_view nodes, int root, std::vector<ir::label>& made) {
    ir::node const& one = nodes[root];
    if (one.op == operation::access) {
        if (std::find(made.begin(), made.end(), one.name) == made.end()) made.push_back(one.name);
        return;
    }
    for (int argument = 0; one.op != operation::constant && argument < one.argument_count; ++argument)
        read_in_order(nodes, one.argument(argument), made);
}

/// The memory of an operand of an instruction; empty: it has no such operand.
inline ir::label memory_of(intrinsic_description const& by, ir::label const& operand) {
    int const found = by.find(operand);
    return found < 0 ? ir::label() : by.operands[found].memory_name;
}

/// A layer of one stage without sums, and what an instruction takes of it.
struct element_tiles {
    ir::stage loops;
    int covered = 0;                                     ///< the last loops of the result, by the axes of the instruction
    std::vector<std::int64_t> steps = {};                ///< extents of these axes
    std::vector<std::pair<ir::label, ir::label>> reads;  ///< tensors, and the memories from which the instruction reads them
    ir::label writes{};                                  ///< the memory of its result
};

/// @param calls     of the instruction along the innermost loop that its axes cover, for one tile
/// @param versions  of what is staged
inline schedule schedule_of(placed_layer const& of, element_tiles const& tiles, intrinsic_description const& by, std::int64_t calls,
                            std::int64_t versions) {
    schedule made = of.plain();
    int const rank = tiles.loops.rank, first = rank - tiles.covered;
    std::vector<ir::label> order, inner;
    for (int axis = 0; axis < first; ++axis) order.push_back(tiles.loops.axes[axis].name);
    ir::label tile;
    std::vector<ir::label> of_tile;  // loops over the calls of a tile
    for (int axis = first; axis < rank; ++axis) {
        ir::stage_axis const& loop = tiles.loops.axes[axis];
        std::int64_t const step = std::min(tiles.steps[static_cast<std::size_t>(axis - first)], loop.extent);
        ir::label const outer = with_ending(loop.name, "_o"), within = with_ending(loop.name, "_i");
        bool const is_cut = axis + 1 == rank && calls > 1;
        if (is_cut) {
            ir::label const whole = with_ending(loop.name, "_t"), call = with_ending(loop.name, "_c");
            made.split(named(loop.name), named(outer), named(whole), std::min(step * calls, loop.extent));
            made.split(named(whole), named(call), named(within), step);
            of_tile.push_back(call);
        } else {
            made.split(named(loop.name), named(outer), named(within), step);
        }
        order.push_back(outer), inner.push_back(within);
        tile = outer;
    }
    order.insert(order.end(), of_tile.begin(), of_tile.end());
    order.insert(order.end(), inner.begin(), inner.end());
    reorder(made, order);
    auto const staged = [&] {
        made.at(named(tile));
        if (versions > 1) made.buffers(versions);
    };
    for (auto const& [tensor, where] : tiles.reads) {
        if (of.may_lie_in(tensor, where)) {
            made.reads(of.tensor(tensor), of.memory_named(where));
            continue;
        }
        made.cache_read(of.tensor(tensor), of.memory_named(where));
        staged();
    }
    if (of.may_lie_in(tiles.loops.output, tiles.writes)) {
        made.writes(of.tensor(tiles.loops.output), of.memory_named(tiles.writes));
    } else {
        made.cache_write(of.tensor(tiles.loops.output), of.memory_named(tiles.writes));
        staged();
    }
    tensorize(made, inner, by);
    return made;
}

}  // namespace detail

/// What is computed of single elements, by an instruction of the machine that computes the same: of layers with `layer::added`, it is
/// `added_bytes`. The planner compares them. What the instruction does not read or write where it lies is staged, in tiles of which the
/// size is searched.
inline schedule_template elements_by(ir::label const& instruction) {
    return [instruction](placed_layer& of) -> candidates {
        using namespace detail;
        machine const& where = *of.where;
        int const at = where.intrinsics.find(instruction);
        if (at < 0) return {{}, "`" + instruction.str() + "` is no instruction of `" + where.name.str() + "`"};
        intrinsic_description const& by = where.intrinsics[at];
        of.of.add_by_tensors();
        of.of.join_loops();
        element_tiles tiles;
        ir::stage does;
        computation_view const nodes = of.of.nodes(), semantics = where.view(by.semantics);
        if (!of.of.what().inner.empty() || read_stage(nodes, 0, tiles.loops) || tiles.loops.reduces() || read_stage(semantics, 0, does) ||
            does.reduces())
            return {{}, "it computes more than single elements"};
        std::vector<ir::label> read, operands;
        read_in_order(nodes, tiles.loops.body, read), read_in_order(semantics, does.body, operands);
        if (read.size() != operands.size()) return {{}, "it computes something else than `" + instruction.str() + "` does"};
        if (does.rank > tiles.loops.rank) return {{}, "`" + instruction.str() + "` has an axis that no loop of it fits"};
        for (std::size_t which = 0; which < read.size(); ++which) tiles.reads.emplace_back(read[which], memory_of(by, operands[which]));
        tiles.writes = memory_of(by, does.output);
        tiles.covered = does.rank;
        for (int axis = 0; axis < does.rank; ++axis) tiles.steps.push_back(does.axes[axis].extent);
        bool const is_staged =
            !of.may_lie_in(tiles.loops.output, tiles.writes) ||
            std::any_of(tiles.reads.begin(), tiles.reads.end(), [&](auto const& one) { return !of.may_lie_in(one.first, one.second); });
        candidates made;
        std::int64_t const last = tiles.loops.axes[tiles.loops.rank - 1].extent;
        for (std::int64_t calls = 1; calls == 1 || (is_staged && tiles.steps.back() * calls < 2 * last); calls *= 2) {
            for (std::int64_t const versions : {2, 1}) {
                if (is_staged || versions == 1) made.all.push_back(schedule_of(of, tiles, by, calls, versions));
            }
        }
        return made;
    };
}

}  // namespace tilewright::imported
