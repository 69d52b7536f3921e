#include <tilewright/halide/jit.hpp>
#include <tilewright/report/run_page.hpp>
#include <tilewright/report/run_report.hpp>

#include "catch.hpp"
#include "count_of.hpp"
#include "emulate/page.hpp"
#include "kernels/cores.hpp"

using namespace tilewright;
using namespace tilewright::reports;

namespace {

/// Rows of columns of ones, times others.
struct operands {
    Halide::Buffer<std::int8_t> left, right;
    Halide::Buffer<std::int32_t> result;
    operands(int rows, int columns, int depth) : left(depth, rows), right(columns, depth), result(columns, rows) {
        left.fill(1), right.fill(1);
    }
};

reported_part const& part_of(run_report const& run, std::string const& name) {
    auto const found = std::find_if(run.parts.begin(), run.parts.end(), [&](reported_part const& p) { return p.name == name; });
    REQUIRE(found != run.parts.end());
    return *found;
}

}  // namespace

// Two steps of k for each of four tiles, two operands in each: 16 loads of 1,024 bytes. Four stores of 4,096.
TEST_CASE("the report of a run has what was executed beside what was planned") {
    using namespace emulator_page;
    emulator on(npu, semantics_of<npu>);
    operands with(64, 64, 64);
    halide::jit_kernel kernel(plan<matmul_on_npu>, &on);
    kernel.run({with.left, with.right}, with.result);
    run_report const run = report_of(plan<matmul_on_npu>, on);
    CHECK((run.result == 0 && !run.error && run.agrees));
    CHECK((run.cycles.planned == 2688 && run.cycles.executed == 2688));
    CHECK((run.serial_cycles.planned == 4352 && run.serial_cycles.executed == 4352));
    REQUIRE(run.parts.size() == 4);
    reported_part const& load = part_of(run, "mvin");
    CHECK((load.kind == "transfer" && load.equal && load.planned.calls == 16 && load.executed.calls == 16));
    CHECK((load.executed.bytes == 16 * 1024 && load.executed.cycles == 16 * 128));
    CHECK(part_of(run, "mac16").kind == "intrinsic");
    REQUIRE(run.engines.size() == 3);
    CHECK((run.engines[0].name == "loader" && run.engines[0].busy.planned == 1024 && run.engines[0].busy.executed == 1024));
    REQUIRE(run.memories.size() == 2);
    CHECK(run.memories[0].peak == 4096);
    REQUIRE(run.cores.size() == 1);
    CHECK((run.cores[0].name == "host" && run.cores[0].cycles == 2688 && run.cores[0].executed.size() == 4));
    CHECK(!run.cores[0].waits);

    on.reset();
    on.record(plan<matmul_on_npu>);
    kernel.run({with.left, with.right}, with.result);
    kernel.run({with.left, with.right}, with.result);
    run_report const twice = report_of(plan<matmul_on_npu>, on);
    CHECK(!twice.agrees);
    CHECK((part_of(twice, "mvin").executed.calls == 32 && !part_of(twice, "mvin").equal));
    REQUIRE(twice.cores[0].waits);
    // The store is waited for longest, as docs/reference/reports.md has it for one run.
    CHECK((twice.cores[0].waits->at(0).on == "storer" && twice.cores[0].waits->at(0).cycles == 2 * 1280));
    CHECK((twice.cores[0].waits->at(1).on == "loader" && twice.cores[0].waits->at(1).cycles == 2 * 384));

    schedule const wrong = schedule(matmul, npu).split(m, "a", "b", 0);
    CHECK_THROWS_AS(to_json(make_plan(wrong), on), std::invalid_argument);
}

// 24 rows in eights of 3, two for each of four cores, three times: six loads a core. Core 0 fetches three blocks of B for all.
TEST_CASE("a run on several cores is compared with its plan, as a whole and core by core") {
    schedule const of = cores_of_dsp::with_barriers().at(4);
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    core_team team(cores_of_dsp::four, semantics_of<cores_of_dsp::four>, 4);
    operands with(24, 18, 20);
    halide::jit_kernel kernel(*plan, team);
    REQUIRE(kernel.run(team, {with.left, with.right}, with.result) == 0);
    CHECK(agrees(*plan, team));
    CHECK(team.done().calls.transfers.at(0).calls == 24);
    run_report const run = report_of(*plan, team);
    CHECK(run.agrees);
    CHECK(run.cycles.executed == team.cycles());
    CHECK((part_of(run, "cores_load").executed.calls == 24 && part_of(run, "cores_fetch").executed.calls == 3));
    REQUIRE(run.cores.size() == 4);
    for (reported_core const& core : run.cores) {
        CAPTURE(core.core);
        CHECK((core.executed.at(0).name == "cores_load" && core.executed.at(0).calls == 6));
        for (reported_engine const& engine : core.engines) CHECK(engine.busy.planned == engine.busy.executed);
    }
    CHECK((run.cores[0].engines.at(1).busy.executed == 24 && run.cores[1].engines.at(1).busy.executed == 0));
    // The text and the page say the same.
    std::string const text = comparison(*plan, team);
    CHECK(text.find("cores_fetch") != std::string::npos);
    CHECK(count_of(text, "  equal\n") == run.parts.size() + 4);  // the total, two engines, and the cycles that pass
    std::string const page = report_page(of, *plan, team);
    CHECK(count_of(page, "<tr class=\"equal\">") == run.parts.size() + 4);
    CHECK(count_of(page, "Planned beside executed") == 1);

    team.reset();
    team.on(1).fail_transfer(2, -7);
    CHECK(kernel.run(team, {with.left, with.right}, with.result) == -7);
    run_report const failed = report_of(*plan, team);
    CHECK((failed.result == -7 && !failed.agrees && !agrees(*plan, team)));
    CHECK(failed.error == "core 1: cores_load was made to fail with -7");
    CHECK(comparison(*plan, team).find("the machine refused: core 1: cores_load") != std::string::npos);
    team.reset();
    CHECK((report_of(*plan, team).result == 0 && !report_of(*plan, team).error));
}
