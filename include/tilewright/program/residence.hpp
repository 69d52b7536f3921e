#pragma once
#include <tilewright/program/connect.hpp>
#include <tilewright/program/copy_kernel.hpp>
#include <tilewright/program/engine_copy.hpp>

// In which memory every tensor lives, and copies if no memory is right for all who use it.
namespace tilewright::detail {

/// How a tensor gets from one memory to another.
struct copy_route {
    int agent = -1, transfer = -1;
    std::int64_t cycles = 0, issue_cycles = 0;
    bool cycles_known = true;
    ir::used_hardware uses{};

    constexpr explicit operator bool() const { return agent >= 0; }
};

/// The cheapest transfer of any agent that copies a tensor from one memory to another in one call of a kernel; of equal ones, one by an
/// engine beside the caller.
constexpr copy_route route_between(program_planning& p, ir::program_tensor const& t, int from, int to) {
    copy_route best;
    for (int a = 0; a < p.plan.of->agent_count && p.plan.of->copies; ++a) {
        agent const& on = p.plan.of->agents[a];
        machine const& where = *on.where;
        for (int at = 0; at < where.transfers.size(); ++at) {
            transfer_description const& by = where.transfers[at];
            if (on.is_engine() && !is_of_engine(by, on.engine_name)) continue;
            if (!copies(by) || p.plan.memory_of(a, by.source) != from || p.plan.memory_of(a, by.destination) != to) continue;
            copy_computation const what(t.type, t.rank, t.extents);
            plan_value const made = make_plan(copy_schedule(what, where, by));
            if (made.refusal || (on.is_engine() && ir::first_wait_of(made) < 0)) continue;
            quantity const found = made.cycles();
            auto const cycles = static_cast<std::int64_t>(found.value);
            bool const beside = on.is_engine() && best && !p.plan.of->agents[best.agent].works_beside();
            if (best && cycles + (beside ? 0 : 1) > best.cycles) continue;
            best = {.agent = a, .transfer = at, .cycles = cycles, .cycles_known = found.resolved, .uses = hardware_of(made)};
            if (!on.is_engine()) continue;
            ir::prediction const issue = ir::predict_issue(made);
            best.issue_cycles = issue.cycles;
            best.cycles_known &= issue.resolved;
        }
    }
    return best;
}

/// One way to give a tensor a memory, and its readers copies of it.
struct residence {
    static constexpr int most_copies = 8;

    int produced_in = -1;  ///< where it is written, or the caller has it
    int root = -1;         ///< where it lives: there, or where it is pinned
    copy_route to_root{};
    fixed_array<std::int16_t, most_copies> copies{};  ///< memories
    fixed_array<copy_route, most_copies> routes{};
    int copy_count = 0;
    std::int64_t cycles = 0;
    int out_of_reach = -1;  ///< a use that no memory serves

    /// Position of the copy that a use is given, -1: the tensor itself.
    constexpr int copy_for(std::uint16_t allowed) const {
        if ((allowed >> root & 1) != 0) return -1;
        for (int at = 0; at < copy_count; ++at) {
            if ((allowed >> copies[at] & 1) != 0) return at;
        }
        return copy_count;
    }
};

constexpr residence residence_from(program_planning& p, int tensor_at, int produced_in, int pinned) {
    ir::program_tensor const t = p.tensor(tensor_at);
    residence r{.produced_in = produced_in, .root = produced_in};
    if (pinned >= 0 && pinned != produced_in) {
        r.root = pinned;
        r.to_root = route_between(p, t, produced_in, pinned);
        r.cycles += r.to_root.cycles;
        for (int at = 0; at < p.plan.uses.size() && !r.to_root; ++at) {
            if (p.use(at).tensor == tensor_at && p.use(at).written) r.out_of_reach = at;
        }
        if (!r.to_root) return r;
    }
    for (int at = 0; at < p.plan.uses.size(); ++at) {
        ir::program_use const& u = p.use(at);
        if (u.tensor != tensor_at) continue;
        int lives_in = u.written ? produced_in : r.root;
        if (!u.written && r.copy_for(u.allowed) == r.copy_count) {
            copy_route best;
            for (int m = 0; m < p.plan.memories.size(); ++m) {
                if ((u.allowed >> m & 1) == 0 || p.memory_at(m).what.capacity == 0) continue;
                copy_route const found = route_between(p, t, r.root, m);
                if (found && (!best || found.cycles < best.cycles)) best = found, lives_in = m;
            }
            if (!best || r.copy_count == residence::most_copies) {
                r.out_of_reach = at;
                return r;
            }
            r.copies[r.copy_count] = static_cast<std::int16_t>(lives_in);
            r.routes[r.copy_count++] = best;
            r.cycles += best.cycles;
        } else if (!u.written && r.copy_for(u.allowed) >= 0) {
            lives_in = r.copies[r.copy_for(u.allowed)];
        }
        r.cycles += u.accesses * p.memory_at(lives_in).what.wait_cycles;
    }
    return r;
}

/// Names both ends and where each can have the tensor.
constexpr void refuse_residence(program_planning& p, int tensor_at, std::uint16_t produced, int out_of_reach) {
    ir::program_tensor const& t = p.tensor(tensor_at);
    ir::program_use const& u = p.use(out_of_reach);
    verdict& v = p.refuse(verdict_kind::no_placement);
    label const maker = t.producer >= 0 ? p.kernel(t.producer).name : label(t.kind == ir::tensor_kind::constant ? "constant" : "caller");
    v.names = {t.name, maker, u.written ? label(t.kind == ir::tensor_kind::output ? "caller" : "pin") : p.kernel(u.kernel).name};
    v.broken = p.plan.of->copies ? rule::no_transfer_between : rule::copies_are_forbidden;
    std::uint16_t wanted = u.allowed;
    if (u.written) wanted = 0;
    p.each_statement([&](int, program::statement const& s) {
        bool const pins = s.kind == program::statement_kind::pin || s.kind == program::statement_kind::output;
        if (u.written && pins && s.tensor == t.name)
            wanted |= static_cast<std::uint16_t>(1u << p.plan.position_of_memory(s.where.names[0]));
    });
    for (int end : {1, 2}) {
        for (int m = 0; m < p.plan.memories.size() && v.share_count < static_cast<int>(v.shares.size()); ++m) {
            if (((end == 1 ? produced : wanted) >> m & 1) != 0) v.shares[v.share_count++] = {p.memory_at(m).name, 0, end};
        }
    }
}

/// The kernel that copies one tensor of the program to another.
constexpr std::int16_t add_copy_kernel(program_planning& p, label const& name, int from, int to, copy_route const& by, bool early) {
    auto const made = static_cast<std::int16_t>(p.keep(p.plan.kernels,
                                                       ir::program_kernel{.name = name,
                                                                          .agent = static_cast<std::int16_t>(by.agent),
                                                                          .transfer = static_cast<std::int16_t>(by.transfer),
                                                                          .cycles = by.cycles,
                                                                          .issue_cycles = by.issue_cycles,
                                                                          .cycles_known = by.cycles_known,
                                                                          .uses = by.uses,
                                                                          .early = early},
                                                       "kernels"));
    p.keep(p.plan.uses, {.kernel = made, .buffer = 0, .tensor = static_cast<std::int16_t>(from)}, "tensors of kernels");
    p.keep(p.plan.uses, {.kernel = made, .buffer = 1, .tensor = static_cast<std::int16_t>(to), .written = true}, "tensors of kernels");
    p.tensor(to).producer = made;
    p.tensor(to).in_parts = false;
    p.tensor(to).copy_of = static_cast<std::int16_t>(from);
    return made;
}

/// A tensor of the same shape in another memory, with a name of its own.
constexpr int add_like(program_planning& p, int tensor_at, label const& name, int memory_at) {
    ir::program_tensor like = p.tensor(tensor_at);
    like.name = name;
    for (char const* number : {"2", "3", "4", "5", "6", "7", "8", "9"}) {
        if (p.plan.find_tensor(like.name) < 0) break;
        like.name = dotted(name, number);
    }
    p.check_name(like.name);
    like.kind = ir::tensor_kind::between;
    like.state_of = -1;
    like.statement = -1;
    like.memory = static_cast<std::int16_t>(memory_at);
    return p.keep(p.plan.tensors, like, "tensors");
}

/// A copy of a tensor in another memory, and the kernel that makes it.
constexpr int add_copy(program_planning& p, int of, label const& name, int memory_at, copy_route const& by, bool early = false) {
    int const made = add_like(p, of, name, memory_at);
    if (!p.refused()) add_copy_kernel(p, p.tensor(made).name, of, made, by, early);
    return made;
}

/// The kernel that computes a tensor writes it elsewhere, and the tensor itself is a copy of that.
constexpr void write_elsewhere(program_planning& p, int tensor_at, int memory_at, copy_route const& by) {
    int const uses = p.plan.uses.size();
    int const made = add_like(p, tensor_at, dotted(p.tensor(tensor_at).name, p.memory_at(memory_at).name), memory_at);
    for (int at = 0; at < uses && !p.refused(); ++at) {
        if (p.use(at).tensor == tensor_at && p.use(at).written) p.use(at).tensor = static_cast<std::int16_t>(made);
    }
    if (!p.refused()) add_copy_kernel(p, dotted(p.tensor(tensor_at).name, "copy"), made, tensor_at, by, false);
}

/// Takes a tensor out of the memory for a while: a copy elsewhere, and a copy back for later readers.
constexpr void spill(program_planning& p, int tensor_at, spilled_tensor const& how) {
    ir::program_tensor const t = p.tensor(tensor_at);
    int const to = p.plan.position_of_memory(how.to);
    if (t.memory == to) return;  // it has left the memory that was too small for good
    copy_route const out = route_between(p, t, t.memory, to), back = route_between(p, t, to, t.memory);
    if (!out || !back) {
        p.refuse(verdict_kind::no_transfer).names = {t.name, p.memory_at(out ? to : t.memory).name, p.memory_at(out ? t.memory : to).name};
        return;
    }
    int const uses = p.plan.uses.size();
    int const away = add_copy(p, tensor_at, dotted(t.name, p.memory_at(to).name), to, out, true);
    int const again = add_copy(p, away, dotted(t.name, "back"), t.memory, back);
    if (!p.refused()) p.kernel(p.tensor(again).producer).late = true;
    for (int at = 0; at < uses && !p.refused(); ++at) {
        ir::program_use& u = p.use(at);
        if (u.tensor == tensor_at && !u.written && how.readers.has(u.kernel)) u.tensor = static_cast<std::int16_t>(again);
    }
}

/// Where a tensor can be, by its kernels and by what the program says of it.
struct residence_wish {
    std::uint16_t produced = 0;                            ///< memories that it can be written to, or the one where the caller has it
    std::uint16_t read = static_cast<std::uint16_t>(~0u);  ///< memories that all readers can have it in
    int pinned = -1;
    int preferred = -1;  ///< that the schedule of its producer names first
};

constexpr residence_wish wish_of(program_planning& p, int tensor_at) {
    ir::program_tensor const& t = p.tensor(tensor_at);
    residence_wish wish;
    for (int at = 0; at < p.plan.uses.size(); ++at) {
        ir::program_use const& u = p.use(at);
        if (u.tensor != tensor_at) continue;
        if (u.written) {
            bool const first = wish.preferred < 0;  // of several that write parts
            wish.produced = first ? u.allowed : static_cast<std::uint16_t>(wish.produced & u.allowed);
            if (first)
                wish.preferred =
                    p.plan.memory_of(p.kernel(u.kernel).agent, p.plan_of(u.kernel).where->memories[p.buffer_of(u).memory].name);
        } else {
            wish.read &= u.allowed;
        }
    }
    p.each_statement([&](int at, program::statement const& s) {
        using enum program::statement_kind;
        if (p.refused() || s.tensor != t.name || (s.kind != pin && at != t.statement)) return;
        int const said = memory_said(p, s);
        if (s.kind == pin && t.producer < 0) p.refuse(verdict_kind::ill_formed, rule::pinned_where_it_is_given, {t.name});
        if (p.refused()) return;
        if (t.producer < 0) wish.produced = static_cast<std::uint16_t>(1u << said);
        else wish.pinned = said;
    });
    return wish;
}

/// Names a kernel that writes a part of a tensor to other memories than those before it.
constexpr void refuse_parts_apart(program_planning& p, int tensor_at) {
    auto common = static_cast<std::uint16_t>(~0u);
    for (int at = 0; at < p.plan.uses.size() && common != 0; ++at) {
        ir::program_use const& u = p.use(at);
        if (u.tensor != tensor_at || !u.written) continue;
        common &= u.allowed;
        if (common == 0)
            p.refuse(verdict_kind::ill_formed, rule::parts_in_two_memories, {p.tensor(tensor_at).name, {}, p.kernel(u.kernel).name});
    }
}

/// The memories that a tensor may be written to, without those that serve it worse than others.
constexpr std::uint16_t candidates_for(program_planning const& p, int tensor_at, residence_wish const& wish) {
    std::uint16_t from = wish.produced;
    if (wish.pinned >= 0) {
        auto const pin = static_cast<std::uint16_t>(1u << wish.pinned);
        return (from & pin) != 0 ? pin : from;
    }
    auto const only = [&](std::uint16_t some) {
        if ((from & some) != 0) from &= some;
    };
    std::uint16_t holding = 0;  // a tensor between kernels needs a memory with room
    for (int m = 0; m < p.plan.memories.size(); ++m) holding |= static_cast<std::uint16_t>(p.memory_at(m).what.capacity > 0 ? 1u << m : 0u);
    if (p.plan.tensor_at(tensor_at).producer >= 0) only(holding);
    only(static_cast<std::uint16_t>(~p.banned_from(tensor_at)));
    only(wish.read);
    return from;
}

/// Gives one tensor its memory: the cheapest in which it can be written and read. If there is none, readers get copies.
constexpr void place_tensor(program_planning& p, int tensor_at) {
    residence_wish const wish = wish_of(p, tensor_at);
    if (wish.produced == 0 && p.tensor(tensor_at).in_parts && !p.refused()) refuse_parts_apart(p, tensor_at);
    if (p.refused()) return;
    std::uint16_t const from = candidates_for(p, tensor_at, wish);
    residence best;
    int out_of_reach = -1;
    for (int order = -1; order < p.plan.memories.size(); ++order) {
        int const m = order < 0 ? wish.preferred : order;
        if (m < 0 || (from >> m & 1) == 0 || (order >= 0 && m == wish.preferred)) continue;
        residence const r = residence_from(p, tensor_at, m, wish.pinned);
        if (r.out_of_reach >= 0) out_of_reach = out_of_reach < 0 ? r.out_of_reach : out_of_reach;
        else if (best.root < 0 || r.cycles < best.cycles) best = r;
    }
    if (best.root < 0) return refuse_residence(p, tensor_at, wish.produced, out_of_reach);
    p.tensor(tensor_at).memory = static_cast<std::int16_t>(best.root);
    label const name = p.tensor(tensor_at).name;
    int const uses = p.plan.uses.size();
    if (best.root != best.produced_in) write_elsewhere(p, tensor_at, best.produced_in, best.to_root);
    fixed_array<std::int16_t, residence::most_copies> made{};
    for (int c = 0; c < best.copy_count && !p.refused(); ++c) {
        made[c] = static_cast<std::int16_t>(
            add_copy(p, tensor_at, dotted(name, p.memory_at(best.copies[c]).name), best.copies[c], best.routes[c]));
    }
    for (int at = 0; at < uses && !p.refused(); ++at) {
        ir::program_use& u = p.use(at);
        if (u.tensor != tensor_at || u.written) continue;
        int const copy = best.copy_for(u.allowed);
        if (copy >= 0) u.tensor = made[copy];
    }
    for (int at = 0; at < p.spilled.size() && !p.refused(); ++at) {
        if (p.spilled[at].tensor == name) spill(p, tensor_at, p.spilled[at]);
    }
}

constexpr void place_tensors(program_planning& p) {
    int const count = p.plan.tensors.size();
    for (int at = 0; at < count && !p.refused(); ++at) place_tensor(p, at);
    for (int at = 0; at < p.plan.tensors.size(); ++at) {
        ir::program_tensor& t = p.tensor(at);
        if (t.memory < 0 || p.refused()) continue;
        memory const& m = p.memory_at(t.memory).what;
        t.passed = m.capacity == 0;
        t.alignment = p.common_multiple(t.alignment, m.alignment, t.name);
        if (t.passed && t.kind == ir::tensor_kind::between) p.refuse(verdict_kind::no_memory).names = {t.name, p.memory_at(t.memory).name};
        if (t.passed && t.kind == ir::tensor_kind::constant) p.refuse(verdict_kind::no_memory).names = {t.name, p.memory_at(t.memory).name};
    }
}

}  // namespace tilewright::detail
