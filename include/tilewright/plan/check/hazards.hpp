#pragma once
#include <tilewright/plan/ir/planning.hpp>
#include <tilewright/plan/ir/program_run.hpp>

// Whether a plan orders every two accesses to one place. The check reads the program alone: it does not know how waits were placed.
namespace tilewright::detail {

/// Two accesses that nothing orders, and the version that they are to.
struct hazard {
    rule broken = rule::none;
    std::int16_t buffer = -1;
    std::int16_t version = 0;
    std::int16_t first = -1;    ///< the movement that is in flight; -1: none is
    std::int16_t second = -1;   ///< the movement that meets it; -1: what computes
    std::int16_t link = -1;     ///< of tokens that engines wait for in vain
    std::int16_t tokens = 0;    ///< of these, how many are under way
    std::int16_t message = -1;  ///< likewise of signals that cores wait for

    constexpr explicit operator bool() const { return broken != rule::none; }
};

/// What is in flight, and what every version holds, while a program runs.
///
/// The core, or a channel of an engine, knows how many jobs of each channel are complete when it does something. It learns that from the
/// core, which gives it its jobs, and from tokens, interlocks and waits. Two accesses are ordered when the later one knows of the earlier
/// one. Channels are the lanes of the machine; an engine has one, unless it says otherwise.
struct in_flight {
    using run = program_position;
    static constexpr int most_jobs = 48, most_touched = intrinsic_description::most_operands, most_tokens = 48;
    static constexpr int most_visits = 96, most_lanes = machine::most_lanes;

    /// A version of a buffer; version 0 of an argument.
    struct place {
        buffer_id buffer = no_buffer;
        std::int16_t version = 0;

        friend constexpr bool operator==(place const&, place const&) = default;
    };
    struct touch {
        place to{};
        bool writes = false;
    };
    /// Jobs that are complete, of each channel.
    struct knowledge {
        fixed_array<std::int64_t, most_lanes> jobs{};

        constexpr std::int64_t& operator[](int lane) { return jobs[lane]; }
        constexpr std::int64_t operator[](int lane) const { return jobs[lane]; }
        constexpr void learn(knowledge const& from, int channels) {
            for (int at = 0; at < channels; ++at) (*this)[at] = from[at] > (*this)[at] ? from[at] : (*this)[at];
        }
        /// That a job is complete.
        template <class Job>
        constexpr void learn(Job const& of, int channels) {
            learn(of.knows, channels);
            if ((*this)[of.lane] <= of.index) (*this)[of.lane] = of.index + 1;
        }
    };
    /// A job that a channel was given, until the core knows that it is complete.
    struct job {
        std::int16_t movement = -1;
        std::int16_t body = -1;  ///< of an asynchronous intrinsic
        std::int16_t lane = -1;
        std::int16_t ring = -1;
        std::int16_t tag = -1;
        std::int64_t number = 0;  ///< the step of its ring
        std::int64_t index = 0;   ///< among the jobs of its channel
        fixed_array<touch, most_touched> touched{};
        int touched_count = 0;
        knowledge knows{};  ///< when it begins

        constexpr void add(place const& to, bool writes) {
            if (to.buffer >= 0 && touched_count < most_touched) touched[touched_count++] = {to, writes};
        }
        constexpr bool moves(int buffer_at) const {
            if (movement < 0) return false;
            for (int at = 0; at < touched_count; ++at) {
                if (touched[at].to.buffer == buffer_at) return true;
            }
            return false;
        }
    };
    fixed_array<job, most_jobs> jobs{};
    int count = 0;
    knowledge core{}, given{};  ///< what the core knows; what each channel was given
    fixed_array<knowledge, most_lanes> lanes{};

    /// What is pushed and not popped yet.
    struct token {
        std::int16_t link = -1;
        std::int64_t number = 0;  ///< the step of the link's ring
        knowledge knows{};
    };
    fixed_array<token, most_tokens> tokens{};
    int token_count = 0;

    /// What is known of a buffer that a ring fills or empties.
    struct kept {
        fixed_array<std::int64_t, most_versions> steps{};  ///< of its ring, that each version was loaded or computed for; -1: none
        std::int64_t unstored = 0;                         ///< a bit for each version that holds what must be stored, and is not yet
        bool loaded = false, stored = false;               ///< by a ring
    };
    fixed_array<kept, plan_value::most_buffers> contents{};
    /// The movements of one step that were started, until all movements of its region are.
    struct begun {
        std::int64_t number = 0;
        std::uint64_t pieces = 0;
    };
    fixed_array<begun, plan_value::most_rings> begun_steps{};
    hazard found{};

    /// Jobs alone: the contents of a buffer may come from a core that is not followed.
    enum class following : std::uint8_t { jobs, jobs_and_contents };

    constexpr explicit in_flight(plan_value const& plan, following what = following::jobs_and_contents)
        : lane_count(plan.where->lane_count()), ordered(is_ordered_aside(plan)), follows_contents(what == following::jobs_and_contents) {
        for (kept& k : contents.elements) set_all(k.steps, -1);
        for (int at = 0; at < plan.rings.size(); ++at) {
            ring const& r = plan.rings[at];
            kept& k = contents[r.buffer];
            k.stored |= r.stores;
            k.loaded |= r.is_moved() && !r.stores;
        }
    }

    constexpr void start(run& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        if (in.elements_of(m) == 0) return;  // of a tile that lies beyond an end
        job next{.movement = static_cast<std::int16_t>(movement_at), .ring = m.at.ring};
        if (m.at.ring >= 0) {
            next.number = in.value_of(m.at.step);
            next.tag = static_cast<std::int16_t>(in.ring_at(m.at.ring).first_tag + next.number % in.ring_at(m.at.ring).versions);
        }
        next.lane = static_cast<std::int16_t>(in.plan().lane_of(m, next.number));
        place const source = place_of(in, m.source, next), destination = place_of(in, m.destination, next);
        next.add(source, false);
        next.add(destination, true);
        begin(in, next);
        if (source.buffer >= 0) expect(in, source, step_of(in, source.buffer, next), movement_at);
        bool const of_source = m.at.ring >= 0 && in.ring_at(m.at.ring).buffer == source.buffer;
        bool const of_destination = m.at.ring >= 0 && in.ring_at(m.at.ring).buffer == destination.buffer;
        bool const whole = m.pieces == 1 || m.at.ring < 0 || begins_last(m, next.number);
        if (of_source && whole) contents_of(source).unstored &= ~(std::int64_t{1} << source.version);
        if (destination.buffer >= 0)
            fill(in, destination, !of_destination || whole ? step_of(in, destination.buffer, next) : -1, of_destination, movement_at);
        if (!in.plan().is_asynchronous(m)) {
            // It blocks until it is complete, and all that was started before it.
            if (next.lane >= 0) core.learn(next, lane_count), forget();
            return;
        }
        keep(in, next);
    }
    constexpr void wait(run& in, int wait_at) {
        ring_step const& until = in.plan().waits[wait_at];
        ring const& r = in.ring_at(until.ring);
        std::int64_t const number = in.value_of(until.step), tag = r.first_tag + number % r.versions;
        int const lane = in.plan().lane_of(r, number);
        for (int at = count - 1; at >= 0; --at) {
            job const& j = jobs[at];
            if (j.tag != tag || j.lane != lane) continue;
            core.learn(j, lane_count);
            return forget();
        }
    }
    /// What engine `from` was given, and what a waiter knows when all of it is complete.
    constexpr void push(run& in, int push_at) {
        ring_step const& at = in.plan().waits[push_at];
        link const& l = link_of(in, at);
        token made{.link = at.link, .number = in.value_of(at.step), .knows = core};
        int const from = lane_of_link(in, l.from);
        made.knows.learn(lanes[from], lane_count);
        made.knows[from] = given[from];
        // The core keeps one mark for each version.
        for (int other = 0; l.to < 0 && other < token_count; ++other) {
            token const& t = tokens[other];
            bool const same = t.link == at.link && (l.ring < 0 || (made.number - t.number) % in.ring_at(l.ring).versions == 0);
            if (same) take(other--);
        }
        if (token_count == most_tokens) return report(in, {.broken = rule::tokens_overflow, .link = at.link, .tokens = most_tokens + 1});
        tokens[token_count++] = made;
        if (l.to < 0) return;
        int under_way = 0;
        for (int other = 0; other < token_count; ++other) under_way += same_queue(in, tokens[other], l) ? 1 : 0;
        if (under_way > in.plan().where->tokens[l.tokens].capacity)
            report(in, {.broken = rule::tokens_overflow, .link = at.link, .tokens = static_cast<std::int16_t>(under_way)});
    }
    /// Takes the oldest token of the queue. Where links share the queue, takes all up to the token that is meant, or none if it was taken
    /// before.
    constexpr void pop(run& in, int pop_at) {
        ring_step const& at = in.plan().waits[pop_at];
        link const& l = link_of(in, at);
        std::int64_t const number = in.value_of(at.step);
        int last = -1, oldest = -1;
        for (int which = 0; which < token_count; ++which) {
            token const& t = tokens[which];
            bool const mine = t.link == at.link &&
                              (t.number == number || (l.to < 0 && l.ring >= 0 && (t.number - number) % in.ring_at(l.ring).versions == 0));
            if (mine) last = which;
            if (oldest < 0 && l.to >= 0 && same_queue(in, t, l)) oldest = which;
        }
        if (l.to < 0) {
            if (last < 0) return;  // of jobs that were never marked: all of none
            core.learn(tokens[last].knows, lane_count);
            return forget();
        }
        if (!l.shared) {
            if (oldest < 0) return report(in, {.broken = rule::token_never_pushed, .link = at.link});
            last = oldest;
        }
        knowledge& here = lanes[lane_of_link(in, l.to)];
        for (int which = 0; which <= last; ++which) {
            if (!same_queue(in, tokens[which], l)) continue;
            here.learn(tokens[which].knows, lane_count);
            take(which--), --last;
        }
    }
    constexpr void compute(run& in, int body_at, std::int64_t times) {
        if (times == 0) return;
        body const& b = in.plan().bodies[body_at];
        bool const aside = in.plan().is_aside(b);
        job next{.body = static_cast<std::int16_t>(body_at)};
        in.plan().each_use(
            b,
            [&](use const& u, bool, bool writes) {
                place const used = place_of(in, u.buffer, {});
                if (aside) return next.add(used, writes);
                for (int at = 0; at < count; ++at) meet(in, jobs[at], used, writes, {});
            },
            in.begins(b));
        if (aside) {
            machine const& where = *in.plan().where;
            next.lane = static_cast<std::int16_t>(where.first_lane(where.engines.find(where.intrinsics[b.intrinsic].engine_name)));
            begin(in, next);
        }
        in.plan().each_use(
            b,
            [&](use const& u, bool reads, bool writes) {
                place const used = place_of(in, u.buffer, {});
                std::int64_t const number = step_of(in, u.buffer, {});
                // A computation into a buffer that is loaded continues from its contents.
                if (reads || contents_of(used).loaded) expect(in, used, number, -1);
                if (writes) fill(in, used, number, false, -1);
            },
            in.begins(b));
        if (!aside) return;
        keep(in, next);
    }
    /// The kernel is over.
    constexpr void end(run& in) {
        for (int b = 0; b < in.plan().buffers.size(); ++b) {
            std::int64_t const left = contents[b].unstored;
            for (std::int16_t version = 0; left >> version != 0; ++version) {
                if ((left >> version & 1) != 0) return report(in, {rule::never_stored, static_cast<std::int16_t>(b), version, -1, -1});
            }
        }
        for (int at = 0; at < token_count; ++at) {
            token const& t = tokens[at];
            link const& l = in.plan().links[t.link];
            if (l.to >= 0 && !l.shared) return report(in, {.broken = rule::token_never_popped, .link = t.link});
        }
        if (count == 0) return;
        place const& left = jobs[0].touched[jobs[0].touched_count - 1].to;
        report(in, {rule::never_waited_for, left.buffer, left.version, jobs[0].movement, -1});
    }

    constexpr void sign(run const& in, run_signature& into) const {
        for (int at = 0; at < count; ++at) {
            job const& j = jobs[at];
            std::int64_t what = (std::int64_t{j.movement} + 1) << 16 | (std::int64_t{j.body} + 1) << 8 | (std::int64_t{j.tag} + 1);
            for (int which = 0; j.body >= 0 && which < j.touched_count; ++which) what = what * most_versions + j.touched[which].to.version;
            into.push(what);
            if (j.ring >= 0) into.push(j.number - into.steps[j.ring]);
            if (ordered) sign_known(j.knows, into);
        }
        into.push(-1);
        for (int at = 0; at < lane_count && ordered; ++at) sign_known(lanes[at], into);
        for (int at = 0; at < token_count; ++at) {
            token const& t = tokens[at];
            int const ring_at = in.plan().links[t.link].ring;
            into.push(t.link);
            if (ring_at >= 0) into.push(t.number - into.steps[ring_at]);
            sign_known(t.knows, into);
        }
        for (int b = 0; b < in.plan().buffers.size(); ++b) {
            if (!keeps_contents(in, b)) continue;
            buffer const& of = in.plan().buffers[b];
            kept const& k = contents[b];
            for (int version = 0; version < of.versions; ++version) into.push(k.steps[version] - into.steps[of.ring]);
            if (k.stored) into.push(k.unstored);
        }
    }
    constexpr void skip(run const& in, std::int64_t times, run_signature const& later, run_signature const& earlier) {
        auto const moved = [&](int ring_at) { return ring_at < 0 ? 0 : times * (later.steps[ring_at] - earlier.steps[ring_at]); };
        for (int at = 0; at < count; ++at) jobs[at].number += moved(jobs[at].ring);
        for (int at = 0; at < in.plan().rings.size(); ++at) begun_steps[at].number += moved(at);
        for (int at = 0; at < token_count; ++at) {
            token& t = tokens[at];
            t.number += moved(in.plan().links[t.link].ring);
        }
        for (int b = 0; b < in.plan().buffers.size(); ++b) {
            if (!keeps_contents(in, b)) continue;
            for (std::int64_t& number : contents[b].steps.elements) number += moved(in.plan().buffers[b].ring);
        }
    }

  private:
    /// How many jobs in flight of each channel a knowledge covers. Later accesses depend on nothing else.
    constexpr void sign_known(knowledge const& known, run_signature& into) const {
        constexpr int in_one = 10;  // lanes whose counts fit in a number
        static_assert(most_jobs < 64 && in_one * 6 < 64);
        for (int first = 0; first < lane_count; first += in_one) {
            std::int64_t all = 0;
            for (int at = 0; at < count; ++at) {
                job const& j = jobs[at];
                bool const counted = j.lane >= first && j.lane < first + in_one;
                if (counted && known[j.lane] > j.index) all += std::int64_t{1} << 6 * (j.lane - first);
            }
            into.push(all);
        }
    }
    /// The lane of an engine that links speak of: these have one channel.
    static constexpr int lane_of_link(run const& in, int engine_at) { return in.plan().where->first_lane(engine_at); }
    static constexpr link const& link_of(run const& in, ring_step const& at) { return in.plan().links[at.link]; }
    static constexpr bool same_queue(run const& in, token const& t, link const& l) {
        link const& other = in.plan().links[t.link];
        return other.tokens == l.tokens && other.queue == l.queue && other.to >= 0;
    }
    constexpr void take(int position) {
        for (int behind = position + 1; behind < token_count; ++behind) tokens[behind - 1] = tokens[behind];
        --token_count;
    }

    /// Gives a job to its channel; without one, the core does it. A conflicting job that is not known to be complete is a hazard.
    constexpr void begin(run& in, job& next) {
        machine const& where = *in.plan().where;
        knowledge& here = next.lane < 0 ? core : lanes[next.lane];
        here.learn(core, lane_count);
        for (int at = 0; at < count; ++at) {
            job const& other = jobs[at];
            if (!are_interlocked(where, next, other)) continue;
            bool held = false;
            for (int which = 0; which < next.touched_count; ++which) held |= touches_same(in, other, next, next.touched[which]);
            if (held) here.learn(other, lane_count);
        }
        for (int at = 0; at < count; ++at) {
            job const& other = jobs[at];
            if (other.lane == next.lane || here[other.lane] > other.index) continue;
            bool const only_banks = are_interlocked(where, next, other);
            for (int which = 0; which < next.touched_count; ++which) {
                touch const& t = next.touched[which];
                meet(in, other, t.to, t.writes, next, only_banks);
            }
        }
        next.knows = here;
        if (next.lane >= 0) next.index = given[next.lane]++;
    }
    /// A job is in flight. Calls that move one region piece by piece are one transfer, which ends with the last of them. Whoever knows of a
    /// job on some versions knows of the earlier ones of the same kind.
    constexpr void keep(run& in, job const& next) {
        for (int at = 0; at < count; ++at) {
            job const& other = jobs[at];
            bool const same = other.movement == next.movement && other.body == next.body;
            if (same && ((next.movement >= 0 && other.number == next.number) || same_places(other, next))) remove(at--);
        }
        if (count == most_jobs) return report(in, {rule::too_many_in_flight, next.touched[0].to.buffer, 0, next.movement, -1});
        jobs[count++] = next;
    }
    /// A job is no longer in flight when the core knows that it is complete.
    constexpr void forget() {
        for (int at = 0; at < count; ++at) {
            job const& j = jobs[at];
            if (core[j.lane] > j.index) remove(at--);
        }
    }
    static constexpr bool same_places(job const& a, job const& b) {
        bool same = a.touched_count == b.touched_count;
        for (int at = 0; at < a.touched_count && same; ++at) same = a.touched[at].to == b.touched[at].to;
        return same;
    }
    static constexpr bool are_interlocked(machine const& where, job const& a, job const& b) {
        return a.lane >= 0 && b.lane >= 0 && a.lane != b.lane && where.engine_at_lane(a.lane).interlocked &&
               where.engine_at_lane(b.lane).interlocked;
    }
    /// Whether a transfer fills or empties the version that it touches. Of the buffer on its other side it moves a part.
    static constexpr bool moves_all_of(run const& in, job const& j, touch const& t) {
        return j.ring >= 0 && in.ring_at(j.ring).buffer == t.to.buffer;
    }
    /// Whether one of two jobs touches bytes of the other for certain, and one of them writes these: a transfer that fills or empties a
    /// version touches all of it. Other jobs may touch a part.
    static constexpr bool touches_same(run const& in, job const& other, job const& next, touch const& t) {
        if (banks_of(in, t.to) == 0) return false;  // an argument: jobs touch parts of it
        for (int at = 0; at < other.touched_count; ++at) {
            touch const& o = other.touched[at];
            if ((!o.writes && !t.writes) || !overlap(in, o.to, t.to)) continue;
            bool const all = moves_all_of(in, next, t), all_of_other = moves_all_of(in, other, o);
            if (o.to == t.to ? all || all_of_other : all && all_of_other) return true;
        }
        return false;
    }

    constexpr bool keeps_contents(run const& in, int buffer_at) const {
        return follows_contents && buffer_at >= 0 && in.plan().buffers[buffer_at].ring >= 0;
    }
    /// Whether all movements of a step have been started with this one.
    constexpr bool begins_last(movement const& m, std::int64_t number) {
        begun& b = begun_steps[m.at.ring];
        std::uint64_t const all = (std::uint64_t{1} << m.pieces) - 1;
        // A step of that number may come again. Each movement may be several calls.
        if (b.number != number || (b.pieces == all && m.piece == 0)) b = {number, 0};
        b.pieces |= std::uint64_t{1} << m.piece;
        return b.pieces == all;
    }
    constexpr kept& contents_of(place const& of) { return contents[of.buffer]; }
    /// A version is loaded or computed: what it held before must have been stored.
    constexpr void fill(run& in, place const& to, std::int64_t number, bool loads, int by) {
        if (!keeps_contents(in, to.buffer)) return;
        kept& k = contents_of(to);
        std::int64_t& held = k.steps[to.version];
        std::int64_t const bit = std::int64_t{1} << to.version;
        if ((k.unstored & bit) != 0 && (loads || held != number))
            return report(in, {rule::never_stored, to.buffer, to.version, -1, static_cast<std::int16_t>(by)});
        held = number;
        if (k.stored && !loads) k.unstored |= bit;
    }
    static constexpr std::int64_t step_of(run const& in, buffer_id buffer_at, job const& j) {
        return in.step_of(buffer_at, j.ring, j.number);
    }
    static constexpr place place_of(run const& in, buffer_id buffer_at, job const& j) {
        if (buffer_at < 0) return {};
        return {buffer_at, static_cast<std::int16_t>(in.version_of(buffer_at, j.ring, j.number))};
    }

    /// Whether an access to a place by `next`, or by what computes, may happen while `other` is in flight.
    constexpr void meet(run& in, job const& other, place const& to, bool writes, job const& next, bool only_banks = false) {
        if (to.buffer < 0 || found) return;
        auto const conflict = [&](rule broken) { report(in, {broken, to.buffer, to.version, other.movement, next.movement}); };
        // Transfers of one staged buffer at two steps move two different parts of the buffer on the other side.
        buffer_id const staged = other.ring < 0 ? no_buffer : in.ring_at(other.ring).buffer;
        bool const same_buffer = staged >= 0 && next.moves(staged);
        bool const apart = same_buffer && to.buffer != staged && step_of(in, staged, next) != other.number;
        for (int at = 0; at < other.touched_count && !apart && !only_banks; ++at) {
            touch const& o = other.touched[at];
            if ((!o.writes && !writes) || !overlap(in, o.to, to)) continue;
            return conflict(!o.writes ? rule::written_while_read : writes ? rule::written_while_written : rule::read_before_written);
        }
        memory const& m = memory_of(in, to);
        for (int at = 0; at < other.touched_count; ++at) {
            place const& used = other.touched[at].to;
            if (m.ports > 1 || &memory_of(in, used) != &m) continue;
            if ((banks_of(in, used) & banks_of(in, to)) != 0) conflict(rule::bank_in_use);
        }
    }
    static constexpr bool overlap(run const& in, place const& a, place const& b) {
        return versions_overlap(in.plan(), a.buffer, a.version, b.buffer, b.version);
    }
    static constexpr memory const& memory_of(run const& in, place const& of) {
        return in.plan().where->memories[in.plan().buffers[of.buffer].memory];
    }
    /// A bit for each bank that a place lies in; an argument lies in none.
    static constexpr unsigned banks_of(run const& in, place const& of) {
        buffer const& b = in.plan().buffers[of.buffer];
        return b.kind == buffer_kind::argument ? 0 : b.banks_of(of.version, memory_of(in, of).banks);
    }
    constexpr void expect(run& in, place const& used, std::int64_t number, int by) {
        if (keeps_contents(in, used.buffer) && contents_of(used).steps[used.version] != number)
            report(in, {rule::other_contents, used.buffer, used.version, -1, static_cast<std::int16_t>(by)});
    }
    constexpr void remove(int position) {
        for (int behind = position + 1; behind < count; ++behind) jobs[behind - 1] = jobs[behind];
        --count;
    }
    constexpr void report(run& in, hazard const& what) {
        if (!found) found = what;
        in.stop();
    }

    int lane_count;
    bool ordered;  ///< by more than the core's own order and its waits
    bool follows_contents;
};

/// The first hazard that a plan's program runs into; none if every two accesses to one place are ordered.
constexpr hazard find_hazard(plan_value const& plan, visiting how = visiting::periods) {
    if (plan.refusal || (plan.rings.size() == 0 && !is_ordered_aside(plan))) return {};
    plan.need_extents();
    in_flight state(plan);
    program_run<in_flight> run(plan, state, how);
    if (run.run()) state.end(run);  // a run that was given up has no known end
    if (state.found) return state.found;
    // Where stages run on other cores, each core waits for its own engines: a wait that stands on another one does not count.
    bool apart = false;
    for (int at = 0; at < plan.steps.size(); ++at) apart |= plan.steps[at].core > 0;
    for (int core = 0; core < plan.cores && apart; ++core) {
        in_flight of_core(plan, in_flight::following::jobs);
        program_run<in_flight> alone(plan, of_core, how, core);
        if (alone.run()) of_core.end(alone);
        if (of_core.found) return of_core.found;
    }
    return {};
}

/// The staged buffer that a movement fills or empties, by its tensor.
constexpr label in_flight_name(plan_value const& plan, int movement_at) {
    movement const& m = plan.movements[movement_at];
    bool const stores = m.source >= 0 && plan.buffers[m.destination].kind == buffer_kind::argument;
    return plan.buffers[stores ? m.source : m.destination].tensor;
}

/// "core 1"
constexpr label core_name(int core) {
    fixed_array<char, 8> text{'c', 'o', 'r', 'e', ' ', static_cast<char>('0' + core)};
    return label(text.elements);
}

/// Refuses a plan that runs into a hazard.
constexpr void refuse_hazard(plan_value const& plan, refusals const& to, hazard const& found) {
    if (!found) return;
    machine const& where = *plan.where;
    if (found.broken == rule::too_many_in_flight)
        return to.refuse_capacity("transfers in flight", in_flight::most_jobs + 1, in_flight::most_jobs);
    if (found.message >= 0) {
        message const& m = plan.messages[found.message];
        to.refuse(verdict_kind::deadlock, found.broken, {plan.buffers[m.buffer].tensor, core_name(m.from), core_name(m.to)}, 0,
                  {fact{fact_kind::need, found.tokens}, fact{fact_kind::limit, where.core_at(m.from).signal_capacity}});
        return;
    }
    if (found.link >= 0) {
        link const& l = plan.links[found.link];
        label const of = l.ring < 0 ? where.name : plan.buffers[plan.rings[l.ring].buffer].tensor;
        if (l.to < 0) return to.refuse_capacity("tokens", in_flight::most_tokens + 1, in_flight::most_tokens);
        to.refuse(verdict_kind::deadlock, found.broken, {of, where.engines[l.from].name, where.engines[l.to].name}, 0,
                  {fact{fact_kind::need, found.tokens}, fact{fact_kind::limit, where.tokens[l.tokens].capacity}});
        return;
    }
    auto const mover = [&](int movement_at) {
        return movement_at < 0 ? label() : mover_of(plan, plan.movements[movement_at].transfer).name;
    };
    buffer const& b = plan.buffers[found.buffer];
    if (found.broken == rule::bank_in_use) {
        // Only this check sees how far engines get ahead of each other, and what fills borders.
        memory const& m = where.memories[b.memory];
        verdict& v = to.refuse(verdict_kind::bank_conflict, b.ordinal);
        v.names = {m.name, found.first < 0 ? label("a tile") : in_flight_name(plan, found.first), b.tensor, mover(found.second)};
        v.facts = {fact{fact_kind::bank, (b.bank + found.version) % m.banks}};
        return;
    }
    verdict_kind const is =
        found.broken == rule::parts_of_shares || found.broken == rule::line_of_two_cores ? verdict_kind::distribution : verdict_kind::race;
    to.refuse(is, found.broken, {b.tensor, mover(found.first), mover(found.second)}, b.ordinal, {fact{fact_kind::version, found.version}});
}

}  // namespace tilewright::detail
