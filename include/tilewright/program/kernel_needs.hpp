#pragma once
#include <tilewright/program/residence.hpp>

// What kernels need with the arguments where the program has put them: cycles, and buffers of their own.
namespace tilewright::detail {

/// Whether buffers of a kernel may share bytes only as its plan has it.
///
/// If the core alone keeps the order, the lifetimes say what is complete at the end of each. Engines that order each other go by the bytes
/// that they touch, and the proof that there is no hazard is for these bytes. Also, a full plan has no room for fences.
constexpr bool keeps_sharing(plan_value const& made) {
    int fences = 0;
    for (int at = 0; at < made.steps.size(); ++at) fences -= made.steps[at].kind == step_kind::fence ? 1 : 0;
    for (int b = 0; b < made.buffers.size(); ++b) fences += made.buffers[b].code_access ? 1 : 0;
    return is_ordered_aside(made) || made.steps.size() + fences > made.steps.most;
}

/// The buffers of a kernel's own in one of its memories. Their lifetimes are counted in points: one for each of the largest sets of them
/// that are alive together.
constexpr void read_scratch(program_planning& p, int kernel_at, plan_value const& made, int memory_at) {
    memory const& in = made.where->memories[memory_at];
    auto const each = [&](auto&& visit) {
        for (int b = 0; b < made.buffers.size() && in.registers == 0; ++b) {
            ir::buffer const& held = made.buffers[b];
            if (held.kind != ir::buffer_kind::argument && held.memory == memory_at) visit(held, b);
        }
    };
    fixed_array<std::int16_t, plan_value::most_buffers> births{};
    int count = 0, points = 0;
    each([&](ir::buffer const& held, int) {
        int at = count++;
        for (; at > 0 && births[at - 1] > held.born; --at) births[at] = births[at - 1];
        births[at] = held.born;
    });
    // The last of several births without an end of a lifetime between them.
    for (int at = 0; at < count; ++at) {
        std::int16_t const here = births[at], next = births[at + 1 < count ? at + 1 : at];
        bool last = at + 1 == count;
        each([&](ir::buffer const& held, int) { last |= here < held.dead && held.dead <= next; });
        if (last) births[points++] = here;
    }
    auto const points_before = [&](int step) {
        int before = 0;
        for (int at = 0; at < points; ++at) before += births[at] < step ? 1 : 0;
        return static_cast<std::int16_t>(before);
    };
    each([&](ir::buffer const& held, int b) {
        ir::program_scratch s{.name = held.name, .kernel = static_cast<std::int16_t>(kernel_at), .buffer = static_cast<std::int16_t>(b)};
        s.memory = static_cast<std::int16_t>(p.plan.memory_of(p.kernel(kernel_at).agent, in.name));
        s.versions = held.versions;
        s.bank = held.bank;
        s.bank_count = static_cast<std::int16_t>(held.parts() < in.banks ? held.parts() : in.banks);
        s.any_bank = held.any_bank;
        s.bytes = held.bytes, s.bytes_in_bank = held.bytes_in_bank(in.banks), s.alignment = held.alignment, s.offset = held.offset;
        s.born = points_before(held.born), s.dead = points_before(held.dead);
        if (s.dead <= s.born) s.dead = static_cast<std::int16_t>(s.born + 1);
        p.keep(p.plan.scratch, s, "buffers of kernels");
    });
}

/// What every kernel needs with its arguments where they are now: cycles, and room for its own buffers.
constexpr void read_kernel_plans(program_planning& p) {
    auto const read = [&](int at, plan_value const& made) {
        ir::program_kernel& k = p.kernel(at);
        if (made.refusal) {
            p.take(made.refusal);
            return;
        }
        quantity const cycles = made.cycles();
        k.cycles_known = cycles.resolved;
        k.cycles = static_cast<std::int64_t>(cycles.value);
        k.keeps_sharing = keeps_sharing(made);
        k.uses = hardware_of(made);
        if (p.plan.agent_of(k).is_engine()) {
            check_engine_copy(p, k, made);
            if (p.refused()) return;
            ir::prediction const issue = ir::predict_issue(made);
            k.issue_cycles = issue.cycles;
            k.cycles_known &= issue.resolved;
        }
        for (int m = 0; m < made.where->memories.size(); ++m) read_scratch(p, at, made, m);
    };
    for (int at = 0; at < p.plan.kernels.size() && !p.refused(); ++at) {
        if (p.kernel(at).is_copy()) continue;
        bool const as_written = is_as_written(p.plan, at, p.plan_of(at));
        if (as_written && p.plan_of(at).cores == p.kernel(at).cores) {
            read(at, p.plan_of(at));
        } else {
            plan_value made = as_written ? p.plan_of(at) : make_plan(schedule_of(p.plan, at, p.plan_of(at)));
            join_team(made, p.plan);
            read(at, made);
        }
    }
}

}  // namespace tilewright::detail
