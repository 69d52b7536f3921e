#pragma once
#include <tilewright/plan/ir/step_cycles.hpp>
#include <tilewright/plan/loops/box.hpp>
#include <tilewright/plan/write/clipping.hpp>
#include <tilewright/plan/write/fills.hpp>
#include <tilewright/plan/write/operand_strides.hpp>
#include <tilewright/plan/write/transfer_stage.hpp>

// The innermost step of a tensorized stage: which intrinsic it calls, on which operands, and what comes before it.
namespace tilewright::detail {

/// The identity of maximum, the lowest value, or of minimum, the highest, as a constant node holds it.
constexpr std::int64_t lowest_or_highest(scalar_type type, bool lowest) {
    if (is_float(type)) return __builtin_bit_cast(std::int64_t, lowest ? -__builtin_inf() : __builtin_inf());
    return lowest ? lowest_of(type) : highest_of(type);
}

constexpr bool is_identity(node const& constant, operation reduction, scalar_type type) {
    if (reduction == operation::reduce_sum) return constant.value == 0;
    return constant.value == lowest_or_highest(type, reduction == operation::reduce_maximum);
}

constexpr void refuse_mismatch(planning const& p, stage_id s, int intrinsic_at, mismatch const& wrong) {
    verdict& v = p.refuse(wrong.kind, p.nest_at(s).intrinsic_ordinal);
    v.broken = wrong.broken;
    v.names = {p.of->where().intrinsics[intrinsic_at].name, p.stage_at(s).output, wrong.about, wrong.other};
    if (wrong.kind == verdict_kind::intrinsic_mismatch && wrong.other.empty()) {
        v.facts[0] = {fact_kind::in_stage, wrong.stage_value};
        if (!wrong.one_number) v.facts[1] = {fact_kind::in_intrinsic, wrong.intrinsic_value};
    }
}

/// Finds the dimensions of a buffer along which the dimensions of an operand lie, and the steps there: every lane must move one dimension
/// evenly.
constexpr mismatch place_operand(planning const& p, stage_id s, int intrinsic_at, matching const& found, int binding, operand_use& o) {
    use const& u = *p.plan.use_at(found.nodes[binding]);
    nest const& n = p.nest_at(s);
    buffer const& b = p.buffer_at(u.buffer);
    int const node = found.semantic_nodes[binding];
    computation_view const view = p.of->where().view(p.of->where().intrinsics[intrinsic_at].semantics);
    label const& name = view[node].name;
    int const rank = view[node].argument_count;
    for (int dimension = 0; dimension < rank; ++dimension) {
        stage_index const index = index_of(view, found.semantics, node, dimension);
        int where = -1;
        std::int64_t factor = 0;
        for (int axis = 0; axis < found.semantics.axis_count; ++axis) {
            std::int64_t const wanted = index.coefficients[axis];
            nest_axis const& loop = n.axes[found.loop_of_axis[axis]];
            if (wanted == 0 || loop.lane_extent == 1) continue;  // one element: there is no next one
            bool moved = false;
            for (int along = 0; along < b.rank; ++along) {
                linear const at = p.form_of(u.at[along]);
                std::int64_t const have = at.coefficient_of(loop.lane);
                if (have == 0) {
                    if (loop.lane_extent == 1 || b.layout < 0 || !moves_with(p.plan, at, loop.lane)) continue;
                    buffer_layout::coordinate const& c = p.plan.layouts[b.layout].coordinates[along];
                    return differs(rule::across_a_split, name, loop.lane_extent, c.modulus > 0 ? c.modulus : c.divisor);
                }
                if (along < b.block_dimensions && loop.lane_extent > 1) return differs(rule::across_blocks, name, loop.lane_extent, along);
                if (have % wanted != 0 || (where >= 0 && (where != along || factor != have / wanted)))
                    return differs(rule::other_index, name, have, wanted);
                where = along;
                factor = have / wanted;
                moved = true;
            }
            if (!moved) return differs(rule::other_index, name, 0, wanted);
        }
        bool const last = dimension + 1 == rank && where >= 0;
        if (last && where != b.rank - 1) {
            if (b.stride(where) != 1) return differs(rule::not_contiguous, name, where, b.rank - 1);
            where = b.rank - 1;  // the dimensions after it have one value
        }
        if (last && factor != 1) return differs(rule::neighbours_apart, name, factor, 1);
        o.dimension[dimension] = static_cast<std::int8_t>(where);
        o.factor[dimension] = factor;
    }
    return {};
}

/// Whether a step along `a` can end where a form reaches its bound: no other loop that the step covers moves the form.
constexpr bool ends_step(planning const& p, linear const& form, nest_axis const& a) {
    for (int t = 0; t < form.count; ++t) {
        term const& part = form.terms[t];
        if (part.variable == a.lane ? part.coefficient < 0 : p.var(part.variable).kind == variable_kind::lane) return false;
    }
    return true;
}

/// How much each step covers of the axes of an intrinsic that lies on stage `s` as `found` says, if that varies.
/// @return how many parts that has; the first of them is the next in the plan
constexpr std::int16_t keep_step_extents(writing& p, stage_id s, int intrinsic_at, matching const& found) {
    if (p.of->where().intrinsics[intrinsic_at].flexible_axes == 0) return 0;
    int const before = p.plan.step_extents.count;
    for (int axis = 0; axis < found.semantics.axis_count && !p.refused(); ++axis) {
        nest_axis const& a = p.nest_at(s).axes[found.loop_of_axis[axis]];
        step_extent const whole{.axis = static_cast<std::int16_t>(axis), .most = a.lane_extent};
        p.add(whole);
        for (int at = 0; at < p.plan.limits.count && a.flexible && !p.refused(); ++at) {
            limit const l = p.plan.limits[at];
            if (l.stage != s || l.loop >= 0) continue;
            linear rest = p.form_of(l.form);
            std::int64_t const weight = rest.coefficient_of(a.lane);
            if (weight <= 0) continue;
            rest.add(-weight, a.lane);
            step_extent part = whole;
            part.weight = weight, part.form = p.keep(rest), part.bound = l.bound;
            p.add(part);
        }
    }
    return static_cast<std::int16_t>(p.plan.step_extents.count - before);
}

/// The operand at `position` of an intrinsic that lies on stage `s` as `found` says; checks its memory, strides and alignment.
/// @return where it is in the plan, -1 after a refusal
constexpr int keep_operand(writing& p, stage_id s, int intrinsic_at, matching const& found, int position) {
    intrinsic_description const& what = p.of->where().intrinsics[intrinsic_at];
    operand_constraint const& wanted = what.operands[position];
    int const ordinal = p.nest_at(s).intrinsic_ordinal, binding = found.find(wanted.tensor);
    if (binding < 0) {
        p.refuse(verdict_kind::invalid_part, rule::operand_not_in_semantics, {what.name, wanted.tensor}, ordinal);
        return -1;
    }
    use const& u = *p.plan.use_at(found.nodes[binding]);
    buffer& b = p.buffer_at(u.buffer);
    if (memory_under(p.of->where(), wanted.memory_name) != b.memory) {
        p.refuse(verdict_kind::operand_memory, ordinal).names = {what.name, b.tensor, p.of->where().memories[b.memory].name,
                                                                 wanted.memory_name};
        return -1;
    }
    if (p.plan.is_guarded(u.node)) {
        p.refuse(verdict_kind::no_border, rule::border_not_staged, {b.tensor, what.name}, ordinal);
        return -1;
    }
    each_value(p.of->where(), what, [&](call_argument const& a) {
        if (a.is == role::value && a.operand == position) b.code_access = true;  // the core reads it
    });
    operand_use o{.buffer = u.buffer, .dimension = found.dimension[binding], .factor = found.factor[binding]};
    mismatch wrong;
    if (joined_axis const& joined = found.joined[binding]; joined.row > 0) {
        o.joined = joined.dimension;
        nest_axis const& loop = p.nest_at(s).axes[found.loop_of_axis[joined.axis]];
        rows_asked const rows = wrong_rows(p, s, b, o.dimension[o.joined], joined.row, loop);
        if (rows) wrong = differs(rule::covered_by_a_fused_loop, wanted.tensor, rows.has, rows.asked);
    }
    if (!wrong && p.has_layout(s, p.plan.what.nodes[u.node].name, u.node == p.stage_at(s).target))
        wrong = place_operand(p, s, intrinsic_at, found, binding, o);
    if (wrong) return refuse_mismatch(p, s, intrinsic_at, wrong), -1;
    fixed_array<linear, max_rank> at{};
    for (int dimension = 0; dimension < b.rank; ++dimension) {
        at[dimension] = first_of_step(p, p.form_of(u.at[dimension]));
        o.at[dimension] = p.keep(at[dimension]);
    }
    std::int64_t const asked = p.common_multiple(what.address_alignment, wanted.alignment, wanted.tensor);
    region_fault const fault = align(p, u.buffer, at, alignment_in(p, u.buffer, wanted.memory_name, asked));
    wrong = fault ? differs(rule::operand_not_aligned, wanted.tensor, fault.value, fault.limit)
                  : check_strides(p, intrinsic_at, found, position, o);
    if (wrong) return refuse_mismatch(p, s, intrinsic_at, wrong), -1;
    return p.add(o);
}

/// The operands of an intrinsic that lies on stage `s` as `found` says. @return the first of them in the plan
constexpr int keep_operands(writing& p, stage_id s, int intrinsic_at, matching const& found) {
    int first = -1;
    for (int position = 0; position < p.of->where().intrinsics[intrinsic_at].operand_count && !p.refused(); ++position) {
        int const kept = keep_operand(p, s, intrinsic_at, found, position);
        if (kept < 0) return -1;
        if (first < 0) first = kept;
    }
    return first;
}

/// The intrinsic for the first step of a reduction: it does what the named one does, but overwrites, and starts from what the stage starts
/// from; -1: none. One that takes its operands from where they lie comes before others.
constexpr int overwriting_form(planning const& p, stage_id s, int named, matching& found) {
    int other = -1;
    matching as_other;
    for (int at = 0; at < p.of->where().intrinsics.size(); ++at) {
        if (at == named || !is_for_stage(p, s, at)) continue;
        matching trial;
        if (match_intrinsic(p, s, at, trial)) continue;
        if (accumulates(p.of->where().intrinsics[at], trial.semantics) || trial.semantics.continues) continue;
        bool same_extents = trial.semantics.axis_count == found.semantics.axis_count;
        for (int axis = 0; axis < p.nest_at(s).covered_count && same_extents; ++axis) {
            nest_axis const& loop = p.nest_at(s).axes[trial.loop_of_axis[axis]];
            same_extents = takes_step(p.of->where().intrinsics[at], trial.semantics, axis, loop);
        }
        if (!same_extents) continue;
        if (takes_operands_where_they_lie(p, at, trial)) {
            found = trial;
            return at;
        }
        if (other < 0) other = at, as_other = trial;
    }
    if (other >= 0) found = as_other;
    return other;
}

/// Cycles of a step that no end shortens, on the slowest of the cores that run what is written now.
constexpr std::int64_t most_cycles_of_step(planning const& p, intrinsic_form const& form, stage const& semantics) {
    std::int64_t most = 0;
    for (int core = p.running().first; core < p.running().end; ++core) {
        std::int64_t const cycles = cycles_of_whole_step(p.plan, form_on(p.plan, form, core), semantics);
        if (cycles > most) most = cycles;
    }
    return most;
}

/// What a reduction starts from, as a word; empty: its identity.
constexpr label start_of(computation_view nodes, stage const& st) {
    if (st.start < 0) return {};
    for (int at = st.start_first; at <= st.start; ++at) {
        if (nodes[at].op == operation::access) return nodes[at].name;
    }
    return "a constant";
}

constexpr void write_intrinsic(writing& p, stage_id s, bool filled) {
    nest const& n = p.nest_at(s);
    stage const& st = p.stage_at(s);
    matching found;
    mismatch const wrong = match_intrinsic(p, s, n.intrinsic, found);
    if (wrong) return refuse_mismatch(p, s, n.intrinsic, wrong);
    body b{.kind = body_kind::intrinsic, .stage = s, .intrinsic = n.intrinsic};
    b.begun = filled;
    b.operands = static_cast<std::int16_t>(keep_operands(p, s, n.intrinsic, found));
    b.extents = static_cast<std::int16_t>(p.plan.step_extents.count);
    b.extent_count = keep_step_extents(p, s, n.intrinsic, found);
    b.cycles = most_cycles_of_step(p, form_of_rest(b), found.semantics);
    bool const adds = accumulates(p.of->where().intrinsics[n.intrinsic], found.semantics);
    for (int position = 0; position < n.depth; ++position) {
        nest_axis const& a = n.axis_of_loop(position);
        if (a.reduction && p.var(a.variable).extent > 1) b.first_loops[b.first_loop_count++] = a.variable;
    }
    if (st.reduces() && !adds && (b.first_loop_count > 0 || st.continues)) {
        std::int64_t steps = 1;
        for (int position = 0; position < b.first_loop_count; ++position) steps *= p.var(b.first_loops[position]).extent;
        return refuse_mismatch(
            p, s, n.intrinsic,
            only_in_stage(st.continues ? rule::overwriting_what_continues : rule::overwriting_every_step, found.semantics.output, steps));
    }
    if (adds && !st.continues && !filled) {
        b.first_intrinsic = static_cast<std::int16_t>(overwriting_form(p, s, n.intrinsic, found));
        if (b.first_intrinsic < 0) {
            p.refuse(verdict_kind::missing_first_form, n.intrinsic_ordinal).names = {p.of->where().intrinsics[n.intrinsic].name, st.output,
                                                                                     start_of(p.plan.what, st)};
            return;
        }
        b.first_operands = static_cast<std::int16_t>(keep_operands(p, s, b.first_intrinsic, found));
        b.first_extents = static_cast<std::int16_t>(p.plan.step_extents.count);
        b.first_extent_count = keep_step_extents(p, s, b.first_intrinsic, found);
        b.first_cycles = most_cycles_of_step(p, form_of_first(b), found.semantics);
    } else {
        b.first_loop_count = 0;
    }
    p.add(step_kind::compute, p.add(b));
}

/// A transfer that puts what a reduction starts from into the memory of its result.
struct start_transfer {
    int transfer = -1;
    node_id node = no_node;                          ///< of the stage: what it moves; -1: it fills
    fixed_array<std::int8_t, max_rank> dimension{};  ///< of its source, along each dimension of the result; -1: none, it is repeated
    fixed_array<std::int64_t, max_rank> factor{};

    constexpr explicit operator bool() const { return transfer >= 0; }
};

/// Whether a transfer moves the value that stage `s` starts from, with the computation of that value; and how its source lies along the
/// result.
constexpr bool moves_start(planning const& p, stage_id s, int target_memory, start_transfer& with) {
    stage const& st = p.stage_at(s);
    machine const& where = p.of->where();
    transfer_description const& t = where.transfers[with.transfer];
    if (!t.core_name.empty() || memory_under(where, t.destination) != target_memory) return false;
    node_id semantic_node = no_node;
    stage semantics;
    computation_view const view = where.view(t.semantics);
    if (copies(t)) {
        with.node = p.plan.what.nodes[st.start].op == operation::access && !is_padded(p.plan.what, st.start) ? st.start : no_node;
        if (with.node >= 0 && p.plan.what.nodes[with.node].type != st.type) return false;
    } else {
        read_stage(view, 0, semantics);  // is well formed: the machine was checked
        if (semantics.type != st.type || !same_value(p, st.start, view, semantics.body, with.node, semantic_node)) return false;
    }
    if (with.node < 0) return false;
    buffer const& source = p.buffer_at(p.plan.use_at(with.node)->buffer);
    if (memory_under(where, t.source) != source.memory) return false;
    fixed_array<bool, max_rank> taken{};
    int previous = -1;
    set_all(with.dimension, -1);
    for (int dimension = 0; dimension < st.rank; ++dimension) {
        for (int from = 0; from < p.plan.what.nodes[with.node].argument_count; ++from) {
            std::int64_t const factor = index_of(p.plan.what, st, with.node, from).coefficients[dimension];
            if (factor == 0) continue;
            if (factor < 0 || with.dimension[dimension] >= 0 || taken[from]) return false;
            taken[from] = true;
            with.dimension[dimension] = static_cast<std::int8_t>(from);
            with.factor[dimension] = factor;
        }
        int const wanted = declared_source(t, view, semantics, semantic_node, st.rank, dimension);
        if (wanted >= 0 ? wanted != with.dimension[dimension] : (with.dimension[dimension] >= 0 && with.dimension[dimension] < previous))
            return false;
        if (with.dimension[dimension] >= 0) previous = with.dimension[dimension];
    }
    return true;
}

/// The first transfer that writes what a reduction starts from: its identity, a constant, or a value that lies in another memory. An
/// intrinsic then continues from there. None if an intrinsic overwrites.
constexpr start_transfer find_start_transfer(planning const& p, stage_id s) {
    stage const& st = p.stage_at(s);
    int const named = p.nest_at(s).intrinsic;
    if (named < 0 || st.continues) return {};
    int const target_memory = p.buffer_at(p.plan.use_at(st.target)->buffer).memory;
    for (int at = 0; at < p.of->where().transfers.size(); ++at) {
        if (p.of->where().transfers[at].is_multicast) continue;  // each core begins its own sums
        start_transfer found{.transfer = at};
        known const value = filled_value(p, at, target_memory, st.type);
        node const* const start = st.start < 0 ? nullptr : &p.plan.what.nodes[st.start];
        bool const starts = start == nullptr ? is_identity({.value = value.value}, st.reduction, st.type)
                                             : start->op == operation::constant && start->value == value.value;
        if (value.is ? !starts : start == nullptr || !moves_start(p, s, target_memory, found)) continue;
        // What the intrinsics do is asked last: to match them takes the compiler longer than all of this.
        matching matched;
        if (match_intrinsic(p, s, named, matched) || !accumulates(p.of->where().intrinsics[named], matched.semantics)) return {};
        return overwriting_form(p, s, named, matched) < 0 ? found : start_transfer{};
    }
    return {};
}

/// Before a reduction that an intrinsic continues: if no intrinsic overwrites, writes a transfer of what it starts from.
constexpr bool write_fill(writing& p, stage_id s, int depth) {
    nest const& n = p.nest_at(s);
    stage const& st = p.stage_at(s);
    start_transfer const with = find_start_transfer(p, s);
    if (!with) return false;
    use const& target = *p.plan.use_at(st.target);
    int const outside = p.placed(s).outer_depth + depth;
    coverage const filled = cover(p, s, outside);
    if (filled.computed != filled.spanned) {
        p.refuse(verdict_kind::loop_order, rule::gaps_between_outputs, {n.axis_of_loop(depth).name, st.output}, n.intrinsic_ordinal,
                 {fact{fact_kind::have, filled.computed}, fact{fact_kind::need, filled.spanned}});
        return false;
    }
    region r{.source = with.node < 0 ? no_buffer : p.plan.use_at(with.node)->buffer, .destination = target.buffer};
    for (int dimension = 0; dimension < st.rank; ++dimension) {
        range inside;
        linear const form = place_in_box(p, s, st.target, dimension, target.buffer);
        split_at_level(p, s, form, outside, r.destination_at[dimension], inside);
        r.destination_at[dimension].constant = inside.low;
        r.dimensions[dimension] = {.extent = inside.high - inside.low + 1, .destination_dimension = static_cast<std::int8_t>(dimension)};
        if (r.source >= 0 && with.dimension[dimension] >= 0)
            r.dimensions[dimension].source_dimension = with.dimension[dimension],
            r.dimensions[dimension].source_factor = with.factor[dimension];
        if (p.is_partial())
            r.dimensions[dimension].extent = clip_region(p, touched_by(p, s, st.target, dimension, outside, 0), dimension, r);
    }
    for (int from = 0; r.source >= 0 && from < box_rank(p, p.buffer_at(r.source)); ++from) {
        range inside;
        linear& at = r.source_at[from];
        split_at_level(p, s, place_in_box(p, s, with.node, from, r.source), outside, at, inside);
        at.constant = inside.low;
    }
    r.count = st.rank;
    linear begun;  // loops around that reduce: when one of them has moved on, there are partial sums
    each_reduction_around(p, s, outside, [&](int loop) { begun.add(1, loop); });
    if (begun.count > 0) r.add(p, {begun, 1, -1, clip_kind::only});
    move_now(p, r, with.transfer, n.intrinsic_ordinal);
    return true;
}

}  // namespace tilewright::detail
