#pragma once
#include <tilewright/plan/write/links.hpp>

// The steps that keep the core and the engines in order: waits for transfers, and tokens.
namespace tilewright::detail {

/// Adds such steps to the program where they are due. Writers of the program are built on it.
class ordering {
  protected:
    constexpr explicit ordering(writing& planned) : p(planned) {}

    constexpr machine const& where() const { return p.of->where(); }
    /// Whether some iteration of a ring's loops has a step. If extents are left to run time, only run time can see that.
    constexpr bool can_be(ring_step const& at) const {
        return p.ring_at(at.ring).run_time || p.plan.missing_steps(at) < p.ring_at(at.ring).steps;
    }
    /// Waits until the transfer of a step is complete; writes nothing if there can be no such step.
    constexpr void wait(ring_step const& until) {
        if (can_be(until)) p.add(step_kind::wait, p.add(until));
    }

    /// Passes the tokens of the links of a staging at a step; nobody asks for those of the last `fewer` steps.
    constexpr void pass(int staging_at, link_role is, step_kind kind, ring_step at, int fewer = 0, stage_id of = no_stage) {
        for (int which = 0; which < p.from.staged_links.size() && !p.refused(); ++which) {
            staged_link const& l = p.from.staged_links[which];
            if (l.staging != staging_at || l.is != is || l.stage != of) continue;
            at.link = l.link;
            at.fewer = static_cast<std::int16_t>(fewer);
            if (can_be(at)) p.add(kind, p.add(at));
        }
    }
    constexpr void pass_versions(stage_id s, step_kind kind, ring_step const& at, int fewer = 0) {
        pass(-1, link_role::reader_to_stage, kind, at, fewer, s);
    }

    /// Makes `to` wait until the jobs of engine `from` are complete; -1: the core.
    constexpr void order(int from, int to) {
        if (p.refused() || from == to || (to >= 0 && is_interlocked(p, from, to))) return;
        if (to >= 0 && tokens_between(where(), from, to) < 0) to = -1;
        int found = -1;
        for (int at = 0; at < p.plan.links.count; ++at) {
            link const& l = p.plan.links[at];
            if (l.ring < 0 && l.from == from && l.to == to) found = at;
        }
        if (found < 0) found = make_link(p, from, to, -1);
        step_kind const kinds[] = {step_kind::push, step_kind::pop};
        for (step_kind kind : kinds) p.add(kind, p.add(ring_step{.link = static_cast<std::int16_t>(found)}));
    }
    /// Makes the core wait until they have done their jobs.
    constexpr void drain(agents const& who) { order_all(who, {.core = true}); }
    constexpr void order_all(agents const& first, agents const& then) {
        agents::each_of(first.engines, [&](int from) {
            if (then.core) order(from, -1);
            else then.each_engine([&](int to) { order(from, to); });
        });
    }

    /// Those who touch the result of stage `s` in the place where it is computed.
    constexpr agents readers_of(stage_id s) {
        buffer_id const computed = p.plan.use_at(p.stage_at(s).target)->buffer;
        return computed == p.placed(s).home ? users_of(p, computed) : agents{};
    }
    /// Where steps are counted anew in every iteration of a loop: before the first load, waits until the iteration before has used the
    /// versions. No step of this iteration stands for that.
    constexpr void order_anew(int at) {
        staging const& st = p.staging_at(at);
        if (!computes_aside_ || st.writes || st.ring < 0 || st.scope <= share_depth(p, st.stage, st.depth)) return;
        int const to = is_filled_by_core(p, st) ? -1 : p.ring_at(st.ring).engine;
        agents const users = users_of(p, st.buffer, at);
        agents::each_of(users.engines, [&](int from) { order(from, to); });
        // For transfers that no tokens order, the core waits where they are used.
        agents::each_of(users.movers, [&](int from) {
            if (to >= 0 && tokens_between(where(), from, to) >= 0) order(from, to);
        });
    }

    writing& p;
    bool computes_aside_ = has_asynchronous_intrinsics(p.of->where());
};

}  // namespace tilewright::detail
