#pragma once
#include <tilewright/emulate/core_team.hpp>
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
