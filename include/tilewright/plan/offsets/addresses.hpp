#pragma once
#include <numeric>
#include <tilewright/plan/ir/planning.hpp>

// Lifetimes and addresses of the planned buffers.
namespace tilewright::detail {

/// Calls `visit(buffer)` for every buffer that a step touches.
template <class Visit>
constexpr void each_touched(plan_value const& plan, step const& s, Visit&& visit) {
    if (s.kind == step_kind::start) {
        movement const& m = plan.movements[s.what];
        if (m.source >= 0) visit(m.source);
        visit(m.destination);
    }
    if (s.kind == step_kind::wait) {
        // Until then the transfer works on both sides.
        int const ring_at = plan.waits[s.what].ring;
        for (int at = 0; at < plan.movements.size(); ++at) {
            movement const& m = plan.movements[at];
            if (m.at.ring != ring_at) continue;
            if (m.source >= 0) visit(m.source);
            visit(m.destination);
        }
    }
    if (s.kind != step_kind::compute) return;
    plan.each_use(plan.bodies[s.what], [&](use const& u, bool, bool) { visit(u.buffer); });
}

/// Sets each planned buffer's lifetime: from the first to the last step that touches it inside the loop where it is made. A touch in a loop
/// further in counts from that loop's beginning to its end, because the next iteration touches it again.
constexpr void set_lifetimes(planning& p, fixed_array<std::int16_t, plan_value::most_buffers> const& levels) {
    plan_value& plan = p.plan;
    fixed_array<std::int16_t, 32> open{};
    int depth = 0;
    for (int at = 0; at < plan.steps.size(); ++at) {
        step const& s = plan.steps[at];
        if (s.kind == step_kind::loop) {
            if (depth == static_cast<int>(open.size())) return p.refuse_capacity("nested loops", depth + 1, depth);
            open[depth++] = static_cast<std::int16_t>(at);
        }
        if (s.kind == step_kind::end) --depth;
        each_touched(plan, s, [&](int touched) {
            buffer& b = p.buffer_at(touched);
            if (b.kind == buffer_kind::argument) return;
            int level_depth = 0;
            while (level_depth < depth && levels[touched] >= 0 && plan.steps[open[level_depth]].what != levels[touched]) {
                ++level_depth;
            }
            if (levels[touched] >= 0) ++level_depth;
            int first = at, last = at + 1;
            if (level_depth < depth) {
                first = open[level_depth];
                last = first + 1;
                for (int nested = 1; nested > 0; ++last) {
                    step_kind const kind = plan.steps[last].kind;
                    nested += kind == step_kind::loop ? 1 : kind == step_kind::end ? -1 : 0;
                }
            }
            if (b.born < 0 || first < b.born) b.born = static_cast<std::int16_t>(first);
            if (last > b.dead) b.dead = static_cast<std::int16_t>(last);
        });
    }
    for (int at = 0; at < plan.buffers.size(); ++at) {
        buffer& b = p.buffer_at(at);
        if (b.kind == buffer_kind::result) b.born = 0, b.dead = static_cast<std::int16_t>(plan.steps.size());
    }
}

constexpr bool share_time(buffer const& a, buffer const& b) { return a.born < b.dead && b.born < a.dead; }
/// @pre both are in the memory that has these banks
constexpr bool share_bytes(buffer const& a, buffer const& b, int banks) {
    bool share_bank = false;
    for (int bank = 0; bank < banks; ++bank) share_bank |= a.lies_in(bank, banks) && b.lies_in(bank, banks);
    return share_bank && a.offset < b.offset + b.bytes_in_bank(banks) && b.offset < a.offset + a.bytes_in_bank(banks);
}

/// Refuses the peak of a memory's bank. The verdict has the buffers that are alive at the peak, largest first, and how many versions would
/// fit of the first buffer with several.
constexpr void refuse_overflow(planning& p, int memory_at, int bank, fixed_array<std::int16_t, plan_value::most_buffers> const& order,
                               int count) {
    std::int64_t const peak = p.plan.peak_bytes(memory_at, bank);
    memory const& m = p.of->where().memories[memory_at];
    auto const in_order = [&](int which) -> buffer const& { return p.buffer_at(order[which]); };
    auto const lies_here = [&](buffer const& b) { return b.memory == memory_at && b.lies_in(bank, m.banks); };
    int top = 0;
    while (!lies_here(in_order(top)) || in_order(top).offset + in_order(top).bytes_in_bank(m.banks) != peak) ++top;
    verdict& v = p.refuse(verdict_kind::memory_overflow, in_order(top).ordinal);
    v.names = {m.name};
    v.facts = {fact{fact_kind::need, peak}, fact{fact_kind::have, m.bank_capacity()}, fact{}, fact{}};
    for (int which = 0; which < count; ++which) {
        buffer const& b = in_order(which);
        if (!lies_here(b) || !share_time(b, in_order(top))) continue;
        int const here = b.parts_in_bank(m.banks);
        if (v.share_count < static_cast<int>(v.shares.size())) {
            v.shares[v.share_count++] = {b.tensor, b.part_bytes(), here};
        } else {
            v.shares.back() = {"others", v.shares.back().bytes * v.shares.back().copies + b.part_bytes() * here, 1};
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
constexpr void place_in_bank(planning const& p, buffer& b, int bank, int banks,
                             fixed_array<std::int16_t, plan_value::most_buffers> const& order, int placed) {
    b.bank = static_cast<std::int16_t>(bank);
    b.offset = 0;
    for (int before = 0; before < placed; ++before) {
        buffer const& other = p.buffer_at(order[before]);
        if (other.memory != b.memory || !share_time(b, other) || !share_bytes(b, other, banks)) continue;
        std::int64_t const behind = other.offset + other.bytes_in_bank(banks);
        b.offset = (behind + b.alignment - 1) / b.alignment * b.alignment;
        before = -1;  // a higher offset may meet one that was passed before
    }
}

/// Gives every planned buffer an offset in its memory, so that buffers alive at one time never overlap: largest first, each at the lowest
/// offset that is free for its whole lifetime.
/// @post offsets are multiples of the memory's and the buffer's alignment; refuses `memory_overflow` with need and have
constexpr void place_buffers(planning& p) {
    plan_value& plan = p.plan;
    fixed_array<std::int16_t, plan_value::most_buffers> order{};
    int count = 0;
    for (int at = 0; at < plan.buffers.size(); ++at) {
        if (p.buffer_at(at).kind == buffer_kind::argument) continue;
        int position = count++;
        for (; position > 0 && p.buffer_at(order[position - 1]).bytes < p.buffer_at(at).bytes; --position) {
            order[position] = order[position - 1];
        }
        order[position] = static_cast<std::int16_t>(at);
    }
    for (int at = 0; at < count; ++at) {
        buffer& b = p.buffer_at(order[at]);
        b.alignment = p.common_multiple(p.common_multiple(b.alignment, p.of->where().memories[b.memory].alignment, b.tensor),
                                        bytes_of(b.type), b.tensor);
        memory const& m = p.of->where().memories[b.memory];
        for (int bank = 0; bank < m.banks && m.has_address(); ++bank) {
            if (m.bank_base(bank) % static_cast<std::uint64_t>(b.alignment) == 0) continue;
            return p.refuse(verdict_kind::invalid_part, rule::base_not_aligned, {m.name, b.tensor}, b.ordinal);
        }
        b.part_stride = (b.part_bytes() + b.alignment - 1) / b.alignment * b.alignment;
        int const wanted = b.bank;
        if (wanted >= m.banks) {
            p.refuse(verdict_kind::versions_without_use, rule::bank_that_is_not_there, {b.tensor, m.name}, b.ordinal);
            p.kept.facts = {fact{fact_kind::bank, wanted}, fact{fact_kind::limit, m.banks}};
            return;
        }
        b.any_bank = wanted < 0 && b.parts() == 1 && m.ports > 1;
        // Parts go round all banks; a buffer that has just one goes where it fits, unless a bank was asked for.
        int const first = wanted >= 0 ? wanted : 0, last = wanted < 0 && b.parts() == 1 ? m.banks - 1 : first;
        for (int bank = first; bank <= last; ++bank) {
            place_in_bank(p, b, bank, m.banks, order, at);
            if (b.offset + b.bytes_in_bank(m.banks) <= m.bank_capacity()) break;
        }
    }
    for (int at = 0; at < p.of->where().memories.size() && !p.refused(); ++at) {
        memory const& m = p.of->where().memories[at];
        for (int bank = 0; bank < m.banks && !p.refused(); ++bank) {
            std::int64_t const peak = plan.peak_bytes(at, bank);
            if (peak > m.bank_capacity() && peak > 0) refuse_overflow(p, at, bank, order, count);
        }
    }
}

/// If loops that stay code touch two buffers that share bytes one after the other, the compiler of the generated code must not mix their
/// accesses: a fence stands at the beginning of each lifetime.
/// @return whether the plan had room for them
constexpr bool add_fences(plan_value& plan) {
    for (int at = 0; at < plan.buffers.size(); ++at) {
        buffer const fenced = plan.buffers[at];
        bool shares = false;
        for (int other = 0; other < plan.buffers.size(); ++other) {
            buffer const& o = plan.buffers[other];
            shares |= other != at && o.kind != buffer_kind::argument && o.memory == fenced.memory && o.code_access &&
                      share_bytes(fenced, o, plan.where->memories[o.memory].banks);
        }
        if (fenced.kind == buffer_kind::argument || !fenced.code_access || !shares) continue;
        int const place = fenced.born;
        if (plan.steps.full()) return false;
        plan.steps.insert(place, {step_kind::fence, static_cast<std::int16_t>(at)});
        for (int other = 0; other < plan.buffers.size(); ++other) {
            buffer& o = plan.buffers[other];
            if (other != at && o.born >= place) ++o.born;
            if (o.dead > place) ++o.dead;
        }
    }
    return true;
}

/// Takes all fences out again, before buffers get other offsets.
constexpr void remove_fences(plan_value& plan) {
    for (int place = plan.steps.size() - 1; place >= 0; --place) {
        if (plan.steps[place].kind != step_kind::fence) continue;
        plan.steps.erase(place);
        for (int at = 0; at < plan.buffers.size(); ++at) {
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
    for (int at = 0; at < plan.buffers.size(); ++at) {
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
