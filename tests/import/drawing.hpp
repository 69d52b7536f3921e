#pragma once
#include "../../bench/onnx/run_network.hpp"
#include "catch.hpp"

namespace import_tests {

using namespace tilewright;
using network::element_type;
using network::tensor_id;

/// A graph that is written down node by node.
struct drawing {
    network::graph graph = {.format = "onnx"};

    tensor_id tensor(element_type type, std::vector<std::int64_t> const& extents) {
        network::tensor made{.type = type, .shape = network::tensor_shape{}};
        for (std::int64_t const one : extents) made.shape->push_back({one});
        graph.tensors.push_back(made);
        return tensor_id(graph.tensors.size() - 1);
    }
    template <class T>
    tensor_id constant(element_type type, std::vector<std::int64_t> const& extents, std::vector<T> const& elements) {
        tensor_id const made = tensor(type, extents);
        std::vector<std::byte> bytes(elements.size() * sizeof(T));
        std::memcpy(bytes.data(), elements.data(), bytes.size());
        graph.tensors.back().constant = network::constant_id(graph.constants.size());
        graph.constants.push_back(bytes);
        return made;
    }
    tensor_id scale(float of) { return constant<float>(element_type::float32, {}, {of}); }
    tensor_id zero(int of, element_type type = element_type::int8) {
        return constant<std::int8_t>(type, {}, {static_cast<std::int8_t>(of)});
    }
    tensor_id node(char const* operation, std::vector<tensor_id> const& inputs, std::vector<network::attribute> const& settings = {}) {
        graph.tensors.push_back({});
        auto const made = tensor_id(graph.tensors.size() - 1);
        graph.nodes.push_back({.operation = operation, .version = 13, .inputs = inputs, .outputs = {made}, .attributes = settings});
        return made;
    }
    std::size_t kernels() const {
        auto const made = networks::layers_of(graph);
        INFO((made.refused.empty() ? "" : made.refused[0]));
        CHECK(made.refused.empty());
        return made.all.size();
    }
};

}  // namespace import_tests
