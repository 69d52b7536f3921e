#include <limits>
#include <tilewright/network/graph.hpp>
#include <tilewright/network/model_error.hpp>

#include "catch.hpp"

using namespace tilewright::network;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (int const value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

}  // namespace

TEST_CASE("an element type has a name, a size and a range") {
    STATIC_REQUIRE(name_of(element_type::int8) == "int8");
    STATIC_REQUIRE(name_of(element_type::boolean) == "bool");
    STATIC_REQUIRE(bytes_of(element_type::float64) == 8);
    STATIC_REQUIRE(bytes_of(element_type::unknown) == 0);
    STATIC_REQUIRE(can_hold(element_type::int8, -128));
    STATIC_REQUIRE(!can_hold(element_type::int8, 128));
    STATIC_REQUIRE(!can_hold(element_type::int8, -129));
    STATIC_REQUIRE(!can_hold(element_type::uint8, -1));
    STATIC_REQUIRE(can_hold(element_type::uint64, std::numeric_limits<std::int64_t>::max()));
    STATIC_REQUIRE(!can_hold(element_type::boolean, 2));
    STATIC_REQUIRE(is_integer(element_type::uint16));
    STATIC_REQUIRE(!is_integer(element_type::boolean));
    STATIC_REQUIRE(!is_integer(element_type::float32));
}

TEST_CASE("a shape counts its elements, unless run time or 64 bits have a say") {
    CHECK(elements_of({}) == 1);
    CHECK(elements_of({{2, {}}, {3, {}}}) == 6);
    CHECK(elements_of({{2, {}}, {0, {}}, {std::int64_t{1} << 62, {}}, {4, {}}}) == 0);
    CHECK(elements_of({{2, {}}, {std::nullopt, "N"}}) == std::nullopt);
    CHECK(elements_of({{std::int64_t{1} << 62, {}}, {2, {}}}) == std::nullopt);
    CHECK(elements_of({{-1, {}}}) == std::nullopt);
}

TEST_CASE("the bytes of a constant are values, the lowest byte first") {
    CHECK(values_of<std::int16_t>(bytes_of({0x34, 0x12, 0xff, 0xff})) == std::vector<std::int16_t>{0x1234, -1});
    CHECK(values_of<float>(bytes_of({0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0})) == std::vector<float>{1, -2});
    CHECK(values_of<std::int64_t>(bytes_of({0xfe, 255, 255, 255, 255, 255, 255, 255})) == std::vector<std::int64_t>{-2});
    CHECK(values_of<std::uint8_t>({}).empty());
}

TEST_CASE("a setting is found by its name") {
    node const one{.attributes = {{"axis", std::int64_t{3}}, {"mode", std::string("constant")}}};
    REQUIRE(one.find("axis") != nullptr);
    CHECK(std::get<std::int64_t>(*one.find("axis")) == 3);
    CHECK(one.find("axes") == nullptr);
}

TEST_CASE("a refusal is one line: file, part, reason, numbers") {
    try {
        refuse("net.onnx", refusal::sparse, "tensor " + shown("a\nb"), "7 of 9");
    } catch (model_error const& error) {
        CHECK(error.reason == refusal::sparse);
        CHECK(std::string(error.what()) == "net.onnx: tensor `a?b`: sparse tensors are not imported: 7 of 9");
    }
    CHECK(name_of(refusal::circle) == "circle");
    CHECK(shown(std::string(100, 'x')) == "`" + std::string(60, 'x') + "…`");
    // A letter of two bytes is not cut in half.
    CHECK(printable(std::string(59, 'x') + "éé") == std::string(59, 'x') + "…");
}
