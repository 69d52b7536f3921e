#pragma once
#include <limits>
#include <tilewright/import/transcendental.hpp>

// Floats of 16 bits. The language has none: they are float32, and a conversion to 16 bits rounds.
namespace tilewright::imported::detail {

/// The nearest float16, of halves the even one. Added to 2^13 times the power of two below it, a number keeps the 11 bits of a float16;
/// added to 1/2, the steps of subnormal ones, which are 2^-24.
inline value rounded_to_float16(value const& of) {
    using enum scalar_type;
    return once(of, [](value const& x) {
        return once(bits_of(x, uint32), [&](value const& bits) {
            value const sign = shifted_left(shifted_right(bits, 31), 31);
            value const made = once(bits - sign, [&](value const& rest) {
                value const magnitude = bits_of(rest, float32);
                value const power = bits_of(shifted_left(shifted_right(rest, 23), 23), float32);
                value const near =
                    once(larger_of(power * like(x, 8192), like(x, 0.5)), [&](value const& far) { return (magnitude + far) - far; });
                value const limited = choose(magnitude < like(x, 65520), near, like(x, std::numeric_limits<double>::infinity()));
                return bits_of(bits_of(limited, uint32) + sign, float32);
            });
            return choose(equal(x, x), made, x);
        });
    });
}
/// The nearest bfloat16, of halves the even one: the upper half of the bits.
inline value rounded_to_bfloat16(value const& of) {
    using enum scalar_type;
    return once(of, [](value const& x) {
        value const made = once(bits_of(x, uint32), [](value const& bits) {
            value const odd = binary(operation::modulo, shifted_right(bits, 16), integer_like(bits, 2));
            return shifted_left(shifted_right(bits + integer_like(bits, 0x7fff) + odd, 16), 16);
        });
        return choose(equal(x, x), bits_of(made, float32), x);
    });
}

}  // namespace tilewright::imported::detail
