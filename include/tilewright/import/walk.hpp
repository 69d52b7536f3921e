#pragma once
#include <span>
#include <tilewright/import/operator_entry.hpp>

namespace tilewright::imported {

namespace detail {

/// Which nodes the results of a network need: all, where it is not known.
inline std::vector<bool> needed_nodes(network::graph const& graph, std::optional<lowering> const& work) {
    std::vector<bool> nodes(graph.nodes.size(), !work), tensors(graph.tensors.size(), false);
    for (network::tensor_id const one : graph.outputs) tensors[static_cast<std::size_t>(one)] = true;
    for (std::size_t at = graph.nodes.size(); work && at-- > 0;) {
        network::node const& node = graph.nodes[at];
        nodes[at] = std::any_of(node.outputs.begin(), node.outputs.end(), [&](network::tensor_id one) {
            return one != network::no_tensor && tensors[static_cast<std::size_t>(one)];
        });
        if (!nodes[at]) continue;
        for (network::tensor_id const one : work->needed_inputs(node)) {
            if (one != network::no_tensor) tensors[static_cast<std::size_t>(one)] = true;
        }
    }
    return nodes;
}

/// Operators of ONNX compute floats of 16 bits as float32; those of TensorFlow Lite have them as constants that become float32.
///
/// @throws not_imported  where a node has operands, results or settings of elements that no kernel has
inline void need_elements(lowering const& of) {
    using network::element_type;
    auto const need = [&](std::string const& what, element_type type, std::string const& type_name, bool takes_halves) {
        std::string const said = what + ": elements of " + network::type_text(type, type_name);
        if (type == element_type::other) throw not_imported(said);
        if (network::is_half(type) && !takes_halves) throw not_imported(said + ", which are imported as constants of DEQUANTIZE alone");
    };
    bool const of_onnx = of.from.format == "onnx";
    auto const need_tensor = [&](network::tensor_id id, std::string const& what, bool takes_halves) {
        if (id == network::no_tensor) return;
        network::tensor const& one = of.from.at(id);
        need(what + ", " + network::shown(one.name), one.type, one.type_name, takes_halves);
    };
    for (network::attribute const& setting : of.node->attributes) {
        auto const* held = std::get_if<network::literal>(&setting.value);
        if (held != nullptr) need("attribute " + network::shown(setting.name), held->type, held->type_name, true);
    }
    std::vector<network::tensor_id> const needed = of.needed_inputs(*of.node);
    for (std::size_t at = 0; at < needed.size(); ++at)
        need_tensor(needed[at], "operand " + std::to_string(at), of_onnx || of.node->operation == "DEQUANTIZE");
    for (std::size_t at = 0; at < of.node->outputs.size(); ++at) need_tensor(of.node->outputs[at], "result " + std::to_string(at), of_onnx);
}

/// The kernels of a network, by the operators of its format. What is not imported stands in `refused`, all of it: an operator that nobody
/// has made, a node whose operands, settings or opset are not imported. A node that only lacks the result of a refused one is not listed,
/// and neither is one that no result needs.
///
/// @param states  inputs and outputs that are one
/// @param check   looks at what an operator has made
inline layers walk(network::graph const& graph, std::span<operator_entry const> operators, std::vector<state_names> const& states,
                   void (*check)(lowering const&) = nullptr) {
    layers refused;
    std::vector<operator_entry const*> makers;
    for (network::node const& node : graph.nodes) makers.push_back(entry_of(operators, node));
    std::optional<lowering> work;
    auto const say = [&](std::string const& where, std::string const& why) { refused.refused.push_back(where + ": " + why); };
    std::vector<std::pair<std::size_t, std::string>> refused_nodes;
    try {
        work.emplace(graph);
    } catch (not_imported const& error) {
        say("the network", error.what());
    }
    for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
        network::node const& node = graph.nodes[at];
        if (node.operation.empty() && node.outputs.empty()) continue;  // a rewriting has made it a part of another node
        std::string const where = "node " + std::to_string(at) + " (" + network::shown(node.operation) + ")";
        if (makers[at] == nullptr) {
            refused_nodes.emplace_back(at, where + ": this operator is not imported");
            continue;
        }
        bool available = work.has_value();
        for (network::tensor_id const one : work ? work->needed_inputs(node) : node.inputs)
            available = available && work->is_available(one);
        if (!available) continue;
        try {
            work->node = &node;
            work->made_for = where;
            if (graph.format == "onnx") need_known_settings(*makers[at], node);
            need_elements(*work);
            makers[at]->make(*work);
            work->check_results();
            if (check != nullptr) check(*work);
        } catch (not_imported const& error) {
            work->take_back();
            refused_nodes.emplace_back(at, where + ": " + error.what());
        }
    }
    if (!refused_nodes.empty()) {
        std::vector<bool> const needed = needed_nodes(graph, work);
        for (auto const& [at, line] : refused_nodes) {
            if (needed[at]) refused.refused.push_back(line);
        }
    }
    for (state_names const& one : states) {
        if (!work) break;
        try {
            work->keep_state(one);
        } catch (not_imported const& error) {
            say("state " + network::shown(one.before + "=" + one.after), error.what());
        }
    }
    try {
        if (work) work->keep_variables();
    } catch (not_imported const& error) {
        say("the network", error.what());
    }
    if (!refused.refused.empty()) return refused;
    try {
        work->finish();
    } catch (not_imported const& error) {
        say("the results", error.what());
        return refused;
    }
    return std::move(work->result);
}

}  // namespace detail

}  // namespace tilewright::imported
