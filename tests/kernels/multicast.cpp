#include "kernels/multicast.hpp"
#include "catch.hpp"
#include "kernels/on_cores.hpp"
#include <tilewright/plan/plan.hpp>

// Tiles that one call brings to the memories of all cores.

using namespace tilewright;
using namespace cores_of_dsp;

TEST_CASE("a multicast brings a tile to all cores") {
    for (schedule const& of : with_multicasts()) check_on_cores<with_noc>(of);
    // With a version to spare, the barrier behind the shares is not needed, and does no harm.
    check_on_cores<with_noc>(schedule(matmul, with_noc)
                                 .split(n, no, ni, 6)
                                 .reorder(no, m, ni, k)
                                 .distribute(m, dsp)
                                 .cache_read(B, tcm)
                                 .at(no)
                                 .by(spread)
                                 .buffers(3)
                                 .prefetch(1));
}

TEST_CASE("a multicast brings a tile to cores of two kinds") {
    for (schedule const& of : unlike_cores::with_multicasts()) check_on_cores<unlike_cores::mixed_noc>(of);
}

TEST_CASE("a barrier around a multicast that is lost is found by the check and on the emulated machine") {
    int seeded = 0;
    for (schedule const& of : with_multicasts()) seeded += check_lost_barriers<with_noc>(of);
    CHECK(seeded >= 15);
}

TEST_CASE("what a multicast moves counts once, and takes its engine once") {
    plan_value const plan = make_plan(with_multicasts()[4]);
    REQUIRE_FALSE(plan.refusal);
    CHECK((plan.calls(spread) == 3 && plan.bytes(spread) == 360));
    CHECK(plan.busy(noc) == 45);
    core_team team(with_noc, semantics_of<with_noc>, plan.cores);
    kernels::operand_data const data = kernels::random_operands(plan, 3);
    kernels::guarded_buffer made = kernels::make_result(data);
    halide::jit_kernel kernel(plan, team, false);
    CHECK(kernel.run(team, data.inputs, made.elements) == 0);
    for (int core = 0; core < team.size(); ++core) {
        CHECK(team.on(core).counted(spread).calls == (core == 0 ? 3 : 0));
        CHECK(team.on(core).busy(noc) == (core == 0 ? 45 : 0));
    }
}

TEST_CASE("a multicast that core 0 keeps for itself, or that waits for nothing, is found by the check and on the emulated machine") {
    for (int which : {1, 4}) {
        auto const whole = std::make_unique<plan_value>(make_plan(with_multicasts()[which]));
        REQUIRE_FALSE(whole->refusal);
        // Another transfer, which brings B to core 0 alone.
        auto plan = std::make_unique<plan_value>(*whole);
        for (int at = 0; at < plan->movements.size(); ++at) {
            if (plan->is_multicast(plan->movements[at]))
                plan->movements[at].transfer = static_cast<std::int16_t>(with_noc.transfers.find("cores_keep"));
        }
        CHECK(check_plan(*plan).broken == ir::rule::brought_to_one_core);
        kernels::operand_data const data = kernels::random_operands(*plan, 3);
        Halide::Buffer<> const expected = kernels::expected_of(*plan, data);
        core_team team(with_noc, semantics_of<with_noc>, plan->cores);
        kernels::guarded_buffer made = kernels::make_result(data);
        CHECK(halide::jit_kernel(*plan, team, true).run(team, data.inputs, made.elements) == 0);
        CHECK_FALSE(kernels::same_bits(made.elements, expected));
        // The wait for it stands after the barrier.
        plan = std::make_unique<plan_value>(*whole);
        int at = 0;
        while (plan->steps[at].kind != ir::step_kind::wait || plan->steps[at + 1].kind != ir::step_kind::barrier) ++at;
        std::swap(plan->steps[at], plan->steps[at + 1]);
        CHECK(check_plan(*plan).broken == ir::rule::core_without_barrier);
        team.watch();
        bool found = false;
        for (interleaving how : {interleaving::first, interleaving::last, interleaving::random}) {
            team.use(how, 3);
            team.reset();
            found |= halide::jit_kernel(*plan, team, true).run(team, data.inputs, made.elements) == emulation_bad_access;
        }
        CHECK(found);
    }
}

TEST_CASE("a multicast that writes to more cores than run is refused by the emulated machine") {
    plan_value const plan = make_plan(with_multicasts()[0]);
    REQUIRE_FALSE(plan.refusal);
    core_team team(with_noc, semantics_of<with_noc>, 3);
    kernels::operand_data const data = kernels::random_operands(plan, 3);
    kernels::guarded_buffer made = kernels::make_result(data);
    CHECK(halide::jit_kernel(plan, team, false).run(team, data.inputs, made.elements) == emulation_illegal_transfer);
    CHECK(team.error() == "core 0: cores_spread_now of core 0 writes to 4 cores, and 3 run");
}
