#pragma once

/// Lesson 02: the sizes that the classifier, its padding and the schedule agree on.
namespace lesson_digits {

inline constexpr int image_side = 8;                          ///< a digit is 8 x 8 pixels
inline constexpr int image_pixels = image_side * image_side;  ///< in row order
inline constexpr int brightest = 16;                          ///< pixels are 0 (paper) to 16 (ink)
inline constexpr int classes = 10;                            ///< the digits 0 to 9
inline constexpr int features = image_pixels + 1;             ///< the last one is always `brightest`: its weight is the bias

inline constexpr int training_digits = 898;  ///< the first ones of the file: the classifier is fitted on these
inline constexpr int test_digits = 899;      ///< the rest: they are only classified

/// The accelerator multiplies 16 x 16 x 16 elements at a time; matrices are padded with zeros to multiples of that.
inline constexpr int tile = 16;
constexpr int padded_to_tile(int extent) { return (extent + tile - 1) / tile * tile; }

inline constexpr int padded_rows = padded_to_tile(test_digits);
inline constexpr int padded_features = padded_to_tile(features);
inline constexpr int padded_classes = padded_to_tile(classes);

static_assert(padded_rows == 912 && padded_features == 80 && padded_classes == 16);

}  // namespace lesson_digits
