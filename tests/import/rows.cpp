#include <tilewright/import/rows.hpp>

#include <cstring>

#include "../../bench/onnx/run_network.hpp"

#include "catch.hpp"

// What kernels read of constants and of inputs.

namespace {

using namespace tilewright;
using network::tensor_id;

/// A network of x [2, 3] and a constant of int32 [4, 5] with elements 0, 1, …: x + constant[begin:, begin:], 2 rows of 3.
network::graph adding_a_part(std::int64_t begin) {
    network::graph made{.format = "onnx", .inputs = {tensor_id(0)}, .outputs = {tensor_id(6)}};
    auto const add = [&](char const* name, network::element_type type, std::vector<std::int64_t> const& extents) -> network::tensor& {
        network::tensor& one = made.tensors.emplace_back();
        one.name = name, one.type = type, one.shape.emplace();
        for (std::int64_t const extent : extents) one.shape->push_back({extent, {}});
        return one;
    };
    auto const hold = [&](network::tensor& one, auto const& values) {
        one.constant = network::constant_id(made.constants.size());
        std::memcpy(made.constants.emplace_back(values.size() * sizeof values[0]).data(), values.data(), values.size() * sizeof values[0]);
    };
    add("x", network::element_type::int32, {2, 3});
    std::vector<std::int32_t> elements(20);
    for (std::size_t at = 0; at < elements.size(); ++at) elements[at] = static_cast<std::int32_t>(at);
    hold(add("table", network::element_type::int32, {4, 5}), elements);
    hold(add("starts", network::element_type::int64, {2}), std::vector<std::int64_t>{begin, begin});
    hold(add("ends", network::element_type::int64, {2}), std::vector<std::int64_t>{begin + 2, begin + 3});
    hold(add("axes", network::element_type::int64, {2}), std::vector<std::int64_t>{0, 1});
    made.tensors.push_back({.name = "part"}), made.tensors.push_back({.name = "y"});
    made.nodes = {{.operation = "Slice",
                   .version = 13,
                   .inputs = {tensor_id(1), tensor_id(2), tensor_id(3), tensor_id(4)},
                   .outputs = {tensor_id(5)}},
                  {.operation = "Add", .version = 14, .inputs = {tensor_id(0), tensor_id(5)}, .outputs = {tensor_id(6)}}};
    return made;
}
std::vector<std::int32_t> elements_of(imported::known_tensor const& of) { return network::values_of<std::int32_t>(of.bytes); }

}  // namespace

TEST_CASE("a constant ends where kernels read its last elements") {
    auto const first = networks::layers_of(adding_a_part(0));
    REQUIRE(first.constants.size() == 1);
    CHECK(first.constants[0].what.extents == std::vector<std::int64_t>{2, 3});
    CHECK(elements_of(first.constants[0]) == std::vector<std::int32_t>{0, 1, 2, 5, 6, 7});
    auto const inner = networks::layers_of(adding_a_part(1));
    REQUIRE(inner.constants.size() == 1);
    CHECK(inner.constants[0].what.extents == std::vector<std::int64_t>{3, 4});
    CHECK(elements_of(inner.constants[0]) == std::vector<std::int32_t>{0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13});
}
TEST_CASE("a constant of which all is read, or nothing, stays") {
    imported::known_tensor all = imported::known_int32({1, 2, 3, 4, 5, 6}, {2, 3});
    for (std::vector<std::int64_t> const& reached : {std::vector<std::int64_t>{2, 3}, {0, 0}}) {
        imported::detail::leave_out_unreached(all, reached);
        CHECK(all.what.extents == std::vector<std::int64_t>{2, 3});
        CHECK(all.bytes.size() == 24);
    }
}
