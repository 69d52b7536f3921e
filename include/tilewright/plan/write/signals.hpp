#pragma once
#include <tilewright/plan/write/ordering.hpp>
#include <tilewright/plan/write/rings.hpp>

// Signals between cores: "ready" leads from the core of a stage to those that read what it computes, "free" leads back from there.
namespace tilewright::detail {

/// Adds them to the program. Writers of the program are built on it.
class core_signals : protected ordering {
  protected:
    using ordering::ordering;

    /// Whether something is loaded into the place of stage `s`, or another stage computes its result there.
    constexpr bool shares_its_place(stage_id s) const {
        bool found = false;
        for (int at = 0, count = p.staging_count(); at < count; ++at) found |= p.staging_at(at).buffer == p.placed(s).home;
        for (stage_id t{}; t < p.plan.stages.count; ++t) found |= t != s && p.placed(t).home == p.placed(s).home;
        return found;
    }
    constexpr bool is_made_at(stage_id s, stage_id t, int level) const {
        return p.placed(s).at_stage == t && p.placed(s).level == level && !p.refused();
    }
    /// What stage `s` computes is ready: tells the cores that read it.
    constexpr void hand_over(stage_id s) {
        for (std::int16_t reader = 0; reader < p.plan.cores && !p.refused(); ++reader) {
            if (!is_read_on(p, s, reader)) continue;
            step_kind const kinds[] = {step_kind::signal, step_kind::await};
            for (step_kind kind : kinds) tell(s, reader, false, kind);
        }
    }
    /// Before stage `s` computes the next version: waits until its place is free.
    constexpr void take_back(stage_id s) {
        if (p.placed(s).level < 0 || is_given_on(s)) return;
        for (std::int16_t reader = 0; reader < p.plan.cores && !p.refused(); ++reader) {
            if (!is_read_on(p, s, reader)) continue;
            tell(s, reader, true, step_kind::await, p.placed(s).level, without_signal(s));
        }
        p.write_for(s);
    }
    /// At the end of an iteration of the loop `level` of stage `t`: what was made for it has been read, or will be by engines.
    constexpr void give_back(stage_id t, int level) {
        for (stage_id s{stage_id(p.plan.stages.count - 1)}; s >= 0; --s) {
            if (!is_made_at(s, t, level)) continue;
            for (std::int16_t reader = 0; reader < p.plan.cores && !p.refused(); ++reader) {
                if (is_read_on(p, s, reader)) give_back_from(s, reader);
            }
            int const ring_at = p.placed(s).ring;
            p.write_for(s);  // on its core run those that read it, too
            if (ring_at >= 0) pass_versions(s, step_kind::push, step_of(p, ring_at, 0), p.ring_at(ring_at).versions);
        }
        p.write_for(t);
    }
    /// After that loop: takes the signals of its last iterations, so none is left.
    constexpr void await_rest(stage_id t, int level) {
        for (stage_id s{}; s < p.plan.stages.count; ++s) {
            if (!is_made_at(s, t, level)) continue;
            std::int64_t const rest = is_given_on(s) ? 0 : without_signal(s), extent = p.var(level).extent;
            for (std::int16_t reader = 0; reader < p.plan.cores && !p.refused(); ++reader) {
                if (!is_read_on(p, s, reader)) continue;
                for (std::int64_t at = 0; at < rest && at < extent; ++at) tell(s, reader, true, step_kind::await);
            }
        }
        p.write_for(t);
    }

  private:
    /// The queue of signals that say the same as `m`; a new one if there is none.
    constexpr std::int16_t queue_of(message const& m) {
        std::int16_t next = 0;
        for (int at = 0; at < p.plan.messages.count; ++at) {
            message const& other = p.plan.messages[at];
            if (other.from != m.from || other.to != m.to) continue;
            if (other.stage == m.stage && other.frees == m.frees) return other.queue;
            if (other.queue >= next) next = static_cast<std::int16_t>(other.queue + 1);
        }
        core const& of = where().core_at(m.from);
        buffer const& about = p.buffer_at(m.buffer);
        auto const refuse = [&](rule why, std::int64_t have, std::int64_t limit) {
            verdict& v = p.refuse(verdict_kind::distribution, about.ordinal);
            v.broken = why;
            v.names = {about.tensor, of.name};
            v.facts = {fact{fact_kind::have, have}, fact{fact_kind::limit, limit}};
        };
        if (next >= of.signal_queues) refuse(rule::more_signals_than_fit, next + 1, of.signal_queues);
        if (about.versions > of.signal_capacity) refuse(rule::more_versions_than_signals, about.versions, of.signal_capacity);
        return next;
    }
    /// A signal between the core of stage `s` and one that reads its result, or the wait for it.
    /// @param frees  the reader says that the place is free; otherwise, the stage says that its result is there
    constexpr void tell(stage_id s, std::int16_t reader, bool frees, step_kind kind, int loop = -1, int first = 0) {
        std::int16_t const own = p.placed(s).core;
        message m{.from = frees ? reader : own,
                  .to = frees ? own : reader,
                  .buffer = p.placed(s).home,
                  .stage = s,
                  .frees = frees,
                  .loop = static_cast<std::int16_t>(loop),
                  .first = static_cast<std::int16_t>(first)};
        m.queue = queue_of(m);
        p.from_core(kind == step_kind::signal ? m.from : m.to);
        if (!p.refused()) p.add(kind, p.add(m));
    }
    /// Whether stage `s` overwrites what a stage of another core has computed. That core gets the place back after those that read `s`.
    constexpr bool is_given_on(stage_id s) const {
        bool found = false;
        for (stage_id t{}; t < s; ++t) found |= p.placed(t).home == p.placed(s).home && p.placed(t).core != p.placed(s).core;
        return found;
    }
    /// How many results of stage `s` need no signal, because no other has been where they are computed.
    constexpr int without_signal(stage_id s) const { return p.buffer_at(p.placed(s).home).versions - loaded_ahead(p, p.placed(s).home); }
    constexpr void give_back_from(stage_id s, std::int16_t reader) {
        p.from_core(reader);
        for (stage_id u{}; u < p.plan.stages.count && computes_aside_; ++u) {
            if (p.placed(u).core == reader && p.reads(u, p.stage_at(s).output)) drain(agents_of(p, u));
        }
        for (int at = 0; at < p.staging_count(); ++at) {
            staging const& st = p.staging_at(at);  // of what has overwritten the result
            bool const stores = st.writes && st.ring >= 0 && st.buffer == p.placed(s).home;
            if (stores && p.placed(st.stage).core == reader) wait(step_of(p, st.ring, 0));
        }
        tell(s, reader, true, step_kind::signal);
        if (is_given_on(s)) tell(s, reader, true, step_kind::await);
    }
};

}  // namespace tilewright::detail
