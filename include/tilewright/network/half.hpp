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

/// The nearest float16, of halves the even one, as float32: infinite from 65520 on.
constexpr float rounded_to_float16(float of) {
    auto const bits = std::bit_cast<std::uint32_t>(of);
    std::uint32_t const sign = bits >> 31 << 31, magnitude = bits ^ sign;
    if (magnitude > 0x7f80'0000u) return of;                                          // no number
    if (magnitude >= 0x477f'f000u) return std::bit_cast<float>(sign | 0x7f80'0000u);  // 65520
    std::uint32_t const exponent = magnitude >> 23, lowest = 127 - 14;                // of a float16 that is not subnormal
    std::uint32_t const cut = exponent >= lowest ? 13 : 13 + (lowest - exponent);     // bits that a float16 does not have
    if (cut > 24) return std::bit_cast<float>(sign);                                  // less than half of the smallest one
    std::uint32_t const significand = (magnitude & 0x7f'ffffu) | 0x80'0000u, half = 1u << (cut - 1);
    std::uint32_t const kept = (significand + half - 1 + (significand >> cut & 1)) >> cut;
    int const step = static_cast<int>(exponent < lowest ? lowest : exponent) - 127 - 10;
    float const made = static_cast<float>(kept) * std::bit_cast<float>(static_cast<std::uint32_t>(step + 127) << 23);
    return sign != 0 ? -made : made;
}

/// The nearest bfloat16, of halves the even one, as float32.
constexpr float rounded_to_bfloat16(float of) {
    if (of != of) return of;
    auto const bits = std::bit_cast<std::uint32_t>(of);
    return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16 << 16);
}

/// The type that elements are computed in: float32 of a float of 16 bits.
constexpr element_type computed_type(element_type type) { return is_half(type) ? element_type::float32 : type; }

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
