#include "emulate/page.hpp"

#include <fstream>
#include <sstream>
#include <tilewright/halide/jit.hpp>
#include <tilewright/report/json.hpp>
#include <tilewright/report/run_page.hpp>
#include <tilewright/report/text.hpp>
#include <tilewright/report/timeline.hpp>

#include "catch.hpp"

// What docs/reference/emulator.md and docs/reference/reports.md show is what comes out.

using namespace emulator_page;

namespace {

std::string page(std::string const& name = "emulator") {
    std::ifstream file(TILEWRIGHT_REFERENCE "/" + name + ".md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}
bool page_has(std::string const& text, std::string const& name = "emulator") { return page(name).find(text) != std::string::npos; }
/// Wherever its lines are broken.
bool page_says(std::string const& text) {
    std::string whole = page();
    std::replace(whole.begin(), whole.end(), '\n', ' ');
    return whole.find(text) != std::string::npos;
}

void run(emulator& on) {
    halide::jit_kernel kernel(plan<matmul_on_npu>, &on);
    Halide::Buffer<std::int8_t> left(64, 64), right(64, 64);
    Halide::Buffer<std::int32_t> result(64, 64);
    left.fill(1), right.fill(1);
    kernel.run({left, right}, result);
}

}  // namespace

TEST_CASE("the page shows the timeline of its kernel") {
    emulator on(npu, semantics_of<npu>);
    on.record(plan<matmul_on_npu>);
    run(on);
    std::string const text = timeline(on);
    CAPTURE(text, on.cycles(), on.serial_cycles());
    CHECK(page_has("```\n" + text + "```\n"));
    CHECK(page_says(std::to_string(on.cycles()) + " cycles, where `serial_cycles()` are " + std::to_string(on.serial_cycles())));
}
TEST_CASE("the account of the plan has the waits that the emulator records") {
    emulator on(npu, semantics_of<npu>);
    on.record(plan<matmul_on_npu>);
    run(on);
    std::map<std::string, std::int64_t> recorded, accounted;
    for (recorded_job const& job : on.recorded()) {
        if (job.kind == job_kind::wait && job.end > job.begin) recorded[job.name.str()] += job.end - job.begin;
    }
    plan_value const& made = plan<matmul_on_npu>;
    reports::cycle_accounts const accounts = reports::accounts_of(made);
    for (auto const& [what, cycles] : accounts.cores.at(0).core) {
        if (what.on == reports::spent_on::waiting)
            accounted[npu.engines[made.rings[made.waits[what.position].ring].engine].name.str()] += cycles;
    }
    CHECK(!accounted.empty());
    CHECK(recorded == accounted);
}
TEST_CASE("the timeline of the plan is that of the run") {
    emulator on(npu, semantics_of<npu>);
    on.record(plan<matmul_on_npu>);
    run(on);
    using list = std::vector<std::pair<std::int64_t, std::int64_t>>;
    auto const add = [](list& to, std::int64_t begin, std::int64_t end) {
        if (begin == end) return;
        if (!to.empty() && to.back().second == begin) to.back().second = end;
        else to.emplace_back(begin, end);
    };
    plan_value const& made = plan<matmul_on_npu>;
    reports::planned_timeline const planned(made);
    REQUIRE(planned.timeline().breaks.empty());
    std::vector<reports::executed_run::row> const executed = reports::executed_of(made, on).rows;
    REQUIRE(executed.size() == 4);
    for (auto const& row : planned.rows("")) {
        if (row.lane < 0) continue;
        list of_plan, of_run;
        for (reports::time_stretch const& s : row.drawn.all) add(of_plan, s.begin, s.end);
        for (auto const& one : executed) {
            for (reports::time_stretch const& s : one.all) {
                if (one.lane == row.lane) add(of_run, s.begin, s.end);
            }
        }
        CAPTURE(row.drawn.name);
        CHECK(!of_plan.empty());
        CHECK(of_plan == of_run);
    }
    std::string const page = report_page(matmul_on_npu, made, on);
    CHECK(page.find("Executed: 2,688 cycles, as predicted.") != std::string::npos);
    CHECK(page.find("<title>executed: mvin A.spad\ncycles 0 to 64 (64)</title>") != std::string::npos);
    CHECK(page.find("DIFFERENT") == std::string::npos);
    on.reset();
    std::string const nothing = report_page(matmul_on_npu, made, on);
    CHECK(nothing.find("Executed: 0 cycles, where 2,688 are predicted. Nothing was recorded") != std::string::npos);
    CHECK(nothing.find("<tr class=\"different\"><th scope=\"row\">mvin</th>") != std::string::npos);
}
TEST_CASE("the page of reports shows those of this kernel") {
    plan_value const& plan = tilewright::plan<matmul_on_npu>;
    emulator on(npu, semantics_of<npu>);
    run(on);
    for (std::string const& text : {summary(plan), memory_map(plan), loop_program(plan), traffic(plan), comparison(plan, on),
                                    cycle_account(plan), to_string(spad) + "\n", to_json(spad) + "\n"}) {
        CAPTURE(text);
        CHECK(page_has("```\n" + text + "```\n", "reports"));
    }
}
TEST_CASE("the page shows what a checked run says of a kernel that does not wait") {
    emulator on(npu, semantics_of<npu>);
    on.check(plan<matmul_on_npu>);
    CHECK_NOTHROW(run(on));
    // The first calls of the kernel, without the wait.
    std::vector<std::int8_t> left(64 * 64);
    std::int64_t shape[] = {32, 1, 1, 1, 0, 0, 3, 32, 64, 32};
    REQUIRE(plan<matmul_on_npu>.buffers[3].name == ir::label("A.spad"));
    REQUIRE(on.transfer(0, left.data(), on.base(spad), shape) == 0);
    auto const bits = [](std::byte* address) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)); };
    std::int64_t operands[] = {bits(on.base(spad)), 3, 32, 1, 0, 0, 0, 0, bits(on.base(spad)), 3, 32, 1, 0, 0, 0, 0,
                               bits(on.base(acc)),  5, 32, 1, 0, 0, 0, 0};
    CHECK(on.intrinsic(1, operands) == emulation_bad_access);
    CAPTURE(on.error());
    CHECK(page_has(on.error()));
}
