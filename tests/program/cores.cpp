#include "catch.hpp"
#include "program/team_program.hpp"

// Programs whose kernels several cores share: where the cores meet, where tensors lie, and what is refused.

using namespace core_programs;

// Turning takes 3 cycles an element, on core 0. Of the other kernels, a core has three rows. Bringing one takes 10 cycles and 20 on the
// way, doubling it 30, adding to it 40, and storing it 30 again. What is added comes to all at once, 400 bytes in 50 cycles and 20 on the
// way. Three meetings take 7 cycles each, and so does the one of the kernel behind that.
static_assert(program_plan<shared_by_four>.cycles() == 300 + 3 * (30 + 30 + 30) + (50 + 20 + 7) + 3 * 40 + 300 + 3 * 7);

TEST_CASE("cores meet between two kernels, unless core 0 runs both") {
    program_plan_value const plan = make_program_plan(shared_by_four);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.cores == 4);
    std::string text;
    for (int at = 0; at < plan.steps.size(); ++at) {
        bool const meets = plan.steps[at].kind == ir::program_step_kind::barrier;
        text += (at > 0 ? ", " : "") + (meets ? std::string("meet") : plan.kernel_at(plan.steps[at].kernel).name.str());
    }
    CHECK(text == "turn, meet, twice, meet, sum, meet, last");

    program one("one");
    one.input(in, dram).run("turn", dsps, turn).bind(x, in).bind(r, t0).run("last", dsps, last).bind(x, t0).bind(r, out).output(out, dram);
    program_plan_value const alone = make_program_plan(one);
    REQUIRE(to_string(alone.refusal) == "; ");
    CHECK(alone.cores == 1);
    CHECK(alone.steps.size() == 2);
    CHECK(alone.cycles() == 600);
}

TEST_CASE("what cores share lies where all see it, and no result takes over the bytes of an operand") {
    program_plan_value const plan = make_program_plan(shared_by_four);
    for (any_tensor const& between : {any_tensor(t0), any_tensor(t1), any_tensor(t2)}) CHECK(plan.memory_of(between) == "l2");
    CHECK(plan.tensor_at(plan.find_tensor("t1")).in_place_of == -1);
    // Core 0 could have it in a memory of its own; what it makes there for all, it copies.
    schedule const anywhere = schedule(turned, quad).reads(x, dram).writes(r, tcm);
    program made("made");
    made.input(in, dram).run("turn", dsps, anywhere).bind(x, in).bind(r, t0).run("twice", dsps, twice).bind(x, t0).bind(r, out);
    made.output(out, l2);
    program_plan_value const copied = make_program_plan(made);
    REQUIRE(to_string(copied.refusal) == "; ");
    CHECK(copied.copies() == 1);
    CHECK(copied.memory_of(t0) == "tcm");
    CHECK(copied.kernel_at(copied.steps[1].kernel).is_copy());  // by core 0, without a meeting in between
    CHECK(copied.steps[2].kind == ir::program_step_kind::barrier);
}

TEST_CASE("cores of several kinds, kernels for some of them, and an agent beside them") {
    using namespace team_programs;
    program_plan_value const plan = make_program_plan(team);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.cores == 4);
    CHECK(&plan.machine_of_cores() == &mixed);
    CHECK(plan.is_of_cores(0));
    CHECK(!plan.is_of_cores(1));
    CHECK(plan.kernel_at(plan.find_kernel("sum")).cores == 4);
    CHECK(plan.kernel_at(plan.find_kernel("last")).cores == 1);
    constexpr char const* kinds[] = {"", "start ", "join ", "meet"};
    std::string text;
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::program_step const& s = plan.steps[at];
        text +=
            (at > 0 ? ", " : "") + std::string(kinds[static_cast<int>(s.kind)]) + (s.kernel < 0 ? "" : plan.kernel_at(s.kernel).name.str());
    }
    CHECK(text == "turn, start beside, meet, twice, meet, sum, join beside, meet, last");
    // A meeting is over when the slowest kind is: 11 cycles.
    auto const cycles = [&](char const* kernel) { return plan.kernel_at(plan.find_kernel(kernel)).cycles; };
    CHECK(plan.total_cycles == cycles("turn") + cycles("twice") + cycles("sum") + cycles("last") + 3 * 11);
    // A core that has nothing of a kernel comes to its barriers.
    plan_value const sum = build_kernel(plan, plan.find_kernel("sum")).plan;
    CHECK(sum.cores == 4);
    CHECK(sum.first_core == 1);
    CHECK(sum.end_core == 3);
}

TEST_CASE("programs that cores cannot run say why") {
    auto const refused = [](program const& what, verdict_kind kind, char const* name) {
        verdict const v = make_program_plan(what).refusal;
        return v.kind == kind && v.names[1] == name;
    };
    agent const beside = agent("beside", quad).aside("begin", "end");
    program away("away");
    away.input(in, l2).run("twice", beside, twice).bind(x, in).bind(r, out).output(out, l2);
    CHECK(refused(away, verdict_kind::not_honoured, "several cores beside the caller"));
    static constexpr core pair{.name = "pair", .count = 2};
    static constexpr auto two_of_them = machine("two", dram, l2, pair);
    schedule const by_pair = schedule(doubled, two_of_them).reads(x, l2).writes(r, l2).distribute(i, pair);
    program strangers("strangers");
    strangers.input(in, l2).run("twice", dsps, twice).bind(x, in).bind(r, t0);
    strangers.run("by_pair", agent("pair", two_of_them), by_pair).bind(x, t0).bind(r, out).output(out, l2);
    CHECK(refused(strangers, verdict_kind::not_honoured, "cores of two machines"));
    // A tensor that only one core sees.
    schedule const unseen = schedule(doubled, quad).reads(x, tcm).writes(r, l2).distribute(i, dsp);
    program wrong("wrong");
    wrong.input(in, tcm).run("unseen", dsps, unseen).bind(x, in).bind(r, out).output(out, l2);
    verdict const v = make_program_plan(wrong).refusal;
    CHECK(v.kind == verdict_kind::distribution);
    CHECK(v.broken == ir::rule::out_of_sight_of_cores);
}
