#pragma once
#include <tilewright/compute/stage.hpp>
#include <tilewright/plan/ir/linear.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::ir {

enum class buffer_kind : std::uint8_t {
    argument,  // passed by the caller, in the machine's first memory
    staged,    // the plan gives it an address
    result,    // likewise, and it is what the kernel computes
};

/// Where the elements of a box are, if they are not row-major over its own dimensions.
struct buffer_layout {
    /// A dimension of the buffer: (coordinate of the box / divisor) % modulus.
    struct coordinate {
        std::int8_t dimension = -1;  ///< of the box
        std::int64_t divisor = 1;
        std::int64_t modulus = 0;  ///< 0: none
    };
    std::int16_t rank = 0;  ///< of the box
    fixed_array<std::int64_t, max_rank> extents{};
    fixed_array<coordinate, max_rank> coordinates{};  ///< for each dimension of the buffer
};

/// A tensor's place: an argument, or a box of it that the plan puts at an address, row-major and dense. Its dimensions are those of the
/// box, or what a layout makes of them; then coordinates that lie beyond the box are padding.
struct buffer {
    label name{};  ///< unique in the plan: the tensor's, or tensor.memory
    label tensor{};
    buffer_kind kind = buffer_kind::argument;
    bool written = false;     ///< argument: the kernel writes it
    std::int16_t memory = 0;  ///< position in the machine
    scalar_type type = scalar_type::literal;
    std::int16_t rank = 0;
    fixed_array<std::int64_t, max_rank> minimum{};  ///< argument: the lowest index used
    fixed_array<std::int64_t, max_rank> extents{};
    std::int64_t bytes = 0;            ///< of a version
    std::int64_t alignment = 1;        ///< bytes; argument: of the host pointer
    std::int64_t offset = 0;           ///< bytes from the base of the memory, or of every bank that it lies in
    std::int16_t layout = -1;          ///< position in the plan; -1: its dimensions are those of the box
    std::int16_t blocks = 1;           ///< parts of a version; part `version * blocks + block` lies in bank (bank + part) % banks
    std::int8_t block_dimensions = 0;  ///< the outermost dimensions, which say in which block an element is
    std::int16_t versions = 1;         ///< copies of the box
    std::int16_t bank = -1;            ///< of part 0; -1: not placed yet
    bool any_bank = false;             ///< it has one part, and no bank was asked for, or matters
    std::int64_t part_stride = 0;      ///< bytes from a part to the next one in the same bank
    std::int16_t ring = -1;            ///< whose step says which version is meant; -1: there is only one, or a loop says it
    std::int16_t by_loop = -1;         ///< the parallel loop that has a version for each of its iterations
    std::int16_t born = -1;            ///< first step of its lifetime
    std::int16_t dead = -1;            ///< the step after its lifetime
    std::int16_t ordinal = 0;          ///< the directive that made it
    bool code_access = false;          ///< loops that stay code touch it
    std::uint8_t dense_from = 0;       ///< argument: dimensions from here on must follow each other without gaps
    /// Argument: elements; what the stride of each dimension must be a multiple of. 0: anything will do.
    fixed_array<std::int64_t, max_rank> stride_multiples{};
    fixed_array<std::int64_t, max_rank> longest_strides{};  ///< likewise, the longest that it may be; 0: any

    constexpr int parts() const { return versions * blocks; }
    constexpr std::int64_t part_bytes() const { return bytes / blocks; }
    constexpr int bank_of(int part, int banks) const { return (bank + part) % banks; }
    /// A bit for each bank that a version lies in.
    constexpr unsigned banks_of(int version, int banks) const {
        unsigned bits = 0;
        for (int part = version * blocks; part < (version + 1) * blocks; ++part) bits |= 1u << bank_of(part, banks);
        return bits;
    }
    /// Whether a part of the buffer lies in a bank of its memory, which has so many.
    constexpr bool lies_in(int of_bank, int banks) const { return (of_bank - bank + banks) % banks < parts(); }
    /// Where a part begins, in bytes from the base of its bank.
    constexpr std::int64_t offset_of(int part, int banks) const { return offset + part / banks * part_stride; }
    /// Parts that the fullest of its banks holds.
    constexpr int parts_in_bank(int banks) const { return (parts() + banks - 1) / banks; }
    /// Bytes from the first part in a bank to the end of the last.
    constexpr std::int64_t bytes_in_bank(int banks) const { return (parts_in_bank(banks) - 1) * part_stride + part_bytes(); }
    /// Elements between neighbours along `dimension` of a dense box.
    constexpr std::int64_t stride(int dimension) const {
        std::int64_t elements = 1;
        for (int inner = rank - 1; inner > dimension; --inner) elements *= extents.elements[inner];
        return elements;
    }
};

/// Whether two buffers have bytes in common, whatever their versions.
/// @pre both are in the memory that has these banks
constexpr bool share_bytes(buffer const& a, buffer const& b, int banks) {
    bool share_bank = false;
    for (int bank = 0; bank < banks; ++bank) share_bank |= a.lies_in(bank, banks) && b.lies_in(bank, banks);
    return share_bank && a.offset < b.offset + b.bytes_in_bank(banks) && b.offset < a.offset + a.bytes_in_bank(banks);
}

/// What a core cleans, or invalidates, of its cache: the version of a buffer that is in use where the loops stand, or all of it.
struct upkeep {
    buffer_id buffer = no_buffer;
    bool of_version = false;
};

/// Most versions of a buffer.
inline constexpr int most_versions = 16;

}  // namespace tilewright::ir
