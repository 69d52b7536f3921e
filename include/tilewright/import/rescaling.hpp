#pragma once
#include <tilewright/compute/functions.hpp>

namespace tilewright::imported {

namespace detail {
/// The nearest integer, of halves the even one, of a float that is at most 2^22 in magnitude. Next to 1.5 * 2^23, floats are integers: a
/// sum with it is rounded to one.
template <class Value>
constexpr auto nearest_of_few(Value const& x) {
    constexpr float among_integers = 12582912;
    return x + among_integers - among_integers;
}
}  // namespace detail

/// Sums of int32 as bytes, in the one form that `layer_shape::finish_by_tensors` gives to layers of TensorFlow Lite: so an instruction
/// declares to compute it.
///
/// @param sum, bias, multiplier, shift  of int32: see `rescale`
/// @param low, high                     of int32: the limits of the result, before the zero point is added
/// @param zero                          of int32: the zero point
template <class Sum, class Bias, class Multiplier, class Shift, class Low, class High, class Zero>
constexpr auto rescaled_bytes(Sum const& sum, Bias const& bias, Multiplier const& multiplier, Shift const& shift, Low const& low,
                              High const& high, Zero const& zero) {
    return cast<std::int8_t>(min(max(rescale<rounding::doubling_high>(sum + bias, multiplier, shift), low), high) + zero);
}

/// Likewise in the form of ONNX, which scales in floats: of a sum that is scaled, the nearest integer, halves to the even one.
///
/// @param sum        of int32, with the bias
/// @param scale      of float
/// @param low, high  of float: the limits of the result, before the zero point is added; integers of at most 256 in magnitude
/// @param zero       of int32: the zero point
template <class Sum, class Scale, class Low, class High, class Zero>
constexpr auto scaled_bytes(Sum const& sum, Scale const& scale, Low const& low, High const& high, Zero const& zero) {
    auto const limited = min(max(cast<float>(sum) * scale, low), high);
    return cast<std::int8_t>(cast<std::int32_t>(detail::nearest_of_few(limited)) + zero);
}

/// The sum of two elements of int8 that have scales of their own, in the one form that `layer_shape::add_by_tensors` gives to ADD of
/// TensorFlow Lite.
///
/// @param left, right                  the elements, of int8
/// @param zero_of_…                    of int32: what is subtracted from an element first
/// @param multiplier_of_…, shift_of_…  of int32: the scale of an element times 2^20, and that of the sum: see `rescale`
/// @param low, high, zero              as for `rescaled_bytes`
template <class Left, class Right, class Number>
constexpr auto added_bytes(Left const& left, Right const& right, Number const& zero_of_left, Number const& multiplier_of_left,
                           Number const& shift_of_left, Number const& zero_of_right, Number const& multiplier_of_right,
                           Number const& shift_of_right, Number const& multiplier, Number const& shift, Number const& low,
                           Number const& high, Number const& zero) {
    constexpr auto scaled = [](auto const& x, auto const& zero_point, auto const& by, auto const& right_by) {
        return rescale<rounding::doubling_high>((cast<std::int32_t>(x) - zero_point) * (1 << 20), by, right_by);
    };
    auto const sum =
        scaled(left, zero_of_left, multiplier_of_left, shift_of_left) + scaled(right, zero_of_right, multiplier_of_right, shift_of_right);
    return cast<std::int8_t>(min(max(rescale<rounding::doubling_high>(sum, multiplier, shift), low), high) + zero);
}

}  // namespace tilewright::imported
