#pragma once

/// What the file of handwritten digits holds. Lessons share it, and the loader beside it.
namespace handwritten {

inline constexpr int image_side = 8;                          ///< a digit is 8 x 8 pixels
inline constexpr int image_pixels = image_side * image_side;  ///< in row order
inline constexpr int brightest = 16;                          ///< pixels are 0 (paper) to 16 (ink)
inline constexpr int classes = 10;                            ///< the digits 0 to 9

inline constexpr int training_digits = 898;  ///< the first ones of the file, from which everything is learnt
inline constexpr int test_digits = 899;      ///< the rest: they are only read

}  // namespace handwritten
