#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <tilewright/compute/scalar.hpp>

#include "catch.hpp"
#include "oracle/arithmetic.hpp"

// Numbers of 16 bits. The oracle makes them of powers of two and of roundings to whole numbers.

using tilewright::bfloat16;
using tilewright::float16;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

static_assert(float16(1.0f).bits == 0x3c00 && float16(-2.0f).bits == 0xc000 && float16(-0.0f).bits == 0x8000);
static_assert(float16(65504.0f).bits == 0x7bff && float16(65519.996f).bits == 0x7bff && float16(65520.0f).bits == 0x7c00);
static_assert(float16(0x1p-24f).bits == 1 && float16(0x1p-25f).bits == 0 && float16(0x1.8p-24f).bits == 2);
static_assert(float16(1.0f + 0x1p-11f).bits == 0x3c00 && float16(1.0f + 0x3p-11f).bits == 0x3c02);
static_assert(bfloat16(1.0f).bits == 0x3f80 && bfloat16(1.0f + 0x1p-8f).bits == 0x3f80 && bfloat16(1.0f + 0x3p-8f).bits == 0x3f82);
static_assert(bfloat16(0x1.fffp127f).bits == 0x7f80 && bfloat16(0x1p-133f).bits == 1 && bfloat16(-infinite).bits == 0xff80);
static_assert(float(float16(0.1f)) == 0x1.998p-4f && float(bfloat16(0.1f)) == 0x1.9ap-4f);
static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

/// The numbers that differ from the oracle's: all of 16 bits as floats, and of floats all that lie in the middle between two of 16 bits,
/// their neighbours, and others at random.
template <class Half, int Exponent>
int wrong_ones() {
    int wrong = 0;
    auto const look = [&](std::uint32_t bits) {
        float const value = std::bit_cast<float>(bits);
        wrong += Half(value).bits != oracle::arithmetic::to_half<Exponent>(value);
    };
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        float const value = std::bit_cast<Half>(static_cast<std::uint16_t>(bits));
        wrong += bits_of(value) != bits_of(oracle::arithmetic::from_half<Exponent>(static_cast<std::uint16_t>(bits)));
        float const next = std::bit_cast<Half>(static_cast<std::uint16_t>(bits + 1));
        std::uint32_t const middle = bits_of(value + (next - value) / 2);
        for (std::uint32_t const near : {bits_of(value), middle - 1, middle, middle + 1}) look(near);
    }
    std::mt19937 random(1);
    for (int at = 0; at < 1'000'000; ++at) look(static_cast<std::uint32_t>(random()));
    return wrong;
}

}  // namespace

TEST_CASE("numbers of 16 bits are the floats that the oracle makes of them, and the nearest ones of floats") {
    CHECK(wrong_ones<float16, 5>() == 0);
    CHECK(wrong_ones<bfloat16, 8>() == 0);
}
TEST_CASE("what is no number stays none, and becomes quiet") {
    CHECK(std::isnan(float(std::bit_cast<float16>(std::uint16_t{0x7c01}))));
    CHECK(bits_of(std::bit_cast<float16>(std::uint16_t{0xfc01})) == 0xffc0'2000);
    CHECK(float16(std::bit_cast<float>(0x7f80'0001)).bits == 0x7e00);
    CHECK(bfloat16(std::bit_cast<float>(0xff80'0001)).bits == 0xffc0);
}
