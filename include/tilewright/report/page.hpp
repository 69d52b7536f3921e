#pragma once
#include <fstream>
#include <stdexcept>
#include <tilewright/report/page_cycles.hpp>
#include <tilewright/report/page_memory.hpp>
#include <tilewright/report/page_roofline.hpp>
#include <tilewright/report/page_style.hpp>
#include <tilewright/report/summary.hpp>

// A plan as a page for a browser: one file of HTML, which needs no other.
namespace tilewright {
namespace reports {

/// What a plan computes, and on which machine: "C on npu".
inline std::string page_title(plan_value const& plan) {
    std::string const on = plan.where->name.str();
    return plan.stages.size() > 0 ? plan.stages[plan.stages.size() - 1].output.str() + " on " + on : "A plan for " + on;
}

/// The numbers of `summary`, as a list of figures.
inline std::string page_figures(plan_value const& plan) {
    std::string list;
    auto const add = [&](std::string const& name, std::string const& figure, std::string const& unit) {
        list += element("div", {}, text_element("dt", name) + element("dd", {}, escaped(figure) + " " + text_element("small", unit)));
    };
    std::optional<std::int64_t> const predicted = predicted_cycles(plan);
    occupation const bound = bound_of(plan);
    add("predicted", cycles_text(predicted, bound.least()), "cycles");
    if (bound.busy != 0) {
        add("bound", grouped(bound.least()), "cycles, " + bound.name + " busy all the time");
        if (predicted) add("predicted / bound", ratio(*predicted, bound.least()), "times");
    }
    for (memory_use const& use : memory_uses(plan)) {
        memory const& m = plan.where->memories[use.memory];
        add(m.name.str() + (m.banks > 1 ? ", bank " + std::to_string(use.bank) : ""), percent(use.peak, use.capacity),
            grouped(use.peak) + " of " + grouped(use.capacity) + " bytes");
    }
    return element("dl", {{"class", "figures"}}, list) + "\n";
}

inline std::string page_section(std::string const& heading, std::string const& inside) {
    return inside.empty() ? "" : element("section", {}, "\n" + text_element("h2", heading) + "\n" + inside) + "\n";
}

/// What the page shows of a plan that was not refused.
inline std::string page_main(plan_value const& plan, schedule const* made_by) {
    std::string const details = element("aside", {{"id", "details"}, {"aria-label", "Details of a buffer"}, {"aria-live", "polite"}},
                                        "<p>Point at a box, or go to one by the tab and arrow keys.</p>");
    std::string const memories = element("div", {{"class", "beside"}},
                                         "\n<div>\n" + page_section("Memory over time", page_memories(plan, made_by)) +
                                             page_section("Loop program", page_program(plan)) + "</div>\n" + details);
    return page_figures(plan) + memories + "\n" + page_section("Where the cycles go", page_cycle_account(plan)) +
           page_section("Traffic", page_traffic(plan)) + page_section("Roofline", page_roofline(plan));
}

inline std::string page_text(plan_value const& plan, schedule const* made_by) {
    std::string const title = page_title(plan);
    std::string const shown =
        plan.refusal ? text_element("p", refused_text(plan), {{"class", "refused"}, {"role", "alert"}}) + "\n" : page_main(plan, made_by);
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
           text_element("title", title) + "\n<style>" + page_css + "</style>\n</head>\n<body>\n<header>\n" + text_element("h1", title) +
           "\n<p>A plan, as the compiler made it; nothing here was measured.</p>\n</header>\n<main>\n" + shown + "</main>\n<script>" +
           page_js + "</script>\n</body>\n</html>\n";
}

inline void write_page(std::string const& text, std::string const& path) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write the report " + path);
}

}  // namespace reports

/// The page of a plan: its figures, memories over time, loop program, where the cycles go, traffic and roofline. One file of HTML, which
/// needs no network. A plan that was refused is its verdict.
///
/// @throws bad_query when extents are left to run time
inline std::string report_page(plan_value const& plan) { return reports::page_text(plan, nullptr); }
/// Likewise, with the directives that asked for the buffers, and their lines in the source.
/// @param made_by  the schedule that the plan was made of
inline std::string report_page(schedule const& made_by, plan_value const& plan) { return reports::page_text(plan, &made_by); }

/// Writes that page to a file.
///
/// @throws std::runtime_error when the file cannot be written; it names the path
inline void write_report(plan_value const& plan, std::string const& path) { reports::write_page(report_page(plan), path); }
inline void write_report(schedule const& made_by, plan_value const& plan, std::string const& path) {
    reports::write_page(report_page(made_by, plan), path);
}

}  // namespace tilewright
