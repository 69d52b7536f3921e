#pragma once
#include <tilewright/plan/ir/planning.hpp>

// Lifetimes and addresses of the planned buffers.
namespace tilewright::detail {

constexpr bool share_time(buffer const& a, buffer const& b) { return a.born < b.dead && b.born < a.dead; }

/// Refuses the peak of a memory's bank. The verdict has the buffers that are alive at the peak, largest first, and how many versions would
/// fit of the first buffer with several.
constexpr void refuse_overflow(plan_value const& plan, refusals const& to, int memory_at, int bank,
                               fixed_array<std::int16_t, plan_value::most_buffers> const& order, int count) {
    std::int64_t const peak = plan.peak_bytes(memory_at, bank);
    memory const& m = plan.where->memories[memory_at];
    auto const in_order = [&](int which) -> buffer const& { return plan.buffers[order[which]]; };
    auto const lies_here = [&](buffer const& b) { return b.memory == memory_at && b.lies_in(bank, m.banks); };
    int top = 0;
    while (!lies_here(in_order(top)) || in_order(top).offset + in_order(top).bytes_in_bank(m.banks) != peak) ++top;
    verdict& v = to.refuse(verdict_kind::memory_overflow, in_order(top).ordinal);
    v.names = {m.name};
    v.facts = {fact{fact_kind::need, peak}, fact{fact_kind::have, m.bank_capacity()}, fact{}, fact{}};
    for (int which = 0; which < count; ++which) {
        buffer const& b = in_order(which);
        if (!lies_here(b) || !share_time(b, in_order(top))) continue;
        int const here = b.parts_in_bank(m.banks);
        if (v.share_count < static_cast<int>(v.shares.size())) {
            v.shares[v.share_count++] = {b.tensor, b.part_bytes(), here};
        } else {
            last_of(v.shares) = {"others", last_of(v.shares).bytes * last_of(v.shares).copies + b.part_bytes() * here, 1};
        }
        std::int64_t const surplus = (peak - m.bank_capacity() + (here > 1 ? b.part_stride : 1) - 1) / (here > 1 ? b.part_stride : 1);
        std::int64_t const fitting = (here - surplus) * m.banks / b.blocks;
        if (fitting > 0 && b.versions > 1 && v.names[1].empty()) {
            v.names[1] = b.tensor;
            v.facts[2] = {fact_kind::limit, fitting};
        }
    }
    if (m.banks > 1) v.facts[3] = {fact_kind::bank, bank};
}

/// The lowest offset at which `b` overlaps none of the buffers that were placed before it.
constexpr void place_in_bank(plan_value const& plan, buffer& b, int bank, int banks,
                             fixed_array<std::int16_t, plan_value::most_buffers> const& order, int placed) {
    b.bank = static_cast<std::int16_t>(bank);
    b.offset = 0;
    for (int before = 0; before < placed; ++before) {
        buffer const& other = plan.buffers[order[before]];
        if (other.memory != b.memory || !share_time(b, other) || !share_bytes(b, other, banks)) continue;
        std::int64_t const behind = other.offset + other.bytes_in_bank(banks);
        b.offset = (behind + b.alignment - 1) / b.alignment * b.alignment;
        before = -1;  // a higher offset may meet one that was passed before
    }
}

/// Gives every planned buffer an offset in its memory, so that buffers alive at one time never overlap: largest first, each at the lowest
/// offset that is free for its whole lifetime.
/// @post offsets are multiples of the memory's and the buffer's alignment; refuses `memory_overflow` with need and have
constexpr void place_buffers(plan_value& plan, refusals const& to) {
    fixed_array<std::int16_t, plan_value::most_buffers> order{};
    int count = 0;
    for (int at = 0; at < plan.buffers.count; ++at) {
        if (plan.buffers[at].kind == buffer_kind::argument) continue;
        int position = count++;
        for (; position > 0 && plan.buffers[order[position - 1]].bytes < plan.buffers[at].bytes; --position) {
            order[position] = order[position - 1];
        }
        order[position] = static_cast<std::int16_t>(at);
    }
    for (int at = 0; at < count; ++at) {
        buffer& b = plan.buffers[order[at]];
        b.alignment = to.common_multiple(to.common_multiple(b.alignment, plan.where->memories[b.memory].alignment, b.tensor),
                                         bytes_of(b.type), b.tensor);
        memory const& m = plan.where->memories[b.memory];
        for (int bank = 0; bank < m.banks && m.has_address(); ++bank) {
            if (m.bank_base(bank) % static_cast<std::uint64_t>(b.alignment) == 0) continue;
            return to.refuse(verdict_kind::invalid_part, rule::base_not_aligned, {m.name, b.tensor}, b.ordinal);
        }
        b.part_stride = (b.part_bytes() + b.alignment - 1) / b.alignment * b.alignment;
        int const wanted = b.bank;
        if (wanted >= m.banks) {
            to.refuse(verdict_kind::versions_without_use, rule::bank_that_is_not_there, {b.tensor, m.name}, b.ordinal,
                      {fact{fact_kind::bank, wanted}, fact{fact_kind::limit, m.banks}});
            return;
        }
        b.any_bank = wanted < 0 && b.parts() == 1 && m.ports > 1;
        // Parts go round all banks; a buffer that has just one goes where it fits, unless a bank was asked for.
        int const first = wanted >= 0 ? wanted : 0, last = wanted < 0 && b.parts() == 1 ? m.banks - 1 : first;
        for (int bank = first; bank <= last; ++bank) {
            place_in_bank(plan, b, bank, m.banks, order, at);
            if (b.offset + b.bytes_in_bank(m.banks) <= m.bank_capacity()) break;
        }
    }
    for (int at = 0; at < plan.where->memories.size() && !to.refused(); ++at) {
        memory const& m = plan.where->memories[at];
        for (int bank = 0; bank < m.banks && !to.refused(); ++bank) {
            std::int64_t const peak = plan.peak_bytes(at, bank);
            if (peak > m.bank_capacity() && peak > 0) refuse_overflow(plan, to, at, bank, order, count);
        }
    }
}

/// If loops that stay code touch two buffers that share bytes one after the other, the compiler of the generated code must not mix their
/// accesses: a fence stands at the beginning of each lifetime.
/// @return whether the plan had room for them
constexpr bool add_fences(plan_value& plan) {
    for (int at = 0; at < plan.buffers.count; ++at) {
        buffer const fenced = plan.buffers[at];
        if (fenced.kind == buffer_kind::argument || !fenced.code_access) continue;
        bool shares = false;
        for (int other = 0; other < plan.buffers.count; ++other) {
            buffer const& o = plan.buffers.slots[other].part;
            shares |= other != at && o.kind != buffer_kind::argument && o.memory == fenced.memory && o.code_access &&
                      share_bytes(fenced, o, plan.where->memories[o.memory].banks);
        }
        if (!shares) continue;
        int const place = fenced.born;
        if (plan.steps.full()) return false;
        plan.steps.insert(place, {step_kind::fence, static_cast<std::int16_t>(at)});
        for (int other = 0; other < plan.buffers.count; ++other) {
            buffer& o = plan.buffers[other];
            if (other != at && o.born >= place) ++o.born;
            if (o.dead > place) ++o.dead;
        }
    }
    return true;
}

/// Takes all fences out again, before buffers get other offsets.
constexpr void remove_fences(plan_value& plan) {
    for (int place = plan.steps.count - 1; place >= 0; --place) {
        if (plan.steps[place].kind != step_kind::fence) continue;
        plan.steps.erase(place);
        for (int at = 0; at < plan.buffers.count; ++at) {
            buffer& b = plan.buffers[at];
            if (b.born > place) --b.born;
            if (b.dead > place) --b.dead;
        }
    }
}

/// Two buffers that are alive at one time and share bytes, or one buffer that is not where it may be; -1: there are none.
struct misplaced {
    int buffer = -1, other = -1;
};
constexpr misplaced find_misplaced(plan_value const& plan) {
    for (int at = 0; at < plan.buffers.count; ++at) {
        buffer const& b = plan.buffers[at];
        if (b.kind == buffer_kind::argument) continue;
        memory const& in = plan.where->memories[b.memory];
        if (b.offset < 0 || b.offset % b.alignment != 0 || b.offset + b.bytes_in_bank(in.banks) > in.bank_capacity()) return {at, at};
        for (int other = 0; other < at; ++other) {
            buffer const& o = plan.buffers[other];
            if (o.kind != buffer_kind::argument && o.memory == b.memory && share_time(b, o) && share_bytes(b, o, in.banks))
                return {at, other};
        }
    }
    return {};
}

}  // namespace tilewright::detail
