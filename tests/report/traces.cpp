#include <tilewright/halide/jit.hpp>
#include <tilewright/report/run_page.hpp>
#include <tilewright/report/run_report.hpp>

#include <filesystem>

#include "emulate/page.hpp"
#include "kernels/caches.hpp"
#include "kernels/cores.hpp"
#include "kernels/features.hpp"
#include "kernels/multicast.hpp"
#include "kernels/systolic.hpp"
#include "report/documents.hpp"
#include "report/program_runs.hpp"

using namespace tilewright;

namespace {

/// What a kernel reads, all zeros, and what it writes.
struct operands {
    std::vector<Halide::Buffer<>> inputs{};
    Halide::Buffer<> result{};

    explicit operands(plan_value const& plan) {
        for (int at = 0; at < plan.buffers.size(); ++at) {
            ir::buffer const& b = plan.buffers[at];
            if (b.kind != ir::buffer_kind::argument) continue;
            std::vector<int> extents;
            for (int d = b.rank - 1; d >= 0; --d) extents.push_back(static_cast<int>(b.extents[d]));
            Halide::Buffer<> made(halide::type_of(b.type), extents);
            std::memset(made.data(), 0, made.size_in_bytes());
            if (b.written) result = made;
            else inputs.push_back(made);
        }
    }
};
std::string pages;  ///< a folder that receives pages instead of what is printed; empty: none

/// @param trace, run  the files of its trace and its run, if they are kept; with a folder, only traces that are kept have a page
/// @param failing  so many calls of transfers later, one fails; 0: none
template <auto const& Machine>
void print_run(schedule const& of, char const* trace = "", char const* run = "", std::int64_t failing = 0) {
    if (!pages.empty() && *trace == '\0') return;
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    operands const data(*plan);
    auto const write = [&](auto const& ran) {
        if (!pages.empty()) return write_report(of, *plan, ran, pages + "/" + std::filesystem::path(trace).stem().string() + ".html");
        print_document("trace", chrome_trace(ran), trace);
        print_document("run", to_json(*plan, ran), run);
    };
    core_team team(*plan->where, semantics_of<Machine>, plan->cores);
    team.record(*plan);
    if (failing > 0) team.on(0).fail_transfer(failing, -7);
    if (plan->cores > 1) {
        if (halide::jit_kernel(*plan, team).run(team, data.inputs, data.result) != (failing > 0 ? -7 : 0)) std::abort();
        return write(team);
    }
    emulator on(*plan->where, semantics_of<Machine>);
    on.record(*plan);
    halide::jit_kernel(*plan, &on).run(data.inputs, data.result);
    write(on);
}

}  // namespace

/// Prints traces and JSON of kernels that run on one emulated core, and on several, and JSON of programs, for schema_test.py, trace_test.py
/// and jq_test.py to read. With a folder, writes the pages of some of these runs there, for page_test.py.
int main(int count, char** arguments) {
    if (count > 1) pages = arguments[1];
    print_run<emulator_page::npu>(emulator_page::matmul_on_npu, "trace.json", "run.json");
    print_run<features::core_with_tcm>(features::constant_by_dma);
    print_run<cores_of_dsp::four>(cores_of_dsp::with_barriers().at(4), "team.json", "runs.json");
    print_run<cores_of_dsp::four>(cores_of_dsp::with_signals().at(0));
    print_run<cores_of_dsp::with_noc>(cores_of_dsp::with_multicasts().at(4));
    print_run<cached_cores::two>(cached_cores::with_caches().at(4));
    print_run<cores_of_dsp::four>(cores_of_dsp::with_barriers().at(4), "", "runs.json", 2);
    print_run<systolic::npu_aside>(systolic::matmul_pipelined);
    if (!pages.empty()) return 0;
    emulator const idle(emulator_page::npu, semantics_of<emulator_page::npu>);
    print_document("trace", chrome_trace(idle));
    print_document("run", to_json(plan<emulator_page::matmul_on_npu>, idle));
    print_program_runs();
}
