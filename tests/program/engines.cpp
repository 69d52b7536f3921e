#include "catch.hpp"
#include "program/engine_program.hpp"

// Agents that copy on an engine of the caller's machine: when their copies are started and waited for, and what is refused.

using namespace engine_programs;

namespace {

/// "start w.act, turn, join w.act"
std::string steps_of(program_plan_value const& plan) {
    std::string text;
    for (int at = 0; at < plan.steps.size(); ++at) {
        ir::program_step const& s = plan.steps[at];
        constexpr char const* kinds[] = {"", "start ", "join "};
        text += (at == 0 ? "" : ", ") + std::string(kinds[static_cast<int>(s.kind)]) + plan.kernel_at(s.kernel).name.str();
    }
    return text;
}
std::string sentence(program const& what) { return std::string(sentence_of(make_program_plan(what).refusal).letters.elements); }

/// What `loader` brings is added at the end; before that, `between` runs on what `turn` makes.
program with_between(agent const& by, schedule const& between) {
    program made("between");
    made.input(in, l2).constant(w, wei, numbers).run("turn", cpu, turn).bind(x, in).bind(r, t0);
    made.run("between", by, between).bind(x, t0).bind(r, t1).run("sum", cpu, add).bind(x, t1).bind(y, w).bind(r, out);
    made.output(out, act).with(loader);
    return made;
}

}  // namespace

// The engine brings w (400 bytes and 20 cycles on the way) while the core turns (300). It brings v while the core adds (400), which is
// over first; the core starts the five calls of `save` for 270 cycles, since the engine takes two; then it adds and doubles (400 + 300),
// while the last of them are under way.
static_assert(program_plan<copying>.cycles() == 420 + 400 + 270 + 400 + 300);

TEST_CASE("copies by an engine are under way beside the kernels of the core: the longer counts, and starting them counts as the core's") {
    program_plan_value const plan = make_program_plan(copying);
    REQUIRE(to_string(plan.refusal) == "; ");
    CHECK(steps_of(plan) == "start w.act, turn, join w.act, start v.act, sum, start save, join v.act, again, last, join save");
    ir::program_kernel const& save_kernel = plan.kernel_at(plan.find_kernel("save"));
    // Jobs of 80 cycles, complete 30 later; the third is taken when the first is complete, at 110, the fifth at 270.
    CHECK(save_kernel.issue_cycles == 270);
    CHECK(save_kernel.cycles == 5 * 80 + 30);
    CHECK(plan.kernel_at(plan.find_kernel("w.act")).issue_cycles == 0);
    CHECK(plan.kernel_at(plan.find_kernel("w.act")).cycles == 420);
    // One after the other it is the sum.
    CHECK(plan.cycles() == 1790);
    CHECK(300 + 420 + 400 + 430 + 420 + 400 + 300 == 2670);
    // What is brought is alive from its start on.
    ir::program_tensor const& brought = plan.tensor_at(plan.find_tensor("v.act"));
    CHECK(brought.born == 3);
    CHECK(brought.dead == 8);
}
TEST_CASE("of transfers that cost the same, one that leaves the core free is taken") {
    engine const dma{"dma"};
    transfer get("get", wei, act), get_aside("get_aside", wei, act);
    machine where("where", l2, act, wei, dma);
    where.add(get.dimensions(2).on(dma));
    where.add(get_aside.dimensions(2).on(dma).asynchronous());
    schedule const sum = schedule(added, where).reads(y, act).writes(r, act);
    for (bool beside : {false, true}) {
        agent const core("core", where), copier = agent("copier", where).copies_on(dma);
        program made("equal");
        made.input(in, act).constant(w, wei, numbers).run("sum", core, sum).bind(x, in).bind(y, w).bind(r, out).output(out, act);
        if (beside) made.with(copier);
        program_plan_value const plan = make_program_plan(made);
        REQUIRE(to_string(plan.refusal) == "; ");
        CHECK(plan.agent_of(plan.kernel_at(plan.find_kernel("w.act"))).name == (beside ? copier.name : core.name));
    }
}
TEST_CASE("a kernel that uses the engine of a copy waits until it is complete, and others are run first") {
    // It stages its operand by the engine that brings w.
    program_plan_value const same_engine = make_program_plan(with_between(cpu, staged));
    REQUIRE(to_string(same_engine.refusal) == "; ");
    CHECK(steps_of(same_engine) == "start w.act, turn, join w.act, between, sum");
    CHECK(same_engine.cycles() == 420 + 400 + same_engine.kernel_at(same_engine.find_kernel("between")).cycles);
    schedule const core_alone = schedule(doubled, host).reads(x, act).writes(r, act);
    CHECK(steps_of(make_program_plan(with_between(cpu, core_alone))) == "start w.act, turn, between, join w.act, sum");
    // Other engines are no hindrance.
    machine other = host;
    for (transfer_description& t : other.transfers.parts) {
        if (t.name == stage_in.name) t.engine_name = outward.name;
    }
    schedule const by_other = schedule(doubled, other).reads(x, act).writes(r, act).cache_read(x, tcm).by(stage_in);
    CHECK(steps_of(make_program_plan(with_between(agent("other", other), by_other))) == "start w.act, turn, between, join w.act, sum");
    // An agent with a core of its own has engines of its own where these say so.
    CHECK(steps_of(make_program_plan(with_between(agent("npu", host).aside("go", "wait"), staged))) ==
          "start w.act, turn, join w.act, start between, join between, sum");
    machine own = host;
    for (engine& e : own.engines.parts) e.per_agent = true;
    schedule const staged_there = schedule(doubled, own).reads(x, act).writes(r, act).cache_read(x, tcm).by(stage_in);
    CHECK(steps_of(make_program_plan(with_between(agent("npu", own).aside("go", "wait"), staged_there))) ==
          "start w.act, turn, start between, join w.act, join between, sum");
    // The engines of the caller's machines are the caller's.
    CHECK(steps_of(make_program_plan(with_between(agent("other", own), staged_there))) == "start w.act, turn, join w.act, between, sum");
}
TEST_CASE("kernels of two agents that meet on an engine or a configuration take turns") {
    auto const steps = [](machine const& one, machine const& other, bool second_beside) {
        agent const first = agent("first", one).aside("first_start", "first_join");
        agent const second = second_beside ? agent("second", other).aside("second_start", "second_join") : agent("second", other);
        auto const stage = [](machine const& where) { return schedule(doubled, where).reads(x, act).writes(r, act).cache_read(x, tcm); };
        schedule const a = stage(one), b = stage(other);
        program made("pair");
        made.input(in, act).run("a", first, a).bind(x, in).bind(r, t0).output(t0, act);
        made.run("b", second, b).bind(x, in).bind(r, t1).output(t1, act);
        program_plan_value const plan = make_program_plan(made);
        return plan.refusal ? to_string(plan.refusal) : steps_of(plan);
    };
    auto const with = [](engine const& e, configuration const& c) {
        machine made("made", act, tcm, e, c);
        made.add(transfer("into", act, tcm).on(e).asynchronous().dimensions(2).uses(c, argument::source_stride(1)));
        return made;
    };
    engine const own{.name = "own", .per_agent = true}, one{"one"}, other{"other"}, alias = engine{"alias"}.waits("one_wait");
    configuration const rows("rows"), others("others"), same_call = configuration("same_call").calls("rows", argument::setting(0));
    configuration const each = configuration("each").of_each_agent();
    struct {
        engine left;
        configuration left_set;
        engine right;
        configuration right_set;
        bool meet;
    } const cases[] = {
        {one, rows, one, rows, true},   {one, rows, other, others, false},   {one, rows, alias, others, true},
        {one, rows, other, rows, true}, {one, rows, other, same_call, true}, {own, each, own, each, false},
        {own, rows, own, rows, true},   {one, each, one, each, true},
    };
    for (auto const& c : cases) {
        machine const left = with(c.left, c.left_set), right = with(c.right, c.right_set);
        INFO(c.left.name.str() << ", " << c.left_set.name.str() << "; " << c.right.name.str() << ", " << c.right_set.name.str());
        CHECK(steps(left, right, true) == (c.meet ? "start a, join a, start b, join b" : "start a, start b, join a, join b"));
        CHECK(steps(left, right, false) == (c.meet ? "start a, join a, b" : "start a, b, join a"));
    }
}
TEST_CASE("each agent that works aside has C functions of its own") {
    auto const with = [](agent const& one, agent const& other) {
        program made("with");
        made.input(in, l2).run("turn", cpu, turn).bind(x, in).bind(r, out).output(out, act).with(one).with(other);
        return sentence(made);
    };
    agent const one("one", host), other("other", host);
    CHECK(with(one.aside("a", "b"), other.aside("c", "d")) == "");
    CHECK(with(one.aside("a", "b"), other.aside("a", "b")) ==
          "`other`: agent `one` begins or joins its kernels by the same C function (`a`)");
    CHECK(with(one.aside("a", "b"), other.aside("c", "b")) ==
          "`other`: agent `one` begins or joins its kernels by the same C function (`b`)");
    CHECK(with(one.aside("a", "b"), other.aside("c", "a")) ==
          "`other`: agent `one` begins or joins its kernels by the same C function (`a`)");
    CHECK(with(one.aside("a", "a"), other) == "`one`: agent `one` begins or joins its kernels by the same C function (`a`)");
    CHECK(with(one.aside("a b", "b"), other) == "`one`: a name is not an identifier, which generated code needs (`a b`)");
    CHECK(with(one, other.aside("", "b")) == "`other`: a name is not an identifier, which generated code needs");
}
TEST_CASE("engines that one call waits for are one, whatever machines call them, and those of another channel are not") {
    auto const steps = [](engine const& named) {
        machine gate("gate", l2, act, wei, tcm, named);
        gate.add(transfer("through", act, tcm).on(named).dimensions(2));
        schedule const by_gate = schedule(doubled, gate).reads(x, act).writes(r, act).cache_read(x, tcm);
        return steps_of(make_program_plan(with_between(agent("gate", gate), by_gate)));
    };
    char const* const joined_first = "start w.act, turn, join w.act, between, sum";
    char const* const beside = "start w.act, turn, between, join w.act, sum";
    CHECK(steps(engine{"inward"}) == joined_first);
    CHECK(steps(engine{"gate"}.waits("inward_wait")) == joined_first);
    CHECK(steps(engine{"gate"}.waits("inward_wait", argument::literal(1), argument::tag)) == beside);
    CHECK(steps(engine{"gate"}) == beside);
}
TEST_CASE("engines that order each other copy, too: the core waits for the copy") {
    engine const in_order{.name = "in_order", .interlocked = true}, unit{.name = "unit", .interlocked = true};
    machine where("where", l2, act, wei, in_order, unit, tokens(in_order, unit));
    where.add(transfer("get", wei, act).dimensions(2).on(in_order).asynchronous());
    schedule const turn_there = schedule(turned, where).reads(x, l2).writes(r, act);
    schedule const add_there = schedule(added, where).reads(x, act).reads(y, act).writes(r, act);
    agent const core("core", where);
    program made("ordered");
    made.input(in, l2)
        .constant(w, wei, numbers)
        .run("turn", core, turn_there)
        .bind(x, in)
        .bind(r, t0)
        .with(agent("dma", where).copies_on(in_order));
    made.run("sum", core, add_there).bind(x, t0).bind(y, w).bind(r, out).output(out, act);
    CHECK(steps_of(make_program_plan(made)) == "start w.act, turn, join w.act, sum");
}
TEST_CASE("two agents that copy on one engine take turns") {
    program made("turns");
    agent const second = agent("second", host).copies_on(outward);
    made.input(in, l2).run("turn", cpu, turn).bind(x, in).bind(r, t0);
    made.run("a", saver, save).bind(x, t0).bind(r, t1).output(t1, l2).run("b", second, save).bind(x, t0).bind(r, t2).output(t2, l2);
    CHECK(steps_of(make_program_plan(made)) == "turn, start a, join a, start b, join b");
}
TEST_CASE("what spills by an engine leaves its memory beside a kernel that is long enough; otherwise it is waited for at once") {
    engine const in_engine{"in_engine"}, out_engine{"out_engine"};
    auto const steps = [&](std::int64_t bytes, std::int64_t speed) {
        memory const small{.name = "small", .capacity = bytes};
        machine where("where", l2, small, in_engine, out_engine);
        where.add(transfer("get", l2, small).dimensions(2).on(in_engine).asynchronous());
        where.add(transfer("put", small, l2).dimensions(2).on(out_engine).asynchronous().cost({.bytes_per_cycle = speed}));
        agent const core("core", where);
        schedule const fill = schedule(doubled, where).reads(x, l2).writes(r, small);
        schedule const on = schedule(turned, where).reads(x, small).writes(r, small);
        schedule const sum = schedule(added, where).reads(x, small).reads(y, small).writes(r, small);
        program made("spills");
        made.with(agent("getter", where).copies_on(in_engine)).with(agent("putter", where).copies_on(out_engine));
        made.input(in, l2).run("fill", core, fill).bind(x, in).bind(r, t0).may_spill(t0, l2).run("k1", core, on).bind(x, t0).bind(r, t1);
        made.run("k2", core, on).bind(x, t1).bind(r, t2).run("k3", core, on).bind(x, t2).bind(r, kept);
        made.run("sum", core, sum).bind(x, kept).bind(y, t0).bind(r, out).output(out, small);
        program_plan_value const plan = make_program_plan(made);
        return plan.refusal ? to_string(plan.refusal) : steps_of(plan);
    };
    // Each kernel needs two tensors of 400 bytes, and t0 is in the way of k2. k1 turns for 300 cycles.
    CHECK(steps(1200, 1) == "fill, k1, k2, k3, sum");
    CHECK(steps(1199, 2) == "fill, start t0.l2, k1, join t0.l2, k2, k3, start t0.back, join t0.back, sum");
    CHECK(steps(1199, 1) == "fill, start t0.l2, join t0.l2, k1, k2, k3, start t0.back, join t0.back, sum");
}
TEST_CASE("an agent that copies on an engine does nothing else, and says what it was given") {
    auto const one_kernel = [](agent const& by, schedule const& what, memory const& home) {
        program made("one");
        made.input(in, l2).run("turn", cpu, turn).bind(x, in).bind(r, t0);
        made.run("k", by, what).bind(x, t0).bind(r, out).output(out, home);
        return sentence(made);
    };
    CHECK(one_kernel(saver, schedule(doubled, host).reads(x, act).writes(r, l2), l2) ==
          "`k`: agent `saver` only copies, on engine `outward`; a kernel of it is one asynchronous transfer of that engine");
    CHECK(one_kernel(saver, schedule(doubled, host).reads(x, act).writes(r, l2).cache_read(x, tcm), l2) ==
          "`k`: agent `saver` only copies, on engine `outward`; a kernel of it is one asynchronous transfer of that engine (`stage_in`)");
    CHECK(one_kernel(loader, save, l2) == "`k`: agent `loader` only copies on engine `inward`, and this transfer runs elsewhere (`carry`)");
    CHECK(one_kernel(loader, schedule(same, host).reads(x, act).writes(r, tcm).by(stage_in), tcm) ==
          "`k`: agent `loader` copies on engine `inward` while others run, but this transfer blocks until it is complete (`stage_in`)");
    auto const with = [](agent const& one) {
        program made("with");
        made.input(in, l2).run("turn", cpu, turn).bind(x, in).bind(r, out).output(out, act).with(one);
        return sentence(made);
    };
    CHECK(with(loader) == "");
    CHECK(with(loader.aside("go", "wait")) ==
          "`loader`: it is said to run kernels by functions of its own, and to copy on an engine (`inward`)");
    CHECK(with(agent("dma", host).copies_on(engine{"elsewhere"})) == "`elsewhere` is not a part of machine `host`");
    engine const idle{"idle"};
    machine lazy("lazy", l2, act, idle);
    lazy.add(transfer("slow", l2, act).on(idle));
    CHECK(with(agent("dma", lazy).copies_on(idle)) == "`dma`: it is to copy on an engine that has no asynchronous transfer (`idle`)");
    program two("two");
    two.input(in, l2).run("turn", cpu, turn).bind(x, in).bind(r, out).output(out, act).with(loader).with(agent("loader", host));
    CHECK(sentence(two) == "`two`: agents of this name have two machines, or work in two ways");
}
