#pragma once
#include <tilewright/emulate/program_emulator.hpp>
#include <tilewright/report/program_page.hpp>
#include <tilewright/report/run_page.hpp>

// The page of a program beside a run on the emulated machines of its agents.
namespace tilewright {
namespace reports {

/// @throws std::invalid_argument when the emulator is of another program
inline executed_program executed_of(program_plan_value const& plan, program_emulator const& after) {
    if (!same_program(plan, after.plan()))
        throw std::invalid_argument("a page of `" + plan.of->name.str() + "`, but the emulator runs another program: `" +
                                    after.plan().of->name.str() + "`");
    executed_program ran;
    ran.layers.resize(static_cast<std::size_t>(plan.kernels.size()));
    ran.cycles = after.cycles();
    ran.error = after.error();
    for (executed_kernel const& one : after.executed()) {
        std::optional<layer_time>& time = ran.layers[static_cast<std::size_t>(one.kernel)];
        if (!time) time = {one.begin, one.end()};
        time = {std::min(time->begin, one.begin), std::max(time->end, one.end())};
    }
    ran.details = [&after, layers = ran.layers](int kernel, plan_value const& made, std::string const& within) {
        executed_run all;
        bool recorded = false;
        std::optional<emulation::work_done> done;  // by all cores
        machine const* where = nullptr;
        for (executed_kernel const& one : after.executed()) {
            if (one.kernel != kernel) continue;
            emulator const& by = after.on(one);
            auto const jobs = std::span(by.recorded()).subspan(one.before.jobs, one.after.jobs - one.before.jobs);
            for (executed_run::row& row : executed_rows(made, by, jobs, one.before.cycles, within)) all.rows.push_back(std::move(row));
            recorded = recorded || !jobs.empty();
            emulation::work_done const share = one.after.since(one.before);
            if (done) done->join(share);
            else done = share;
            where = &by.what();
        }
        layer_time const time = *layers[static_cast<std::size_t>(kernel)];
        done->cycles = time.end - time.begin;
        all.comparison = page_comparison(compare(made, *where, *done));
        all.said = said_of(made, time.end - time.begin, recorded, "");
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
