#pragma once
#include <tilewright/compute/stage.hpp>
#include <tilewright/machine/intrinsic.hpp>

namespace tilewright::emulation {

/// How many elements of each axis.
using extent_list = fixed_array<std::int64_t, ir::stage::most_axes>;

/// One call of an intrinsic: for each operand an address in this process, its buffer's position in the plan, and strides.
struct intrinsic_call {
    static constexpr int most_operands = intrinsic_description::most_operands;
    /// What generated code gives for an operand: {address, buffer, `max_rank` strides}.
    static constexpr int words_of_operand = 2 + max_rank;

    fixed_array<void*, most_operands> addresses;
    fixed_array<std::int64_t, most_operands> buffers;
    fixed_array<std::int64_t, most_operands * max_rank> strides;  ///< in elements
    extent_list extents{};                                        ///< of its axes, where it covers up to so many elements of them

    std::uintptr_t begin_of(int operand) const { return reinterpret_cast<std::uintptr_t>(addresses[operand]); }
    std::int64_t* strides_of(int operand) { return strides.elements + operand * max_rank; }
    std::int64_t const* strides_of(int operand) const { return strides.elements + operand * max_rank; }
};

}  // namespace tilewright::emulation
