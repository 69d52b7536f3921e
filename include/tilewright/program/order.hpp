#pragma once
#include <tilewright/plan/offsets/sections.hpp>
#include <tilewright/program/residence.hpp>

// When kernels run. The caller's core hands them out one after the other; other agents, and engines that copy, work beside it.
namespace tilewright::detail {

/// Puts the kernels in an order in which everything is computed before it is read, and agents that work beside are kept busy.
///
/// Kernels keep the order in which they were written, as far as their inputs are there and no kernel under way has their engines. Copies by
/// the caller's core, and copies back into a memory that was too small, run right before the first kernel that needs them. Other agents
/// begin their copies when they can. Copies out of a memory that is too small come first of all.
class kernel_order {
  public:
    constexpr explicit kernel_order(program_planning& planned) : p(planned), states_(planned.plan.kernels.size()) { set_all(running_, -1); }

    constexpr void write() {
        int const count = p.plan.kernels.size();
        int left = count;
        while (left > 0 && !p.refused()) {
            join_what_has_left();
            int chosen = -1;
            for (int k = 0; k < count && chosen < 0; ++k) {
                if (waits(k) && p.kernel(k).early && ready(k)) chosen = k;
            }
            // Agents that work beside get something first: the caller's core goes on meanwhile.
            for (int beside = 1; beside >= 0 && chosen < 0; --beside) {
                for (int k = 0; k < count && chosen < 0; ++k) {
                    bool const free = (!is_beside(k) || running_[agent_at(k)] < 0) && in_the_way_of(k) < 0;
                    if (waits(k) && !on_demand(k) && is_beside(k) == (beside == 1) && free && ready(k)) chosen = k;
                }
            }
            if (chosen >= 0) {
                hand_out(chosen);
            } else if (int const agent = next_to_complete(); agent >= 0) {
                join(agent);
            } else {
                // A copy that only feeds a spilled tensor may be left.
                for (int k = 0; k < count && chosen < 0; ++k) {
                    if (waits(k) && ready(k)) chosen = k;
                }
                if (chosen < 0) return refuse_cycle();
                hand_out(chosen);
            }
            left = 0;
            for (int k = 0; k < count; ++k) left += waits(k) ? 1 : 0;
        }
        for (int agent = next_to_complete(); agent >= 0 && !p.refused(); agent = next_to_complete()) join(agent);
        p.plan.total_cycles = now_;
        p.plan.total_known = known_;
    }

  private:
    enum class state : std::uint8_t { waiting, running, complete };

    constexpr int agent_at(int k) const { return p.kernel(k).agent; }
    constexpr bool is_beside(int k) const { return p.plan.agent_of(p.kernel(k)).works_beside(); }
    constexpr bool on_demand(int k) const { return p.kernel(k).is_copy() && (p.kernel(k).late || !is_beside(k)); }
    /// Another agent whose kernel under way has an engine, or registers, that this one uses too; -1: none.
    constexpr int in_the_way_of(int k) const {
        for (int a = 0; a < p.plan.of->agent_count; ++a) {
            int const running = running_[a];
            if (running >= 0 && meet_on_hardware(p.plan, p.kernel(running), p.kernel(k))) return a;
        }
        return -1;
    }
    constexpr bool waits(int k) const { return states_.at[k] == state::waiting; }
    /// Whether all that a kernel reads is there, or a copy makes it from what is there.
    constexpr bool ready(int k, int depth = 0) const {
        bool all = true;
        p.each_use(k, [&](ir::program_use const& u) {
            if (u.written) all &= state_is_read(k, u.tensor);
            p.each_maker(u, [&](int maker) {
                if (states_.at[maker] == state::complete) return;
                bool const copied = on_demand(maker) && waits(maker) && maker != k;
                all &= copied && depth < p.plan.kernels.size() && ready(maker, depth + 1);
            });
        });
        return all;
    }
    /// Whether a kernel may write a tensor, if that overwrites what a run before has left: all others have read that, or a copy, which the
    /// kernel reads, is made first.
    constexpr bool state_is_read(int k, int written) const {
        bool all = true;
        for (int at = 0; at < p.plan.uses.size() && p.tensor(written).state_of >= 0; ++at) {
            ir::program_use const& u = p.plan.uses[at];
            if (u.tensor != p.tensor(written).state_of || u.kernel == k || states_.at[u.kernel] == state::complete) continue;
            bool copied_for_it = false;
            p.each_use(k, [&](ir::program_use const& own) {
                copied_for_it |= !own.written && p.tensor(own.tensor).producer == u.kernel && on_demand(u.kernel) && waits(u.kernel);
            });
            all &= copied_for_it;
        }
        return all;
    }
    constexpr int step(ir::program_step_kind kind, int k) { return p.keep(p.plan.steps, {kind, static_cast<std::int16_t>(k)}, "steps"); }
    constexpr void hand_out(int k) {
        p.each_use(k, [&](ir::program_use const& u) {
            p.each_maker(u, [&](int maker) {
                if (waits(maker)) hand_out(maker);
            });
        });
        ir::program_kernel& kernel = p.kernel(k);
        known_ &= kernel.cycles_known;
        for (int agent = in_the_way_of(k); agent >= 0; agent = in_the_way_of(k)) join(agent);
        if (is_beside(k) && running_[agent_at(k)] >= 0) join(static_cast<int>(agent_at(k)));
        meet_before(k);
        if (!is_beside(k)) {
            kernel.first_step = kernel.last_step = static_cast<std::int16_t>(step(ir::program_step_kind::run, k));
            states_.at[k] = state::complete;
            now_ += kernel.cycles;
            return;
        }
        kernel.first_step = static_cast<std::int16_t>(step(ir::program_step_kind::start, k));
        states_.at[k] = state::running;
        running_[agent_at(k)] = static_cast<std::int16_t>(k);
        complete_at_[agent_at(k)] = now_ + kernel.cycles;
        now_ += kernel.issue_cycles;
        // A kernel that reads such a copy, or takes the bytes that it has freed, comes right after it.
        if (on_demand(k) || (kernel.early && p.spills_at_once)) join(static_cast<int>(agent_at(k)));
    }
    /// Cores meet between two kernels, unless core 0 runs both, or begins or joins them. All go on when the slowest kind does.
    constexpr void meet_before(int k) {
        bool const shared = p.kernel(k).cores > 1;
        if (last_is_shared_ || (shared && p.plan.steps.size() > 0)) {
            step(ir::program_step_kind::barrier, -1);
            now_ += p.plan.machine_of_cores().longest_barrier(p.plan.cores);
        }
        last_is_shared_ = shared;
    }
    /// A copy out of a memory that is too small frees it as soon as it is complete.
    constexpr void join_what_has_left() {
        for (int a = 0; a < p.plan.of->agent_count; ++a) {
            if (running_[a] >= 0 && p.kernel(running_[a]).early && complete_at_[a] <= now_) join(a);
        }
    }
    constexpr int next_to_complete() const {
        int found = -1;
        for (int a = 0; a < p.plan.of->agent_count; ++a) {
            if (running_[a] >= 0 && (found < 0 || complete_at_[a] < complete_at_[found])) found = a;
        }
        return found;
    }
    constexpr void join(int agent) {
        int const k = running_[agent];
        p.kernel(k).last_step = static_cast<std::int16_t>(step(ir::program_step_kind::join, k));
        states_.at[k] = state::complete;
        running_[agent] = -1;
        now_ = now_ < complete_at_[agent] ? complete_at_[agent] : now_;
    }
    /// Names a kernel that reads what a run before has left, and is to do so after that is overwritten. @return whether there is one
    constexpr bool refuse_late_reader() {
        for (int at = 0; at < p.plan.uses.size(); ++at) {
            ir::program_use const& u = p.plan.uses[at];
            if (!u.written || !waits(u.kernel) || state_is_read(u.kernel, u.tensor)) continue;
            bool computed = true;  // all that it reads is there
            p.each_use(u.kernel, [&](ir::program_use const& own) { p.each_maker(own, [&](int maker) { computed &= !waits(maker); }); });
            ir::program_tensor const &after = p.tensor(u.tensor), &before = p.tensor(after.state_of);
            for (int other = 0; other < p.plan.uses.size() && computed; ++other) {
                ir::program_use const& late = p.plan.uses[other];
                if (late.tensor != after.state_of || late.kernel == u.kernel || !waits(late.kernel)) continue;
                p.refuse(verdict_kind::ill_formed, rule::state_read_too_late, {before.name, after.name, p.kernel(late.kernel).name});
                return true;
            }
        }
        return false;
    }
    constexpr void refuse_cycle() {
        if (refuse_late_reader()) return;
        // Goes from a kernel that waits to one that it waits for: after as many steps as there are kernels, it is on the cycle. The verdict
        // names the first kernel of the cycle.
        int k = 0, first = -1, written = -1, maker_of_last = -1;
        while (!waits(k)) ++k;
        int const count = p.plan.kernels.size();
        for (int hops = 0; hops < 2 * count; ++hops) {
            int last = -1;
            p.each_use(k, [&](ir::program_use const& u) {
                p.each_maker(u, [&](int maker) {
                    if (waits(maker)) last = u.tensor, maker_of_last = maker;
                });
            });
            k = maker_of_last;
            if (hops >= count && (first < 0 || k < first)) first = k, written = last;
        }
        p.refuse(verdict_kind::cycle).names = {p.kernel(first).name, p.tensor(written).name};
    }

    program_planning& p;
    work_array<state> states_;
    fixed_array<std::int16_t, program::most_agents> running_{};  ///< the kernel of each agent; -1: none
    fixed_array<std::int64_t, program::most_agents> complete_at_{};
    std::int64_t now_ = 0;
    bool known_ = true;
    bool last_is_shared_ = false;  ///< whether several cores run the last kernel that was handed out
};

/// A tensor is alive from the beginning of the first kernel that writes it, or a part of it, to the end of the last kernel that has it.
constexpr void set_lifetimes(program_planning& p) {
    auto const end = static_cast<std::int16_t>(p.plan.steps.size());
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor& t = p.tensor(at);
        t.born = t.producer < 0 ? std::int16_t{0} : p.kernel(t.producer).first_step;
        t.dead = t.producer < 0 ? std::int16_t{1} : static_cast<std::int16_t>(p.kernel(t.producer).last_step + 1);
        for (int u = 0; u < p.plan.uses.size(); ++u) {
            if (p.use(u).tensor != at) continue;
            std::int16_t const first = p.kernel(p.use(u).kernel).first_step, last = p.kernel(p.use(u).kernel).last_step;
            if (p.use(u).written && first < t.born) t.born = first;
            if (t.dead <= last) t.dead = static_cast<std::int16_t>(last + 1);
        }
        if (t.kind == ir::tensor_kind::output || t.kind == ir::tensor_kind::constant) t.dead = end;
    }
}

/// What a run leaves takes the place of what was left there before. The kernel that writes it comes after all that read that; if it reads
/// it itself, it must be safe to write each element there.
constexpr void join_states(program_planning& p) {
    p.each_state([&](int before_at, int after_at) {
        ir::program_tensor &before = p.tensor(before_at), &after = p.tensor(after_at);
        if (before.passed) {
            p.refuse(verdict_kind::no_memory).names = {before.name, p.memory_at(before.memory).name};
            return;
        }
        before.born = 0;
        before.dead = static_cast<std::int16_t>(p.plan.steps.size());
        after.in_place_of = static_cast<std::int16_t>(before_at);
        int const writer = after.producer;
        int own = 0;
        bool safe = true;
        p.each_use(writer, [&](ir::program_use const& u) {
            if (u.written || u.tensor != before_at) return;
            ++own;
            safe = p.kernel(writer).cores == 1 && may_be_result(p.plan_of(writer), u.buffer);
        });
        if (own > 1 || !safe) p.refuse(verdict_kind::ill_formed, rule::state_overwritten, {before.name, after.name, p.kernel(writer).name});
    });
}

/// A result takes over the bytes of a tensor that its kernel is the last to read, if that is proven safe.
constexpr void take_over(program_planning& p) {
    for (int k = 0; k < p.plan.kernels.size(); ++k) {
        // Cores are at different elements at a time.
        if (p.kernel(k).is_copy() || p.kernel(k).cores > 1) continue;
        int result = -1;
        p.each_use(k, [&](ir::program_use const& u) { result = u.written ? u.tensor : result; });
        p.each_use(k, [&](ir::program_use const& u) {
            if (u.written || u.is_part || p.tensor(result).in_parts || p.tensor(result).in_place_of >= 0) return;
            ir::program_tensor const& in = p.tensor(u.tensor);
            ir::program_tensor& out = p.tensor(result);
            bool const last = in.dead == p.kernel(k).last_step + 1;
            bool others = false;  // another kernel that runs meanwhile reads it
            for (int at = 0; at < p.plan.uses.size(); ++at) {
                ir::program_use const& other = p.use(at);
                others |= other.tensor == u.tensor && (other.kernel != k || other.buffer != u.buffer) &&
                          p.kernel(other.kernel).last_step >= p.kernel(k).first_step;
            }
            bool const own = in.kind == ir::tensor_kind::between && !in.passed && !out.passed && in.memory == out.memory &&
                             !p.place_given(out.name).any();
            if (last && !others && own && in.bytes == out.bytes && may_be_result(p.plan_of(k), u.buffer)) out.in_place_of = u.tensor;
        });
    }
}

}  // namespace tilewright::detail
