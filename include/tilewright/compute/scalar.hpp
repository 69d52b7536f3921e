#pragma once
#include <cstdint>
#include <tilewright/compute/half.hpp>

namespace tilewright {

namespace detail {
template <class T>
inline constexpr bool has_fixed_sign = !one_of<T, char, wchar_t>;
template <class T>
inline constexpr bool has_width = integral<T>;
}  // namespace detail

/// Element types. `literal` is the type of a constant that has not met an operand yet: it takes the type of the other side.
enum class scalar_type : std::uint8_t {
    literal,
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    float16,
    bfloat16
};

// They stand after the enumerators of these names: g++ warns of the other order.

/// Of IEEE 754: 5 bits of exponent, 10 of fraction. As an element type it is for memory: kernels compute with `cast<float>(x)`.
using float16 = detail::half_number<detail::ieee_half>;
/// The upper half of a `float`: 8 bits of exponent, 7 of fraction. Likewise for memory.
using bfloat16 = detail::half_number<detail::brain_half>;

template <class T>
constexpr scalar_type scalar_type_of() {
    using enum scalar_type;
    if constexpr (detail::one_of<T, bool>) return boolean;
    else if constexpr (detail::one_of<T, float>) return float32;
    else if constexpr (detail::one_of<T, double>) return float64;
    else if constexpr (detail::one_of<T, tilewright::float16>) return scalar_type::float16;
    else if constexpr (detail::one_of<T, tilewright::bfloat16>) return scalar_type::bfloat16;
    else {
        // Compilers repeat lines of these, so they are short.
        // clang-format off
static_assert(
detail::has_fixed_sign<T>,
            "char has no fixed sign: write std::int8_t or std::uint8_t");
static_assert(
detail::has_width<T>,
            "element types are bool, float, double, float16, bfloat16 and the integers of 8 to 64 bits");
        // clang-format on
        constexpr scalar_type of_signed[] = {int8, int16, int32, int64};
        constexpr scalar_type of_unsigned[] = {uint8, uint16, uint32, uint64};
        constexpr int which = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return detail::signed_number<T> ? of_signed[which] : of_unsigned[which];
    }
}

/// A floating-point type that kernels compute with.
constexpr bool is_float(scalar_type type) { return type == scalar_type::float32 || type == scalar_type::float64; }
/// One that is for memory, and converted to and from `float`.
constexpr bool is_half(scalar_type type) { return type == scalar_type::float16 || type == scalar_type::bfloat16; }
constexpr bool is_unsigned(scalar_type type) { return type >= scalar_type::uint8 && type <= scalar_type::uint64; }

/// Bytes of one element in memory; a bool takes one.
constexpr int bytes_of(scalar_type type) {
    switch (type) {
        case scalar_type::literal: return 0;
        case scalar_type::boolean:
        case scalar_type::int8:
        case scalar_type::uint8: return 1;
        case scalar_type::int16:
        case scalar_type::uint16:
        case scalar_type::float16:
        case scalar_type::bfloat16: return 2;
        case scalar_type::int32:
        case scalar_type::uint32:
        case scalar_type::float32: return 4;
        case scalar_type::int64:
        case scalar_type::uint64:
        case scalar_type::float64: return 8;
    }
    return 0;
}

/// The greatest value of an integer type, or of bool. That of uint64 is given as its 64 bits.
constexpr std::int64_t highest_of(scalar_type type) {
    int const bits = type == scalar_type::boolean ? 1 : 8 * bytes_of(type) - (is_unsigned(type) ? 0 : 1);
    return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits));
}
/// The least.
constexpr std::int64_t lowest_of(scalar_type type) { return type == scalar_type::boolean || is_unsigned(type) ? 0 : -highest_of(type) - 1; }

/// The name as the compute language spells it: "int8", "float", …
constexpr char const* name_of(scalar_type type) {
    constexpr char const* names[] = {"literal", "bool",   "int8",   "int16", "int32",  "int64",   "uint8",
                                     "uint16",  "uint32", "uint64", "float", "double", "float16", "bfloat16"};
    return names[static_cast<int>(type)];
}

/// The type that generated code has in the place of an element type: of floats of 16 bits, their bits.
constexpr scalar_type as_generated(scalar_type type) { return is_half(type) ? scalar_type::uint16 : type; }

/// The bits of the number of type `half` that is nearest to a value.
constexpr std::uint16_t half_bits_of(scalar_type half, float value) {
    return half == scalar_type::float16 ? float16(value).bits : bfloat16(value).bits;
}
/// The value of the number of type `half` that has these bits.
constexpr float value_of_half(scalar_type half, std::uint16_t bits) {
    return half == scalar_type::float16 ? float(__builtin_bit_cast(float16, bits)) : float(__builtin_bit_cast(bfloat16, bits));
}

/// Calls `visitor(T{})` with a value of the C++ type that generated code has for `type`. @pre type is not `literal`
template <class Visitor>
constexpr decltype(auto) visit_scalar(scalar_type type, Visitor&& visitor) {
    switch (as_generated(type)) {
        case scalar_type::boolean: return visitor(bool{});
        case scalar_type::int8: return visitor(std::int8_t{});
        case scalar_type::int16: return visitor(std::int16_t{});
        case scalar_type::int32: return visitor(std::int32_t{});
        case scalar_type::int64: return visitor(std::int64_t{});
        case scalar_type::uint8: return visitor(std::uint8_t{});
        case scalar_type::uint16: return visitor(std::uint16_t{});
        case scalar_type::uint32: return visitor(std::uint32_t{});
        case scalar_type::uint64: return visitor(std::uint64_t{});
        case scalar_type::float32: return visitor(float{});
        default: return visitor(double{});
    }
}

}  // namespace tilewright
