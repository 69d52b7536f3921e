#pragma once
#include <tilewright/plan/ir/planning.hpp>

// Tile bodies that stay code: how often their loops run, and what an iteration does.
namespace tilewright::detail {

/// Wait cycles of a load or store by code in the memory of a buffer.
constexpr std::int32_t wait_at(planning const& p, int buffer_at) {
    return static_cast<std::int32_t>(p.of->where().memories[p.buffer_at(buffer_at).memory].wait_cycles);
}

constexpr std::int64_t trips(planning const& p, fixed_array<variable_id, body::most_loops> const& loops, int count,
                             bool pure_only = false) {
    std::int64_t total = 1;
    for (int at = 0; at < count; ++at) {
        variable const& v = p.var(loops[at]);
        if (!pure_only || !v.reduction) total *= v.extent;
    }
    return total;
}

/// Nodes of a stage that have been counted: a value that an expression uses twice is computed once.
struct counted_nodes {
    int first = 0;
    fixed_array<bool, 256> seen{};

    constexpr bool is_new(int at) {
        int const position = at - first;
        if (position < 0 || position >= seen.size()) return true;
        bool const known = seen[position];
        seen[position] = true;
        return !known;
    }
};

constexpr bool is_computed_index(planning const& p, node_id value) {
    for (int at = 0; at < p.plan.variables.count; ++at) {
        if (p.var(at).kind == variable_kind::element && p.var(at).value == value) return true;
    }
    return false;
}

constexpr void count_operations(planning const& p, int at, operation_counts& counts, counted_nodes& counted) {
    node const& n = p.plan.what.nodes[at];
    if (!counted.is_new(at)) return;
    using enum operation;
    switch (n.op) {
        case access:
            ++counts.load;
            if (use const* u = p.plan.use_at(at)) counts.wait += wait_at(p, u->buffer);
            // Two comparisons with the ends, and the choice between two values.
            if (p.plan.is_guarded(at)) ++counts.arithmetic;
            p.plan.each_padding(at, [&](padding const& one) { counts.arithmetic += one.guarded ? 2 : 0; });
            for (int dimension = 0; dimension < n.argument_count && is_padded(p.plan.what, at); ++dimension) {
                node_id const index = p.plan.what[n.argument(dimension)].argument(0);
                if (is_computed_index(p, index)) count_operations(p, index, counts, counted);
            }
            return;
        case constant:
        case parameter:
        case axis_value: return;
        case multiply: ++counts.multiply; break;
        case divide:
        case modulo: ++counts.divide; break;
        case cast: ++counts.convert; break;
        default: ++counts.arithmetic; break;
    }
    for (int argument = 0; argument < n.argument_count; ++argument) count_operations(p, n.argument(argument), counts, counted);
}

/// Operations of writing once what a reduction starts from.
constexpr operation_counts count_start(planning const& p, stage const& st) {
    use const* const target = p.plan.use_at(st.target);
    operation_counts counts{.store = 1, .wait = target == nullptr ? 0 : wait_at(p, target->buffer)};
    counted_nodes counted{.first = st.start_first};
    if (st.start >= 0) count_operations(p, st.start, counts, counted);
    return counts;
}

/// A body that stays code touches only buffers that are visible to the host.
constexpr void touch_from_code(writing& p, stage_id s, bool reads) {
    p.each_access(
        s,
        [&](node_id node) {
            use const* u = p.plan.use_at(node);
            if (p.refused() || u == nullptr || (!reads && node != p.stage_at(s).target)) return;
            buffer& b = p.buffer_at(u->buffer);
            memory const& m = p.of->where().memories[b.memory];
            b.code_access = true;
            if (!m.host_visible) p.refuse(verdict_kind::host_access, b.ordinal).names = {m.name, b.tensor};
        },
        true);
}

/// Lanes of a vector are elements of one block.
constexpr void keep_lanes_in_a_block(planning const& p, stage_id s) {
    nest const& n = p.nest_at(s);
    p.each_access(
        s,
        [&](node_id node) {
            use const& u = *p.plan.use_at(node);
            for (int dimension = 0; dimension < p.buffer_at(u.buffer).block_dimensions && !p.refused(); ++dimension) {
                linear const index = p.form_of(u.at[dimension]);
                for (int position = 0; position < n.depth; ++position) {
                    nest_axis const& a = n.axis_of_loop(position);
                    if (a.vectorized && a.extent > 1 && moves_with(p.plan, index, a.variable))
                        p.refuse(verdict_kind::loop_order, rule::vectorized_across_blocks, {a.name, p.buffer_at(u.buffer).tensor},
                                 a.marked_ordinal);
                }
            }
        },
        true);
}

}  // namespace tilewright::detail
