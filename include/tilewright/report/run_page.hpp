#pragma once
#include <tilewright/report/comparison.hpp>
#include <tilewright/report/page.hpp>
#include <tilewright/report/timeline.hpp>

// The page of a plan beside a run on the emulated machine.
namespace tilewright {
namespace reports {

/// What one emulated core and its engines did in a run of a kernel, for the rows below those of the plan.
/// @param jobs     that were recorded in the run
/// @param began    the core's cycle when it began
/// @param within   stands in front of names of buffers that are marked, as in `planned_timeline`
inline std::vector<executed_run::row> executed_rows(plan_value const& plan, emulator const& after, std::span<recorded_job const> jobs,
                                                    std::int64_t began = 0, std::string const& within = "") {
    int arguments = 0;
    for (int at = 0; at < plan.buffers.size(); ++at) arguments += plan.buffers[at].kind == buffer_kind::argument;
    std::vector<executed_run::row> rows;
    std::vector<timeline_lane> const lanes = lanes_of(after, jobs);
    for (std::size_t at = 0; at < lanes.size(); ++at) {
        executed_run::row row{after.core(), lanes[at].of_core ? -1 : static_cast<int>(at), {}};
        std::int64_t calls = 0;
        for (recorded_job const& job : lanes[at].jobs) {
            bool const waits = job.kind == job_kind::wait;
            time_stretch one{job.begin - began, job.end - began, "", "", "", "", waits};
            one.colour = waits ? time_data.kind : job.kind == job_kind::intrinsic ? time_computes.kind : time_works.kind;
            for (int b = 0; b < plan.buffers.size() && !job.buffer.empty(); ++b) {
                if (plan.buffers[b].name != job.buffer) continue;
                one.colour = "hue" + std::to_string((b - arguments + 8) % 8);
                one.buffers = within + std::to_string(b);
            }
            // Calls of an instruction that follow each other are one stretch, as in the rows of the plan.
            one.label = shown_name(job);
            bool const goes_on =
                job.kind == job_kind::intrinsic && !row.all.empty() && row.all.back().end == one.begin && row.all.back().label == one.label;
            calls = goes_on ? calls + 1 : 1;
            if (goes_on) row.all.back().end = one.end;
            else row.all.push_back(one);
            time_stretch& last = row.all.back();
            last.says = "executed: " + last.label + (calls > 1 ? ", " + std::to_string(calls) + " times" : "") + "\n" +
                        from_to(last.begin, last.end - last.begin);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

/// @param recorded  whether there is anything below the rows of the plan
inline std::string said_of(plan_value const& plan, std::int64_t cycles, bool recorded, std::string const& error) {
    std::string text = run_text(predicted_cycles(plan), cycles, error);
    if (!recorded) text += " Nothing was recorded: call record() before the kernel.";
    return text;
}

inline std::string page_comparison(std::vector<compared> const& all) {
    std::vector<markup_row> rows;
    for (compared const& r : all) {
        auto const counted = [&](std::int64_t value) { return r.counts_calls ? grouped(value) : std::string(); };
        rows.push_back(
            {{{"class", r.equal()    ? "equal"
                        : r.resolved ? "different"
                                     : "unresolved"}},
             {r.name, counted(r.predicted.calls), counted(r.executed.calls), counted(r.predicted.bytes), counted(r.executed.bytes),
              r.resolved ? grouped(r.predicted.cycles) : "unresolved", grouped(r.executed.cycles), verdict_of(r)}});
    }
    return markup_table("What the plan predicts, and what the emulated machine has executed",
                        {"part", "#calls planned", "#executed", "#bytes planned", "#executed", "#cycles planned", "#executed", ""}, rows);
}

inline executed_run executed_of(plan_value const& plan, emulator const& after) {
    return {executed_rows(plan, after, after.recorded()), said_of(plan, after.cycles(), !after.recorded().empty(), after.error()),
            page_comparison(compare(plan, after))};
}
inline executed_run executed_of(plan_value const& plan, core_team const& after) {
    executed_run ran;
    bool recorded = false;
    for (int core = 0; core < after.size(); ++core) {
        for (executed_run::row& row : executed_rows(plan, after.on(core), after.on(core).recorded())) ran.rows.push_back(std::move(row));
        recorded |= !after.on(core).recorded().empty();
    }
    ran.said = said_of(plan, after.cycles(), recorded, after.error());
    ran.comparison = page_comparison(compare(plan, after));
    return ran;
}

}  // namespace reports

/// The page of a plan beside one run of its kernel since the emulator was reset: below each row of the timeline what was executed, if
/// `record(plan)` was called before; and a table that compares calls, bytes and cycles.
///
/// @throws bad_query when extents are left to run time
inline std::string report_page(schedule const& made_by, plan_value const& plan, emulator const& after) {
    if (plan.refusal) return report_page(made_by, plan);
    reports::executed_run const ran = reports::executed_of(plan, after);
    return reports::page_text(plan, &made_by, &ran);
}
/// Likewise of several cores: the table has what all of them did together.
inline std::string report_page(schedule const& made_by, plan_value const& plan, core_team const& after) {
    if (plan.refusal) return report_page(made_by, plan);
    reports::executed_run const ran = reports::executed_of(plan, after);
    return reports::page_text(plan, &made_by, &ran);
}

/// Writes that page to a file.
///
/// @throws std::runtime_error when the file cannot be written; it names the path
inline void write_report(schedule const& made_by, plan_value const& plan, emulator const& after, std::string const& path) {
    reports::write_file(report_page(made_by, plan, after), path);
}
inline void write_report(schedule const& made_by, plan_value const& plan, core_team const& after, std::string const& path) {
    reports::write_file(report_page(made_by, plan, after), path);
}

}  // namespace tilewright
