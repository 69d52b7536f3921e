#pragma once
#include <tilewright/machine/call_limits.hpp>
#include <tilewright/plan/place/match.hpp>
#include <tilewright/plan/write/alignment.hpp>

// What an intrinsic asks of the strides of its operands. Where no C function is told a stride, rows follow each other as its own axes have
// them.
namespace tilewright::detail {

/// The elements from one index of `dimension` to the next where an operand, at `node` of the semantics, lies without gaps.
/// @return 0 where the dimension has one index, or the extent of one further in is up to the call: then nothing is known
constexpr std::int64_t stride_without_gaps(computation_view semantics, intrinsic_description const& what, stage const& sem, node_id node,
                                           int dimension) {
    std::int64_t stride = 1;
    for (int at = semantics[node].argument_count - 1; at >= dimension; --at) {
        stage_index const index = index_of(semantics, sem, node, at);
        std::int64_t extent = 1;
        for (int axis = 0; axis < sem.axis_count; ++axis) {
            std::int64_t const coefficient = index.coefficients[axis];
            if (coefficient == 0) continue;
            if (at > dimension && what.is_flexible(axis)) return 0;
            extent += (coefficient < 0 ? -coefficient : coefficient) * (sem.axes[axis].extent - 1);
        }
        if (at == dimension) return extent == 1 ? 0 : stride;
        stride *= extent;
    }
    return 0;
}

/// What is wrong with a stride of so many elements in dimension `dimension` of the operand at `position`, if no function is told it and
/// the machine says nothing else of it. Strides of arguments are the caller's.
constexpr mismatch untold_stride(planning const& p, int intrinsic_at, matching const& found, int position, int dimension,
                                 std::int64_t stride, bool is_argument) {
    machine const& where = p.of->where();
    intrinsic_description const& what = where.intrinsics[intrinsic_at];
    operand_constraint const& wanted = what.operands[position];
    if (has_free_stride(where, what, position, dimension)) return {};
    node_id const node = found.semantic_nodes[found.find(wanted.tensor)];
    std::int64_t const known = stride_without_gaps(where.view(what.semantics), what, found.semantics, node, dimension);
    if (known > 0 && is_argument) return differs(rule::stride_not_known, wanted.tensor, 0, known);
    return known == 0 || known == stride ? mismatch{} : differs(rule::stride_not_told, wanted.tensor, stride, known);
}

/// Asks the buffer for what an intrinsic needs of the strides of its operand at `position`.
constexpr mismatch check_strides(writing& p, int intrinsic_at, matching const& found, int position, operand_use const& o) {
    intrinsic_description const& what = p.of->where().intrinsics[intrinsic_at];
    operand_constraint const& wanted = what.operands[position];
    buffer const& b = p.buffer_at(o.buffer);
    std::int64_t const size = bytes_of(b.type);
    for (int dimension = 0; dimension < max_rank; ++dimension) {
        int const along = o.dimension[dimension];
        // Neighbours are along the last of the operand's dimensions that lie in the buffer's last.
        bool is_strided = along >= 0 && along != b.rank - 1;
        for (int other = dimension + 1; along >= 0 && other < max_rank; ++other) is_strided |= o.dimension[other] == along;
        if (!is_strided) continue;
        std::int64_t const stride = b.stride(along) * o.factor[dimension];
        std::int64_t multiple = p.common_multiple(what.stride_alignment, wanted.stride_multiple, wanted.tensor);
        each_value(p.of->where(), what, [&](call_argument const& a) {
            if (a.is == role::stride && a.operand == position && a.dimension == dimension && a.value > 1)
                multiple = p.common_multiple(multiple, a.value, wanted.tensor);
        });
        bool const argument = b.kind == buffer_kind::argument;
        if (wanted.longest_stride > 0 && argument) return differs(rule::stride_not_known, wanted.tensor, 0, wanted.longest_stride);
        if (wanted.longest_stride > 0 && stride > wanted.longest_stride)
            return differs(rule::stride_too_long, wanted.tensor, stride, wanted.longest_stride);
        if (mismatch const untold = untold_stride(p, intrinsic_at, found, position, dimension, stride, argument)) return untold;
        if (ask_for_multiple(p, o.buffer, along, o.factor[dimension], multiple * size))
            return differs(rule::stride_not_a_multiple, wanted.tensor, stride, multiple);
    }
    region_fault const wrong = contradiction_in(p, o.buffer);
    return wrong ? differs(rule::stride_not_a_multiple, wanted.tensor, wrong.value / size, wrong.limit / size) : mismatch{};
}

}  // namespace tilewright::detail
