#pragma once
#include <tilewright/machine/intrinsic_cost.hpp>
#include <tilewright/machine/transfer.hpp>

// When jobs begin and end: the one rule by which predictions and emulated runs count.
namespace tilewright {

/// Cycles that a job occupies its engine, and cycles from then until it is complete.
struct job_time {
    std::int64_t busy = 0;
    std::int64_t latency = 0;
};
constexpr job_time time_of(transfer_cost const& cost, std::int64_t bytes) {
    return {cost.setup + (bytes + cost.bytes_per_cycle - 1) / cost.bytes_per_cycle, cost.latency};
}
/// The number of units that so many elements begin.
constexpr std::int64_t units_of(std::int64_t elements, std::int64_t unit) { return elements / unit + (elements % unit != 0); }
/// The time of a call of an intrinsic that covers `extents[axis]` elements of each of its axes. Its result is there when it leaves the
/// engine.
constexpr job_time time_of(intrinsic_cost const& cost, std::int64_t const* extents) {
    job_time time{cost.cycles, 0};
    for (int t = 0; t < cost.term_count; ++t) {
        cycle_term const& term = cost.terms[t];
        std::int64_t cycles = term.cycles;
        for (int f = 0; f < term.factor_count; ++f) {
            cycle_factor const& factor = term.factors[f];
            std::int64_t elements = 1;
            for (int axis = 0; factor.axes >> axis != 0; ++axis) {
                if (factor.has(axis)) elements *= extents[axis];
            }
            cycles *= units_of(elements, factor.unit);
        }
        time.busy += cycles;
    }
    return time;
}

/// An engine's queue. Jobs begin in order, each when it is started and the one before it has left the engine; they complete in order.
struct engine_clock {
    static constexpr int most_depth = engine::most_depth;

    std::int64_t free = 0;      ///< when the last job has left the engine
    std::int64_t complete = 0;  ///< when the last job is complete
    std::int64_t busy = 0;      ///< cycles of all jobs
    std::int64_t jobs = 0;
    fixed_array<std::int64_t, most_depth> completions{};  ///< of the last jobs: job j at j % most_depth

    constexpr std::int64_t completion_of(std::int64_t job) const { return completions[job % most_depth]; }
    /// Nothing begins before `time`.
    constexpr void hold(std::int64_t time) {
        if (time > free) free = time;
    }
    /// When everything that was started is over, and everything that held it back.
    constexpr std::int64_t passed() const { return complete > free ? complete : free; }
    /// Starts a job at `now`, which moves on when `depth` jobs are not complete yet.
    /// @return when the job is complete
    constexpr std::int64_t start(std::int64_t& now, job_time const& job, int depth) {
        if (jobs >= depth && completion_of(jobs - depth) > now) now = completion_of(jobs - depth);
        free = (free > now ? free : now) + job.busy;
        if (free + job.latency > complete) complete = free + job.latency;
        busy += job.busy;
        completions[jobs++ % most_depth] = complete;
        return complete;
    }
    /// Starts `count` jobs of one length one after the other; the engine always has the next one.
    constexpr void start_many(std::int64_t& now, std::int64_t cycles, int depth, std::int64_t count) {
        for (; count > 0 && count % most_depth != 0; --count) start(now, {cycles, 0}, depth);
        for (std::int64_t rest = count < 2 * most_depth ? count : 2 * most_depth; rest > 0; --rest, --count) start(now, {cycles, 0}, depth);
        if (count == 0) return;
        // Now the queue is full of them: each further job moves everything on.
        std::int64_t const moved = count * cycles;
        now += moved, free += moved, complete += moved, busy += moved, jobs += count;
        for (std::int64_t& completion : completions.elements) completion += moved;
    }
};

}  // namespace tilewright
