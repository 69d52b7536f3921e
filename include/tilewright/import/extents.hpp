#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

// Extents that tensors of a program can have. What a model says of them is not trusted: arithmetic on it refuses what is too large.
namespace tilewright::imported {

/// Why one node cannot be imported; `what()` is the reason alone.
struct not_imported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The most elements along a dimension: generated code counts in 32 bits.
inline constexpr std::int64_t most_extent = 0x7fff'ffff;
/// The most elements of a shape: products of two such counts and a few bytes for each stay within 63 bits.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 31;

inline std::string text_of(std::vector<std::int64_t> const& of) {
    constexpr std::size_t most = 16;  // a damaged model can have a million dimensions
    std::string text;
    for (std::size_t at = 0; at < of.size() && at < most; ++at) text += (text.empty() ? "" : "x") + std::to_string(of[at]);
    return text.empty() ? "a scalar" : of.size() > most ? text + "x…" : text;
}

/// The number of elements of a shape.
///
/// @throw not_imported  where an extent is less than 1, or where there are more than `most_elements`
inline std::int64_t count_of(std::vector<std::int64_t> const& of) {
    std::int64_t count = 1;
    for (std::int64_t const extent : of) {
        if (extent < 1) throw not_imported("a tensor without elements");
        if (__builtin_mul_overflow(count, extent, &count) || count > most_elements)
            throw not_imported("shape " + text_of(of) + " has more than " + std::to_string(most_elements) + " elements");
    }
    return count;
}

/// Calls `visit(index, value)` for each element of a shape, row by row, with its index along a dimension.
template <class Visit>
void each_along(std::vector<std::int64_t> const& shape, std::size_t dimension, std::vector<std::int64_t> const& values,
                Visit const& visit) {
    std::size_t inner = 1;
    for (std::size_t at = dimension + 1; at < shape.size(); ++at) inner *= static_cast<std::size_t>(shape[at]);
    for (std::size_t at = 0; at < values.size(); ++at) visit(at / inner % static_cast<std::size_t>(shape[dimension]), values[at]);
}

/// A number out of a model, within limits.
inline std::int64_t limited(std::int64_t of, std::int64_t least, std::int64_t most, char const* what) {
    if (of < least || of > most) throw not_imported(std::string(what) + " of " + std::to_string(of));
    return of;
}

}  // namespace tilewright::imported
