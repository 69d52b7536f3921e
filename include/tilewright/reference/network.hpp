#pragma once
#include <functional>
#include <tilewright/reference/onnx.hpp>
#include <tilewright/reference/tflite.hpp>

namespace tilewright::reference {

/// What a node of a network computes from its operands: a result for each of its outputs. Throws not_covered where it cannot tell.
using node_reference = std::function<std::vector<elements>(network::graph const&, network::node const&, operands const&)>;

/// The reference of these headers, by the operators of the network's format.
inline std::vector<elements> results_of(network::graph const& graph, network::node const& node, operands const& given) {
    for (operator_entry const& one : graph.format == "onnx" ? onnx_operators() : tflite_operators()) {
        if (node.domain.empty() && one.name == node.operation) return one.compute(graph, node, given);
    }
    throw not_covered("this operator has no reference");
}

}  // namespace tilewright::reference
