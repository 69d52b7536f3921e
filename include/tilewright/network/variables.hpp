#pragma once
#include <tilewright/network/graph.hpp>
#include <utility>

// Variables of TensorFlow Lite: tensors that a node reads and writes in place.
namespace tilewright::network {

namespace detail {

/// The operands of a node that it writes, if they are variables.
inline std::vector<std::size_t> written_operands(node const& of) {
    if (!of.domain.empty()) return {};
    if (of.operation == "SVDF") return {4};
    if (of.operation == "UNIDIRECTIONAL_SEQUENCE_LSTM") return {18, 19};
    return {};
}

}  // namespace detail

/// Gives each variable that a node writes two tensors, so that each has one source: an input, and a result of the last node that writes it,
/// which is an output. `graph::kept` has both. A node gets a further result for each of its variables, in the order of its operands.
///
/// @param spend  is given the bytes of each tensor before it is copied
/// @pre nodes stand in the order in which they run
template <class Spend>
void keep_variables(graph& of, Spend const& spend) {
    std::vector<tensor_id> newest(of.tensors.size(), no_tensor);
    for (node& one : of.nodes) {
        for (std::size_t const which : detail::written_operands(one)) {
            if (which >= one.inputs.size() || one.inputs[which] == no_tensor) continue;
            tensor_id& operand = one.inputs[which];
            auto const at = static_cast<std::size_t>(operand);
            if (at >= newest.size() || !of.tensors[at].variable || of.tensors[at].constant != no_constant) continue;
            tensor const& before = of.tensors[at];
            std::size_t const scales = before.quantised ? before.quantised->scales.size() : 0;
            spend(sizeof(tensor) + before.name.size() + (before.shape ? before.shape->size() * sizeof(dimension) : 0) + scales * 16);
            tensor after = before;
            after.variable = false;
            after.name += "_next";
            auto const written = tensor_id(of.tensors.size());
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
