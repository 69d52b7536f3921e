#pragma once
#include <stdexcept>
#include <tilewright/base/label_text.hpp>
#include <tilewright/bring_up/intrinsic_cases.hpp>
#include <tilewright/bring_up/transfer_cases.hpp>
#include <utility>

namespace tilewright::bring_up {

/// All cases of a machine's parts, and where their windows lie.
struct self_test_plan {
    std::vector<tested_part> parts{};
    std::vector<test_case> cases{};
    std::vector<std::int64_t> stages{};  ///< of each memory: where bytes stop on the way to another one
    std::vector<std::int64_t> used{};    ///< of each memory: bytes from its first on
    std::vector<std::int64_t> reach{};   ///< likewise, with windows at its end
    std::vector<std::string> left_out{};
};

class self_test_planner {
  public:
    self_test_planner(machine const& where, memory_ways const& ways, std::int64_t largest)
        : where_(where), ways_(ways), largest_(largest) {}

    /// Bytes of a row by which the ways lead.
    static std::int64_t row_of_way(machine const& where, memory_ways const& ways, int transfer_at) {
        transfer_description const& t = where.transfers[transfer_at];
        std::int64_t const grain = ways.grain[static_cast<std::size_t>(memory_under(where, t.destination))];
        std::int64_t const most = t.largest_row_bytes > 0 ? std::min<std::int64_t>(t.largest_row_bytes, 4096) : 4096;
        if (most < grain)
            throw std::invalid_argument("rows of `" + t.name.str() + "` have at most " + std::to_string(most) +
                                        " bytes, and pieces of memory are multiples of " + std::to_string(grain));
        return most / grain * grain;
    }
    self_test_plan make() {
        // What is loaded comes first, what computes next, and last what brings out results that nothing else can put there.
        for (int const turn : {0, 1, 2, 3}) {
            for (int at = 0; at < where_.transfers.size(); ++at) add_transfer(at, turn);
            for (int at = 0; at < where_.intrinsics.size(); ++at) add_intrinsic(at, turn);
        }
        place_stages();
        return std::move(plan_);
    }

  private:
    void add_transfer(int at, int turn) {
        transfer_description const& t = where_.transfers[at];
        int const source = memory_under(where_, t.source);
        bool const late = !ways_.is_reached(where_, source, true);
        if (turn != (late ? 3 : 0)) return;
        if (!t.core_name.empty())
            return void(plan_.left_out.push_back(t.name.str() + ": a core copies by code, and no function is called"));
        transfer_cases cases(where_, ways_, at, static_cast<int>(plan_.parts.size()), largest_);
        keep(cases.make(), cases.part());
    }
    void add_intrinsic(int at, int turn) {
        intrinsic_description const& i = where_.intrinsics[at];
        bool updates = false, nameless = false;
        for (int o = 0; o < i.operand_count; ++o) {
            updates |= i.operands[o].is == ir::direction::updates;
            memory const& m = where_.memories[memory_under(where_, i.operands[o].memory_name)];
            nameless |= m.registers > 0 && !m.passes_values();
        }
        if (turn != (updates ? 2 : 1)) return;
        if (!is_on(where_, i.core_name, 0)) return void(plan_.left_out.push_back(i.name.str() + ": core 0 does not have it"));
        if (nameless) return void(plan_.left_out.push_back(i.name.str() + ": registers without a type in C"));
        intrinsic_cases cases(where_, ways_, at, static_cast<int>(plan_.parts.size()), largest_);
        keep(cases.make(), cases.part());
    }
    void keep(std::vector<test_case>&& cases, tested_part const& part) {
        for (std::string const& what : part.left_out) plan_.left_out.push_back(part.name + ", " + what);
        if (cases.empty()) return void(plan_.left_out.push_back(part.name + ": no case fits"));
        plan_.parts.push_back(part);
        for (test_case& one : cases) plan_.cases.push_back(std::move(one));
    }
    void place_stages() {
        std::size_t const memories = static_cast<std::size_t>(where_.memories.size());
        std::vector<std::int64_t> last(memories, INT64_MAX), stage_bytes(memories, 0);
        plan_.used.assign(memories, 0), plan_.stages.assign(memories, 0), plan_.reach.assign(memories, 0);
        each_window([&](operand_side const& side, window const& w) {
            memory const& m = where_.memories[side.memory];
            std::size_t const at = static_cast<std::size_t>(side.memory);
            plan_.reach[at] = std::max(plan_.reach[at], w.offset + w.bytes);
            bool const at_end = m.capacity > 0 && w.offset + w.bytes > m.banks * m.bank_capacity() - ways_.grain[at];
            if (at_end) last[at] = std::min(last[at], w.offset);
            else plan_.used[at] = std::max(plan_.used[at], w.offset + w.bytes);
        });
        for (std::size_t at = 0; at < memories; ++at) {
            for (int which : {ways_.in[at], ways_.out[at]}) {
                if (which < 0) continue;
                transfer_description const& t = where_.transfers[which];
                std::size_t const near = static_cast<std::size_t>(memory_under(where_, which == ways_.in[at] ? t.source : t.destination));
                stage_bytes[near] = std::max(stage_bytes[near], row_of_way(where_, ways_, which));
            }
        }
        for (std::size_t at = 0; at < memories; ++at) {
            if (stage_bytes[at] == 0) continue;
            memory const& m = where_.memories[static_cast<int>(at)];
            plan_.stages[at] = room::rounded(plan_.used[at], ways_.grain[at]);
            std::int64_t const end = plan_.stages[at] + stage_bytes[at];
            if (m.capacity > 0 && (end > m.banks * m.bank_capacity() || end > last[at]))
                throw std::invalid_argument("`" + m.name.str() + "` has no room for windows of " + std::to_string(largest_) +
                                            " bytes and what is brought through it: ask for smaller windows");
            plan_.used[at] = end, plan_.reach[at] = std::max(plan_.reach[at], end);
        }
    }
    template <class Visit>
    void each_window(Visit const& visit) const {
        for (test_case const& one : plan_.cases) {
            tested_part const& part = plan_.parts[static_cast<std::size_t>(one.part)];
            for (test_call const& call : one.calls) {
                for (std::size_t at = 0; at < call.windows.size(); ++at) {
                    if (!part.sides[at].by_value) visit(part.sides[at], call.windows[at]);
                }
            }
        }
    }

    machine const& where_;
    memory_ways const& ways_;
    std::int64_t largest_;
    self_test_plan plan_;
};

}  // namespace tilewright::bring_up
