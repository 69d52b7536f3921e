#pragma once
#include <tilewright/plan/planning.hpp>
#include <tilewright/plan/program_run.hpp>

// Whether a plan's order of starts, waits and uses leaves no two accesses to one place unordered. Reads the program alone: it knows nothing
// of how waits were placed.
namespace tilewright::detail {

/// Two accesses that nothing orders, and the version that they are to.
struct hazard {
    rule broken = rule::none;
    std::int16_t buffer = -1;
    std::int16_t version = 0;
    std::int16_t first = -1;   ///< the movement that is in flight; -1: none is
    std::int16_t second = -1;  ///< the movement that meets it; -1: what computes

    constexpr explicit operator bool() const { return broken != rule::none; }
};

/// What is in flight, and what every version holds, while a program runs.
struct in_flight {
    using run = program_run<in_flight>;
    static constexpr int most_jobs = 48;
    static constexpr int most_visits = 96;

    /// A version of a buffer; version 0 of an argument.
    struct place {
        std::int16_t buffer = -1;  ///< -1: none
        std::int16_t version = 0;

        friend constexpr bool operator==(place const&, place const&) = default;
    };
    /// A transfer. Those of a ring are in flight until the core knows that they are complete.
    struct job {
        std::int16_t movement = -1;
        std::int16_t engine = -1;
        std::int16_t ring = -1;
        std::int16_t tag = -1;
        std::int64_t number = 0;  ///< the step of its ring
        place source{}, destination{};
    };
    fixed_array<job, most_jobs> jobs{};
    int count = 0;
    /// What is known of a buffer that a ring fills or empties.
    struct kept {
        fixed_array<std::int64_t, most_versions> steps{};  ///< of its ring, that each version was loaded or computed for; -1: none
        std::int64_t unstored = 0;                         ///< a bit for each version that holds what must be stored, and is not yet
        bool loaded = false, stored = false;               ///< by a ring
    };
    fixed_array<kept, plan_value::most_buffers> contents{};
    hazard found{};

    constexpr explicit in_flight(plan_value const& plan) {
        for (kept& k : contents) k.steps.fill(-1);
        for (int at = 0; at < plan.rings.size(); ++at) {
            ring const& r = plan.rings[static_cast<std::size_t>(at)];
            kept& k = contents[static_cast<std::size_t>(r.buffer)];
            (r.stores ? k.stored : k.loaded) = true;
        }
    }

    constexpr void start(run& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        if (in.elements_of(m) == 0) return;  // of a tile that lies beyond an end
        job next{.movement = static_cast<std::int16_t>(movement_at), .ring = m.at.ring};
        next.engine = static_cast<std::int16_t>(in.plan().where->engines.find(in.plan().where->transfers[m.transfer].engine_name));
        if (m.at.ring >= 0) {
            next.number = in.value_of(m.at.step);
            next.tag = static_cast<std::int16_t>(in.ring_at(m.at.ring).first_tag + next.number % in.ring_at(m.at.ring).versions);
        }
        next.source = place_of(in, m.source, next);
        next.destination = place_of(in, m.destination, next);
        for (int at = 0; at < count; ++at) {
            job const& other = jobs[static_cast<std::size_t>(at)];
            if (next.engine >= 0 && other.engine == next.engine) continue;  // one after the other
            meet(in, other, next.source, false, next);
            meet(in, other, next.destination, true, next);
        }
        if (next.source.buffer >= 0) expect(in, next.source, step_of(in, next.source.buffer, next), movement_at);
        bool const of_source = m.at.ring >= 0 && in.ring_at(m.at.ring).buffer == next.source.buffer;
        bool const of_destination = m.at.ring >= 0 && in.ring_at(m.at.ring).buffer == next.destination.buffer;
        if (of_source) contents_of(next.source).unstored &= ~(std::int64_t{1} << next.source.version);
        if (next.destination.buffer >= 0)
            fill(in, next.destination, step_of(in, next.destination.buffer, next), of_destination, movement_at);
        if (!in.plan().where->transfers[m.transfer].is_asynchronous) {
            if (next.engine >= 0) complete(next.engine, count - 1);  // it blocks until it is complete, and what is in front of it
            return;
        }
        // Calls that move one region piece by piece are one transfer, which ends with the last of them.
        for (int at = 0; at < count; ++at) {
            job const& other = jobs[static_cast<std::size_t>(at)];
            if (other.movement == next.movement && other.number == next.number) remove(at--);
        }
        if (count == most_jobs) return report(in, {rule::too_many_in_flight, m.destination, 0, next.movement, -1});
        jobs[static_cast<std::size_t>(count++)] = next;
    }
    constexpr void wait(run& in, int wait_at) {
        ring_step const& until = in.plan().waits[static_cast<std::size_t>(wait_at)];
        ring const& r = in.ring_at(until.ring);
        std::int64_t const tag = r.first_tag + in.value_of(until.step) % r.versions;
        for (int at = count - 1; at >= 0; --at) {
            job const& j = jobs[static_cast<std::size_t>(at)];
            if (j.tag == tag && j.engine == r.engine) return complete(r.engine, at);
        }
    }
    constexpr void compute(run& in, int body_at, std::int64_t times) {
        if (times == 0) return;
        in.plan().each_use(in.plan().bodies[static_cast<std::size_t>(body_at)], [&](use const& u, bool reads, bool writes) {
            place const used = place_of(in, u.buffer, {});
            for (int at = 0; at < count; ++at) meet(in, jobs[static_cast<std::size_t>(at)], used, writes, {});
            std::int64_t const number = step_of(in, u.buffer, {});
            // What is computed into a buffer that is loaded continues from there.
            if (reads || contents_of(used).loaded) expect(in, used, number, -1);
            if (writes) fill(in, used, number, false, -1);
        });
    }
    /// The kernel is over.
    constexpr void end(run& in) {
        for (int b = 0; b < in.plan().buffers.size(); ++b) {
            std::int64_t const left = contents[static_cast<std::size_t>(b)].unstored;
            for (std::int16_t version = 0; left >> version != 0; ++version) {
                if ((left >> version & 1) != 0) return report(in, {rule::never_stored, static_cast<std::int16_t>(b), version, -1, -1});
            }
        }
        if (count == 0) return;
        place const& left = jobs[0].destination;
        report(in, {rule::never_waited_for, left.buffer, left.version, jobs[0].movement, -1});
    }

    constexpr void sign(run const& in, run_signature& into) const {
        for (int at = 0; at < count; ++at) {
            job const& j = jobs[static_cast<std::size_t>(at)];
            into.push(j.movement);
            into.push(j.tag);
            into.push(j.number - into.steps[static_cast<std::size_t>(j.ring)]);
        }
        into.push(-1);
        for (int b = 0; b < in.plan().buffers.size(); ++b) {
            if (!keeps_contents(in, b)) continue;
            buffer const& of = in.plan().buffers[static_cast<std::size_t>(b)];
            kept const& k = contents[static_cast<std::size_t>(b)];
            for (int version = 0; version < of.versions; ++version)
                into.push(k.steps[static_cast<std::size_t>(version)] - into.steps[static_cast<std::size_t>(of.ring)]);
            if (k.stored) into.push(k.unstored);
        }
    }
    constexpr void skip(run const& in, std::int64_t times, run_signature const& later, run_signature const& earlier) {
        auto const moved = [&](int ring_at) {
            return times * (later.steps[static_cast<std::size_t>(ring_at)] - earlier.steps[static_cast<std::size_t>(ring_at)]);
        };
        for (int at = 0; at < count; ++at) jobs[static_cast<std::size_t>(at)].number += moved(jobs[static_cast<std::size_t>(at)].ring);
        for (int b = 0; b < in.plan().buffers.size(); ++b) {
            if (!keeps_contents(in, b)) continue;
            for (std::int64_t& number : contents[static_cast<std::size_t>(b)].steps)
                number += moved(in.plan().buffers[static_cast<std::size_t>(b)].ring);
        }
    }

  private:
    static constexpr bool keeps_contents(run const& in, int buffer_at) {
        return buffer_at >= 0 && in.plan().buffers[static_cast<std::size_t>(buffer_at)].ring >= 0;
    }
    constexpr kept& contents_of(place const& of) { return contents[static_cast<std::size_t>(of.buffer)]; }
    /// A version is loaded or computed: what it held before must have been stored.
    constexpr void fill(run& in, place const& to, std::int64_t number, bool loads, int by) {
        if (!keeps_contents(in, to.buffer)) return;
        kept& k = contents_of(to);
        std::int64_t& held = k.steps[static_cast<std::size_t>(to.version)];
        std::int64_t const bit = std::int64_t{1} << to.version;
        if ((k.unstored & bit) != 0 && (loads || held != number))
            return report(in, {rule::never_stored, to.buffer, to.version, -1, static_cast<std::int16_t>(by)});
        held = number;
        if (k.stored && !loads) k.unstored |= bit;
    }
    /// The step at which `j` stands of the ring that a buffer belongs to. The loops of j's own ring follow from its step.
    static constexpr std::int64_t step_of(run const& in, int buffer_at, job const& j) {
        int const ring_at = in.plan().buffers[static_cast<std::size_t>(buffer_at)].ring;
        if (ring_at < 0) return 0;
        if (j.ring < 0) return in.value_of(in.ring_at(ring_at).step);
        if (in.ring_at(j.ring).buffer == buffer_at) return j.number;
        return in.value_of(in.ring_at(ring_at).step, j.ring, j.number);
    }
    static constexpr place place_of(run const& in, int buffer_at, job const& j) {
        if (buffer_at < 0) return {};
        std::int16_t const versions = in.plan().buffers[static_cast<std::size_t>(buffer_at)].versions;
        std::int64_t const version = versions == 1 ? 0 : step_of(in, buffer_at, j) % versions;
        return {static_cast<std::int16_t>(buffer_at), static_cast<std::int16_t>(version)};
    }

    /// Whether an access to a place by `next`, or by what computes, may happen while `other` is in flight.
    constexpr void meet(run& in, job const& other, place const& to, bool writes, job const& next) {
        if (to.buffer < 0 || found) return;
        auto const conflict = [&](rule broken) { report(in, {broken, to.buffer, to.version, other.movement, next.movement}); };
        // Transfers of one staged buffer at two steps move two parts of what is on its other side.
        std::int16_t const staged = in.ring_at(other.ring).buffer;
        bool const same_buffer = staged >= 0 && (next.source.buffer == staged || next.destination.buffer == staged);
        bool const apart = same_buffer && to.buffer != staged && step_of(in, staged, next) != other.number;
        if (overlap(in, other.destination, to) && !apart) return conflict(writes ? rule::written_while_written : rule::read_before_written);
        if (overlap(in, other.source, to) && writes && !apart) return conflict(rule::written_while_read);
        memory const& m = memory_of(in, to);
        for (place const& used : {other.source, other.destination}) {
            if (m.ports > 1 || used.buffer < 0 || &memory_of(in, used) != &m || bank_of(in, used) < 0) continue;
            if (bank_of(in, used) == bank_of(in, to)) conflict(rule::bank_in_use);
        }
    }
    /// Whether two places have bytes in common: buffers may share them at different times.
    static constexpr bool overlap(run const& in, place const& a, place const& b) {
        if (a == b || a.buffer < 0 || b.buffer < 0) return a == b && a.buffer >= 0;
        buffer const& left = in.plan().buffers[static_cast<std::size_t>(a.buffer)];
        buffer const& right = in.plan().buffers[static_cast<std::size_t>(b.buffer)];
        if (left.kind == buffer_kind::argument || right.kind == buffer_kind::argument || left.memory != right.memory) return false;
        int const banks = in.plan().where->memories[left.memory].banks;
        std::int64_t const first = left.offset_of(a.version, banks), second = right.offset_of(b.version, banks);
        return bank_of(in, a) == bank_of(in, b) && first < second + right.bytes && second < first + left.bytes;
    }
    static constexpr memory const& memory_of(run const& in, place const& of) {
        return in.plan().where->memories[in.plan().buffers[static_cast<std::size_t>(of.buffer)].memory];
    }
    /// -1 of an argument
    static constexpr int bank_of(run const& in, place const& of) {
        buffer const& b = in.plan().buffers[static_cast<std::size_t>(of.buffer)];
        return b.kind == buffer_kind::argument ? -1 : (b.bank + of.version) % memory_of(in, of).banks;
    }
    constexpr void expect(run& in, place const& used, std::int64_t number, int by) {
        if (keeps_contents(in, used.buffer) && contents_of(used).steps[static_cast<std::size_t>(used.version)] != number)
            report(in, {rule::other_contents, used.buffer, used.version, -1, static_cast<std::int16_t>(by)});
    }
    /// The job at `last` and those in front of it on its engine are complete.
    constexpr void complete(int engine_at, int last) {
        for (int at = last; at >= 0; --at) {
            if (jobs[static_cast<std::size_t>(at)].engine == engine_at) remove(at);
        }
    }
    constexpr void remove(int position) {
        for (int behind = position + 1; behind < count; ++behind)
            jobs[static_cast<std::size_t>(behind - 1)] = jobs[static_cast<std::size_t>(behind)];
        --count;
    }
    constexpr void report(run& in, hazard const& what) {
        if (!found) found = what;
        in.stop();
    }
};

/// The first hazard that a plan's program runs into; none where every two accesses to one place are ordered.
constexpr hazard find_hazard(plan_value const& plan, visiting how = visiting::periods) {
    if (plan.refusal || plan.rings.size() == 0) return {};
    plan.need_extents();
    in_flight state(plan);
    program_run<in_flight> run(plan, state, how);
    if (run.run()) state.end(run);  // of a run that was given up, the end is not known
    return state.found;
}

/// Refuses a plan that runs into a hazard.
/// @param what  the plan, or what it is at some extents
constexpr void refuse_hazards(planning& p, plan_value const& what) {
    hazard const found = find_hazard(what);
    if (!found) return;
    if (found.broken == rule::too_many_in_flight)
        return p.refuse_capacity("transfers in flight", in_flight::most_jobs + 1, in_flight::most_jobs);
    auto const mover = [&](int movement_at) {
        return movement_at < 0 ? label() : p.of->where().transfers[p.plan.movements[static_cast<std::size_t>(movement_at)].transfer].name;
    };
    buffer const& b = p.buffer_at(found.buffer);
    p.refuse(verdict_kind::race, found.broken, {b.tensor, mover(found.first), mover(found.second)}, b.ordinal);
    p.kept.facts = {fact{fact_kind::version, found.version}};
}

}  // namespace tilewright::detail
