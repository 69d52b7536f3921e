#pragma once
#include <tilewright/plan/offsets.hpp>
#include <tilewright/program/order.hpp>

// Offsets of all that lives in the memories of a program.
namespace tilewright::detail {

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

constexpr std::int64_t rounded_up(std::int64_t bytes, std::int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

/// Lays one memory of a program out: constants first, one behind the other, for they are one image; then everything else, by
/// `assign_offsets`.
class pool_layout {
  public:
    constexpr pool_layout(program_planning& planned, int memory_position)
        : p(planned),
          memory_at_(memory_position),
          what_(planned.memory_at(memory_position).what),
          pool_(planned.plan.pools[static_cast<std::size_t>(memory_position)]) {
        pool_ = {.alignment = what_.alignment};
    }

    /// @return whether it fits
    constexpr bool lay_out(std::int64_t budget) {
        for (int at = 0; at < p.plan.tensors.size(); ++at) {
            if (lies_here(p.tensor(at))) take_tensor(at);
        }
        for (int at = 0; at < p.plan.frames.size(); ++at) {
            if (frame(at).memory == memory_at_) take_frame(at);
        }
        if (what_.banks > 1) reserve_in_all_banks();
        // Behind what is fixed, everything counts from an aligned base.
        if (count_ > 0) fixed_ = rounded_up(fixed_, pool_.alignment);
        pool_.peak = pool_.lower_bound = fixed_;
        if (count_ > 0) search(budget);
        return pool_.peak <= what_.bank_capacity();
    }

  private:
    static constexpr std::size_t most = program_plan_value::most_tensors + program_plan_value::most_frames;
    /// What shares an offset: a tensor with those that take its bytes over, or a kernel's own buffers.
    struct owner {
        std::int16_t tensor = -1;  ///< the first of them
        std::int16_t frame = -1;
    };

    constexpr bool lies_here(ir::program_tensor const& t) const { return t.memory == memory_at_ && !t.passed; }
    constexpr ir::program_frame& frame(int at) { return p.plan.frames[static_cast<std::size_t>(at)]; }
    constexpr void take_tensor(int at) {
        ir::program_tensor& t = p.tensor(at);
        pool_.used = true;
        pool_.alignment = std::lcm(pool_.alignment, t.alignment);
        if (t.kind == ir::tensor_kind::constant) {
            t.offset = rounded_up(fixed_, t.alignment);
            pool_.constants = fixed_ = t.offset + t.bytes;
            return;
        }
        if (t.in_place_of >= 0) return;
        owners_[count_] = {.tensor = static_cast<std::int16_t>(at)};
        ir::placed_buffer& one = buffers_[count_++];
        one.bytes = t.bytes, one.alignment = t.alignment, one.born = t.born, one.dead = t.dead;
        for (int other = 0; other < p.plan.tensors.size(); ++other) {
            if (p.tensor(other).in_place_of < 0 || first_in_place(p, other) != at) continue;
            one.alignment = std::lcm(one.alignment, p.tensor(other).alignment);
            one.dead = one.dead < p.tensor(other).dead ? p.tensor(other).dead : one.dead;
        }
    }
    constexpr void take_frame(int at) {
        ir::program_frame const& f = frame(at);
        pool_.used = true;
        pool_.alignment = std::lcm(pool_.alignment, f.alignment);
        if (what_.banks > 1) return;
        owners_[count_] = {.frame = static_cast<std::int16_t>(at)};
        ir::placed_buffer& one = buffers_[count_++];
        one.bytes = f.bytes, one.alignment = f.alignment;
        one.born = p.kernel(f.kernel).first_step, one.dead = p.kernel(f.kernel).last_step + 1;
    }
    /// A kernel's own buffers have one offset in all banks: they are kept below everything else.
    constexpr void reserve_in_all_banks() {
        std::int64_t largest = 0;
        for (int at = 0; at < p.plan.frames.size(); ++at) {
            if (frame(at).memory != memory_at_) continue;
            frame(at).offset = rounded_up(fixed_, pool_.alignment);
            largest = largest < frame(at).bytes ? frame(at).bytes : largest;
        }
        if (largest > 0) fixed_ = rounded_up(fixed_, pool_.alignment) + largest;
    }
    constexpr void search(std::int64_t budget) {
        std::int64_t const room = what_.bank_capacity() < fixed_ ? 0 : what_.bank_capacity() - fixed_;
        ir::offset_result const found = assign_offsets(std::span<ir::placed_buffer>(buffers_.data(), count_),
                                                       {.capacity = room * what_.banks, .banks = what_.banks}, budget);
        for (std::size_t at = 0; at < count_; ++at) {
            std::int64_t const offset = fixed_ + buffers_[at].offset;
            if (owners_[at].frame >= 0) frame(owners_[at].frame).offset = offset;
            for (int t = 0; t < p.plan.tensors.size() && owners_[at].frame < 0; ++t) {
                if (!lies_here(p.tensor(t)) || first_in_place(p, t) != owners_[at].tensor) continue;
                p.tensor(t).offset = offset;
                p.tensor(t).bank = static_cast<std::int16_t>(buffers_[at].bank);
            }
        }
        pool_.proven = found.proven;
        pool_.lower_bound = fixed_ + found.lower_bound;
        pool_.peak = fixed_ + found.peak;
    }

    program_planning& p;
    int memory_at_;
    memory const& what_;
    ir::pool_use& pool_;
    std::int64_t fixed_ = 0;  ///< bytes from the base that nothing else is placed in
    fixed_array<ir::placed_buffer, most> buffers_{};
    fixed_array<owner, most> owners_{};
    std::size_t count_ = 0;
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
    made = {p.tensor(chosen).name, p.plan.of->statement_at(statement_at).where.names[0]};
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
    v.facts = {fact{fact_kind::need, p.plan.pools[static_cast<std::size_t>(memory_at)].peak}, fact{fact_kind::have, m.bank_capacity()}};
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
