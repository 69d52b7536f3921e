#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tilewright/network/half.hpp>
#include <utility>
#include <vector>

// What operators of trained networks mean, as plain loops over numbers. It shares nothing with what makes kernels of them, so that it can
// judge these. It is slow.
namespace tilewright::reference {

/// A tensor with its elements, row by row, each little-endian.
struct elements {
    network::element_type type = network::element_type::unknown;
    std::vector<std::int64_t> extents = {};  ///< none: a scalar
    std::vector<std::byte> bytes = {};
};

/// Turns floats of 16 bits into float32; others stay.
inline void widen(elements& of) {
    if (!network::is_half(of.type)) return;
    of.bytes = network::as_float32(of.type, of.bytes);
    of.type = network::element_type::float32;
}

/// The operands of a node, in its order; null where one is left out.
using operands = std::vector<elements const*>;

/// An operator, an operand or a setting that has no reference. `what()` says which.
class not_covered : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

inline std::int64_t count_of(std::vector<std::int64_t> const& extents) {
    std::int64_t count = 1;
    for (std::int64_t const one : extents) count *= one;
    return count;
}

namespace detail {

/// Calls `use` with a value of the C++ type of the elements; of a boolean, with a std::uint8_t.
///
/// @throws not_covered  where the type is unknown
template <class Use>
auto with_type(network::element_type type, Use const& use) {
    using of = network::element_type;
    switch (type) {
        case of::float32: return use(float{});
        case of::float64: return use(double{});
        case of::int8: return use(std::int8_t{});
        case of::int16: return use(std::int16_t{});
        case of::int32: return use(std::int32_t{});
        case of::int64: return use(std::int64_t{});
        case of::uint8:
        case of::boolean: return use(std::uint8_t{});
        case of::uint16: return use(std::uint16_t{});
        case of::uint32: return use(std::uint32_t{});
        case of::uint64: return use(std::uint64_t{});
        case of::float16:
        case of::bfloat16:
        case of::other:
        case of::unknown: break;
    }
    throw not_covered("elements of " + std::string(name_of(type)) + " type");
}

template <class Number>
std::vector<Number> numbers_of(elements const& of) {
    return with_type(of.type, [&](auto one) {
        auto const values = network::values_of<decltype(one)>(of.bytes);
        std::vector<Number> made;
        made.reserve(values.size());
        for (auto const value : values) made.push_back(static_cast<Number>(value));
        return made;
    });
}

template <class Number>
elements of_numbers(network::element_type type, std::vector<std::int64_t> extents, std::vector<Number> const& numbers) {
    elements made{type, std::move(extents), {}};
    with_type(type, [&](auto one) {
        made.bytes.reserve(numbers.size() * sizeof one);
        for (Number const number : numbers) {
            one = static_cast<decltype(one)>(number);
            std::uint64_t word = 0;
            if constexpr (sizeof one == 8) word = std::bit_cast<std::uint64_t>(one);
            else if constexpr (sizeof one == 4) word = std::bit_cast<std::uint32_t>(one);
            else word = static_cast<std::uint64_t>(static_cast<std::int64_t>(one));
            network::append_bytes(made.bytes, word, static_cast<int>(sizeof one));
        }
    });
    return made;
}

}  // namespace detail

/// The elements as integers. Those of std::uint64_t wrap.
///
/// @throws not_covered  where they are floats
inline std::vector<std::int64_t> integers_of(elements const& of) {
    if (of.type == network::element_type::float32 || of.type == network::element_type::float64)
        throw not_covered("floats where integers are wanted");
    return detail::numbers_of<std::int64_t>(of);
}
/// The elements as reals, of any type.
inline std::vector<double> reals_of(elements const& of) { return detail::numbers_of<double>(of); }

/// Integers as elements of a type; what does not fit wraps.
inline elements of_integers(network::element_type type, std::vector<std::int64_t> extents, std::vector<std::int64_t> const& values) {
    return detail::of_numbers(type, std::move(extents), values);
}
/// Reals as elements of a type. A float is the nearest one.
///
/// @pre an integer type holds each of them, but for its fraction, which is cut
inline elements of_reals(network::element_type type, std::vector<std::int64_t> extents, std::vector<double> const& values) {
    return detail::of_numbers(type, std::move(extents), values);
}

/// The next index of a walk row by row. @return false where it was the last; then all are 0 again
inline bool next(std::vector<std::int64_t>& index, std::vector<std::int64_t> const& extents) {
    for (std::size_t at = index.size(); at-- > 0;) {
        if (++index[at] < extents[at]) return true;
        index[at] = 0;
    }
    return false;
}
/// The place of an index in a tensor, row by row.
inline std::size_t place_of(std::vector<std::int64_t> const& index, std::vector<std::int64_t> const& extents) {
    std::int64_t place = 0;
    for (std::size_t at = 0; at < index.size(); ++at) place = place * extents[at] + index[at];
    return static_cast<std::size_t>(place);
}

/// The distance between neighbours along each dimension, row by row.
inline std::vector<std::int64_t> strides_of(std::vector<std::int64_t> const& extents) {
    std::vector<std::int64_t> made(extents.size(), 1);
    for (std::size_t at = extents.size(); at-- > 1;) made[at - 1] = made[at] * extents[at];
    return made;
}
/// The places that a walk over `extents` meets, row by row: it begins at `first` and goes as far as `strides` say along each dimension.
template <class Place = std::int64_t>
std::vector<Place> walk(std::vector<std::int64_t> const& extents, std::int64_t first, std::vector<std::int64_t> const& strides) {
    std::vector<Place> made;
    if (count_of(extents) <= 0) return made;
    made.reserve(static_cast<std::size_t>(count_of(extents)));
    std::vector<std::int64_t> index(extents.size(), 0);
    do {
        std::int64_t place = first;
        for (std::size_t at = 0; at < index.size(); ++at) place += index[at] * strides[at];
        made.push_back(static_cast<Place>(place));
    } while (next(index, extents));
    return made;
}

/// What an operator computes: a result for each of the node's outputs.
using operator_function = std::vector<elements> (*)(network::graph const&, network::node const&, operands const&);

/// An operator that has a reference.
struct operator_entry {
    std::string_view name;
    operator_function compute;
};

}  // namespace tilewright::reference
