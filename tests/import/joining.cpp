#include <set>
#include <tilewright/base/label_text.hpp>

#include "../../bench/onnx/run_network.hpp"

#include "catch.hpp"

// What kernels of whole networks share: constants, places from run to run, and how many tensors one of them reads.

namespace {

using namespace tilewright;
using network::tensor_id;

network::tensor of_shape(std::string name, std::vector<std::int64_t> const& extents) {
    network::tensor made{.name = std::move(name), .type = network::element_type::float32, .shape = network::tensor_shape{}};
    for (std::int64_t const one : extents) made.shape->push_back({one});
    return made;
}
/// A graph of float32 whose first tensor is the input and whose second is the output.
network::graph graph_of(char const* format, std::vector<network::tensor> tensors) {
    return {.format = format, .tensors = std::move(tensors), .inputs = {tensor_id(0)}, .outputs = {tensor_id(1)}};
}
void make_constant(network::graph& of, int tensor, std::vector<float> const& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    of.tensors[static_cast<std::size_t>(tensor)].constant = network::constant_id(of.constants.size());
    of.constants.push_back(std::move(bytes));
}
std::size_t tensors_read(imported::layer const& by) {
    std::set<std::string> read;
    for (ir::node const& node : by.nodes) {
        if (node.op == operation::access && node.name != by.nodes.back().name) read.insert(node.name.str());
    }
    return read.size();
}
/// SVDF: x [1, 2] to y [1, 1], with three results that are kept.
network::graph with_state() {
    network::graph made = graph_of("tflite", {of_shape("x", {1, 2}), of_shape("y", {1, 1}), of_shape("features", {1, 2}),
                                              of_shape("over time", {1, 3}), of_shape("kept", {1, 3}), of_shape("kept_next", {1, 3})});
    make_constant(made, 2, {1, -2}), make_constant(made, 3, {0.5f, 1, 2});
    network::node svdf{.operation = "SVDF"};
    svdf.inputs = {tensor_id(0), tensor_id(2), tensor_id(3), network::no_tensor, tensor_id(4)};
    svdf.outputs = {tensor_id(1), tensor_id(5)};
    made.nodes = {svdf};
    made.inputs.push_back(tensor_id(4)), made.outputs.push_back(tensor_id(5));
    made.kept = {{tensor_id(4), tensor_id(5)}};
    return made;
}

}  // namespace

TEST_CASE("more tensors than a kernel reads are joined in groups") {
    for (auto const& [count, kernels] : {std::pair{12, 1u}, {13, 2u}, {30, 4u}, {150, 15u}}) {
        network::graph graph = graph_of("onnx", {of_shape("x0", {2, 1}), of_shape("y", {2, count})});
        graph.inputs.clear();
        network::node concat{.operation = "Concat", .version = 13, .outputs = {tensor_id(1)}};
        concat.attributes = {{"axis", std::int64_t{1}}};
        for (int at = 0; at < count; ++at) {
            if (at > 0) graph.tensors.push_back(of_shape("x" + std::to_string(at), {2, 1}));
            concat.inputs.push_back(tensor_id(at == 0 ? 0 : at + 1)), graph.inputs.push_back(concat.inputs.back());
        }
        graph.nodes = {concat};
        imported::layers const made = networks::layers_of(graph);
        CAPTURE(count);
        REQUIRE(made.refused.empty());
        CHECK(made.all.size() == kernels);
        for (imported::layer const& one : made.all) CHECK(tensors_read(one) <= 12);
    }
}

TEST_CASE("constants that are equal stand once, and those of other types or elements by themselves") {
    network::graph graph =
        graph_of("onnx", {of_shape("x", {3}), of_shape("y", {3}), of_shape("a", {3}), of_shape("b", {3}), of_shape("t", {3})});
    network::node first{.operation = "Mul", .version = 13}, second{.operation = "Add", .version = 13};
    first.inputs = {tensor_id(0), tensor_id(2)}, first.outputs = {tensor_id(4)};
    second.inputs = {tensor_id(4), tensor_id(3)}, second.outputs = {tensor_id(1)};
    graph.nodes = {first, second};
    make_constant(graph, 2, {1, 2, 3}), make_constant(graph, 3, {1, 2, 3});
    CHECK(networks::layers_of(graph).constants.size() == 1);
    graph.constants[1][0] = std::byte{1};
    CHECK(networks::layers_of(graph).constants.size() == 2);
}

TEST_CASE("what the graph keeps is a state, which only the node that writes it reads") {
    network::graph graph = with_state();
    imported::layers const made = networks::layers_of(graph);
    REQUIRE(made.refused.empty());
    REQUIRE(made.states.size() == 1);
    CHECK((made.states[0].input == 1 && made.states[0].output == 1));
    CHECK(made.inputs[1].extents == made.outputs[1].extents);

    graph.tensors.push_back(of_shape("seen", {1, 3}));
    network::node relu{.operation = "RELU", .inputs = {tensor_id(4)}, .outputs = {tensor_id(6)}};
    graph.nodes.insert(graph.nodes.begin(), relu);
    graph.outputs.insert(graph.outputs.begin() + 1, tensor_id(6));
    auto const refused = networks::layers_of(graph).refused;
    REQUIRE(refused.size() == 1);
    CHECK(refused[0] == "the network: variable `kept` is read elsewhere than by the node that writes it");
}

TEST_CASE("a recurrent operator with more steps than a network has kernels is refused at once") {
    network::graph graph = graph_of(
        "onnx", {of_shape("x", {100'000, 1, 1}), of_shape("y", {100'000, 1, 1, 1}), of_shape("w", {1, 1, 1}), of_shape("r", {1, 1, 1})});
    make_constant(graph, 2, {1}), make_constant(graph, 3, {1});
    network::node rnn{.operation = "RNN", .version = 14, .inputs = {tensor_id(0), tensor_id(2), tensor_id(3)}, .outputs = {tensor_id(1)}};
    graph.nodes = {rnn};
    auto const refused = networks::layers_of(graph).refused;
    REQUIRE(refused.size() == 1);
    CHECK(refused[0] == "node 0 (`RNN`): 100000 steps after 0 kernels, and a network has at most 512");
}
