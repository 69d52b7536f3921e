#include "catch.hpp"
#include "program/chip.hpp"

using namespace chip;

namespace {

/// t0 is read again at the end; between, two turned tensors need its room.
constexpr program around(bool may_leave) {
    program made("around");
    made.input(in, l2).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0).writes(t0, act);
    made.run("k1", npu, turn_on_npu)
        .bind(x, t0)
        .bind(r, t1)
        .writes(t1, act)
        .run("k2", npu, turn_on_npu)
        .bind(x, t1)
        .bind(r, t2)
        .writes(t2, act);
    made.run("k3", npu, add_on_npu).bind(x, t2).bind(y, t0).bind(r, out).output(out, act);
    if (may_leave) made.may_spill(t0, l2);
    return made;
}

}  // namespace

TEST_CASE("a tensor that may spill leaves a memory that is too small, and comes back for who reads it later") {
    program const tight = around(false), spilling = around(true);
    program_plan_value const refused = make_program_plan(tight);
    CHECK(to_string(refused.refusal) ==
          "memory `act` needs 1200 of 1000 bytes in `k2`: t0 400, t1 400, t2 400; memory overflow: let a tensor live elsewhere, or "
          "may_spill(...)");
    program_plan_value const plan = make_program_plan(spilling);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.peak(act) == 800);
    CHECK(plan.copies() == 2);
    CHECK(plan.memory_of(any_tensor{"t0.l2", scalar_type::int32}) == l2.name);
}

TEST_CASE("what lies between kernels is in a memory that has room, though the caller's stands first in the machine") {
    // Loops do all, so dram would do as well as act; l2 waits.
    program made("through");
    made.input(in, dram).output(out, dram).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0);
    made.run("k1", cpu, turn_on_cpu).bind(x, t0).bind(r, out);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.memory_of(t0) == act.name);
    CHECK(plan.copies() == 0);
    program pinned = made;
    pinned.pin(t0, dram);
    CHECK(make_program_plan(pinned).refusal.kind == verdict_kind::no_memory);
}
