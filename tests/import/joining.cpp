#include <random>
#include <set>
#include <tilewright/base/label_text.hpp>
#include <tilewright/reference/network.hpp>

#include "../../bench/onnx/run_network.hpp"

#include "catch.hpp"
#include "import/drawing.hpp"

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

/// What a reference computes of the last node's result, node by node.
std::vector<std::byte> referenced(network::graph const& graph, std::vector<std::vector<std::byte>> const& inputs) {
    std::vector<reference::elements> values(graph.tensors.size());
    auto const of = [&](tensor_id id) -> reference::elements& { return values[static_cast<std::size_t>(id)]; };
    auto const set = [&](tensor_id id, std::vector<std::byte> const& bytes) {
        network::tensor const& one = graph.at(id);
        of(id) = {one.type, network::usual_extents(one), bytes};
    };
    for (std::size_t at = 0; at < graph.tensors.size(); ++at) {
        if (graph.tensors[at].constant != network::no_constant) set(tensor_id(at), graph.at(graph.tensors[at].constant));
    }
    for (std::size_t at = 0; at < inputs.size(); ++at) set(graph.inputs[at], inputs[at]);
    for (network::node const& node : graph.nodes) {
        reference::operands given;
        for (tensor_id const one : node.inputs) given.push_back(&of(one));
        of(node.outputs[0]) = reference::results_of(graph, node, given)[0];
    }
    return of(graph.outputs[0]).bytes;
}
/// A network of quantised convolutions, which draws weights and biases.
struct of_bytes : import_tests::drawing {
    std::mt19937 random{7};

    std::vector<std::byte> bytes(std::size_t count) {
        std::vector<std::byte> made(count);
        for (std::byte& one : made) one = static_cast<std::byte>(random());
        return made;
    }
    tensor_id convolution(tensor_id x, std::int64_t channels, std::int64_t filters, std::int64_t taps, float scale_of_result) {
        std::vector<std::int8_t> weights(static_cast<std::size_t>(filters * channels * taps * taps));
        for (std::int8_t& one : weights) one = static_cast<std::int8_t>(random() % 31) - 15;
        std::vector<std::int32_t> bias(static_cast<std::size_t>(filters));
        for (std::int32_t& one : bias) one = static_cast<std::int32_t>(random() % 2001) - 1000;
        std::int64_t const pad = taps / 2;
        using network::element_type;
        return node("QLinearConv",
                    {x, scale(0.5F), zero(1), constant(element_type::int8, {filters, channels, taps, taps}, weights), scale(0.25F), zero(0),
                     scale(scale_of_result), zero(static_cast<int>(filters % 5)), constant(element_type::int32, {filters}, bias)},
                    {{"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}});
    }
    tensor_id concatenation(std::vector<tensor_id> const& of, std::int64_t axis = 1) { return node("Concat", of, {{"axis", axis}}); }
};

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

TEST_CASE("a concatenation is no kernel: each convolution of bytes writes its part, with numbers of its own") {
    of_bytes of;
    tensor_id const x = of.tensor(network::element_type::int8, {1, 16, 6, 7});
    of.graph.inputs = {x};
    tensor_id const a = of.convolution(x, 16, 16, 1, 32), narrow = of.convolution(x, 16, 8, 1, 16);
    tensor_id const inner = of.concatenation({of.convolution(narrow, 8, 32, 3, 64), of.convolution(narrow, 8, 16, 3, 128)});
    of.graph.outputs = {of.convolution(of.concatenation({a, inner}), 64, 8, 1, 64)};
    imported::layers made = networks::layers_of(of.graph);
    REQUIRE(made.refused.empty());
    char folder[] = "/tmp/tilewright_joins_XXXXXX";
    REQUIRE(mkdtemp(folder) != nullptr);
    auto const written = networks::write_network(std::move(made), folder, "joined");
    // Five convolutions, and the image and the result with their channels in another place.
    CHECK(written.kernels == 7);
    auto const compiled = networks::compile_together({written}, folder, "-O1 -Wall -Wextra -Werror -shared");
    CHECK(compiled[0].why_not == "");
    REQUIRE(compiled[0].in);
    auto const input = of.bytes(16 * 6 * 7), expected = referenced(of.graph, {input});
    networks::call_arguments arguments({input}, {expected.size()});
    CHECK(arguments(compiled[0].in->caller("joined")) == 0);
    CHECK(arguments.kept());
    CHECK(std::vector<std::byte>(arguments.output(0), arguments.output(0) + expected.size()) == expected);
    std::filesystem::remove_all(folder);
}
