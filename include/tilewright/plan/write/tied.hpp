#pragma once
#include <tilewright/plan/place/staging.hpp>
#include <tilewright/plan/write/links.hpp>

// Operands in place: the result of an instruction overwrites them where they lie. Both tensors have one buffer, with one place and one
// lifetime.
namespace tilewright::detail {

/// An operand of a stage's instruction that its result overwrites.
struct tied_operand {
    int intrinsic = -1;
    int operand = -1;  ///< of the intrinsic; -1: none
    matching found{};

    constexpr explicit operator bool() const { return operand >= 0; }
};

constexpr bool has_operands_in_place(machine const& where) {
    for (int at = 0; at < where.intrinsics.size(); ++at) {
        if (where.intrinsics[at].find_in_place() >= 0) return true;
    }
    return false;
}

/// The operand in place of the instruction itself or, if it continues a reduction, of the form that its first step takes.
constexpr tied_operand find_tied(planning const& p, stage_id s) {
    tied_operand tied{.intrinsic = p.nest_at(s).intrinsic};
    if (tied.intrinsic < 0 || match_intrinsic(p, s, tied.intrinsic, tied.found)) return {};
    machine const& where = p.of->where();
    if (accumulates(where.intrinsics[tied.intrinsic], tied.found.semantics) && !p.stage_at(s).continues)
        tied.intrinsic = overwriting_form(p, s, tied.intrinsic, tied.found);
    tied.operand = tied.intrinsic < 0 ? -1 : where.intrinsics[tied.intrinsic].find_in_place();
    return tied;
}

/// The loop inside which a buffer of the plan is made, -1: none; and how many loops stand around the buffer.
struct buffer_level {
    int level = -1, depth = 0;
};
constexpr buffer_level level_of(planning const& p, int buffer_at) {
    for (int at = 0; at < p.staging_count(); ++at) {
        if (p.staging_at(at).buffer == buffer_at) return {p.staging_at(at).level, p.staging_at(at).depth};
    }
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        if (p.placed(s).home == buffer_at) return {p.placed(s).level, p.placed(s).outer_depth};
    }
    return {};
}

/// Whether two forms have the same value at all iterations of the loops.
constexpr bool same_value_everywhere(planning const& p, linear const& a, linear const& b) {
    linear rest = a;
    rest.add(b, -1);
    for (int at = 0; at < rest.count; ++at) {
        variable const& v = p.var(rest.terms[at].variable);
        if (v.extent > 1 || v.trips >= 0) return false;
    }
    return rest.constant == 0;
}

constexpr bool same_layout(planning const& p, buffer const& a, buffer const& b) {
    if (a.layout < 0 || b.layout < 0) return a.layout == b.layout;
    buffer_layout const &left = p.plan.layouts[a.layout], &right = p.plan.layouts[b.layout];
    bool same = a.rank == b.rank && a.block_dimensions == b.block_dimensions;
    for (int d = 0; d < a.rank && same; ++d)
        same = left.coordinates[d].dimension == right.coordinates[d].dimension &&
               left.coordinates[d].divisor == right.coordinates[d].divisor && left.coordinates[d].modulus == right.coordinates[d].modulus;
    return same;
}

/// The bank that a schedule asks for a buffer; -1: none.
constexpr int bank_asked_for(planning const& p, int buffer_at) {
    for (int at = 0; at < p.staging_count(); ++at) {
        if (p.staging_at(at).buffer == buffer_at && p.staging_at(at).bank >= 0) return p.staging_at(at).bank;
    }
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        if (p.placed(s).home == buffer_at && p.placed(s).store_bank >= 0) return p.placed(s).store_bank;
    }
    return -1;
}

/// Whether a stage's reduction takes more than one step.
constexpr bool reduces_in_steps(planning const& p, nest const& n) {
    for (int position = 0; position < n.depth; ++position) {
        nest_axis const& a = n.axis_of_loop(position);
        if (a.reduction && (p.var(a.variable).extent > 1 || a.trips >= 0)) return true;
    }
    return false;
}

/// A stage that may read what stage `s` overwrites in buffer `read` too late; -1: none. An earlier stage that is computed at the loop of
/// the buffer has read it by then.
constexpr int reads_too_late(planning const& p, stage_id s, int read, tied_operand const& tied) {
    label const& operand = p.of->where().intrinsics[tied.intrinsic].operands[tied.operand].tensor;
    label const& tensor = p.plan.what.nodes[tied.found.nodes[tied.found.find(operand)]].name;
    int const level = level_of(p, read).level;
    bool const in_turn = !has_asynchronous_intrinsics(p.of->where());
    auto const is_late = [&](int t) { return t != s && (t > s || !in_turn || p.placed(t).level != level); };
    for (int at = 0; at < p.plan.uses.count; ++at) {
        use const& u = p.plan.uses[at];
        if (u.buffer != read || p.plan.what.nodes[u.node].op != operation::access || p.plan.what.nodes[u.node].name != tensor) continue;
        int const t = p.plan.stage_of(u.node);
        if (u.node != p.stage_at(t).target && is_late(t)) return t;
    }
    for (int at = 0; at < p.staging_count(); ++at) {
        staging const& st = p.staging_at(at);
        if (st.outward == read && !st.writes && st.tensor == tensor && (st.stage == s || is_late(st.stage))) return st.stage;
    }
    // Another operand of the step itself.
    for (int binding = 1; binding < tied.found.count; ++binding) {
        use const* const u = p.plan.use_at(tied.found.nodes[binding]);
        bool const other = tied.found.names[binding] != operand;
        if (other && u != nullptr && u->buffer == read) return s;
    }
    // The steps that continue a reduction, after its first step has overwritten it.
    nest const& n = p.nest_at(s);
    matching later;
    if (tied.intrinsic == n.intrinsic || !reduces_in_steps(p, n) || match_intrinsic(p, s, n.intrinsic, later)) return -1;
    for (int binding = 1; binding < later.count; ++binding) {
        use const* const u = p.plan.use_at(later.nodes[binding]);
        if (u != nullptr && u->buffer == read) return s;
    }
    return -1;
}

/// Gives the operand of stage `s` that its result overwrites the buffer of the result, which keeps its name.
constexpr void tie_operand(placing& p, stage_id s, tied_operand const& tied) {
    machine const& where = p.of->where();
    intrinsic_description const& what = where.intrinsics[tied.intrinsic];
    operand_constraint const& operand = what.operands[tied.operand];
    int const binding = tied.found.find(operand.tensor);
    if (binding < 0) return;
    use const& from = *p.plan.use_at(tied.found.nodes[binding]);
    use const& to = *p.plan.use_at(p.stage_at(s).target);
    buffer_id const read = from.buffer, written = to.buffer;
    buffer const b = p.buffer_at(read);
    buffer& kept = p.buffer_at(written);
    int const memory_at = memory_under(where, operand.memory_name);
    if (read == written || b.memory != memory_at || kept.memory != memory_at) return;  // a memory that the intrinsic refuses
    auto const refuse = [&](rule broken, fact one = {}, fact other = {}, fact third = {}, label const& about = {}) {
        p.refuse(verdict_kind::in_place, broken, {what.name, p.stage_at(s).output, p.plan.what.nodes[from.node].name, about},
                 p.nest_at(s).intrinsic_ordinal, {one, other, third});
    };
    for (buffer const* one : {&b, static_cast<buffer const*>(&kept)}) {
        if (one->kind == buffer_kind::argument) return refuse(rule::overwrites_an_argument, {}, {}, {}, one->tensor);
    }
    buffer_level const outside = level_of(p, read), inside = level_of(p, written);
    if (outside.level != inside.level)
        return refuse(rule::overwritten_at_another_loop, {fact_kind::have, outside.depth}, {fact_kind::need, inside.depth});
    for (int at = 0; at < p.staging_count(); ++at) {
        staging const& st = p.staging_at(at);
        if (st.partial_sums && st.buffer == written) return refuse(rule::overwrites_partial_sums);
    }
    if (!same_layout(p, b, kept)) return refuse(rule::overwrites_another_layout);
    // If tiles are partial, buffers have room for whole steps of the instruction that computes them.
    bool const partial = p.plan.limits.count > 0 && b.layout < 0;
    for (int dimension = 0; dimension < b.rank; ++dimension) {
        if (b.extents[dimension] != kept.extents[dimension] && !partial)
            return refuse(rule::overwrites_another_box, {fact_kind::dimension, dimension}, {fact_kind::have, b.extents[dimension]},
                          {fact_kind::need, kept.extents[dimension]});
        if (!same_value_everywhere(p, p.form_of(from.at[dimension]), p.form_of(to.at[dimension])))
            return refuse(rule::overwrites_another_element);
    }
    // Every element that is read is overwritten once.
    for (int dimension = b.rank; dimension < kept.rank; ++dimension) {
        std::int64_t const extent = kept.extents[dimension];
        if (extent != 1)
            return refuse(rule::overwrites_another_box, {fact_kind::dimension, dimension}, {fact_kind::have, 1}, {fact_kind::need, extent});
    }
    for (int dimension = 0; dimension < box_rank(p, b); ++dimension) {
        linear const first = p.form_of(p.from.box_at[read][dimension]), other = p.form_of(p.from.box_at[written][dimension]);
        if (!same_value_everywhere(p, first, other)) return refuse(rule::overwrites_another_element);
    }
    if (int const late = reads_too_late(p, s, read, tied); late >= 0)
        return refuse(rule::overwritten_and_read, {}, {}, {}, p.stage_at(late).output);
    int const bank = bank_asked_for(p, read), other_bank = bank_asked_for(p, written);
    if (bank >= 0 && other_bank >= 0 && bank != other_bank)
        return refuse(rule::overwritten_in_another_bank, {fact_kind::bank, bank}, {fact_kind::bank, other_bank});

    for (int dimension = 0; dimension < b.rank; ++dimension) {
        if (kept.extents[dimension] < b.extents[dimension]) kept.extents[dimension] = b.extents[dimension];
    }
    if (b.layout < 0) kept.bytes = bytes_of(kept.type) * kept.stride(-1);
    if (where.memories[kept.memory].registers > 0) kept.bytes = bytes_in_registers(kept, where.memories[kept.memory]);
    auto const renumber = [read, written](buffer_id& buffer_at) {
        if (buffer_at == read) buffer_at = written;
        if (buffer_at > read) --buffer_at;
    };
    for (int at = 0; at < p.plan.uses.count; ++at) renumber(p.plan.uses[at].buffer);
    for (int at = 0; at < p.staging_count(); ++at) renumber(p.staging_at(at).buffer), renumber(p.staging_at(at).outward);
    for (stage_id t{}; t < p.plan.stages.count; ++t) renumber(p.placed(t).home);
    p.plan.buffers.erase(read);
    for (int at = read; at < p.plan.buffers.count; ++at) p.from.box_at[at] = p.from.box_at[at + 1];
}

/// Gives every operand that a result overwrites the buffer of that result, stage by stage: a sequence of such results shares one buffer.
constexpr void tie_operands(placing& p) {
    if (!has_operands_in_place(p.of->where())) return;
    for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
        tied_operand const tied = find_tied(p, s);
        if (tied && !p.refused()) tie_operand(p, s, tied);
    }
}

}  // namespace tilewright::detail
