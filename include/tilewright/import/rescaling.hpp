#pragma once
#include <tilewright/compute/functions.hpp>

namespace tilewright::imported {

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

}  // namespace tilewright::imported
