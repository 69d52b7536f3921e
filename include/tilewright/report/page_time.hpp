#pragma once
#include <tilewright/report/page_cycles.hpp>
#include <tilewright/report/page_memory.hpp>

// Cores and engines over time, as a picture of a page.
namespace tilewright::reports {

/// Something that a row of the picture shows, in times of its timeline.
struct time_stretch {
    std::int64_t begin = 0, end = 0;
    std::string colour;    ///< its class
    std::string label;     ///< inside, if there is room
    std::string says;      ///< in full; lines after the first are details
    std::string buffers;   ///< marked together with it; empty: none
    bool is_open = false;  ///< only its frame is drawn
};
struct time_row {
    std::string name;
    std::vector<time_stretch> all;
    bool lower = false;  ///< it belongs to the row above
};

/// Rows of a timeline. What is left out is a dashed line.
struct page_time {
    std::string name;
    std::vector<time_row> rows;
    std::int64_t end = 1;
    std::vector<left_out> breaks{};

    static constexpr double left = 140, right = 12, top = 8, foot = 34, width = 760, high = 24, lower_high = 16;

    std::string str() const {
        double bottom = top;
        for (time_row const& row : rows) bottom += row.lower ? lower_high : high;
        std::string inside = axis(bottom);
        double y = top;
        for (time_row const& row : rows) {
            inside += drawn(row, y);
            y += row.lower ? lower_high : high;
        }
        for (left_out const& one : breaks) {
            std::string const says =
                "Left out: what stands before, " + grouped(one.times) + " times more, " + grouped(one.cycles) + " cycles";
            inside += element("g", {{"class", "break"}, {"data-axis", "x"}},
                              stroke("left-out", x(one.at), top, x(one.at), bottom) + text_element("title", says));
        }
        std::string pieces;
        for (left_out const& one : breaks)
            pieces += (pieces.empty() ? "" : " ") + std::to_string(one.at) + ":" + std::to_string(one.cycles);
        return zoomed_picture("time", name, width, bottom + foot, {left, top, width - right, bottom}, "x",
                              {{"data-end", std::to_string(end)}, {"data-breaks", pieces}}, inside);
    }

  private:
    double x(std::int64_t time) const {
        return left + (width - left - right) * static_cast<double>(time) / static_cast<double>(std::max<std::int64_t>(1, end));
    }
    /// A mark at each round number of cycles that are drawn; there are at most nine.
    std::string axis(double bottom) const {
        std::int64_t step = 1;
        for (int at = 0; end > 8 * step; ++at) step = step / (at % 3 == 1 ? 2 : 1) * (at % 3 == 1 ? 5 : 2);
        noted_timeline const of{{}, breaks, end, true};
        std::vector<axis_mark> marks;
        for (std::int64_t time = 0; time <= end; time += step) marks.push_back({x(time), grouped(of.cycle_at(time))});
        return marked_axis(marks, "x", 64,
                           [&](axis_mark const& m) {
                               double const most = width - letter_width * static_cast<double>(m.text.size()) / 2;
                               return stroke("grid", m.at, top, m.at, bottom + 4) +
                                      word(m.text, std::min(m.at, most), bottom + 16, "middle");
                           }) +
               word("cycles", (left + width - right) / 2, bottom + 30, "middle") + "\n";
    }
    std::string drawn(time_row const& row, double y) const {
        double const tall = (row.lower ? lower_high : high) - 4;
        std::string inside = word(row.name, left - 8, y + tall / 2 + 6, "end", row.lower ? "word lower" : "word");
        for (time_stretch const& one : row.all) {
            double const from = x(one.begin), wide = x(one.end) - from;
            attributes with = rectangle((one.colour + (one.is_open ? " open" : "")).c_str(), from, y + 2, wide, tall);
            if (!one.buffers.empty()) with.emplace_back("data-buffers", one.buffers);
            std::string const words = one.label.empty() || row.lower
                                          ? ""
                                          : word(one.label, from + 4, y + tall / 2 + 6, "start",
                                                 letter_width * static_cast<double>(one.label.size()) + 8 <= wide ? "word" : "word off");
            inside += element("g", {{"class", "job"}}, element("rect", with, text_element("title", one.says)) + words);
        }
        return element("g", {{"class", "lane"}, {"role", "group"}, {"aria-label", row.name}}, inside) + "\n";
    }
};

/// "cycles 128 to 256 (128)"
inline std::string from_to(std::int64_t cycle, std::int64_t length) {
    return "cycles " + grouped(cycle) + " to " + grouped(cycle + length) + " (" + grouped(length) + ")";
}

/// What a plan's cores and channels do when, by the clocks of its prediction. Rows are those of `rows_of`.
class planned_timeline {
  public:
    static constexpr std::size_t most_noted = 2000;  ///< of all cores

    explicit planned_timeline(plan_value const& plan, std::size_t most = most_noted) : plan_(plan) {
        std::size_t const of_core = most / static_cast<std::size_t>(std::max<int>(1, plan.cores));
        all_ = accounts_of(plan, of_core);
        for (int at = 0; at < plan.buffers.size(); ++at) arguments_ += plan.buffers[at].kind == buffer_kind::argument;
        // Cuts that leave out less than half are drawn instead, where there is room.
        std::int64_t cut = 0;
        for (left_out const& one : all_.timeline.breaks) cut += one.cycles;
        if (cut == 0 || 2 * cut >= all_.cycles) return;
        cycle_accounts whole = accounts_of(plan, of_core, visiting::everything);
        if (whole.resolved && whole.timeline.complete) all_ = std::move(whole);
    }

    cycle_accounts const& accounts() const { return all_; }
    noted_timeline const& timeline() const { return all_.timeline; }
    /// Lane -1 is the core's own.
    struct row {
        int core = 0, lane = -1;
        time_row drawn;
    };
    std::vector<row> rows(std::string const& within) const {
        std::vector<row> made;
        machine const& where = *plan_.where;
        for (std::size_t core = 0; core < all_.cores.size(); ++core) {
            std::string const number = all_.cores.size() > 1 ? "core " + std::to_string(core) + ", " : "";
            for (int lane = -1; lane < where.lane_count(); ++lane) {
                if (lane >= 0 && all_.cores[core].channels[static_cast<std::size_t>(lane)].busy == 0) continue;
                std::string const name = lane < 0 ? where.core_at(static_cast<int>(core)).name.str() : lane_name(where, lane);
                made.push_back({static_cast<int>(core), lane, {number + name, {}}});
            }
        }
        for (noted_time const& one : all_.timeline.all) {
            for (row& of : made) {
                if (of.core == one.core && of.lane == one.lane) of.drawn.all.push_back(stretch(one, within));
            }
        }
        return made;
    }

  private:
    time_stretch stretch(noted_time const& one, std::string const& within) const {
        time_stretch made{one.begin, one.end, "", "", "", ""};
        std::string what, help;
        if (one.is == noted_time::kind::job) {
            bool const moves = one.what.on == spent_on::copying || one.what.on == spent_on::asking_copy;
            if (moves) {
                movement const& m = plan_.movements[one.what.position];
                what = plan_.where->transfers[m.transfer].name.str() + " " + plan_.buffers[held_by(m)].name.str();
                show_moved(made, m, within);
            } else {
                what = name_of_body(one);
                made.colour = "computes";
                for (int const at :
                     touched_buffers(plan_, {.kind = step_kind::compute, .what = static_cast<std::int16_t>(one.what.position)}))
                    made.buffers += (made.buffers.empty() ? "" : " ") + within + std::to_string(at);
            }
        } else {
            spent_text const text = text_of(plan_, one.what);
            made.colour = kind_of(plan_, one.what).kind;
            made.is_open = made.colour != time_works.kind;
            what = text.what, help = text.help;
            if (one.what.on == spent_on::copying && !made.is_open) show_moved(made, plan_.movements[one.what.position], within);
            if (one.what.on == spent_on::waiting)
                made.buffers = within + std::to_string(plan_.rings[plan_.waits[one.what.position].ring].buffer);
        }
        made.label = what;
        made.says = what + "\n" + from_to(one.cycle, one.end - one.begin) + (help.empty() ? "" : "\nwhat would help: " + help);
        return made;
    }
    /// The buffer of a transfer that is no argument, if one of them is none.
    int held_by(movement const& m) const { return plan_.buffers[m.destination].kind == buffer_kind::argument ? m.source : m.destination; }
    void show_moved(time_stretch& one, movement const& m, std::string const& within) const {
        one.colour = "hue" + std::to_string((held_by(m) - arguments_ + 8) % 8);
        one.buffers = within + std::to_string(held_by(m));
    }
    std::string name_of_body(noted_time const& one) const {
        body const& b = plan_.bodies[one.what.position];
        auto const& intrinsics = plan_.where->intrinsics;
        std::string const rest = intrinsics[b.intrinsic].name.str();
        return one.begins ? intrinsics[b.first_intrinsic].name.str() + ", " + rest : rest;
    }

    plan_value const& plan_;
    cycle_accounts all_;
    int arguments_ = 0;
};

/// The legend of rows: waits in the order of `legend_of`. Transfers have no part in it.
inline std::string legend_of(std::vector<time_row> const& rows) {
    std::vector<time_kind const*> used;
    for (time_row const& row : rows) {
        for (time_stretch const& one : row.all) {
            for (time_kind const* kind : time_kinds) {
                if (one.colour == kind->kind) used.push_back(kind);
            }
        }
    }
    return legend_of(used);
}

/// How much of a kernel its timeline shows.
inline std::string drawn_text(cycle_accounts const& all) {
    noted_timeline const& of = all.timeline;
    if (!of.complete) return "The first " + grouped(of.cycle_at(of.end)) + " of " + grouped(all.cycles) + " cycles.";
    if (of.breaks.empty()) return "All " + grouped(all.cycles) + " cycles.";
    return grouped(of.end) + " of " + grouped(all.cycles) + " cycles: what repeats is drawn once, and left out at each dashed line.";
}

}  // namespace tilewright::reports
