#pragma once
#include <tilewright/plan/offsets.hpp>
#include <tilewright/program/order.hpp>

// Offsets of all that lives in the memories of a program.
namespace tilewright::detail {

/// What shares an offset: a tensor with those that take its bytes over, or a kernel's own buffers.
struct pooled {
    std::int16_t tensor = -1;  ///< the first of them
    std::int16_t frame = -1;
};

constexpr int first_in_place(program_planning& p, int tensor_at) {
    while (p.tensor(tensor_at).in_place_of >= 0) tensor_at = p.tensor(tensor_at).in_place_of;
    return tensor_at;
}

/// The step at which most of a memory is alive.
constexpr int fullest_step(program_planning const& p, int memory_at) {
    int found = 0;
    for (int at = 1; at < p.plan.steps.size(); ++at) {
        if (p.plan.live_bytes(memory_at, at) > p.plan.live_bytes(memory_at, found)) found = at;
    }
    return found;
}

/// Constants first, one behind the other, for they are one image; then everything else, by `assign_offsets`.
/// @return whether it fits
constexpr bool allocate_memory(program_planning& p, int memory_at, std::int64_t budget) {
    memory const& m = p.memory_at(memory_at).what;
    ir::pool_use& pool = p.plan.pools[static_cast<std::size_t>(memory_at)];
    pool = {.alignment = m.alignment};
    std::int64_t fixed = 0;
    fixed_array<ir::placed_buffer, program_plan_value::most_tensors + program_plan_value::most_frames> buffers{};
    fixed_array<pooled, program_plan_value::most_tensors + program_plan_value::most_frames> owners{};
    std::size_t count = 0;
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor& t = p.tensor(at);
        if (t.memory != memory_at || t.passed) continue;
        pool.used = true;
        pool.alignment = std::lcm(pool.alignment, t.alignment);
        if (t.kind == ir::tensor_kind::constant) {
            t.offset = (fixed + t.alignment - 1) / t.alignment * t.alignment;
            pool.constants = fixed = t.offset + t.bytes;
            continue;
        }
        if (t.in_place_of >= 0) continue;
        owners[count] = {.tensor = static_cast<std::int16_t>(at)};
        ir::placed_buffer& one = buffers[count++];
        one.bytes = t.bytes, one.alignment = t.alignment, one.born = t.born, one.dead = t.dead;
        for (int other = 0; other < p.plan.tensors.size(); ++other) {
            if (p.tensor(other).in_place_of < 0 || first_in_place(p, other) != at) continue;
            one.alignment = std::lcm(one.alignment, p.tensor(other).alignment);
            one.dead = one.dead < p.tensor(other).dead ? p.tensor(other).dead : one.dead;
        }
    }
    // A kernel's own buffers have one offset in all banks: they are kept below everything else where there are several.
    std::int64_t alignment = pool.alignment, in_all_banks = 0;
    for (int at = 0; at < p.plan.frames.size(); ++at) {
        ir::program_frame& f = p.plan.frames[static_cast<std::size_t>(at)];
        if (f.memory != memory_at) continue;
        pool.used = true;
        pool.alignment = alignment = std::lcm(alignment, f.alignment);
        ir::program_kernel const& k = p.kernel(f.kernel);
        if (m.banks == 1) {
            owners[count] = {.frame = static_cast<std::int16_t>(at)};
            ir::placed_buffer& one = buffers[count++];
            one.bytes = f.bytes, one.alignment = f.alignment, one.born = k.first_step, one.dead = k.last_step + 1;
        }
        in_all_banks = in_all_banks < f.bytes ? f.bytes : in_all_banks;
    }
    if (!pool.used) return true;
    if (m.banks > 1) {
        for (int at = 0; at < p.plan.frames.size(); ++at) {
            ir::program_frame& f = p.plan.frames[static_cast<std::size_t>(at)];
            if (f.memory == memory_at) f.offset = (fixed + alignment - 1) / alignment * alignment;
        }
        if (in_all_banks > 0) fixed = (fixed + alignment - 1) / alignment * alignment + in_all_banks;
    }
    // Behind what is fixed, everything counts from an aligned base.
    std::int64_t const base = count == 0 ? fixed : (fixed + alignment - 1) / alignment * alignment;
    std::int64_t const room = m.bank_capacity() - base;
    ir::offset_result found{};
    if (count > 0) {
        found = assign_offsets(std::span<ir::placed_buffer>(buffers.data(), count),
                               {.capacity = room < 0 ? 0 : room * m.banks, .banks = m.banks}, budget);
        for (std::size_t at = 0; at < count; ++at) {
            if (owners[at].frame >= 0) {
                p.plan.frames[static_cast<std::size_t>(owners[at].frame)].offset = base + buffers[at].offset;
                continue;
            }
            for (int t = 0; t < p.plan.tensors.size(); ++t) {
                bool const here = p.tensor(t).memory == memory_at && !p.tensor(t).passed && p.tensor(t).offset < 0;
                if (!here || first_in_place(p, t) != owners[at].tensor) continue;
                p.tensor(t).offset = base + buffers[at].offset;
                p.tensor(t).bank = static_cast<std::int16_t>(buffers[at].bank < 0 ? 0 : buffers[at].bank);
            }
        }
        pool.proven = found.proven;
        pool.lower_bound = base + found.lower_bound;
    } else {
        pool.lower_bound = fixed;
    }
    pool.peak = count > 0 ? base + found.peak : fixed;
    return pool.peak <= m.bank_capacity();
}

/// Steps of the search for the smallest peak of one memory: what a constant evaluation can afford, and what a tool can.
struct search_budget {
    std::int64_t steps = 0;
};

/// A tensor in a memory that is too small which may be elsewhere: it is barred from that memory.
constexpr bool move_elsewhere(program_planning& p, int memory_at, int at_step) {
    int chosen = -1;
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor const& t = p.tensor(at);
        if (t.memory != memory_at || t.passed || t.producer < 0 || t.copy_of >= 0 || t.born > at_step || t.dead <= at_step) continue;
        std::uint16_t others = static_cast<std::uint16_t>(~(1u << memory_at | p.banned[static_cast<std::size_t>(at)]));
        bool const barred = (p.banned[static_cast<std::size_t>(at)] >> memory_at & 1) != 0;  // in vain
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
    p.banned[static_cast<std::size_t>(chosen)] |= static_cast<std::uint16_t>(1u << memory_at);
    return true;
}

/// A tensor that may spill, and that nobody uses at that step: those who read it later read what has come back.
constexpr bool spill_one(program_planning& p, int memory_at, int at_step) {
    int chosen = -1, statement_at = -1;
    p.each_statement([&](int which, program::statement const& s) {
        if (s.kind != program::statement_kind::may_spill) return;
        int const at = p.plan.find_tensor(s.tensor);
        ir::program_tensor const& t = p.tensor(at);
        bool known = false;
        for (int before = 0; before < p.spilled_count; ++before) known |= p.spilled[static_cast<std::size_t>(before)].tensor == s.tensor;
        if (known || t.memory != memory_at || t.passed || t.born >= at_step || t.dead <= at_step + 1) return;
        bool busy = false;
        for (int u = 0; u < p.plan.uses.size(); ++u) {
            ir::program_kernel const& k = p.kernel(p.use(u).kernel);
            busy |= p.use(u).tensor == at && k.first_step <= at_step && at_step <= k.last_step;
        }
        if (!busy && (chosen < 0 || t.bytes > p.tensor(chosen).bytes)) chosen = at, statement_at = which;
    });
    if (chosen < 0 || p.spilled_count == static_cast<int>(p.spilled.size())) return false;
    spilled_tensor& made = p.spilled[static_cast<std::size_t>(p.spilled_count++)];
    made = {p.tensor(chosen).name, p.program_of->statement_at(statement_at).where.names[0]};
    for (int u = 0; u < p.plan.uses.size(); ++u) {
        if (p.use(u).tensor == chosen && !p.use(u).written && p.kernel(p.use(u).kernel).first_step > at_step)
            made.readers |= std::uint64_t{1} << p.use(u).kernel;
    }
    return true;
}

/// Names the memory, how much it lacks, the kernel where it is fullest, and what is alive there.
constexpr void refuse_pool(program_planning& p, int memory_at, int at_step) {
    memory const& m = p.memory_at(memory_at).what;
    verdict& v = p.refuse(verdict_kind::memory_overflow);
    ir::program_step const& s = p.plan.steps[static_cast<std::size_t>(at_step)];
    v.names = {p.memory_at(memory_at).name, {}, p.kernel(s.kernel).name};
    std::int64_t const need = p.plan.pools[static_cast<std::size_t>(memory_at)].peak;
    v.facts = {fact{fact_kind::need, need}, fact{fact_kind::have, m.bank_capacity()}};
    auto const add = [&](label const& name, std::int64_t bytes) {
        // Largest first; what is too much for the list is summed up at its end.
        int at = 0;
        while (at < v.share_count && v.shares[static_cast<std::size_t>(at)].bytes >= bytes) ++at;
        share one{name, bytes, 1};
        for (; at < static_cast<int>(v.shares.size()); ++at) {
            std::swap(one, v.shares[static_cast<std::size_t>(at)]);
            if (at >= v.share_count) {
                ++v.share_count;
                return;
            }
        }
        v.shares.back() = {"others", v.shares.back().bytes + one.bytes, 1};
    };
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor const& t = p.tensor(at);
        if (t.memory == memory_at && !t.passed && t.in_place_of < 0 && t.born <= at_step && t.dead > at_step) add(t.name, t.bytes);
    }
    for (int at = 0; at < p.plan.frames.size(); ++at) {
        ir::program_frame const& f = p.plan.frames[static_cast<std::size_t>(at)];
        ir::program_kernel const& k = p.kernel(f.kernel);
        if (f.memory == memory_at && k.first_step <= at_step && at_step <= k.last_step) add(k.name, f.bytes);
    }
}

}  // namespace tilewright::detail
