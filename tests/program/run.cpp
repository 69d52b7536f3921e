#include <tilewright/c_source/program_source.hpp>
#include <tilewright/halide/jit_program.hpp>

#include "c_source/pooled.hpp"
#include "catch.hpp"
#include "program/drawn_run.hpp"
#include "program/executed_alike.hpp"
#include "program/program_text.hpp"
#include "program/random_program.hpp"
#include "program/team_program.hpp"

using namespace tilewright;

TEST_CASE("memories with addresses of their own are constants of the generated code, and no parameters") {
    memory const act{.name = "act", .base = 0x6000'0000, .capacity = 4_KiB}, l2{.name = "l2", .capacity = 4_KiB},
        tcm{.name = "tcm", .base = 0x7000'0000, .capacity = 1_KiB};
    machine where("where", l2, act, tcm);
    where.add(transfer("get", act, tcm));
    where.add(transfer("put", tcm, act));
    axis const i{"i", 64};
    tensor<std::int32_t> const x{"x"}, r{"r"}, in{"in"}, between{"between"}, out{"out"};
    auto const doubled = r(i) = x(i) * 2;
    schedule const first = schedule(doubled, where).writes(r, act);
    schedule const second = schedule(doubled, where).reads(x, act).writes(r, act).cache_read(x, tcm).cache_write(r, tcm);
    agent const on("on", where);
    program made("fixed");
    made.input(in, l2).run("k0", on, first).bind(x, in).bind(r, between);
    made.run("k1", on, second).bind(x, between).bind(r, out).output(out, act);
    halide::file_list const files = halide::c_program(make_program_plan(made), {.name = "fixed"});
    REQUIRE(files.size() == 2);
    CHECK_THAT(files[0].second,
               Catch::Contains("struct fixed_memories {\n    void *l2; /* l2: 256 bytes, at a multiple of 4; in codes, position 0 */\n};"));
    CHECK_THAT(files[0].second, Catch::Contains("int fixed(const struct fixed_memories *memories);"));
    CHECK_THAT(files[1].second, Catch::Contains("    unsigned char *const l2 = (unsigned char *)memories->l2;\n"));
    CHECK_THAT(files[1].second, Catch::Contains("    unsigned char *const act = (unsigned char *)(uintptr_t)0x60000000u;\n"));
    CHECK_THAT(files[1].second, Catch::Contains("(unsigned char *)(uintptr_t)0x70000000u"));
    CHECK_THAT(files[1].second, !Catch::Contains("malloc"));
}

TEST_CASE("arguments that the plan gives a kernel are checked when C is written, and not again when it runs") {
    memory const l2{.name = "l2", .capacity = 4_KiB, .alignment = 16}, tcm{.name = "tcm", .base = 0x7000'0000, .capacity = 1_KiB};
    memory const dram{.name = "dram"};
    machine const where("where", dram, l2, tcm, transfer("get", l2, tcm).alignment(16), transfer("put", tcm, l2));
    axis const i{"i", 8}, j{"j", 16};
    tensor<std::int32_t> const x{"x"}, r{"r"}, in{"in"}, between{"between"}, behind{"behind"}, out{"out"};
    auto const doubled = r(i, j) = x(i, j) * 2;
    schedule const first = schedule(doubled, where).writes(r, l2);
    schedule const second = schedule(doubled, where).reads(x, l2).writes(r, l2).cache_read(x, tcm);
    schedule const third = schedule(doubled, where).reads(x, l2);
    agent const on("on", where);
    program made("p");
    made.input(in, dram).run("k0", on, first).bind(x, in).bind(r, between);
    made.run("k1", on, second).bind(x, between).bind(r, behind).run("k2", on, third).bind(x, behind).bind(r, out).output(out, dram);
    program_plan_value plan = make_program_plan(made);
    REQUIRE(!plan.refusal);
    std::string const source = halide::c_program(plan, {.name = "p"}).at(1).second;
    for (char const* taker : {"k0", "k2"}) CHECK_THAT(source, Catch::Contains("status = p_" + std::string(taker) + "("));
    CHECK_THAT(source, Catch::Contains("status = p_k1_steps(") && !Catch::Contains("int p_k1("));
    auto const refused = Catch::Contains("kernel `p_k1` cannot run on what the plan gives it");
    program_plan_value moved = plan, unaligned = plan;
    for (int at = 0; at < plan.tensors.size(); ++at) {
        if (plan.tensors[at].name.str() == "between") moved.tensors[at].offset += 4;
    }
    CHECK_THROWS_WITH(halide::c_program(moved, {.name = "p"}), refused);
    for (int at = 0; at < plan.memories.size(); ++at) {
        if (plan.memories[at].what.name.str() == "l2") unaligned.pools[at].alignment = 4;
    }
    CHECK_THROWS_WITH(halide::c_program(unaligned, {.name = "p"}), refused);
}

TEST_CASE("a memory of constants is one to read, unless tensors or buffers of kernels lie there, too") {
    static constexpr std::array<std::int32_t, 64> numbers{1, 2, 3};
    memory const dram{.name = "dram"}, act{.name = "act", .base = 0x6000'0000, .capacity = 4_KiB}, wei{.name = "wei", .capacity = 4_KiB};
    machine const where("where", dram, act, wei, transfer("get", dram, wei), transfer("put", wei, dram), transfer("bring", act, wei));
    axis const i{"i", 64};
    tensor<std::int32_t> const x{"x"}, y{"y"}, r{"r"}, in{"in"}, w{"w"}, out{"out"}, between{"between"};
    auto const added = r(i) = x(i) + y(i);
    agent const on("on", where);
    auto const header_and_source = [&](schedule const& first, schedule const& second, halide::binding to = halide::binding::device) {
        program made("p");
        made.input(in, dram).constant(w, wei, numbers).run("k0", on, first).bind(x, in).bind(y, w).bind(r, between);
        made.run("k1", on, second).bind(x, between).bind(y, w).bind(r, out).output(out, dram);
        halide::file_list const files = halide::c_program(make_program_plan(made), {.name = "p", .to = to});
        return files.at(0).second + files.at(1).second;
    };
    schedule const to_act = schedule(added, where).reads(y, wei).writes(r, act),
                   to_wei = schedule(added, where).reads(y, wei).writes(r, wei);
    schedule const from_act = schedule(added, where).reads(x, act).reads(y, wei),
                   from_wei = schedule(added, where).reads(x, wei).reads(y, wei);
    std::string const alone = header_and_source(to_act, from_act);
    CHECK_THAT(alone, Catch::Contains("    const void *wei;"));
    CHECK_THAT(alone, Catch::Contains("    const unsigned char *const wei = (const unsigned char *)memories->wei;\n"));
    CHECK_THAT(header_and_source(to_act, from_act, halide::binding::emulated), Catch::Contains("    const unsigned char *wei;"));
    CHECK_THAT(header_and_source(to_wei, from_wei, halide::binding::emulated), !Catch::Contains("const unsigned char *wei"));
    std::string const shared = header_and_source(to_wei, from_wei);
    CHECK_THAT(shared, Catch::Contains("    void *wei;") && !Catch::Contains("const unsigned char *const wei"));
    schedule const staged = schedule(added, where).reads(x, act).reads(y, wei).cache_read(x, wei);
    CHECK_THAT(header_and_source(to_act, staged), Catch::Contains("    void *wei;"));
}

TEST_CASE("in a memory of banks that the caller gives, offsets and sizes count from its first byte") {
    memory const act{.name = "act", .capacity = 1_KiB, .banks = 2}, l2{.name = "l2", .capacity = 4_KiB};
    machine where("where", l2, act);
    axis const i{"i", 80};
    tensor<std::int32_t> const x{"x"}, r{"r"}, in{"in"}, first{"first"}, second{"second"};
    auto const doubled = r(i) = x(i) * 2;
    schedule const s = schedule(doubled, where).reads(x, l2).writes(r, act);
    agent const on("on", where);
    program made("banked");
    made.input(in, l2).run("k0", on, s).bind(x, in).bind(r, first).run("k1", on, s).bind(x, in).bind(r, second);
    made.output(first, act).output(second, act);
    // 320 bytes each: a bank of 512 has room for one of them.
    std::string const header = halide::c_program(make_program_plan(made), {.name = "banked"}).at(0).second;
    CHECK_THAT(header, Catch::Contains("act: 832 bytes"));
    CHECK_THAT(header, Catch::Contains("#define TILEWRIGHT_banked_act_BYTES 832\n"));
    auto const at = [&](std::string const& name, int offset) {
        return header.find("#define TILEWRIGHT_banked_" + name + "_OFFSET " + std::to_string(offset) + "\n") != std::string::npos;
    };
    CHECK_THAT(halide::c_source(pooled::in_second, plan<pooled::in_second>, {"kernel", halide::binding::device, {}}).header,
               Catch::Contains("banked: 2176 bytes"));  // the second bank begins at 2048
    CHECK(((at("first", 0) && at("second", 512)) || (at("first", 512) && at("second", 0))));
}

TEST_CASE(
    "drawn programs, generated and run: bit-equal to the oracle, whenever data moves and kernels run, in the cycles that were planned") {
    int run = 0, begun = 0, held_up = 0;
    for (std::uint32_t seed = 9000; run < 60; ++seed) {
        auto const drawn = programs::drawer(seed).draw();
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 20'000));
        if (plan->refusal) continue;
        INFO("seed " << seed << "\n" << programs::cpp_of(drawn->from));
        program_emulator on(*plan, std::vector<semantics_table>(static_cast<std::size_t>(drawn->what.agent_count)));
        halide::jit_program compiled(on);
        on.record();
        auto const address = [&](int at) { return on.address(at); };
        // One in four a second time, with every access checked.
        std::unique_ptr<halide::jit_program> checked;
        if (run % 4 == 0) checked = std::make_unique<halide::jit_program>(on, true);
        for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
            on.use(how, seed);
            on.fill_memories(0xa5);
            on.reset();
            programs::give_inputs(*drawn, *plan, address);
            INFO(name_of(how));
            REQUIRE((checked != nullptr && how == progress::latest ? *checked : compiled).run() == 0);
            REQUIRE(on.error() == "");
            REQUIRE(plan->total_known);
            CHECK(static_cast<double>(on.cycles()) == static_cast<double>(plan->cycles()));
            CHECK(programs::executed_otherwise(*plan, on) == "");
            REQUIRE(programs::wrong_output(*drawn, *plan, address) == "");
        }
        for (int at = 0; at < plan->kernels.size(); ++at) {
            ir::program_kernel const& k = plan->kernel_at(at);
            if (!plan->agent_of(k).is_engine()) continue;
            ++begun;
            held_up += k.issue_cycles > 0 ? 1 : 0;
        }
        ++run;
    }
    // Engines copied, also more than their queue holds at a time.
    CHECK(begun > 50);
    CHECK(held_up > 10);
}

TEST_CASE("drawn programs whose tensors are written and read in parts: bit-equal to the oracle, in the cycles that were planned") {
    int run = 0, apart = 0;
    for (std::uint32_t seed = 31'000; run < 20; ++seed) {
        auto const drawn = programs::build(programs::in_parts(programs::drawer(seed).draw_recipe(), seed));
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 20'000));
        if (plan->refusal) continue;
        INFO("seed " << seed << "\n" << programs::cpp_of(drawn->from));
        for (int at = 0; at < plan->tensors.size(); ++at) apart += plan->tensor_at(at).in_parts ? 1 : 0;
        program_emulator on(*plan, std::vector<semantics_table>(static_cast<std::size_t>(drawn->what.agent_count)));
        halide::jit_program compiled(on, run % 4 == 0);
        on.record();
        auto const address = [&](int at) { return on.address(at); };
        for (progress how : {progress::earliest, progress::latest, progress::random}) {
            on.use(how, seed);
            on.fill_memories(0xa5);
            on.reset();
            programs::give_inputs(*drawn, *plan, address);
            INFO(name_of(how));
            REQUIRE(compiled.run() == 0);
            REQUIRE(on.error() == "");
            CHECK(static_cast<double>(on.cycles()) == static_cast<double>(plan->cycles()));
            CHECK(programs::executed_otherwise(*plan, on) == "");
            REQUIRE(programs::wrong_output(*drawn, *plan, address) == "");
        }
        ++run;
    }
    CHECK(apart > 30);
}

TEST_CASE("drawn programs of which several cores share kernels: bit-equal to the oracle, in the cycles that were planned") {
    int run = 0, unlike = 0, beside = 0, of_some = 0;
    std::map<std::string, int> refused;
    for (std::uint32_t seed = 21'000; run < 40; ++seed) {
        auto const drawn = programs::build(programs::among_cores(programs::drawer(seed).draw_recipe(), seed));
        auto const plan = std::make_unique<program_plan_value>(make_program_plan(drawn->what, 20'000));
        if (plan->refusal) ++refused[name_of(plan->refusal.kind)];
        if (plan->refusal || plan->cores == 1) continue;
        INFO("seed " << seed << "\n" << programs::cpp_of(drawn->from));
        REQUIRE(programs::fault_of(*plan) == "");
        unlike += plan->machine_of_cores().has_unlike_cores() ? 1 : 0;
        for (int at = 0; at < plan->steps.size(); ++at) beside += plan->steps[at].kind == ir::program_step_kind::start ? 1 : 0;
        for (int at = 0; at < plan->kernels.size(); ++at) {
            plan_value const made = build_kernel(*plan, at).plan;
            of_some += made.cores > 1 && made.end_core - made.first_core < made.cores ? 1 : 0;
        }
        program_emulator on(*plan, std::vector<semantics_table>(static_cast<std::size_t>(drawn->what.agent_count)));
        halide::jit_program compiled(on);
        on.record();
        auto const address = [&](int at) { return on.address(at); };
        on.cores().watch();
        for (interleaving turns : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
            progress const how = std::array{progress::earliest, progress::latest, progress::random, progress::threads}.at(
                (seed + static_cast<std::uint32_t>(turns)) % 4);
            INFO(static_cast<int>(turns) << " " << name_of(how));
            on.cores().use(turns, seed);
            on.use(how, seed);
            on.fill_memories(0xa5);
            on.reset();
            programs::give_inputs(*drawn, *plan, address);
            REQUIRE(compiled.run() == 0);
            REQUIRE(on.error() == "");
            REQUIRE(plan->total_known);
            CHECK(static_cast<double>(on.cycles()) == static_cast<double>(plan->cycles()));
            CHECK(programs::executed_otherwise(*plan, on) == "");
            REQUIRE(programs::wrong_output(*drawn, *plan, address) == "");
        }
        ++run;
    }
    std::string why;
    for (auto const& [name, count] : refused) why += " " + name + " " + std::to_string(count);
    WARN(unlike << " on cores of two kinds, " << beside << " kernels beside them, " << of_some
                << " for some of the cores; refused:" << why);
    CHECK(unlike > 10);
    CHECK(beside > 10);
    CHECK(of_some > 10);
}

TEST_CASE("a program that four cores share, compiled at run time: as planned, and core 0 runs what they do not share") {
    using namespace core_programs;
    program_emulator on(program_plan<shared_by_four>, {semantics_of<quad>});
    halide::jit_program compiled(on);
    std::array<std::int32_t, 100> given{}, result{};
    for (int at = 0; at < 100; ++at) given[static_cast<std::size_t>(at)] = at * 7 - 50;
    for (interleaving turns : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
        on.cores().use(turns);
        on.reset();
        result.fill(-1);
        REQUIRE(compiled.run({{"in", given.data()}, {"out", result.data()}}) == 0);
        CHECK(program_plan<shared_by_four>.cycles() == on.cycles());
        for (int at = 0; at < 100; ++at)
            REQUIRE(result[static_cast<std::size_t>(at)] == 2 * (2 * ((at % 10 * 10 + at / 10) * 7 - 50 + 1) + at * at - 3000));
    }
    CHECK_THROWS_WITH(halide::jit_program(on, true), Catch::Contains("unchecked"));
}

TEST_CASE("a program for cores of two kinds and an agent beside them, compiled at run time") {
    using namespace team_programs;
    program_emulator on(program_plan<team>, {semantics_of<mixed>, semantics_of<npu_machine>});
    halide::jit_program compiled(on);
    std::array<std::int32_t, 100> given{}, result{};
    for (int at = 0; at < 100; ++at) given[static_cast<std::size_t>(at)] = at * 7 - 50;
    for (interleaving turns : {interleaving::first, interleaving::last, interleaving::random, interleaving::threads}) {
        for (progress how : {progress::earliest, progress::latest, progress::threads}) {
            on.cores().use(turns);
            on.use(how);
            on.reset();
            result.fill(-1);
            REQUIRE(compiled.run({{"in", given.data()}, {"out", result.data()}}) == 0);
            CHECK(program_plan<team>.cycles() == on.cycles());
            for (int at = 0; at < 100; ++at) REQUIRE(result[static_cast<std::size_t>(at)] == expected(at));
        }
    }
}

TEST_CASE("kernels of a core with a cache and of an engine that sees the memory follow each other") {
    memory const ddr{.name = "ddr", .capacity = 16_KiB, .alignment = 64, .cache_line = 64, .line_cycles = 2, .upkeep_cycles = 9},
        spad{.name = "spad", .capacity = 1_KiB};
    engine const dma{"dma"};
    machine const cpu("cpu", ddr), npu("npu", ddr, spad, dma, transfer("in_by_dma", ddr, spad).on(dma).asynchronous(),
                                       transfer("out_by_dma", spad, ddr).on(dma).asynchronous());
    axis const i{"i", 300}, io{"io"}, ii{"ii"};
    tensor<std::int32_t> const x{"x"}, r{"r"}, in{"in"}, t0{"t0"}, t1{"t1"}, out{"out"};
    auto const doubled = r(i) = x(i) * 2, next = r(i) = x(i) + 1;
    schedule const first = schedule(doubled, cpu).reads(x, ddr).writes(r, ddr), last = schedule(next, cpu).reads(x, ddr).writes(r, ddr);
    schedule const middle = schedule(next, npu)
                                .reads(x, ddr)
                                .writes(r, ddr)
                                .split(i, io, ii, 64)
                                .cache_read(x, spad)
                                .at(io)
                                .buffers(2)
                                .cache_write(r, spad)
                                .at(io)
                                .buffers(2);
    agent const on_cpu("on_cpu", cpu), on_npu("on_npu", npu);
    program made("through_caches");
    made.input(in, ddr).run("k0", on_cpu, first).bind(x, in).bind(r, t0).run("k1", on_npu, middle).bind(x, t0).bind(r, t1);
    made.run("k2", on_cpu, last).bind(x, t1).bind(r, out).output(out, ddr);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(made));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    program_emulator on(*plan, std::vector<semantics_table>(2));
    halide::jit_program checked(on, true);
    for (progress how : {progress::earliest, progress::latest, progress::random}) {
        on.use(how, 3);
        on.fill_memories(0xa5);
        on.reset();
        auto* const given = reinterpret_cast<std::int32_t*>(on.address(in));
        for (std::int32_t at = 0; at < 300; ++at) given[at] = 7 * at - 1000;
        REQUIRE(checked.run() == 0);
        REQUIRE(on.error() == "");
        CHECK(static_cast<double>(on.cycles()) == static_cast<double>(plan->cycles()));
        auto const* const result = reinterpret_cast<std::int32_t const*>(on.address(out));
        for (std::int32_t at = 0; at < 300; ++at) REQUIRE(result[at] == 2 * (7 * at - 1000) + 2);
        CHECK(on.on(on_cpu).upkeep().calls == 4);  // each kernel reads what others wrote, and cleans what it writes
        CHECK(on.on(on_npu).upkeep().calls == 0);
    }
}

TEST_CASE("what a run leaves is there in the next run") {
    memory const l2{.name = "l2", .capacity = 16_KiB}, near{.name = "near", .capacity = 1_KiB};
    machine const where("where", l2, near, transfer("get", l2, near), transfer("put", near, l2));
    axis const i{"i", 20};
    tensor<std::int32_t> const x{"x"}, y{"y"}, r{"r"}, in{"in"}, out{"out"}, sum{"sum"}, next_sum{"next_sum"};
    auto const added = r(i) = x(i) + y(i);
    auto const turned = r(i) = x(19 - i) * 2;
    schedule const add = schedule(added, where), turn = schedule(turned, where).reads(x, l2).cache_read(x, near);
    agent const on_cpu("cpu", where);
    // The kernel that turns it round reads what this run has added.
    program made("sums");
    made.input(in, l2).output(out, l2).state(sum, next_sum, l2).run("k0", on_cpu, add).bind(x, in).bind(y, sum).bind(r, next_sum);
    made.run("k1", on_cpu, turn).bind(x, next_sum).bind(r, out);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(made));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    program_emulator on(*plan, std::vector<semantics_table>(1));
    halide::jit_program compiled(on);
    on.fill_memories(0xa5);
    auto* const kept = reinterpret_cast<std::int32_t*>(on.address(sum));
    for (int at = 0; at < 20; ++at) kept[at] = 100 * at;
    for (std::int32_t run = 1; run < 5; ++run) {
        auto* const given = reinterpret_cast<std::int32_t*>(on.address(in));
        for (std::int32_t at = 0; at < 20; ++at) given[at] = at;
        std::vector<int> complete;
        REQUIRE(compiled.run({}, [&](int kernel) { complete.push_back(kernel); }) == 0);
        CHECK(complete == std::vector<int>{0, 1});
        auto const* const result = reinterpret_cast<std::int32_t const*>(on.address(out));
        for (std::int32_t at = 0; at < 20; ++at) REQUIRE(result[at] == 2 * (100 + run) * (19 - at));
    }
}

TEST_CASE("a kernel that reshapes a tensor finds each element in its place") {
    memory const l2{.name = "l2", .capacity = 16_KiB}, near{.name = "near", .capacity = 1_KiB};
    machine const where("where", l2, near, transfer("get", l2, near), transfer("put", near, l2));
    axis const i{"i", 6}, j{"j", 8}, a{"a", 3}, b{"b", 16};
    tensor<std::int32_t> const x{"x"}, r{"r"}, in{"in"}, out{"out"}, t0{"t0"}, t1{"t1"};
    auto const added = r(i, j) = x(i, j) + 100 * i + j;
    auto const turned = r(b, a) = x(a, b);
    auto const doubled = r(i, j) = x(i, j) * 2;
    schedule const add = schedule(added, where), turn = schedule(turned, where).reads(x, l2).cache_read(x, near).at(b);
    schedule const twice = schedule(doubled, where).writes(r, l2).cache_write(r, near).at(i);
    agent const on_cpu("cpu", where);
    program made("reshaping");
    made.input(in, l2).output(out, l2).run("k0", on_cpu, add).bind(x, in).bind(r, t0);
    made.run("k1", on_cpu, turn).bind(x, t0).reshapes(x).bind(r, t1);
    made.run("k2", on_cpu, twice).bind(x, t1).reshapes(x).bind(r, out);
    auto const plan = std::make_unique<program_plan_value>(make_program_plan(made));
    REQUIRE((plan->refusal ? to_string(plan->refusal) : "") == "");
    program_emulator on(*plan, std::vector<semantics_table>(1));
    halide::jit_program compiled(on);
    on.fill_memories(0xa5);
    auto* const given = reinterpret_cast<std::int32_t*>(on.address(in));
    for (std::int32_t at = 0; at < 48; ++at) given[at] = at * at;
    REQUIRE(compiled.run({}, [](int) {}) == 0);
    CHECK(on.cycles() == plan->cycles());
    auto const* const result = reinterpret_cast<std::int32_t const*>(on.address(out));
    for (std::int32_t at = 0; at < 48; ++at) {
        std::int32_t const from = at % 3 * 16 + at / 3;  // of 16 x 3 elements, those of 3 x 16
        REQUIRE(result[at] == 2 * (from * from + 100 * (from / 8) + from % 8));
    }
}
