#pragma once
#include <functional>
#include <tilewright/reference/microsoft.hpp>
#include <tilewright/reference/onnx.hpp>
#include <tilewright/reference/tflite.hpp>

namespace tilewright::reference {

/// What a node of a network computes from its operands: a result for each of its outputs. Throws not_covered where it cannot tell.
using node_reference = std::function<std::vector<elements>(network::graph const&, network::node const&, operands const&)>;

/// The reference of these headers, by the operators of the network's format. Floats of 16 bits are taken as float32.
inline std::vector<elements> results_of(network::graph const& graph, network::node const& node, operands const& given) {
    std::vector<elements> widened;
    widened.reserve(given.size());
    operands all = given;
    for (elements const*& one : all) {
        if (one == nullptr || !network::is_half(one->type)) continue;
        widened.push_back(*one);
        widen(widened.back());
        one = &widened.back();
    }
    bool const of_microsoft = graph.format == "onnx" && node.domain == "com.microsoft";
    for (operator_entry const& one : of_microsoft             ? microsoft_operators()
                                     : graph.format == "onnx" ? onnx_operators()
                                                              : tflite_operators()) {
        if ((of_microsoft || node.domain.empty()) && one.name == node.operation) return one.compute(graph, node, all);
    }
    throw not_covered("this operator has no reference");
}

}  // namespace tilewright::reference
