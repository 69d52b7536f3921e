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

    constexpr void start(run const& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        machine const& where = *in.plan().where;
        transfer_description const& t = where.transfers[m.transfer];
        std::int64_t const elements = in.elements_of(m);
        if (elements == 0) return;
        job_time const time = time_of(t.costs, elements * bytes_of(in.plan().buffers[static_cast<std::size_t>(m.destination)].type));
        int const on = where.engines.find(t.engine_name);
        if (on < 0) {
            now += time.busy + time.latency;
            return;
        }
        std::int64_t const complete = engines[static_cast<std::size_t>(on)].start(now, time, where.engines[on].depth);
        if (t.is_asynchronous) completion_of(in, m.at) = complete;
        else now = complete;
    }
    constexpr void wait(run const& in, int wait_at) {
        ring_step const& until = in.plan().waits[static_cast<std::size_t>(wait_at)];
        if (completion_of(in, until) > now) now = completion_of(in, until);
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
        carry_out(in, b.intrinsic, times - first, b.cycles);
        carry_out(in, b.first_intrinsic, first, b.first_cycles);
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
        for (int at = 0; at < in.plan().rings.size(); ++at) {
            for (int version = 0; version < in.ring_at(at).versions; ++version)
                into.push(ahead(completions[static_cast<std::size_t>(in.ring_at(at).first_tag + version)]));
        }
    }
    constexpr void skip(run const&, std::int64_t times, run_signature const& later, run_signature const& earlier) {
        std::int64_t const cycles = times * (later.now - earlier.now);
        now += cycles;
        for (engine_clock& c : engines) {
            c.free += cycles;
            c.complete += cycles;
            for (std::int64_t& completion : c.completions) completion += cycles;
        }
        for (std::int64_t& completion : completions) completion += cycles;
    }

  private:
    static constexpr std::int64_t cycles_of_code(run const& in, body const& b) {
        if (in.plan().limits.size() == 0) return b.cycles;
        operation_costs const costs = in.plan().where->host().costs;
        std::int64_t cycles = in.iterations_of(b, b.kind == body_kind::identity) * cycles_of(b.counts, costs);
        if (b.kind == body_kind::reduction) cycles += in.iterations_of(b, true) * costs.store;
        return cycles;
    }
    constexpr std::int64_t& completion_of(run const& in, ring_step const& at) {
        ring const& r = in.ring_at(at.ring);
        return completions[static_cast<std::size_t>(r.first_tag + in.value_of(at.step) % r.versions)];
    }
    constexpr void carry_out(run const& in, int intrinsic_at, std::int64_t times, std::int64_t cycles) {
        if (times == 0) return;
        machine const& where = *in.plan().where;
        int const on = where.engines.find(where.intrinsics[intrinsic_at].engine_name);
        if (on < 0) now += times * cycles;
        else now = engines[static_cast<std::size_t>(on)].start(now, {times * cycles, 0}, engine_clock::most_depth);
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
    if (plan.rings.size() == 0) return {plan.total_cycles, true};
    detail::clocks times;
    if (!detail::program_run<detail::clocks>(plan, times, how).run()) return {};
    for (engine_clock const& c : times.engines) {
        if (c.complete > times.now) times.now = c.complete;
    }
    return {times.now, true};
}

}  // namespace tilewright::ir
