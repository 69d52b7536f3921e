#pragma once
#include <tilewright/plan/check/cache_lines.hpp>
#include <tilewright/plan/check/core_copies.hpp>
#include <tilewright/plan/check/hazards.hpp>
#include <tilewright/plan/check/shared_accesses.hpp>

// Whether barriers and signals order every two accesses of different cores to one place. The check reads the program alone: it does not
// know how they were placed.
namespace tilewright::detail {

/// One core of a run that fills in `shared_accesses`.
struct core_run {
    using run = program_position;
    static constexpr int most_visits = 160;

    shared_accesses* shared = nullptr;
    core_run* team = nullptr;
    std::int16_t core = 0;

    constexpr core_run* of_core(int number) { return team + number; }
    constexpr void meet(run& in) {
        shared_accesses& s = *shared;
        for (int at = 0; at < in.plan().cores; ++at) s.known[at] = s.given;
        s.forget(in.plan().cores);
    }
    constexpr void signal(run& in, int message_at) {
        shared_accesses& s = *shared;
        message const& m = in.plan().messages[message_at];
        int under_way = 1;
        for (int at = 0; at < s.signal_count; ++at) under_way += same_queue(s.signals[at].what, m) ? 1 : 0;
        if (s.signal_count == s.most_signals || under_way > in.plan().where->core_at(m.from).signal_capacity)
            return report(in, {.broken = rule::tokens_overflow,
                               .tokens = static_cast<std::int16_t>(under_way),
                               .message = static_cast<std::int16_t>(message_at)});
        s.signals[s.signal_count] = {m, s.known[core]};
        s.signals[s.signal_count++].knows[core] = s.given[core];
    }
    constexpr void await(run& in, int message_at) {
        shared_accesses& s = *shared;
        message const& m = in.plan().messages[message_at];
        for (int at = 0; at < s.signal_count; ++at) {
            if (!same_queue(s.signals[at].what, m)) continue;
            for (int other = 0; other < in.plan().cores; ++other) {
                std::int64_t const learnt = s.signals[at].knows[other];
                if (learnt > s.known[core][other]) s.known[core][other] = learnt;
            }
            for (int behind = at + 1; behind < s.signal_count; ++behind) s.signals[behind - 1] = s.signals[behind];
            --s.signal_count;
            return s.forget(in.plan().cores);
        }
        report(in, {.broken = rule::signal_never_sent, .message = static_cast<std::int16_t>(message_at)});
    }
    constexpr void start(run& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        if (in.elements_of(m) == 0) return;
        std::int64_t const number = in.number_of(m);
        std::int16_t lane = -1, tag = -1;
        if (in.plan().is_asynchronous(m)) {
            lane = static_cast<std::int16_t>(in.plan().lane_of(m, number));
            ring const& r = in.ring_at(m.at.ring);
            tag = static_cast<std::int16_t>(r.first_tag + number % r.versions);
        }
        for (bool source : {true, false}) {
            buffer_id const moved = source ? m.source : m.destination;
            if (moved < 0 || !is_shared(in, moved)) continue;
            shared_accesses::access next{.buffer = moved,
                                         .version = static_cast<std::int16_t>(in.version_of(moved, m.at.ring, number)),
                                         .core = core,
                                         .copy = in.plan().is_multicast(m) && !source ? shared_accesses::copy_of_all : copy_of(in, moved),
                                         .writes = !source,
                                         .by_core = in.plan().engine_of(m) < 0,
                                         .whole_version = m.at.ring >= 0 && in.ring_at(m.at.ring).buffer == moved,
                                         .lane = lane,
                                         .tag = tag,
                                         .movement = static_cast<std::int16_t>(movement_at),
                                         .index = shared->given[core]};
            set_sides(in, m, source, next);
            touch(in, next);
        }
        ++shared->given[core];
    }
    constexpr void wait(run& in, int wait_at) {
        ring_step const& until = in.plan().waits[wait_at];
        ring const& r = in.ring_at(until.ring);
        std::int64_t const number = in.value_of(until.step);
        std::int16_t const tag = static_cast<std::int16_t>(r.first_tag + number % r.versions);
        std::int64_t last = -1;
        for (int at = 0; at < shared->count; ++at) {
            shared_accesses::access const& a = shared->all[at];
            if (a.core == core && a.tag == tag && a.lane >= 0 && a.index > last) last = a.index;
        }
        complete(in.plan(), in.plan().lane_of(r, number), last + 1);
    }
    constexpr void push(run& in, int push_at) {
        ring_step const& at = in.plan().waits[push_at];
        link const& l = in.plan().links[at.link];
        machine const& where = *in.plan().where;
        shared->add({.core = core,
                     .link = at.link,
                     .from = static_cast<std::int16_t>(where.first_lane(l.from)),
                     .to = static_cast<std::int16_t>(l.to < 0 ? -1 : where.first_lane(l.to)),
                     .number = in.value_of(at.step),
                     .end = shared->given[core]});
    }
    constexpr void pop(run& in, int pop_at) {
        ring_step const& at = in.plan().waits[pop_at];
        shared_accesses& s = *shared;
        for (int which = s.mark_count - 1; which >= 0; --which) {
            shared_accesses::mark& m = s.marks[which];
            if (m.core != core || m.link != at.link || m.number != in.value_of(at.step)) continue;
            if (m.to < 0) return complete(in.plan(), m.from, m.end);
            m.since = s.given[core];
            return s.forget_marks();
        }
    }
    constexpr void compute(run& in, int body_at, std::int64_t times) {
        if (times == 0) return;
        body const& b = in.plan().bodies[body_at];
        std::int16_t lane = -1;
        if (in.plan().is_aside(b)) {
            machine const& where = *in.plan().where;
            lane = static_cast<std::int16_t>(where.first_lane(where.engines.find(where.intrinsics[b.intrinsic].engine_name)));
        }
        in.plan().each_use(
            b,
            [&](use const& u, bool reads, bool writes) {
                if (!is_shared(in, u.buffer)) return;
                shared_accesses::access next{.buffer = u.buffer,
                                             .version = static_cast<std::int16_t>(in.version_of(u.buffer, -1, 0)),
                                             .core = core,
                                             .copy = copy_of(in, u.buffer),
                                             .writes = writes,
                                             .by_core = !is_on_engine(in.plan(), b),
                                             .lane = lane,
                                             .index = shared->given[core]};
                buffer const& used = in.plan().buffers[u.buffer];
                side_maker const sides(in, {.in = &b, .pure_only = !reads || b.kind == body_kind::identity});
                for (int d = 0; d < used.rank; ++d) next.sides[d] = sides.side_of(u.at[d], {});
                find_whole(in, {u.at.elements, used.rank}, sides, next);
                touch(in, next);
            },
            in.begins(b));
        ++shared->given[core];
    }
    constexpr void sign(run const&, run_signature& into) const {
        // Where they lie moves on with the loops, for all alike.
        for (int at = 0; at < shared->count; ++at) {
            shared_accesses::access const& a = shared->all[at];
            std::int64_t const where = ((std::int64_t{a.buffer} * most_versions + a.version) * 2 + (a.writes ? 1 : 0)) * max_cores + a.core;
            into.push(((where << 1 | (a.copy == shared_accesses::copy_of_all)) << 16 | (a.lane + 1)) << 15 | (a.tag + 1));
            std::int64_t knowing = 0;
            for (int other = 0; other < max_cores; ++other) knowing |= std::int64_t{shared->knows(other, a)} << other;
            into.push(knowing);
        }
        for (int at = 0; at < shared->mark_count; ++at) {
            shared_accesses::mark const& m = shared->marks[at];
            std::int64_t before = m.to, after = m.link;
            for (int which = 0; which < shared->count; ++which) {
                before = before << 1 | (m.comes_after(shared->all[which]) ? 1 : 0);
                after = after << 1 | (m.holds_back(shared->all[which]) ? 1 : 0);
            }
            if (m.since >= 0) into.push(before), into.push(after);
        }
        for (int at = 0; at < shared->signal_count; ++at) {
            shared_accesses::sent const& one = shared->signals[at];
            std::int64_t knowing = 0;
            for (int which = 0; which < shared->count; ++which) {
                shared_accesses::access const& a = shared->all[which];
                knowing = knowing << 1 | (a.lane < 0 && one.knows[a.core] > a.index ? 1 : 0);
            }
            into.push((std::int64_t{one.what.from} * max_cores + one.what.to) << 32 | one.what.queue);
            into.push(knowing);
        }
    }
    constexpr void skip(run const& in, std::int64_t times, run_signature const& later, run_signature const& earlier) {
        for (int at = 0; at < shared->mark_count; ++at) {
            int const ring_at = in.plan().links[shared->marks[at].link].ring;
            if (ring_at >= 0) shared->marks[at].number += times * (later.steps[ring_at] - earlier.steps[ring_at]);
        }
    }

  private:
    /// Whether more than one core reaches a buffer.
    constexpr bool is_shared(run const& in, buffer_id buffer_at) const {
        return in.plan().is_one_for_all(in.plan().buffers[buffer_at]) || shared->reached[buffer_at];
    }
    constexpr std::int16_t copy_of(run const& in, buffer_id buffer_at) const {
        return in.plan().is_one_for_all(in.plan().buffers[buffer_at]) ? shared_accesses::copy_of_all : core;
    }
    static constexpr void set_sides(run const& in, movement const& m, bool source, shared_accesses::access& next) {
        buffer const& b = in.plan().buffers[next.buffer];
        affine const* const at = (source ? m.source_at : m.destination_at).elements;
        side_maker const sides(in, {.ring_at = m.at.ring, .number = in.number_of(m)});
        program_position::moved_part const part = in.part_of(m, source);
        unsigned const joined = source ? m.source_joined : m.destination_joined;
        fixed_array<range, max_rank> moved{};
        for (int position = -1; position < m.dimension_count; ++position) {
            movement_dimension const along = position < 0 ? movement_dimension{} : m.dimensions[position];
            int const d = position < 0 ? b.rank - 1 : source ? along.source_dimension : along.destination_dimension;
            int const which = position < 0 ? max_rank : position;
            std::int64_t const factor = position < 0 ? 1 : source ? along.source_factor : along.destination_factor;
            if (d < 0) continue;
            moved[d].low += factor * part.first[which], moved[d].high += factor * (part.end[which] - 1);
        }
        place_of_parts where{at, b.rank};
        for (int d = b.rank - 1; d >= 0; --d) {
            next.sides[d] = sides.side_of(at[d], moved[d]);
            where.reach[d] = moved[d].high;
            // Past the end of a row, a call goes on in the dimension around.
            bool const goes_on = d > 0 && ((joined >> (d - 1) & 1) != 0 || moved[d].high >= b.extents[d]);
            range const rows{(next.sides[d].low - b.minimum[d]) / b.extents[d], (next.sides[d].high - b.minimum[d]) / b.extents[d]};
            if (!goes_on || rows.high <= 0) continue;
            moved[d - 1].low += rows.low, moved[d - 1].high += rows.high;
            next.sides[d] = {b.minimum[d], b.minimum[d] + b.extents[d] - 1};
            where.left_out[d] = true;
        }
        find_whole(in, where, sides, next);
    }
    /// Where the indices are parts of what moves with the core: of a fused loop, or by a layout.
    static constexpr void find_whole(run const& in, place_of_parts const& where, side_maker const& sides, shared_accesses::access& next) {
        whole_finder finder(in.plan(), where);
        if (!finder.has_parts_of_shares()) return;
        next.in_parts = !finder.find();
        if (next.in_parts) return;
        next.of_whole = sides.side_of(finder.form(), {});
        next.in_parts = finder.limit() > 0 && (next.of_whole.low < 0 || next.of_whole.high >= finder.limit());
        if (!next.in_parts) next.whole = finder.found();
    }
    /// The jobs of this core on a lane, up to the one before `end`, are complete.
    constexpr void complete(plan_value const& plan, int lane, std::int64_t end) {
        shared_accesses& s = *shared;
        for (int at = 0; at < s.count; ++at) {
            shared_accesses::access done = s.all[at];
            if (done.core != core || done.lane != lane || done.index >= end) continue;
            for (int behind = at + 1; behind < s.count; ++behind) s.all[behind - 1] = s.all[behind];
            --s.count;
            complete_before(plan, done);
            at = -1;  // what comes before it is gone, too
            done.lane = done.tag = -1;
            done.index = s.given[core]++;
            keep(plan, done);
        }
    }
    /// What a job came after, by tokens and interlocks, is complete when the job is.
    constexpr void complete_before(plan_value const& plan, shared_accesses::access const& done) {
        shared_accesses& s = *shared;
        for (int at = 0; at < s.mark_count; ++at) {
            shared_accesses::mark const m = s.marks[at];
            if (!m.holds_back(done)) continue;
            s.remove_mark(at);
            complete(plan, m.from, m.end);
            at = -1;
        }
        auto const interlocked = [&](int lane) { return plan.where->engine_at_lane(lane).interlocked; };
        for (int at = 0; at < s.count; ++at) {
            shared_accesses::access const& a = s.all[at];
            bool const held_back = a.core == core && a.lane >= 0 && a.lane != done.lane && a.index < done.index && interlocked(a.lane) &&
                                   interlocked(done.lane) && a.buffer == done.buffer && a.version == done.version &&
                                   (a.writes || done.writes) && (a.whole_version || done.whole_version);
            if (!held_back) continue;
            complete(plan, a.lane, a.index + 1);
            at = -1;
        }
    }
    /// @return whether there was room
    constexpr bool keep(plan_value const& plan, shared_accesses::access const& next) {
        shared_accesses& s = *shared;
        for (int at = 0; at < s.count; ++at) {
            shared_accesses::access& a = s.all[at];
            bool const same = a.buffer == next.buffer && a.version == next.version && a.core == next.core && a.copy == next.copy &&
                              a.writes == next.writes && a.by_core == next.by_core && a.lane == next.lane && a.tag == next.tag;
            bool known = false;  // to a core that does not know of the other
            for (int other = 0; other < plan.cores; ++other) known |= s.knows(other, a) != s.knows(other, next);
            if (!same || known) continue;
            a.include(next, plan.buffers[a.buffer].rank);
            a.index = next.index;
            return true;
        }
        if (s.count == s.most) return false;
        s.all[s.count++] = next;
        return true;
    }
    constexpr void touch(run& in, shared_accesses::access const& next) {
        shared_accesses& s = *shared;
        if (s.found) return;
        for (int at = 0; at < s.count; ++at) {
            shared_accesses::access const& a = s.all[at];
            // A core knows what it has done, and engines of one core are ordered by the other check.
            if ((!a.writes && !next.writes) || a.core == next.core || s.knows(next.core, a)) continue;
            if (!meet_at(in.plan(), a, next)) {
                if (!meet_in_lines(in.plan(), a, next)) continue;
                return report(in, {.broken = rule::line_of_two_cores, .buffer = next.buffer, .version = next.version});
            }
            // Of parts the check takes all values: what it refuses may be in order.
            bool const in_parts = a.in_parts || next.in_parts;
            return report(in, {.broken = in_parts ? rule::parts_of_shares : rule::core_without_barrier,
                               .buffer = next.buffer,
                               .version = next.version,
                               .first = a.movement,
                               .second = next.movement});
        }
        if (!keep(in.plan(), next)) report(in, {.broken = rule::too_many_in_flight, .buffer = next.buffer});
    }
    constexpr void report(run& in, hazard const& what) {
        if (!shared->found) shared->found = what;
        in.stop();
    }
    static constexpr bool same_queue(message const& a, message const& b) { return a.from == b.from && a.to == b.to && a.queue == b.queue; }
    static constexpr bool meet_at(plan_value const& plan, shared_accesses::access const& a, shared_accesses::access const& b) {
        if (a.copy != b.copy && a.copy != shared_accesses::copy_of_all && b.copy != shared_accesses::copy_of_all) return false;
        if (a.buffer != b.buffer) return versions_overlap(plan, a.buffer, a.version, b.buffer, b.version);
        if (a.version != b.version) return false;
        for (int d = 0; d < plan.buffers[a.buffer].rank; ++d) {
            if (a.sides[d].apart(b.sides[d])) return false;
        }
        return a.whole.count == 0 || !a.whole.same(b.whole) || !a.of_whole.apart(b.of_whole);
    }
    /// Whether two writes that lie apart may be in one line of a cache: then one core writes back what the other has not.
    static constexpr bool meet_in_lines(plan_value const& plan, shared_accesses::access const& a, shared_accesses::access const& b) {
        buffer const& of = plan.buffers[a.buffer];
        std::int64_t const line = plan.where->memories[of.memory].cache_line;
        bool const cached = line > 0 && a.writes && b.writes && (a.by_core || b.by_core);
        if (!cached || a.buffer != b.buffer || a.version != b.version) return false;
        bool apart = a.copy != b.copy && a.copy != shared_accesses::copy_of_all && b.copy != shared_accesses::copy_of_all;
        for (int d = 0; d < of.rank && !apart; ++d) {
            std::int64_t const step = of.stride(d) * bytes_of(of.type), origin = of.minimum[d];
            apart = a.sides[d].in_lines(origin, step, line).apart(b.sides[d].in_lines(origin, step, line));
            if (step % line != 0 && of.extents[d] > 1) break;  // the dimensions inside begin anywhere in a line
        }
        return !apart;
    }
};

/// The first barrier that stands in a distributed loop, where a core with a smaller share would not come to it; -1: none does.
constexpr int barrier_in_a_share(plan_value const& plan) {
    int depth = 0, share = -1;
    for (int at = 0; at < plan.steps.size(); ++at) {
        step const& s = plan.steps[at];
        if (s.kind == step_kind::barrier && share >= 0) return at;
        if (s.kind == step_kind::loop && plan.variables[s.what].distributed && share < 0) share = depth;
        depth += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
        if (s.kind == step_kind::end && depth == share) share = -1;
    }
    return -1;
}

/// The step that sends a signal, by its queue.
constexpr std::int16_t message_of(plan_value const& plan, message const& sent) {
    std::int16_t at = 0;
    while (at < plan.messages.size() &&
           (plan.messages[at].from != sent.from || plan.messages[at].to != sent.to || plan.messages[at].queue != sent.queue))
        ++at;
    return at;
}

/// The first access of a core that no barrier orders with one of another core, or that a cache may come between.
constexpr hazard find_core_hazard(plan_value const& plan, visiting how = visiting::periods) {
    if (hazard const found = find_stale_line(plan, how); found || plan.refusal || plan.cores == 1) return found;
    if (barrier_in_a_share(plan) >= 0) return {.broken = rule::barrier_of_some_cores, .buffer = 0};
    if (buffer_id const alone = brought_to_one_core(plan); alone >= 0) return {.broken = rule::brought_to_one_core, .buffer = alone};
    shared_accesses shared;
    shared.reached = reached_by_multicasts(plan);
    fixed_array<core_run, max_cores> team{};
    for (int core = 0; core < plan.cores; ++core) team[core] = {&shared, team.elements, static_cast<std::int16_t>(core)};
    program_run<core_run> run(plan, team[0], how);
    bool const finished = run.run();
    if (finished && !shared.found && shared.signal_count > 0)
        return {.broken = rule::signal_never_taken, .message = message_of(plan, shared.signals[0].what)};
    return shared.found;
}

}  // namespace tilewright::detail
