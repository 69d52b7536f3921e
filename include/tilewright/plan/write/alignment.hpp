#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/write/region.hpp>

// Multiples and limits of addresses and strides: the plan decides them, or leaves them to the entry of the kernel.
namespace tilewright::detail {

struct region_fault {
    rule broken = rule::none;
    std::int64_t value = 0, limit = 0;

    constexpr explicit operator bool() const { return broken != rule::none; }
};

/// Whether the size of dimensions further in is left to run time.
constexpr bool has_open_extents(planning const& p, buffer_id buffer_at, int dimension) {
    for (int at = 0; at < p.plan.shapes.count; ++at) {
        shape const& open = p.plan.shapes[at];
        if (open.buffer == buffer_at && open.dimension > dimension && open.end.count > 0) return true;
    }
    return false;
}

/// Elements between neighbours along a dimension of a buffer, if the plan knows them: for its own boxes, and for an argument that must have
/// no gaps there. 0: only run time knows.
constexpr std::int64_t known_stride(planning const& p, buffer_id buffer_at, int dimension) {
    buffer const& b = p.plan.buffers.slots[buffer_at].part;
    if (b.kind != buffer_kind::argument || dimension == b.rank - 1) return b.stride(dimension);
    return dimension < b.dense_from || has_open_extents(p, buffer_at, dimension) ? 0 : b.stride(dimension);
}

/// Asks that `elements` along a dimension of a buffer lie a multiple of `unit` bytes apart. The entry checks strides that the caller
/// decides.
constexpr region_fault ask_for_multiple(writing& p, buffer_id buffer_at, int dimension, std::int64_t elements, std::int64_t unit) {
    buffer& b = p.buffer_at(buffer_at);
    std::int64_t const bytes = elements * bytes_of(b.type), stride = known_stride(p, buffer_at, dimension);
    if (unit <= 1 || bytes == 0) return {};
    if (stride != 0) return stride * bytes % unit == 0 ? region_fault{} : region_fault{rule::stride_not_aligned, stride * bytes, unit};
    std::int64_t& multiple = b.stride_multiples.elements[dimension];
    multiple = p.common_multiple(multiple > 0 ? multiple : 1, unit / gcd(unit, bytes), b.tensor);
    return {};
}

/// Asks that `elements` along a dimension of an argument lie at most `most` bytes apart; the entry checks it.
constexpr void ask_for_at_most(writing& p, buffer_id buffer_at, int dimension, std::int64_t elements, std::int64_t most) {
    buffer& b = p.buffer_at(buffer_at);
    std::int64_t const longest = most / (elements * bytes_of(b.type));
    std::int64_t& kept = b.longest_strides.elements[dimension];
    if (kept == 0 || longest < kept) kept = longest;
}

/// A demand on a stride of an argument that cannot be met: a multiple, if dimensions that were joined later fix the stride, or a limit.
constexpr region_fault contradiction_in(planning const& p, buffer_id buffer_at) {
    if (buffer_at < 0) return {};
    buffer const& b = p.plan.buffers.slots[buffer_at].part;
    for (int dimension = 0; dimension + 1 < b.rank && b.kind == buffer_kind::argument; ++dimension) {
        std::int64_t const size = bytes_of(b.type), longest = b.longest_strides.elements[dimension];
        std::int64_t const multiple = b.stride_multiples.elements[dimension] > 0 ? b.stride_multiples.elements[dimension] : 1;
        if (b.extents.elements[dimension] == 1 || has_open_extents(p, buffer_at, dimension)) continue;
        std::int64_t const least = b.stride(dimension),
                           stride = dimension >= b.dense_from ? least : (least + multiple - 1) / multiple * multiple;
        if (stride % multiple != 0) return {rule::stride_not_aligned, stride * size, multiple * size};
        if (longest > 0 && stride > longest) return {rule::stride_beyond_reach, stride * size, longest * size};
    }
    return {};
}

/// Whether addresses in a buffer at `at` are multiples of `alignment` bytes at all iterations of the loops. Only loops and dimensions that
/// move them count. The entry of the kernel checks strides that only run time knows.
constexpr region_fault align(writing& p, buffer_id buffer_at, fixed_array<linear, max_rank> const& at, std::int64_t alignment) {
    if (alignment <= 1) return {};
    buffer& b = p.buffer_at(buffer_at);
    b.alignment = p.common_multiple(b.alignment, alignment, b.tensor);
    for (int dimension = b.block_dimensions; dimension < b.rank; ++dimension) {  // a block begins where a buffer may
        linear const& form = at.elements[dimension];
        auto const moves = [&](std::int64_t elements) -> region_fault {
            region_fault const found = ask_for_multiple(p, buffer_at, dimension, elements, alignment);
            if (!found) return {};
            return {rule::address_not_aligned, (found.value % alignment + alignment) % alignment, alignment};
        };
        if (region_fault const found = moves(form.constant - b.minimum.elements[dimension])) return found;
        for (int t = 0; t < form.count; ++t) {
            term const& part = form.terms[t];
            if (!is_given(p.var(part.variable)) && p.var(part.variable).extent == 1) continue;
            if (region_fault const found = moves(grain_of(p, part))) return found;
        }
    }
    return {};
}

/// The multiple of addresses in a buffer, in bytes: what is asked for and, if addresses are numbers, the unit that these count.
/// @param seen_as  the buffer's memory, or a view of it, in which they are given
constexpr std::int64_t alignment_in(planning const& p, int buffer_at, label const& seen_as, std::int64_t asked) {
    buffer const& b = p.buffer_at(buffer_at);
    machine const& where = p.of->where();
    memory const& in = where.memories[b.memory];
    if (in.is_numbered()) asked = p.common_multiple(asked, in.address_unit, b.tensor);
    if (in.name == seen_as) return asked;
    int const view = where.memories.find(seen_as);
    return view >= 0 && where.memories[view].is_numbered() ? p.common_multiple(asked, where.memories[view].address_unit, b.tensor) : asked;
}

}  // namespace tilewright::detail
