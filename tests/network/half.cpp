#include <tilewright/network/half.hpp>

#include "catch.hpp"

using namespace tilewright::network;

TEST_CASE("elements of 16 bits become those of a float32, the lowest byte first") {
    std::vector<std::byte> const halves = {std::byte{0}, std::byte{0x3c}, std::byte{1}, std::byte{0x80}};
    CHECK(values_of<float>(as_float32(element_type::float16, halves)) == std::vector<float>{1, -0x1p-24f});
    CHECK(values_of<float>(as_float32(element_type::bfloat16, halves)) == std::vector<float>{0x1.0p-7f, -0x1p-133f});
    CHECK(as_float32(element_type::float16, {}).empty());
}
