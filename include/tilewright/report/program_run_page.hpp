#pragma once
#include <tilewright/report/executed_layers.hpp>
#include <tilewright/report/program_page.hpp>
#include <tilewright/report/run_page.hpp>

// The page of a program beside a run on the emulated machines of its agents.
namespace tilewright {
namespace reports {

/// @throws std::invalid_argument when the emulator is of another program
inline executed_program executed_of(program_plan_value const& plan, program_emulator const& after) {
    std::vector<std::optional<executed_layer>> const layers = executed_layers(plan, after);
    executed_program ran;
    for (std::optional<executed_layer> const& one : layers) ran.layers.push_back(one ? std::optional(one->time) : std::nullopt);
    ran.cycles = after.cycles();
    ran.error = after.error();
    ran.details = [&after, layers](int kernel, plan_value const& made, std::string const& within) {
        executed_layer const& layer = *layers[static_cast<std::size_t>(kernel)];
        executed_run all;
        bool recorded = false;
        for (executed_kernel const& one : layer.shares) {
            std::span<recorded_job const> const jobs = jobs_of(one, after);
            for (executed_run::row& row : executed_rows(made, after.on(one), jobs, one.before.cycles, within))
                all.rows.push_back(std::move(row));
            recorded = recorded || !jobs.empty();
        }
        all.comparison = page_comparison(compare(made, layer.where(after), layer.done));
        all.said = said_of(made, layer.done.cycles, recorded, "");
        return all;
    };
    return ran;
}

}  // namespace reports

/// The page of a program beside its first run after the emulator was reset, if `record()` was called before: when each layer ran, below
/// when it was planned to; and for each layer what was executed, with a table that compares calls, bytes and cycles: of a layer that cores
/// share, those of all of them together.
///
/// @throws std::invalid_argument when the emulator is of another program
inline std::string report_page(program_plan_value const& plan, program_emulator const& after) {
    if (plan.refusal) return report_page(plan);
    reports::executed_program const ran = reports::executed_of(plan, after);
    return reports::page_text(plan, &ran);
}

/// Writes that page to a file.
///
/// @throws std::runtime_error when the file cannot be written; it names the path
inline void write_report(program_plan_value const& plan, program_emulator const& after, std::string const& path) {
    reports::write_file(report_page(plan, after), path);
}

}  // namespace tilewright
