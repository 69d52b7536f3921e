#include <tilewright/halide/jit_program.hpp>
#include <tilewright/report/program_run_report.hpp>

#include "catch.hpp"
#include "program/engine_program.hpp"
#include "program/team_program.hpp"
#include "report/two_layers.hpp"

using namespace tilewright;
using namespace tilewright::reports;

namespace {

/// A program on its emulated machines, whose runs are recorded.
struct recorded_program {
    program_plan_value const& plan;
    program_emulator on;
    halide::jit_program compiled{on};

    recorded_program(program_plan_value const& of, std::vector<semantics_table> const& semantics) : plan(of), on(of, semantics) {
        on.record(kernel_plans(of));
    }
};

reported_layer_run const& layer_of(program_run_report const& run, char const* name) {
    auto const found = std::find_if(run.layers.begin(), run.layers.end(), [&](reported_layer_run const& l) { return l.name == name; });
    REQUIRE(found != run.layers.end());
    return *found;
}

}  // namespace

// k0 computes 100 elements at 9 cycles, a copy moves 400 bytes, k1 has ten rows of 110 cycles, 40 bytes each way.
TEST_CASE("the report of a run of a program has each layer's run in the order in which they begin") {
    recorded_program made(program_plan<two_layers_program::two_layers>, std::vector<semantics_table>(2));
    REQUIRE(made.compiled.run() == 0);
    program_run_report const run = report_of(made.plan, made.on);
    CHECK((run.program == "two_layers" && run.result == 0 && !run.error && run.agrees));
    CHECK((run.cycles.planned == 2400 && run.cycles.executed == 2400));
    REQUIRE(run.layers.size() == 3);
    reported_layer_run const &k0 = run.layers[0], &copy = run.layers[1], &k1 = run.layers[2];
    CHECK((k0.name == "k0" && k0.agent == "cpu" && k0.kind == "kernel"));
    CHECK((copy.name == "t0.act" && copy.agent == "cpu" && copy.kind == "copy"));
    CHECK((k1.name == "k1" && k1.agent == "npu" && k1.kind == "kernel" && k1.first_step == 2 && k1.last_step == 2));
    CHECK((k0.executed == layer_time{0, 900} && copy.executed == layer_time{900, 1300} && k1.executed == layer_time{1300, 2400}));
    CHECK((k0.planned == k0.executed && copy.planned == copy.executed && k1.planned == k1.executed));
    // Of the copy that follows k0 on the same agent, not of both.
    REQUIRE(copy.run->parts.size() == 1);
    CHECK((copy.run->parts[0].name == "fetch" && copy.run->parts[0].executed.bytes == 400 && copy.run->cycles.executed == 400));
    CHECK(copy.run->cores.at(0).executed.size() == 1);
    CHECK((copy.run->machine == "cpu" && copy.run->agrees && k1.run->machine == "npu"));
    REQUIRE(k1.run->parts.size() == 3);
    for (reported_part const& part : k1.run->parts) {
        CAPTURE(part.name);
        CHECK(part.executed.bytes == (part.kind == "code" ? 0 : 400));
        CHECK(part.executed.calls == 10);
    }
    CHECK((k1.run->cores.at(0).cycles == 1100 && k1.run->cores.at(0).serial_cycles == 1100));
}

TEST_CASE("the report of a run of a program says which layers did not run") {
    recorded_program made(program_plan<two_layers_program::two_layers>, std::vector<semantics_table>(2));
    program_run_report const idle = report_of(made.plan, made.on);
    CHECK((!idle.agrees && idle.result == 0 && idle.cycles.executed == 0 && idle.layers.size() == 3));
    CHECK((!idle.layers[0].run && !idle.layers[0].executed && idle.layers[0].planned == layer_time{0, 900}));

    made.on.on(two_layers_program::npu).fail_transfer(3, -7);
    CHECK(made.compiled.run() == -7);
    program_run_report const failed = report_of(made.plan, made.on);
    CHECK((failed.result == -7 && failed.error == "mvin was made to fail with -7" && !failed.agrees));
    CHECK((failed.layers[0].run->agrees && failed.layers[1].run->agrees && !failed.layers[2].run->agrees));
    CHECK((failed.layers[0].run->result == 0 && !failed.layers[0].run->error));
    CHECK((failed.layers[2].run->result == -7 && failed.layers[2].run->error == failed.error));

    // A copy that fails is the last layer.
    made.on.reset();
    made.on.on(two_layers_program::cpu).fail_transfer(1, -9);
    CHECK(made.compiled.run() == -9);
    program_run_report const copied = report_of(made.plan, made.on);
    CHECK((copied.layers[0].run->agrees && copied.layers[1].run->result == -9 && !copied.layers[2].run && copied.result == -9));
}

TEST_CASE("a layer that cores share has each core's part in its run") {
    recorded_program made(program_plan<team_programs::team>,
                          {semantics_of<team_programs::mixed>, semantics_of<team_programs::npu_machine>});
    std::array<std::int32_t, 100> given{}, result{};
    std::map<std::string, void*> const passed{{"in", given.data()}, {"out", result.data()}};
    for (progress how : {progress::earliest, progress::latest, progress::threads}) {
        made.on.use(how);
        made.on.reset();
        REQUIRE(made.compiled.run(passed) == 0);
        program_run_report const run = report_of(made.plan, made.on);
        CHECK(run.agrees);
        for (reported_layer_run const& layer : run.layers) CHECK((layer.planned == layer.executed && layer.run->agrees));
        run_report const& twice = *layer_of(run, "twice").run;
        // Rows: 3, 3, 3 and 1; each is brought and put back.
        REQUIRE(twice.cores.size() == 4);
        for (int core = 0; core < 4; ++core) {
            reported_core const& one = twice.cores[static_cast<std::size_t>(core)];
            CHECK((one.core == core && one.name == (core == 0 ? "control" : "vector")));
            CHECK((one.executed.at(0).name == "bring_near" && one.executed.at(0).calls == (core == 3 ? 1 : 3)));
            for (reported_engine const& engine : one.engines) CHECK(engine.busy.planned == engine.busy.executed);
            REQUIRE(one.waits);
            CHECK(one.waits->at(0).on == "dma");
        }
        CHECK(layer_of(run, "beside").run->cores.size() == 1);
        CHECK(layer_of(run, "beside").executed->begin < layer_of(run, "twice").executed->end);
    }
    made.on.reset();
    made.on.cores().on(1).fail_transfer(1, -7);
    CHECK(made.compiled.run(passed) != 0);
    program_run_report const failed = report_of(made.plan, made.on);
    CHECK((failed.result == -7 && failed.error == "core 1: bring_near was made to fail with -7"));
    CHECK((layer_of(failed, "turn").run->agrees && layer_of(failed, "twice").run->error == failed.error && !layer_of(failed, "last").run));
}

TEST_CASE("a program has no report of a run that was not recorded, or that is of another program") {
    program_plan_value const& plan = program_plan<two_layers_program::two_layers>;
    program_emulator on(plan, std::vector<semantics_table>(2));
    halide::jit_program compiled(on);
    REQUIRE(compiled.run() == 0);
    CHECK_THROWS_WITH(to_json(plan, on), "`two_layers` ran without being recorded: call record() of its emulator before");
    CHECK_THROWS_WITH(to_json(program_plan<engine_programs::copying>, on),
                      "a report of `copying`, but the emulator runs another program: `two_layers`");
    program_plan_value refused = plan;
    refused.refusal = make_plan(schedule(chip::doubled, chip::cpu_machine).split(chip::i, "a", "b", 0)).refusal;
    CHECK_THROWS_AS(to_json(refused, on), std::invalid_argument);
    // Where the plan's cycles are not resolved, it has no times to compare with.
    on.record();
    on.reset();
    REQUIRE(compiled.run() == 0);
    program_plan_value unresolved = plan;
    unresolved.total_known = false;
    program_run_report const run = report_of(unresolved, on);
    CHECK((!run.cycles.planned && run.cycles.executed == 2400 && !run.layers[0].planned && run.layers[0].executed && !run.agrees));
}
