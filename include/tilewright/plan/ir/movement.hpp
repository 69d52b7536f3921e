#pragma once
#include <tilewright/base/positions.hpp>
#include <tilewright/machine/machine.hpp>
#include <tilewright/plan/ir/partial.hpp>
#include <tilewright/plan/ir/ring.hpp>

namespace tilewright::ir {

/// One dimension of a movement besides the row.
struct movement_dimension {
    std::int64_t extent = 1;
    std::int8_t source_dimension = -1;
    std::int8_t destination_dimension = -1;
    std::int64_t source_factor = 1;  ///< step along the source's dimension
    std::int64_t destination_factor = 1;
};

/// What one call of a transfer moves: a row of `row_elements`, repeated along `dimensions`, outermost first.
struct movement {
    std::int16_t transfer = -1;    ///< -1: a fill by loops of the core
    buffer_id source = no_buffer;  ///< -1: a fill
    buffer_id destination = no_buffer;
    node_id border = no_node;  ///< of a fill by the core, or a load that writes borders: the padded access whose border it writes
    std::int64_t row_elements = 1;
    fixed_array<movement_dimension, max_rank> dimensions{};
    std::int16_t dimension_count = 0;
    std::uint8_t source_joined = 0;  ///< bit d: steps along the buffer's dimension d + 1 go on into dimension d
    std::uint8_t destination_joined = 0;
    fixed_array<affine, max_rank> source_at{};  ///< index of the first element, per dimension of the buffer
    fixed_array<affine, max_rank> destination_at{};
    std::int16_t first_clip = 0;
    std::int16_t clip_count = 0;
    std::uint8_t sets = 0;  ///< a bit for each setting that its transfer uses and that every call sets for itself
    std::int8_t piece = 0;  ///< of the movements that together move one region
    std::int8_t pieces = 1;
    std::int64_t bytes = 0;       ///< at the destination (at the source, when types differ, is in proportion), of a whole tile
    std::int64_t cycles = 0;      ///< setup, occupation and latency of one call, likewise
    ring_step at{};               ///< if it belongs to a ring: the step says the values of the ring's loops, not the loops around
    std::int16_t hint_loop = -1;  ///< a copy by the core: it asks the caches for what it reads `hint` iterations of this loop later
    std::int16_t hint = 0;
    std::int16_t hint_in = -1;  ///< the loop whose iterations ask, each for a share; -1: the copy asks for all of it
};

}  // namespace tilewright::ir
