#pragma once
#include <tilewright/program/pool_layout.hpp>
#include <utility>

// What to do about a memory that turns out too small.
namespace tilewright::detail {

/// The step at which the most bytes of a memory are alive.
constexpr int fullest_step(program_planning const& p, int memory_at) {
    int found = 0;
    for (int at = 1; at < p.plan.steps.size(); ++at) {
        if (p.plan.live_bytes(memory_at, at) > p.plan.live_bytes(memory_at, found)) found = at;
    }
    return found;
}

/// Finds a tensor in a memory that is too small, which may be elsewhere, and bars it from that memory.
constexpr bool move_elsewhere(program_planning& p, int memory_at, int at_step) {
    int chosen = -1;
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor const& t = p.tensor(at);
        if (t.memory != memory_at || t.passed || t.producer < 0 || t.copy_of >= 0 || t.born > at_step || t.dead <= at_step) continue;
        std::uint16_t others = static_cast<std::uint16_t>(~(1u << memory_at | p.banned_from(at)));
        bool const barred = (p.banned_from(at) >> memory_at & 1) != 0;  // in vain
        bool movable = t.kind == ir::tensor_kind::between && !barred;
        p.each_statement(
            [&](int, program::statement const& s) { movable &= s.kind != program::statement_kind::pin || s.tensor != t.name; });
        for (int u = 0; u < p.plan.uses.size(); ++u) {
            if (p.use(u).tensor == at) others &= p.use(u).allowed == 0 ? static_cast<std::uint16_t>(~0u) : p.use(u).allowed;
        }
        bool elsewhere = false;
        for (int m = 0; m < p.plan.memories.size(); ++m) elsewhere |= (others >> m & 1) != 0 && p.memory_at(m).what.capacity > 0;
        if (movable && elsewhere && (chosen < 0 || t.bytes > p.tensor(chosen).bytes)) chosen = at;
    }
    if (chosen < 0) return false;
    p.ban(chosen, memory_at);
    return true;
}

/// Finds a tensor that may spill, and that nobody uses at that step. Later readers read the copy that has come back.
constexpr bool spill_one(program_planning& p, int memory_at, int at_step) {
    int chosen = -1, statement_at = -1;
    p.each_statement([&](int which, program::statement const& s) {
        if (s.kind != program::statement_kind::may_spill) return;
        int const at = p.plan.find_tensor(s.tensor);
        ir::program_tensor const& t = p.tensor(at);
        bool known = false;
        for (int before = 0; before < p.spilled.size(); ++before) known |= p.spilled[before].tensor == s.tensor;
        if (known || t.memory != memory_at || t.passed || t.born >= at_step || t.dead <= at_step + 1) return;
        bool busy = false;
        for (int u = 0; u < p.plan.uses.size(); ++u) {
            ir::program_kernel const& k = p.kernel(p.use(u).kernel);
            bool const writes_later = p.use(u).written && k.first_step > at_step;  // another part
            busy |= p.use(u).tensor == at && (writes_later || (k.first_step <= at_step && at_step <= k.last_step));
        }
        if (!busy && (chosen < 0 || t.bytes > p.tensor(chosen).bytes)) chosen = at, statement_at = which;
    });
    if (chosen < 0 || p.spilled.full()) return false;
    spilled_tensor made{p.tensor(chosen).name, p.plan.of->statement_at(statement_at).where.names[0]};
    for (int u = 0; u < p.plan.uses.size(); ++u) {
        if (p.use(u).tensor == chosen && !p.use(u).written && p.kernel(p.use(u).kernel).first_step > at_step)
            made.readers.add(p.use(u).kernel);
    }
    p.spilled.push(made);
    return true;
}

/// A tensor that spills must have left the memory when it is fullest: the caller waits at once for those who copy it.
constexpr bool spill_at_once(program_planning& p, int at_step) {
    bool under_way = false;
    for (int at = 0; at < p.plan.kernels.size(); ++at) {
        ir::program_kernel const& k = p.kernel(at);
        under_way |= k.early && k.first_step < k.last_step && k.first_step <= at_step && at_step <= k.last_step;
    }
    if (!under_way || p.spills_at_once) return false;
    p.spills_at_once = true;
    return true;
}

/// Names the memory, how much it lacks, the kernel where it is fullest, and what is alive there.
constexpr void refuse_pool(program_planning& p, int memory_at, int at_step) {
    memory const& m = p.memory_at(memory_at).what;
    verdict& v = p.refuse(verdict_kind::memory_overflow);
    ir::program_step const& s = p.plan.steps[at_step];
    v.names = {p.memory_at(memory_at).name, {}, p.kernel(s.kernel).name};
    v.facts = {fact{fact_kind::need, p.plan.pools[memory_at].peak}, fact{fact_kind::have, m.bank_capacity()}};
    auto const size = [](share const& of) { return of.bytes * of.copies; };
    auto const add = [&](label const& name, std::int64_t bytes, int copies) {
        // Largest first; the last entry sums up what the list has no room for.
        share one{name, bytes, copies};
        int at = 0;
        while (at < v.share_count && size(v.shares[at]) >= size(one)) ++at;
        for (; at < static_cast<int>(v.shares.size()); ++at) {
            std::swap(one, v.shares[at]);
            if (at >= v.share_count) {
                ++v.share_count;
                return;
            }
        }
        last_of(v.shares) = {"others", size(last_of(v.shares)) + size(one), 1};
    };
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor const& t = p.tensor(at);
        if (t.memory == memory_at && !t.passed && t.in_place_of < 0 && t.born <= at_step && t.dead > at_step) add(t.name, t.bytes, 1);
    }
    for (int from = 0; from < p.plan.scratch.size(); from = p.plan.scratch_end(from)) {
        ir::program_kernel const& k = p.kernel(p.plan.scratch_at(from).kernel);
        if (p.plan.scratch_at(from).memory != memory_at || k.first_step > at_step || at_step > k.last_step) continue;
        int const fullest = p.plan.fullest_point(from);
        for (int at = from; at < p.plan.scratch_end(from); ++at) {
            ir::program_scratch const& held = p.plan.scratch_at(at);
            if (held.born <= fullest && fullest < held.dead) add(dotted(k.name, held.name), held.bytes, held.versions);
        }
    }
}

}  // namespace tilewright::detail
