#pragma once
#include <span>
#include <tilewright/import/lowering.hpp>

namespace tilewright::imported {

/// An operator that is imported: its name, and what makes its kernels.
struct operator_entry {
    std::string_view name;
    void (*make)(lowering&);
    std::string_view domain = {};  ///< whose operator; empty for the format's own
};

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

/// Whether a node turns floats of 16 bits into float32.
inline bool widens(network::graph const& graph, network::node const& node) {
    bool const of_onnx = graph.format == "onnx" && node.domain.empty() && node.operation == "Cast";
    return of_onnx || (graph.format == "tflite" && node.operation == "DEQUANTIZE");
}
/// @throws not_imported  where a node has operands or results of elements that no kernel has
inline void need_elements(lowering const& of) {
    auto const need = [&](network::tensor_id id, std::string const& what, bool is_widened) {
        if (id == network::no_tensor) return;
        network::tensor const& one = of.from.at(id);
        std::string const said = what + ", " + network::shown(one.name) + ": elements of " + network::type_text(one.type, one.type_name);
        if (one.type == network::element_type::other) throw not_imported(said);
        if (network::is_half(one.type) && !is_widened)
            throw not_imported(said + ", which are read as constants alone, and cast to float32; export the model as float32");
    };
    for (network::attribute const& setting : of.node->attributes) {
        auto const* held = std::get_if<network::literal>(&setting.value);
        if (held == nullptr || (held->type != network::element_type::other && !network::is_half(held->type))) continue;
        throw not_imported("attribute " + network::shown(setting.name) + ": elements of " +
                           network::type_text(held->type, held->type_name));
    }
    std::vector<network::tensor_id> const needed = of.needed_inputs(*of.node);
    for (std::size_t at = 0; at < needed.size(); ++at)
        need(needed[at], "operand " + std::to_string(at), at == 0 && widens(of.from, *of.node) && of.is_constant(0));
    for (std::size_t at = 0; at < of.node->outputs.size(); ++at) need(of.node->outputs[at], "result " + std::to_string(at), false);
}

/// The kernels of a network, by the operators of its format. What is not imported stands in `refused`, all of it: an operator that nobody
/// has made, a node whose operands or settings are not imported. A node that only lacks the result of a refused one is not listed, and
/// neither is one that no result needs.
///
/// @param states  inputs and outputs that are one
/// @param check   looks at what an operator has made
inline layers walk(network::graph const& graph, std::span<operator_entry const> operators, std::vector<state_names> const& states,
                   void (*check)(lowering const&) = nullptr) {
    layers refused;
    std::vector<operator_entry const*> makers;
    for (network::node const& node : graph.nodes) {
        operator_entry const* found = nullptr;
        for (operator_entry const& one : operators) {
            if (node.domain == one.domain && one.name == node.operation) found = &one;
        }
        makers.push_back(found);
    }
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
