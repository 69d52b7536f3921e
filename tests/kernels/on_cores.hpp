#pragma once
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/plan/check_plan.hpp>
#include <tilewright/plan/planner.hpp>
#include <tilewright/report/loop_program.hpp>

#include "catch.hpp"
#include "kernels/run_kernel.hpp"

/// Runs a plan on as many cores as it takes, in all interleavings, with data that moves early and late: bits are those of the oracle, and
/// cycles those of the plan.
template <auto const& Machine>
void check_on_cores(tilewright::schedule const& of) {
    using namespace tilewright;
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    INFO(loop_program(*plan));
    core_team team(*plan->where, semantics_of<Machine>, plan->cores);
    kernels::operand_data const data = kernels::random_operands(*plan, 3);
    Halide::Buffer<> const expected = kernels::expected_of(*plan, data);
    halide::jit_kernel plain(*plan, team, false, kernels::quick_target()), watched(*plan, team, true);
    auto const run = [&](halide::jit_kernel& kernel) {
        team.reset();
        kernels::guarded_buffer made = kernels::make_result(data);
        CHECK(kernel.run(team, data.inputs, made.elements) == 0);
        CHECK(team.error() == "");
        CHECK(made.memory->is_intact());
        CHECK(kernels::same_bits(made.elements, expected));
        CHECK(team.cycles() == plan->cycles());
    };
    for (interleaving how : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
        INFO("interleaving " << static_cast<int>(how));
        team.use(how, 5);
        for (progress when : {progress::earliest, progress::latest, progress::random}) {
            INFO("transfers complete: " << name_of(when));
            team.use(when, 5);
            run(plain);
        }
    }
    team.watch();
    run(watched);
}

/// A plan without its `number`th barrier.
inline tilewright::plan_value without_barrier(tilewright::plan_value plan, int number) {
    using namespace tilewright;
    for (int at = 0; at < plan.steps.size(); ++at) {
        if (plan.steps[at].kind != ir::step_kind::barrier || number-- > 0) continue;
        plan.steps.erase(at);
        for (int b = 0; b < plan.buffers.size(); ++b) {
            plan.buffers[b].born = static_cast<std::int16_t>(plan.buffers[b].born - (plan.buffers[b].born > at));
            plan.buffers[b].dead = static_cast<std::int16_t>(plan.buffers[b].dead - (plan.buffers[b].dead > at));
        }
        break;
    }
    return plan;
}

/// Takes every barrier of a plan away: the check and the emulated machine both find it. @return how many there are
template <auto const& Machine>
int check_lost_barriers(tilewright::schedule const& of) {
    using namespace tilewright;
    auto const whole = std::make_unique<plan_value>(make_plan(of));
    int barriers = 0;
    for (int at = 0; at < whole->steps.size(); ++at) barriers += whole->steps[at].kind == ir::step_kind::barrier;
    CHECK(barriers > 0);
    for (int number = 0; number < barriers; ++number) {
        auto const plan = std::make_unique<plan_value>(without_barrier(*whole, number));
        INFO("without barrier " << number << "\n" << loop_program(*plan));
        CHECK(check_plan(*plan).broken == ir::rule::core_without_barrier);
        CHECK(check_plan(*plan, ir::visiting::everything).broken == ir::rule::core_without_barrier);
        core_team team(*plan->where, semantics_of<Machine>, plan->cores);
        kernels::operand_data const data = kernels::random_operands(*plan, 3);
        kernels::guarded_buffer made = kernels::make_result(data);
        halide::jit_kernel watched(*plan, team, true);
        team.watch();
        CHECK(watched.run(team, data.inputs, made.elements) == emulation_bad_access);
        CHECK(team.error().find("and neither a barrier nor a signal orders them") != std::string::npos);
    }
    return barriers;
}
