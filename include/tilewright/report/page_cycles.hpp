#pragma once
#include <tilewright/report/cycle_account.hpp>
#include <tilewright/report/page_markup.hpp>
#include <tilewright/report/traffic.hpp>

// The parts of a plan's page that speak of work: where the cycles go, and what is moved and computed.
namespace tilewright::reports {

/// What the time of a core or a channel is called in the legend, and the class of its colour.
struct time_kind {
    char const* kind;
    char const* says;
};
inline constexpr time_kind time_works{"works", "works"}, time_computes{"computes", "computes"}, time_data{"data", "waits for data"},
    time_engine{"engine", "waits for an engine"}, time_queue{"queue", "held back by a queue or another engine"},
    time_cores{"cores", "waits for other cores"}, time_idle{"idle", "not asked"}, time_end{"end", "at the end"};

inline constexpr time_kind const* time_kinds[] = {&time_works, &time_computes, &time_data, &time_engine,
                                                  &time_queue, &time_cores,    &time_idle, &time_end};

inline time_kind const& kind_of(plan_value const& plan, spent const& one) {
    switch (one.on) {
        case spent_on::code:
        case spent_on::fill:
        case spent_on::caches: return time_works;
        case spent_on::copying: return plan.engine_of(plan.movements[one.position]) < 0 ? time_works : time_engine;
        case spent_on::computing:
        case spent_on::joining: return time_engine;
        case spent_on::asking:
        case spent_on::asking_copy:
        case spent_on::token:
        case spent_on::place:
        case spent_on::room: return time_queue;
        case spent_on::waiting: return time_data;
        case spent_on::meeting:
        case spent_on::listening: return time_cores;
        case spent_on::ending: break;
    }
    return time_end;
}

/// What a share of a core's or a channel's time is called in the legend.
inline time_kind const& kind_of(plan_value const& plan, cycle_share const& s) {
    switch (s.is) {
        case cycle_share::kind::spent: return kind_of(plan, spent{s.on, s.position});
        case cycle_share::kind::busy: return time_works;
        case cycle_share::kind::not_asked: return time_idle;
        case cycle_share::kind::held_back: return time_queue;
        case cycle_share::kind::after: break;
    }
    return time_end;
}

inline std::string swatch(char const* kind) {
    return element("svg", {{"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}}, element("rect", rectangle(kind, 0, 0, 12, 12), ""));
}
inline std::string legend_of(std::vector<time_kind const*> const& used) {
    std::string text;
    for (time_kind const* kind : time_kinds) {
        if (std::find(used.begin(), used.end(), kind) != used.end()) text += element("li", {}, swatch(kind->kind) + " " + kind->says);
    }
    return element("ul", {{"class", "legend"}}, text) + "\n";
}

/// The bars of cores and channels.
inline std::string drawn_cycles(plan_value const& plan, cycle_accounts const& all, std::vector<cycle_row> const& bars) {
    constexpr double left = 140, width = 760, row = 24;
    auto const wide = [&](std::int64_t cycles) {
        return (width - left - 4) * static_cast<double>(cycles) / static_cast<double>(all.cycles);
    };
    std::string drawn;
    for (std::size_t at = 0; at < bars.size(); ++at) {
        double const y = row * static_cast<double>(at);
        std::string says, inside = word(bars[at].name, left - 8, y + 15, "end");
        double x = left;
        for (cycle_share const& s : bars[at].shares) {
            std::string const share = s.what + ": " + grouped(s.cycles) + " cycles, " + percent(s.cycles, all.cycles);
            says += (says.empty() ? ": " : "; ") + share;
            inside += element("rect", rectangle(kind_of(plan, s).kind, x, y + 2, wide(s.cycles), row - 4), text_element("title", share));
            x += wide(s.cycles);
        }
        drawn += element("g", {{"class", "bar"}, {"role", "img"}, {"aria-label", bars[at].name + says}}, inside) + "\n";
    }
    return picture("cycles", "group", "Cycles of each core and channel, of " + grouped(all.cycles), width,
                   row * static_cast<double>(bars.size()), drawn);
}

inline std::string page_cycle_account(plan_value const& plan, cycle_accounts const& all) {
    if (!all.resolved || all.cycles == 0) return "<p>The cycles of this plan are not resolved.</p>\n";
    std::vector<cycle_row> const bars = rows_of(plan, all);
    std::vector<time_kind const*> used;
    std::vector<markup_row> rows;
    for (cycle_row const& bar : bars) {
        for (cycle_share const& s : bar.shares) {
            used.push_back(&kind_of(plan, s));
            rows.push_back({{}, {bar.name, swatch(used.back()->kind), grouped(s.cycles), percent(s.cycles, all.cycles), s.what, s.help}});
        }
    }
    return legend_of(used) + shown(drawn_cycles(plan, all, bars)) +
           markup_table_of_filled("What each core and channel does, of " + grouped(all.cycles) + " cycles, the most first",
                                  {"core or channel", "| ", "#cycles", "#of all", "what", "what would help"}, std::move(rows));
}

inline std::string page_traffic(plan_value const& plan) {
    std::int64_t most = 0, bytes = 0;
    std::vector<work> const all = work_of(plan);
    for (work const& w : all) most = std::max(most, w.bytes), bytes += w.bytes;
    std::vector<markup_row> rows;
    for (work const& w : all) {
        if (w.calls == 0) continue;
        bool const moves = w.kind == "transfer";
        rows.push_back({{},
                        {w.name, w.kind, w.on.empty() ? "-" : w.on, grouped(w.calls), moves ? grouped(w.bytes) : "",
                         moves ? cell_bar(w.bytes, most) : "", grouped(w.cycles), percent(w.cycles, plan.total_cycles),
                         cell_bar(w.cycles, plan.total_cycles)}});
    }
    rows.push_back(
        {{{"class", "total"}}, {"total, one after the other", "", "", "", grouped(bytes), "", grouped(plan.total_cycles), "", ""}});
    std::string text = markup_table("Work of each part of the machine, bytes at the destination",
                                    {"part", "kind", "on", "#calls", "#bytes", "| ", "#cycles", "#of all", "| "}, rows);
    std::optional<std::int64_t> const predicted = predicted_cycles(plan);
    rows.clear();
    for (occupation const& one : occupations_of(plan)) {
        std::int64_t const whole = predicted ? one.channels * *predicted : 0;
        rows.push_back({{},
                        {one.name, std::to_string(one.channels), grouped(one.busy), grouped(one.least()), percent(one.busy, whole),
                         cell_bar(one.busy, whole)}});
    }
    return text + markup_table("Work of each engine, and of the core",
                               {"engine", "#channels", "#busy cycles", "#at least", "#of predicted", "| "}, rows);
}

}  // namespace tilewright::reports
