#pragma once
#include <tilewright/plan/check/issue_cycles.hpp>
#include <tilewright/program/connect.hpp>

// Copies that an engine of the caller's machine carries out while the caller's core goes on, and kernels that meet on an engine.
namespace tilewright::detail {

/// The asynchronous transfers of an agent that copies on an engine.
constexpr bool is_of_engine(transfer_description const& t, label const& engine_name) {
    return t.is_asynchronous && t.engine_name == engine_name;
}

/// The parts with a state that a kernel uses.
constexpr ir::used_hardware hardware_of(plan_value const& made) {
    machine const& where = *made.where;
    static_assert(decltype(machine::engines)::most <= 8 && decltype(machine::configurations)::most <= 8);
    unsigned engines = 0, configurations = 0;
    auto const add = [&](auto const& part) {
        if (int const at = where.engines.find(part.engine_name); at >= 0) engines |= 1u << at;
        for (int at = part.settings.first; at < part.settings.first + part.settings.count; ++at)
            configurations |= 1u << where.configurations.find(where.settings[at].configuration_name);
    };
    for (int at = 0; at < made.movements.size(); ++at) {
        int const by = made.movements[at].transfer;
        if (by >= 0) add(where.transfers[by]);
    }
    for (int at = 0; at < made.bodies.size(); ++at) {
        ir::body const& b = made.bodies[at];
        for (int by : {int{b.intrinsic}, int{b.first_intrinsic}}) {
            if (b.kind == ir::body_kind::intrinsic && by >= 0) add(where.intrinsics[by]);
        }
    }
    return {static_cast<std::uint8_t>(engines), static_cast<std::uint8_t>(configurations)};
}

/// What is wrong with a kernel of an agent that copies on an engine: it is one transfer, of that engine.
constexpr void check_engine_copy(program_planning& p, ir::program_kernel const& k, plan_value const& made) {
    agent const& on = p.plan.agent_of(k);
    int const by = made.movements.size() == 1 ? made.movements[0].transfer : -1;
    auto const refuse = [&](rule broken) {
        p.refuse(verdict_kind::ill_formed, broken, {k.name, by < 0 ? label() : made.where->transfers[by].name, on.name, on.engine_name});
    };
    if (by < 0 || made.bodies.size() > 0) return refuse(rule::more_than_a_copy);
    transfer_description const& t = made.where->transfers[by];
    if (t.engine_name != on.engine_name) return refuse(rule::copy_on_another_engine);
    if (!t.is_asynchronous) return refuse(rule::copy_that_blocks);
    if (ir::first_wait_of(made) < 0) return refuse(rule::more_than_a_copy);
}

/// Each agent has its own two C functions that begin and join kernels, because no argument names the agent.
constexpr void check_functions(program_planning& p, int agent_at) {
    agent const& on = p.plan.of->agents[agent_at];
    for (label const& symbol : {on.start, on.join}) {
        p.check_name(symbol);
        if (!symbol.is_identifier()) return p.refuse(verdict_kind::ill_formed, rule::no_identifier, {on.name, symbol});
    }
    for (int other = 0; other <= agent_at; ++other) {
        agent const& before = p.plan.of->agents[other];
        bool const starts = other < agent_at && (on.start == before.start || on.start == before.join);
        if (!starts && on.join != before.start && (other == agent_at || on.join != before.join)) continue;
        return p.refuse(verdict_kind::ill_formed, rule::agents_of_one_function, {on.name, starts ? on.start : on.join, before.name});
    }
}

/// Checks agents that work beside the caller: each has functions of its own, or copies on an engine of its machine that has transfers the
/// core can wait for.
constexpr void check_agents(program_planning& p) {
    for (int a = 0; a < p.plan.of->agent_count && !p.refused(); ++a) {
        agent const& on = p.plan.of->agents[a];
        if (on.is_aside()) check_functions(p, a);
        if (!on.is_engine() || p.refused()) continue;
        if (on.is_aside()) return p.refuse(verdict_kind::ill_formed, rule::agent_of_two_ways, {on.name, on.engine_name});
        if (on.where->engines.find(on.engine_name) < 0) {
            p.refuse(verdict_kind::unknown_part).names = {on.engine_name, on.where->name};
            return;
        }
        bool copies = false;
        for (int at = 0; at < on.where->transfers.size(); ++at) copies |= is_of_engine(on.where->transfers[at], on.engine_name);
        if (!copies) return p.refuse(verdict_kind::ill_formed, rule::engine_that_blocks, {on.name, on.engine_name});
    }
}

/// Whether two kernels of different agents that are under way at a time would meet on an engine, or on a configuration.
///
/// Parts with one name, or one call, are one part, whichever machines list them, unless the part is `per_agent`: then each agent that works
/// beside has its own. Registers that the caller's core sets are read when it calls the function that uses them, so only other agents can
/// come between.
constexpr bool meet_on_hardware(program_plan_value const& plan, ir::program_kernel const& a, ir::program_kernel const& b) {
    bool const a_aside = plan.agent_of(a).is_aside(), b_aside = plan.agent_of(b).is_aside();
    machine const &left = *plan.agent_of(a).where, &right = *plan.agent_of(b).where;
    auto const meet = [&](auto const& of_left, unsigned used_left, auto const& of_right, unsigned used_right, auto const& same) {
        for (int l = 0; l < of_left.size(); ++l) {
            for (int r = 0; r < of_right.size(); ++r) {
                bool const own = (of_left[l].per_agent && a_aside) || (of_right[r].per_agent && b_aside);
                if ((used_left >> l & used_right >> r & 1) != 0 && !own && same(of_left[l], of_right[r])) return true;
            }
        }
        return false;
    };
    if (meet(left.engines, a.uses.engines, right.engines, b.uses.engines, is_same_engine)) return true;
    return (a_aside || b_aside) &&
           meet(left.configurations, a.uses.configurations, right.configurations, b.uses.configurations, is_same_configuration);
}

}  // namespace tilewright::detail
