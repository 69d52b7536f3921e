#pragma once
#include <tilewright/machine/clock.hpp>
#include <tilewright/plan/program_run.hpp>

// What a kernel costs on engines that work side by side, without running it.
namespace tilewright::detail {

/// The clocks of a plan's machine while its program runs.
struct clocks {
    using run = program_run<clocks>;
    static constexpr int most_visits = 200;

    std::int64_t now = 0;
    fixed_array<engine_clock, decltype(machine::engines)::most> engines{};
    fixed_array<std::int64_t, plan_value::most_rings * most_versions> completions{};  ///< by tag
    /// What is pushed and not popped yet, oldest first.
    struct token {
        std::int16_t link = -1;
        std::int64_t number = 0;  ///< the step of the link's ring
        std::int64_t time = 0;    ///< when it is there
    };
    static constexpr int most_tokens = 64, most_uses = 64;
    fixed_array<token, most_tokens> tokens{};
    int token_count = 0;
    /// The last job of an interlocked engine that touches a version of a buffer in one way, until it is complete.
    struct held_use {
        std::int16_t buffer = -1, version = 0, engine = -1;
        bool writes = false;
        std::int64_t complete = 0;
        fixed_array<std::int64_t, max_rank> low{}, high{};  ///< of the box that it touches, in the buffer's indices

        constexpr bool same(held_use const& other) const {
            bool all = buffer == other.buffer && version == other.version && engine == other.engine && writes == other.writes;
            for (std::size_t d = 0; d < max_rank && all; ++d) all = low[d] == other.low[d] && high[d] == other.high[d];
            return all;
        }
        constexpr bool meets(plan_value const& plan, held_use const& other) const {
            bool common =
                engine != other.engine && (writes || other.writes) && versions_overlap(plan, buffer, version, other.buffer, other.version);
            for (std::size_t d = 0; d < max_rank && common && buffer == other.buffer; ++d)
                common = low[d] <= other.high[d] && other.low[d] <= high[d];
            return common;
        }
    };
    fixed_array<held_use, most_uses> uses{};
    int use_count = 0;
    bool overflown = false;
    std::int64_t first_wait = -1;  ///< when the core comes to it

    constexpr void start(run const& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        machine const& where = *in.plan().where;
        std::int64_t const elements = in.elements_of(m);
        if (elements == 0) return;
        if (m.transfer < 0) return void(now += m.cycles);  // of the core, always whole
        transfer_description const& t = where.transfers[m.transfer];
        job_time const time = time_of(t.costs, elements * bytes_of(in.plan().buffers[static_cast<std::size_t>(m.destination)].type));
        int const on = where.engines.find(t.engine_name);
        if (on < 0) {
            now += time.busy + time.latency;
            return;
        }
        use_list const touched = uses_of(in, on, m);
        hold_back(in, on, touched);
        std::int64_t const complete = engines[static_cast<std::size_t>(on)].start(now, time, where.engines[on].depth);
        keep_uses(touched, complete);
        if (t.is_asynchronous) completion_of(in, m.at) = complete;
        else now = complete;
    }
    /// When a wait of the core for a job that is complete at `complete` returns: it may have to be one for all jobs of the engine.
    constexpr std::int64_t wait_covers(run const& in, int engine_at, std::int64_t complete) const {
        bool const all = in.plan().where->engines[engine_at].completes == completion::by_engine;
        return all ? engines[static_cast<std::size_t>(engine_at)].complete : complete;
    }
    constexpr void wait(run const& in, int wait_at) {
        ring_step const& until = in.plan().waits[static_cast<std::size_t>(wait_at)];
        if (first_wait < 0) first_wait = now;
        std::int64_t const complete = wait_covers(in, in.ring_at(until.ring).engine, completion_of(in, until));
        if (complete > now) now = complete;
    }
    constexpr void push(run const& in, int push_at) {
        ring_step const& at = in.plan().waits[static_cast<std::size_t>(push_at)];
        link const& l = in.plan().links[static_cast<std::size_t>(at.link)];
        engine_clock const& from = engines[static_cast<std::size_t>(l.from)];
        // Of marks, the last one of a version counts.
        std::int64_t const number = in.value_of(at.step), versions = l.ring < 0 ? 1 : in.ring_at(l.ring).versions;
        for (int which = 0; l.to < 0 && which < token_count; ++which) {
            token const& t = tokens[static_cast<std::size_t>(which)];
            if (t.link == at.link && (number - t.number) % versions == 0) take(which--);
        }
        overflown |= token_count == most_tokens;
        if (overflown) return;
        tokens[static_cast<std::size_t>(token_count++)] = {at.link, number, l.to < 0 ? from.complete : from.passed()};
    }
    constexpr void pop(run const& in, int pop_at) {
        ring_step const& at = in.plan().waits[static_cast<std::size_t>(pop_at)];
        link const& l = in.plan().links[static_cast<std::size_t>(at.link)];
        std::int64_t const number = in.value_of(at.step);
        auto const of_queue = [&](token const& t) {
            link const& other = in.plan().links[static_cast<std::size_t>(t.link)];
            return l.to < 0 ? t.link == at.link : other.to >= 0 && other.tokens == l.tokens && other.queue == l.queue;
        };
        if (std::int64_t const complete = l.to < 0 ? wait_covers(in, l.from, now) : now; complete > now) now = complete;
        int last = -1;
        for (int which = 0; which < token_count; ++which) {
            token const& t = tokens[static_cast<std::size_t>(which)];
            if (t.link == at.link && t.number == number) last = which;
        }
        for (int which = 0; which <= last; ++which) {
            token const taken = tokens[static_cast<std::size_t>(which)];
            if (!of_queue(taken) || (l.to < 0 && which < last)) continue;
            if (l.to >= 0) engines[static_cast<std::size_t>(l.to)].hold(taken.time);
            else if (taken.time > now) now = taken.time;
            take(which--), --last;
        }
    }
    constexpr void compute(run const& in, int body_at, std::int64_t times) {
        body const& b = in.plan().bodies[static_cast<std::size_t>(body_at)];
        if (b.kind != body_kind::intrinsic) {
            now += times * cycles_of_code(in, b);
            return;
        }
        std::int64_t first = b.first_intrinsic >= 0 ? times : 0;
        for (int at = 0; at < b.first_loop_count; ++at) {
            int const v = b.first_loops[static_cast<std::size_t>(at)];
            if (in.value(v) > 0) first = 0;
            if (in.value(v) < 0) first /= in.plan().variables[static_cast<std::size_t>(v)].extent;
        }
        carry_out(in, b, b.first_intrinsic, first, b.first_cycles);
        carry_out(in, b, b.intrinsic, times - first, b.cycles);
    }
    constexpr void sign(run const& in, run_signature& into) const {
        into.now = now;
        auto const ahead = [&](std::int64_t time) { return time > now ? time - now : 0; };
        for (int at = 0; at < in.plan().where->engines.size(); ++at) {
            engine_clock const& c = engines[static_cast<std::size_t>(at)];
            if (c.jobs == 0) continue;
            into.push(ahead(c.free));
            into.push(ahead(c.complete));
            std::int64_t const depth = in.plan().where->engines[at].depth;
            for (std::int64_t job = c.jobs - 1; job >= 0 && job >= c.jobs - depth && c.completion_of(job) > now; --job)
                into.push(c.completion_of(job) - now);
            into.push(-1);
        }
        for (int at = 0; at < token_count; ++at) {
            token const& t = tokens[static_cast<std::size_t>(at)];
            int const ring_at = in.plan().links[static_cast<std::size_t>(t.link)].ring;
            into.push(t.link);
            into.push(ring_at < 0 ? 0 : t.number - into.steps[static_cast<std::size_t>(ring_at)]);
            into.push(ahead(t.time));
        }
        for (int at = 0; at < use_count; ++at) {
            held_use const& u = uses[static_cast<std::size_t>(at)];
            if (ahead(u.complete) == 0) continue;
            into.push(((std::int64_t{u.buffer} * most_versions + u.version) * 2 + (u.writes ? 1 : 0)) * 64 + u.engine);
            into.push(ahead(u.complete));
            for (std::size_t d = 0; d < static_cast<std::size_t>(in.plan().buffers[static_cast<std::size_t>(u.buffer)].rank); ++d)
                into.push(u.low[d] << 32 | u.high[d]);
        }
        for (int at = 0; at < in.plan().rings.size(); ++at) {
            for (int version = 0; version < in.ring_at(at).versions; ++version)
                into.push(ahead(completions[static_cast<std::size_t>(in.ring_at(at).first_tag + version)]));
        }
    }
    constexpr void skip(run const& in, std::int64_t times, run_signature const& later, run_signature const& earlier) {
        std::int64_t const cycles = times * (later.now - earlier.now);
        now += cycles;
        for (engine_clock& c : engines) {
            c.free += cycles;
            c.complete += cycles;
            for (std::int64_t& completion : c.completions) completion += cycles;
        }
        for (std::int64_t& completion : completions) completion += cycles;
        for (int at = 0; at < token_count; ++at) {
            token& t = tokens[static_cast<std::size_t>(at)];
            int const ring_at = in.plan().links[static_cast<std::size_t>(t.link)].ring;
            t.time += cycles;
            if (ring_at >= 0)
                t.number += times * (later.steps[static_cast<std::size_t>(ring_at)] - earlier.steps[static_cast<std::size_t>(ring_at)]);
        }
        for (int at = 0; at < use_count; ++at) uses[static_cast<std::size_t>(at)].complete += cycles;
    }

  private:
    static constexpr std::int64_t cycles_of_code(run const& in, body const& b) {
        if (in.plan().limits.size() == 0) return b.cycles;
        operation_costs const costs = in.plan().where->host().costs;
        std::int64_t cycles = in.iterations_of(b, b.kind == body_kind::identity) * cycles_of(b.counts, costs);
        if (b.kind == body_kind::reduction) cycles += in.iterations_of(b, true) * cycles_of(b.start_counts, costs);
        return cycles;
    }
    constexpr std::int64_t& completion_of(run const& in, ring_step const& at) {
        ring const& r = in.ring_at(at.ring);
        return completions[static_cast<std::size_t>(r.first_tag + in.value_of(at.step) % r.versions)];
    }
    constexpr void take(int position) {
        for (int behind = position + 1; behind < token_count; ++behind)
            tokens[static_cast<std::size_t>(behind - 1)] = tokens[static_cast<std::size_t>(behind)];
        --token_count;
    }
    static constexpr held_use use_of(run const& in, int engine_at, int buffer_at, int ring_at, std::int64_t number, bool writes) {
        return {.buffer = static_cast<std::int16_t>(buffer_at),
                .version = static_cast<std::int16_t>(in.version_of(buffer_at, ring_at, number)),
                .engine = static_cast<std::int16_t>(engine_at),
                .writes = writes};
    }
    /// What one job of an interlocked engine touches; nothing of other engines.
    struct use_list {
        fixed_array<held_use, intrinsic_description::most_operands> items{};
        int count = 0;

        constexpr void push(held_use const& one) {
            if (count < intrinsic_description::most_operands) items[static_cast<std::size_t>(count++)] = one;
        }
    };
    static constexpr use_list uses_of(run const& in, int engine_at, movement const& m) {
        use_list touched;
        if (!in.plan().where->engines[engine_at].interlocked) return touched;
        for (int moved : {int{m.source}, int{m.destination}}) {
            if (moved < 0) continue;
            held_use whole = use_of(in, engine_at, moved, m.at.ring, in.number_of(m), moved == m.destination);
            buffer const& b = in.plan().buffers[static_cast<std::size_t>(moved)];
            for (int d = 0; d < b.rank; ++d) whole.high[static_cast<std::size_t>(d)] = b.extents[static_cast<std::size_t>(d)] - 1;
            clip_use(in, m, moved == m.source, whole);
            touched.push(whole);
        }
        return touched;
    }
    /// Where a tile is partial, less of a version is moved.
    static constexpr void clip_use(run const& in, movement const& m, bool source, held_use& whole) {
        buffer const& b = in.plan().buffers[static_cast<std::size_t>(whole.buffer)];
        int row = b.rank - 1;
        while (row > 0 && b.extents[static_cast<std::size_t>(row)] == 1) --row;
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = in.plan().clips[static_cast<std::size_t>(at)];
            if (c.is != clip_kind::end && c.is != clip_kind::begin) continue;
            movement_dimension const along = c.dimension < 0 ? movement_dimension{} : m.dimensions[static_cast<std::size_t>(c.dimension)];
            int const d = c.dimension < 0 ? row : source ? along.source_dimension : along.destination_dimension;
            if (d < 0) continue;
            affine const& first = (source ? m.source_at : m.destination_at)[static_cast<std::size_t>(d)];
            std::int64_t const number = in.number_of(m);
            std::int64_t const end = in.value_of(first, m.at.ring, number) + c.bound - in.value_of(c.form, m.at.ring, number);
            std::int64_t &low = whole.low[static_cast<std::size_t>(d)], &high = whole.high[static_cast<std::size_t>(d)];
            if (c.is == clip_kind::end && end - 1 < high) high = end - 1;
            if (c.is == clip_kind::begin && end > low) low = end;
        }
    }
    /// Likewise of one step of an intrinsic, where the loops stand.
    static constexpr use_list uses_of(run const& in, int engine_at, body const& b, bool begins) {
        use_list all;
        if (!in.plan().where->engines[engine_at].interlocked) return all;
        in.plan().each_use(
            b,
            [&](use const& u, bool, bool writes) {
                held_use touched = use_of(in, engine_at, u.buffer, -1, 0, writes);
                for (std::size_t d = 0; d < max_rank; ++d) {
                    affine const& at = u.at[d];
                    touched.low[d] = touched.high[d] = at.constant;
                    for (int t = 0; t < at.count; ++t) {
                        term const& part = in.plan().term_at(at, t);
                        variable const& v = in.plan().variables[static_cast<std::size_t>(part.variable)];
                        bool const inside = v.kind == variable_kind::lane || (v.kind == variable_kind::loop && in.value(part.variable) < 0);
                        std::int64_t const far = part.coefficient * (inside ? v.extent - 1 : in.value_at(part.variable, -1, 0));
                        if (!inside || far < 0) touched.low[d] += far;
                        if (!inside || far > 0) touched.high[d] += far;
                    }
                }
                all.push(touched);
            },
            begins);
        return all;
    }
    /// Where engines are interlocked, a job begins when those of the others that it conflicts with are complete.
    constexpr void hold_back(run const& in, int engine_at, use_list const& touched) {
        for (int which = 0; which < touched.count; ++which) {
            held_use const& next = touched.items[static_cast<std::size_t>(which)];
            // Of arguments, jobs touch parts that lie apart.
            if (in.plan().buffers[static_cast<std::size_t>(next.buffer)].kind == buffer_kind::argument) continue;
            for (int at = 0; at < use_count; ++at) {
                held_use const& u = uses[static_cast<std::size_t>(at)];
                if (u.meets(in.plan(), next)) engines[static_cast<std::size_t>(engine_at)].hold(u.complete);
            }
        }
    }
    constexpr void keep_uses(use_list const& touched, std::int64_t complete) {
        for (int which = 0; which < touched.count; ++which) {
            held_use next = touched.items[static_cast<std::size_t>(which)];
            next.complete = complete;
            int kept = 0;
            for (int at = 0; at < use_count; ++at) {
                held_use const u = uses[static_cast<std::size_t>(at)];
                if (!u.same(next) && u.complete > now) uses[static_cast<std::size_t>(kept++)] = u;
            }
            use_count = kept;
            overflown |= use_count == most_uses;
            if (!overflown) uses[static_cast<std::size_t>(use_count++)] = next;
        }
    }
    constexpr void carry_out(run const& in, body const& b, int intrinsic_at, std::int64_t times, std::int64_t cycles) {
        if (times == 0) return;
        machine const& where = *in.plan().where;
        int const on = where.engines.find(where.intrinsics[intrinsic_at].engine_name);
        if (on < 0) {
            now += times * cycles;
            return;
        }
        engine_clock& clock = engines[static_cast<std::size_t>(on)];
        use_list const touched = uses_of(in, on, b, intrinsic_at == b.first_intrinsic || b.first_intrinsic < 0);
        hold_back(in, on, touched);
        if (where.intrinsics[intrinsic_at].is_asynchronous) clock.start_many(now, cycles, where.engines[on].depth, times);
        else now = clock.start(now, {times * cycles, 0}, engine_clock::most_depth);
        keep_uses(touched, clock.complete);
    }
};

}  // namespace tilewright::detail

namespace tilewright::ir {

using detail::visiting;

/// Cycles of a kernel. Not `resolved`: too little repeats for the compiler to follow it.
struct prediction {
    std::int64_t cycles = 0;
    bool resolved = false;
};

/// Cycles on engines that work side by side.
constexpr prediction predict(plan_value const& plan, visiting how = visiting::periods) {
    if (plan.refusal) return {};
    plan.need_extents();
    if (plan.rings.size() == 0 && !detail::is_ordered_aside(plan)) return {plan.total_cycles, true};
    detail::clocks times;
    if (!detail::program_run<detail::clocks>(plan, times, how).run() || times.overflown) return {};
    for (engine_clock const& c : times.engines) {
        if (c.complete > times.now) times.now = c.complete;
    }
    return {times.now, true};
}

}  // namespace tilewright::ir
