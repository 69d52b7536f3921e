#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/ir/program_run.hpp>
#include <tilewright/plan/offsets/lifetimes.hpp>
#include <tilewright/plan/write/rings.hpp>

// Users of a bank with one port: a transfer that is under way, or code, an instruction or a store that uses it meanwhile.
namespace tilewright::detail {

/// The first bank that the versions of two buffers at two steps share; -1: they lie apart.
constexpr int shared_bank(buffer const& a, std::int64_t step_a, buffer const& b, std::int64_t step_b, int banks) {
    unsigned const shared =
        a.banks_of(static_cast<int>(step_a % a.versions), banks) & b.banks_of(static_cast<int>(step_b % b.versions), banks);
    return shared == 0 ? -1 : __builtin_ctz(shared);
}

/// The bank in which some version of what a ring moves that is under way meets the version of `used` at a step; -1: none. Versions from
/// `first` to `last`, counted from that step, are under way. Buffers whose steps are counted over other loops meet wherever both can be.
constexpr int meeting_bank(plan_value const& plan, ring const& r, int first, int last, buffer const& used) {
    if (first > last) return -1;
    buffer const& moved = plan.buffers[r.buffer];
    int const banks = plan.where->memories[moved.memory].banks;
    if (used.ring < 0 || !same_steps(r, plan.rings[used.ring])) {
        for (int bank = 0; bank < banks; ++bank) {
            if (moved.lies_in(bank, banks) && used.lies_in(bank, banks)) return bank;
        }
        return -1;
    }
    std::int64_t const period = lcm(moved.versions, used.versions);
    for (std::int64_t step = 0; step < period; ++step) {
        for (int away = first; away <= last; ++away) {
            int const bank = shared_bank(moved, step + away + period * most_versions, used, step, banks);
            if (bank >= 0) return bank;
        }
    }
    return -1;
}

/// Refuses schedules that would use a bank of one port twice at a time.
///
/// While step t computes, loads of steps t + 1 to t + distance are under way, and stores of t - versions + 1 to t - 1. While step t is
/// stored, the same loads are under way.
constexpr void check_banks(plan_value const& plan, refusals const& to) {
    if (is_ordered_aside(plan)) return;  // links say how far engines get ahead: the check of hazards follows that
    for (int at = 0; at < plan.rings.count && !to.refused(); ++at) {
        ring const& r = plan.rings[at];
        buffer const& moved = plan.buffers[r.buffer];
        memory const& m = plan.where->memories[moved.memory];
        if (m.ports > 1 || moved.kind == buffer_kind::argument) continue;
        auto const refuse = [&](int bank, buffer const& used, char const* by) {
            verdict& v = to.refuse(verdict_kind::bank_conflict, moved.ordinal);
            v.names = {m.name, moved.tensor, used.tensor, by};
            v.facts = {fact{fact_kind::bank, bank}};
        };
        int const first = r.stores ? 1 - r.versions : 1, last = r.stores ? -1 : r.distance;
        for (int which = 0; which < plan.steps.count && !to.refused(); ++which) {
            step const& s = plan.steps[which];
            if (s.kind != step_kind::compute) continue;
            each_touched(plan, s, [&](int touched) {
                buffer const& used = plan.buffers[touched];
                if (used.kind == buffer_kind::argument || used.memory != moved.memory) return;
                int const bank = meeting_bank(plan, r, first, last, used);
                if (bank >= 0) refuse(bank, used, "the loops");
            });
        }
        for (int which = 0; which < plan.rings.count && !r.stores && !to.refused(); ++which) {
            ring const& other = plan.rings[which];
            buffer const& touched = plan.buffers[other.buffer];
            bool const in_order = other.engine == r.engine && !plan.where->engines[r.engine].has_channels();
            if (which == at || in_order || touched.memory != moved.memory) continue;
            // Two loads are under way together until the nearer of their steps is waited for.
            int const bank = other.stores ? meeting_bank(plan, r, 1, r.distance + other.versions - 1, touched)
                                          : meeting_bank(plan, r, -other.distance, r.distance, touched);
            if (bank >= 0) refuse(bank, touched, other.stores ? "a store" : "a load");
        }
    }
}

}  // namespace tilewright::detail
