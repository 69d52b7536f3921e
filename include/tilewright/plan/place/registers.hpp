#pragma once
#include <tilewright/compute/value_range.hpp>
#include <tilewright/plan/ir/planning.hpp>
#include <tilewright/plan/loops/tile_rest.hpp>

// Registers: how many a tile body holds at one time, and in which order its loops are written out.
namespace tilewright::detail {

/// Registers of `bytes` each that a row of elements takes.
constexpr std::int64_t registers_of_row(std::int64_t elements, scalar_type type, std::int64_t bytes) {
    return (elements * bytes_of(type) + bytes - 1) / bytes;
}

/// A buffer in registers takes whole ones for every row.
constexpr std::int64_t bytes_in_registers(buffer const& b, memory const& file) {
    std::int64_t count = registers_of_row(b.rank > 0 ? b.extents[b.rank - 1] : 1, b.type, file.register_bytes());
    for (int dimension = 0; dimension + 1 < b.rank; ++dimension) count *= b.extents[dimension];
    return count * file.register_bytes();
}

/// Whether lanes of a tile body add up products of bytes by fours, and the sum of any two fits 16 bits. Then the instruction that adds
/// pairs, and saturates at 16 bits, is exact.
constexpr bool adds_bytes_by_fours(plan_value const& plan, body const& b) {
    stage const& s = plan.stages[b.stage];
    bool fours = false;
    for (int at = 0; at < b.loop_count; ++at) {
        variable const& v = plan.variables[b.loops[at]];
        fours |= v.vectorized && v.reduction && v.extent % 4 == 0;
    }
    return fours && s.reduction == operation::reduce_sum && pairs_fit_16_bits(plan.what, s.body);
}

/// The registers that the instructions of a tile body hold besides the buffers in registers: every operand that they read, from its first
/// use to its last, with the loops written out in their order.
///
/// An operand is loaded once and kept, if the innermost loops move it and a loop around them does not: it takes as many registers as they
/// move it over. An operand that moves with all loops is streamed through one register, and so is one that no loop further in moves.
class register_count {
  public:
    constexpr register_count(plan_value const& plan, body const& of, int file_at)
        : plan_(plan), b_(of), file_(plan.where->memories[file_at]) {}

    struct operand {
        label tensor{};
        std::int64_t registers = 1;
    };
    fixed_array<operand, 4> operands{};  ///< the first ones
    int operand_count = 0;

    constexpr std::int64_t operator()(fixed_array<variable_id, body::most_loops> const& loops) {
        stage const& s = plan_.stages[b_.stage];
        // The starting value is written before the first step.
        std::int64_t const before = s.start < 0 || b_.kind == body_kind::update ? 0 : held_by(loops, s.start, true);
        if (b_.kind == body_kind::identity) return before;
        std::int64_t const steps = held_by(loops, s.body, false);
        return steps > before ? steps : before;
    }

  private:
    constexpr std::int64_t held_by(fixed_array<variable_id, body::most_loops> const& loops, int value, bool start) {
        stage const& s = plan_.stages[b_.stage];
        std::int64_t total = 0;
        operand_count = 0;
        plan_.each_use(b_, [&](use const& u, bool reads, bool) {
            buffer const& b = plan_.buffers[u.buffer];
            if (!reads || s.is_in_start(u.node) != start || plan_.where->memories[b.memory].registers > 0) return;
            std::int64_t held = lanes_of(u, b);
            bool kept = false;  // a loop around does not move it
            for (int at = 0; at < b_.loop_count; ++at) {
                variable const& v = plan_.variables[loops[at]];
                if (!v.unrolled || v.extent == 1 || v.reduction) continue;
                if (!moves_with(plan_, u, loops[at])) kept = true;
                else if (kept) held *= v.extent;
            }
            if (operand_count < static_cast<int>(operands.size())) operands[operand_count++] = {b.tensor, held};
            total += held;
        });
        // A product that is not added at once needs a register of its own, and so do the ones that add up sums of pairs.
        bool const fused =
            plan_.where->host().fused_multiply_add && s.reduces() && is_float(s.type) && plan_.what[value].op == operation::multiply;
        bool const plain = plan_.what[value].op == operation::access;
        return total + ((fused && !start) || plain ? 0 : 1) + (!start && adds_bytes_by_fours(plan_, b_) ? 1 : 0);
    }
    constexpr std::int64_t lanes_of(use const& u, buffer const& b) const {
        std::int64_t lanes = 1;
        for (int at = 0; at < b_.loop_count; ++at) {
            int const loop = b_.loops[at];
            if (plan_.variables[loop].vectorized && moves_with(plan_, u, loop)) lanes *= plan_.variables[loop].extent;
        }
        return registers_of_row(lanes, b.type, file_.register_bytes());
    }

    plan_value const& plan_;
    body const& b_;
    memory const& file_;
};

/// Registers have no addresses: every loop that moves an index into them is written out.
/// @param around  loops of the program that the body stands in
constexpr void check_written_out(plan_value const& plan, refusals const& to, body const& b, fixed_array<std::int16_t, 32> const& around,
                                 int depth) {
    auto const check = [&](use const& u, int loop) {
        variable const& v = plan.variables[loop];
        buffer const& held = plan.buffers[u.buffer];
        if (v.extent == 1 || v.unrolled || v.vectorized || to.refused() || !moves_with(plan, u, loop)) return;
        to.refuse(verdict_kind::loop_order, rule::registers_without_address, {v.name, held.tensor}, held.ordinal);
    };
    plan.each_use(b, [&](use const& u, bool, bool) {
        if (plan.where->memories[plan.buffers[u.buffer].memory].registers == 0) return;
        for (int at = 0; at < b.loop_count; ++at) check(u, b.loops[at]);
        for (int at = 0; at < depth; ++at) check(u, around[at]);
    });
}

/// All partial tiles in registers must have the same number of values of an axis, because their loops are written out, too.
constexpr void check_rests(plan_value const& plan, refusals const& to, body const& b, int ordinal) {
    for (int at = 0; at < plan.limits.count && !to.refused(); ++at) {
        limit const& l = plan.limits[at];
        if (!limits_body(plan, l, b, b.kind == body_kind::identity) || rest_of_tile(plan, l, b).constant) continue;
        for (int which = 0; which < b.loop_count; ++which) {
            int const ended = b.loops[which];
            if (!moves_with(plan, form_of(plan, l.form), ended)) continue;
            return to.refuse(verdict_kind::loop_order, rule::registers_of_changing_tiles,
                             {plan.variables[ended].name, plan.stages[b.stage].output}, ordinal);
        }
    }
}

/// Puts the innermost written-out loops of a body in the order that holds the fewest registers; of equal orders, the one of the schedule.
/// Their iterations compute different elements, so any order gives the same result.
/// @return the registers that its operands take then
constexpr std::int64_t order_for_registers(plan_value const& plan, body& b, register_count& count) {
    int first = b.loop_count;
    auto const loop_at = [&](int at) -> variable const& { return plan.variables[b.loops[at]]; };
    while (first > 0 && (loop_at(first - 1).vectorized || (loop_at(first - 1).unrolled && !loop_at(first - 1).reduction))) --first;
    fixed_array<variable_id, body::most_loops> best = b.loops;
    std::int64_t fewest = count(best);
    constexpr int most_permuted = 4;
    if (b.loop_count - first > most_permuted) return fewest;
    // All permutations, by exchanging the loop at `at` with each loop after it.
    auto const permute = [&](auto const& self, fixed_array<variable_id, body::most_loops> loops, int at) -> void {
        if (at == b.loop_count) {
            std::int64_t const held = count(loops);
            if (held < fewest) fewest = held, best = loops;
            return;
        }
        for (int other = at; other < b.loop_count; ++other) {
            auto changed = loops;
            changed[at] = loops[other];
            changed[other] = loops[at];
            self(self, changed, at + 1);
        }
    };
    permute(permute, b.loops, first);
    b.loops = best;
    return count(best);
}

/// Orders the loops of every body that works on registers, and refuses a body that would hold more registers than there are.
/// @pre lifetimes are known
constexpr void check_registers(plan_value& plan, refusals const& to) {
    bool any = false;
    for (int at = 0; at < plan.buffers.count; ++at) any |= plan.where->memories[plan.buffers[at].memory].registers > 0;
    if (!any) return;
    fixed_array<std::int16_t, 32> open{};
    int depth = 0;
    for (int at = 0; at < plan.steps.count && !to.refused(); ++at) {
        step const s = plan.steps[at];
        if (s.kind == step_kind::loop) open[depth++] = s.what;
        if (s.kind == step_kind::end) --depth;
        if (s.kind != step_kind::compute) continue;
        body& b = plan.bodies[s.what];
        if (b.kind == body_kind::intrinsic) {
            if (passes_values(*plan.where, plan.where->intrinsics[b.intrinsic])) check_written_out(plan, to, b, open, depth);
            continue;
        }
        int file = -1, ordinal = 0;
        plan.each_use(b, [&](use const& u, bool, bool) {
            if (plan.where->memories[plan.buffers[u.buffer].memory].registers == 0) return;
            file = plan.buffers[u.buffer].memory, ordinal = plan.buffers[u.buffer].ordinal;
        });
        if (file < 0) continue;
        check_written_out(plan, to, b, open, depth);
        check_rests(plan, to, b, ordinal);
        register_count count(plan, b, file);
        memory const& m = plan.where->memories[file];
        std::int64_t need = order_for_registers(plan, b, count);
        fixed_array<share, 5> shares{};
        int shown = 0;
        for (int which = 0; which < plan.buffers.count; ++which) {
            buffer const& held = plan.buffers[which];
            if (held.memory != file || held.born > at || held.dead <= at) continue;
            std::int64_t const registers = held.versions * held.bytes / m.register_bytes();
            need += registers;
            if (shown < static_cast<int>(shares.size())) shares[shown++] = {held.tensor, m.register_bytes(), static_cast<int>(registers)};
        }
        if (need <= m.registers || to.refused()) continue;
        for (int which = 0; which < count.operand_count && shown < static_cast<int>(shares.size()); ++which) {
            register_count::operand const& o = count.operands[which];
            shares[shown++] = {o.tensor, m.register_bytes(), static_cast<int>(o.registers)};
        }
        verdict& v = to.refuse(verdict_kind::register_overflow, ordinal);
        v.names = {m.name, plan.stages[b.stage].output};
        v.facts = {fact{fact_kind::need, need}, fact{fact_kind::have, m.registers}};
        v.shares = shares;
        v.share_count = static_cast<std::int16_t>(shown);
    }
}

}  // namespace tilewright::detail
