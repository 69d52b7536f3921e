#include <tilewright/import/argument_names.hpp>

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
    graph.nodes = {node_of("Det", {0}, 2), node_of("Add", {0, 1}, 3), node_of("Relu", {2}, 4), node_of("Unheard", {4, 3}, 5)};
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
    CHECK(refused[0] ==
          "the network: extents are left to run time, of inputs `x` [2, ?`batch`]; numbers are given by --extent batch=1 of the tool, "
          "EXTENTS "
          "batch=1 in CMake, or network::give_extents");
}
TEST_CASE("an operator that no result needs is not refused") {
    network::graph graph{.format = "onnx"};
    graph.tensors = {of_shape("x", {2, 3}), of_shape("y", {}), of_shape("z", {})};
    graph.inputs = {tensor_id(0)}, graph.outputs = {tensor_id(1)};
    graph.nodes = {node_of("Relu", {0}, 1), node_of("Unheard", {0}, 2)};
    CHECK(networks::layers_of(graph).refused.empty());
}
TEST_CASE("what If does not choose is not refused, where its condition is known") {
    network::graph graph{.format = "onnx", .constants = {{std::byte{1}}, {std::byte{0}}}};
    graph.tensors = {of_shape("x", {2}), of_shape("condition", {}), of_shape("a", {}), of_shape("b", {}), of_shape("y", {})};
    graph.tensors[1].type = network::element_type::boolean;
    graph.inputs = {tensor_id(0)}, graph.outputs = {tensor_id(4)};
    graph.nodes = {node_of("Relu", {0}, 2), node_of("Unheard", {0}, 3), node_of("If", {1, 2, 3}, 4)};
    graph.tensors[1].constant = network::constant_id(0);
    CHECK(networks::layers_of(graph).refused.empty());
    graph.tensors[1].constant = network::constant_id(1);
    CHECK(networks::layers_of(graph).refused == std::vector<std::string>{"node 1 (`Unheard`): this operator is not imported"});
}

namespace {

/// What is said of one node with settings, of inputs with these shapes.
std::vector<std::string> said_of(char const* operation, std::vector<std::vector<std::int64_t>> const& shapes,
                                 std::vector<network::attribute> const& settings, std::size_t results = 1, std::int64_t opset = 13,
                                 char const* domain = "") {
    network::graph graph{.format = "onnx"};
    network::node node{.operation = operation, .domain = domain, .version = opset, .attributes = settings};
    for (auto const& one : shapes) {
        node.inputs.push_back(tensor_id(graph.tensors.size()));
        graph.inputs.push_back(node.inputs.back());
        graph.tensors.push_back(of_shape("x", one));
    }
    for (std::size_t at = 0; at < results; ++at) {
        node.outputs.push_back(tensor_id(graph.tensors.size()));
        graph.tensors.push_back(of_shape("y", {}));
    }
    graph.outputs = node.outputs;
    graph.nodes = {node};
    return networks::layers_of(graph).refused;
}
using list = std::vector<std::int64_t>;
void check_line(std::vector<std::string> const& lines, std::string const& line) {
    INFO((lines.empty() ? "nothing" : lines[0]));
    CHECK(lines == std::vector<std::string>{line});
}
std::vector<std::string> said_of_opset(char const* operation, std::int64_t opset, char const* domain = "") {
    return said_of(operation, {{1, 2, 3}}, {}, 1, opset, domain);
}

}  // namespace

TEST_CASE("an opset that is not known is refused, with the first one or the newest one") {
    check_line(said_of_opset("Softmax", 99), "node 0 (`Softmax`): opset 99 is newer than 27, the newest that is known");
    check_line(said_of_opset("Softmax", 28), "node 0 (`Softmax`): opset 28 is newer than 27, the newest that is known");
    check_line(said_of_opset("Softmax", 0), "node 0 (`Softmax`): opset 0 is older than 1, the first from which this operator is imported");
    check_line(said_of_opset("Softmax", -1),
               "node 0 (`Softmax`): opset -1 is older than 1, the first from which this operator is imported");
    for (std::int64_t const opset : {1, 12, 13, 27}) CHECK(said_of_opset("Softmax", opset).empty());
    check_line(said_of_opset("QuickGelu", 2, "com.microsoft"),
               "node 0 (`QuickGelu`): opset 2 of com.microsoft is newer than 1, the newest that is known");
    CHECK(said_of_opset("QuickGelu", 1, "com.microsoft").empty());
}
TEST_CASE("an operator is refused in an opset that does not have it, or has it with another meaning") {
    check_line(said_of_opset("Gelu", 19), "node 0 (`Gelu`): opset 19 is older than 20, the first from which this operator is imported");
    CHECK(said_of_opset("Gelu", 20).empty());
    // Its power was a float.
    check_line(said_of_opset("GlobalLpPool", 1),
               "node 0 (`GlobalLpPool`): opset 1 is older than 2, the first from which this operator is imported");
    CHECK(said_of_opset("GlobalLpPool", 2).empty());
    std::vector<network::attribute> const twice{{"scales", std::vector<float>{1, 1, 2}}};
    CHECK(said_of("Upsample", {{1, 2, 3}}, twice, 1, 8).empty());
    check_line(said_of("Upsample", {{1, 2, 3}}, twice, 1, 10),
               "node 0 (`Upsample`): opset 10 is newer than 9, the last that has this operator");
}
TEST_CASE("the network of lesson 14 is refused with another opset") {
    network::graph graph = networks::read_network(TILEWRIGHT_DIGITS);
    CHECK(networks::layers_of(graph).refused.empty());
    for (std::int64_t const opset : {0, 1, 99}) {
        INFO(opset);
        for (network::node& one : graph.nodes) one.version = opset;
        CHECK(networks::layers_of(graph).refused.size() >= 1);
    }
}
TEST_CASE("an attribute that the operator does not have is refused by its name") {
    network::attribute const kernel{"kernel_shape", list{1}};
    check_line(said_of("MaxPool", {{1, 2, 3}}, {kernel, {"stridez", list{1}}}), "node 0 (`MaxPool`): attribute `stridez` is not known");
    CHECK(said_of("MaxPool", {{1, 2, 3}}, {kernel, {"storage_order", std::int64_t{1}}}).empty());
    check_line(said_of("GlobalMaxPool", {{1, 2, 3}}, {{"strides", list{2}}}), "node 0 (`GlobalMaxPool`): attribute `strides` is not known");
    check_line(said_of("QuickGelu", {{2}}, {{"beta", 1.0F}}, 1, 1, "com.microsoft"), "node 0 (`QuickGelu`): attribute `beta` is not known");
}
TEST_CASE("an attribute is refused in an opset that has it no more") {
    CHECK(said_of("Relu", {{2}}, {{"consumed_inputs", list{0}}}, 1, 5).empty());
    check_line(said_of("Relu", {{2}}, {{"consumed_inputs", list{0}}}, 1, 6), "node 0 (`Relu`): attribute `consumed_inputs` is not known");
    std::vector<network::attribute> const broadcast{{"broadcast", std::int64_t{1}}, {"axis", std::int64_t{0}}};
    CHECK(said_of("Add", {{2, 3}, {2}}, broadcast, 1, 6).empty());
    check_line(said_of("Add", {{2, 3}, {2, 3}}, broadcast, 1, 7),
               "node 0 (`Add`): attribute `broadcast` is not one of opset 7: opsets before 7 have it");
    CHECK(said_of("Squeeze", {{1, 2}}, {{"axes", list{0}}}, 1, 12).empty());
    check_line(said_of("Squeeze", {{1, 2}}, {{"axes", list{0}}}, 1, 13),
               "node 0 (`Squeeze`): attribute `axes` is not one of opset 13: opsets before 13 have it");
}
TEST_CASE("an attribute of a newer operator is taken where it says what was true before") {
    auto const said = [](std::int64_t size) {
        return said_of("QuantizeLinear", {{2, 3}, {}}, {{"block_size", size}, {"saturate", std::int64_t{0}}}, 1, 21);
    };
    CHECK(said(0).empty());
    check_line(said(2), "node 0 (`QuantizeLinear`): attribute `block_size` of 2 is not imported");
    check_line(said_of("QuantizeLinear", {{2, 3}, {}}, {{"block_size", 0.0F}}, 1, 21),
               "node 0 (`QuantizeLinear`): attribute `block_size` is no integer");
}

TEST_CASE("settings that no operator can have are refused with their numbers") {
    auto const says = [](std::vector<std::string> const& lines, char const* what) {
        INFO((lines.empty() ? "nothing" : lines[0]));
        CHECK((lines.size() == 1 && lines[0].find(what) != std::string::npos));
    };
    says(said_of("MaxPool", {{1, 1, 4, 4}}, {{"kernel_shape", list{2, 2}}, {"strides", list{0, 1}}}), "a stride of 0");
    says(said_of("MaxPool", {{1, 1, 4, 4}}, {{"kernel_shape", list{2}}}), "a window of 1 dimensions");
    says(said_of("Conv", {{1, 2, 4, 4}, {2, 2, 3, 3}}, {{"dilations", list{INT64_MAX, 1}}}), "a dilation of 9223372036854775807");
    says(said_of("Conv", {{1, 2, 4, 4}, {2, 2, 3, 3}}, {{"group", std::int64_t{0}}}), "groups of 0");
    says(said_of("Transpose", {{2, 3}}, {{"perm", list{1, 1}}}), "dimension 1 of 2x3, or twice");
    says(said_of("Transpose", {{2, 3}}, {{"perm", list{1}}}), "an order of 1 dimensions");
    says(said_of("Softmax", {{2, 3}}, {{"axis", std::int64_t{2}}}), "axis 2 of 2 dimensions");
    says(said_of("Split", {{2, 3}}, {{"axis", std::int64_t{1}}, {"split", list{1, 1}}}, 2, 11), "parts of 2 of 3 elements");
    says(said_of("Relu", {{1 << 20, 1 << 20, 1 << 20}}, {}), "has more than");
    says(said_of("Gemm", {{2, 3}}, {}), "operand 1 is missing");
    says(said_of("Relu", {{2}}, {}, 2), "its result 1 is not computed");
}
TEST_CASE("arguments have the model's names where nothing else has them") {
    network::graph graph{.format = "onnx"};
    for (char const* name : {"input.1", "a b", "a_b", "while", "_x", "an_identifier_of_24_letters", "y"})
        graph.tensors.push_back(of_shape(name, {2}));
    for (int at = 0; at < 6; ++at) graph.inputs.push_back(tensor_id(at));
    graph.outputs = {tensor_id(6)};
    auto const names = imported::argument_names(graph);
    CHECK(names.inputs == std::vector<std::string>{"input_1", "in1", "in2", "in3", "in4", "in5"});
    CHECK(names.outputs == std::vector<std::string>{"y"});
}
TEST_CASE("an argument has no name of an axis, of a kernel, or of a tensor between kernels") {
    network::graph graph{.format = "onnx"};
    for (char const* name : {"i0", "k0", "t0", "x", "sum", "arena"}) graph.tensors.push_back(of_shape(name, {2}));
    for (int at = 0; at < 4; ++at) graph.inputs.push_back(tensor_id(at));
    graph.outputs = {tensor_id(4), tensor_id(5)};
    graph.nodes = {{.operation = "Sum", .version = 13, .inputs = graph.inputs, .outputs = {tensor_id(4)}},
                   {.operation = "Softplus", .version = 13, .inputs = {tensor_id(4)}, .outputs = {tensor_id(5)}}};
    imported::layers const made = networks::layers_of(graph);
    REQUIRE(made.refused.empty());
    auto const names_of = [](std::vector<imported::stored> const& all) {
        std::vector<std::string> names;
        for (imported::stored const& one : all) names.push_back(one.name.str());
        return names;
    };
    CHECK(names_of(made.inputs) == std::vector<std::string>{"in0", "in1", "t0", "x"});
    CHECK(names_of(made.outputs) == std::vector<std::string>{"sum", "out1"});
    CHECK(made.is_read(made.inputs[2]));
}
