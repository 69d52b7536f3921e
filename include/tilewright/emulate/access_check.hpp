#pragma once
#include <bit>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/buffer_names.hpp>
#include <tilewright/emulate/call_reader.hpp>
#include <tilewright/emulate/engine_set.hpp>
#include <tilewright/emulate/idle_lanes.hpp>

namespace tilewright::emulation {

/// Who touches something: a transfer, an operand of an intrinsic, the code of a stage.
struct caller {
    ir::label name{};
    ir::label operand{};
    bool is_code = false;
    int lane = -1;  ///< -1: the core

    std::string text() const {
        if (is_code) return "code of stage " + name.str();
        return operand.empty() ? name.str() : name.str() + " (operand " + operand.str() + ")";
    }
};

/// Whether calls may touch their bytes, by the jobs in flight and by what a checked run knows of every byte.
class access_check {
  public:
    access_check(machine const& what, engine_set& engines, shadow& known, buffer_names const& names)
        : what_(what), engines_(engines), shadow_(known), names_(names) {}

    /// Checks, in every run, that no transfer in flight on another channel uses one of these banks, which have one port.
    std::optional<refused_call> banks(caller const& who, std::uint64_t narrow) const {
        if (narrow == 0) return {};
        return first_refused(who, [&](flight const& f, int lane) -> std::optional<refused_call> {
            if ((f.narrow_banks & narrow) == 0) return {};
            int const bit = std::countr_zero(f.narrow_banks & narrow);
            return refused_call{emulation_bank_conflict, who.text() + " uses bank " + std::to_string(bit % max_banks) + " of " +
                                                             what_.memories[bit / max_banks].name.str() + ", which has one port, while " +
                                                             text_of(f, lane) + " may still use it"};
        });
    }
    /// @pre the run is checked, here and below
    std::optional<refused_call> transfer(transfer_request const& asked) {
        caller const who{.name = asked.part.is.name, .lane = asked.lane};
        transfer_call const& call = asked.call;
        flight const& next = asked.next;
        if ((call.source != nullptr && !shadow_.is_buffer(call.source_buffer())) || !shadow_.is_buffer(call.destination_buffer()))
            return no_buffer(who);
        shadow_.begin_step();
        for (byte_range const& range : next.reads) {
            if (auto refused = touches(who, next.source_buffer, range, false)) return refused;
        }
        for (byte_range const& range : next.writes) {
            if (auto refused = touches(who, next.destination_buffer, range, true)) return refused;
        }
        auto const bad = shadow_.move(*next.moves, next.source_buffer, next.destination_buffer);
        if (bad) return refusal_of(who, next.source_buffer, *bad, false);
        return {};
    }
    std::optional<refused_call> intrinsic(intrinsic_part& part, intrinsic_call const& call) {
        shadow_.begin_step();
        // Writes count after all reads, because an operand may also be the result.
        bool idle = false;
        if (auto refused = reads(part, call, idle)) return refused;
        std::vector<std::pair<int, byte_range>> idle_results;
        if (idle) {
            // What they are found by is what is there when the intrinsic is carried out.
            engines_.carry_out_all();
            idle_results = idle_lanes(part, call, shadow_).results();
        }
        if (auto refused = writes(part, call)) return refused;
        for (auto const& [buffer, range] : idle_results) shadow_.empty(buffer, range);
        return {};
    }
    /// Checks code of a stage. @param fills  it writes what a load leaves out, maybe for a step ahead: that uses no version yet
    std::optional<refused_call> code(caller const& who, int buffer, byte_range const& range, bool writes, bool fills) {
        shadow_.hear_code();
        if (auto refused = touches(who, buffer, range, writes)) return refused;
        if (!fills) {
            if (auto refused = uses(who, buffer, range, !writes)) return refused;
        }
        if (writes) shadow_.write(buffer, range);
        return {};
    }
    static refused_call no_buffer(caller const& who) {
        return {emulation_unknown_part, who.text() + ": a buffer that the plan does not have"};
    }

  private:
    static caller operand_of(intrinsic_part const& part, int o) {
        return {.name = part.is.name, .operand = part.is.operands[o].tensor, .lane = part.lane};
    }
    /// @param idle  set when an operand has elements without contents that no code and no store may use
    std::optional<refused_call> reads(intrinsic_part& part, intrinsic_call const& call, bool& idle) {
        for (int o = 0; o < part.is.operand_count; ++o) {
            if (!part.operands[o].reads) continue;
            caller const who = operand_of(part, o);
            if (!shadow_.is_buffer(call.buffers[o])) return no_buffer(who);
            auto const buffer = static_cast<int>(call.buffers[o]);
            for (auto const& run : part.operands[o].runs()) {
                byte_range const range = part.range_of(call, o, run);
                if (auto refused = touches(who, buffer, range, false)) return refused;
                if (shadow_.has_idle_lanes()) idle |= shadow_.use(buffer, range, true).has_value();
                else if (auto refused = uses(who, buffer, range, true)) return refused;
            }
        }
        return {};
    }
    std::optional<refused_call> writes(intrinsic_part& part, intrinsic_call const& call) {
        for (int o = 0; o < part.is.operand_count; ++o) {
            if (!part.operands[o].writes) continue;
            caller const who = operand_of(part, o);
            if (!shadow_.is_buffer(call.buffers[o])) return no_buffer(who);
            auto const buffer = static_cast<int>(call.buffers[o]);
            for (auto const& run : part.operands[o].runs()) {
                byte_range const range = part.range_of(call, o, run);
                if (auto refused = touches(who, buffer, range, true)) return refused;
                if (auto refused = uses(who, buffer, range, false)) return refused;
                shadow_.write(buffer, range);
            }
        }
        return {};
    }
    /// Checks that bytes lie inside of their buffer, and that no transfer in flight on another channel conflicts with the access.
    std::optional<refused_call> touches(caller const& who, int buffer, byte_range const& range, bool writes) const {
        if (auto const bad = shadow_.inside(buffer, range)) return refusal_of(who, buffer, *bad, writes);
        return first_refused(who, [&](flight const& f, int lane) -> std::optional<refused_call> {
            std::uintptr_t const written = first_shared(f.writes, range);
            std::uintptr_t const shared = written != 0 || !writes ? written : first_shared(f.reads, range);
            if (shared == 0) return {};
            return refusal_of(
                who, buffer,
                {reinterpret_cast<void const*>(shared), text_of(f, lane) + " may still " + (written != 0 ? "write" : "read") + " it"},
                writes);
        });
    }
    std::optional<refused_call> uses(caller const& who, int buffer, byte_range const& range, bool reads) {
        if (auto const bad = shadow_.use(buffer, range, reads)) return refusal_of(who, buffer, *bad, false);
        return {};
    }
    /// The first job in flight on another channel that `visit(flight, lane)` refuses. Jobs of one channel follow each other.
    template <class Visit>
    std::optional<refused_call> first_refused(caller const& who, Visit const& visit) const {
        for (int lane = 0; lane < engines_.size(); ++lane) {
            if (lane == who.lane) continue;
            for (flight const& f : std::as_const(engines_)[lane].flights()) {
                if (engines_.is_known(who.lane, lane, f)) continue;
                if (auto refused = visit(f, lane)) return refused;
            }
        }
        return {};
    }
    std::string text_of(flight const& f, int lane) const { return names_.text_of(what_, f) + " on " + lane_name(what_, lane); }
    refused_call refusal_of(caller const& who, int buffer, shadow::fault const& bad, bool writes) const {
        return {emulation_bad_access,
                who.text() + (writes ? " writes " : " reads ") + shadow_.text_of(buffer, bad.address) + ": " + bad.why};
    }

    machine const& what_;
    engine_set& engines_;
    shadow& shadow_;
    buffer_names const& names_;
};

}  // namespace tilewright::emulation
