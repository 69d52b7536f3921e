#pragma once
#include <algorithm>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/emulator.hpp>
#include <tilewright/report/traffic.hpp>

namespace tilewright {
namespace reports {

/// What a plan predicts of one part, and what an emulated machine executed.
struct compared {
    std::string name;
    emulator::count predicted{};
    emulator::count executed{};
    bool counts_calls = true;  ///< otherwise only its cycles mean something
    bool resolved = true;      ///< otherwise the plan has no number to compare with

    bool equal() const {
        return resolved && predicted.calls == executed.calls && predicted.bytes == executed.bytes && predicted.cycles == executed.cycles;
    }
};

/// One row for each transfer and intrinsic that is planned or was executed, by name, one for all code, and the total, one after the other;
/// then the cycles that each engine was busy, and those that passed in all.
/// @param ran  the machine that did it
inline std::vector<compared> compare(plan_value const& plan, machine const& ran, emulation::work_done const& done) {
    std::vector<compared> rows;
    std::vector<std::string> kinds;
    auto const row = [&](std::string const& kind, std::string const& name) -> compared& {
        for (std::size_t at = 0; at < rows.size(); ++at) {
            if (rows[at].name == name && kinds[at] == kind) return rows[at];
        }
        kinds.push_back(kind);
        return rows.emplace_back(compared{name});
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
    for (int at = 0; at < ran.transfers.size(); ++at)
        row("transfer", ran.transfers[at].name.str()).executed = done.calls.transfers[static_cast<std::size_t>(at)];
    for (int at = 0; at < ran.intrinsics.size(); ++at)
        row("intrinsic", ran.intrinsics[at].name.str()).executed = done.calls.intrinsics[static_cast<std::size_t>(at)];
    row("code", "code").executed = done.calls.code;
    row("caches", "caches").executed = done.calls.upkeep;
    std::erase_if(rows, [](reports::compared const& r) { return r.predicted.calls == 0 && r.executed.calls == 0; });
    compared total{"total"};
    for (compared const& r : rows) {
        add(total.predicted, r.predicted.calls, r.predicted.bytes, 0);
        add(total.executed, r.executed.calls, r.executed.bytes, 0);
    }
    total.predicted.cycles = plan.refusal ? 0 : plan.total_cycles;
    total.executed.cycles = done.calls.serial_cycles();
    rows.push_back(total);
    for (int at = 0; at < ran.engines.size(); ++at) {
        int const planned = plan.refusal ? -1 : plan.where->engines.find(ran.engines[at].name);
        compared busy{ran.engines[at].name.str() + ", busy", {}, {}, false};
        busy.predicted.cycles = planned < 0 ? 0 : plan.busy_cycles(planned);
        busy.executed.cycles = done.busy[static_cast<std::size_t>(at)];
        if (busy.predicted.cycles != 0 || busy.executed.cycles != 0) rows.push_back(busy);
    }
    compared elapsed{"elapsed", {}, {}, false};
    prediction const found = predict(plan);
    elapsed.predicted.cycles = found.cycles;
    elapsed.resolved = found.resolved || plan.refusal;
    elapsed.executed.cycles = done.cycles;
    rows.push_back(elapsed);
    return rows;
}
/// Of all that an emulator did since it was reset.
inline std::vector<compared> compare(plan_value const& plan, emulator const& after) { return compare(plan, after.what(), after.done()); }

}  // namespace reports

/// Whether one run of the kernel, since the emulator was reset, did exactly what the plan predicts. False after a refusal or an error.
inline bool agrees(plan_value const& plan, emulator const& after) {
    auto const rows = reports::compare(plan, after);
    return !plan.refusal && after.error().empty() &&
           std::all_of(rows.begin(), rows.end(), [](reports::compared const& r) { return r.equal(); });
}

/// A table of predicted against executed calls, bytes and cycles; every row says whether they are equal. For one run since the emulator was
/// reset. `total` is what all parts take one after the other, `elapsed` the cycles that pass while engines work side by side.
inline std::string comparison(plan_value const& plan, emulator const& after) {
    using namespace reports;
    if (plan.refusal) return refused_text(plan);
    using enum table::side;
    table text({left, right, right, right, right, right, right, left});
    text.add({"", "calls", "", "bytes", "", "cycles"});
    text.add({"part", "planned", "executed", "planned", "executed", "planned", "executed"});
    for (compared const& r : compare(plan, after)) {
        auto const counted = [&](std::int64_t value) { return r.counts_calls ? grouped(value) : std::string(); };
        text.add({r.name, counted(r.predicted.calls), counted(r.executed.calls), counted(r.predicted.bytes), counted(r.executed.bytes),
                  r.resolved ? grouped(r.predicted.cycles) : "unresolved", grouped(r.executed.cycles),
                  r.equal()    ? "equal"
                  : r.resolved ? "DIFFERENT"
                               : "unresolved"});
    }
    return text.str() + (after.error().empty() ? "" : "the machine refused: " + after.error() + "\n");
}

}  // namespace tilewright
