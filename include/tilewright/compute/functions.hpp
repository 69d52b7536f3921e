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

/// The lowest or highest value that integers of both types have. If one is floating point, that of the other type.
constexpr std::int64_t common_limit(scalar_type a, scalar_type b, bool lowest) {
    auto const limit_of = [lowest](scalar_type type) -> std::int64_t {
        std::int64_t const all = highest_of(scalar_type::int64);
        if (is_float(type) || type == scalar_type::int64) return lowest ? -all - 1 : all;
        if (type == scalar_type::uint64) return lowest ? 0 : all;
        return lowest ? lowest_of(type) : highest_of(type);
    };
    std::int64_t const one = limit_of(a), other = limit_of(b);
    return lowest == (one > other) ? one : other;
}

constexpr expression<1> constant_of(std::int64_t value, scalar_type type) {
    return {{{{.op = operation::constant, .type = type, .value = value}}}};
}

/// A number of bits to shift by, as values of `type` are shifted: a literal takes the type by itself.
template <class T>
constexpr auto as_amount(T const& amount, scalar_type type) {
    if constexpr (arithmetic<T>) return to_expression(amount);
    else return wrap(operation::cast, type, to_expression(amount));
}

}  // namespace detail

/// The nearest value that a `To` can have. Of floating point, truncated towards 0; of what is no number, the lowest.
template <class To, detail::symbolic T>
    requires detail::integral<To>
constexpr auto saturating_cast(T const& x) {
    auto const& value = detail::to_expression(x);
    scalar_type const from = value.root().type, to = scalar_type_of<To>();
    // In this order the limits make a number of what is none.
    return cast<To>(min(detail::common_limit(from, to, false), max(detail::common_limit(from, to, true), value)));
}

namespace detail {

/// value / 2^amount, rounded to the nearest integer, halves away from 0, where the value's type can hold its sum with half of 2^amount.
template <int Count, operand Amount>
constexpr auto rounding_shift_with_room(expression<Count> const& value, Amount const& amount) {
    scalar_type const type = value.root().type;
    std::int64_t const sign = 8 * bytes_of(type) - 1;
    return compute_once(value, [&](auto const& v) {
        // Half of 2^amount; one less where v is negative, but none where there is nothing to round.
        auto const half = ((constant_of(1, type) << as_amount(amount, type)) + (v >> sign)) >> 1;
        return (v + half) >> as_amount(amount, type);
    });
}

}  // namespace detail

/// x / 2^amount, rounded to the nearest integer; what lies halfway is rounded away from 0.
///
/// @param x       a signed integer, any that its type has
/// @param amount  from 0 to one less than the bits of x
template <detail::symbolic T, detail::operand Amount>
constexpr auto rounding_shift_right(T const& x, Amount const& amount) {
    auto const& value = detail::to_expression(x);
    scalar_type const type = value.root().type;
    std::int64_t const sign = 8 * bytes_of(type) - 1;
    auto const by = [&] {
        if constexpr (detail::integral<Amount>) return detail::constant_of(static_cast<std::int64_t>(amount), type);
        else return detail::as_amount(amount, type);
    }();
    // The sum with half of 2^amount may not fit, but the sum of the halves of both does. The remainders of the halves are 0 or 1.
    auto const low_bit = [](auto const& of) { return of - ((of >> 1) << 1); };
    return detail::compute_once(value, [&](auto const& v) {
        return detail::compute_once(max(by - 1, 0), [&](auto const& rest) {
            return detail::compute_once((detail::constant_of(1, type) << rest) + (v >> sign), [&](auto const& half) {
                return select(0 < by, ((v >> 1) + (half >> 1) + ((low_bit(v) + low_bit(half)) >> 1)) >> rest, v);
            });
        });
    });
}

namespace detail {
/// `rounding_doubling_high_multiply`, as an int64.
template <class A, class B>
constexpr auto high_half(A const& a, B const& b) {
    auto const product = cast<std::int64_t>(a) * cast<std::int64_t>(b);
    return min((product + (1 << 30)) >> 31, highest_of(scalar_type::int32));
}
}  // namespace detail

/// The upper half of 2 * a * b, rounded to the nearest, halves up. The one product that does not fit, of the lowest numbers, becomes the
/// highest.
///
/// @param a, b  of int32
template <class A, class B>
    requires detail::operands<A, B>
constexpr auto rounding_doubling_high_multiply(A const& a, B const& b) { return cast<std::int32_t>(detail::high_half(a, b)); }

/// How often a value is rounded that is scaled by a fixed-point number.
enum class rounding : std::uint8_t {
    half_away,      // once, to the nearest; what lies halfway away from 0
    doubling_high,  // as TensorFlow Lite does: `rounding_doubling_high_multiply`, then `rounding_shift_right`
};

/// x * multiplier / 2^(31 + shift): a scale in fixed point, whose multiplier has 31 bits after the point. A result that int32 does not
/// have is the nearest that it has. With `doubling_high`, x * 2^-shift is limited to int32 as well, where shift is negative.
///
/// A kernel takes the tensors of x first, then those of the multiplier, then those of the shift.
///
/// @param x, multiplier  of int32
/// @param shift          of int32, or a literal: -31 … 31. Another literal is refused, see `rule::no_shift_amount`
template <rounding How = rounding::half_away, detail::symbolic T, detail::operand Multiplier, detail::operand Shift>
constexpr auto rescale(T const& x, Multiplier const& multiplier, Shift const& shift) {
    // No type has this amount.
    constexpr std::int64_t no_amount = 64;
    if constexpr (How == rounding::half_away) {
        auto const product = cast<std::int64_t>(x) * cast<std::int64_t>(multiplier);
        auto const scaled = [&](auto const& by) { return saturating_cast<std::int32_t>(detail::rounding_shift_with_room(product, by)); };
        if constexpr (detail::arithmetic<Shift>)
            return scaled(shift < -31 || shift > 31 ? no_amount : static_cast<std::int64_t>(shift) + 31);
        else return scaled(shift + 31);
    } else {
        auto const scaled = [](auto const& value, auto const& factor, auto const& left, auto const& right) {
            auto const moved = saturating_cast<std::int32_t>(cast<std::int64_t>(value) << detail::as_amount(left, scalar_type::int64));
            return cast<std::int32_t>(detail::rounding_shift_with_room(detail::high_half(moved, factor), right));
        };
        if constexpr (detail::arithmetic<Shift>) {
            std::int64_t const amount = shift < -31 || shift > 31 ? no_amount : shift < 0 ? -std::int64_t{shift} : std::int64_t{shift};
            return scaled(x, multiplier, shift < 0 ? amount : 0, shift < 0 ? 0 : amount);
        } else if constexpr (detail::arithmetic<Multiplier>) {
            return detail::compute_once(detail::to_expression(x), [&](auto const& value) {
                return detail::compute_once(detail::to_expression(shift),
                                            [&](auto const& by) { return scaled(value, multiplier, max(0 - by, 0), max(by, 0)); });
            });
        } else {
            // Each once, so that tensors are met in the order of the parameters.
            return detail::compute_once(detail::to_expression(x), [&](auto const& value) {
                return detail::compute_once(detail::to_expression(multiplier), [&](auto const& factor) {
                    return detail::compute_once(detail::to_expression(shift),
                                                [&](auto const& by) { return scaled(value, factor, max(0 - by, 0), max(by, 0)); });
                });
            });
        }
    }
}

/// A sum of int32 as a quantised value: scaled as by `rescale`, moved by the zero point, and the nearest that a `To` can have.
template <class To, rounding How = rounding::half_away, detail::symbolic T, detail::operand Multiplier, detail::operand Shift,
          detail::operand Zero = int>
constexpr auto requantize(T const& x, Multiplier const& multiplier, Shift const& shift, Zero const& zero_point = 0) {
    static_assert(sizeof(To) <= 2, "requantize to integers of 8 or 16 bits");
    std::int64_t const far = 1 << 30;  // larger sums saturate, whatever is added
    return saturating_cast<To>(clamp(rescale<How>(x, multiplier, shift), -far, far) + zero_point);
}

}  // namespace tilewright
