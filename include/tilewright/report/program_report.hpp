#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/program/kernel_plans.hpp>
#include <tilewright/report/plan_report.hpp>
#include <tilewright/report/refused.hpp>
#include <utility>

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
    std::optional<std::int64_t> cycles{};  ///< none: not resolved
    std::int64_t bound = 0;                ///< of its busiest engine, or core
    std::vector<reported_live> live{};     ///< of every memory, while it runs
    std::vector<work> traffic{};
};
/// A tensor of the program, or a buffer of a kernel's own.
struct reported_place {
    label name{};
    std::string kind;  ///< "input", "output", "constant", "between", "buffer"
    label memory{};
    scalar_type type = scalar_type::literal;
    std::vector<std::int64_t> extents{};
    int bank = 0;                          ///< the first of those that it lies in
    std::optional<std::int64_t> offset{};  ///< none: the caller passes a pointer
    std::int64_t bytes = 0;                ///< of a version
    int versions = 1;
    int first_step = 0;
    int last_step = 0;
    std::optional<int> first_line{};  ///< buffer: of its kernel's loop program
    std::optional<int> last_line{};
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
    std::vector<label> as_planned{};  ///< kernels whose buffers share bytes as their own plans have it, for which the lower bound holds
};
/// What a program takes of its memories, and when.
struct program_report {
    label program{};
    std::optional<reported_refusal> refusal{};
    std::vector<reported_layer> layers{};
    std::vector<reported_pool> memories{};
    std::vector<reported_place> places{};
    std::optional<std::int64_t> cycles{};  ///< none: not resolved
    std::int64_t bound = 0;                ///< the program takes at least so many
};

inline program_report report_of(program_plan_value const& plan) {
    program_report report{.program = plan.of->name};
    if (plan.refusal) {
        report.refusal = {name_of(plan.refusal.kind), sentence_of(plan.refusal).letters.elements, advice_of(plan.refusal)};
        return report;
    }
    for (int at = 0; at < plan.memories.size(); ++at) {
        ir::pool_use const& use = plan.pools[at];
        ir::program_memory const& m = plan.memories[at];
        if (!use.used) continue;
        std::int64_t const capacity = m.what.bank_capacity();
        report.memories.push_back({m.name, capacity, use.peak, use.lower_bound, use.proven, capacity - use.peak, use.constants});
        for (int k = 0; k < plan.kernels.size(); ++k) {
            if (use.as_planned.has(k)) report.memories.back().as_planned.push_back(plan.kernel_at(k).name);
        }
    }
    for (int at = 0; at < plan.tensors.size(); ++at) {
        ir::program_tensor const& t = plan.tensor_at(at);
        constexpr char const* kinds[] = {"between", "input", "output", "constant"};
        reported_place p{.name = t.name,
                         .kind = kinds[static_cast<int>(t.kind)],
                         .memory = plan.memories[t.memory].name,
                         .type = t.type,
                         .extents{t.extents.elements, t.extents.elements + t.rank},
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
        ir::program_step const& s = plan.steps[step];
        if (s.kind == ir::program_step_kind::join || s.kind == ir::program_step_kind::barrier) continue;
        ir::program_kernel const& k = plan.kernel_at(s.kernel);
        kernel_build const made = build_kernel(plan, s.kernel);
        reported_layer layer{.name = k.name,
                             .agent = plan.agent_of(k).name,
                             .kind = k.is_copy() ? "copy" : "kernel",
                             .first_step = k.first_step,
                             .last_step = k.last_step,
                             .cycles = predicted_cycles(made.plan),
                             .bound = bound_of(made.plan).least()};
        for (reported_pool const& m : report.memories) {
            std::int64_t most = 0;
            for (int at = k.first_step; at <= k.last_step; ++at)
                most = std::max(most, plan.live_bytes(plan.position_of_memory(m.name), at));
            layer.live.push_back({m.name, most});
        }
        layer.traffic = work_of(made.plan);
        for (int at = 0; at < made.plan.buffers.size(); ++at) {
            ir::buffer const& b = made.plan.buffers[at];
            memory const& in = made.plan.where->memories[b.memory];
            if (b.kind == ir::buffer_kind::argument || in.registers > 0) continue;
            int const here = plan.memory_of(k.agent, in.name);
            lifetime const life = lifetime_of(made.plan, b);
            report.places.push_back({.name = tilewright::detail::dotted(k.name, b.name),
                                     .kind = "buffer",
                                     .memory = plan.memories[here].name,
                                     .type = b.type,
                                     .extents{b.extents.elements, b.extents.elements + b.rank},
                                     .bank = b.bank,
                                     .offset = b.offset,
                                     .bytes = b.bytes,
                                     .versions = b.versions,
                                     .first_step = k.first_step,
                                     .last_step = k.last_step,
                                     .first_line = life.first,
                                     .last_line = life.last});
        }
        report.layers.push_back(std::move(layer));
    }
    if (plan.total_known) report.cycles = plan.total_cycles;
    report.bound = plan.total_cycles;
    return report;
}

}  // namespace tilewright::reports

BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_live, memory, bytes);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_layer, name, agent, kind, first_step, last_step, cycles, bound, live, traffic);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_place, name, kind, memory, type, extents, bank, offset, bytes, versions, first_step,
                        last_step, first_line, last_line, in_place_of, copy_of);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_pool, name, capacity, peak, lower_bound, proven, slack, constants, as_planned);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::program_report, program, refusal, layers, memories, places, cycles, bound);

namespace tilewright {

namespace reports {

/// What lies in a bank of a program's memory, over the steps of the program: those in which a kernel's buffers come and go have a column
/// for each set of them that is alive at one time.
class program_picture {
  public:
    program_picture(program_plan_value const& plan, int memory_at) : plan_(plan), memory_at_(memory_at) {
        std::vector<int> points(static_cast<std::size_t>(plan.steps.size()), 1);
        each_kernel(
            [&](int from, ir::program_kernel const& k) { points[static_cast<std::size_t>(k.first_step)] = plan.scratch_points(from); });
        for (std::size_t step = 0, point = 0; step <= points.size(); ++step) {
            first_.push_back(static_cast<int>(point));
            for (int at = 0; step < points.size() && at < points[step]; ++at, ++point)
                names_[static_cast<std::int64_t>(point)] = std::to_string(step) + (at == 0 ? "" : "." + std::to_string(at));
            if (step == points.size()) names_[static_cast<std::int64_t>(point)] = std::to_string(step);
        }
    }

    /// The points of time, one more than intervals.
    std::int64_t points() const { return first_.back(); }
    /// The step of a point, with the number of what changes within it: "2", "2.1".
    std::string name_of(std::int64_t point) const { return names_.at(point); }

    std::vector<memory_picture::box> boxes(int bank) const {
        memory const& what = plan_.memories[memory_at_].what;
        std::vector<memory_picture::box> boxes;
        for (int at = 0; at < plan_.tensors.size(); ++at) {
            ir::program_tensor const& t = plan_.tensor_at(at);
            if (t.memory != memory_at_ || t.passed || t.kind == ir::tensor_kind::constant || t.bank != bank) continue;
            // A tensor that takes over the bytes of another one is drawn after it.
            int const first = t.in_place_of < 0 ? t.born : plan_.tensor_at(t.in_place_of).dead;
            if (first < t.dead)
                boxes.push_back({t.name.str(), grouped(t.bytes), point(first), point(t.dead), t.offset, t.offset + t.bytes});
        }
        each_kernel([&](int from, ir::program_kernel const& k) {
            for (int at = from; at < plan_.scratch_end(from); ++at) {
                ir::program_scratch const& s = plan_.scratch_at(at);
                if ((bank - s.bank + what.banks) % what.banks >= s.bank_count) continue;
                bool const to_the_end = s.dead == plan_.scratch_points(from);
                boxes.push_back({tilewright::detail::dotted(k.name, s.name).str(),
                                 (s.versions > 1 ? std::to_string(s.versions) + " x " : "") + grouped(s.bytes),
                                 point(k.first_step) + s.born, to_the_end ? point(k.last_step + 1) : point(k.first_step) + s.dead, s.offset,
                                 s.offset + s.bytes_in_bank});
            }
        });
        return boxes;
    }
    /// Empty where there is nothing to draw, or too much for a drawing.
    std::string str(int bank, std::string const& indent) const {
        std::vector<memory_picture::box> all = boxes(bank);
        if (all.empty() || all.size() > 24) return {};
        return memory_picture(plan_.memories[memory_at_].what, bank, "step", std::move(all), names_).str(indent);
    }

  private:
    /// Calls `visit(from, kernel)` for the kernels that have buffers here, which begin at position `from`.
    template <class Visit>
    void each_kernel(Visit const& visit) const {
        for (int from = 0; from < plan_.scratch.size(); from = plan_.scratch_end(from)) {
            if (plan_.scratch_at(from).memory == memory_at_) visit(from, plan_.kernel_at(plan_.scratch_at(from).kernel));
        }
    }
    std::int64_t point(int step) const { return first_[static_cast<std::size_t>(step)]; }

    program_plan_value const& plan_;
    int memory_at_;
    std::vector<int> first_;  ///< point of each step
    std::map<std::int64_t, std::string> names_;
};

/// "in place of t", "copy of t"; of a buffer "lines 2 to 5", of its kernel's loop program; before that, the first of several banks.
inline std::string note_of(reported_place const& p, int banks) {
    std::string note = banks > 1 ? "bank " + std::to_string(p.bank) : "";
    auto const add = [&](std::string const& more) { note += (note.empty() ? "" : ", ") + more; };
    if (p.in_place_of) add("in place of " + p.in_place_of->str());
    else if (p.copy_of) add("copy of " + p.copy_of->str());
    if (p.first_line)
        add(*p.first_line == *p.last_line ? "line " + std::to_string(*p.first_line)
                                          : "lines " + std::to_string(*p.first_line) + " to " + std::to_string(*p.last_line));
    return note;
}

}  // namespace reports

/// A program as one line of JSON: the members of `reports::program_report`.
inline std::string to_json(program_plan_value const& plan) { return to_json(reports::report_of(plan)); }

namespace reports {

/// Whether the peak is the lower bound, and what that is a bound of.
inline std::string proof_text(reported_pool const& m) {
    std::string kernels;
    for (label const& kernel : m.as_planned) kernels += (kernels.empty() ? "" : ", ") + kernel.str();
    return std::string(m.proven ? "no offsets have a smaller peak" : "a smaller peak is not ruled out") +
           (kernels.empty() ? "" : " (of offsets where buffers share bytes as the plans of " + kernels + " have it)");
}

}  // namespace reports

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
        row.insert(row.end(), {cycles_text(l.cycles, l.bound), grouped(bytes), by.empty() ? "-" : by});
        layers.add(row);
    }
    std::string text = "program " + report.program.str() + ": " + std::to_string(report.layers.size()) + " layers, " +
                       (report.cycles ? "" : "cycles ") + cycles_text(report.cycles, report.bound) + (report.cycles ? " cycles" : "") +
                       "; bytes alive in each memory while a layer runs\n" + layers.str("  ");
    for (reported_pool const& m : report.memories) {
        int const at = plan.position_of_memory(m.name);
        memory const& what = plan.memories[at].what;
        text += "\n" + m.name.str() + ": peak " + grouped(m.peak) + " of " + grouped(m.capacity) + " bytes, lower bound " +
                grouped(m.lower_bound) + ", " + proof_text(m) + "; slack " + grouped(m.slack) +
                (m.constants > 0 ? "; constants " + grouped(m.constants) : "") + "\n";
        table rows({left, left, right, right, left, left});
        rows.add({"tensor or buffer", "kind", "bytes", "offset", "steps", ""});
        for (reported_place const& p : report.places) {
            if (p.memory != m.name) continue;
            rows.add({p.name.str(), p.kind, (p.versions > 1 ? std::to_string(p.versions) + " x " : "") + grouped(p.bytes),
                      p.offset ? grouped(*p.offset) : "passed", std::to_string(p.first_step) + " to " + std::to_string(p.last_step),
                      note_of(p, what.banks)});
        }
        program_picture const picture(plan, at);
        for (int bank = 0; bank < what.banks; ++bank) {
            std::string const drawn = picture.str(bank, "  ");
            if (what.banks > 1 && !drawn.empty()) text += "  bank " + std::to_string(bank) + "\n";
            text += drawn;
        }
        text += rows.str("  ");
    }
    return text;
}

}  // namespace tilewright
