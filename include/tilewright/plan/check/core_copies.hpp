#pragma once
#include <tilewright/plan/ir/program_run.hpp>

// Buffers of which each core has a copy.
namespace tilewright::detail {

/// A bit for each buffer of a plan.
using buffer_set = fixed_array<bool, plan_value::most_buffers>;

/// The buffers in whose bytes multicasts write.
constexpr buffer_set reached_by_multicasts(plan_value const& plan) {
    buffer_set reached{};
    for (int at = 0; at < plan.movements.size(); ++at) {
        if (!plan.is_multicast(plan.movements[at])) continue;
        buffer_id const sent = plan.movements[at].destination;
        for (buffer_id other{}; other < plan.buffers.size(); ++other) {
            bool meets = other == sent;
            for (int version = 0; version < plan.buffers[sent].versions && !meets; ++version) {
                for (int with = 0; with < plan.buffers[other].versions && !meets; ++with)
                    meets = versions_overlap(plan, sent, version, other, with);
            }
            reached[other] |= meets;
        }
    }
    return reached;
}

/// A buffer that each core has, that core 0 alone fills and that all of them read in their shares; none if there is none.
constexpr buffer_id brought_to_one_core(plan_value const& plan) {
    buffer_set filled{}, read{};
    int depth = 0, share = -1;
    for (int at = 0; at < plan.steps.size(); ++at) {
        step const& s = plan.steps[at];
        if (s.kind == step_kind::loop && plan.variables[s.what].distributed && share < 0) share = depth;
        depth += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
        if (s.kind == step_kind::end && depth == share) share = -1;
        auto const note = [&](buffer_id used, bool writes) {
            if (used < 0 || plan.is_one_for_all(plan.buffers[used])) return;
            if (share < 0 && writes) filled[used] = true;
            if (share >= 0 && !writes) read[used] = true;
        };
        if (s.kind == step_kind::start) {
            movement const& m = plan.movements[s.what];
            note(m.source, false);
            if (!plan.is_multicast(m)) note(m.destination, true);
        }
        if (s.kind == step_kind::compute)
            plan.each_use(plan.bodies[s.what], [&](use const& u, bool reads, bool writes) {
                if (reads) note(u.buffer, false);
                if (writes) note(u.buffer, true);
            });
    }
    for (buffer_id at{}; at < plan.buffers.size(); ++at) {
        if (filled[at] && read[at]) return at;
    }
    return no_buffer;
}

}  // namespace tilewright::detail
