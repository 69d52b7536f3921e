#pragma once
#include <tilewright/base/positions.hpp>
#include <tilewright/machine/machine.hpp>
#include <tilewright/plan/ir/partial.hpp>
#include <tilewright/plan/ir/ring.hpp>

// What a plan computes, and on which buffers.
namespace tilewright::ir {

/// The use of a buffer at one access of the computation, or as one operand of an intrinsic.
struct use {
    node_id node = no_node;  ///< the access in the computation
    buffer_id buffer = no_buffer;
    fixed_array<affine, max_rank> at{};  ///< index into the buffer's box, per dimension
};

/// A dimension of a padded access in which its index may leave the tensor.
struct padding {
    node_id node = no_node;  ///< the access in the computation
    std::int8_t dimension = 0;
    bool guarded = false;   ///< the buffer holds no border: outside, the constant is chosen, and nothing is read
    bool computed = false;  ///< the index is a `variable_kind::element`, and its expression may leave the tensor
    affine index{};         ///< in the tensor
    std::int64_t extent = 0;
};

struct operand_use {
    buffer_id buffer = no_buffer;
    fixed_array<affine, max_rank> at{};              ///< of the operand's first element
    fixed_array<std::int8_t, max_rank> dimension{};  ///< of the buffer, for each dimension of the operand; -1: none
    fixed_array<std::int64_t, max_rank> factor{};    ///< step along it
    std::int8_t joined = -1;                         ///< its dimension that goes on from the end of a row to the next; -1: none
};

enum class body_kind : std::uint8_t {
    value,      // a stage without reduction
    reduction,  // what it starts from, then the whole reduction
    identity,   // only what it starts from, the identity or a value: the reduction's loops stand further in
    update,     // continues a reduction
    intrinsic,  // one step of an intrinsic
};

/// Operations of one iteration of a tile body that stays code.
struct operation_counts {
    std::int32_t load = 0, store = 0, arithmetic = 0, multiply = 0, divide = 0, convert = 0;
    std::int32_t wait = 0;  ///< cycles that the memories of its loads and stores add
};

constexpr std::int64_t cycles_of(operation_counts const& counts, operation_costs const& cost) {
    return counts.load * cost.load + counts.store * cost.store + counts.arithmetic * cost.arithmetic + counts.multiply * cost.multiply +
           counts.divide * cost.divide + counts.convert * cost.convert + counts.wait;
}

/// What a `compute` step does: a nest of loops that Halide lowers, or a call of an intrinsic.
struct body {
    static constexpr int most_loops = 18;

    body_kind kind = body_kind::value;
    stage_id stage{};
    fixed_array<variable_id, most_loops> loops{};  ///< variables, outermost first
    std::int16_t loop_count = 0;
    operation_counts counts{};                  ///< of one iteration of all loops; what a reduction starts from is not in it
    operation_counts start_counts{.store = 1};  ///< of a reduction: of one iteration of the loops that write what it starts from
    std::int64_t cycles = 0;                    ///< of one execution; of an intrinsic, of one that covers a whole step
    std::int16_t intrinsic = -1;
    std::int16_t first_intrinsic = -1;  ///< used instead where all `first_loops` are at 0
    std::int64_t first_cycles = 0;
    /// Of an identity: the loops that must all be at 0 where it is written.
    fixed_array<variable_id, most_loops> first_loops{};
    std::int16_t first_loop_count = 0;
    std::int16_t operands = -1;  ///< first of its `operand_use`s, in the order of the intrinsic's declaration
    std::int16_t first_operands = -1;
    std::uint8_t sets = 0;  ///< a bit for each setting that its intrinsic uses and that every call sets for itself
    std::uint8_t first_sets = 0;
    bool begun = false;        ///< of an intrinsic: a transfer has put there what the reduction starts from
    std::int16_t extents = 0;  ///< first of its `step_extent`s, where its intrinsic covers up to so many elements of an axis
    std::int16_t extent_count = 0;
    std::int16_t first_extents = 0;
    std::int16_t first_extent_count = 0;
};

}  // namespace tilewright::ir
