#pragma once
#include <optional>
#include <tilewright/base/label_text.hpp>
#include <tilewright/plan/check/prediction.hpp>
#include <tilewright/report/refused.hpp>
#include <tilewright/report/table.hpp>

namespace tilewright {
namespace reports {

using namespace ir;

/// What one part of a machine does in one run of a kernel.
struct work {
    std::string
        kind;  ///< "transfer", "intrinsic", "code": the loops of one stage that stay code, or "caches": what is cleaned or invalidated
    std::string name;        ///< of the transfer or intrinsic; of the tensor that the stage computes
    std::string on;          ///< the engine, or the core
    std::int64_t calls = 0;  ///< code: loop nests that are run; a whole reduction is two, its identity and its sum
    std::int64_t bytes = 0;  ///< at the destinations of a transfer
    std::int64_t cycles = 0;
};

/// The work that a plan predicts: of every transfer and intrinsic of the machine, used or not, then of the stages that have code.
inline std::vector<work> work_of(plan_value const& plan) {
    std::vector<work> all;
    if (plan.refusal) return all;
    machine const& where = *plan.where;
    for (int at = 0; at < where.transfers.size(); ++at)
        all.push_back({"transfer", where.transfers[at].name.str(), where.transfers[at].engine_name.str()});
    for (int at = 0; at < where.intrinsics.size(); ++at)
        all.push_back({"intrinsic", where.intrinsics[at].name.str(), where.intrinsics[at].engine_name.str()});
    auto const intrinsics = static_cast<std::size_t>(where.transfers.size()), code = all.size();
    for (int at = 0; at < plan.stages.size(); ++at) all.push_back({"code", plan.stages[at].output.str(), where.host().name.str()});
    std::size_t const caches = all.size();
    all.push_back({"caches", "caches", where.host().name.str()});
    plan.walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        auto const add = [&](std::size_t row, std::int64_t calls, std::int64_t bytes, std::int64_t cycles) {
            all[row].calls += calls;
            all[row].bytes += bytes;
            all[row].cycles += cycles;
        };
        if (s.kind == step_kind::start) {
            tally const moved = plan.total_of(s, times, first_times);
            movement const& m = plan.movements[s.what];
            if (m.transfer >= 0) return add(static_cast<std::size_t>(m.transfer), times, moved.bytes, moved.cycles);
            return add(code + static_cast<std::size_t>(plan.stage_of(m.border)), times, 0, moved.cycles);
        }
        if (is_upkeep(s.kind)) {
            tally const kept = plan.total_of(s, times, first_times);
            return add(caches, kept.times * plan.upkeep_calls(plan.upkeeps[s.what]), 0, kept.cycles);
        }
        if (s.kind != step_kind::compute) return;
        body const& b = plan.bodies[s.what];
        tally const done = plan.total_of(s, times, first_times);
        if (b.kind != body_kind::intrinsic)
            return add(code + static_cast<std::size_t>(b.stage), b.kind == body_kind::reduction ? 2 * times : times, 0, done.cycles);
        std::int64_t const first = b.first_intrinsic >= 0 ? first_times : 0;
        add(intrinsics + static_cast<std::size_t>(b.intrinsic), times - first, 0, done.cycles - done.first_cycles);
        if (first > 0) add(intrinsics + static_cast<std::size_t>(b.first_intrinsic), first, 0, done.first_cycles);
    });
    std::erase_if(all, [](work const& w) { return (w.kind == "code" || w.kind == "caches") && w.calls == 0; });
    return all;
}

/// Cycles that an engine works, all its channels together, or the core.
struct occupation {
    std::string name;
    std::int64_t busy = 0;
    int channels = 1;  ///< that work side by side; of what each core has of its own, those of all cores

    /// What it takes at least: its channels share the work.
    std::int64_t least() const { return (busy + channels - 1) / channels; }
};

/// Of every engine of the machine in its order, used or not, then of the core.
inline std::vector<occupation> occupations_of(plan_value const& plan) {
    std::vector<occupation> all;
    if (plan.refusal) return all;
    for (int at = 0; at < plan.where->engines.size(); ++at)
        all.push_back({plan.where->engines[at].name.str(), plan.busy_cycles(at),
                       plan.where->channels_of(at) * (plan.where->engines[at].per_core ? plan.cores : 1)});
    if (!plan.where->has_unlike_cores()) all.push_back({plan.where->host().name.str(), plan.busy_cycles(-1), plan.cores});
    for (int kind = 0; kind < plan.where->cores.size() && plan.where->has_unlike_cores(); ++kind) {
        int const first = plan.where->first_core(kind), end = std::min<int>(plan.where->first_core(kind + 1), plan.cores);
        occupation of{plan.where->cores[kind].name.str(), 0, end - first};
        for (int core = first; core < end; ++core) of.busy += plan.cores > 1 ? detail::share_of_core(plan, -1, core) : plan.busy_cycles(-1);
        if (end > first) all.push_back(of);
    }
    return all;
}

/// The busiest: no order of the same work is faster.
inline occupation bound_of(plan_value const& plan) {
    occupation most;
    for (occupation const& one : occupations_of(plan)) {
        if (one.least() > most.least()) most = one;
    }
    return most;
}

/// Those that are predicted; none where they are not resolved.
inline std::optional<std::int64_t> predicted_cycles(plan_value const& plan) {
    prediction const found = predict(plan);
    return found.resolved ? std::optional(found.cycles) : std::nullopt;
}
/// "12,345", or "unresolved, at least 12,000" of what has such a bound.
inline std::string cycles_text(std::optional<std::int64_t> cycles, std::int64_t bound) {
    return cycles ? grouped(*cycles) : "unresolved, at least " + grouped(bound);
}

/// A ratio with two decimals, rounded: "1.76". "-" to nothing.
inline std::string ratio(std::int64_t part, std::int64_t whole) {
    if (whole <= 0) return "-";
    auto const hundredths = static_cast<std::int64_t>(100.0 * static_cast<double>(part) / static_cast<double>(whole) + 0.5);
    std::string const rest = std::to_string(hundredths % 100);
    return grouped(hundredths / 100) + (rest.size() < 2 ? ".0" : ".") + rest;
}

/// "dma", or "dma, 4 channels".
inline std::string name_with_channels(occupation const& one) {
    return one.name + (one.channels > 1 ? ", " + std::to_string(one.channels) + " channels" : "");
}
/// ", 1.76 times the bound of 524,288 (array)"; empty where nothing works.
inline std::string times_the_bound(std::int64_t predicted, occupation const& bound) {
    if (bound.busy == 0) return "";
    return ", " + ratio(predicted, bound.least()) + " times the bound of " + grouped(bound.least()) + " (" + bound.name + ")";
}

}  // namespace reports

/// Two tables of what the plan predicts. The first has calls, bytes and cycles of every part that is used, and the cycles of all parts one
/// after the other. The second has how long every engine and the core work, and the share of the predicted cycles (with several channels,
/// the average). The last line compares the prediction with its bound, the cycles of the busiest. If the prediction is not resolved, the
/// line has only that bound.
inline std::string traffic(plan_value const& plan) {
    using namespace reports;
    if (plan.refusal) return refused_text(plan);
    using enum table::side;
    table text({left, left, left, right, right, right, right});
    text.add({"part", "kind", "on", "calls", "bytes", "cycles", "of all"});
    std::int64_t bytes = 0;
    for (work const& w : work_of(plan)) {
        if (w.calls == 0) continue;
        bytes += w.bytes;
        text.add({w.name, w.kind, w.on.empty() ? "-" : w.on, grouped(w.calls), w.kind == "transfer" ? grouped(w.bytes) : "",
                  grouped(w.cycles), percent(w.cycles, plan.total_cycles)});
    }
    text.add({"total, one after the other", "", "", "", grouped(bytes), grouped(plan.total_cycles)});
    std::optional<std::int64_t> const predicted = predicted_cycles(plan);
    table engines({left, right, right});
    engines.add({"engine", "busy", "of predicted"});
    for (occupation const& one : occupations_of(plan)) {
        engines.add({name_with_channels(one), grouped(one.busy), predicted ? percent(one.busy, one.channels * *predicted) : "-"});
    }
    occupation const bound = bound_of(plan);
    std::string const busiest = bound.busy == 0 ? "" : " (" + bound.name + ")";
    std::string last = "cycles " + cycles_text(predicted, bound.least()) + busiest;
    if (predicted) last = grouped(*predicted) + " cycles predicted" + times_the_bound(*predicted, bound);
    return text.str() + '\n' + engines.str() + last + "\n";
}

}  // namespace tilewright
