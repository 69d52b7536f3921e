#pragma once
#include <map>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/emulator.hpp>
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

/// What a lane of the timeline shows: a letter for everything of one name that goes to or from one buffer.
inline std::string shown_name(recorded_job const& job) {
    if (job.kind == job_kind::wait) return "wait for " + job.name.str();
    return job.buffer.empty() ? job.name.str() : job.name.str() + " " + job.buffer.str();
}

}  // namespace reports
}  // namespace tilewright

BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_details, complete, bytes, buffer, tag);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_job, name, cat, ph, pid, tid, ts, dur, args);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_thread_name, name);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::trace_thread, name, ph, pid, tid, args);

namespace tilewright {

/// What was recorded since the emulator was reset, in the Trace Event Format: a thread for each channel of each engine and, last, one for
/// the core.
///
/// Opens in ui.perfetto.dev and chrome://tracing; a cycle is shown as a microsecond. A job is as long as it occupies its engine; `complete`
/// is the cycle in which it is complete, a `latency` later.
inline std::string chrome_trace(emulator const& after) {
    machine const& ran = after.what();
    int const core_at = ran.lane_count();
    std::string text = R"({"displayTimeUnit":"ms","traceEvents":[)";
    for (int at = 0; at <= core_at; ++at) {
        if (at > 0) text += ',';
        text +=
            to_json(reports::trace_thread{.tid = at + 1, .args = {at < core_at ? emulation::lane_name(ran, at) : ran.host().name.str()}});
    }
    for (recorded_job const& job : after.recorded()) {
        text += ',';
        text += to_json(reports::trace_job{.name = reports::shown_name(job),
                                           .cat = name_of(job.kind),
                                           .tid = (job.engine < 0 ? core_at : ran.first_lane(job.engine) + job.channel) + 1,
                                           .ts = job.begin,
                                           .dur = job.end - job.begin,
                                           .args = {job.complete, job.bytes, job.buffer.str(), job.tag}});
    }
    return text + "]}\n";
}

/// What was recorded since the emulator was reset, as text: a lane for each channel of each engine and, last, one for the core.
///
/// ```
/// 120 cycles, 10 a column
/// loader   |AAABB.......|  41.7 %
/// channel  |......EEEEE.|  37.5 %
/// array    |......D.....|   4.2 %
/// host     |CC....F.....|  16.7 %
///
/// A load x   B load y   C code   D add   E store y   F copy ``` A column shows what occupies it longest, if that is half of it or more;
/// `:` is less than that, `.` is nothing. Waits are not shown. The figure after a lane is the share of all cycles in which it was busy.
/// @param width most columns
inline std::string timeline(emulator const& after, std::int64_t width = 64) {
    machine const& ran = after.what();
    std::int64_t const cycles = after.cycles();
    if (after.recorded().empty() || cycles <= 0) return "nothing was recorded: call record() on the emulator before the kernel\n";
    std::int64_t const columns = std::min(std::max<std::int64_t>(width, 1), cycles);
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#";
    std::vector<std::string> names;
    std::size_t const lanes = static_cast<std::size_t>(ran.lane_count()) + 1;
    auto const first_cycle = [&](std::int64_t column) { return column * cycles / columns; };
    // Of every lane and column: cycles by letter.
    std::vector<std::vector<std::map<std::size_t, std::int64_t>>> occupied(
        lanes, std::vector<std::map<std::size_t, std::int64_t>>(static_cast<std::size_t>(columns)));
    std::vector<std::int64_t> busy(lanes);
    for (recorded_job const& job : after.recorded()) {
        if (job.kind == job_kind::wait) continue;
        std::string const name = reports::shown_name(job);
        std::size_t const which = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        if (which == names.size()) names.push_back(name);
        std::size_t const letter = std::min(which, letters.size() - 1);
        std::size_t const lane = job.engine < 0 ? lanes - 1 : static_cast<std::size_t>(ran.first_lane(job.engine) + job.channel);
        busy[lane] += job.end - job.begin;
        for (std::int64_t column = job.begin * columns / cycles; column < columns && first_cycle(column) < job.end; ++column) {
            std::int64_t const shared = std::min(job.end, first_cycle(column + 1)) - std::max(job.begin, first_cycle(column));
            if (shared > 0) occupied[lane][column][letter] += shared;
        }
    }
    std::string text = reports::grouped(cycles) + " cycles, ";
    text += cycles % columns == 0 ? reports::grouped(cycles / columns) + " a column\n" : std::to_string(columns) + " columns\n";
    using enum reports::table::side;
    reports::table rows({left, left, right});
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        std::string drawn;
        for (std::int64_t column = 0; column < columns; ++column) {
            std::size_t longest = 0;
            std::int64_t most = 0;
            for (auto const& [letter, share] : occupied[lane][column]) {
                if (share > most) longest = letter, most = share;
            }
            bool const half = 2 * most >= first_cycle(column + 1) - first_cycle(column);
            drawn += most == 0 ? '.' : half ? letters[longest] : ':';
        }
        std::string const name = lane + 1 < lanes ? emulation::lane_name(ran, static_cast<int>(lane)) : ran.host().name.str();
        rows.add({name, "|" + drawn + "|", reports::percent(busy[lane], cycles)});
    }
    text += rows.str() + '\n';
    for (std::size_t which = 0; which < names.size(); ++which) {
        text += (which == 0 ? "" : "   ");
        text += which + 1 < letters.size() ? letters[which] : letters.back();
        text += ' ' + names[which];
    }
    return text + '\n';
}

}  // namespace tilewright
