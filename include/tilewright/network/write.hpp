#pragma once
#include <cstdlib>
#include <sstream>
#include <tilewright/network/complete.hpp>

namespace tilewright::network {

namespace detail {

/// A float in as few digits as tell it from others.
inline std::string as_text(float value) {
    for (int digits = 1; digits <= 9; ++digits) {
        std::ostringstream text;
        text.precision(digits);
        text << value;
        if (digits == 9 || std::strtof(text.str().c_str(), nullptr) == value) return text.str();
    }
    return {};
}
inline std::string as_text(std::int64_t value) { return std::to_string(value); }
inline std::string as_text(std::string const& value) { return shown(value); }
inline std::string as_text(literal const& value) {
    std::string text = type_text(value.type, value.type_name);
    for (std::int64_t const extent : value.extents) text += " " + std::to_string(extent);
    return "constant of " + text;
}
template <class T>
std::string as_text(std::vector<T> const& values) {
    constexpr std::size_t most = 8;
    std::string text = "[";
    for (std::size_t at = 0; at < values.size() && at < most; ++at) text += (at > 0 ? ", " : "") + as_text(values[at]);
    return text + (values.size() > most ? ", … " + std::to_string(values.size()) + " in all]" : "]");
}

inline std::string as_text(tensor const& one) {
    std::string text = type_text(one.type, one.type_name) + (one.shape ? as_text(*one.shape) : "[…]");
    if (one.quantised) {
        quantisation const& how = *one.quantised;
        text += " scale " + (how.axis ? as_text(how.scales) : as_text(how.scales.front()));
        text += " zero " + (how.axis ? as_text(how.zero_points) : as_text(how.zero_points.front()));
        if (how.axis) text += " along " + std::to_string(*how.axis);
    }
    return text;
}

}  // namespace detail

/// The graph for people: a line for each input, constant, node and output. A tensor is called by its position and its name; what a node
/// computes has its type there.
///
/// @code
/// network `main` from tflite: 4 tensors, 1 constant, 1 node
/// input %0 `x`: int8[1, 8, 8, 3] scale 0.5 zero -1
/// constant %1 `w`: int8[4, 3, 3, 3] scale [0.25, 0.5, 1, 2] zero [0, 0, 0, 0] along 0
/// node 0 CONV_2D version 3 (%0, %1, none) padding=`SAME` stride_w=1
///     -> %2 `y`: int8[1, 8, 8, 4] scale 1 zero 3
/// output %2 `y`
/// @endcode
inline std::string write(graph const& network) {
    std::ostringstream out;
    auto const called = [&](tensor_id id) { return "%" + std::to_string(id) + " " + shown(network.at(id).name); };
    auto const plural = [](std::size_t count, char const* what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); };
    out << "network " << shown(network.name) << " from " << network.format << ": " << plural(network.tensors.size(), "tensor") << ", "
        << plural(network.constants.size(), "constant") << ", " << plural(network.nodes.size(), "node") << '\n';
    for (tensor_id const id : network.inputs) out << "input " << called(id) << ": " << detail::as_text(network.at(id)) << '\n';
    for (std::size_t at = 0; at < network.tensors.size(); ++at) {
        tensor const& one = network.tensors[at];
        char const* const kind = one.constant != no_constant ? "constant " : one.variable ? "variable " : nullptr;
        if (kind != nullptr) out << kind << called(tensor_id(at)) << ": " << detail::as_text(one) << '\n';
    }
    for (std::size_t at = 0; at < network.nodes.size(); ++at) {
        node const& one = network.nodes[at];
        out << "node " << at << (one.name.empty() ? "" : " " + shown(one.name)) << ' '
            << (one.domain.empty() ? "" : printable(one.domain) + ".") << printable(one.operation) << " version " << one.version << " (";
        for (std::size_t operand = 0; operand < one.inputs.size(); ++operand) {
            out << (operand > 0 ? ", " : "") << (one.inputs[operand] == no_tensor ? "none" : "%" + std::to_string(one.inputs[operand]));
        }
        out << ')';
        for (attribute const& setting : one.attributes) {
            out << ' ' << printable(setting.name) << '='
                << std::visit([](auto const& value) { return detail::as_text(value); }, setting.value);
        }
        out << (one.attributes_known ? "" : " (settings not read)") << '\n';
        for (tensor_id const result : one.outputs) {
            if (result != no_tensor) out << "    -> " << called(result) << ": " << detail::as_text(network.at(result)) << '\n';
        }
    }
    for (tensor_id const id : network.outputs) out << "output " << called(id) << '\n';
    for (kept_tensor const& one : network.kept) out << "kept " << called(one.before) << " <- " << called(one.after) << '\n';
    return out.str();
}

}  // namespace tilewright::network
