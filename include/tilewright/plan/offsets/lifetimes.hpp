#pragma once
#include <tilewright/plan/write/links.hpp>

// From which step to which step of the program a planned buffer is in use.
namespace tilewright::detail {

/// The loop of the program in whose body each buffer is made anew, as a variable of the plan; -1: it lives for the whole kernel.
using buffer_levels = fixed_array<variable_id, plan_value::most_buffers>;

constexpr buffer_levels levels_of_buffers(planning const& p) {
    plan_value const& plan = p.plan;
    buffer_levels levels{};
    set_all(levels, no_variable);
    for (stage_id s{}; s < plan.stages.count; ++s) levels[p.placed(s).home] = p.placed(s).level;
    for (int at = 0; at < p.staging_count(); ++at) {
        // A buffer whose transfers run ahead, or are waited for later, lives as long as its steps are counted.
        staging const& st = p.staging_at(at);
        bool const by_step = st.ring >= 0 || st.loader_ring >= 0;
        if (!by_step && p.buffer_at(st.buffer).ring >= 0) continue;  // the steps on the other side of what overwrites it move it
        levels[st.buffer] = !by_step ? st.level : st.scope > 0 ? p.placed(st.stage).path[st.scope - 1] : no_variable;
    }
    // Threads are at different places of an iteration: one may still use what another has finished with.
    for (int at = 0; at < plan.buffers.count; ++at) {
        if (p.buffer_at(at).by_loop >= 0) levels[at] = no_variable;
    }
    // Cores are at different places, too, where each runs its own stages.
    for (int at = 0; at < plan.buffers.count && plan.messages.count > 0; ++at) levels[at] = no_variable;
    // Buffers that engines compute on are in use until somebody waits for the engines.
    for (stage_id s{}; s < plan.stages.count && has_asynchronous_intrinsics(*plan.where); ++s) {
        if (agents_of(p, s).engines == 0) continue;
        p.each_access(
            s, [&](node_id node) { levels[plan.use_at(node)->buffer] = no_variable; }, true);
    }
    return levels;
}

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
        for (int at = 0; at < plan.movements.count; ++at) {
            movement const& m = plan.movements[at];
            if (m.at.ring != ring_at) continue;
            if (m.source >= 0) visit(m.source);
            visit(m.destination);
        }
    }
    if (is_upkeep(s.kind)) visit(plan.upkeeps[s.what].buffer);
    if (s.kind != step_kind::compute) return;
    plan.each_use(plan.bodies[s.what], [&](use const& u, bool, bool) { visit(u.buffer); });
}

/// Sets each planned buffer's lifetime: from the first to the last step that touches it inside the loop where it is made. A touch in a loop
/// further in counts from that loop's beginning to its end, because the next iteration touches it again.
constexpr void set_lifetimes(plan_value& plan, refusals const& to, buffer_levels const& levels) {
    fixed_array<std::int16_t, 32> open{};
    int depth = 0;
    for (int at = 0; at < plan.steps.count; ++at) {
        step const& s = plan.steps[at];
        if (s.kind == step_kind::loop) {
            if (depth == static_cast<int>(open.size())) return to.refuse_capacity("nested loops", depth + 1, depth);
            open.elements[depth++] = static_cast<std::int16_t>(at);
        }
        if (s.kind == step_kind::end) --depth;
        each_touched(plan, s, [&](int touched) {
            buffer& b = plan.buffers[touched];
            if (b.kind == buffer_kind::argument) return;
            int level_depth = 0;
            variable_id const level = levels.elements[touched];
            while (level_depth < depth && level >= 0 && plan.steps.slots[open.elements[level_depth]].part.what != level) ++level_depth;
            if (level >= 0) ++level_depth;
            int first = at, last = at + 1;
            if (level_depth < depth) {
                first = open.elements[level_depth];
                last = first + 1;
                for (int nested = 1; nested > 0; ++last) {
                    step_kind const kind = plan.steps.slots[last].part.kind;
                    nested += kind == step_kind::loop ? 1 : kind == step_kind::end ? -1 : 0;
                }
            }
            if (b.born < 0 || first < b.born) b.born = static_cast<std::int16_t>(first);
            if (last > b.dead) b.dead = static_cast<std::int16_t>(last);
        });
    }
    for (int at = 0; at < plan.buffers.count; ++at) {
        buffer& b = plan.buffers[at];
        if (b.kind == buffer_kind::result || plan.messages.count > 0) b.born = 0, b.dead = static_cast<std::int16_t>(plan.steps.count);
    }
}

}  // namespace tilewright::detail
