#pragma once
#include <tilewright/plan/ir/plan_value.hpp>

namespace tilewright::ir {

/// What the C function of a kernel takes, in its order: the tensors it reads, its scalar parameters, the tensor it writes.
struct argument_list {
    static constexpr int most_parameters = 16;

    fixed_array<std::int16_t, plan_value::most_buffers> tensors{};  ///< buffers of the plan; the written one, if any, is the last
    int tensor_count = 0;
    int input_count = 0;
    fixed_array<std::int16_t, most_parameters> parameters{};  ///< nodes of the computation
    int parameter_count = 0;
    int kept_result = -1;  ///< the buffer of a result that stays in a memory of the machine
    /// Device binding: memories without an address that hold planned buffers. The caller gives their addresses, after all tensors.
    fixed_array<std::int16_t, decltype(machine::memories)::most> pools{};
    int pool_count = 0;
};

constexpr argument_list arguments_of(plan_value const& plan) {
    argument_list list;
    for (bool written : {false, true}) {
        for (int at = 0; at < plan.buffers.size(); ++at) {
            buffer const& b = plan.buffers[at];
            if (b.kind == buffer_kind::result) list.kept_result = at;
            if (b.kind == buffer_kind::argument && b.written == written) list.tensors[list.tensor_count++] = static_cast<std::int16_t>(at);
        }
        if (!written) list.input_count = list.tensor_count;
    }
    for (int memory_at = 0; memory_at < plan.where->memories.size(); ++memory_at) {
        bool used = false;
        for (int at = 0; at < plan.buffers.size(); ++at) {
            buffer const& b = plan.buffers[at];
            used |= b.kind != buffer_kind::argument && b.memory == memory_at;
        }
        if (used && plan.where->memories[memory_at].is_pool()) list.pools[list.pool_count++] = static_cast<std::int16_t>(memory_at);
    }
    for (int at = 0; at < plan.what.count; ++at) {
        node const& n = plan.what[at];
        bool known = n.op != operation::parameter;
        for (int before = 0; before < list.parameter_count; ++before) known |= plan.what[list.parameters[before]].name == n.name;
        if (!known && list.parameter_count < static_cast<int>(list.parameters.size()))
            list.parameters[list.parameter_count++] = static_cast<std::int16_t>(at);
    }
    return list;
}

/// Where to read an extent that is left to run time: in a dimension of the result, which has it exactly, or else of an input.
/// @param results  whether the result may be asked
constexpr shape const& shape_of_extent(plan_value const& plan, int extent, bool results) {
    int found = -1;
    for (int at = 0; at < plan.shapes.size(); ++at) {
        shape const& one = plan.shapes[at];
        bool const written = plan.buffers[one.buffer].written;
        if (!one.plain || plan.term_at(one.end, 0).variable != extent || (written && !results)) continue;
        if (found < 0 || written) found = at;
    }
    return plan.shapes[found];
}

}  // namespace tilewright::ir
