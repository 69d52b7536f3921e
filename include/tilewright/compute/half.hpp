#pragma once
#include <cstdint>
#include <tilewright/base/type_questions.hpp>

// Floating-point numbers of 16 bits: their formats, and conversions from and to `float`.
namespace tilewright {
namespace detail {

/// A sign, then an exponent, then a fraction: 16 bits. Infinities, numbers without a leading 1 and what is no number are as in IEEE 754.
struct half_format {
    int exponent_bits, fraction_bits;

    constexpr int dropped_bits() const { return 23 - fraction_bits; }
    /// By how much exponents of `float` are larger.
    constexpr std::uint32_t bias() const { return 127 - ((1u << (exponent_bits - 1)) - 1); }
    /// In their place in a `float`.
    constexpr std::uint32_t bias_in_float() const { return bias() << 23; }
    constexpr std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << fraction_bits; }
    /// Of what is no number, and signals that to nobody.
    constexpr std::uint32_t quiet() const { return 1u << (fraction_bits - 1); }
};
inline constexpr half_format ieee_half{5, 10}, brain_half{8, 7};

inline constexpr std::uint32_t infinity_of_float = 0x7f80'0000, quiet_of_float = 0x0040'0000, sign_of_float = 0x8000'0000;

/// Words of 32 bits as the conversions below need them. Code generators have their own.
struct plain_words {
    using word = std::uint32_t;
    static constexpr word choose(bool condition, word then, word otherwise) { return condition ? then : otherwise; }
    /// The bits of a sum of two floats, rounded to the nearest, of those at the same distance to the even one.
    static constexpr word sum_of_floats(word a, word b) {
        return __builtin_bit_cast(word, __builtin_bit_cast(float, a) + __builtin_bit_cast(float, b));
    }
};

/// The bits of the float that has the value of a number of 16 bits. What is no number becomes quiet.
/// @param bits  the number; the upper half is 0
template <half_format Format, class Words = plain_words>
constexpr typename Words::word float_bits_of(typename Words::word const& bits) {
    using word = typename Words::word;
    auto const number = [](std::uint32_t value) { return word(value); };
    word const sign = (bits & number(0x8000)) << number(16);
    word const moved = (bits & number(0x7fff)) << number(Format.dropped_bits());
    constexpr std::uint32_t infinity = Format.infinity() << Format.dropped_bits();
    word const value = moved + number(Format.bias_in_float());
    // An exponent of all ones stays one, and a bias of 0 is a bias twice.
    word const special =
        Words::choose(moved > number(infinity), number(quiet_of_float), number(0)) | (value + number(Format.bias_in_float()));
    if constexpr (Format.bias() == 0) return sign | Words::choose(moved >= number(infinity), special, value);
    else {
        // Without a leading 1: with one, and then without its value.
        constexpr std::uint32_t one = Format.bias_in_float() + (1u << 23);
        word const small = Words::sum_of_floats(moved + number(one), number(one | sign_of_float));
        return sign | Words::choose(moved >= number(infinity), special, Words::choose(moved < number(1u << 23), small, value));
    }
}

/// The bits of the nearest number of 16 bits, of two at the same distance those of the even one. What is too large becomes infinite; what
/// is no number keeps the upper bits of its fraction and becomes quiet.
/// @return the upper half is 0
template <half_format Format, class Words = plain_words>
constexpr typename Words::word half_bits_of(typename Words::word const& bits) {
    using word = typename Words::word;
    auto const number = [](std::uint32_t value) { return word(value); };
    constexpr int dropped = Format.dropped_bits();
    word const sign = (bits & number(sign_of_float)) >> number(16);
    word const magnitude = bits & number(~sign_of_float);
    // Half of the last place is added; a little less where the last bit is 0, so that halfway stays even.
    word const odd = (magnitude >> number(dropped)) & number(1);
    word const rounded = (magnitude - number(Format.bias_in_float()) + number((1u << (dropped - 1)) - 1) + odd) >> number(dropped);
    word const fraction = (magnitude >> number(dropped)) & number((1u << Format.fraction_bits) - 1);
    word const no_number = fraction | number(Format.infinity() | Format.quiet());
    if constexpr (Format.bias() == 0) return sign | Words::choose(magnitude > number(infinity_of_float), no_number, rounded);
    else {
        // Halfway between the largest number and what would be next, and further.
        constexpr std::uint32_t too_large = (Format.infinity() << dropped) + Format.bias_in_float() - (1u << (dropped - 1));
        constexpr std::uint32_t smallest = Format.bias_in_float() + (1u << 23);
        // The last place of `one` is that of numbers without a leading 1: the sum rounds to it.
        constexpr std::uint32_t one = smallest + (static_cast<std::uint32_t>(dropped) << 23);
        word const small = Words::sum_of_floats(magnitude, number(one)) - number(one);
        word const value = Words::choose(magnitude < number(smallest), small, rounded);
        word const finite = Words::choose(magnitude >= number(too_large), number(Format.infinity()), value);
        return sign | Words::choose(magnitude > number(infinity_of_float), no_number, finite);
    }
}

/// A number of 16 bits as it lies in memory. It is made of a float, and is one where it is used: it has no arithmetic of its own.
template <half_format Format>
struct half_number {
    std::uint16_t bits = 0;

    constexpr half_number() = default;
    /// The nearest one; see `half_bits_of`.
    constexpr explicit half_number(float value)
        : bits(static_cast<std::uint16_t>(half_bits_of<Format>(__builtin_bit_cast(std::uint32_t, value)))) {}
    /// Its value, which a float has exactly.
    constexpr operator float() const { return __builtin_bit_cast(float, float_bits_of<Format>(bits)); }
};

}  // namespace detail
}  // namespace tilewright
