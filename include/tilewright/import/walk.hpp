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

/// The kernels of a network, by the operators of its format. What is not imported stands in `refused`, all of it: an operator that nobody
/// has made, a node whose operands or settings are not imported. A node that only lacks the result of a refused one is not listed.
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
            say(where, "this operator is not imported");
            continue;
        }
        bool available = work.has_value();
        for (network::tensor_id const one : node.inputs) available = available && work->is_available(one);
        if (!available) continue;
        try {
            work->node = &node;
            work->made_for = where;
            makers[at]->make(*work);
            work->check_results();
            if (check != nullptr) check(*work);
        } catch (not_imported const& error) {
            work->take_back();
            say(where, error.what());
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
