#pragma once
#include <map>
#include <span>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/report/json.hpp>
#include <tilewright/report/table.hpp>

namespace tilewright {
namespace reports {

/// Something done, as Perfetto and chrome://tracing read it. A cycle is shown as a microsecond.
struct trace_details {
    std::int64_t complete = 0;  ///< the cycle
    std::int64_t bytes = 0;
    std::string buffer;
    std::int64_t tag = -1;
};
struct trace_job {
    std::string name, cat, ph = "X";
    int pid = 1, tid = 1;
    std::int64_t ts = 0, dur = 0;
    trace_details args;
};
struct trace_thread_name {
    std::string name;
};
struct trace_thread {
    std::string name = "thread_name", ph = "M";
    int pid = 1, tid = 1;
    trace_thread_name args;
};

struct trace_process {
    std::string name = "process_name", ph = "M";
    int pid = 1;
    trace_thread_name args;
};

/// What a lane of the timeline shows: a letter for everything of one name that goes to or from one buffer.
inline std::string shown_name(recorded_job const& job) {
    if (job.kind == job_kind::wait) return "wait for " + job.name.str();
    return job.buffer.empty() ? job.name.str() : job.name.str() + " " + job.buffer.str();
}

/// What an engine's channel, or a core, did: waits are those of a core.
struct timeline_lane {
    std::string name;
    std::vector<recorded_job> jobs;
    bool of_core = false;
};

/// A lane for each channel of each engine and, last, one for the core; `prefix` stands in front of their names.
/// @param jobs  that an emulator has recorded
inline std::vector<timeline_lane> lanes_of(emulator const& after, std::span<recorded_job const> jobs, std::string const& prefix = "") {
    machine const& ran = after.what();
    int const core_at = ran.lane_count();
    std::vector<timeline_lane> lanes;
    for (int at = 0; at < core_at; ++at) lanes.push_back({prefix + lane_name(ran, at), {}});
    lanes.push_back({prefix + ran.core_at(after.core()).name.str(), {}, true});
    for (recorded_job const& job : jobs)
        lanes[static_cast<std::size_t>(job.engine < 0 ? core_at : ran.first_lane(job.engine) + job.channel)].jobs.push_back(job);
    return lanes;
}
inline std::vector<timeline_lane> lanes_of(emulator const& after, std::string const& prefix = "") {
    return lanes_of(after, after.recorded(), prefix);
}

/// One picture of lanes, and what each core waited for.
class drawn_timeline {
  public:
    /// @param width most columns
    drawn_timeline(std::vector<timeline_lane> const& lanes, std::int64_t cycles, std::int64_t width)
        : cycles_(cycles), columns_(std::min(std::max<std::int64_t>(width, 1), cycles)) {
        for (timeline_lane const& lane : lanes) add(lane);
    }
    std::string str() const {
        std::string text = grouped(cycles_) + " cycles, ";
        text += cycles_ % columns_ == 0 ? grouped(cycles_ / columns_) + " a column\n" : std::to_string(columns_) + " columns\n";
        text += rows_.str() + '\n';
        for (int which = 0; which < std::ssize(names_); ++which)
            text += (which == 0 ? "" : "   ") + std::string(1, letter_of(which)) + ' ' + names_[static_cast<std::size_t>(which)];
        return text + '\n' + waits_;
    }

  private:
    static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#";
    static char letter_of(std::ptrdiff_t which) {
        return letters[static_cast<std::size_t>(std::min<std::ptrdiff_t>(which, std::ssize(letters) - 1))];
    }
    std::int64_t first_cycle(std::int64_t column) const { return column * cycles_ / columns_; }
    /// The letter of a job's name, the next one where it has none yet. A wait has none.
    char letter_for(recorded_job const& job) {
        if (job.kind == job_kind::wait) return '-';
        auto const found = std::find(names_.begin(), names_.end(), shown_name(job));
        std::ptrdiff_t const which = found - names_.begin();
        if (found == names_.end()) names_.push_back(shown_name(job));
        return letter_of(which);
    }
    void add(timeline_lane const& lane) {
        std::vector<std::map<char, std::int64_t>> occupied(static_cast<std::size_t>(columns_));
        std::int64_t busy = 0;
        std::map<std::string, std::int64_t> waits;
        for (recorded_job const& job : lane.jobs) {
            char const letter = letter_for(job);
            (job.kind == job_kind::wait ? waits[job.name.str()] : busy) += job.end - job.begin;
            for (std::int64_t column = job.begin * columns_ / cycles_; column < columns_ && first_cycle(column) < job.end; ++column) {
                std::int64_t const shared = std::min(job.end, first_cycle(column + 1)) - std::max(job.begin, first_cycle(column));
                if (shared > 0) occupied[static_cast<std::size_t>(column)][letter] += shared;
            }
        }
        std::string drawn;
        for (std::int64_t column = 0; column < columns_; ++column) {
            char longest = '.';
            std::int64_t most = 0;
            for (auto const& [letter, share] : occupied[static_cast<std::size_t>(column)]) {
                if (share > most || (share == most && longest == '-')) longest = letter, most = share;
            }
            drawn += most == 0 || 2 * most >= first_cycle(column + 1) - first_cycle(column) ? longest : ':';
        }
        rows_.add({lane.name, "|" + drawn + "|", percent(busy, cycles_)});
        if (waits.empty()) return;
        waits_ += lane.name + " waits:";
        for (char const* comma = " "; auto const& [what, waited] : waits) {
            waits_ += comma + grouped(waited) + " cycles for " + what;
            comma = ", ";
        }
        waits_ += '\n';
    }

    std::int64_t cycles_, columns_;
    std::vector<std::string> names_;
    table rows_{{table::side::left, table::side::left, table::side::right}};
    std::string waits_;
};

}  // namespace reports
}  // namespace tilewright

BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_details, complete, bytes, buffer, tag);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_job, name, cat, ph, pid, tid, ts, dur, args);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_thread_name, name);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_thread, name, ph, pid, tid, args);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_process, name, ph, pid, args);

namespace tilewright {
namespace reports {

/// The events of one core, and of the engines that it starts: a thread for each lane.
inline std::string trace_events(std::vector<timeline_lane> const& lanes, int process) {
    std::string text, jobs;
    for (int at = 0; at < std::ssize(lanes); ++at) {
        timeline_lane const& lane = lanes[static_cast<std::size_t>(at)];
        text += (at > 0 ? "," : "") + to_json(trace_thread{.pid = process, .tid = at + 1, .args = {lane.name}});
        for (recorded_job const& job : lane.jobs) {
            jobs += ',' + to_json(trace_job{.name = shown_name(job),
                                            .cat = name_of(job.kind),
                                            .pid = process,
                                            .tid = at + 1,
                                            .ts = job.begin,
                                            .dur = job.end - job.begin,
                                            .args = {job.complete, job.bytes, job.buffer.str(), job.tag}});
        }
    }
    return text + jobs;
}
inline std::string trace_of(std::string const& events) { return R"({"displayTimeUnit":"ms","traceEvents":[)" + events + "]}\n"; }

}  // namespace reports

/// What was recorded since the emulator was reset, in the Trace Event Format: a thread for each channel of each engine and, last, one for
/// the core.
///
/// Opens in ui.perfetto.dev and chrome://tracing; a cycle is shown as a microsecond. A job is as long as it occupies its engine; `complete`
/// is the cycle in which it is complete, a `latency` later.
inline std::string chrome_trace(emulator const& after) { return reports::trace_of(reports::trace_events(reports::lanes_of(after), 1)); }

/// Likewise of all cores: a process for each, called by its number.
inline std::string chrome_trace(core_team const& after) {
    std::string events;
    for (int core = 0; core < after.size(); ++core) {
        events += (core > 0 ? "," : "") + to_json(reports::trace_process{.pid = core + 1, .args = {"core " + std::to_string(core)}});
        events += ',' + reports::trace_events(reports::lanes_of(after.on(core)), core + 1);
    }
    return reports::trace_of(events);
}

/// What was recorded since the emulator was reset, as text: a lane for each channel of each engine and, last, one for the core.
///
/// ```
/// 120 cycles, 10 a column
/// loader   |AAABB.......|  41.7 %
/// channel  |......CCCCC.|  37.5 %
/// array    |......D.....|   4.2 %
/// host     |EE----F.....|  16.7 %
///
/// A load x   B load y   C store y   D add   E code   F copy
/// host waits: 50 cycles for channel, 45 cycles for loader
/// ```
/// A column shows what occupies it longest, if that is half of it or more; `-` is a wait, `:` is less than half, `.` is nothing. The figure
/// after a lane is the share of all cycles in which it was busy.
/// @param width most columns
inline std::string timeline(emulator const& after, std::int64_t width = 64) {
    if (after.recorded().empty() || after.cycles() <= 0) return "nothing was recorded: call record() on the emulator before the kernel\n";
    return reports::drawn_timeline(reports::lanes_of(after), after.cycles(), width).str();
}

/// Likewise of all cores, one after the other on one axis of time. An engine that cores share stands at the core that started its jobs.
inline std::string timeline(core_team const& after, std::int64_t width = 64) {
    std::vector<reports::timeline_lane> all;
    bool recorded = false;
    for (int core = 0; core < after.size(); ++core) {
        for (reports::timeline_lane& lane : reports::lanes_of(after.on(core), std::to_string(core) + " ")) {
            recorded = recorded || !lane.jobs.empty();
            if (lane.of_core || !lane.jobs.empty()) all.push_back(std::move(lane));
        }
    }
    if (!recorded || after.cycles() <= 0) return "nothing was recorded: call record() on the team before the kernel\n";
    return reports::drawn_timeline(all, after.cycles(), width).str();
}

}  // namespace tilewright
