#include <cmath>
#include <tilewright/network/half.hpp>

#include "catch.hpp"

using namespace tilewright::network;

TEST_CASE("bits of float16 are numbers") {
    STATIC_REQUIRE(float16_of(0x3c00) == 1);
    STATIC_REQUIRE(float16_of(0xc000) == -2);
    STATIC_REQUIRE(float16_of(0x7bff) == 65504);
    STATIC_REQUIRE(float16_of(0x0400) == 0x1p-14f);
    STATIC_REQUIRE(float16_of(0x0001) == 0x1p-24f);
    STATIC_REQUIRE(float16_of(0x83ff) == -1023 * 0x1p-24f);
    CHECK(std::signbit(float16_of(0x8000)));
    CHECK(!std::signbit(float16_of(0)));
    CHECK(float16_of(0xfc00) == -INFINITY);
    CHECK(std::isnan(float16_of(0x7c01)));
    CHECK(std::isnan(float16_of(0xfe00)));
}

TEST_CASE("each float16 is what its sign, exponent and fraction say") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        int const exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
        if (exponent == 0x1f) continue;
        double const magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(0x400 + fraction, exponent - 25);
        REQUIRE(static_cast<double>(float16_of(static_cast<std::uint16_t>(bits))) == (bits & 0x8000 ? -magnitude : magnitude));
    }
}

TEST_CASE("bits of bfloat16 are the upper ones of a float32") {
    STATIC_REQUIRE(bfloat16_of(0x3f80) == 1);
    STATIC_REQUIRE(bfloat16_of(0xc040) == -3);
    CHECK(bfloat16_of(0x7f80) == INFINITY);
    CHECK(std::isnan(bfloat16_of(0x7fc0)));
}

TEST_CASE("a float is rounded to the nearest float16, of halves to the even one") {
    STATIC_REQUIRE(rounded_to_float16(1 + 0x1p-11f) == 1);
    STATIC_REQUIRE(rounded_to_float16(1 + 3 * 0x1p-11f) == 1 + 0x1p-9f);
    STATIC_REQUIRE(rounded_to_float16(-1 - 0x1p-11f - 0x1p-23f) == -1 - 0x1p-10f);
    STATIC_REQUIRE(rounded_to_float16(0x1p-25f) == 0);
    STATIC_REQUIRE(rounded_to_float16(0x1.000002p-25f) == 0x1p-24f);
    STATIC_REQUIRE(rounded_to_float16(3 * 0x1p-25f) == 0x1p-23f);
    STATIC_REQUIRE(rounded_to_float16(0x1.ffep-15f) == 0x1p-14f);  // carries out of the subnormal ones
    STATIC_REQUIRE(rounded_to_float16(0x1.ffdfp+15f) == 65504);
    CHECK(rounded_to_float16(65520) == INFINITY);
    CHECK(rounded_to_float16(-1e30f) == -INFINITY);
    CHECK(std::isnan(rounded_to_float16(NAN)));
    CHECK(std::signbit(rounded_to_float16(-1e-30f)));
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        float const one = float16_of(static_cast<std::uint16_t>(bits));
        if (!std::isnan(one)) REQUIRE(std::bit_cast<std::uint32_t>(rounded_to_float16(one)) == std::bit_cast<std::uint32_t>(one));
    }
}

TEST_CASE("a float is rounded to the nearest bfloat16, of halves to the even one") {
    STATIC_REQUIRE(rounded_to_bfloat16(1 + 0x1p-8f) == 1);
    STATIC_REQUIRE(rounded_to_bfloat16(1 + 3 * 0x1p-8f) == 1 + 0x1p-6f);
    STATIC_REQUIRE(rounded_to_bfloat16(-1 - 0x1p-8f - 0x1p-23f) == -1 - 0x1p-7f);
    CHECK(rounded_to_bfloat16(0x1.ffp+127f) == INFINITY);
    CHECK(std::isnan(rounded_to_bfloat16(NAN)));
}

TEST_CASE("elements of 16 bits become those of a float32, the lowest byte first") {
    std::vector<std::byte> const halves = {std::byte{0}, std::byte{0x3c}, std::byte{1}, std::byte{0x80}};
    CHECK(values_of<float>(as_float32(element_type::float16, halves)) == std::vector<float>{1, -0x1p-24f});
    CHECK(values_of<float>(as_float32(element_type::bfloat16, halves)) == std::vector<float>{0x1.0p-7f, -0x1p-133f});
    CHECK(as_float32(element_type::float16, {}).empty());
}
