#pragma once
#include <map>
#include <span>
#include <stdexcept>
#include <tilewright/plan/check/core_shares.hpp>
#include <tilewright/report/comparison.hpp>
#include <tilewright/report/plan_report.hpp>

// A run of a kernel on the emulated machine as values: what was executed, beside what the plan predicts.
namespace tilewright::reports {

/// Cycles of a plan, and of a run.
struct reported_cycles {
    std::optional<std::int64_t> planned{};  ///< none: not resolved
    std::int64_t executed = 0;
};
/// A transfer, an intrinsic, all code, or the caches: what all cores together do with it.
struct reported_part {
    std::string kind;  ///< "transfer", "intrinsic", "code", "caches"
    std::string name;
    emulator::count planned{}, executed{};
    bool equal = false;
};
struct reported_engine {
    label name{};
    reported_cycles busy{};  ///< of all its channels
};
/// What a core waited for: an engine, "barrier", another core.
struct reported_wait {
    label on{};
    std::int64_t times = 0;
    std::int64_t cycles = 0;
};
/// A core, and what it gave its engines to do.
struct reported_core {
    int core = 0;
    label name{};
    std::int64_t cycles = 0;         ///< until it and its engines were ready
    std::int64_t serial_cycles = 0;  ///< one after the other
    std::vector<reported_engine> engines{};
    std::vector<work> executed{};                       ///< of the parts of its machine that it used
    std::optional<std::vector<reported_wait>> waits{};  ///< the longest first; none: nothing was recorded
};
/// A run of a kernel since the emulator was reset.
struct run_report {
    label machine{};
    std::int32_t result = 0;  ///< of the kernel: 0, or the code of the first call that failed
    std::optional<std::string> error{};
    bool agrees = false;  ///< whether it did exactly what the plan predicts
    reported_cycles cycles{};
    reported_cycles serial_cycles{};
    std::vector<reported_part> parts{};
    std::vector<reported_engine> engines{};   ///< of all cores together
    std::vector<reported_memory> memories{};  ///< peaks are those of the plan
    std::vector<reported_core> cores{};
};

inline std::vector<reported_wait> waits_of(std::span<recorded_job const> jobs) {
    std::map<std::string, reported_wait> by_name;
    for (recorded_job const& job : jobs) {
        if (job.kind != job_kind::wait || job.end == job.begin) continue;
        reported_wait& one = by_name[job.name.str()];
        one = {job.name, one.times + 1, one.cycles + job.end - job.begin};
    }
    std::vector<reported_wait> all;
    for (auto const& [name, one] : by_name) all.push_back(one);
    std::stable_sort(all.begin(), all.end(), [](reported_wait const& a, reported_wait const& b) { return a.cycles > b.cycles; });
    return all;
}

/// Cycles that a core has an engine work.
inline std::int64_t planned_share(plan_value const& plan, int engine_at, int core) {
    return plan.cores > 1 ? tilewright::detail::share_of_core(plan, engine_at, core) : plan.busy_cycles(engine_at);
}
template <class... Planned>
std::vector<reported_engine> engines_of(plan_value const& plan, machine const& ran, emulation::work_done const& done,
                                        Planned const&... planned) {
    std::vector<reported_engine> all;
    for (engine_cycles const& e : each_engine(plan, ran, done, planned...)) all.push_back({e.name, {e.planned, e.executed}});
    return all;
}
/// @param done  by that core, in the run
/// @param jobs  that were recorded meanwhile
inline reported_core core_of(plan_value const& plan, emulator const& by, emulation::work_done const& done,
                             std::span<recorded_job const> jobs) {
    machine const& ran = by.what();
    reported_core one{
        .core = by.core(), .name = ran.core_at(by.core()).name, .cycles = done.cycles, .serial_cycles = done.calls.serial_cycles()};
    one.engines = engines_of(plan, ran, done, [&](int engine_at) { return planned_share(plan, engine_at, by.core()); });
    auto const add = [&](char const* kind, std::string const& name, std::string const& on, emulator::count const& did) {
        if (did.calls > 0) one.executed.push_back({kind, name, on, did.calls, did.bytes, did.cycles});
    };
    for (int at = 0; at < ran.transfers.size(); ++at)
        add("transfer", ran.transfers[at].name.str(), ran.transfers[at].engine_name.str(), done.calls.transfers[at]);
    for (int at = 0; at < ran.intrinsics.size(); ++at)
        add("intrinsic", ran.intrinsics[at].name.str(), ran.intrinsics[at].engine_name.str(), done.calls.intrinsics[at]);
    add("code", "code", one.name.str(), done.calls.code);
    add("caches", "caches", one.name.str(), done.calls.upkeep);
    if (!jobs.empty()) one.waits = waits_of(jobs);
    return one;
}
inline reported_core core_of(plan_value const& plan, emulator const& after) { return core_of(plan, after, after.done(), after.recorded()); }

/// All but the cores.
inline run_report run_of(plan_value const& plan, machine const& ran, emulation::work_done const& done, std::int32_t result,
                         std::string const& error) {
    if (plan.refusal) throw std::invalid_argument("a plan that was refused has no run: " + to_string(plan.refusal));
    run_report report{.machine = ran.name, .result = result};
    if (!error.empty()) report.error = error;
    std::vector<compared> const rows = compare(plan, ran, done);
    report.agrees = result == 0 && all_agree(plan, rows, error);
    for (compared const& r : rows) {
        reported_cycles const both{r.resolved ? std::optional(r.predicted.cycles) : std::nullopt, r.executed.cycles};
        if (r.kind == "total") report.serial_cycles = both;
        else if (r.kind == "elapsed") report.cycles = both;
        else if (r.kind != "engine") report.parts.push_back({r.kind, r.name, r.predicted, r.executed, r.equal()});
    }
    report.engines = engines_of(plan, ran, done);
    report.memories = report_of(plan).memories;
    return report;
}
inline run_report report_of(plan_value const& plan, emulator const& after) {
    run_report report = run_of(plan, after.what(), after.done(), after.error_code(), after.error());
    report.cores.push_back(core_of(plan, after));
    return report;
}
inline run_report report_of(plan_value const& plan, core_team const& after) {
    run_report report = run_of(plan, after.on(0).what(), after.done(), after.failure(), after.error());
    for (int core = 0; core < after.size(); ++core) report.cores.push_back(core_of(plan, after.on(core)));
    return report;
}

}  // namespace tilewright::reports

BOOST_HANA_ADAPT_STRUCT(tilewright::emulation::call_count, calls, bytes, cycles);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_cycles, planned, executed);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_part, kind, name, planned, executed, equal);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_engine, name, busy);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_wait, on, times, cycles);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_core, core, name, cycles, serial_cycles, engines, executed, waits);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::run_report, machine, result, error, agrees, cycles, serial_cycles, parts, engines, memories,
                        cores);

namespace tilewright {

/// A run of a kernel since the emulator was reset as one line of JSON, beside what the plan predicts: the members of `reports::run_report`.
/// What cores waited for is there if `record()` was called before the run.
///
/// @throws std::invalid_argument when the plan was refused
/// @throws bad_query when extents are left to run time
inline std::string to_json(plan_value const& plan, emulator const& after) { return to_json(reports::report_of(plan, after)); }
/// Likewise of several cores.
inline std::string to_json(plan_value const& plan, core_team const& after) { return to_json(reports::report_of(plan, after)); }

}  // namespace tilewright
