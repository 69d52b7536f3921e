#pragma once
#include <cmath>
#include <functional>
#include <queue>
#include <tilewright/network/graph.hpp>
#include <tilewright/network/model_error.hpp>
#include <utility>

// What every graph must keep, whoever has filled it: the last step of each reader.
namespace tilewright::network {

/// How a line calls a node: its position in the file, its name if it has one, its operator.
inline std::string described(node const& one, std::size_t position) {
    return "node " + std::to_string(position) + (one.name.empty() ? "" : " " + shown(one.name)) + " (" + shown(one.operation) + ")";
}

/// How a line calls a tensor.
inline std::string described(graph const& network, tensor_id id) {
    return "tensor " + (network.at(id).name.empty() ? std::to_string(id) : shown(network.at(id).name));
}

/// How a line calls a type of elements.
///
/// @param type_name  the format's word, where it is `other`
inline std::string type_text(element_type type, std::string const& type_name) {
    return type == element_type::other ? type_name : std::string(name_of(type));
}

namespace detail {

/// The first extents: a damaged file can have a million.
inline std::string as_text(tensor_shape const& shape) {
    constexpr std::size_t most = 16;
    std::string text = "[";
    for (std::size_t at = 0; at < shape.size() && at < most; ++at) {
        dimension const& one = shape[at];
        if (at > 0) text += ", ";
        text += one.extent ? std::to_string(*one.extent) : one.symbol.empty() ? "?" : "?" + shown(one.symbol);
    }
    return text + (shape.size() > most ? ", … " + std::to_string(shape.size()) + " in all]" : "]");
}

/// The elements of `bytes` are as many as the shape says, and truths are 0 or 1.
inline void check_constant(std::vector<std::byte> const& bytes, element_type type, std::optional<std::int64_t> elements,
                           std::string const& part, std::string const& file) {
    if (type == element_type::other) return;
    if (!elements) refuse(file, refusal::shape, part, "a constant has an extent that is left to run time");
    std::int64_t needed = 0;
    if (type == element_type::unknown) refuse(file, refusal::element_type, part, "a constant of unknown type");
    if (__builtin_mul_overflow(*elements, bytes_of(type), &needed) || static_cast<std::uint64_t>(needed) != bytes.size()) {
        refuse(file, refusal::constant_size, part,
               std::to_string(bytes.size()) + " bytes for " + std::to_string(*elements) + " elements of " + std::string(name_of(type)));
    }
    if (type != element_type::boolean) return;
    for (std::byte const one : bytes) {
        if (std::to_integer<int>(one) > 1) {
            refuse(file, refusal::constant_value, part, std::to_string(std::to_integer<int>(one)) + " is neither false nor true");
        }
    }
}

inline void check_shape(tensor const& one, std::string const& part, std::string const& file) {
    if (!one.shape) return;
    bool known = true;
    for (dimension const& along : *one.shape) {
        known = known && along.extent.has_value();
        if (along.extent && *along.extent < 0) refuse(file, refusal::shape, part, as_text(*one.shape) + " has a negative extent");
    }
    if (!known) return;
    auto const count = elements_of(*one.shape);
    std::int64_t bytes = 0;
    if (!count || __builtin_mul_overflow(*count, bytes_of(one.type), &bytes)) {
        refuse(file, refusal::shape, part, as_text(*one.shape) + " is more than 63 bits count");
    }
}

inline void check_quantisation(tensor const& one, std::string const& part, std::string const& file) {
    if (!one.quantised) return;
    quantisation const& how = *one.quantised;
    if (how.scales.empty() || how.zero_points.size() != how.scales.size()) {
        refuse(file, refusal::quantisation, part,
               std::to_string(how.scales.size()) + " scales and " + std::to_string(how.zero_points.size()) + " zero points");
    }
    for (float const scale : how.scales) {
        if (!std::isfinite(scale) || scale < 0) refuse(file, refusal::quantisation, part, "a scale of " + std::to_string(scale));
    }
    for (std::int64_t const zero : how.zero_points) {
        if (!can_hold(one.type, zero)) {
            refuse(file, refusal::quantisation, part, "a zero point of " + std::to_string(zero) + " in " + std::string(name_of(one.type)));
        }
    }
    if (!how.axis) {
        if (how.scales.size() != 1) refuse(file, refusal::quantisation, part, std::to_string(how.scales.size()) + " scales and no axis");
        return;
    }
    int const axis = *how.axis;
    bool const fits = one.shape && axis >= 0 && axis < static_cast<int>(one.shape->size()) &&
                      (*one.shape)[static_cast<std::size_t>(axis)].extent == static_cast<std::int64_t>(how.scales.size());
    if (!fits) {
        refuse(file, refusal::quantisation, part,
               std::to_string(how.scales.size()) + " scales along dimension " + std::to_string(axis) + " of " +
                   (one.shape ? as_text(*one.shape) : "an unknown shape"));
    }
}

inline void check_tensors(graph const& network, std::string const& file) {
    for (std::size_t at = 0; at < network.tensors.size(); ++at) {
        tensor const& one = network.tensors[at];
        std::string const part = described(network, tensor_id(at));
        check_shape(one, part, file);
        check_quantisation(one, part, file);
        if (one.constant == no_constant) continue;
        check_constant(network.at(one.constant), one.type, one.shape ? elements_of(*one.shape) : std::nullopt, part, file);
    }
    for (std::size_t at = 0; at < network.nodes.size(); ++at) {
        for (attribute const& setting : network.nodes[at].attributes) {
            auto const* elements = std::get_if<literal>(&setting.value);
            if (elements == nullptr) continue;
            tensor_shape shape;
            for (std::int64_t const extent : elements->extents) shape.push_back({extent, {}});
            check_constant(network.at(elements->constant), elements->type, elements_of(shape),
                           described(network.nodes[at], at) + ", attribute " + shown(setting.name), file);
        }
    }
}

/// The node that computes each tensor, or -1; what has two sources, or none, is refused.
inline std::vector<int> find_producers(graph const& network, std::string const& file) {
    std::vector<int> producers(network.tensors.size(), -1);
    std::vector<char> given(network.tensors.size(), 0);
    for (std::size_t at = 0; at < network.tensors.size(); ++at) {
        given[at] = network.tensors[at].constant != no_constant || network.tensors[at].variable;
    }
    for (tensor_id const input : network.inputs) {
        char& known = given[static_cast<std::size_t>(input)];
        if (known) refuse(file, refusal::two_sources, described(network, input), "an input");
        known = 1;
    }
    for (std::size_t at = 0; at < network.nodes.size(); ++at) {
        for (tensor_id const result : network.nodes[at].outputs) {
            if (result == no_tensor) continue;
            int& producer = producers[static_cast<std::size_t>(result)];
            if (given[static_cast<std::size_t>(result)] || producer >= 0) {
                refuse(file, refusal::two_sources, described(network, result), "by " + described(network.nodes[at], at) + " too");
            }
            producer = static_cast<int>(at);
        }
    }
    auto const check = [&](tensor_id used, std::string const& by) {
        auto const place = static_cast<std::size_t>(used);
        if (!given[place] && producers[place] < 0) refuse(file, refusal::no_source, described(network, used), by);
    };
    for (std::size_t at = 0; at < network.nodes.size(); ++at) {
        for (tensor_id const operand : network.nodes[at].inputs) {
            if (operand != no_tensor) check(operand, "an operand of " + described(network.nodes[at], at));
        }
    }
    for (tensor_id const output : network.outputs) check(output, "an output of the network");
    return producers;
}

/// Puts each node after those that it needs. Of the nodes that could be next, the first of the file is: what is in order stays.
inline void sort_nodes(graph& network, std::vector<int> const& producers, std::string const& file) {
    std::size_t const count = network.nodes.size();
    std::vector<int> missing(count, 0);
    std::vector<std::vector<std::size_t>> users(count);
    for (std::size_t at = 0; at < count; ++at) {
        for (tensor_id const operand : network.nodes[at].inputs) {
            int const producer = operand == no_tensor ? -1 : producers[static_cast<std::size_t>(operand)];
            if (producer < 0) continue;
            users[static_cast<std::size_t>(producer)].push_back(at);
            ++missing[at];
        }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t at = 0; at < count; ++at) {
        if (missing[at] == 0) ready.push(at);
    }
    std::vector<node> sorted;
    sorted.reserve(count);
    while (!ready.empty()) {
        std::size_t const next = ready.top();
        ready.pop();
        for (std::size_t const user : users[next]) {
            if (--missing[user] == 0) ready.push(user);
        }
        sorted.push_back(std::move(network.nodes[next]));
    }
    for (std::size_t at = 0; at < count; ++at) {
        if (missing[at] > 0) refuse(file, refusal::circle, described(network.nodes[at], at));
    }
    network.nodes = std::move(sorted);
}

}  // namespace detail

/// The graph with its nodes in order, when it keeps what graphs promise.
///
/// @param file  how errors call the model
/// @pre   every position is one of the graph, or none
/// @throw model_error  naming the node or the tensor: shapes, constants and quantisation that contradict each other, tensors with two
///                     sources or none, nodes in a circle
inline graph complete(graph network, std::string const& file) {
    detail::check_tensors(network, file);
    detail::sort_nodes(network, detail::find_producers(network, file), file);
    return network;
}

}  // namespace tilewright::network
