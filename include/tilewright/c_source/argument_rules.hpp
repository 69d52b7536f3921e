#pragma once
#include <tilewright/c_source/run_time_extents.hpp>
#include <tilewright/plan/check/may_be_result.hpp>
#include <tilewright/runtime/argument.h>

// What a kernel's arguments have to be, as runtime/entry.h compares buffers with it. Does not need Halide.
namespace tilewright::halide::detail {

inline int type_bits(scalar_type type) { return type == scalar_type::boolean ? 1 : 8 * bytes_of(type); }

/// All but the code of its type, which is Halide's. Extents that follow from what is left to run time are 0.
/// @param position  among the arguments of the plan
inline tilewright_argument rules_of_argument(plan_value const& plan, int position) {
    int const at = arguments_of(plan).tensors[position];
    buffer const& b = plan.buffers[at];
    tilewright_argument made{};
    made.type_bits = static_cast<std::uint8_t>(type_bits(b.type));
    made.rank = b.rank;
    made.written = b.written ? 1 : 0;
    for (int d = 0; d < b.rank; ++d) {
        made.minimum[d] = static_cast<std::int32_t>(b.minimum[d]);
        made.extent[d] = static_cast<std::int32_t>(b.extents[d]);
        made.stride_multiple[d] = b.stride_multiples[d];
        made.longest_stride[d] = b.longest_strides[d];
    }
    made.dense_from = b.dense_from;
    made.alignment = b.alignment;
    for (int which = 0; which < plan.shapes.size(); ++which) {
        shape const& one = plan.shapes[which];
        if (one.buffer != at) continue;
        made.extent[one.dimension] = 0;
        if (one.plain) made.exact |= 1 << one.dimension;
    }
    made.may_be_result = tilewright::detail::may_be_result(plan, at) ? 1 : 0;
    return made;
}

}  // namespace tilewright::halide::detail
