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

TEST_CASE("a tensor lives where all who use it can have it; where several memories remain, in the one that costs least") {
    program made("shared");
    made.input(in, l2).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0);
    made.run("k1", npu, staged_on_npu).bind(x, t0).bind(r, t1).run("k2", cpu, double_on_cpu).bind(x, t1).bind(r, t2);
    made.run("k3", cpu, turn_on_cpu).bind(x, t2).bind(r, out).output(out, l2);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.copies() == 0);
    CHECK(plan.memory_of(t0) == act.name);
    CHECK(plan.memory_of(t1) == act.name);
    // The cpu could keep it in l2, where every access waits three cycles.
    CHECK(plan.memory_of(t2) == act.name);
    // 100 loads and 100 stores of doubled with a multiplication: in waits for l2, then not.
    CHECK(plan.kernel_at(plan.find_kernel("k0")).cycles == 100 * (1 + 3 + 1 + 1));
    CHECK(plan.kernel_at(plan.find_kernel("k2")).cycles == 100 * (1 + 1 + 1));
    // Its own buffers and the tensors share nothing while it runs.
    CHECK(plan.peak(spad) == 80);
    // Row by row, t1 takes over the bytes of t0, and t2 those of t1.
    CHECK(plan.live(act, "k1") == 400);
    CHECK(plan.peak(act) == 400);
    CHECK(plan.lower_bound(act) == 400);
    CHECK(plan.proven(act));
}
TEST_CASE("a pin wins: who cannot have the tensor there is given a copy by a named transfer") {
    program made("pinned");
    made.input(in, l2).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0).pin(t0, l2);
    made.run("k1", npu, turn_on_npu).bind(x, t0).bind(r, out).output(out, act);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.memory_of(t0) == l2.name);
    REQUIRE(plan.copies() == 1);
    ir::program_kernel const& copy = plan.kernel_at(plan.find_kernel("t0.act"));
    CHECK(plan.agent_of(copy).name == cpu.name);
    CHECK(plan.agent_of(copy).where->transfers[copy.transfer].name == fetch.name);
    CHECK(copy.cycles == 400);
    // Right in front of who reads it.
    CHECK(plan.kernel_at(plan.find_kernel("k1")).first_step == copy.last_step + 1);
}
TEST_CASE("who can have a copy in one of several memories has it where the copy costs least") {
    constexpr auto slow = transfer("slow", l2, act).cost({.bytes_per_cycle = 1}),
                   quick = transfer("quick", l2, wei).cost({.bytes_per_cycle = 8});
    program made("cheapest");
    made.input(in, l2).run("k0", npu, turn_on_npu).bind(x, in).bind(r, out).output(out, act);
    machine const slow_first("mover", l2, act, wei, slow, quick);
    program_plan_value const plan = make_program_plan(made.with(agent("dma", slow_first)));
    REQUIRE(to_string(plan.refusal) == "; ");
    REQUIRE(plan.copies() == 1);
    CHECK(plan.memory_of(any_tensor{"in.wei", scalar_type::int32}) == wei.name);
    CHECK(plan.kernel_at(plan.find_kernel("in.wei")).cycles == 400 / 8);
}
TEST_CASE("an output that its kernel cannot write is copied there") {
    program made("elsewhere");
    made.input(in, act).run("k0", npu, turn_on_npu).bind(x, in).bind(r, out).writes(out, act).output(out, l2);
    made.run("k1", cpu, turn_on_cpu).bind(x, out).bind(r, t0).output(t0, dram);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.memory_of(out) == l2.name);
    CHECK(plan.memory_of(any_tensor{"out.act", scalar_type::int32}) == act.name);
    CHECK(plan.copies() == 1);
    // The caller passes what lies in a memory without a capacity.
    CHECK(plan.tensor_at(plan.find_tensor("t0")).passed);
}
TEST_CASE("programs that cannot be carried out say why, with both ends and their memories") {
    auto const refused = [](program const& what) { return std::string(sentence_of(make_program_plan(what).refusal).letters.elements); };
    program apart("apart");
    apart.input(in, l2).run("k0", cpu, turn_on_cpu).bind(x, in).bind(r, t0).writes(t0, dram);
    apart.run("k1", npu, turn_on_npu).bind(x, t0).bind(r, out).output(out, act);
    CHECK(refused(apart) ==
          "`t0`: `k0` has it in `dram`, `k1` needs it in `act` or `wei` or `npu.spad`: no transfer of an agent leads from one "
          "to the other");
    program strict("strict");
    strict.input(in, l2).run("k0", npu, turn_on_npu).bind(x, in).bind(r, out).reads(in, act).output(out, act).without_copies();
    strict.run("k1", cpu, turn_on_cpu).bind(x, out).bind(r, t0).output(t0, l2);
    CHECK(refused(strict) == "`in`: `caller` has it in `l2`, `k0` needs it in `act`: without_copies() forbids a transfer between them");
    program blind("blind");
    blind.input(in, act).run("k0", npu, turn_on_npu).bind(x, in).bind(r, out).writes(out, l2).output(out, act);
    CHECK(refused(blind) == "`out`: kernel `k0` is to have it in `l2`, which agent `npu` does not see");
    program round("round");
    round.run("k0", cpu, add_on_cpu).bind(x, t1).bind(y, t1).bind(r, t0).run("k1", cpu, turn_on_cpu).bind(x, t0).bind(r, t1);
    CHECK(refused(round) == "what kernel `k0` reads is computed from `t0`, which it writes");
    program alone("alone");
    alone.run("k0", cpu, turn_on_cpu).bind(x, t0).bind(r, out).output(out, l2);
    CHECK(refused(alone) == "`t0`: kernel `k0` reads it, but nothing writes it, and it is neither input nor constant");
    program beyond("beyond");
    beyond.input(in, l2).run("k0", cpu, double_on_cpu).bind(x, in).bind(r, t0);
    beyond.run("k1", cpu, corner_on_cpu).bind(x, t0).bind(r, out).output(out, l2);
    CHECK(refused(beyond) == "dimension 0 of `t0` is read from 2 to 11, but computed from 0 to 9");
    static constexpr std::array<std::int32_t, 99> few{};
    program short_of("short_of");
    short_of.input(in, l2).constant(w, l2, few).run("k0", cpu, add_on_cpu).bind(x, in).bind(y, w).bind(r, out).output(out, l2);
    CHECK(refused(short_of) == "`w`: 99 elements are given, kernels read 100");
    program twice("twice");
    twice.input(in, l2).run("k0", cpu, turn_on_cpu).bind(x, in).bind(r, out);
    twice.run("k1", cpu, turn_on_cpu).bind(x, in).bind(r, out).output(out, l2);
    CHECK(refused(twice) == "`out`: two kernels write it (`k1`)");
    program full("full");
    full.input(in, act).run("k0", npu, turn_on_npu).bind(x, in).bind(r, t0).writes(t0, act);
    full.run("k1", npu, turn_on_npu)
        .bind(x, t0)
        .bind(r, t1)
        .writes(t1, act)
        .run("k2", npu, add_on_npu)
        .bind(x, t0)
        .bind(y, t1)
        .bind(r, out);
    full.output(out, act).run("k3", npu, add_on_npu).bind(x, in).bind(y, t0).bind(r, t2).output(t2, act);
    CHECK(refused(full) == "memory `act` needs 1200 of 1000 bytes in `k1`: in 400, t0 400, t1 400");
}
TEST_CASE("agents that run kernels aside overlap; each has its own scratchpad, and nothing that is alive meanwhile shares bytes") {
    program made("aside");
    made.input(in, act).run("a", npu0, staged_on_npu).bind(x, in).bind(r, t0).run("b", npu1, staged_on_npu).bind(x, in).bind(r, t1);
    made.run("c", cpu, add_on_cpu).bind(x, t0).bind(y, t1).bind(r, out).output(out, l2);
    // With room for three tensors of act.
    machine wide_cpu = cpu_machine, wide_npu = npu_machine;
    for (machine* m : {&wide_cpu, &wide_npu}) {
        for (memory& one : m->memories.parts) {
            if (one.name == act.name) one.capacity = 1200;
        }
    }
    CHECK(make_program_plan(made).refusal.kind == verdict_kind::memory_overflow);
    program wide("wide");
    schedule const staged = schedule(doubled, wide_npu).cache_read(x, spad).at(i).cache_write(r, spad).at(i), sum(added, wide_cpu);
    agent const first = agent("npu0", wide_npu).aside("npu0_start", "npu0_join"),
                second = agent("npu1", wide_npu).aside("npu1_start", "npu1_join");
    wide.input(in, act).run("a", first, staged).bind(x, in).bind(r, t0).run("b", second, staged).bind(x, in).bind(r, t1);
    wide.run("c", agent("cpu", wide_cpu), sum).bind(x, t0).bind(y, t1).bind(r, out).output(out, l2);
    program_plan_value const plan = make_program_plan(wide);
    REQUIRE(to_string(plan.refusal) == "; ");
    std::int64_t const one = plan.kernel_at(plan.find_kernel("a")).cycles, last = plan.kernel_at(plan.find_kernel("c")).cycles;
    CHECK(plan.cycles() == one + last);
    CHECK(plan.memories.size() == 6);  // dram, l2, act, wei, and a scratchpad of each
    CHECK(plan.peak(act) == 1200);
    CHECK_THROWS_WITH(plan.peak(spad), Catch::Contains("one that each agent has"));
}
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
TEST_CASE("constants stand side by side at the beginning of their memory, others behind") {
    static constexpr std::array<std::int32_t, 100> numbers{1, 2, 3};
    static constexpr std::array<std::int32_t, 100> more{4, 5};
    program made("image");
    made.input(in, wei).constant(w, wei, numbers).constant(t3, wei, more);
    made.run("k0", npu, add_on_npu).bind(x, in).bind(y, w).bind(r, t0).run("k1", npu, add_on_npu).bind(x, t0).bind(y, t3).bind(r, out);
    made.output(out, wei);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.constant_bytes(wei) == 800);
    CHECK(plan.offset(w) == 0);
    CHECK(plan.offset(t3) == 400);
    CHECK(plan.offset(in) >= 800);
}

TEST_CASE("weights are streamed by tiles: the kernel's own buffer is a row, the constant stays where it is") {
    static constexpr std::array<std::int32_t, 100> numbers{1, 2, 3};
    program made("streamed");
    made.input(in, act).constant(w, wei, numbers).run("k0", npu, streamed_on_npu).bind(x, in).bind(y, w).bind(r, out).output(out, act);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(plan.copies() == 0);
    CHECK(plan.memory_of(w) == wei.name);
    CHECK(plan.peak(spad) == 40);
    CHECK(build_kernel(plan, 0).plan.calls(load_tile) == 10);
}
TEST_CASE("in a memory of banks, a tensor lies in one of them, and the kernels' own buffers below") {
    memory halves = act;
    halves.capacity = 1600, halves.banks = 2;
    memory const near{.name = "near", .capacity = 256, .banks = 2};
    machine where("where", l2, halves, near);
    where.add(transfer("get", halves, near));
    where.add(transfer("put", near, halves));
    agent const on("on", where);
    schedule const turn(turned, where);
    schedule const staged =
        schedule(doubled, where).reads(x, halves).writes(r, halves).cache_read(x, near).at(i).cache_write(r, near).at(i);
    program made("halves");
    made.input(in, halves).run("k0", on, turn).bind(x, in).bind(r, t0).writes(t0, halves);
    made.run("k1", on, turn).bind(x, t0).bind(r, t1).writes(t1, halves).run("k2", on, staged).bind(x, t1).bind(r, t2);
    made.run("k3", on, turn).bind(x, t2).bind(r, out).output(out, halves);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    // Two tensors are alive at a time: one in each bank.
    CHECK(plan.peak(halves) == 400);
    CHECK(plan.proven(halves));
    CHECK(plan.tensor_at(plan.find_tensor("t0")).bank != plan.tensor_at(plan.find_tensor("t1")).bank);
    CHECK(plan.peak(near) == 40);  // one in each bank
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

TEST_CASE("copies by an agent that works aside overlap with kernels of the caller") {
    machine const mover("mover", l2, act, fetch);
    agent const dma = agent("dma", mover).aside("dma_start", "dma_join");
    machine const plain("plain", dram, l2, act, wei);
    agent const caller("caller", plain);
    schedule const first = schedule(doubled, plain).writes(r, l2), busy = schedule(turned, plain).reads(x, l2).writes(r, l2);
    program made("beside");
    made.input(in, l2).run("k0", caller, first).bind(x, in).bind(r, t0);
    // The npu reads t0 from act; meanwhile the caller turns it.
    made.run("k1", caller, busy).bind(x, t0).bind(r, t1).output(t1, l2);
    made.run("k2", npu, turn_on_npu).bind(x, t0).bind(r, out).reads(t0, act).writes(out, act).output(out, act);
    made.with(dma);
    program_plan_value const plan = make_program_plan(made);
    REQUIRE(to_string(plan.refusal) == "; ");
    ir::program_kernel const &copy = plan.kernel_at(plan.find_kernel("t0.act")), &beside = plan.kernel_at(plan.find_kernel("k1"));
    CHECK(plan.agent_of(copy).name == dma.name);
    CHECK(copy.first_step < beside.first_step);
    CHECK(beside.last_step < copy.last_step);
}

// The compiler plans programs, too.
namespace {
constexpr auto in_the_compiler = program("in_the_compiler")
                                     .input(in, l2)
                                     .run("k0", cpu, double_on_cpu)
                                     .bind(x, in)
                                     .bind(r, t0)
                                     .run("k1", npu, staged_on_npu)
                                     .bind(x, t0)
                                     .bind(r, t1)
                                     .run("k2", cpu, turn_on_cpu)
                                     .bind(x, t1)
                                     .bind(r, out)
                                     .output(out, l2);
static_assert(program_plan<in_the_compiler>.peak(act) == 400 && program_plan<in_the_compiler>.peak(act) <= 1_KiB);
static_assert(program_plan<in_the_compiler>.lower_bound(act) == 400 && program_plan<in_the_compiler>.copies() == 0);
static_assert(program_plan<in_the_compiler>.memory_of(t0) == act.name && program_plan<in_the_compiler>.live(l2, "k2") == 400);
}  // namespace
