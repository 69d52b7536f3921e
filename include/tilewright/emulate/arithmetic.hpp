#pragma once
#include <cmath>
#include <cstdint>
#include <tilewright/compute/scalar.hpp>
#include <type_traits>

// Scalars of the compute language as those of C++, and what it computes with them: no promotions; unsigned and 8/16-bit integers wrap;
// division rounds so that remainders are not negative.
namespace tilewright::detail {

template <scalar_type Type>
struct scalar;
template <>
struct scalar<scalar_type::boolean> {
    using type = bool;
};
template <>
struct scalar<scalar_type::int8> {
    using type = std::int8_t;
};
template <>
struct scalar<scalar_type::int16> {
    using type = std::int16_t;
};
template <>
struct scalar<scalar_type::int32> {
    using type = std::int32_t;
};
template <>
struct scalar<scalar_type::int64> {
    using type = std::int64_t;
};
template <>
struct scalar<scalar_type::uint8> {
    using type = std::uint8_t;
};
template <>
struct scalar<scalar_type::uint16> {
    using type = std::uint16_t;
};
template <>
struct scalar<scalar_type::uint32> {
    using type = std::uint32_t;
};
template <>
struct scalar<scalar_type::uint64> {
    using type = std::uint64_t;
};
template <>
struct scalar<scalar_type::float32> {
    using type = float;
};
template <>
struct scalar<scalar_type::float64> {
    using type = double;
};

template <>
struct scalar<scalar_type::float16> {
    using type = float16;
};
template <>
struct scalar<scalar_type::bfloat16> {
    using type = bfloat16;
};

template <class T>
constexpr auto widened(T value) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<std::make_unsigned_t<
            std::conditional_t<sizeof(T) < 4, std::int32_t, std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>>>(value);
    else return value;
}
template <class T>
constexpr T divide(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a / b;
    else {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return static_cast<T>(0 - widened(a));
            T const q = static_cast<T>(a / b), r = static_cast<T>(a % b);
            return static_cast<T>(r < 0 ? (b > 0 ? q - 1 : q + 1) : q);
        } else return static_cast<T>(a / b);
    }
}
template <class T>
constexpr T modulo(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a - b * std::floor(a / b);
    else {
        if (b == 0) return 0;
        return static_cast<T>(widened(a) - widened(divide(a, b)) * widened(b));
    }
}
template <class T>
constexpr T shift(T a, T by, bool left) {
    std::int64_t const bits = 8 * static_cast<std::int64_t>(sizeof(T));
    std::int64_t amount = static_cast<std::int64_t>(by);
    if (amount < 0) amount = -amount, left = !left;
    if (amount >= bits) return !left && a < T{} ? static_cast<T>(-1) : T{};
    return left ? static_cast<T>(widened(a) << amount) : static_cast<T>(a >> amount);
}
template <class To, class From>
constexpr To convert(From value) {
    return static_cast<To>(value);
}

}  // namespace tilewright::detail
