#pragma once
#include <tilewright/compute/shared.hpp>
#include <tilewright/compute/tensor.hpp>

// What networks compute at each element, made of the operations of the language: ordinary expressions, which generated code, emulated
// machines and references compute alike.
namespace tilewright {

/// x, or 0 where x is less. A -0.0, and what is no number, stays.
template <detail::symbolic T>
constexpr auto relu(T const& x) {
    return max(x, 0);
}

namespace detail {

/// The lowest or highest value that integers of both types have; of floating point, that the other type has.
constexpr std::int64_t common_limit(scalar_type a, scalar_type b, bool lowest) {
    auto const limit_of = [lowest](scalar_type type) -> std::int64_t {
        std::int64_t const all = std::numeric_limits<std::int64_t>::max();
        if (is_float(type) || type == scalar_type::int64) return lowest ? -all - 1 : all;
        if (type == scalar_type::uint64) return lowest ? 0 : all;
        int const bits = 8 * bytes_of(type) - (is_unsigned(type) ? 0 : 1);
        if (lowest) return is_unsigned(type) ? 0 : -(std::int64_t{1} << bits);
        return (std::int64_t{1} << bits) - 1;
    };
    std::int64_t const one = limit_of(a), other = limit_of(b);
    return lowest == (one > other) ? one : other;
}

/// A number of bits to shift by, as values of `type` are shifted: a literal takes the type by itself.
template <class T>
constexpr auto as_amount(T const& amount, scalar_type type) {
    if constexpr (std::is_arithmetic_v<T>) return to_expression(amount);
    else return wrap(operation::cast, type, to_expression(amount));
}

}  // namespace detail

/// The nearest value that a `To` can have. Of floating point, truncated towards 0; of what is no number, the lowest.
template <class To, detail::symbolic T>
    requires std::is_integral_v<To>
constexpr auto saturating_cast(T const& x) {
    auto const& value = detail::to_expression(x);
    scalar_type const from = value.root().type, to = scalar_type_of<To>();
    // In this order the limits make a number of what is none.
    return cast<To>(min(detail::common_limit(from, to, false), max(detail::common_limit(from, to, true), value)));
}

/// x / 2^amount, rounded to the nearest integer; what lies halfway is rounded away from 0.
///
/// @param x       a signed integer
/// @param amount  from 0 to 2 less than the bits of x; x and half of 2^amount must have a sum that x's type can hold
template <detail::symbolic T, detail::operand Amount>
constexpr auto rounding_shift_right(T const& x, Amount const& amount) {
    auto const& value = detail::to_expression(x);
    scalar_type const type = value.root().type;
    std::int64_t const sign = 8 * bytes_of(type) - 1;
    return detail::compute_once(value, [&](auto const& v) {
        // Half of 2^amount; one less where v is negative, but none where there is nothing to round.
        expression<1> const one{{{{.op = operation::constant, .type = type, .value = 1}}}};
        auto const half = ((one << detail::as_amount(amount, type)) + (v >> sign)) >> 1;
        return (v + half) >> detail::as_amount(amount, type);
    });
}

/// The upper half of 2 * a * b, rounded to the nearest; what lies halfway is rounded up. The one product that does not fit, of the lowest
/// numbers, is the highest.
///
/// @param a, b  of int32
template <class A, class B>
    requires detail::operands<A, B>
constexpr auto rounding_doubling_high_multiply(A const& a, B const& b) {
    auto const product = cast<std::int64_t>(a) * cast<std::int64_t>(b);
    return cast<std::int32_t>(min((product + (1 << 30)) >> 31, std::numeric_limits<std::int32_t>::max()));
}

/// How often a value is rounded that is scaled by a fixed-point number.
enum class rounding : std::uint8_t {
    half_away,      // once, to the nearest; what lies halfway away from 0
    doubling_high,  // as TensorFlow Lite does: `rounding_doubling_high_multiply`, then `rounding_shift_right`
};

/// x * multiplier / 2^(31 + shift): a scale in fixed point, whose multiplier has 31 bits behind the point. A result that int32 does not
/// have is the nearest that it has.
///
/// @param x, multiplier  of int32
/// @param shift          of int32, or a literal: -31 … 31. With `doubling_high`, x * 2^-shift must fit int32 where shift is negative
template <rounding How = rounding::half_away, detail::symbolic T, detail::operand Multiplier, detail::operand Shift>
constexpr auto rescale(T const& x, Multiplier const& multiplier, Shift const& shift) {
    if constexpr (How == rounding::half_away) {
        return saturating_cast<std::int32_t>(rounding_shift_right(cast<std::int64_t>(x) * cast<std::int64_t>(multiplier), shift + 31));
    } else {
        auto const scaled = [&](auto const& left, auto const& right) {
            auto const high = rounding_doubling_high_multiply(detail::to_expression(x) << left, multiplier);
            return cast<std::int32_t>(rounding_shift_right(cast<std::int64_t>(high), right));
        };
        if constexpr (std::is_arithmetic_v<Shift>) return scaled(shift < 0 ? -shift : 0, shift < 0 ? 0 : shift);
        else return scaled(max(0 - shift, 0), max(shift, 0));
    }
}

/// A sum of int32 as a quantised value: scaled as by `rescale`, moved by the zero point, and the nearest that a `To` can have.
template <class To, rounding How = rounding::half_away, detail::symbolic T, detail::operand Multiplier, detail::operand Shift,
          detail::operand Zero = int>
constexpr auto requantize(T const& x, Multiplier const& multiplier, Shift const& shift, Zero const& zero_point = 0) {
    static_assert(sizeof(To) <= 2, "requantize to integers of 8 or 16 bits");
    std::int64_t const far = 1 << 30;  // what lies beyond saturates, whatever is added
    return saturating_cast<To>(clamp(rescale<How>(x, multiplier, shift), -far, far) + zero_point);
}

}  // namespace tilewright
