#pragma once
#include <cstdint>

// Buffers that need offsets in a memory, and what is known about the offsets that they get.
namespace tilewright::ir {

/// A buffer that needs a place in a memory for a time.
struct placed_buffer {
    std::int64_t bytes = 0;
    std::int64_t alignment = 1;  ///< of the offset
    int born = 0, dead = 0;      ///< alive in the half-open interval of program points
    std::int64_t offset = -1;    ///< result, in bytes from the beginning of its bank; with `fixed`, where the buffer has to lie
    bool fixed = false;
    int bank = -1;       ///< result; on entry the wanted bank, or -1: any
    int bank_count = 1;  ///< it lies in so many, from its bank on and round all of them, at one offset
};

/// Where buffers lie: in banks of `capacity / banks` bytes each.
struct address_space {
    std::int64_t capacity = 0;
    int banks = 1;
};

enum class offset_goal : std::uint8_t {
    smallest_peak,
    first_fit,  ///< any offsets below the capacity
};

/// Inputs of `assign_offsets` that have no meaning.
enum class offset_fault : std::uint8_t {
    none,
    space,          ///< less than one bank, or a negative capacity
    bytes,          ///< negative, or more in all than addresses can say
    alignment,      ///< less than 1
    lifetime,       ///< ends before it begins
    bank,           ///< is not there, more than there are, or missing for a fixed buffer, or for one in some of several banks
    fixed_offset,   ///< negative, or no multiple of the alignment
    fixed_overlap,  ///< two fixed buffers alive at one time share bytes
};

struct offset_result {
    std::int64_t peak = 0;         ///< the largest end of a buffer in its bank
    std::int64_t lower_bound = 0;  ///< no offsets have a smaller peak
    bool proven = false;           ///< the peak is the lower bound: none is smaller
    bool fits = false;             ///< in the capacity; if not, and the lower bound is above it, nothing fits
    std::int64_t steps = 0;        ///< how often the search looked at a buffer
    offset_fault fault = offset_fault::none;
    int faulty = -1;  ///< which buffer
};

}  // namespace tilewright::ir
