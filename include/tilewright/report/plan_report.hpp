#pragma once
#include <optional>
#include <tilewright/report/json.hpp>
#include <tilewright/report/loop_program.hpp>
#include <tilewright/report/memory_map.hpp>
#include <tilewright/report/traffic.hpp>

namespace tilewright::reports {

/// Why there is no plan.
struct reported_refusal {
    std::string verdict;  ///< its name, and that of its page in docs/diagnostics
    std::string sentence;
    std::string advice;
};

/// A buffer, and where it is. Lifetimes are lines of the loop program, as `memory_map` counts them.
struct reported_buffer {
    label name{};
    label tensor{};
    std::string kind;  ///< "argument", "staged", "result"
    label memory{};
    scalar_type type = scalar_type::literal;
    std::vector<std::int64_t> extents{};
    std::int64_t bytes = 0;
    std::optional<std::int64_t> offset{};  ///< none: an argument
    device_address address{};
    int versions = 1;
    std::vector<device_address> version_addresses{};  ///< where they are known; of every block
    std::optional<int> first_line{};
    std::optional<int> last_line{};
    std::optional<std::string> loop{};
    int blocks = 1;                       ///< of every version; the addresses are those of its blocks, then of the next version's
    std::optional<std::string> layout{};  ///< "(i, j) at [i % 2][i / 2, j]"
    std::vector<label> in_place_of{};     ///< tensors that are there before, and that instructions overwrite
};

struct reported_memory {
    label name{};
    int bank = 0;
    device_address base{};
    std::int64_t capacity = 0;
    std::int64_t peak = 0;
    std::int64_t slack = 0;
    std::int64_t buffers = 0;
};

/// Everything that the text reports show, for programs to read.
struct plan_report {
    label machine{};
    std::optional<reported_refusal> refusal{};
    std::vector<reported_memory> memories{};
    std::vector<reported_buffer> buffers{};
    std::vector<program_line> program{};
    std::vector<work> traffic{};
    std::vector<occupation> engines{};     ///< the last one is the core
    std::optional<std::int64_t> cycles{};  ///< predicted: engines work side by side; none: not resolved
    std::int64_t serial_cycles = 0;        ///< one after the other
    std::int64_t bound = 0;                ///< of the busiest
};

inline plan_report report_of(plan_value const& plan) {
    machine const& where = *plan.where;
    plan_report report{.machine = where.name};
    if (plan.refusal) {
        report.refusal = {name_of(plan.refusal.kind), sentence_of(plan.refusal).letters.elements, advice_of(plan.refusal)};
        return report;
    }
    for (memory_use const& use : memory_uses(plan)) {
        memory const& m = where.memories[use.memory];
        report.memories.push_back({m.name, use.bank, {m.bank_base(use.bank)}, use.capacity, use.peak, use.slack, use.buffers});
    }
    for (int at = 0; at < plan.buffers.size(); ++at) {
        buffer const& b = plan.buffers[at];
        memory const& m = where.memories[b.memory];
        constexpr char const* kinds[] = {"argument", "staged", "result"};
        reported_buffer r{.name = b.name, .tensor = b.tensor, .kind = kinds[static_cast<int>(b.kind)], .memory = m.name, .type = b.type};
        r.extents.assign(b.extents.elements, b.extents.elements + b.rank);
        r.bytes = b.bytes;
        if (b.kind != buffer_kind::argument) {
            lifetime const life = lifetime_of(plan, b);
            r.offset = b.offset;
            r.versions = b.versions;
            r.blocks = b.blocks;
            if (b.layout >= 0) r.layout = layout_text(plan, b);
            r.in_place_of = tensors_before(plan, at);
            for (int part = 0; part < b.parts() && m.has_address(); ++part) {
                r.version_addresses.push_back(
                    {m.bank_base(b.bank_of(part, m.banks)) + static_cast<std::uint64_t>(b.offset_of(part, m.banks))});
            }
            if (m.has_address()) r.address = r.version_addresses.front();
            r.first_line = life.first;
            r.last_line = life.last;
            if (!life.loop.empty()) r.loop = life.loop;
        }
        report.buffers.push_back(std::move(r));
    }
    report.program = lines_of(plan);
    report.traffic = work_of(plan);
    report.engines = occupations_of(plan);
    report.cycles = predicted_cycles(plan);
    report.serial_cycles = plan.total_cycles;
    report.bound = bound_of(plan).least();
    return report;
}

}  // namespace tilewright::reports

BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_refusal, verdict, sentence, advice);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_buffer, name, tensor, kind, memory, type, extents, bytes, offset, address, versions,
                        version_addresses, first_line, last_line, loop, blocks, layout, in_place_of);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::reported_memory, name, bank, base, capacity, peak, slack, buffers);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::program_line, number, kind, name, text, value, extent, times, bytes, cycles, first_cycles,
                        inside);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::work, kind, name, on, calls, bytes, cycles);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::occupation, name, busy, channels);
BOOST_HANA_ADAPT_STRUCT(tilewright::reports::plan_report, machine, refusal, memories, buffers, program, traffic, engines, cycles,
                        serial_cycles, bound);

namespace tilewright {

/// A plan as one line of JSON: the members of `reports::plan_report`.
inline std::string to_json(plan_value const& plan) { return to_json(reports::report_of(plan)); }

}  // namespace tilewright
