#pragma once
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/engine_queue.hpp>
#include <tilewright/emulate/intrinsic_call.hpp>
#include <tilewright/emulate/operands.hpp>
#include <tilewright/machine/call_limits.hpp>

// The parts of a machine as every call of them needs them, looked up once.
namespace tilewright::emulation {

struct engine_place {
    int engine = -1;
    int lane = -1;  ///< of its first channel
    bool has_channels = false;

    engine_place(machine const& where, ir::label const& name) : engine(where.engines.find(name)) {
        if (engine < 0) return;
        lane = where.first_lane(engine);
        has_channels = where.engines[engine].has_channels();
    }
};

struct transfer_part : engine_place {
    int at;
    transfer_description const& is;
    transfer_function does;  ///< null: a copy
    int source, destination;
    detail::call_limits limits;

    transfer_part(machine const& where, int which, transfer_function function)
        : engine_place(where, where.transfers[which].engine_name),
          at(which),
          is(where.transfers[which]),
          does(function),
          source(memory_under(where, is.source)),
          destination(memory_under(where, is.destination)),
          limits(detail::limits_of(where, is)) {}
};

struct intrinsic_part : engine_place {
    int at;  ///< of several of one name, the first, which is counted for all
    intrinsic_description const& is;
    intrinsic_function does;
    int axis_count = 0;
    int result = 0;      ///< its position among the operands
    extent_list most{};  ///< of each axis
    ir::list<operand_footprint> operands;

    intrinsic_part(machine const& where, int which, intrinsic_function function)
        : engine_place(where, where.intrinsics[which].engine_name),
          at(where.intrinsics.find(where.intrinsics[which].name)),
          is(where.intrinsics[which]),
          does(function) {
        ir::stage s;
        read_stage(where.view(is.semantics), 0, s);
        axis_count = s.axis_count;
        for (int axis = 0; axis < s.axis_count; ++axis) most[axis] = s.axes[axis].extent;
        for (int o = 0; o < is.operand_count; ++o) operands.emplace_back(where, is, o);
        result = is.find(s.output);
    }

    /// Whether calls may cover less than all of an axis.
    bool is_flexible() const { return is.flexible_axes != 0; }
    /// Whether the core goes on beside a call.
    bool is_aside() const { return is.is_asynchronous && engine >= 0; }
    extent_list const& covered(intrinsic_call const& call) const { return is_flexible() ? call.extents : most; }
    void carry_out(intrinsic_call const& call) const { does(call.addresses.elements, call.strides.elements, call.extents.elements); }

    /// The bytes that a call reads and writes.
    void find_ranges(intrinsic_call const& call, flight& next) {
        for (int o = 0; o < is.operand_count; ++o) {
            for (auto const& run : operands[o].runs()) {
                byte_range const range = range_of(call, o, run);
                if (operands[o].reads) next.reads.push_back(range);
                if (operands[o].writes) next.writes.push_back(range);
            }
        }
        sort_and_merge(next.reads);
        sort_and_merge(next.writes);
    }
    byte_range range_of(intrinsic_call const& call, int operand, operand_footprint::run const& run) const {
        std::uintptr_t const begin =
            call.begin_of(operand) + static_cast<std::uintptr_t>(operands[operand].byte_offset(run, call.strides_of(operand)));
        return {begin, begin + static_cast<std::uintptr_t>(run.count * operands[operand].element_bytes)};
    }
};

struct machine_parts {
    ir::list<transfer_part> transfers;
    ir::list<intrinsic_part> intrinsics;

    machine_parts(machine const& where, semantics_table const& semantics) {
        for (int at = 0; at < where.transfers.size(); ++at) transfers.emplace_back(where, at, semantics.transfers[at]);
        for (int at = 0; at < where.intrinsics.size(); ++at) intrinsics.emplace_back(where, at, semantics.intrinsics[at]);
    }
};

}  // namespace tilewright::emulation
