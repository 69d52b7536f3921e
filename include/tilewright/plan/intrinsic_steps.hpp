#pragma once
#include <tilewright/plan/box.hpp>
#include <tilewright/plan/clipping.hpp>
#include <tilewright/plan/match.hpp>

// The innermost step of a tensorized stage: which intrinsic it calls, on which operands, and what comes before it.
namespace tilewright::detail {

/// The identity of maximum (the lowest value) or of minimum (the highest), as a constant node holds it.
constexpr std::int64_t lowest_or_highest(scalar_type type, bool lowest) {
    return visit_scalar(type, [lowest]<class T>(T) {
        using limits = std::numeric_limits<T>;
        if constexpr (std::is_floating_point_v<T>)
            return std::bit_cast<std::int64_t>(static_cast<double>(lowest ? -limits::infinity() : limits::infinity()));
        else return static_cast<std::int64_t>(lowest ? limits::lowest() : limits::max());
    });
}

constexpr bool is_identity(node const& constant, operation reduction, scalar_type type) {
    if (reduction == operation::reduce_sum) return constant.value == 0;
    return constant.value == lowest_or_highest(type, reduction == operation::reduce_maximum);
}

constexpr void refuse_mismatch(planning& p, int s, int intrinsic_at, mismatch const& wrong) {
    verdict& v = p.refuse(wrong.kind, p.nest_at(s).intrinsic_ordinal);
    v.broken = wrong.broken;
    v.names = {p.of->where().intrinsics[intrinsic_at].name, p.stage_at(s).output, wrong.about, wrong.other};
    if (wrong.kind == verdict_kind::intrinsic_mismatch && wrong.other.empty()) {
        v.facts[0] = {fact_kind::in_stage, wrong.stage_value};
        if (!wrong.one_number) v.facts[1] = {fact_kind::in_intrinsic, wrong.intrinsic_value};
    }
}

/// The operands of an intrinsic that lies on stage `s` as `found` says; checks their memories, strides and alignment.
/// @return the first of them in the plan
constexpr int keep_operands(planning& p, int s, int intrinsic_at, matching const& found) {
    intrinsic_description const& what = p.of->where().intrinsics[intrinsic_at];
    int first = -1;
    for (int position = 0; position < what.operand_count && !p.refused(); ++position) {
        operand_constraint const& wanted = what.operands[static_cast<std::size_t>(position)];
        int const binding = found.find(wanted.tensor);
        if (binding < 0) {
            p.refuse(verdict_kind::invalid_part, rule::operand_not_in_semantics, {what.name, wanted.tensor},
                     p.nest_at(s).intrinsic_ordinal);
            return -1;
        }
        use const& u = *p.plan.use_at(found.nodes[static_cast<std::size_t>(binding)]);
        buffer& b = p.buffer_at(u.buffer);
        if (p.of->where().memories[b.memory].name != wanted.memory_name) {
            p.refuse(verdict_kind::operand_memory, p.nest_at(s).intrinsic_ordinal).names = {
                what.name, b.tensor, p.of->where().memories[b.memory].name, wanted.memory_name};
            return -1;
        }
        operand_use o{.buffer = u.buffer,
                      .dimension = found.dimension[static_cast<std::size_t>(binding)],
                      .factor = found.factor[static_cast<std::size_t>(binding)]};
        fixed_array<linear, max_rank> at{};
        for (int dimension = 0; dimension < b.rank; ++dimension) {
            linear const whole = p.form_of(u.at[static_cast<std::size_t>(dimension)]);
            linear& base = at[static_cast<std::size_t>(dimension)];
            base.constant = whole.constant;
            for (int t = 0; t < whole.count; ++t) {
                term const& part = whole.terms[static_cast<std::size_t>(t)];
                if (p.var(part.variable).kind != variable_kind::lane) base.add(part.coefficient, part.variable);
            }
            o.at[static_cast<std::size_t>(dimension)] = p.keep(base);
        }
        region_fault const fault = align(p, b, at, what.address_alignment);
        if (fault) {
            refuse_mismatch(p, s, intrinsic_at, differs(rule::operand_not_aligned, wanted.tensor, fault.value, fault.limit));
            return -1;
        }
        int const rank = p.plan.what[found.nodes[static_cast<std::size_t>(binding)]].argument_count;
        for (int dimension = 0; dimension < max_rank; ++dimension) {
            int const along = o.dimension[static_cast<std::size_t>(dimension)];
            if (along < 0 || along == rank - 1) continue;
            std::int64_t const stride = b.stride(along) * o.factor[static_cast<std::size_t>(dimension)];
            if (b.kind == buffer_kind::argument) b.stride_multiple = p.common_multiple(b.stride_multiple, what.stride_alignment, b.tensor);
            else if (stride % what.stride_alignment != 0) {
                refuse_mismatch(p, s, intrinsic_at, differs(rule::stride_not_a_multiple, wanted.tensor, stride, what.stride_alignment));
                return -1;
            }
        }
        int const kept = p.add(o);
        if (first < 0) first = kept;
    }
    return first;
}

/// The intrinsic that does what the named one does but overwrites, for the first step of a reduction; -1: none.
constexpr int overwriting_form(planning& p, int s, int named, matching& found) {
    for (int at = 0; at < p.of->where().intrinsics.size(); ++at) {
        if (at == named) continue;
        matching trial;
        if (match_intrinsic(p, s, at, trial)) continue;
        if (accumulates(p.of->where().intrinsics[at], trial.semantics) || trial.semantics.continues) continue;
        bool same_extents = trial.semantics.axis_count == found.semantics.axis_count;
        for (int axis = 0; axis < p.nest_at(s).covered_count && same_extents; ++axis) {
            nest_axis const& loop = p.nest_at(s).axes[static_cast<std::size_t>(trial.loop_of_axis[static_cast<std::size_t>(axis)])];
            same_extents = trial.semantics.axes[static_cast<std::size_t>(axis)].extent == loop.lane_extent;
        }
        if (!same_extents) continue;
        found = trial;
        return at;
    }
    return -1;
}

constexpr void write_intrinsic(planning& p, int s, bool filled) {
    nest const& n = p.nest_at(s);
    stage const& st = p.stage_at(s);
    matching found;
    mismatch const wrong = match_intrinsic(p, s, n.intrinsic, found);
    if (wrong) return refuse_mismatch(p, s, n.intrinsic, wrong);
    body b{.kind = body_kind::intrinsic, .stage = static_cast<std::int16_t>(s), .intrinsic = n.intrinsic};
    b.cycles = p.of->where().intrinsics[n.intrinsic].cost_cycles;
    b.operands = static_cast<std::int16_t>(keep_operands(p, s, n.intrinsic, found));
    bool const adds = accumulates(p.of->where().intrinsics[n.intrinsic], found.semantics);
    for (int position = 0; position < n.depth; ++position) {
        nest_axis const& a = n.axis_of_loop(position);
        if (a.reduction && p.var(a.variable).extent > 1) b.first_loops[static_cast<std::size_t>(b.first_loop_count++)] = a.variable;
    }
    if (st.reduces() && !adds && (b.first_loop_count > 0 || st.continues)) {
        std::int64_t steps = 1;
        for (int position = 0; position < b.first_loop_count; ++position)
            steps *= p.var(b.first_loops[static_cast<std::size_t>(position)]).extent;
        return refuse_mismatch(
            p, s, n.intrinsic,
            only_in_stage(st.continues ? rule::overwriting_what_continues : rule::overwriting_every_step, found.semantics.output, steps));
    }
    if (adds && !st.continues && !filled) {
        b.first_intrinsic = static_cast<std::int16_t>(overwriting_form(p, s, n.intrinsic, found));
        if (b.first_intrinsic < 0) {
            p.refuse(verdict_kind::missing_first_form, n.intrinsic_ordinal).names = {p.of->where().intrinsics[n.intrinsic].name, st.output};
            return;
        }
        b.first_cycles = p.of->where().intrinsics[b.first_intrinsic].cost_cycles;
        b.first_operands = static_cast<std::int16_t>(keep_operands(p, s, b.first_intrinsic, found));
    } else {
        b.first_loop_count = 0;
    }
    p.add(step_kind::compute, p.add(b));
}

/// In front of a reduction that an intrinsic continues: when no intrinsic overwrites, a transfer that fills with the identity.
constexpr bool write_fill(planning& p, int s, int depth) {
    nest const& n = p.nest_at(s);
    stage const& st = p.stage_at(s);
    matching found;
    if (match_intrinsic(p, s, n.intrinsic, found) || !accumulates(p.of->where().intrinsics[n.intrinsic], found.semantics)) return false;
    if (overwriting_form(p, s, n.intrinsic, found) >= 0) return false;
    use const& target = *p.plan.use_at(st.target);
    for (int at = 0; at < p.of->where().transfers.size(); ++at) {
        transfer_description const& t = p.of->where().transfers[at];
        if (copies(t) || p.of->where().memories.find(t.destination) != p.buffer_at(target.buffer).memory) continue;
        computation_view const view = p.of->where().view(t.semantics);
        stage semantics;
        if (read_stage(view, 0, semantics) || semantics.type != st.type || semantics.reduces()) continue;
        if (view[semantics.body].op != operation::constant || !is_identity(view[semantics.body], st.reduction, st.type)) continue;
        coverage const filled = cover(p, s, p.placed(s).outer_depth + depth);
        if (filled.computed != filled.spanned) {
            p.refuse(verdict_kind::loop_order, rule::gaps_between_outputs, {n.axis_of_loop(depth).name, st.output}, n.intrinsic_ordinal);
            p.kept.facts = {fact{fact_kind::have, filled.computed}, fact{fact_kind::need, filled.spanned}};
            return false;
        }
        region r{.destination = target.buffer};
        for (int dimension = 0; dimension < st.rank; ++dimension) {
            auto const d = static_cast<std::size_t>(dimension);
            range inside;
            linear const form = p.form_of(target.at[d]);
            int const outside = p.placed(s).outer_depth + depth;
            split_at_level(p, s, form, outside, r.destination_at[d], inside);
            r.destination_at[d].constant = inside.low;
            r.dimensions[d] = {.extent = inside.high - inside.low + 1, .destination_dimension = static_cast<std::int8_t>(dimension)};
            if (p.is_partial()) r.dimensions[d].extent = clip_region(p, touched_by(p, s, st.target, dimension, outside, 0), dimension, r);
        }
        r.count = st.rank;
        move_now(p, r, at, n.intrinsic_ordinal);
        return true;
    }
    return false;
}

}  // namespace tilewright::detail
