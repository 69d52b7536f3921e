#pragma once
#include <tilewright/import/fit.hpp>
#include <tilewright/report/table.hpp>

namespace tilewright::imported {

/// Layer by layer: which agent runs it, and how; its cycles; of a layer that an instruction computes, how much of that time the instruction
/// is needed for; the tensor that it makes, with the model's name; and why choices before took none. Where the plan is refused, no cycles.
inline std::string placement_table(network_program const& of, program_plan_value const& plan) {
    using namespace reports;
    using enum table::side;
    table rows({left, left, left, right, right, left});
    rows.add({"kernel", "for", "runs as", "cycles", "busy", "makes"});
    name_finder const names(of.network());
    std::map<std::string, std::string> passed_over;  // the kernels of each reason
    for (auto const& placed : of.placed_layers()) {
        placement const& one = placed.report;
        layer const& what = placed.layer->of.what();
        std::string cycles = "-", busy = "-";
        if (!plan.refusal) {
            ir::program_kernel const& kernel = plan.kernel_at(plan.find_kernel(what.name));
            cycles = (kernel.cycles_known ? "" : "at least ") + grouped(kernel.cycles);
            if (one.least_cycles > 0) busy = percent(static_cast<std::int64_t>(one.least_cycles), kernel.cycles);
        }
        rows.add({one.kernel, one.made_for, one.choice + " on " + one.agent, cycles, busy, names.shown_result(what)});
        for (std::string const& why : one.passed_over) {
            std::string& kernels = passed_over[why];
            kernels += (kernels.empty() ? "" : ", ") + one.kernel;
        }
    }
    std::string text = rows.str();
    for (auto const& [why, kernels] : passed_over) text += "not " + why + ": " + kernels + "\n";
    return text;
}
/// Likewise, with a line for each chain of layers in strips.
inline std::string placement_table(fitted_network const& of) {
    std::string text = placement_table(of.program(), of.plan());
    for (std::string const& one : of.strips()) text += one + "\n";
    return text;
}

}  // namespace tilewright::imported
