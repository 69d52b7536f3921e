// What a program keeps from run to run, and places in memories that it gives.
#include "catch.hpp"
#include "program/chip.hpp"
#include "program/random_program.hpp"

using namespace chip;

namespace {

constexpr tensor<std::int32_t> h{"h"}, next_h{"next_h"}, k{"k"};

using programs::verdict_of;
int step_of(program_plan_value const& plan, char const* kernel) { return plan.kernel_at(plan.find_kernel(kernel)).first_step; }

/// Keeps the sum of all inputs, and gives twice that sum.
program sums() {
    program made("sums");
    made.input(in, l2).output(out, l2).state(h, next_h, act);
    made.run("k0", cpu, add_on_cpu).bind(x, in).bind(y, h).bind(r, next_h);
    return made.run("k1", cpu, double_on_cpu).bind(x, next_h).bind(r, out);
}

}  // namespace

TEST_CASE("what a run leaves lies where the next run reads it, and nothing else ever lies there") {
    program_plan_value const plan = make_program_plan(
        sums().run("k2", cpu, turn_on_cpu).bind(x, in).bind(r, t0).run("k3", cpu, turn_on_cpu).bind(x, t0).bind(r, t1).output(t1, act));
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(programs::fault_of(plan) == "");
    CHECK(plan.memory_of(h) == act.name);
    CHECK(plan.memory_of(next_h) == act.name);
    CHECK(plan.offset(h) == plan.offset(next_h));
    ir::program_tensor const& kept = plan.tensor_at(plan.find_tensor(h.name));
    CHECK(kept.born == 0);
    CHECK(kept.dead == plan.steps.size());
    for (int at = 0; at < plan.tensors.size(); ++at) {
        ir::program_tensor const& t = plan.tensor_at(at);
        if (t.name == h.name || t.name == next_h.name || t.memory != kept.memory) continue;
        CHECK((t.offset >= kept.offset + 400 || kept.offset >= t.offset + t.bytes));
    }
    // Its 400 bytes are counted once.
    CHECK(plan.peak(act) == 800);
}

TEST_CASE("what was left is read before it is overwritten, in whatever order the kernels are written") {
    program made("late");
    made.input(in, l2).output(out, l2).state(h, next_h, act);
    made.run("writes", cpu, double_on_cpu).bind(x, in).bind(r, next_h);
    made.run("reads", cpu, turn_on_cpu).bind(x, h).bind(r, out);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(step_of(plan, "reads") < step_of(plan, "writes"));
    CHECK(plan.offset(h) == plan.offset(next_h));
}

TEST_CASE("the compiler plans what is kept, too") {
    static constexpr program kept = program("kept")
                                        .input(in, l2)
                                        .output(out, l2)
                                        .state(h, next_h, act)
                                        .at_offset(h, 200)
                                        .run("k0", cpu, add_on_cpu)
                                        .bind(x, in)
                                        .bind(y, h)
                                        .bind(r, next_h)
                                        .run("k1", cpu, double_on_cpu)
                                        .bind(x, next_h)
                                        .bind(r, out);
    static_assert(program_plan<kept>.offset(h) == 200 && program_plan<kept>.offset(next_h) == 200);
}

TEST_CASE("an agent that works beside the caller is waited for before what it reads is overwritten") {
    program made("beside");
    made.input(in, l2).output(out, act).state(h, next_h, act);
    made.run("reads", npu0, turn_on_npu).bind(x, h).bind(r, out);
    made.run("writes", cpu, double_on_cpu).bind(x, in).bind(r, next_h);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.kernel_at(plan.find_kernel("reads")).last_step < step_of(plan, "writes"));
}

TEST_CASE("kernels that cannot reach what is kept get copies, and what they leave is copied there") {
    program made("copied");
    made.with(cpu).output(out, act).state(h, next_h, l2);
    made.run("k0", npu, turn_on_npu).bind(x, h).bind(r, next_h);
    made.run("k1", npu, double_on_npu).bind(x, h).bind(r, out);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.copies() == 2);
    CHECK(plan.offset(h) == plan.offset(next_h));
    CHECK(step_of(plan, "h.act") < step_of(plan, "next_h.copy"));
}

TEST_CASE("what cannot be kept is refused by name") {
    using Catch::Contains;
    program shifted("shifted");
    shifted.state(h, next_h, act).run("k", cpu, turn_on_cpu).bind(x, h).bind(r, next_h);
    CHECK_THAT(verdict_of(shifted), Contains("`h`: kernel `k` writes `next_h` over it while it reads other elements of it"));
    program late("late");
    late.state(h, next_h, act).input(in, l2).output(out, l2).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, next_h);
    late.run("k1", cpu, add_on_cpu).bind(x, next_h).bind(y, h).bind(r, out);
    CHECK_THAT(verdict_of(late), Contains("`h`: kernel `k1` is to read it after `next_h` has overwritten it"));
    program passed("passed");
    passed.state(h, next_h, dram).run("k", cpu, double_on_cpu).bind(x, h).bind(r, next_h);
    CHECK_THAT(verdict_of(passed), Contains("`h` has no memory that can hold it: `dram` has no capacity"));
    program larger("larger");
    larger.state(h, next_h, act).run("k", cpu, corner_on_cpu).bind(x, h).bind(r, next_h);
    CHECK_THAT(verdict_of(larger), Contains("`h`: `next_h`, which a run leaves for the next one, has another type or shape"));
    program nobody("nobody");
    nobody.state(h, next_h, act).input(in, l2).output(out, l2).run("k", cpu, double_on_cpu).bind(x, in).bind(r, out);
    CHECK_THAT(verdict_of(nobody), Contains("`h`: no kernel of the program has it"));
}

TEST_CASE("a tensor lies where the program says, and others around it") {
    program made("placed");
    made.input(in, l2).output(out, act).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0);
    made.run("k1", npu, turn_on_npu).bind(x, t0).bind(r, out);
    program_plan_value const plan = make_program_plan(made.pin(t0, act).at_offset(t0, 300).at_offset(in, 4096));
    // Neither before it nor after it there is room for 400 bytes.
    CHECK_THAT(to_string(plan.refusal), Catch::Contains("`act`"));
    program fits("fits");
    fits.input(in, l2).output(out, act).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0);
    fits.run("k1", npu, turn_on_npu).bind(x, t0).bind(r, out).pin(t0, act).at_offset(t0, 424).at_offset(in, 4096);
    program_plan_value const placed = make_program_plan(fits);
    REQUIRE(to_string(placed.refusal) == "; ");
    CHECK(programs::fault_of(placed) == "");
    CHECK(placed.offset(t0) == 424);
    CHECK(placed.offset(in) == 4096);
    CHECK(placed.offset(out) == 0);
    CHECK(placed.peak(act) == 824);
    CHECK(placed.peak(l2) == 4496);
}

TEST_CASE("after the constants, and in the bank that is said") {
    static constexpr std::array<std::int32_t, 100> ones{1};
    memory const banked{.name = "banked", .capacity = 4_KiB, .banks = 2};
    machine const two("two", banked);
    agent const on("on", two);
    auto const sum = schedule(added, two);
    auto const base = [&] {
        program made("base");
        made.input(in, banked).constant(w, banked, ones).output(out, banked);
        return made.run("k", on, sum).bind(x, in).bind(y, w).bind(r, out);
    };
    program_plan_value const plan = make_program_plan(base().in_bank(in, 1).in_bank(out, 1).at_offset(out, 1000));
    REQUIRE(to_string(plan.refusal) == "; ");
    auto const bank_of = [&](tensor<std::int32_t> const& t) { return plan.tensor_at(plan.find_tensor(t.name)).bank; };
    CHECK(bank_of(in) == 1);
    CHECK(bank_of(out) == 1);
    CHECK(plan.offset(out) == 1000);
    CHECK((plan.offset(in).value + 400 <= 1000));
    using Catch::Contains;
    CHECK_THAT(verdict_of(base().in_bank(in, 0).at_offset(in, 0)),
               Contains("`in`: offset 0 lies in the constants, which take the first 400"));
    CHECK_THAT(verdict_of(base().at_offset(in, 400)), Contains("`in`: its memory has 2 banks: in_bank says in which it lies"));
    CHECK_THAT(verdict_of(base().in_bank(in, 2)), Contains("`in`: its memory has no bank 2; it has 2"));
    CHECK_THAT(verdict_of(base().in_bank(in, 1).at_offset(in, 1700)), Contains("`in`: its 400 bytes do not fit at offset 1700, in 2048"));
    CHECK_THAT(verdict_of(base().in_bank(in, 1).at_offset(in, 402)), Contains("`in`: offset 402 is no multiple of its alignment, 4"));
    CHECK_THAT(verdict_of(base().in_bank(in, 1).in_bank(in, 0)), Contains("`in`: it is given two places"));
    CHECK_THAT(verdict_of(base().in_bank(w, 1)), Contains("`w`: only inputs, outputs and pinned tensors are given a place"));
    CHECK_THAT(verdict_of(base().in_bank(in, 1).at_offset(in, 400).in_bank(out, 1).at_offset(out, 500)),
               Contains("`in`: it and `out` are there at one time, and their places overlap"));
}

TEST_CASE("what is kept lies where the program says, by either of its names") {
    for (any_tensor const& one : {any_tensor(h), any_tensor(next_h)}) {
        program_plan_value const plan = make_program_plan(sums().at_offset(one, 300));
        REQUIRE(to_string(plan.refusal) == "; ");
        CHECK(plan.offset(h) == 300);
        CHECK(plan.offset(next_h) == 300);
    }
    CHECK_THAT(verdict_of(sums().at_offset(h, 0).at_offset(next_h, 400)), Catch::Contains("`h`: it is given two places"));
}

TEST_CASE("of drawn programs, an input and an output become one state, and all is where it can be") {
    using kind = program::statement_kind;
    std::map<std::string, int> refused;
    int kept = 0, by_their_reader = 0;
    for (std::uint32_t seed = 1; seed < 600; ++seed) {
        auto const drawn = programs::drawer(seed).draw();
        program_plan_value const alone = make_program_plan(drawn->what, 20'000);
        if (alone.refusal) continue;
        program with_state = drawn->what;
        int input = -1, output = -1;
        for (int a = 0; a < alone.tensors.size(); ++a) {
            for (int b = 0; b < alone.tensors.size() && input < 0; ++b) {
                ir::program_tensor const &before = alone.tensor_at(a), &after = alone.tensor_at(b);
                bool const fits = before.kind == ir::tensor_kind::input && after.kind == ir::tensor_kind::output &&
                                  before.bytes == after.bytes && before.extents[0] == after.extents[0] && !before.passed;
                if (fits) input = a, output = b;
            }
        }
        if (input < 0) continue;
        program::statement& in = with_state.statements[alone.tensor_at(input).statement];
        program::statement& out = with_state.statements[alone.tensor_at(output).statement];
        REQUIRE((in.kind == kind::input && out.kind == kind::output));
        out.where = in.where;
        with_state.statements.push({.kind = kind::state, .tensor = in.tensor, .other = out.tensor, .where = in.where});
        ++with_state.statement_count;
        program_plan_value const plan = make_program_plan(with_state, 20'000);
        INFO("seed " << seed << " " << (plan.refusal ? to_string(plan.refusal) : ""));
        if (plan.refusal) {
            using enum verdict_kind;
            bool const is_of_states =
                plan.refusal.broken == ir::rule::state_overwritten || plan.refusal.broken == ir::rule::state_read_too_late;
            REQUIRE((is_of_states || plan.refusal.kind == memory_overflow || plan.refusal.kind == no_placement));
            ++refused[is_of_states ? text_of(plan.refusal.broken) : name_of(plan.refusal.kind)];
            continue;
        }
        REQUIRE(programs::fault_of(plan) == "");
        ++kept;
        int const after = plan.find_tensor(alone.tensor_at(output).name), before = plan.tensor_at(after).state_of;
        for (int at = 0; at < plan.uses.size(); ++at)
            by_their_reader += plan.uses[at].tensor == before && plan.uses[at].kernel == plan.tensor_at(after).producer ? 1 : 0;
    }
    std::string seen;
    for (auto const& [why, times] : refused) seen += why + ": " + std::to_string(times) + "\n";
    INFO(kept << " kept, " << by_their_reader << " written by a reader\n" << seen);
    CHECK(kept > 50);
    CHECK(by_their_reader > 0);
    CHECK(refused.size() >= 2);
}

TEST_CASE("of drawn programs, what a plan has placed can be said, and is there") {
    int said = 0, given_up = 0;
    for (std::uint32_t seed = 1; seed < 300; ++seed) {
        auto const drawn = programs::drawer(seed).draw();
        program_plan_value const plan = make_program_plan(drawn->what, 20'000);
        if (plan.refusal) continue;
        program again = drawn->what;
        auto const place = [](ir::program_tensor const& t) {
            return !t.passed && (t.kind == ir::tensor_kind::input || t.kind == ir::tensor_kind::output);
        };
        for (int at = 0; at < plan.tensors.size(); ++at) {
            ir::program_tensor const& t = plan.tensor_at(at);
            if (!place(t)) continue;
            again.at_offset({t.name, t.type}, t.offset);
            if (plan.memories[t.memory].what.banks > 1) again.in_bank({t.name, t.type}, t.bank);
        }
        program_plan_value const placed = make_program_plan(again, 20'000);
        INFO("seed " << seed << " " << (placed.refusal ? to_string(placed.refusal) : ""));
        if (placed.refusal) {
            // The search for the others may end before it has found room.
            REQUIRE(placed.refusal.kind == verdict_kind::memory_overflow);
            ++given_up;
            continue;
        }
        REQUIRE(programs::fault_of(placed) == "");
        for (int at = 0; at < plan.tensors.size(); ++at) {
            ir::program_tensor const& t = plan.tensor_at(at);
            if (!place(t)) continue;
            ir::program_tensor const& now = placed.tensor_at(placed.find_tensor(t.name));
            REQUIRE((now.offset == t.offset && now.bank == t.bank));
            ++said;
        }
    }
    INFO(said << " said, " << given_up << " given up");
    CHECK(said > 200);
    CHECK(given_up < 10);
}
