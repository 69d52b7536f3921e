#pragma once
#include <tilewright/machine/clock.hpp>
#include <tilewright/plan/check/touched.hpp>

// The time of every core and engine while a program runs.
namespace tilewright::detail {

/// Signals from core to core that were sent, and are not taken yet, oldest first.
struct sent_signals {
    struct one {
        std::int16_t from = 0, to = 0, queue = 0;
        std::int64_t time = 0;  ///< when it is there
    };
    fixed_array<one, 64> sent{};
    int count = 0;

    constexpr void take(int position) {
        for (int behind = position + 1; behind < count; ++behind) sent[behind - 1] = sent[behind];
        --count;
    }
};

/// The clocks of a plan's machine while its program runs.
struct clocks {
    using run = program_position;
    static constexpr int most_visits = 200;

    std::int64_t now = 0;
    fixed_array<engine_clock, machine::most_lanes> lanes{};                           ///< of each channel
    fixed_array<std::int64_t, plan_value::most_rings * most_versions> completions{};  ///< by tag
    /// What is pushed and not popped yet, oldest first.
    struct token {
        std::int16_t link = -1;
        std::int64_t number = 0;  ///< the step of the link's ring
        std::int64_t time = 0;    ///< when it is there
    };
    static constexpr int most_tokens = 64, most_uses = 192, most_shapes = 4;
    fixed_array<token, most_tokens> tokens{};
    int token_count = 0;
    /// What the jobs of an interlocked engine touch, until they are complete: a job, or steps of a body that follow each other.
    struct held_use {
        touched_part part{};  ///< of steps: what the first of all touches
        std::int16_t lane = -1;
        std::int16_t body = -1, operand = -1;  ///< of steps
        std::int64_t from = 0, to = 1;         ///< which of the body's steps
        std::int64_t cycles = 0;               ///< of a step
        std::int64_t complete = 0;             ///< the last of them

        constexpr bool covers(plan_value const& plan, held_use const& other) const {
            return lane == other.lane && body == other.body && operand == other.operand && from <= other.from && other.to <= to &&
                   part.buffer == other.part.buffer && part.same(plan, other.part);
        }
    };
    fixed_array<held_use, most_uses> uses{};
    int use_count = 0;
    fixed_array<operand_shapes, most_shapes> shapes{};  ///< of the intrinsics that were met
    int shape_count = 0;
    bool overflown = false;
    std::int64_t first_wait = -1;  ///< when the core comes to it
    clocks* team = nullptr;        ///< of a kernel for several cores, on core 0: the clocks of all of them
    sent_signals* signals = nullptr;
    int cores = 1, core = 0;

    constexpr clocks* of_core(int number) { return team == nullptr ? this : team + number; }
    /// All cores go on when the last of them has come.
    constexpr void meet(run const& in) {
        std::int64_t last = now;
        for (int other = 1; other < cores; ++other) last = team[other].now > last ? team[other].now : last;
        for (int each = 0; each < cores; ++each) of_core(each)->now = last + in.plan().where->core_at(each).barrier_cycles;
    }
    constexpr void signal(run const& in, int message_at) {
        message const& m = in.plan().messages[message_at];
        overflown |= signals->count == signals->sent.size();
        if (!overflown) signals->sent[signals->count++] = {m.from, m.to, m.queue, now + in.plan().where->core_at(m.from).signal_cycles};
    }
    constexpr void await(run const& in, int message_at) {
        message const& m = in.plan().messages[message_at];
        for (int at = 0; at < signals->count; ++at) {
            sent_signals::one const taken = signals->sent[at];
            if (taken.from != m.from || taken.to != m.to || taken.queue != m.queue) continue;
            if (taken.time > now) now = taken.time;
            return signals->take(at);
        }
    }
    /// When all that was started is over.
    constexpr std::int64_t complete() const {
        std::int64_t last = now;
        for (engine_clock const& c : lanes.elements) last = c.complete > last ? c.complete : last;
        return last;
    }

    constexpr void start(run const& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        machine const& where = *in.plan().where;
        std::int64_t const elements = in.elements_of(m);
        if (elements == 0) return;
        if (m.transfer < 0) return void(now += elements * fill_cycles(in.plan(), m, core));
        transfer_description const& t = where.transfers[m.transfer];
        job_time const time = time_of(t.costs, elements * bytes_of(in.plan().buffers[m.destination].type));
        int const on = in.plan().lane_of(m, in.number_of(m));
        if (on < 0) {
            now += time.busy + time.latency;
            return;
        }
        engine const& carries = where.engine_at_lane(on);
        bool const interlocked = carries.interlocked;
        touched_list const touched = interlocked ? touched_by(in, m) : touched_list{};
        for (int at = 0; at < touched.count; ++at) hold_back(in, on, touched[at]);
        std::int64_t const complete = lanes[on].start(now, time, carries.depth);
        for (int at = 0; at < touched.count; ++at)
            keep(in, {.part = touched[at], .lane = static_cast<std::int16_t>(on), .complete = complete});
        if (t.is_asynchronous) completion_of(in, m.at) = complete;
        else now = complete;
    }
    constexpr void keep_up(run const& in, int step_at) { now += in.plan().upkeep_cycles(in.plan().upkeeps[in.plan().steps[step_at].what]); }
    /// When a wait of the core for a job that is complete at `complete` returns. The core may have to wait for all jobs of the channel.
    constexpr std::int64_t wait_covers(run const& in, int lane, std::int64_t complete) const {
        bool const all = in.plan().where->engine_at_lane(lane).completes == completion::by_engine;
        return all ? lanes[lane].complete : complete;
    }
    constexpr void wait(run const& in, int wait_at) {
        ring_step const& until = in.plan().waits[wait_at];
        if (first_wait < 0) first_wait = now;
        int const lane = in.plan().lane_of(in.ring_at(until.ring), in.value_of(until.step));
        std::int64_t const complete = wait_covers(in, lane, completion_of(in, until));
        if (complete > now) now = complete;
    }
    constexpr void push(run const& in, int push_at) {
        ring_step const& at = in.plan().waits[push_at];
        link const& l = in.plan().links[at.link];
        engine_clock const& from = lanes[in.plan().where->first_lane(l.from)];
        // The last mark of a version counts.
        std::int64_t const number = in.value_of(at.step), versions = l.ring < 0 ? 1 : in.ring_at(l.ring).versions;
        for (int which = 0; l.to < 0 && which < token_count; ++which) {
            token const& t = tokens[which];
            if (t.link == at.link && (number - t.number) % versions == 0) take(which--);
        }
        overflown |= token_count == most_tokens;
        if (overflown) return;
        tokens[token_count++] = {at.link, number, l.to < 0 ? from.complete : from.passed()};
    }
    constexpr void pop(run const& in, int pop_at) {
        ring_step const& at = in.plan().waits[pop_at];
        link const& l = in.plan().links[at.link];
        std::int64_t const number = in.value_of(at.step);
        auto const of_queue = [&](token const& t) {
            link const& other = in.plan().links[t.link];
            return l.to < 0 ? t.link == at.link : other.to >= 0 && other.tokens == l.tokens && other.queue == l.queue;
        };
        machine const& where = *in.plan().where;
        if (std::int64_t const complete = l.to < 0 ? wait_covers(in, where.first_lane(l.from), now) : now; complete > now) now = complete;
        int last = -1;
        for (int which = 0; which < token_count; ++which) {
            token const& t = tokens[which];
            if (t.link == at.link && t.number == number) last = which;
        }
        for (int which = 0; which <= last; ++which) {
            token const taken = tokens[which];
            if (!of_queue(taken) || (l.to < 0 && which < last)) continue;
            if (l.to >= 0) lanes[where.first_lane(l.to)].hold(taken.time);
            else if (taken.time > now) now = taken.time;
            take(which--), --last;
        }
    }
    constexpr void compute(run const& in, int body_at, std::int64_t times) {
        body const& b = in.plan().bodies[body_at];
        if (b.kind != body_kind::intrinsic) {
            now += times * cycles_of_code(in, b);
            return;
        }
        std::int64_t first = b.first_intrinsic >= 0 ? times : 0;
        for (int at = 0; at < b.first_loop_count; ++at) {
            int const v = b.first_loops[at];
            if (in.value(v) > 0) first = 0;
            if (in.value(v) < 0) first /= in.plan().variables[v].extent;
        }
        // Steps that are run as one touch the same places in both forms and take the same time, so they stay in their order.
        if (in.is_interlocked(body_at) && times > 1) first = 0;
        carry_out(in, body_at, true, first);
        carry_out(in, body_at, false, times - first);
    }
    constexpr void sign(run const& in, run_signature& into) const {
        into.now = now;
        sign_own(in, into);
        if (in.is_shared()) return;
        for (int other = 1; other < cores; ++other) {
            into.push(team[other].now - now);
            team[other].sign_own(in, into);
        }
        for (int at = 0; signals != nullptr && at < signals->count; ++at) {
            sent_signals::one const& s = signals->sent[at];
            into.push((std::int64_t{s.from} * max_cores + s.to) << 32 | s.queue);
            into.push(s.time - now);
        }
    }
    constexpr void skip(run const& in, std::int64_t times, run_signature const& later, run_signature const& earlier) {
        skip_own(in, times, later, earlier);
        if (in.is_shared()) return;
        for (int other = 1; other < cores; ++other) team[other].skip_own(in, times, later, earlier);
        for (int at = 0; signals != nullptr && at < signals->count; ++at) signals->sent[at].time += times * (later.now - earlier.now);
    }

  private:
    constexpr void sign_own(run const& in, run_signature& into) const {
        auto const ahead = [&](std::int64_t time) { return time > now ? time - now : 0; };
        for (int at = 0; at < in.plan().where->lane_count(); ++at) {
            engine_clock const& c = lanes[at];
            if (c.jobs == 0) continue;
            into.push(ahead(c.free));
            into.push(ahead(c.complete));
            std::int64_t const depth = in.plan().where->engine_at_lane(at).depth;
            for (std::int64_t job = c.jobs - 1; job >= 0 && job >= c.jobs - depth && c.completion_of(job) > now; --job)
                into.push(c.completion_of(job) - now);
            into.push(-1);
        }
        for (int at = 0; at < token_count; ++at) {
            token const& t = tokens[at];
            int const ring_at = in.plan().links[t.link].ring;
            into.push(t.link);
            into.push(ring_at < 0 ? 0 : t.number - into.steps[ring_at]);
            into.push(ahead(t.time));
        }
        for (int at = 0; at < use_count; ++at) {
            held_use const& u = uses[at];
            if (u.complete <= others_begin(in, u.lane)) continue;
            touched_part const& p = u.part;
            into.push(((std::int64_t{p.buffer} * most_versions + p.version) * 2 + (p.writes ? 1 : 0)) * 64 + u.lane);
            into.push(ahead(u.complete));
            if (u.body >= 0) into.push(u.from << 32 | u.to);
            for (int d = 0; d < in.plan().buffers[p.buffer].rank; ++d) into.push(p[d].low << 32 | p[d].high);
        }
        for (int at = 0; at < in.plan().rings.size(); ++at) {
            for (int version = 0; version < in.ring_at(at).versions; ++version)
                into.push(ahead(completions[in.ring_at(at).first_tag + version]));
        }
    }
    constexpr void skip_own(run const& in, std::int64_t times, run_signature const& later, run_signature const& earlier) {
        std::int64_t const cycles = times * (later.now - earlier.now);
        now += cycles;
        for (int at = 0; at < in.plan().where->lane_count(); ++at) {
            engine_clock& c = lanes[at];
            c.free += cycles;
            c.complete += cycles;
            for (std::int64_t& completion : c.completions.elements) completion += cycles;
        }
        for (std::int64_t& completion : completions) completion += cycles;
        for (int at = 0; at < token_count; ++at) {
            token& t = tokens[at];
            int const ring_at = in.plan().links[t.link].ring;
            t.time += cycles;
            if (ring_at >= 0) t.number += times * (later.steps[ring_at] - earlier.steps[ring_at]);
        }
        for (int at = 0; at < use_count; ++at) uses[at].complete += cycles;
    }

    constexpr std::int64_t cycles_of_code(run const& in, body const& b) const {
        if (in.plan().limits.size() == 0 && !in.plan().where->has_unlike_cores()) return b.cycles;
        operation_costs const& costs = in.plan().where->core_at(core).costs;
        std::int64_t cycles = in.iterations_of(b, b.kind == body_kind::identity) * cycles_of(b.counts, costs);
        if (b.kind == body_kind::reduction) cycles += in.iterations_of(b, true) * cycles_of(b.start_counts, costs);
        return cycles;
    }
    constexpr std::int64_t& completion_of(run const& in, ring_step const& at) {
        ring const& r = in.ring_at(at.ring);
        return completions[r.first_tag + in.value_of(at.step) % r.versions];
    }
    constexpr void take(int position) {
        for (int behind = position + 1; behind < token_count; ++behind) tokens[behind - 1] = tokens[behind];
        --token_count;
    }
    /// The time until which no interlocked channel other than `lane` begins anything: a job that is complete by then holds none of them
    /// back.
    constexpr std::int64_t others_begin(run const& in, int lane) const {
        machine const& where = *in.plan().where;
        std::int64_t first = now, found = -1;
        for (int at = 0; at < where.lane_count(); ++at) {
            if (at == lane || !where.engine_at_lane(at).interlocked) continue;
            std::int64_t const free = lanes[at].free;
            found = found < 0 || free < found ? free : found;
        }
        return found > first ? found : first;
    }
    /// Whether a job that touches one part may have to come after a job that touches the other.
    constexpr bool may_meet(run const& in, touched_part const& a, touched_part const& b) const {
        if (!a.writes && !b.writes) return false;
        if (a.buffer == b.buffer) return a.version == b.version;
        buffer const &left = in.plan().buffers[a.buffer], &right = in.plan().buffers[b.buffer];
        if (left.memory != right.memory) return false;
        int const banks = in.plan().where->memories[left.memory].banks;
        return left.offset < right.offset + right.bytes_in_bank(banks) && right.offset < left.offset + left.bytes_in_bank(banks);
    }
    /// On interlocked engines, a job begins when all conflicting jobs of the other engines are complete.
    constexpr void hold_back(run const& in, int lane, touched_part const& next) {
        engine_clock& clock = lanes[lane];
        for (int at = 0; at < use_count; ++at) {
            held_use const& u = uses[at];
            if (u.lane == lane || u.complete <= clock.free || u.complete <= now) continue;
            if (!may_meet(in, u.part, next)) continue;
            if (u.body < 0) {
                if (conflict(in.plan(), u.part, next)) clock.hold(u.complete);
                continue;
            }
            std::int64_t const last = step_search(in, u.body, u.from, u.to).find(u.part, u.operand, next, true);
            if (last >= 0) clock.hold(u.complete - (u.to - 1 - last) * u.cycles);
        }
    }
    constexpr void keep(run const& in, held_use const& next) {
        std::int64_t const mine = others_begin(in, next.lane), any = others_begin(in, -1);
        int kept = 0;
        for (int at = 0; at < use_count; ++at) {
            held_use const& u = uses[at];
            if (u.complete <= (u.lane == next.lane ? mine : any) || next.covers(in.plan(), u)) continue;
            if (kept != at) uses[kept] = u;
            ++kept;
        }
        use_count = kept;
        overflown |= use_count == most_uses;
        if (!overflown) uses[use_count++] = next;
    }
    constexpr operand_shapes const& shapes_of(machine const& where, int intrinsic_at) {
        for (int at = 0; at < shape_count; ++at) {
            if (shapes[at].intrinsic == intrinsic_at) return shapes[at];
        }
        if (shape_count == most_shapes) shape_count = 0;
        operand_shapes& made = shapes[shape_count++];
        made = {};
        made.read(where, intrinsic_at);
        return made;
    }
    constexpr void carry_out(run const& in, int body_at, bool begins, std::int64_t times) {
        if (times == 0) return;
        body const& b = in.plan().bodies[body_at];
        intrinsic_form const form = form_on(in.plan(), begins ? form_of_first(b) : form_of_rest(b), core);
        int const intrinsic_at = form.intrinsic;
        std::int64_t const cycles = cycles_of_step(in, form, whole_step_on(in.plan(), form, begins ? b.first_cycles : b.cycles));
        machine const& where = *in.plan().where;
        int const engine_at = where.engines.find(where.intrinsics[intrinsic_at].engine_name);
        if (engine_at < 0) {
            now += times * cycles;
            return;
        }
        int const on = where.first_lane(engine_at);
        engine_clock& clock = lanes[on];
        auto const give = [&](std::int64_t steps) {
            if (where.intrinsics[intrinsic_at].is_asynchronous) return clock.start_many(now, cycles, where.engines[engine_at].depth, steps);
            // The core waits after each job: the first is complete when all before it are, and the others follow one after the other.
            now = clock.start(now, {cycles, 0}, engine_clock::most_depth);
            if (steps > 1) now = clock.start(now, {(steps - 1) * cycles, 0}, engine_clock::most_depth);
        };
        if (!where.engines[engine_at].interlocked) return give(times);
        operand_shapes const& shape = shapes_of(where, intrinsic_at);
        auto extents = shape.extents;
        cover(in, form, extents);
        touched_list const touched = touched_by(in, shape, form.operands, extents);
        auto const operand_at = [&](int which) { return times > 1 ? touched.operands[which] : std::int16_t{-1}; };
        overflown |= shape.overflown;
        step_search search(in, times > 1 ? body_at : -1, 0, times);
        for (std::int64_t done = 0; done < times;) {
            // The steps up to the first that something else holds back.
            std::int64_t next = times, until = 0;
            for (int at = 0; at < use_count; ++at) {
                held_use const& u = uses[at];
                if (u.lane == on || u.complete <= clock.free || u.complete <= now) continue;
                for (int which = 0; which < touched.count; ++which) {
                    if (!u.part.writes && !touched[which].writes) continue;
                    step_search ahead(in, body_at, done, times);
                    std::int64_t const first = ahead.find(touched[which], operand_at(which), u.part, false);
                    if (first < 0 || first > next) continue;
                    if (first < next) next = first, until = 0;
                    if (u.complete > until) until = u.complete;
                }
            }
            if (next == done) {
                clock.hold(until);
                continue;
            }
            give(next - done);
            for (int which = 0; which < touched.count; ++which)
                keep(in, {.part = touched[which],
                          .lane = static_cast<std::int16_t>(on),
                          .body = static_cast<std::int16_t>(times > 1 ? body_at : -1),
                          .operand = operand_at(which),
                          .from = done,
                          .to = next,
                          .cycles = cycles,
                          .complete = clock.complete});
            done = next;
        }
    }
};

}  // namespace tilewright::detail
