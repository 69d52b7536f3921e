#pragma once
#include <map>
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
inline constexpr time_kind time_works{"works", "works"}, time_data{"data", "waits for data"}, time_engine{"engine", "waits for an engine"},
    time_queue{"queue", "held back by a queue or another engine"}, time_cores{"cores", "waits for other cores"},
    time_idle{"idle", "not asked for anything"}, time_end{"end", "at the end"};

inline time_kind const& kind_of(plan_value const& plan, spent const& one) {
    switch (one.on) {
        case spent_on::code:
        case spent_on::fill:
        case spent_on::caches: return time_works;
        case spent_on::copying: return plan.engine_of(plan.movements[one.position]) < 0 ? time_works : time_engine;
        case spent_on::computing:
        case spent_on::joining: return time_engine;
        case spent_on::asking:
        case spent_on::asking_copy: return time_queue;
        case spent_on::waiting: return time_data;
        case spent_on::meeting:
        case spent_on::listening: return time_cores;
        case spent_on::ending: break;
    }
    return time_end;
}

/// A core or a channel, with what it does, the most first. The cycles add up to all.
struct time_bar {
    struct share {
        std::int64_t cycles = 0;
        time_kind const* is = nullptr;
        std::string what, help;
    };
    std::string name;
    std::vector<share> shares;
};
/// The bars of `cycle_account`: every core, then its channels that work.
inline std::vector<time_bar> time_bars(plan_value const& plan, cycle_accounts const& all) {
    std::vector<time_bar> bars;
    machine const& where = *plan.where;
    auto const add = [&](std::string const& name, std::vector<time_bar::share> shares) {
        std::erase_if(shares, [](time_bar::share const& s) { return s.cycles <= 0; });
        std::stable_sort(shares.begin(), shares.end(),
                         [](time_bar::share const& a, time_bar::share const& b) { return a.cycles > b.cycles; });
        bars.push_back({name, std::move(shares)});
    };
    for (std::size_t core = 0; core < all.cores.size(); ++core) {
        std::string const number = all.cores.size() > 1 ? "core " + std::to_string(core) + ", " : "";
        std::map<std::pair<std::string, std::string>, time_bar::share> sums;
        for (auto const& [what, cycles] : all.cores[core].core) {
            spent_text const text = text_of(plan, what);
            time_bar::share& sum = sums[{text.what, text.help}];
            sum = {sum.cycles + cycles, &kind_of(plan, what), text.what, text.help};
        }
        std::vector<time_bar::share> shares;
        for (auto const& [text, share] : sums) shares.push_back(share);
        add(number + where.core_at(static_cast<int>(core)).name.str(), std::move(shares));
        for (std::size_t lane = 0; lane < all.cores[core].channels.size(); ++lane) {
            channel_account const& c = all.cores[core].channels[lane];
            if (c.busy == 0) continue;
            add(number + lane_name(where, static_cast<int>(lane)),
                {{c.busy, &time_works, "busy", ""},
                 {c.not_asked, &time_idle, "not asked for anything yet", ""},
                 {c.held_back, &time_queue, "held back by other engines, or by its queue", ""},
                 {c.after, &time_end, "after its last job", ""}});
        }
    }
    return bars;
}

inline std::string legend_of(std::vector<time_bar> const& bars) {
    std::string text;
    for (time_kind const* kind : {&time_works, &time_data, &time_engine, &time_queue, &time_cores, &time_idle, &time_end}) {
        bool used = false;
        for (time_bar const& bar : bars) {
            for (time_bar::share const& s : bar.shares) used |= s.is == kind;
        }
        if (!used) continue;
        std::string const swatch = element("svg", {{"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}},
                                           element("rect", rectangle(kind->kind, 0, 0, 12, 12), ""));
        text += element("li", {}, swatch + " " + kind->says);
    }
    return element("ul", {{"class", "legend"}}, text) + "\n";
}

inline std::string page_cycle_account(plan_value const& plan) {
    cycle_accounts const all = accounts_of(plan);
    if (!all.resolved || all.cycles == 0) return "<p>The cycles of this plan are not resolved.</p>\n";
    std::vector<time_bar> const bars = time_bars(plan, all);
    constexpr double left = 140, width = 760, row = 24;
    auto const wide = [&](std::int64_t cycles) {
        return (width - left - 4) * static_cast<double>(cycles) / static_cast<double>(all.cycles);
    };
    std::string drawn;
    std::vector<markup_row> rows;
    for (std::size_t at = 0; at < bars.size(); ++at) {
        double const y = row * static_cast<double>(at);
        std::string says, inside = word(bars[at].name, left - 8, y + 15, "end");
        double x = left;
        for (time_bar::share const& s : bars[at].shares) {
            std::string const share = s.what + ": " + grouped(s.cycles) + " cycles, " + percent(s.cycles, all.cycles);
            says += (says.empty() ? ": " : "; ") + share;
            inside += element("rect", rectangle(s.is->kind, x, y + 2, wide(s.cycles), row - 4), text_element("title", share));
            x += wide(s.cycles);
            std::string const swatch = element("svg", {{"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}},
                                               element("rect", rectangle(s.is->kind, 0, 0, 12, 12), ""));
            rows.push_back({{}, {bars[at].name, swatch, grouped(s.cycles), percent(s.cycles, all.cycles), s.what, s.help}});
        }
        drawn += element("g", {{"class", "bar"}, {"role", "img"}, {"aria-label", bars[at].name + says}}, inside) + "\n";
    }
    return legend_of(bars) +
           picture("cycles", "group", "Cycles of each core and channel, of " + grouped(all.cycles), width,
                   row * static_cast<double>(bars.size()), drawn) +
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
