#include <tilewright/network/complete.hpp>

#include "catch.hpp"

using namespace tilewright::network;

namespace {

/// A graph of int8 tensors of two elements, the first of which is an input.
graph with_tensors(int count) {
    graph made{.name = "main", .format = "test", .inputs = {tensor_id(0)}};
    for (int at = 0; at < count; ++at) {
        made.tensors.push_back({.name = std::string(1, static_cast<char>('a' + at)), .type = element_type::int8, .shape = {{{2, {}}}}});
    }
    return made;
}
node from_to(std::string operation, std::vector<int> inputs, std::vector<int> outputs) {
    node made{.operation = std::move(operation)};
    for (int const one : inputs) made.inputs.push_back(tensor_id(one));
    for (int const one : outputs) made.outputs.push_back(tensor_id(one));
    return made;
}
std::string order_of(graph const& network) {
    std::string order;
    for (node const& one : network.nodes) order += one.operation;
    return order;
}
refusal reason_of(graph const& network, std::string const& words) {
    try {
        complete(network, "net");
    } catch (model_error const& error) {
        INFO(error.what());
        CHECK(std::string(error.what()).find(words) != std::string::npos);
        CHECK(std::string(error.what()).starts_with("net: "));
        return error.reason;
    }
    FAIL("not refused");
    return refusal::unreadable;
}

}  // namespace

TEST_CASE("nodes that are in order stay as they are, and others come after what they need") {
    graph network = with_tensors(5);
    network.nodes = {from_to("A", {0}, {1}), from_to("B", {0}, {2}), from_to("C", {2, 1}, {3}), from_to("D", {3}, {4})};
    network.outputs = {tensor_id(4)};
    CHECK(order_of(complete(network, "net")) == "ABCD");
    std::swap(network.nodes[0], network.nodes[3]);
    CHECK(order_of(complete(network, "net")) == "BACD");
}

TEST_CASE("an operand may stand twice, or be left out") {
    graph network = with_tensors(3);
    network.nodes = {from_to("B", {1, -1, 1}, {2}), from_to("A", {0, 0}, {1})};
    CHECK(order_of(complete(network, "net")) == "AB");
}

TEST_CASE("nodes in a circle are refused by name") {
    graph network = with_tensors(4);
    network.nodes = {from_to("A", {0}, {1}), from_to("B", {3}, {2}), from_to("C", {2}, {3})};
    CHECK(reason_of(network, "node 1 (`B`)") == refusal::circle);
    network.nodes = {from_to("A", {1}, {1})};
    CHECK(reason_of(network, "node 0 (`A`)") == refusal::circle);
}

TEST_CASE("a tensor has one source") {
    graph network = with_tensors(3);
    network.nodes = {from_to("A", {2}, {1})};
    CHECK(reason_of(network, "tensor `c`") == refusal::no_source);
    network.nodes = {from_to("A", {0}, {1}), from_to("B", {0}, {1})};
    CHECK(reason_of(network, "tensor `b`") == refusal::two_sources);
    network.nodes = {from_to("A", {0}, {1, 1})};
    CHECK(reason_of(network, "tensor `b`") == refusal::two_sources);
    network.nodes = {from_to("A", {0}, {0})};
    CHECK(reason_of(network, "tensor `a`") == refusal::two_sources);
    network.nodes.clear();
    network.inputs = {tensor_id(0), tensor_id(0)};
    CHECK(reason_of(network, "tensor `a`") == refusal::two_sources);
    network.inputs = {tensor_id(0)};
    network.outputs = {tensor_id(1)};
    CHECK(reason_of(network, "an output of the network") == refusal::no_source);
}

TEST_CASE("a constant has the bytes of its shape") {
    graph network = with_tensors(2);
    network.constants = {std::vector<std::byte>(2)};
    network.tensors[1].constant = constant_id(0);
    CHECK_NOTHROW(complete(network, "net"));
    network.tensors[1].type = element_type::int16;
    CHECK(reason_of(network, "tensor `b`: a constant has not as many bytes as its shape says: 2 bytes for 2 elements of int16") ==
          refusal::constant_size);
    network.tensors[1].type = element_type::float16;
    CHECK(reason_of(network, "2 bytes for 2 elements of float16") == refusal::constant_size);
    network.tensors[1].type = element_type::other;
    CHECK_NOTHROW(complete(network, "net"));
    network.tensors[1].type = element_type::unknown;
    CHECK(reason_of(network, "tensor `b`") == refusal::element_type);
    network.tensors[1].type = element_type::boolean;
    network.constants[0][1] = std::byte{3};
    CHECK(reason_of(network, "3 is neither") == refusal::constant_value);
    network.tensors[1].shape.reset();
    CHECK(reason_of(network, "run time") == refusal::shape);
}

TEST_CASE("the elements of an attribute have the bytes of its extents") {
    graph network = with_tensors(2);
    network.constants = {std::vector<std::byte>(8)};
    network.nodes = {from_to("A", {0}, {1})};
    network.nodes[0].attributes = {{"value", literal{element_type::int64, {1}, constant_id(0)}}};
    CHECK_NOTHROW(complete(network, "net"));
    network.nodes[0].attributes = {{"value", literal{element_type::int64, {2}, constant_id(0)}}};
    CHECK(reason_of(network, "node 0 (`A`), attribute `value`") == refusal::constant_size);
}

TEST_CASE("a shape has no negative extent, and its bytes can be counted") {
    graph network = with_tensors(2);
    network.tensors[1].shape = {{{3, {}}, {-2, {}}}};
    CHECK(reason_of(network, "tensor `b`: the shape is none: [3, -2] has a negative extent") == refusal::shape);
    network.tensors[1].shape = {{{std::int64_t{1} << 61, {}}, {2, {}}}};
    CHECK_NOTHROW(complete(network, "net"));
    network.tensors[1].type = element_type::int16;
    CHECK(reason_of(network, "63 bits") == refusal::shape);
}

TEST_CASE("scales stand along a dimension that has as many indices") {
    graph network = with_tensors(1);
    quantisation how{{0.5F, 0.25F}, {0, 1}, 0};
    network.tensors[0].quantised = how;
    CHECK_NOTHROW(complete(network, "net"));
    how.axis = 1;
    network.tensors[0].quantised = how;
    CHECK(reason_of(network, "2 scales along dimension 1 of [2]") == refusal::quantisation);
    how.axis.reset();
    network.tensors[0].quantised = how;
    CHECK(reason_of(network, "2 scales and no axis") == refusal::quantisation);
    network.tensors[0].quantised = quantisation{{0.5F}, {128}, {}};
    CHECK(reason_of(network, "a zero point of 128 in int8") == refusal::quantisation);
    network.tensors[0].quantised = quantisation{{}, {}, {}};
    CHECK(reason_of(network, "0 scales") == refusal::quantisation);
}
