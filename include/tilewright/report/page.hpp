#pragma once
#include <tilewright/report/page_document.hpp>
#include <tilewright/report/page_memory.hpp>
#include <tilewright/report/page_roofline.hpp>
#include <tilewright/report/page_time.hpp>
#include <tilewright/report/summary.hpp>

// A plan as a page for a browser: one file of HTML, which needs no other; and its pictures as files of SVG.
namespace tilewright {
namespace reports {

/// What a plan computes, and on which machine: "C on npu".
inline std::string page_title(plan_value const& plan) {
    std::string const on = plan.where->name.str();
    return plan.stages.size() > 0 ? plan.stages[plan.stages.size() - 1].output.str() + " on " + on : "A plan for " + on;
}

/// The numbers of `summary`, as a list of figures.
inline std::string page_figures(plan_value const& plan) {
    figure_list list;
    std::optional<std::int64_t> const predicted = predicted_cycles(plan);
    occupation const bound = bound_of(plan);
    list.add("predicted", cycles_text(predicted, bound.least()), "cycles");
    if (bound.busy != 0) {
        list.add("bound", grouped(bound.least()), "cycles, " + bound.name + " busy all the time");
        if (predicted) list.add("predicted / bound", ratio(*predicted, bound.least()), "times");
    }
    for (memory_use const& use : memory_uses(plan)) {
        memory const& m = plan.where->memories[use.memory];
        list.add(m.name.str() + (m.banks > 1 ? ", bank " + std::to_string(use.bank) : ""), percent(use.peak, use.capacity),
                 grouped(use.peak) + " of " + grouped(use.capacity) + " bytes");
    }
    return list.str();
}

/// What an emulated run adds to the page of its plan.
struct executed_run {
    struct row {
        int core = 0, lane = -1;
        std::vector<time_stretch> all;  ///< in cycles of the run
    };
    std::vector<row> rows;
    std::string said;        ///< of the run, in a sentence
    std::string comparison;  ///< markup
};

/// What a run took beside what was predicted, in a sentence or two. @param predicted  none: not resolved
inline std::string run_text(std::optional<std::int64_t> predicted, std::int64_t cycles, std::string const& error) {
    return "Executed: " + grouped(cycles) + " cycles" +
           (!predicted             ? "."
            : *predicted == cycles ? ", as predicted."
                                   : ", where " + grouped(*predicted) + " are predicted.") +
           (error.empty() ? "" : " The machine refused: " + error + ".");
}

/// The times of a timeline that cycles of a run have: a stretch may go on where some are left out.
inline std::vector<time_stretch> drawn_of(noted_timeline const& of, time_stretch const& ran) {
    std::vector<time_stretch> drawn;
    std::int64_t cycle = 0, time = 0;
    auto const add = [&](std::int64_t until) {
        std::int64_t const from = std::max(ran.begin, cycle), to = std::min(ran.end, cycle + until - time);
        if (from < to) {
            time_stretch part = ran;
            part.begin = from - cycle + time, part.end = to - cycle + time;
            if (!drawn.empty() && drawn.back().end == part.begin) drawn.back().end = part.end;
            else drawn.push_back(part);
        }
        cycle += until - time, time = until;
    };
    for (left_out const& one : of.breaks) add(one.at), cycle += one.cycles;
    add(of.end);
    return drawn;
}

/// Rows of a plan, each with what was executed below it.
inline page_time timeline_picture(planned_timeline const& planned, executed_run const* ran, std::string const& within = "") {
    noted_timeline const& of = planned.timeline();
    page_time picture{"Timeline: what cores and engines do when; arrow keys go from one job to the next", {}, of.end, of.breaks};
    for (planned_timeline::row& row : planned.rows(within)) {
        picture.rows.push_back(std::move(row.drawn));
        if (ran == nullptr) continue;
        time_row below{"executed", {}, true};
        for (executed_run::row const& one : ran->rows) {
            if (one.core != row.core || one.lane != row.lane) continue;
            for (time_stretch const& s : one.all) {
                std::vector<time_stretch> const parts = drawn_of(of, s);
                below.all.insert(below.all.end(), parts.begin(), parts.end());
            }
        }
        picture.rows.push_back(std::move(below));
    }
    return picture;
}
inline std::string page_timeline(planned_timeline const& planned, executed_run const* ran, std::string const& within = "") {
    if (!planned.accounts().resolved || planned.accounts().cycles == 0) return "";
    page_time const picture = timeline_picture(planned, ran, within);
    return legend_of(picture.rows) +
           text_element("p", drawn_text(planned.accounts()) + " Transfers have the colours of their buffers; a frame is a wait." +
                                 (ran == nullptr ? "" : " " + ran->said)) +
           "\n" + shown(picture.str());
}

/// What the page shows of a plan that was not refused.
inline std::string page_main(plan_value const& plan, schedule const* made_by, executed_run const* ran) {
    planned_timeline const planned(plan);
    std::string const memories = element("div", {{"class", "beside"}},
                                         "\n<div>\n" + page_section("Timeline", page_timeline(planned, ran)) +
                                             page_section("Memory over time", page_memories(plan, made_by)) +
                                             page_section("Loop program", page_program(plan, made_by)) + "</div>\n" + page_details());
    std::string const wait = worst_wait(plan, planned.accounts());
    return page_figures(plan) + (wait.empty() ? "" : text_element("p", "F" + wait.substr(1) + ".", {{"class", "most"}}) + "\n") + memories +
           "\n" + page_section("Where the cycles go", page_cycle_account(plan, planned.accounts())) +
           (ran == nullptr ? "" : page_section("Planned beside executed", ran->comparison)) + page_section("Traffic", page_traffic(plan)) +
           page_section("Roofline", page_roofline(plan));
}

inline std::string page_text(plan_value const& plan, schedule const* made_by, executed_run const* ran = nullptr) {
    std::string const about = ran == nullptr ? "A plan, as the compiler made it; nothing here was measured."
                                             : "A plan, as the compiler made it, beside a run on the emulated machine.";
    return page_document(page_title(plan), about, plan.refusal ? page_refused(refused_text(plan)) : page_main(plan, made_by, ran));
}

/// The pictures of a plan's page, by name. A plan that was refused has none.
inline std::vector<std::pair<std::string, std::string>> pictures_of(plan_value const& plan, executed_run const* ran = nullptr) {
    std::vector<std::pair<std::string, std::string>> all;
    if (plan.refusal) return all;
    planned_timeline const planned(plan);
    for (memory_use const& use : memory_uses(plan)) {
        page_memory const one(plan, use, nullptr);
        all.emplace_back("memory " + one.name(), one.drawn());
    }
    if (planned.accounts().resolved && planned.accounts().cycles > 0) {
        all.emplace_back("timeline", timeline_picture(planned, ran).str());
        all.emplace_back("cycles", drawn_cycles(plan, planned.accounts(), rows_of(plan, planned.accounts())));
    }
    if (std::optional<roofline> const of = roofline_of(plan)) all.emplace_back("roofline", drawn_roofline(*of));
    return all;
}

}  // namespace reports

/// The page of a plan: its figures, timeline, memories over time, loop program, where the cycles go, traffic and roofline. One file of
/// HTML, which needs no network. A plan that was refused is its verdict.
///
/// @throws bad_query when extents are left to run time
inline std::string report_page(plan_value const& plan) { return reports::page_text(plan, nullptr); }
/// Likewise, with the directives that asked for the buffers, and their lines in the source.
/// @param made_by  the schedule that the plan was made of
inline std::string report_page(schedule const& made_by, plan_value const& plan) { return reports::page_text(plan, &made_by); }

/// Writes that page to a file.
///
/// @throws std::runtime_error when the file cannot be written; it names the path
inline void write_report(plan_value const& plan, std::string const& path) { reports::write_file(report_page(plan), path); }
inline void write_report(schedule const& made_by, plan_value const& plan, std::string const& path) {
    reports::write_file(report_page(made_by, plan), path);
}

/// Writes each picture of that page to a file of a folder that exists: "memory_spad.svg", "timeline.svg", "cycles.svg", "roofline.svg".
/// They have the light colours, and need no other file.
/// @return their paths
/// @throws std::runtime_error when a file cannot be written; it names the path
inline std::vector<std::string> write_pictures(plan_value const& plan, std::string const& folder) {
    return reports::write_svg(reports::pictures_of(plan), folder);
}

}  // namespace tilewright
