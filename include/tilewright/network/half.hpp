#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tilewright/compute/scalar.hpp>
#include <tilewright/network/graph.hpp>
#include <vector>

// Floats of 16 bits in networks. They are computed in float32.
namespace tilewright::network {

/// The type that elements are computed in: float32 of a float of 16 bits.
constexpr element_type computed_type(element_type type) { return is_half(type) ? element_type::float32 : type; }

/// Elements of a float of 16 bits, as float32.
///
/// @pre `is_half(type)`
inline std::vector<std::byte> as_float32(element_type type, std::vector<std::byte> const& halves) {
    std::vector<std::byte> made;
    made.reserve(2 * halves.size());
    for (std::uint16_t const bits : values_of<std::uint16_t>(halves)) {
        float const number = type == element_type::float16 ? std::bit_cast<float16>(bits) : std::bit_cast<bfloat16>(bits);
        append_bytes(made, std::bit_cast<std::uint32_t>(number), 4);
    }
    return made;
}

}  // namespace tilewright::network
