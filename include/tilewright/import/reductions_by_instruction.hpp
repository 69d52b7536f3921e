#pragma once
#include <tilewright/import/elements_by_instruction.hpp>

// The standard schedule of layers that are one reduction of one tensor, such as the largest element of a window, by an instruction.
namespace tilewright::imported {

namespace detail {

/// A layer of one stage that reduces, and what an instruction takes of it.
struct reduction_loops {
    ir::stage loops;
    int of_result = 0, of_reduction = 0;  ///< how many of the last loops of the result, and of the reduction, the instruction covers
    std::int64_t step = 1;                ///< what it covers of the last loop of the result
    ir::label data{}, read_from{};        ///< the tensor, and the memory from which the instruction reads it
    ir::label written_to{};               ///< the memory of its result
    bool stages = true;                   ///< the data does not lie where the instruction reads it: it is staged, tile by tile

    /// How many loops of the result stand around what the instruction covers.
    int around() const { return loops.rank - of_result; }
};
struct reduction_tiles {
    std::int64_t rows = 1;      ///< iterations of the innermost loop around what is covered
    std::int64_t last = 1;      ///< of the last loop of the result
    std::int64_t versions = 2;  ///< of what is staged
};

inline schedule schedule_of(placed_layer const& of, reduction_loops const& what, reduction_tiles const& tiles,
                            intrinsic_description const& by) {
    schedule made = of.plain();
    ir::stage const& loops = what.loops;
    std::vector<ir::label> order, within, covered;
    ir::label tile;
    auto const cut = [&](ir::label const& loop, std::int64_t factor, std::vector<ir::label>& inside) {
        tile = with_ending(loop, "_o");
        made.split(named(loop), named(tile), named(with_ending(loop, "_i")), factor);
        order.push_back(tile), inside.push_back(with_ending(loop, "_i"));
    };
    for (int axis = 0; axis + 1 < what.around(); ++axis) order.push_back(loops.axes[axis].name);
    for (int axis = what.around(); axis + 1 < loops.rank; ++axis) covered.push_back(loops.axes[axis].name);
    cut(loops.axes[loops.rank - 1].name, tiles.last, covered);
    if (what.around() > 0) cut(loops.axes[what.around() - 1].name, tiles.rows, within);
    for (int axis = loops.rank; axis < loops.axis_count; ++axis)
        (axis + what.of_reduction < loops.axis_count ? within : covered).push_back(loops.axes[axis].name);
    order.insert(order.end(), within.begin(), within.end());
    order.insert(order.end(), covered.begin(), covered.end());
    reorder(made, order);
    auto const in_versions = [&] {
        made.at(named(tile));
        if (tiles.versions > 1) made.buffers(tiles.versions);
    };
    if (what.stages) made.cache_read(of.tensor(what.data), of.memory_named(what.read_from)), in_versions();
    else made.reads(of.tensor(what.data), of.memory_named(what.read_from));
    if (of.may_lie_in(loops.output, what.written_to)) made.writes(of.tensor(loops.output), of.memory_named(what.written_to));
    else made.cache_write(of.tensor(loops.output), of.memory_named(what.written_to)), in_versions();
    tensorize(made, covered, by);
    return made;
}

/// All tiles that are worth a plan.
inline std::vector<reduction_tiles> tiles_of(placed_layer const& of, reduction_loops const& what) {
    std::vector<reduction_tiles> made;
    std::int64_t const rows = what.around() > 0 ? what.loops.axes[what.around() - 1].extent : 1,
                       last = what.loops.axes[what.loops.rank - 1].extent;
    bool const stays = of.may_lie_in(what.loops.output, what.written_to);
    if (!what.stages && stays) return {{rows, last, 1}};
    for (std::int64_t across = std::min(what.step, last);; across = std::min(2 * across, last)) {
        for (std::int64_t high = 1;; high = std::min(2 * high, rows)) {
            for (std::int64_t const versions : {2, 1}) made.push_back({high, across, versions});
            if (high == rows) break;
        }
        if (across == last) break;
    }
    return made;
}

}  // namespace detail

/// Layers that are one reduction of the elements of one tensor, as `MAX_POOL_2D` is, by an instruction of the machine: the innermost loops
/// of the result are the axes of its result, and the innermost loops of the reduction those that it reduces. The planner compares what both
/// compute. The name is that of the form that continues; a form that overwrites comes first, where the machine has one. An image is staged
/// for tiles of which the size is searched, with its border; or it is read where it lies, where it may lie there: then it has no border.
inline schedule_template reductions_by(ir::label const& instruction) {
    return [instruction](placed_layer& of) -> candidates {
        using namespace detail;
        machine const& where = *of.where;
        int const at = where.intrinsics.find(instruction);
        if (at < 0) return {{}, "`" + instruction.str() + "` is no instruction of `" + where.name.str() + "`"};
        intrinsic_description const& by = where.intrinsics[at];
        reduction_loops what;
        ir::stage does;
        computation_view const nodes = of.of.nodes(), semantics = where.view(by.semantics);
        std::vector<ir::label> read, operands;
        bool const is_one = of.of.what().inner.empty() && !read_stage(nodes, 0, what.loops) && what.loops.reduces() && what.loops.start < 0;
        if (is_one) read_in_order(nodes, what.loops.body, read);
        if (read.size() != 1) return {{}, "it is no reduction of the elements of one tensor"};
        if (read_stage(semantics, 0, does) || !does.reduces()) return {{}, "`" + instruction.str() + "` is no reduction"};
        read_in_order(semantics, does.body, operands);
        if (operands.size() != 1 || does.reduction != what.loops.reduction)
            return {{}, "it computes something else than `" + instruction.str() + "` does"};
        what.of_result = does.rank, what.of_reduction = does.axis_count - does.rank;
        if (does.rank == 0 || does.rank > what.loops.rank || what.of_reduction > what.loops.axis_count - what.loops.rank)
            return {{}, "`" + instruction.str() + "` has an axis that no loop of it fits"};
        what.data = read[0], what.read_from = memory_of(by, operands[0]), what.written_to = memory_of(by, does.output);
        what.stages = !of.may_lie_in(what.data, what.read_from);
        what.step = does.axes[does.rank - 1].extent;
        candidates made;
        for (reduction_tiles const& tiles : tiles_of(of, what)) made.all.push_back(schedule_of(of, what, tiles, by));
        return made;
    };
}

}  // namespace tilewright::imported
