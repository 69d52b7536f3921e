#pragma once
#include <bit>
#include <tilewright/import/standard_schedule.hpp>
#include <tilewright/machine/clock.hpp>

// An instruction that sums products, and the loops of a layer that its axes cover.
namespace tilewright::imported::detail {

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
    made.cycles_for_each = static_cast<double>(time_of(made.what.costs, extents.elements).busy) / products;
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

/// Whether a loop of the stage that sums moves a tensor along one dimension, by one.
inline bool moves_by_one(computation_view nodes, ir::label const& tensor, ir::label const& loop) {
    ir::stage sums;
    if (read_stage(nodes, 0, sums)) return false;
    int const axis = sums.find(loop);
    std::int64_t moved = 0;
    for (int at = 0; axis >= 0 && at < sums.store; ++at) {
        if (nodes[at].op != operation::access || nodes[at].name != tensor) continue;
        for (int dimension = 0; dimension < nodes[at].argument_count; ++dimension)
            moved += index_of(nodes, sums, at, dimension).coefficients[axis];
    }
    return moved == 1;
}

/// A contraction, its loops that the axes of an instruction cover, and those around them. `overlaps`: k may move along the same dimension
/// as m does.
struct product_loops {
    contraction of;
    product_instruction by;
    bool overlaps = false;
    std::optional<contracted_loop> rows{}, m{}, n{}, k{}, batch{};
    std::vector<ir::label> taps{};    ///< that the instruction covers
    std::vector<ir::label> units{};   ///< of one iteration, for axes that the contraction has no loop for
    std::vector<ir::label> outer{};   ///< of the result, in its order
    std::vector<ir::label> summed{};  ///< that the instruction does not cover

    /// @param wanted  the loop that is m; empty: the innermost of those that can be
    product_loops(contraction what, product_instruction with, bool may_overlap = false, ir::label const& wanted = {})
        : of(std::move(what)), by(std::move(with)), overlaps(may_overlap), units(of.unit) {
        auto const last = [](std::vector<contracted_loop> const& loops) {
            return loops.empty() ? std::nullopt : std::optional(loops.back());
        };
        if (by.n) n = last(of.n);
        if (by.batch) batch = last(of.batch);
        for (std::size_t at = of.taps.size() - std::min(by.taps, of.taps.size()); at < of.taps.size(); ++at)
            taps.push_back(of.taps[at].name);
        if (by.k) k = of.k.empty() && by.taps == 0 ? last(of.taps) : last(of.k);
        for (contracted_loop const& one : of.m) {
            if (by.m && can_be_m(one) && (wanted.empty() || one.name == wanted)) m = one;
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
    /// Elements that follow each other are taken along k. So m is another dimension, unless windows may overlap.
    bool can_be_m(contracted_loop const& one) const { return overlaps || !k || (one.in_data & k->in_data) == 0; }
    /// Whether rows do not fill the axis m of the instruction, which can go on from row to row.
    bool has_short_rows(computation_view nodes) const {
        if (!rows || !m || by.rows || !of.finishes() || m->extent % *by.m == 0) return false;
        auto const after = std::find_if(of.all.begin(), of.all.end(), [&](contracted_loop const& one) { return one.name == rows->name; });
        return after + 1 != of.all.end() && (after + 1)->name == m->name && moves_by_one(nodes, of.data, of.in_sums(rows->name)) &&
               moves_by_one(nodes, of.data, of.in_sums(m->name));
    }
    /// The loop over the columns of a window, where there is another one over its rows, and the instruction covers neither; else empty.
    ir::label columns_of_window() const {
        if (!m || !rows || summed.size() < 2) return {};
        ir::label found;
        bool has_rows = false;
        for (contracted_loop const& tap : of.taps) {
            if (std::find(summed.begin(), summed.end(), tap.name) == summed.end()) continue;
            if ((tap.in_data & m->in_data) != 0) found = tap.name;
            has_rows |= (tap.in_data & rows->in_data) != 0;
        }
        return has_rows ? found : ir::label{};
    }
    /// The innermost loop around the tiles that tells channels which stay apart from others; empty: there is none.
    ir::label block() const {
        ir::label found;
        for (ir::label const& one : outer) {
            auto const is_it = [&](contracted_loop const& each) { return each.name == one; };
            if (std::any_of(of.batch.begin(), of.batch.end(), is_it)) found = one;
        }
        return found;
    }
    /// Whether the instruction sums over more channels than there are, and could go on from column to column of a window: the channels of
    /// the next column follow, where the data is staged for these channels alone.
    bool has_short_columns(computation_view nodes) const {
        if (!k || of.taps.empty() || summed.empty() || summed.back() != of.taps.back().name || k->extent >= *by.k) return false;
        contracted_loop const& tap = of.taps.back();
        auto const is_before = [](unsigned one, unsigned other) { return std::has_single_bit(one) && other == one << 1; };
        return *by.k % k->extent == 0 && is_before(tap.in_data, k->in_data) && is_before(tap.in_weights, k->in_weights) &&
               moves_by_one(nodes, of.data, tap.name) && moves_by_one(nodes, of.data, k->name);
    }
    /// The loop that fills the axis m of the instruction better than the one that is taken does; nothing: none does.
    std::optional<ir::label> better_m() const {
        if (!m || by.rows) return std::nullopt;
        auto const fill = [&](contracted_loop const& one) {
            std::int64_t const calls = (one.extent + *by.m - 1) / *by.m;
            return static_cast<double>(one.extent) / static_cast<double>(calls * *by.m);
        };
        contracted_loop best = *m;
        for (contracted_loop const& one : of.m) {
            if (can_be_m(one) && fill(one) > fill(best)) best = one;
        }
        return best.name == m->name ? std::nullopt : std::optional(best.name);
    }
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

}  // namespace tilewright::imported::detail
