#pragma once
#include <tilewright/plan/issue.hpp>
#include <tilewright/program/connect.hpp>

// Copies that an engine of the caller's machine carries out while the caller's core goes on, and who uses which engine.
namespace tilewright::detail {

/// The asynchronous transfers of an agent that copies on an engine.
constexpr bool is_of_engine(transfer_description const& t, label const& engine_name) {
    return t.is_asynchronous && t.engine_name == engine_name;
}

/// Bits of the engines that a kernel gives jobs, by position in its machine.
constexpr std::uint8_t engines_of(plan_value const& made) {
    unsigned bits = 0;
    auto const add = [&](label const& name) {
        int const at = made.where->engines.find(name);
        if (at >= 0) bits |= 1u << at;
    };
    static_assert(decltype(machine::engines)::most <= 8);
    for (int at = 0; at < made.movements.size(); ++at) {
        int const by = made.movements[static_cast<std::size_t>(at)].transfer;
        if (by >= 0) add(made.where->transfers[by].engine_name);
    }
    for (int at = 0; at < made.bodies.size(); ++at) {
        ir::body const& b = made.bodies[static_cast<std::size_t>(at)];
        for (int by : {int{b.intrinsic}, int{b.first_intrinsic}}) {
            if (b.kind == ir::body_kind::intrinsic && by >= 0) add(made.where->intrinsics[by].engine_name);
        }
    }
    return static_cast<std::uint8_t>(bits);
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

/// Agents that copy on an engine: it is one of their machine, and has transfers that the core can wait for.
constexpr void check_agents(program_planning& p) {
    for (int a = 0; a < p.plan.of->agent_count && !p.refused(); ++a) {
        agent const& on = p.plan.of->agents[static_cast<std::size_t>(a)];
        if (!on.is_engine()) continue;
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

/// Whether two kernels of the caller's own machines use an engine that code cannot tell from one of the other's.
constexpr bool share_an_engine(program_plan_value const& plan, ir::program_kernel const& a, ir::program_kernel const& b) {
    // An agent with a core of its own has engines of its own.
    if (plan.agent_of(a).is_aside() || plan.agent_of(b).is_aside()) return false;
    machine const &left = *plan.agent_of(a).where, &right = *plan.agent_of(b).where;
    for (int l = 0; l < left.engines.size(); ++l) {
        for (int r = 0; r < right.engines.size(); ++r) {
            if ((a.engines >> l & 1) != 0 && (b.engines >> r & 1) != 0 && is_same_engine(left.engines[l], right.engines[r])) return true;
        }
    }
    return false;
}

}  // namespace tilewright::detail
