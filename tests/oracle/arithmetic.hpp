#pragma once
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

}  // namespace oracle::arithmetic
