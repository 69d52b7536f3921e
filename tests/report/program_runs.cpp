#include "report/program_runs.hpp"

#include <tilewright/halide/jit_program.hpp>
#include <tilewright/report/program_run_report.hpp>

#include "emulate/page.hpp"
#include "kernels/caches.hpp"
#include "program/team_program.hpp"
#include "report/documents.hpp"
#include "report/two_layers.hpp"

using namespace tilewright;

namespace {

/// Runs a program whose tensors that are passed are all zeros.
/// @param failing  so many calls of transfers of the first agent later, one fails; 0: none
void print_run(program_plan_value const& plan, std::vector<semantics_table> const& semantics, char const* file = "",
               std::int64_t failing = 0) {
    program_emulator on(plan, semantics);
    halide::jit_program compiled(on);
    on.record(kernel_plans(plan));
    std::map<std::string, std::vector<std::byte>> passed;
    std::map<std::string, void*> addresses;
    for (int at = 0; at < plan.tensors.size(); ++at) {
        ir::program_tensor const& t = plan.tensor_at(at);
        if (!t.passed) continue;
        std::vector<std::byte>& held = passed[t.name.str()];
        held.resize(static_cast<std::size_t>(t.bytes));
        addresses[t.name.str()] = held.data();
    }
    if (failing > 0) on.on(0).fail_transfer(failing, -7);
    if (compiled.run(addresses) != (failing > 0 ? -7 : 0)) std::abort();
    print_document("program_run", to_json(plan, on), file);
}

}  // namespace

void print_program_runs() {
    program_plan_value const& two_layers = program_plan<two_layers_program::two_layers>;
    print_run(two_layers, std::vector<semantics_table>(2), "program_run.json");
    print_run(two_layers, std::vector<semantics_table>(2), "", 1);
    auto const unresolved = std::make_unique<program_plan_value>(two_layers);
    unresolved->total_known = false;
    print_run(*unresolved, std::vector<semantics_table>(2));
    print_run(program_plan<team_programs::team>, {semantics_of<team_programs::mixed>, semantics_of<team_programs::npu_machine>});

    program cached("cached");
    agent const two("two", cached_cores::two);
    schedule const twice(cached_cores::twice, cached_cores::two);
    cached.input(cached_cores::in, cached_cores::dram).run("twice", two, twice).bind(cached_cores::in, cached_cores::in);
    cached.bind(cached_cores::out, cached_cores::out).output(cached_cores::out, cached_cores::dram);
    print_run(make_program_plan(cached), {semantics_of<cached_cores::two>});

    using namespace emulator_page;
    program one("one");
    agent const on("npu", npu);
    one.input(A, dram).input(B, dram).run("matmul", on, matmul_on_npu).bind(A, A).bind(B, B).bind(C, C).output(C, dram);
    print_run(make_program_plan(one), {semantics_of<npu>});
}
