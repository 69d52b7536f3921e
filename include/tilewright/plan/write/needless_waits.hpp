#pragma once
#include <tilewright/plan/ir/planning.hpp>

// Waits of the core between stages that come one after the other, which are needless if engines keep the order by themselves.
namespace tilewright::detail {

/// Whether two buffers of a plan have bytes in common. Arguments share none with others.
constexpr bool share_bytes(plan_value const& plan, buffer_id buffer_a, buffer_id buffer_b) {
    if (buffer_a == buffer_b) return true;
    buffer const &a = plan.buffers[buffer_a], &b = plan.buffers[buffer_b];
    if (a.kind == buffer_kind::argument || b.kind == buffer_kind::argument || a.memory != b.memory) return false;
    return share_bytes(a, b, plan.where->memories[a.memory].banks);
}

/// Whether everything after step `at` is in order with the jobs that instructions have given an engine before: the same engine touches the
/// same bytes, or one that the hardware holds back. Engines of other cores do not know of these jobs.
constexpr bool are_ordered_behind(plan_value const& plan, int engine_at, int at) {
    machine const& where = *plan.where;
    fixed_array<bool, plan_value::most_buffers> touched{};
    bool ordered = true, again = false, on_core = true;
    int depth = 0, share = 0;  // the depth of the distributed loop around; 0: there is none
    auto const touch = [&](int by, buffer_id buffer_at) {
        bool const held_back = by >= 0 && where.engines[by].interlocked && where.engines[engine_at].interlocked;
        bool const follows = on_core && (by == engine_at || held_back);
        for (buffer_id other{}; other < plan.buffers.count && !follows; ++other)
            ordered = ordered && !(touched[other] && share_bytes(plan, other, buffer_at));
    };
    for (int step_at = 0; step_at < plan.steps.count && ordered; ++step_at) {
        step const& s = plan.steps[step_at];
        if (s.kind == step_kind::end && depth-- == share) share = 0;
        if (s.kind == step_kind::loop && ++depth > 0 && share == 0 && plan.variables[s.what].distributed) share = depth;
        on_core = share == 0 && s.core == plan.steps[at].core;
        if (s.kind == step_kind::start && step_at > at) {
            movement const& m = plan.movements[s.what];
            buffer_id const ends[] = {m.source, m.destination};
            for (buffer_id moved : ends) {
                if (moved >= 0) touch(plan.engine_of(m), moved);
            }
        }
        if (s.kind != step_kind::compute) continue;
        body const& b = plan.bodies[s.what];
        int const on = plan.is_aside(b) ? where.engines.find(where.intrinsics[b.intrinsic].engine_name) : -1;
        again |= step_at > at && on >= 0;
        plan.each_use(b, [&](use const& u, bool, bool) {
            if (step_at > at) return touch(on, u.buffer);
            // In banks with one port, two engines would meet without sharing a byte.
            int const memory_at = plan.buffers[u.buffer].memory;
            if (on == engine_at) touched[u.buffer] = true, ordered = ordered && where.memories[memory_at].ports > 1;
        });
    }
    return ordered && again;
}

/// Takes out needless waits of the core between root stages. The core waits for the last jobs of an engine at the end of the kernel.
constexpr void drop_needless_waits(plan_value& plan) {
    int depth = 0;
    for (int at = 0; at + 2 < plan.steps.count; ++at) {
        step const push = plan.steps[at], pop = plan.steps[at + 1];
        depth += push.kind == step_kind::loop ? 1 : push.kind == step_kind::end ? -1 : 0;
        if (depth > 0 || push.kind != step_kind::push || pop.kind != step_kind::pop) continue;
        auto const link_of = [&](step const& s) -> link const& { return plan.links[plan.waits[s.what].link]; };
        link const& l = link_of(push);
        if (l.ring >= 0 || l.to >= 0 || !are_ordered_behind(plan, l.from, at + 1)) continue;
        bool later = false;
        int inside = 0;
        auto const all = plan.steps;
        plan.steps = {};
        for (int other = 0; other < all.size(); ++other) {
            step const& s = all[other];
            if (other == at || other == at + 1) continue;
            inside += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
            later |= other > at && inside == 0 && s.kind == step_kind::push && link_of(s).ring < 0 && link_of(s).to < 0 &&
                     link_of(s).from == l.from;
            plan.steps.push(s);
        }
        if (!later) plan.steps.push(push), plan.steps.push(pop);
        for (int b = 0; b < plan.buffers.count; ++b) {
            buffer& of = plan.buffers[b];
            std::int16_t* const lifetime[] = {&of.born, &of.dead};
            for (std::int16_t* end : lifetime) {
                int const before = *end > at + 1 ? 2 : *end > at ? 1 : 0;
                *end = static_cast<std::int16_t>(*end - before);
            }
        }
        --at;
    }
}

}  // namespace tilewright::detail
