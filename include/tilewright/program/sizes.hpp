#pragma once
#include <tilewright/program/connect.hpp>

// Shapes and sizes of a program's tensors, and whether kernels can take them.
namespace tilewright::detail {

/// What is kept from run to run has one type and one shape: that of what a run leaves.
constexpr void size_states(program_planning& p) {
    p.each_state([&](int before_at, int after_at) {
        ir::program_tensor &before = p.tensor(before_at), &after = p.tensor(after_at);
        if (after.in_parts) return p.refuse(verdict_kind::ill_formed, rule::state_in_parts, {before.name, after.name});
        bool fits = before.type == after.type && before.rank == after.rank;
        for (int d = 0; d < before.rank && fits; ++d) {
            if (!after.sized && after.extents[d] < before.extents[d]) after.extents[d] = before.extents[d];
            fits = before.extents[d] <= after.extents[d];
        }
        if (!fits) return p.refuse(verdict_kind::ill_formed, rule::state_of_two_shapes, {before.name, after.name});
        before.extents = after.extents;
    });
}

/// Shapes that the program states.
constexpr void take_shapes(program_planning& p) {
    p.each_statement([&](int, program::statement const& s) {
        if (p.refused() || s.kind != program::statement_kind::shape) return;
        int const at = p.plan.find_tensor(s.tensor);
        ir::program_tensor& t = p.tensor(at);
        auto const count = static_cast<std::int16_t>(s.count);
        if (count < 1 || count > max_rank || (t.rank >= 0 && t.rank != count))
            return p.refuse(verdict_kind::ill_formed, rule::shape_of_other_rank, {t.name}, 0,
                            {fact{fact_kind::have, count}, fact{fact_kind::need, t.rank < 0 ? max_rank : t.rank}});
        t.rank = count, t.sized = true;
        for (int d = 0; d < count; ++d) {
            t.extents[d] = s.begin[d];
            if (s.begin[d] < 1 || s.begin[d] > plan_value::most_bytes)
                return refuse_outside(p, t.name, d, s.begin[d] - 1, s.begin[d] - 1, plan_value::most_bytes - 1);
        }
        for (int which = 0; which < p.plan.uses.size(); ++which) {
            ir::program_use const& u = p.use(which);
            if (u.tensor != at || !u.written || u.reshaped || u.is_part) continue;
            ir::buffer const& b = p.buffer_of(u);
            for (int d = 0; d < count; ++d) {
                if (b.extents[d] >= t.extents[d]) continue;  // what is more is outside of it
                return p.refuse(verdict_kind::ill_formed, rule::shape_not_written, {t.name, {}, p.kernel(u.kernel).name}, 0,
                                {fact{fact_kind::have, b.extents[d]}, fact{fact_kind::need, t.extents[d]}});
            }
        }
    });
}

/// What only kernels that reshape it have has the shape of the one that writes it, or of the first that reads it. Both tensors of a state
/// have one shape.
constexpr void shape_reshaped(program_planning& p) {
    auto const shape_as_used = [&](bool written) {
        for (int at = 0; at < p.plan.tensors.size(); ++at) {
            ir::program_tensor& t = p.tensor(at);
            for (int which = 0; which < p.plan.uses.size() && t.rank < 0; ++which) {
                ir::program_use& u = p.use(which);
                if (u.tensor != at || u.written != written) continue;
                ir::buffer const& b = p.buffer_of(u);
                u.reshaped = false;
                t.rank = b.rank;
                t.sized = written;
                if (written) t.extents = b.extents;
            }
        }
    };
    p.each_state([&](int before_at, int after_at) {
        if (p.tensor(after_at).rank < 0) p.tensor(after_at).rank = p.tensor(before_at).rank;
    });
    shape_as_used(true);
    p.each_state([&](int before_at, int after_at) {
        if (p.tensor(before_at).rank < 0) p.tensor(before_at).rank = p.tensor(after_at).rank;
    });
    shape_as_used(false);
}

/// A kernel that reshapes a tensor takes all of it.
constexpr void check_reshaped(program_planning& p) {
    for (int which = 0; which < p.plan.uses.size() && !p.refused(); ++which) {
        ir::program_use const& u = p.use(which);
        if (!u.reshaped) continue;
        ir::program_tensor const& t = p.tensor(u.tensor);
        ir::buffer const& b = p.buffer_of(u);
        std::int64_t const taken = p.limited(ir::elements_of(b.extents, b.rank), plan_value::most_bytes, "elements", t.name),
                           all = t.bytes / bytes_of(t.type);
        bool from_first = true;
        for (int d = 0; d < b.rank; ++d) from_first &= b.minimum[d] == 0;
        if (p.refused() || (taken == all && from_first)) continue;
        p.refuse(verdict_kind::ill_formed, rule::reshaped_without_all, {t.name, {}, p.kernel(u.kernel).name}, 0,
                 {fact{fact_kind::have, taken}, fact{fact_kind::need, all}});
    }
}

/// Parts that kernels write have no element in common, and are all of their tensor. A kernel that writes a part reads none of that tensor.
constexpr void check_parts(program_planning& p) {
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor const& t = p.tensor(at);
        if (!t.in_parts) continue;
        auto const refuse = [&](rule broken, int a, int b) {
            p.refuse(verdict_kind::ill_formed, broken, {t.name, p.kernel(p.use(a).kernel).name, p.kernel(p.use(b).kernel).name});
        };
        double written = 0;
        for (int which = 0; which < p.plan.uses.size() && !p.refused(); ++which) {
            ir::program_use const& u = p.use(which);
            if (u.tensor != at || !u.written) continue;
            ir::buffer const& b = p.buffer_of(u);
            written += ir::elements_of(b.extents, b.rank);
            for (int other = 0; other < p.plan.uses.size() && !p.refused(); ++other) {
                ir::program_use const& beside = p.use(other);
                if (beside.tensor != at || other == which) continue;
                if (beside.kernel == u.kernel) refuse(rule::part_read_and_written, which, other);
                else if (beside.written && p.meet(u, beside)) refuse(rule::parts_overlap, which, other);
            }
        }
        if (p.refused()) return;
        double const all = ir::elements_of(t.extents, t.rank);
        if (written < all)
            p.refuse(verdict_kind::ill_formed, rule::parts_leave_gaps, {t.name}, 0,
                     {fact{fact_kind::have, static_cast<std::int64_t>(written)}, fact{fact_kind::need, static_cast<std::int64_t>(all)}});
    }
}

/// Extents: those that the producer writes; for inputs and constants, as much as is read. Readers stay inside, and can take dense rows.
constexpr void size_tensors(program_planning& p) {
    take_shapes(p);
    shape_reshaped(p);
    for (int which = 0; which < p.plan.uses.size() && !p.refused(); ++which) {
        ir::program_use const& u = p.use(which);
        ir::program_tensor& t = p.tensor(u.tensor);
        ir::buffer const& b = p.buffer_of(u);
        for (int d = 0; d < b.rank && !u.reshaped && !p.refused(); ++d) {
            std::int64_t const first = u.begin[d] + b.minimum[d], end = first + b.extents[d];
            if (!t.sized && first >= 0) {
                t.extents[d] = t.extents[d] < end ? end : t.extents[d];
            } else if (first < 0 || end > t.extents[d]) {
                refuse_outside(p, t.name, d, first, end - 1, t.extents[d] - 1);
            }
        }
    }
    if (!p.refused()) size_states(p);
    if (!p.refused()) check_parts(p);
    for (int at = 0; at < p.plan.tensors.size() && !p.refused(); ++at) {
        ir::program_tensor& t = p.tensor(at);
        t.bytes = p.limited(bytes_of(t.type) * ir::elements_of(t.extents, t.rank), plan_value::most_bytes, "bytes", t.name);
        t.alignment = bytes_of(t.type);
        if (t.kind != ir::tensor_kind::constant || p.refused()) continue;
        std::int64_t const have = p.plan.of->statement_at(t.statement).count * bytes_of(t.type);
        if (have == t.bytes) continue;
        p.refuse(verdict_kind::ill_formed, rule::constant_of_another_size, {t.name}, 0,
                 {fact{fact_kind::have, have / bytes_of(t.type)}, fact{fact_kind::need, t.bytes / bytes_of(t.type)}});
    }
    if (!p.refused()) check_reshaped(p);
    for (int which = 0; which < p.plan.uses.size() && !p.refused(); ++which) {
        ir::program_use const& u = p.use(which);
        ir::program_tensor& t = p.tensor(u.tensor);
        ir::buffer const& b = p.buffer_of(u);
        auto const stride = [&](int d) { return ir::stride_of(t, u, b, d); };
        t.alignment = p.common_multiple(t.alignment, b.alignment, t.name);
        std::int64_t dense = 1;
        bool fits = ir::first_element(t, u, b) * bytes_of(t.type) % b.alignment == 0;
        for (int d = b.rank - 1; d >= 0; --d) {
            bool const several = b.extents[d] > 1;
            if (several && b.stride_multiples[d] > 1 && stride(d) % b.stride_multiples[d] != 0) fits = false;
            if (several && b.longest_strides[d] > 0 && stride(d) > b.longest_strides[d]) fits = false;
            if (several && d >= b.dense_from && stride(d) != dense) fits = false;
            dense *= b.extents[d];
        }
        if (!fits) p.refuse(verdict_kind::ill_formed, rule::rows_of_another_kind, {t.name, {}, p.kernel(u.kernel).name});
    }
}

}  // namespace tilewright::detail
