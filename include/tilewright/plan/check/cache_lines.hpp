#pragma once
#include <tilewright/plan/check/hazards.hpp>
#include <tilewright/plan/write/upkeeps.hpp>

// Whether cores clean and invalidate their caches where others, or engines, touch the same buffers. The check reads the program alone: it
// does not know how these steps were placed.
namespace tilewright::detail {

/// What the cache of one core may have otherwise than the memory, by buffer and version, while a program runs.
///
/// An argument, and what others have written, is old until it is invalidated: others may have written whenever the core has waited for an
/// engine, or has met another core. What the core writes is not in the memory until it is cleaned.
struct cache_run {
    using run = program_position;
    static constexpr int most_visits = 400;
    using versions = fixed_array<std::uint16_t, plan_value::most_buffers>;  ///< a bit for each version of each buffer
    static constexpr std::uint16_t all_versions = 0xffff;

    plan_value const* plan = nullptr;
    cache_run* team = nullptr;
    hazard* found = nullptr;
    all_buffer_users const* users = nullptr;
    unsigned core = 1;   ///< its bit
    versions changed{};  ///< by the core, and not cleaned
    versions fresh{};    ///< invalidated since others may have written

    constexpr cache_run* of_core(int number) { return team + number; }
    constexpr void meet(run& in) {
        for (int each = 0; each < plan->cores; ++each) team[each].tell(in), team[each].learn(false);
    }
    constexpr void signal(run& in, int) { tell(in); }
    constexpr void await(run const&, int) { learn(false); }
    constexpr void wait(run const&, int) { learn(true); }
    constexpr void push(run const&, int) {}
    constexpr void pop(run const&, int) { learn(true); }
    constexpr void start(run& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        touch(in, {step_kind::start, static_cast<std::int16_t>(movement_at)}, m.at.ring, in.number_of(m));
    }
    constexpr void compute(run& in, int body_at, std::int64_t) {
        touch(in, {step_kind::compute, static_cast<std::int16_t>(body_at)}, -1, 0);
    }
    constexpr void keep_up(run const& in, int step_at) {
        step const& s = plan->steps[step_at];
        upkeep const& u = plan->upkeeps[s.what];
        std::uint16_t const which = u.of_version ? bit(in.version_of(u.buffer, -1, 0)) : all_versions;
        changed[u.buffer] = static_cast<std::uint16_t>(changed[u.buffer] & ~which);
        if (s.kind == step_kind::invalidate) fresh[u.buffer] = static_cast<std::uint16_t>(fresh[u.buffer] | which);
    }
    constexpr void sign(run const&, run_signature& into) const {
        for (int each = 0; each < plan->cores; ++each) {
            for (int at = 0; at < plan->buffers.size(); ++at) into.push(std::int64_t{team[each].changed[at]} << 16 | team[each].fresh[at]);
        }
    }
    constexpr void skip(run const&, std::int64_t, run_signature const&, run_signature const&) {}
    /// The kernel is over.
    constexpr void end() {
        for (buffer_id at{}; at < plan->buffers.size(); ++at) {
            if (changed[at] != 0 && !*found) *found = {.broken = rule::line_not_cleaned, .buffer = at};
        }
    }

  private:
    static constexpr std::uint16_t bit(int version) { return static_cast<std::uint16_t>(1u << version); }
    constexpr bool is_for_several(buffer_id at) const { return buffer_users::are_several((*users)[at].touching); }
    /// Others are told of what the core has done.
    constexpr void tell(run& in) {
        for (buffer_id at{}; at < plan->buffers.size(); ++at) {
            if (is_for_several(at) && changed[at] != 0) report(in, rule::line_not_cleaned, at, 0);
        }
    }
    /// The core learns of what engines, or other cores, have done.
    constexpr void learn(bool of_engines) {
        for (buffer_id at{}; at < plan->buffers.size(); ++at) {
            if (of_engines ? (*users)[at].engine_writes : is_for_several(at)) fresh[at] = 0;
        }
    }
    constexpr void touch(run& in, step const& s, int ring_at, std::int64_t number) {
        buffer_accesses const accesses = accesses_of(*plan, s);
        for (int which = 0; which < accesses.count; ++which) {
            buffer_access const& a = accesses[which];
            buffer const& b = plan->buffers[a.buffer];
            if (!plan->where->memories[b.memory].is_cached()) continue;
            int const version = in.version_of(a.buffer, ring_at, number);
            if (a.by_engine) {
                if ((changed[a.buffer] & bit(version)) != 0) report(in, rule::line_not_cleaned, a.buffer, version);
                if (a.writes) fresh[a.buffer] = static_cast<std::uint16_t>(fresh[a.buffer] & ~bit(version));
                continue;
            }
            bool const is_old = (fresh[a.buffer] & bit(version)) == 0 && may_be_old(*plan, a, (*users)[a.buffer], core);
            if (is_old) report(in, rule::line_not_invalidated, a.buffer, version);
            if (a.writes) changed[a.buffer] = static_cast<std::uint16_t>(changed[a.buffer] | bit(version));
        }
    }
    constexpr void report(run& in, rule broken, buffer_id at, int version) {
        *found = {.broken = broken, .buffer = at, .version = static_cast<std::int16_t>(version)};
        in.stop();
    }
};

/// The first access to what a cache may have otherwise than its memory.
constexpr hazard find_stale_line(plan_value const& plan, visiting how = visiting::periods) {
    if (plan.refusal || !plan.where->has_caches()) return {};
    hazard found;
    all_buffer_users const users = users_of(plan);
    fixed_array<cache_run, max_cores> team{};
    for (int core = 0; core < plan.cores; ++core)
        team[core].plan = &plan, team[core].team = team.elements, team[core].found = &found, team[core].users = &users,
        team[core].core = 1u << core;
    bool const finished = program_run<cache_run>(plan, team[0], how).run();
    for (int core = 0; core < plan.cores && finished && !found; ++core) team[core].end();
    return found;
}

}  // namespace tilewright::detail
