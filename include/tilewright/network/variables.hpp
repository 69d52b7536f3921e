#pragma once
#include <algorithm>
#include <array>
#include <tilewright/network/graph.hpp>

// Variables of TensorFlow Lite: tensors that a node reads and writes in place.
namespace tilewright::network {

namespace detail {

/// Whether an operator writes the variables that it is given.
inline bool writes_variables(node const& of) {
    constexpr std::array<std::string_view, 2> operators{"SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"};
    return of.domain.empty() && std::find(operators.begin(), operators.end(), of.operation) != operators.end();
}

}  // namespace detail

/// Gives each variable that a node writes two tensors, so that each has one source: an input, and a result of the last node that writes it,
/// which is an output. `graph::kept` has both. A node gets a further result for each of its variables, in the order of its operands.
///
/// @pre nodes stand in the order in which they run
inline void keep_variables(graph& of) {
    std::vector<tensor_id> newest(of.tensors.size(), no_tensor);
    for (node& one : of.nodes) {
        if (!detail::writes_variables(one)) continue;
        for (tensor_id& operand : one.inputs) {
            if (operand == no_tensor) continue;
            auto const at = static_cast<std::size_t>(operand);
            if (!of.tensors[at].variable || of.tensors[at].constant != no_constant) continue;
            auto const written = tensor_id(of.tensors.size());
            tensor after = of.tensors[at];
            after.variable = false;
            after.name += "_next";
            of.tensors.push_back(std::move(after));
            one.outputs.push_back(written);
            if (newest[at] != no_tensor) operand = newest[at];
            newest[at] = written;
        }
    }
    for (std::size_t at = 0; at < newest.size(); ++at) {
        if (newest[at] == no_tensor) continue;
        of.tensors[at].variable = false;
        of.inputs.push_back(tensor_id(at)), of.outputs.push_back(newest[at]);
        of.kept.push_back({tensor_id(at), newest[at]});
    }
}

}  // namespace tilewright::network
