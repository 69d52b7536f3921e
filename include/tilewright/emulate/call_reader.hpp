#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/configuration_registers.hpp>
#include <tilewright/emulate/emulation_error.hpp>
#include <tilewright/emulate/legal_call.hpp>
#include <tilewright/emulate/machine_parts.hpp>
#include <tilewright/emulate/memories.hpp>
#include <utility>

namespace tilewright::emulation {

/// A call of a transfer, and the job that it asks for.
struct transfer_request {
    transfer_part const& part;
    transfer_call call;
    int channel = 0, lane = -1;  ///< -1: the core moves the data
    flight next{};
};

/// Likewise of an intrinsic. @pre the job goes to the first channel of the engine
struct intrinsic_request {
    intrinsic_part& part;
    intrinsic_call call;
    flight next{};

    explicit intrinsic_request(intrinsic_part& what) : part(what) {}
};

/// Reads what generated code passes: finds the bytes in this process, and refuses what the machine cannot be asked for.
class call_reader {
  public:
    call_reader(machine const& what, memories const& where, configuration_registers const& settings)
        : what_(what), memories_(where), settings_(settings) {}

    std::optional<refused_call> read(transfer_request& asked) const {
        transfer_part const& part = asked.part;
        transfer_description const& t = part.is;
        transfer_call& call = asked.call;
        if (!decode(part, call)) return refused_call{emulation_bad_address, t.name.str() + ": a number that no row of its memory has"};
        std::string illegal = why_illegal(t, part.limits, call);
        if (!call.is_blocking() && (!t.is_asynchronous || part.engine < 0)) illegal = "a tag, and it blocks";
        if (!illegal.empty()) return refused_call{emulation_illegal_transfer, t.name.str() + " takes no call of this shape: " + illegal};
        if (auto refused = find_lane(asked)) return refused;
        if (std::string stale = settings_.missing(t, call); !stale.empty()) return refused_call{emulation_stale_setting, std::move(stale)};
        flight& next = asked.next;
        transfer_job& job = next.moves.emplace(part.does, call);
        if (t.border.is) job.write_border(call.border());
        std::uint64_t narrow = 0;
        bool const reads = call.source == nullptr || reaches(part.source, call.source, job.source_reach(), narrow);
        if (!reads || !reaches(part.destination, call.destination, job.destination_reach(), narrow)) {
            return refused_call{emulation_bad_address,
                                t.name.str() + ": " + std::to_string(job.source_reach()) + " bytes from " +
                                    memories_.device_address(call.source) + ", " + std::to_string(job.destination_reach()) + " bytes to " +
                                    memories_.device_address(call.destination) + ": the " + (reads ? "destination" : "source") +
                                    " lies outside of " + (reads ? t.destination : t.source).str()};
        }
        next.part = part.at, next.tag = call.tag(), next.narrow_banks = narrow;
        next.source_buffer = static_cast<int>(call.source_buffer()), next.destination_buffer = static_cast<int>(call.destination_buffer());
        return {};
    }
    /// @param operands see `emulator::intrinsic`
    std::optional<refused_call> read(std::int64_t const* operands, intrinsic_request& asked) const {
        intrinsic_part& part = asked.part;
        intrinsic_call& call = asked.call;
        if (part.is_flexible() && !cover(part, operands + part.is.operand_count * intrinsic_call::words_of_operand, call))
            return refused_call{emulation_illegal_transfer, part.is.name.str() + " takes no call of this shape"};
        asked.next.part = part.at;
        for (int o = 0; o < part.is.operand_count; ++o) {
            if (auto refused = read_operand(o, operands + o * intrinsic_call::words_of_operand, asked)) return refused;
        }
        if (int const tied = part.is.find_in_place(); tied >= 0) {
            std::int64_t const* const read = call.strides_of(tied);
            if (call.addresses[tied] != call.addresses[part.result] || !std::equal(read, read + max_rank, call.strides_of(part.result)))
                return refused_call{emulation_bad_address, operand_text(part, tied) + " is not in the place of the result"};
        }
        if (std::string stale = settings_.missing(part.is, call); !stale.empty())
            return refused_call{emulation_stale_setting, std::move(stale)};
        return {};
    }

  private:
    /// Makes addresses of numbers. @return whether a row has them
    bool decode(transfer_part const& part, transfer_call& call) const {
        void const* to = call.destination;
        // A fill has no source: its elements have no bytes.
        if ((call.source_size() > 0 && !memories_.decode(part.source, call.source)) || !memories_.decode(part.destination, to))
            return false;
        call.destination = const_cast<void*>(to);
        return true;
    }
    std::optional<refused_call> find_lane(transfer_request& asked) const {
        transfer_part const& part = asked.part;
        std::int64_t const channel = part.has_channels ? asked.call.channel(part.is.border.is) : 0;
        if (part.engine >= 0 && (channel < 0 || channel >= what_.channels_of(part.engine)))
            return refused_call{emulation_unknown_part, part.is.name.str() + ": channel " + std::to_string(channel) + " of " +
                                                            part.is.engine_name.str() + ", which has " +
                                                            std::to_string(what_.channels_of(part.engine))};
        asked.channel = static_cast<int>(channel);
        asked.lane = part.engine < 0 ? -1 : part.lane + asked.channel;
        return {};
    }
    /// Reads how much of each axis a call covers. @return whether it can
    static bool cover(intrinsic_part& part, std::int64_t const* extents, intrinsic_call& call) {
        std::copy(extents, extents + part.axis_count, call.extents.elements);
        for (int axis = 0; axis < part.axis_count; ++axis) {
            if (call.extents[axis] < 1 || call.extents[axis] > part.most[axis]) return false;
        }
        for (operand_footprint& operand : part.operands) operand.cover(call.extents.elements);
        return true;
    }
    std::optional<refused_call> read_operand(int o, std::int64_t const* given, intrinsic_request& asked) const {
        operand_footprint const& operand = asked.part.operands[o];
        intrinsic_call& call = asked.call;
        void const* address = reinterpret_cast<void const*>(static_cast<std::uintptr_t>(given[0]));
        if (!memories_.decode(operand.memory, address))
            return refused_call{emulation_bad_address, operand_text(asked.part, o) + " at a number that no row of its memory has"};
        call.addresses[o] = const_cast<void*>(address);
        call.buffers[o] = given[1];
        std::copy(given + 2, given + 2 + max_rank, call.strides_of(o));
        if (!reaches(operand.memory, address, operand.reach(call.strides_of(o)), asked.next.narrow_banks))
            return refused_call{emulation_bad_address, operand_text(asked.part, o) + " at " + memories_.device_address(address)};
        return {};
    }
    static std::string operand_text(intrinsic_part const& part, int o) {
        return part.is.name.str() + ": operand " + part.is.operands[o].tensor.str();
    }
    /// Whether the bytes lie in one bank of the memory; adds to `narrow` the bit of a bank with one port.
    bool reaches(int memory_at, void const* address, std::int64_t bytes, std::uint64_t& narrow) const {
        // The first memory holds the caller's arguments, wherever they are.
        if (memory_at == 0 || !memories_.has_capacity(memory_at)) return true;
        place const found = memories_.find_in(memory_at, address, bytes);
        narrow |= memories_.narrow_bank(found);
        return static_cast<bool>(found);
    }

    machine const& what_;
    memories const& memories_;
    configuration_registers const& settings_;
};

}  // namespace tilewright::emulation
