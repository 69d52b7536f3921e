#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <tilewright/report/executed_layers.hpp>
#include <tilewright/report/program_report.hpp>
#include <tilewright/report/run_report.hpp>
#include <vector>

// A run of a program on the emulated machines of its agents as values: each layer's run, beside what its plan predicts.
namespace tilewright {
namespace reports {

/// A kernel or copy of a program, and its run.
struct reported_layer_run {
    label name{};
    label agent{};
    std::string kind;  ///< "kernel", or "copy" by a transfer that the plan put in
    int first_step = 0;
    int last_step = 0;
    std::optional<layer_time> planned{};   ///< none: not resolved
    std::optional<layer_time> executed{};  ///< none: it has not run
    std::optional<run_report> run{};       ///< likewise
};
/// The first run of a program since the emulator was reset.
struct program_run_report {
    label program{};
    std::int32_t result = 0;  ///< 0, or the code of the first layer that failed
    std::optional<std::string> error{};
    bool agrees = false;  ///< whether every layer did exactly what its plan predicts, when it was planned to
    reported_cycles cycles{};
    std::vector<reported_layer_run> layers{};  ///< in the order in which they begin
};

/// A layer's run, with its cores. @param plan  of the layer, as it is generated
inline run_report run_of_layer(plan_value const& plan, executed_layer const& layer, program_emulator const& after) {
    executed_kernel const& first = layer.shares.front();
    bool const on_cores = after.plan().is_of_cores(after.plan().kernel_at(first.kernel).agent);
    std::string const error = layer.code() == 0 ? "" : on_cores ? after.error() : after.on(first).error();
    run_report report = run_of(plan, layer.where(after), layer.done, layer.code(), error);
    for (executed_kernel const& one : layer.shares)
        report.cores.push_back(core_of(plan, after.on(one), one.after.since(one.before), jobs_of(one, after)));
    return report;
}
inline program_run_report report_of(program_plan_value const& plan, program_emulator const& after) {
    if (plan.refusal) throw std::invalid_argument("a program that was refused has no run: " + to_string(plan.refusal));
    std::vector<std::optional<executed_layer>> const ran = executed_layers(plan, after);
    if (after.executed().empty() && after.cycles() != 0)
        throw std::invalid_argument("`" + plan.of->name.str() + "` ran without being recorded: call record() of its emulator before");
    std::vector<layer_time> const planned = layer_times(plan);
    program_run_report report{.program = plan.of->name};
    if (plan.total_known) report.cycles.planned = plan.total_cycles;
    report.cycles.executed = after.cycles();
    if (std::string const error = after.error(); !error.empty()) report.error = error;
    for (executed_kernel const& one : after.executed()) {
        if (report.result == 0) report.result = one.code;
    }
    report.agrees = report.result == 0 && !report.error && report.cycles.planned == report.cycles.executed;
    for (reported_layer const& l : report_of(plan).layers) {
        int const kernel = plan.find_kernel(l.name);
        reported_layer_run& layer = report.layers.emplace_back(reported_layer_run{l.name, l.agent, l.kind, l.first_step, l.last_step});
        if (plan.total_known) layer.planned = planned[static_cast<std::size_t>(kernel)];
        if (std::optional<executed_layer> const& done = ran[static_cast<std::size_t>(kernel)]) {
            layer.executed = done->time;
            layer.run = run_of_layer(build_kernel(plan, kernel).plan, *done, after);
        }
        report.agrees = report.agrees && layer.run && layer.run->agrees && layer.planned == layer.executed;
    }
    return report;
}

}  // namespace reports
}  // namespace tilewright

BOOST_HANA_ADAPT_STRUCT(tilewright::reports::layer_time, begin, end);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_layer_run, name, agent, kind, first_step, last_step, planned, executed, run);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::program_run_report, program, result, error, agrees, cycles, layers);

namespace tilewright {

/// The first run of a program since its emulator was reset as one line of JSON, beside what the plan predicts: the members of
/// `reports::program_run_report`. `record()` comes before the run.
///
/// @throws std::invalid_argument when the program was refused, when the emulator is of another one, or when nothing was recorded
inline std::string to_json(program_plan_value const& plan, program_emulator const& after) {
    return to_json(reports::report_of(plan, after));
}

}  // namespace tilewright
