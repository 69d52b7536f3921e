#include "../../bench/onnx/run_network.hpp"

#include "catch.hpp"

// What is not imported is named, all of it, and what only lacks such a result is not.

namespace {

using namespace tilewright;
using network::tensor_id;

network::tensor of_shape(char const* name, std::vector<std::int64_t> const& extents) {
    network::tensor made{.name = name, .type = network::element_type::float32, .shape = network::tensor_shape{}};
    for (std::int64_t const one : extents) made.shape->push_back({one});
    return made;
}
network::node node_of(char const* operation, std::vector<int> const& inputs, int output) {
    network::node made{.operation = operation, .version = 13};
    for (int const one : inputs) made.inputs.push_back(tensor_id(one));
    made.outputs = {tensor_id(output)};
    return made;
}

}  // namespace

TEST_CASE("every operator that is not imported is a line, with its node and the reason") {
    network::graph graph{.format = "onnx"};
    graph.tensors = {of_shape("x", {2, 3}), of_shape("y", {2, 4}), of_shape("a", {}),
                     of_shape("b", {}),     of_shape("c", {}),     of_shape("d", {})};
    graph.inputs = {tensor_id(0), tensor_id(1)};
    graph.outputs = {tensor_id(5)};
    graph.nodes = {node_of("Det", {0}, 2), node_of("Add", {0, 1}, 3), node_of("Relu", {2}, 4), node_of("Unheard", {4}, 5)};
    auto const refused = networks::layers_of(graph).refused;
    REQUIRE(refused.size() == 3);
    CHECK(refused[0] == "node 0 (`Det`): this operator is not imported");
    CHECK(refused[1] == "node 1 (`Add`): shapes 2x3 and 2x4 do not fit");
    CHECK(refused[2] == "node 3 (`Unheard`): this operator is not imported");
}
TEST_CASE("an operator of another domain is not taken for ONNX's") {
    network::graph graph{.format = "onnx"};
    graph.tensors = {of_shape("x", {2}), of_shape("y", {2})};
    graph.inputs = {tensor_id(0)}, graph.outputs = {tensor_id(1)};
    graph.nodes = {node_of("Relu", {0}, 1)};
    CHECK(networks::layers_of(graph).refused.empty());
    graph.nodes[0].domain = "com.example";
    CHECK(networks::layers_of(graph).refused.size() == 1);
}
TEST_CASE("an input whose extents are left to run time is refused by name") {
    network::graph graph{.format = "onnx"};
    graph.tensors = {of_shape("x", {2}), of_shape("y", {2})};
    graph.tensors[0].shape->push_back({{}, "batch"});
    graph.inputs = {tensor_id(0)}, graph.outputs = {tensor_id(1)};
    graph.nodes = {node_of("Relu", {0}, 1)};
    auto const refused = networks::layers_of(graph).refused;
    REQUIRE(refused.size() == 1);
    CHECK(refused[0] == "the network: input `x` has an extent that is left to run time");
}
