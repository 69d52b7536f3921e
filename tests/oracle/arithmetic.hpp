#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The operations of the compute language on single values, as docs/reference/compute.md says. What is undefined sets a flag.
namespace oracle::arithmetic {

/// Signed integers of 32 and 64 bits may not overflow. All other integers wrap.
template <class T>
inline constexpr bool may_not_overflow = std::is_integral_v<T>&& std::is_signed_v<T> && sizeof(T) >= 4;

template <class T>
T add(T a, T b, bool& undefined) {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    else {
        T wrapped;
        bool const over = __builtin_add_overflow(a, b, &wrapped);
        undefined = over && may_not_overflow<T>;
        return wrapped;
    }
}
template <class T>
T subtract(T a, T b, bool& undefined) {
    if constexpr (std::is_floating_point_v<T>) return a - b;
    else {
        T wrapped;
        bool const over = __builtin_sub_overflow(a, b, &wrapped);
        undefined = over && may_not_overflow<T>;
        return wrapped;
    }
}
template <class T>
T multiply(T a, T b, bool& undefined) {
    if constexpr (std::is_floating_point_v<T>) return a * b;
    else {
        T wrapped;
        bool const over = __builtin_mul_overflow(a, b, &wrapped);
        undefined = over && may_not_overflow<T>;
        return wrapped;
    }
}

/// The quotient whose remainder is at least 0 and less than |b|; x / 0 is 0.
template <class T>
T divide(T a, T b, bool& undefined) {
    if constexpr (std::is_floating_point_v<T>) return a / b;
    else {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return subtract(T{0}, a, undefined);
        }
        T quotient = static_cast<T>(a / b);
        if constexpr (std::is_signed_v<T>) {
            if (a % b < 0) quotient = static_cast<T>(b > 0 ? quotient - 1 : quotient + 1);
        }
        return quotient;
    }
}
/// The remainder of that division; x % 0 is 0. Of floating point, x - y * floor(x / y).
template <class T>
T modulo(T a, T b, bool&) {
    if constexpr (std::is_floating_point_v<T>) return a - b * std::floor(a / b);
    else {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return 0;  // as the lowest number's quotient is none, C++ has no remainder either
            T const remainder = static_cast<T>(a % b);
            return static_cast<T>(remainder >= 0 ? remainder : b > 0 ? remainder + b : remainder - b);
        } else return static_cast<T>(a % b);
    }
}

template <class T>
T minimum(T a, T b, bool&) {
    return b < a ? b : a;
}
template <class T>
T maximum(T a, T b, bool&) {
    return a < b ? b : a;
}

/// To the left, bits beyond the top are lost. To the right, the sign is kept.
template <class T>
bool is_amount(T by) {
    return by >= T{0} && by < static_cast<T>(8 * sizeof(T));
}
template <class T>
T shift_left(T a, T by, bool& undefined) {
    undefined = !is_amount(by);
    if (undefined) return 0;
    return static_cast<T>(static_cast<std::uint64_t>(a) << by);
}
template <class T>
T shift_right(T a, T by, bool& undefined) {
    undefined = !is_amount(by);
    if (undefined) return 0;
    if constexpr (std::is_signed_v<T>) return static_cast<T>(static_cast<std::int64_t>(a) >> by);
    else return static_cast<T>(static_cast<std::uint64_t>(a) >> by);
}

/// Integers wrap; floating point is truncated towards 0 and must then be a value of the type. A bool is whether the value is not 0.
template <class To, class From>
To convert(From value, bool& undefined) {
    if constexpr (std::is_same_v<To, bool>) return value != From{0};
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        int const bits = std::numeric_limits<To>::digits;
        From const whole = std::trunc(value), beyond = std::ldexp(From{1}, bits);
        From const lowest = std::is_signed_v<To> ? -beyond : From{0};
        undefined = !(whole >= lowest && whole < beyond);
        return undefined ? To{0} : static_cast<To>(whole);
    } else return static_cast<To>(value);
}

/// A number of 16 bits that has `Exponent` bits of exponent, as a float. What is no number keeps its fraction, and is a quiet one.
template <int Exponent>
float from_half(std::uint16_t bits) {
    constexpr int fraction_bits = 15 - Exponent, bias = (1 << (Exponent - 1)) - 1, most = (1 << Exponent) - 1;
    int const exponent = bits >> fraction_bits & most, fraction = bits & ((1 << fraction_bits) - 1);
    float const sign = bits >> 15 != 0 ? -1.0f : 1.0f;
    if (exponent == most && fraction != 0) {
        std::uint32_t const payload = static_cast<std::uint32_t>(fraction) << (23 - fraction_bits);
        return std::bit_cast<float>((sign < 0 ? 0xffc0'0000u : 0x7fc0'0000u) | payload);
    }
    if (exponent == most) return sign * std::numeric_limits<float>::infinity();
    double const value = exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                       : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return sign * static_cast<float>(value);
}
/// The nearest number of 16 bits, of two the one whose last bit is 0.
template <int Exponent>
std::uint16_t to_half(float of) {
    constexpr int fraction_bits = 15 - Exponent, bias = (1 << (Exponent - 1)) - 1, infinite = ((1 << Exponent) - 1) << fraction_bits;
    std::uint32_t const all = std::bit_cast<std::uint32_t>(of);
    int const sign = static_cast<int>(all >> 31 << 15);
    if (std::isnan(of))
        return static_cast<std::uint16_t>(sign | infinite | 1 << (fraction_bits - 1) | (all & 0x7f'ffff) >> (23 - fraction_bits));
    if (std::isinf(of)) return static_cast<std::uint16_t>(sign | infinite);
    double const size = std::fabs(static_cast<double>(of));
    int const exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
    // How many of the smallest steps at this size; all further ones follow each other as whole numbers do.
    double const steps = std::nearbyint(std::ldexp(size, fraction_bits - exponent));
    double const number = steps + std::ldexp(exponent + bias - 1, fraction_bits);
    return static_cast<std::uint16_t>(sign | (number < infinite ? static_cast<int>(number) : infinite));
}

}  // namespace oracle::arithmetic
