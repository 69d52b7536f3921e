#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tilewright/network/graph.hpp>
#include <vector>

// Floats of 16 bits. Each is a float32, too.
namespace tilewright::network {

/// The number that the bits of a float16 of IEEE 754 stand for: subnormal ones, infinities and what is no number, too.
constexpr float float16_of(std::uint16_t bits) {
    std::uint32_t const sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
    if (exponent == 0) {
        float const magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return sign != 0 ? -magnitude : magnitude;
    }
    std::uint32_t const widened = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
    return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

/// The number that the bits of a bfloat16 stand for.
constexpr float bfloat16_of(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// Elements of a float of 16 bits, as float32.
///
/// @pre `is_half(type)`
inline std::vector<std::byte> as_float32(element_type type, std::vector<std::byte> const& halves) {
    std::vector<std::byte> made;
    made.reserve(2 * halves.size());
    for (std::uint16_t const bits : values_of<std::uint16_t>(halves)) {
        auto const word = std::bit_cast<std::uint32_t>(type == element_type::float16 ? float16_of(bits) : bfloat16_of(bits));
        for (int byte = 0; byte < 4; ++byte) made.push_back(static_cast<std::byte>(word >> 8 * byte & 0xff));
    }
    return made;
}

}  // namespace tilewright::network
