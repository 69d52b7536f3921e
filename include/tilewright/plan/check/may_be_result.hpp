#pragma once
#include <tilewright/plan/ir/planning.hpp>

namespace tilewright::detail {

/// Whether an input may be the same tensor that the kernel writes: every element is read for the last time before it is overwritten.
///
/// The proof covers stages without reduction that read the input at the indices of their result, through loops that stay code or through
/// copies. The entry of a kernel refuses arguments that share bytes in any other way.
constexpr bool may_be_result(plan_value const& plan, int input) {
    int const last = plan.stages.size() - 1;
    stage const& s = plan.stages[last];
    buffer const& in = plan.buffers[input];
    int output = -1;
    for (int at = 0; at < plan.buffers.size(); ++at) {
        if (plan.buffers[at].written) output = at;
    }
    if (in.kind != buffer_kind::argument || in.written || output < 0 || plan.run_time_extents > 0 || s.reduces() || s.continues)
        return false;
    buffer const& out = plan.buffers[output];
    if (in.rank != out.rank || bytes_of(in.type) != bytes_of(out.type) || in.memory != out.memory) return false;
    for (int d = 0; d < in.rank; ++d) {
        if (in.minimum[d] != out.minimum[d] || in.extents[d] != out.extents[d]) return false;
    }
    // All reads are the last stage's, at its own indices.
    for (int node = 0; node < plan.what.count; ++node) {
        if (plan.what[node].op != operation::access || plan.what[node].name != in.tensor) continue;
        if (node < s.first || node >= s.store || is_padded(plan.what, node)) return false;
        for (int d = 0; d < in.rank; ++d) {
            stage_index const read = index_of(plan.what, s, node, d), written = index_of(plan.what, s, s.target, d);
            if (read.constant != written.constant) return false;
            for (int axis = 0; axis < s.axis_count; ++axis) {
                if (read.coefficients[axis] != written.coefficients[axis]) return false;
            }
        }
    }
    // Engines may read one and write the other at the same time, in an order that is not known here.
    for (int at = 0; at < plan.movements.size(); ++at) {
        movement const& m = plan.movements[at];
        if (m.source == input && m.destination == output) return false;
    }
    for (int at = 0; at < plan.operands.size(); ++at) {
        int const used = plan.operands[at].buffer;
        if (used == input || used == output) return false;
    }
    return true;
}

}  // namespace tilewright::detail
