#pragma once
#include "../digits/shape.hpp"
#include "weights.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

/// Lesson 09: the network in plain C++, for comparison with what an accelerator computes.
namespace lesson_network {

inline constexpr int image_side = handwritten::image_side;  ///< of the image and of the first convolution
inline constexpr int pool1_side = image_side / 2;           ///< after the first pooling, and of the second convolution
inline constexpr int pool2_side = pool1_side / 2;           ///< after the second pooling
inline constexpr int classes = handwritten::classes;

/// An image [row][column][channel] of int8.
template <int Side, int Channels>
using int8_image = std::array<std::int8_t, std::size_t{Side} * Side * Channels>;

/// All that the network computes of one digit, so that layers can be compared one by one.
struct activations {
    int8_image<image_side, conv1_filters> conv1{};  ///< after requantisation and ReLU: 0 to 127
    int8_image<pool1_side, conv1_filters> pool1{};
    int8_image<pool1_side, conv2_filters> conv2{};  ///< after requantisation and ReLU: 0 to 127
    int8_image<pool2_side, conv2_filters> pool2{};
    std::array<std::int32_t, classes> scores{};  ///< of the digits 0 to 9; the largest is the guess
};

/// sum * multiplier / 2^(31 + shift), rounded once to the nearest, what lies halfway away from 0, then the nearest of 0 to 127: an int8
/// with the ReLU done.
///
/// @param shift  -30 to 31
std::int8_t requantise_and_relu(std::int32_t sum, std::int32_t multiplier, std::int32_t shift);

/// Runs the network.
///
/// @param image  [8][8], pixels of 0 to 16
activations run_network(std::int8_t const* image);

/// The digit with the largest score, the first of them where scores are equal.
int guess(activations const& of);

}  // namespace lesson_network
