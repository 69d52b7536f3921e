#include <tilewright/halide/jit_program.hpp>
#include <tilewright/report/program_run_page.hpp>

#include "catch.hpp"
#include "count_of.hpp"
#include "folder.hpp"
#include "program/engine_program.hpp"
#include "program/executed_alike.hpp"
#include "program/team_program.hpp"

using namespace tilewright;

TEST_CASE("the page of a program beside a run has what was executed below what was planned, for the program and each of its layers") {
    program_plan_value const& plan = program_plan<engine_programs::copying>;
    program_emulator on(plan, std::vector<semantics_table>(static_cast<std::size_t>(plan.of->agent_count)));
    halide::jit_program compiled(on);
    on.record(kernel_plans(plan));
    std::map<std::string, std::vector<std::int32_t>> passed;
    std::map<std::string, void*> addresses;
    for (int at = 0; at < plan.tensors.size(); ++at) {
        ir::program_tensor const& t = plan.tensor_at(at);
        if (!t.passed) continue;
        std::vector<std::int32_t>& held = passed[t.name.str()];
        held.resize(static_cast<std::size_t>(t.bytes));
        addresses[t.name.str()] = held.data();
    }
    for (progress how : {progress::earliest, progress::latest, progress::random, progress::threads}) {
        on.use(how, 5);
        on.reset();
        REQUIRE(compiled.run(addresses) == 0);
        CHECK(programs::executed_otherwise(plan, on) == "");
    }
    std::string const page = report_page(plan, on);
    auto const kernels = static_cast<std::size_t>(plan.kernels.size());
    CHECK(count_of(page, "beside a run on the emulated machines.") == 1);
    CHECK(count_of(page, "Executed: " + reports::grouped(plan.total_cycles) + " cycles, as predicted.") >= 1);
    CHECK(count_of(page, "<h3>Planned beside executed</h3>") == kernels);
    CHECK(count_of(page, "\nexecuted\ncycles ") == kernels);
    CHECK(count_of(page, "<td>equal</td></tr>") >= kernels);
    CHECK(count_of(page, "DIFFERENT") == 0);
    CHECK(count_of(page, "Nothing was recorded") == 0);
    // Names of buffers are those of the layer's plan.
    CHECK(count_of(page, "executed: carry x\n") == 5);
    CHECK(count_of(page, "executed: code\n") == 4);  // one for each kernel of the cpu

    folder const at;
    write_report(plan, on, at / "run.html");
    CHECK(at.read("run.html") == page);
    CHECK_THROWS_AS(write_report(plan, on, at / "missing/run.html"), std::runtime_error);

    // Without a run, and after a second one, which is not kept.
    on.reset();
    CHECK(count_of(report_page(plan, on), "<td>not run</td>") == kernels);
    REQUIRE(compiled.run(addresses) == 0);
    REQUIRE(compiled.run(addresses) == 0);
    CHECK(on.executed().size() == kernels);
}

TEST_CASE("the page of a program that several cores share has a row for each of them, and a table of what all of them did") {
    program_plan_value const& plan = program_plan<team_programs::team>;
    program_emulator on(plan, {semantics_of<team_programs::mixed>, semantics_of<team_programs::npu_machine>});
    halide::jit_program compiled(on);
    std::array<std::int32_t, 100> given{}, result{};
    on.record(kernel_plans(plan));
    REQUIRE(compiled.run({{"in", given.data()}, {"out", result.data()}}) == 0);
    CHECK(programs::executed_otherwise(plan, on) == "");
    std::string const page = report_page(plan, on);
    CHECK(count_of(page, "<h3>Planned beside executed</h3>") == static_cast<std::size_t>(plan.kernels.size()));
    CHECK(count_of(page, "executed: bring_near x.near\n") == 10);  // of four cores, for each row
    CHECK(count_of(page, "DIFFERENT") == 0);
    CHECK_THROWS_WITH(report_page(program_plan<engine_programs::copying>, on),
                      Catch::Contains("a report of `copying`, but the emulator runs another program: `team`"));
    on.reset();
    on.cores().on(1).fail_transfer(1, -7);
    CHECK(compiled.run({{"in", given.data()}, {"out", result.data()}}) != 0);
    CHECK(count_of(report_page(plan, on), "The machine refused: ") == 1);
}

namespace {

/// A program whose load takes so many cycles more than its bytes.
struct loading {
    explicit loading(int latency) : where("where", l2, near, transfer("get", l2, near).cost({.latency = latency, .bytes_per_cycle = 4})) {
        made.input(chip::in, l2).run("k0", on, doubled).bind(chip::x, chip::in).bind(chip::r, chip::out).output(chip::out, l2);
        plan = make_program_plan(made);
    }
    memory l2{.name = "l2", .capacity = 16_KiB}, near{.name = "near", .capacity = 1_KiB};
    machine where;
    schedule doubled = schedule(chip::doubled, where).reads(chip::x, l2).writes(chip::r, l2).cache_read(chip::x, near);
    agent on{"on", where};
    program made{"loading"};
    program_plan_value plan;
};

}  // namespace

TEST_CASE("the page of a program says where a run took other cycles than planned") {
    loading const planned(30), real(37);
    program_emulator on(real.plan, std::vector<semantics_table>(1));
    halide::jit_program compiled(on);
    on.record(kernel_plans(real.plan));
    REQUIRE(compiled.run() == 0);
    std::int64_t const cycles = planned.plan.total_cycles;
    std::string const page = report_page(planned.plan, on);
    CHECK(count_of(page, "Executed: " + std::to_string(cycles + 7) + " cycles, where " + std::to_string(cycles) + " are predicted.") == 2);
    CHECK(count_of(page, "class=\"line different\"") == 1);
    CHECK(count_of(page, "<td>DIFFERENT</td>") == 4);  // the layer; its load, the total, and the cycles that pass
    CHECK(programs::executed_otherwise(planned.plan, on) ==
          "k0 ended in cycle " + std::to_string(cycles + 7) + ", planned: " + std::to_string(cycles));
}
