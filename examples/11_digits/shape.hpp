#pragma once
#include "../digits/shape.hpp"

/// Lesson 11: the sizes that the classifier, its padding and the schedule agree on.
namespace lesson_digits {

using namespace handwritten;

inline constexpr int features = image_pixels + 1;  ///< the last one is always `brightest`: its weight is the bias

/// The accelerator multiplies 16 x 16 x 16 elements at a time; matrices are padded with zeros to multiples of that.
inline constexpr int tile = 16;
constexpr int padded_to_tile(int extent) { return (extent + tile - 1) / tile * tile; }

inline constexpr int padded_rows = padded_to_tile(test_digits);
inline constexpr int padded_features = padded_to_tile(features);
inline constexpr int padded_classes = padded_to_tile(classes);

static_assert(padded_rows == 912 && padded_features == 80 && padded_classes == 16);

}  // namespace lesson_digits
