#pragma once
#include <algorithm>
#include <tilewright/import/fuse.hpp>
#include <tilewright/import/microsoft_operators.hpp>
#include <tilewright/import/onnx_operators.hpp>
#include <tilewright/import/quantised_pairs.hpp>
#include <tilewright/import/states.hpp>
#include <tilewright/import/tflite_operators.hpp>
#include <vector>

namespace tilewright::imported {

namespace detail {

/// A file of TensorFlow Lite has the type and the shape of each tensor: those of a result are what its operator makes.
inline void compare_with_model(lowering const& of) {
    for (std::size_t at = 0; at < of.node->outputs.size(); ++at) {
        if (!of.wants(at)) continue;
        network::tensor const& said = tflite::result_tensor(of, at);
        auto const& made = of.made(at);
        auto const known = made ? std::nullopt : of.known_result(at);
        if (!made && !known) throw not_imported("nothing makes result " + std::to_string(at));
        scalar_type const type = made ? made->type() : known->what.type;
        if (type_of(said.type) != type)
            throw not_imported("makes elements of " + std::string(name_of(type)) + ", and the model says " + tflite::type_text(said));
        shape const extents = network::usual_extents(said), is = made ? made->shape() : known->what.extents;
        if (extents != is) throw not_imported("makes " + text_of(is) + ", and the model says " + text_of(extents));
    }
}

}  // namespace detail

/// The kernels of a network of ONNX or of TensorFlow Lite. What is not imported stands in `refused`, all of it.
///
/// @param states  inputs and outputs that are one: what a run gives, the next run is given
inline layers layers_of(network::graph const& graph, std::vector<state_names> const& states = {}) {
    auto const made_by = [&] {
        if (graph.format == "tflite") return detail::walk(graph, tflite_operators(), states, detail::compare_with_model);
        if (graph.format != "onnx") return detail::walk(graph, {}, states);
        bool const quantises = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](network::node const& one) {
            return one.domain.empty() && one.operation == "QuantizeLinear";
        });
        std::vector<operator_entry> all(onnx_operators().begin(), onnx_operators().end());
        all.insert(all.end(), microsoft_operators().begin(), microsoft_operators().end());
        network::graph const read = network::without_unread_results(graph);
        return detail::walk(quantises ? with_quantised_pairs(read, all) : read, all, states);
    };
    layers made = with_states_kept(with_elements_fused(made_by()));
    made.names = names_of(graph);
    return made;
}

}  // namespace tilewright::imported
