#pragma once
#include <tilewright/report/refused.hpp>
#include <tilewright/report/table.hpp>

namespace tilewright {
namespace reports {

using namespace ir;

/// What one part of a machine does in one run of a kernel.
struct work {
    std::string kind;        ///< "transfer", "intrinsic", or "code": the loops of one stage that stay code
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
    for (int at = 0; at < plan.stages.size(); ++at)
        all.push_back({"code", plan.stages[static_cast<std::size_t>(at)].output.str(), where.host().name.str()});
    plan.walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
        auto const add = [&](std::size_t row, std::int64_t calls, std::int64_t bytes, std::int64_t cycles) {
            all[row].calls += calls;
            all[row].bytes += bytes;
            all[row].cycles += cycles;
        };
        if (s.kind == step_kind::start) {
            tally const moved = plan.total_of(s, times, first_times);
            add(static_cast<std::size_t>(plan.movements[static_cast<std::size_t>(s.what)].transfer), times, moved.bytes, moved.cycles);
        }
        if (s.kind != step_kind::compute) return;
        body const& b = plan.bodies[static_cast<std::size_t>(s.what)];
        if (b.kind != body_kind::intrinsic) {
            return add(code + static_cast<std::size_t>(b.stage), b.kind == body_kind::reduction ? 2 * times : times, 0,
                       plan.total_of(s, times, first_times).cycles);
        }
        std::int64_t const first = b.first_intrinsic >= 0 ? first_times : 0;
        add(intrinsics + static_cast<std::size_t>(b.intrinsic), times - first, 0, (times - first) * b.cycles);
        if (first > 0) add(intrinsics + static_cast<std::size_t>(b.first_intrinsic), first, 0, first * b.first_cycles);
    });
    std::erase_if(all, [](work const& w) { return w.kind == "code" && w.calls == 0; });
    return all;
}

}  // namespace reports

/// A table of what the plan predicts: calls, bytes and cycles of every part that is used, and the cycles of all of it one after the other.
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
    return text.str();
}

}  // namespace tilewright
