#pragma once
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tilewright/emulate/region.hpp>
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/machine/structural.hpp>
#include <tilewright/plan/plan_value.hpp>
#include <vector>

namespace tilewright {

/// What an emulated machine refuses to do at run time, as the return code of the kernel.
enum emulation_error : std::int32_t {
    emulation_bad_address = -1001,       // an access outside the memory that the transfer or the intrinsic works on
    emulation_unknown_part = -1002,      // a call names a part that the machine does not have
    emulation_illegal_transfer = -1003,  // dimensions, a row, an extent, an address or a stride that the transfer does not take
};

/// A machine that exists only here: its memories are regions of the process, its transfers and intrinsics do what they declare.
///
/// Traffic and cycles are counted from the calls that are executed. Not for use from several threads at a time.
class emulator {
  public:
    struct count {
        std::int64_t calls = 0, bytes = 0, cycles = 0;
    };

    emulator(machine const& what, semantics_table const& semantics) : what_(what), semantics_(semantics) {
        for (int at = 0; at < what.memories.size(); ++at) {
            memory const& m = what.memories[at];
            regions_.push_back(m.capacity > 0 ? guarded_region(static_cast<std::size_t>(m.capacity), static_cast<std::size_t>(m.alignment))
                                              : guarded_region());
        }
        reset();
    }

    machine const& what() const { return what_; }
    /// Where a memory lies in this process. @throws std::invalid_argument when the machine has none of that name, or it has no capacity
    std::byte* base(memory const& m) const {
        int const at = what_.memories.find(m.name);
        if (at < 0 || m.capacity <= 0)
            throw std::invalid_argument("machine `" + what_.name.str() + "` has no memory `" + m.name.str() + "` with a capacity");
        return regions_[static_cast<std::size_t>(at)].begin();
    }
    std::byte* base(int memory_at) const { return regions_[static_cast<std::size_t>(memory_at)].begin(); }

    /// An address as the device would print it: "spad 0x50001000", or "host" outside every memory of the machine.
    std::string device_address(void const* address) const {
        for (int at = 0; at < what_.memories.size(); ++at) {
            guarded_region const& region = regions_[static_cast<std::size_t>(at)];
            if (!region.holds(address, 0)) continue;
            memory const& m = what_.memories[at];
            char text[48];
            auto const offset = static_cast<std::uint64_t>(static_cast<std::byte const*>(address) - region.begin());
            std::snprintf(text, sizeof text, "%s0x%llx", m.base == no_address ? " +" : " ",
                          static_cast<unsigned long long>((m.base == no_address ? 0 : m.base) + offset));
            return m.name.str() + text;
        }
        return "host";
    }

    void reset() {
        transfers_.assign(static_cast<std::size_t>(what_.transfers.size()), {});
        intrinsics_.assign(static_cast<std::size_t>(what_.intrinsics.size()), {});
        code_ = {};
        error_.clear();
    }
    count const& transfers(int at) const { return transfers_[static_cast<std::size_t>(at)]; }
    count const& intrinsics(int at) const { return intrinsics_[static_cast<std::size_t>(at)]; }
    count const& code() const { return code_; }
    count counted(transfer_description const& t) const { return transfers(what_.transfers.find(t.name)); }
    count counted(intrinsic_description const& i) const { return intrinsics(what_.intrinsics.find(i.name)); }
    /// Cycles when nothing overlaps: the sum over all calls.
    std::int64_t cycles() const {
        std::int64_t total = code_.cycles;
        for (auto const* list : {&transfers_, &intrinsics_}) {
            for (count const& c : *list) total += c.cycles;
        }
        return total;
    }
    /// What the last refused call wanted; empty when all went well.
    std::string const& error() const { return error_; }

    // What generated code calls. The shape is {row elements, bytes of a destination element, of a source element, dimensions, then for each
    // dimension, outermost first: extent, source stride and destination stride in bytes}.
    std::int32_t transfer(std::int32_t at, void const* source, void* destination, std::int64_t const* shape) {
        if (at < 0 || at >= what_.transfers.size()) return fail(emulation_unknown_part, "a transfer that the machine does not have");
        transfer_description const& t = what_.transfers[at];
        std::int64_t const row = shape[0], to_size = shape[1], from_size = shape[2];
        int const dimensions = static_cast<int>(shape[3]);
        std::int64_t const* const along = shape + 7;
        std::int64_t source_reach = row * from_size, destination_reach = row * to_size, calls = row;
        for (int d = 0; d < dimensions; ++d) {
            source_reach += (along[3 * d] - 1) * along[3 * d + 1];
            destination_reach += (along[3 * d] - 1) * along[3 * d + 2];
            calls *= along[3 * d];
        }
        if (!takes(t, source, destination, shape)) return fail(emulation_illegal_transfer, t.name.str() + " takes no call of this shape");
        if ((source != nullptr && !reaches(t.source, source, source_reach)) || !reaches(t.destination, destination, destination_reach)) {
            return fail(emulation_bad_address, t.name.str() + ": " + std::to_string(source_reach) + " bytes from " +
                                                   device_address(source) + ", " + std::to_string(destination_reach) + " bytes to " +
                                                   device_address(destination));
        }
        move(at, static_cast<std::byte const*>(source), static_cast<std::byte*>(destination), shape, 0);
        count& c = transfers_[static_cast<std::size_t>(at)];
        std::int64_t const bytes = calls * to_size;
        c.calls += 1;
        c.bytes += bytes;
        c.cycles += t.costs.latency + t.costs.setup + (bytes + t.costs.bytes_per_cycle - 1) / t.costs.bytes_per_cycle;
        return 0;
    }
    /// `operands`: for each operand its address, then `max_rank` strides in elements.
    std::int32_t intrinsic(std::int32_t at, std::int64_t const* operands) {
        if (at < 0 || at >= what_.intrinsics.size()) return fail(emulation_unknown_part, "an intrinsic that the machine does not have");
        intrinsic_description const& i = what_.intrinsics[at];
        void* addresses[intrinsic_description::most_operands];
        std::int64_t strides[intrinsic_description::most_operands * max_rank];
        for (int o = 0; o < i.operand_count; ++o) {
            std::int64_t const* const given = operands + o * (2 + max_rank);
            addresses[o] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(given[0]));
            std::copy(given + 2, given + 2 + max_rank, strides + o * max_rank);
            operand_constraint const& wanted = i.operands[static_cast<std::size_t>(o)];
            if (!reaches(wanted.memory_name, addresses[o], reach(i, o, strides + o * max_rank))) {
                return fail(emulation_bad_address,
                            i.name.str() + ": operand " + wanted.tensor.str() + " at " + device_address(addresses[o]));
            }
        }
        semantics_.intrinsics[static_cast<std::size_t>(at)](addresses, strides);
        count& c = intrinsics_[static_cast<std::size_t>(at)];
        c.calls += 1;
        c.cycles += i.cost_cycles;
        return 0;
    }
    void code(std::int64_t iterations, ir::operation_counts const& operations) {
        code_.calls += 1;
        code_.cycles += iterations * cycles_of(operations, what_.host().costs);
    }

  private:
    bool reaches(label const& memory_name, void const* address, std::int64_t bytes) const {
        int const at = what_.memories.find(memory_name);
        memory const& m = what_.memories[at];
        // The first memory holds the caller's arguments, wherever they are.
        return m.capacity <= 0 || at == 0 || regions_[static_cast<std::size_t>(at)].holds(address, static_cast<std::size_t>(bytes));
    }
    /// Whether a call is within the limits that the transfer declares.
    static bool takes(transfer_description const& t, void const* source, void const* destination, std::int64_t const* shape) {
        auto const aligned = [&](std::int64_t value) { return value % t.address_alignment == 0; };
        auto const bits = [](void const* address) {
            return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) & 0xffff'ffff);
        };
        std::int64_t const row_bytes = shape[0] * shape[1];
        bool good = shape[3] < t.most_dimensions && row_bytes % t.row_granularity == 0 &&
                    (t.largest_row_bytes == 0 || row_bytes <= t.largest_row_bytes);
        good = good && (source == nullptr || aligned(bits(source))) && aligned(bits(destination));
        for (std::int64_t d = 0; d < shape[3]; ++d) {
            std::int64_t const* const along = shape + 7 + 3 * d;
            good = good && (t.largest_extent == 0 || along[0] <= t.largest_extent) && (source == nullptr || aligned(along[1])) &&
                   aligned(along[2]);
        }
        return good;
    }
    /// Bytes from an operand's first element to behind its last.
    std::int64_t reach(intrinsic_description const& i, int operand, std::int64_t const* strides) const {
        computation_view const view = what_.view(i.semantics);
        stage s;
        read_stage(view, 0, s);
        std::int64_t bytes = 0;
        for (int node_at = 0; node_at < view.count; ++node_at) {
            node const& n = view[node_at];
            if (n.op != operation::access || n.name != i.operands[static_cast<std::size_t>(operand)].tensor) continue;
            std::int64_t elements = 1;
            for (int d = 0; d < n.argument_count; ++d) {
                stage_index const index = index_of(view, s, node_at, d);
                for (int axis = 0; axis < s.axis_count; ++axis) {
                    elements += index.coefficients[static_cast<std::size_t>(axis)] * (s.axes[static_cast<std::size_t>(axis)].extent - 1) *
                                (d + 1 == n.argument_count ? 1 : strides[d]);
                }
            }
            bytes = std::max(bytes, elements * bytes_of(n.type));
        }
        return bytes;
    }
    void move(std::int32_t at, std::byte const* source, std::byte* destination, std::int64_t const* shape, int dimension) const {
        if (dimension < shape[3]) {
            std::int64_t const* const d = shape + 7 + 3 * dimension;
            for (std::int64_t i = 0; i < d[0]; ++i)
                move(at, source == nullptr ? nullptr : source + i * d[1], destination + i * d[2], shape, dimension + 1);
            return;
        }
        transfer_function const function = semantics_.transfers[static_cast<std::size_t>(at)];
        if (function != nullptr) function(destination, source, shape[0]);
        else std::memcpy(destination, source, static_cast<std::size_t>(shape[0] * shape[1]));
    }
    std::int32_t fail(emulation_error code, std::string const& what) {
        if (error_.empty()) error_ = what;
        return code;
    }

    machine what_;
    semantics_table semantics_;
    std::vector<guarded_region> regions_;
    std::vector<count> transfers_, intrinsics_;
    count code_;
    std::string error_;
};

/// The emulator of a machine that all kernels of this process share. Kernels that CMake builds with `BINDING emulated` run on it.
///
/// Found by the machine's name, since a `constexpr` machine in a header is another object in every translation unit.
inline std::shared_ptr<emulator>& shared_emulator(label const& name) {
    static std::map<std::string, std::shared_ptr<emulator>> all;
    return all[name.str()];
}

/// @throws std::logic_error when another machine of this name is emulated already
template <auto const& Machine>
emulator& emulated() {
    std::shared_ptr<emulator>& shared = shared_emulator(Machine.name);
    if (!shared) shared = std::make_shared<emulator>(Machine, semantics_of<Machine>);
    else if (!equal(shared->what(), Machine))
        throw std::logic_error("two different machines are called `" + Machine.name.str() + "`: give each a name of its own");
    return *shared;
}

}  // namespace tilewright
