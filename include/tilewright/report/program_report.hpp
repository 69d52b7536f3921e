#pragma once
#include <tilewright/program/kernel_plans.hpp>
#include <tilewright/report/plan_report.hpp>
#include <tilewright/report/refused.hpp>

namespace tilewright::reports {

struct reported_live {
    label memory{};
    std::int64_t bytes = 0;
};
/// A kernel of the program, in the order in which they run.
struct reported_layer {
    label name{};
    label agent{};
    std::string kind;  ///< "kernel", or "copy" by a transfer that the plan put in
    int first_step = 0;
    int last_step = 0;
    std::int64_t cycles = 0;
    std::vector<reported_live> live{};  ///< of every memory, while it runs
    std::vector<work> traffic{};
};
/// A tensor of the program, or a buffer of a kernel's own.
struct reported_place {
    label name{};
    std::string kind;  ///< "input", "output", "constant", "between", "buffer"
    label memory{};
    int bank = 0;
    std::optional<std::int64_t> offset{};  ///< none: the caller passes a pointer
    std::int64_t bytes = 0;                ///< of a version
    int versions = 1;
    int first_step = 0;
    int last_step = 0;
    std::optional<label> in_place_of{};
    std::optional<label> copy_of{};
};
struct reported_pool {
    label name{};
    std::int64_t capacity = 0;  ///< of several banks, of each
    std::int64_t peak = 0;
    std::int64_t lower_bound = 0;
    bool proven = false;
    std::int64_t slack = 0;
    std::int64_t constants = 0;
};
/// What a program takes of its memories, and when.
struct program_report {
    label program{};
    std::optional<reported_refusal> refusal{};
    std::vector<reported_layer> layers{};
    std::vector<reported_pool> memories{};
    std::vector<reported_place> places{};
    std::optional<std::int64_t> cycles{};
};

inline program_report report_of(program_plan_value const& plan) {
    program_report report{.program = plan.of->name};
    if (plan.refusal) {
        report.refusal = {name_of(plan.refusal.kind), sentence_of(plan.refusal).letters.data(), advice_of(plan.refusal)};
        return report;
    }
    for (int at = 0; at < plan.memories.size(); ++at) {
        ir::pool_use const& use = plan.pools[static_cast<std::size_t>(at)];
        ir::program_memory const& m = plan.memories[static_cast<std::size_t>(at)];
        if (use.used)
            report.memories.push_back(
                {m.name, m.what.bank_capacity(), use.peak, use.lower_bound, use.proven, m.what.bank_capacity() - use.peak, use.constants});
    }
    for (int at = 0; at < plan.tensors.size(); ++at) {
        ir::program_tensor const& t = plan.tensor_at(at);
        constexpr char const* kinds[] = {"between", "input", "output", "constant"};
        reported_place p{.name = t.name,
                         .kind = kinds[static_cast<int>(t.kind)],
                         .memory = plan.memories[static_cast<std::size_t>(t.memory)].name,
                         .bank = t.bank,
                         .bytes = t.bytes,
                         .first_step = t.born,
                         .last_step = t.dead - 1};
        if (!t.passed) p.offset = t.offset;
        if (t.in_place_of >= 0) p.in_place_of = plan.tensor_at(t.in_place_of).name;
        if (t.copy_of >= 0) p.copy_of = plan.tensor_at(t.copy_of).name;
        report.places.push_back(std::move(p));
    }
    for (int step = 0; step < plan.steps.size(); ++step) {
        ir::program_step const& s = plan.steps[static_cast<std::size_t>(step)];
        if (s.kind == ir::program_step_kind::join) continue;
        ir::program_kernel const& k = plan.kernel_at(s.kernel);
        kernel_build const made = build_kernel(plan, s.kernel);
        reported_layer layer{.name = k.name,
                             .agent = plan.agent_of(k).name,
                             .kind = k.is_copy() ? "copy" : "kernel",
                             .first_step = k.first_step,
                             .last_step = k.last_step,
                             .cycles = static_cast<std::int64_t>(static_cast<double>(made.plan.cycles()))};
        for (reported_pool const& m : report.memories) {
            std::int64_t most = 0;
            for (int at = k.first_step; at <= k.last_step; ++at)
                most = std::max(most, plan.live_bytes(plan.position_of_memory(m.name), at));
            layer.live.push_back({m.name, most});
        }
        layer.traffic = work_of(made.plan);
        for (int at = 0; at < made.plan.buffers.size(); ++at) {
            ir::buffer const& b = made.plan.buffers[static_cast<std::size_t>(at)];
            memory const& in = made.plan.where->memories[b.memory];
            if (b.kind == ir::buffer_kind::argument || in.registers > 0) continue;
            int const here = plan.memory_of(k.agent, in.name);
            report.places.push_back({.name = tilewright::detail::dotted(k.name, b.name),
                                     .kind = "buffer",
                                     .memory = plan.memories[static_cast<std::size_t>(here)].name,
                                     .bank = b.bank,
                                     .offset = b.offset,
                                     .bytes = b.bytes,
                                     .versions = b.versions,
                                     .first_step = k.first_step,
                                     .last_step = k.last_step});
        }
        report.layers.push_back(std::move(layer));
    }
    if (plan.total_known) report.cycles = plan.total_cycles;
    return report;
}

}  // namespace tilewright::reports

BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_live, memory, bytes);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_layer, name, agent, kind, first_step, last_step, cycles, live, traffic);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_place, name, kind, memory, bank, offset, bytes, versions, first_step, last_step,
                        in_place_of, copy_of);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_pool, name, capacity, peak, lower_bound, proven, slack, constants);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::program_report, program, refusal, layers, memories, places, cycles);

namespace tilewright {

/// A program as one line of JSON: the members of `reports::program_report`.
inline std::string to_json(program_plan_value const& plan) { return to_json(reports::report_of(plan)); }

/// The memory report of a program: for every layer what is alive in each memory, what it moves and how long it takes; for every memory its
/// peak against the lower bound, a drawing of offsets over time, and a table of all that lies there.
inline std::string memory_report(program_plan_value const& plan) {
    using namespace reports;
    if (plan.refusal) return to_string(plan.refusal) + "\n";
    program_report const report = report_of(plan);
    using enum table::side;
    std::vector<table::side> columns{right, left, left};
    std::vector<std::string> head{"steps", "layer", "on"};
    for (reported_pool const& m : report.memories) columns.push_back(right), head.push_back(m.name.str());
    columns.insert(columns.end(), {right, right, left});
    head.insert(head.end(), {"cycles", "bytes moved", "by"});
    table layers(columns);
    layers.add(head);
    for (reported_layer const& l : report.layers) {
        std::vector<std::string> row{std::to_string(l.first_step) + (l.first_step == l.last_step ? "" : "-" + std::to_string(l.last_step)),
                                     l.name.str(), l.agent.str()};
        for (reported_live const& live : l.live) row.push_back(grouped(live.bytes));
        std::int64_t bytes = 0;
        std::string by;
        for (work const& w : l.traffic) {
            if (w.bytes == 0) continue;
            bytes += w.bytes;
            by += (by.empty() ? "" : ", ") + w.name;
        }
        row.insert(row.end(), {grouped(l.cycles), grouped(bytes), by.empty() ? "-" : by});
        layers.add(row);
    }
    std::string text = "program " + report.program.str() + ": " + std::to_string(report.layers.size()) + " layers, " +
                       (report.cycles ? grouped(*report.cycles) + " cycles" : "cycles not resolved") +
                       "; bytes alive in each memory while a layer runs\n" + layers.str("  ");
    for (reported_pool const& m : report.memories) {
        int const at = plan.position_of_memory(m.name);
        memory const& what = plan.memories[static_cast<std::size_t>(at)].what;
        text += "\n" + m.name.str() + ": peak " + grouped(m.peak) + " of " + grouped(m.capacity) + " bytes, lower bound " +
                grouped(m.lower_bound) + (m.proven ? ", no smaller peak is possible" : ", a smaller peak is not ruled out") + "; slack " +
                grouped(m.slack) + (m.constants > 0 ? "; constants " + grouped(m.constants) : "") + "\n";
        table rows({left, left, right, right, left, left});
        rows.add({"tensor or buffer", "kind", "bytes", "offset", "steps", ""});
        std::vector<memory_picture::box> boxes;
        for (reported_place const& p : report.places) {
            if (p.memory != m.name) continue;
            std::string const note = p.in_place_of ? "in place of " + p.in_place_of->str() : p.copy_of ? "copy of " + p.copy_of->str() : "";
            rows.add({p.name.str(), p.kind, (p.versions > 1 ? std::to_string(p.versions) + " x " : "") + grouped(p.bytes),
                      p.offset ? grouped(*p.offset) : "passed", std::to_string(p.first_step) + " to " + std::to_string(p.last_step), note});
            // What takes over the bytes of another tensor is drawn behind it.
            int first = p.first_step;
            for (reported_place const& other : report.places) {
                if (p.in_place_of && other.name == *p.in_place_of) first = other.last_step + 1;
            }
            if (first > p.last_step) continue;
            if (p.offset && p.kind != "constant" && what.banks == 1 && p.versions == 1)
                boxes.push_back({p.name.str(), grouped(p.bytes), first, p.last_step + 1, *p.offset, *p.offset + p.bytes});
        }
        if (!boxes.empty() && boxes.size() <= 24) text += memory_picture(what, 0, "step", boxes).str("  ");
        text += rows.str("  ");
    }
    return text;
}

}  // namespace tilewright
