#pragma once
#include <tilewright/program/program.hpp>  // first: what compilers say of a wrong call lists the headers on the way

#include <memory>
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/plan.hpp>
#include <tilewright/program/allocate.hpp>
#include <tilewright/program/kernel_needs.hpp>
#include <tilewright/program/sizes.hpp>
#include <vector>

namespace tilewright {

namespace detail {

/// Steps of the search for offsets in each memory.
inline constexpr std::int64_t constant_budget = 2'000, tool_budget = 20'000'000;

/// Plans a program whose kernels are planned.
///
/// If a memory turns out too small, a tensor that can live elsewhere, or that may spill, leaves it, and all later decisions are made again.
/// @param plans  of its kernels, in their order
constexpr program_plan_value make_program_plan(program const& of, plan_value const* const* plans, std::int64_t budget) {
    verdict_sheet sheet;
    program_planning p(sheet);
    p.plans = plans;
    p.plan.of = &of;
    if (of.name == ir::wrong_call) p.refuse(verdict_kind::reported);
    if (!p.refused()) connect(p);
    if (!p.refused()) size_tensors(p);
    if (!p.refused()) check_agents(p);
    program_plan_value const connected = p.plan;
    for (bool again = true; again && !p.refused();) {
        again = false;
        p.plan = connected;
        place_tensors(p);
        if (!p.refused()) read_kernel_plans(p);
        if (!p.refused()) kernel_order(p).write();
        if (p.refused()) break;
        set_lifetimes(p);
        join_states(p);
        take_over(p);
        check_places(p);
        for (int at = 0; at < p.plan.memories.size() && !again && !p.refused(); ++at) {
            if (pool_layout(p, at).lay_out(budget)) continue;
            int const fullest = fullest_step(p, at);
            again = spill_at_once(p, fullest) || move_elsewhere(p, at, fullest) || spill_one(p, at, fullest);
            if (!again) refuse_pool(p, at, fullest);
        }
    }
    p.plan.refusal = sheet.first;
    return p.plan;
}

template <program const& Program, std::size_t... Kernel>
constexpr program_plan_value make_program_plan_of(std::index_sequence<Kernel...>) {
    plan_value const* const plans[] = {&planned<*Program.kernel_at(Kernel).what>::value..., nullptr};
    return make_program_plan(Program, plans, constant_budget);
}

}  // namespace detail

/// Plans a program: where every tensor lives, which copies that takes, when kernels run, and the offsets in every memory; or the first
/// verdict. For tools; `program_plan<P>` is the same in the compiler.
/// @param budget  steps of the search for the smallest peak, for each memory
inline program_plan_value make_program_plan(program const& of, std::int64_t budget = detail::tool_budget) {
    std::vector<std::unique_ptr<plan_value>> made;
    std::vector<plan_value const*> plans;
    for (int at = 0; at < of.size(); ++at) {
        made.push_back(std::make_unique<plan_value>(make_plan(*of.kernel_at(at).what)));
        plans.push_back(made.back().get());
    }
    return detail::make_program_plan(of, plans.data(), budget);
}

/// Prints the summary of a program: `report/program_summary.hpp` does it.
template <class Stream>
    requires requires(Stream& to) { to.flush(); }
Stream& operator<<(Stream& to, program_plan_value const& plan) {
    constexpr bool can_print = requires { print_summary(to, plan); };
    static_assert(can_print, "program plans print where tilewright/report/program_summary.hpp is included");
    if constexpr (can_print) print_summary(to, plan);
    return to;
}

template <program const& Program>
struct planned_program;

/// Likewise of a program.
template <program const& Program>
struct program_plan_of : program_plan_value {
    constexpr ir::planned_cycles<planned_program<Program>, program_plan_value> cycles() const { return {}; }
};

template <program const& Program>
struct planned_program {
    static constexpr program_plan_of<Program> value{
        detail::make_program_plan_of<Program>(std::make_index_sequence<static_cast<std::size_t>(Program.size())>{})};
    static constexpr verdict refusal = value.refusal;
};

// clang-format off
/// The plan of a program. Its first use refuses a program that cannot be carried out.
template <program const& Program>
inline constexpr program_plan_of<Program> const& program_plan = (
    judge<planned_program<Program>>(),
    planned_program<Program>::value);
// clang-format on

}  // namespace tilewright
