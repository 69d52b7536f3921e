#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace reference {

/// A small generator whose sequence is the same everywhere. @see G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014
struct splitmix64 {
    std::uint64_t state = 0;

    constexpr std::uint64_t operator()() {
        std::uint64_t mixed = state += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }
};

/// A random value: integers and bool over their whole range; float and double in [-1, 1) with all digits of their fraction in use.
template <class T>
constexpr T random_value(splitmix64& random) {
    std::uint64_t const bits = random();
    if constexpr (std::is_same_v<T, bool>) return (bits >> 63) != 0;
    else if constexpr (std::is_same_v<T, float>) return static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f;
    else if constexpr (std::is_same_v<T, double>) return static_cast<double>(bits >> 11) * 0x1p-52 - 1.0;
    else return static_cast<T>(bits >> (64 - 8 * sizeof(T)));
}

/// Fills data[0..count) with random values; the same seed gives the same data.
template <class T>
constexpr void fill(T* data, std::size_t count, std::uint64_t seed) {
    splitmix64 random{seed};
    for (std::size_t index = 0; index < count; ++index) data[index] = random_value<T>(random);
}

/// Fills data[0..count) with random integers of lowest..highest, both included: for sums that may not overflow, or shift amounts.
template <class T>
constexpr void fill_between(T* data, std::size_t count, std::uint64_t seed, std::type_identity_t<T> lowest,
                            std::type_identity_t<T> highest) {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    splitmix64 random{seed};
    std::uint64_t const choices = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) + 1;
    for (std::size_t index = 0; index < count; ++index) {
        std::uint64_t const step = choices == 0 ? random() : random() % choices;  // 0: all of 64 bits
        data[index] = static_cast<T>(static_cast<std::uint64_t>(lowest) + step);
    }
}

}  // namespace reference
