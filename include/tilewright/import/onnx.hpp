#pragma once
#include <tilewright/import/onnx_operators.hpp>

namespace tilewright::imported {

/// The kernels of a network of ONNX; what is not imported stands in `refused`.
inline layers layers_of(network::graph const& graph) {
    return detail::walk(graph, graph.format == "onnx" ? onnx_operators() : std::span<operator_entry const>());
}

}  // namespace tilewright::imported
