#include <tilewright/network/complete.hpp>
#include <tilewright/network/variables.hpp>

#include "catch.hpp"

using namespace tilewright::network;

namespace {

/// Tensors a, b, … of int8, of which the last is a variable; a is the input, and b the output.
graph with_variable(int count) {
    graph made{.name = "main", .format = "tflite", .inputs = {tensor_id(0)}, .outputs = {tensor_id(1)}};
    for (int at = 0; at < count; ++at)
        made.tensors.push_back({.name = std::string(1, static_cast<char>('a' + at)), .type = element_type::int8, .shape = {{{2, {}}}}});
    made.tensors.back().variable = true;
    return made;
}
node from_to(char const* operation, std::vector<tensor_id> inputs, std::vector<tensor_id> outputs) {
    return {.operation = operation, .inputs = std::move(inputs), .outputs = std::move(outputs)};
}
/// Copies are counted.
std::size_t copied = 0;
void count(std::size_t bytes) { copied += bytes; }

node of_lstm(tensor_id x, tensor_id state, tensor_id y) {
    node made = from_to("UNIDIRECTIONAL_SEQUENCE_LSTM", std::vector<tensor_id>(20, no_tensor), {y});
    made.inputs[0] = x, made.inputs[18] = state;
    return made;
}
constexpr tensor_id a{0}, b{1}, c{2}, v{2};

}  // namespace

TEST_CASE("a variable that a node writes is an input and an output") {
    graph made = with_variable(3);
    made.nodes = {from_to("SVDF", {a, no_tensor, no_tensor, no_tensor, v}, {b})};
    keep_variables(made, count);
    CHECK(made.nodes[0].inputs.back() == v);
    CHECK(copied >= sizeof(tensor));
    CHECK(made.nodes[0].outputs == std::vector{b, tensor_id(3)});
    CHECK(made.inputs == std::vector{a, v});
    CHECK(made.outputs == std::vector{b, tensor_id(3)});
    REQUIRE(made.kept.size() == 1);
    CHECK((made.kept[0].before == v && made.kept[0].after == tensor_id(3)));
    CHECK(made.tensors[3].name == "c_next");
    CHECK_FALSE((made.tensors[2].variable || made.tensors[3].variable));
    CHECK(passed_inputs(made) == std::vector{a});
    CHECK(passed_outputs(made) == std::vector{b});
    CHECK_NOTHROW(complete(made, "net"));
}

TEST_CASE("a second node finds what the first one wrote, and the network keeps what the last one does") {
    graph made = with_variable(4);
    tensor_id const shared{3};
    made.nodes = {of_lstm(a, shared, c), of_lstm(c, shared, b)};
    keep_variables(made, count);
    CHECK(made.nodes[0].inputs[18] == shared);
    CHECK(made.nodes[1].inputs[18] == tensor_id(4));
    CHECK(made.nodes[1].outputs == std::vector{b, tensor_id(5)});
    REQUIRE(made.kept.size() == 1);
    CHECK((made.kept[0].before == shared && made.kept[0].after == tensor_id(5)));
    CHECK_NOTHROW(complete(made, "net"));
}

TEST_CASE("other operators leave variables alone, and so does each that has a constant") {
    graph made = with_variable(3);
    made.nodes = {from_to("ADD", {a, v}, {b})};
    keep_variables(made, count);
    CHECK((made.kept.empty() && made.tensors.size() == 3 && made.tensors[2].variable));
    made.nodes = {from_to("SVDF", {a, no_tensor, no_tensor, no_tensor, v}, {b})}, made.tensors[2].constant = constant_id(0),
    made.constants = {{std::byte{1}, std::byte{2}}};
    keep_variables(made, count);
    CHECK((made.kept.empty() && made.nodes[0].outputs.size() == 1));
    // What stands where another operand does is no state.
    made.tensors[2].constant = no_constant, made.nodes = {from_to("SVDF", {v, a}, {b})};
    keep_variables(made, count);
    CHECK(made.kept.empty());
    // Another project's operator of this name is another operator.
    made.nodes = {from_to("SVDF", {a, no_tensor, no_tensor, no_tensor, v}, {b})}, made.nodes[0].domain = "custom";
    keep_variables(made, count);
    CHECK(made.kept.empty());
}
