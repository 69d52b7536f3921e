#pragma once
#include <algorithm>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/core_team.hpp>
#include <tilewright/report/traffic.hpp>

namespace tilewright {
namespace reports {

/// What a plan predicts of one part, and what an emulated machine executed.
struct compared {
    std::string kind;  ///< "transfer", "intrinsic", "code", "caches", "total", "engine" or "elapsed"
    std::string name;
    emulator::count predicted{};
    emulator::count executed{};
    bool counts_calls = true;  ///< otherwise only its cycles mean something
    bool resolved = true;      ///< otherwise the plan has no number to compare with

    bool equal() const {
        return resolved && predicted.calls == executed.calls && predicted.bytes == executed.bytes && predicted.cycles == executed.cycles;
    }
};

/// Cycles that an engine works.
struct engine_cycles {
    label name{};
    std::int64_t planned = 0;
    std::int64_t executed = 0;
};
/// Of each engine of the machine that ran, used or not.
/// @param planned  cycles of an engine of the plan's machine
template <class Planned>
std::vector<engine_cycles> each_engine(plan_value const& plan, machine const& ran, emulation::work_done const& done,
                                       Planned const& planned) {
    std::vector<engine_cycles> all;
    for (int at = 0; at < ran.engines.size(); ++at) {
        int const same = plan.refusal ? -1 : plan.where->engines.find(ran.engines[at].name);
        all.push_back({ran.engines[at].name, same < 0 ? 0 : planned(same), done.busy[at]});
    }
    return all;
}
inline std::vector<engine_cycles> each_engine(plan_value const& plan, machine const& ran, emulation::work_done const& done) {
    return each_engine(plan, ran, done, [&](int engine_at) { return plan.busy_cycles(engine_at); });
}

/// One row for each transfer and intrinsic that is planned or was executed, by name, one for all code, and the total, one after the other;
/// then the cycles that each engine was busy, and those that passed in all.
/// @param ran  the machine that did it
inline std::vector<compared> compare(plan_value const& plan, machine const& ran, emulation::work_done const& done) {
    std::vector<compared> rows;
    auto const row = [&](std::string const& kind, std::string const& name) -> compared& {
        for (compared& found : rows) {
            if (found.name == name && found.kind == kind) return found;
        }
        return rows.emplace_back(compared{kind, name});
    };
    auto const add = [](emulator::count& to, std::int64_t calls, std::int64_t bytes, std::int64_t cycles) {
        to.calls += calls;
        to.bytes += bytes;
        to.cycles += cycles;
    };
    for (work const& w : work_of(plan)) {
        bool const code = w.kind == "code";
        add(row(code ? "code" : w.kind, code ? "code" : w.name).predicted, w.calls, w.bytes, w.cycles);
    }
    for (int at = 0; at < ran.transfers.size(); ++at) row("transfer", ran.transfers[at].name.str()).executed = done.calls.transfers[at];
    for (int at = 0; at < ran.intrinsics.size(); ++at) row("intrinsic", ran.intrinsics[at].name.str()).executed = done.calls.intrinsics[at];
    row("code", "code").executed = done.calls.code;
    row("caches", "caches").executed = done.calls.upkeep;
    std::erase_if(rows, [](reports::compared const& r) { return r.predicted.calls == 0 && r.executed.calls == 0; });
    compared total{"total", "total"};
    for (compared const& r : rows) {
        add(total.predicted, r.predicted.calls, r.predicted.bytes, 0);
        add(total.executed, r.executed.calls, r.executed.bytes, 0);
    }
    total.predicted.cycles = plan.refusal ? 0 : plan.total_cycles;
    total.executed.cycles = done.calls.serial_cycles();
    rows.push_back(total);
    for (engine_cycles const& e : each_engine(plan, ran, done)) {
        if (e.planned == 0 && e.executed == 0) continue;
        rows.push_back({"engine", e.name.str() + ", busy", {.cycles = e.planned}, {.cycles = e.executed}, false});
    }
    compared elapsed{"elapsed", "elapsed", {}, {}, false};
    prediction const found = predict(plan);
    elapsed.predicted.cycles = found.cycles;
    elapsed.resolved = found.resolved || plan.refusal;
    elapsed.executed.cycles = done.cycles;
    rows.push_back(elapsed);
    return rows;
}
/// Of all that an emulator did since it was reset.
inline std::vector<compared> compare(plan_value const& plan, emulator const& after) { return compare(plan, after.what(), after.done()); }
/// Likewise all cores of a team: of each part the calls of all, and the cycles until the last one was ready.
inline std::vector<compared> compare(plan_value const& plan, core_team const& after) {
    return compare(plan, after.on(0).what(), after.done());
}

/// "equal", "DIFFERENT", or "unresolved"
inline char const* verdict_of(compared const& r) { return r.equal() ? "equal" : r.resolved ? "DIFFERENT" : "unresolved"; }

inline bool all_agree(plan_value const& plan, std::vector<compared> const& rows, std::string const& error) {
    return !plan.refusal && error.empty() && std::all_of(rows.begin(), rows.end(), [](compared const& r) { return r.equal(); });
}
inline std::string comparison_text(std::vector<compared> const& rows, std::string const& error) {
    using enum table::side;
    table text({left, right, right, right, right, right, right, left});
    text.add({"", "calls", "", "bytes", "", "cycles"});
    text.add({"part", "planned", "executed", "planned", "executed", "planned", "executed"});
    for (compared const& r : rows) {
        auto const counted = [&](std::int64_t value) { return r.counts_calls ? grouped(value) : std::string(); };
        text.add({r.name, counted(r.predicted.calls), counted(r.executed.calls), counted(r.predicted.bytes), counted(r.executed.bytes),
                  r.resolved ? grouped(r.predicted.cycles) : "unresolved", grouped(r.executed.cycles), verdict_of(r)});
    }
    return text.str() + (error.empty() ? "" : "the machine refused: " + error + "\n");
}

}  // namespace reports

/// Whether one run of the kernel, since the emulator was reset, did exactly what the plan predicts. False after a refusal or an error.
inline bool agrees(plan_value const& plan, emulator const& after) {
    return reports::all_agree(plan, reports::compare(plan, after), after.error());
}
inline bool agrees(plan_value const& plan, core_team const& after) {
    return reports::all_agree(plan, reports::compare(plan, after), after.error());
}

/// A table of predicted against executed calls, bytes and cycles; every row says whether they are equal. For one run since the emulator was
/// reset. `total` is what all parts take one after the other, `elapsed` the cycles that pass while engines work side by side.
inline std::string comparison(plan_value const& plan, emulator const& after) {
    return plan.refusal ? reports::refused_text(plan) : reports::comparison_text(reports::compare(plan, after), after.error());
}
/// Likewise of several cores: calls, bytes and the cycles of parts are those of all of them together.
inline std::string comparison(plan_value const& plan, core_team const& after) {
    return plan.refusal ? reports::refused_text(plan) : reports::comparison_text(reports::compare(plan, after), after.error());
}

}  // namespace tilewright
