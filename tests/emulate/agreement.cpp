#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "kernels/schedules.hpp"

using namespace kernels;

TEST_CASE("the executed cycles disagree with a plan in which one cost is changed") {
    auto const disagrees = [](auto const& change) {
        plan_value perturbed = plan<matmul_nn_on_dsp>;
        change(perturbed);
        perturbed.total_cycles = detail::count_cycles(perturbed);
        emulator on(dsp, semantics_of<dsp>);
        halide::jit_kernel kernel(perturbed, &on);
        operand_data const data = random_operands(perturbed, 3);
        kernel.run(data.inputs, data.output);
        return on.cycles() != perturbed.total_cycles;
    };
    CHECK_FALSE(disagrees([](plan_value&) {}));
    CHECK(disagrees([](plan_value& p) { p.movements[0].cycles += 1; }));
    CHECK(disagrees([](plan_value& p) { p.movements[2].cycles -= 1; }));
    CHECK(disagrees([](plan_value& p) { p.bodies[0].cycles += 1; }));
    CHECK(disagrees([](plan_value& p) { p.bodies[1].cycles += 1; }));
}
