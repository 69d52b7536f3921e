#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tilewright/reference/elements.hpp>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// What an operator of TensorFlow Lite finds at its node: operands, settings, scales.
namespace tilewright::reference::tflite {

using extent_list = std::vector<std::int64_t>;

/// A node to compute, and what it is given.
struct call {
    network::graph const& graph;
    network::node const& node;
    operands const& given;

    bool has(std::size_t at) const { return at < given.size() && given[at] != nullptr; }

    /// @throws not_covered  where the operand is left out
    elements const& operand(std::size_t at) const {
        if (!has(at)) refuse("operand " + std::to_string(at) + " is left out");
        return *given[at];
    }
    /// What the graph says of an operand.
    ///
    /// @throws not_covered  where the operand is left out
    network::tensor const& operand_tensor(std::size_t at) const {
        if (at >= node.inputs.size() || node.inputs[at] == network::no_tensor) refuse("operand " + std::to_string(at) + " is left out");
        return graph.tensors[static_cast<std::size_t>(node.inputs[at])];
    }
    /// What the graph says of the first result.
    ///
    /// @throws not_covered  where the node has none
    network::tensor const& result() const {
        if (node.outputs.empty()) refuse("it has no result");
        return graph.tensors[static_cast<std::size_t>(node.outputs[0])];
    }

    /// A setting of the node, or `absent` where the file does not say.
    ///
    /// @throws not_covered  where the setting is of another type
    template <class Value>
    Value setting(std::string_view name, Value absent) const {
        network::attribute_value const* const found = node.find(name);
        if (found == nullptr) return absent;
        Value const* const value = std::get_if<Value>(found);
        if (value == nullptr) refuse("setting " + std::string(name) + " of another type");
        return *value;
    }
    /// An integer or a truth.
    std::int64_t number(std::string_view name, std::int64_t absent = 0) const { return setting<std::int64_t>(name, absent); }

    [[noreturn]] void refuse(std::string const& why) const { throw not_covered(node.operation + ": " + why); }
};

/// Makes an entry of the table out of a function that takes a call and gives one result, or a list of them.
template <auto Compute>
std::vector<elements> entry(network::graph const& graph, network::node const& node, operands const& given) {
    call const of{graph, node, given};
    if constexpr (std::is_same_v<decltype(Compute(of)), elements>) {
        std::vector<elements> made;
        made.push_back(Compute(of));
        return made;
    } else {
        return Compute(of);
    }
}

/// The one scale of a tensor.
///
/// @throws not_covered  where it has none, or several
inline float scale_of(network::tensor const& tensor) {
    if (!tensor.quantised || tensor.quantised->scales.size() != 1) throw not_covered("tensor " + tensor.name + " does not have one scale");
    return tensor.quantised->scales[0];
}
/// The zero point of a tensor; 0 where it has none.
inline std::int64_t zero_point_of(network::tensor const& tensor) {
    return !tensor.quantised || tensor.quantised->zero_points.empty() ? 0 : tensor.quantised->zero_points[0];
}
/// Checks that integers of both tensors stand for the same reals. Floats always do.
///
/// @throws not_covered  where scales or zero points differ
inline void need_same_scale(network::tensor const& one, network::tensor const& other) {
    bool const scaled = (one.quantised && !one.quantised->scales.empty()) || (other.quantised && !other.quantised->scales.empty());
    if (!scaled) return;
    if (scale_of(one) != scale_of(other) || zero_point_of(one) != zero_point_of(other))
        throw not_covered("tensors " + one.name + " and " + other.name + " have different scales, and the operator rescales nothing");
}

/// Whether the node computes floats.
inline bool makes_floats(call const& of) { return of.result().type == network::element_type::float32; }

/// An operand that has to be of this type.
///
/// @throws not_covered  where it is of another
inline elements const& operand_of_type(call const& of, std::size_t at, network::element_type type) {
    elements const& found = of.operand(at);
    if (found.type != type) of.refuse("operand " + std::to_string(at) + " of " + std::string(network::name_of(found.type)));
    return found;
}
/// What an operand of int8 says before it is scaled: its integers less the zero point.
///
/// @throws not_covered  where it is of another type
inline std::vector<std::int64_t> centred(call const& of, std::size_t at, network::element_type type = network::element_type::int8) {
    std::vector<std::int64_t> made = integers_of(operand_of_type(of, at, type));
    std::int64_t const zero_point = zero_point_of(of.operand_tensor(at));
    for (std::int64_t& one : made) one -= zero_point;
    return made;
}
/// An operand of float32.
///
/// @throws not_covered  where it is not float32
inline std::vector<double> floats(call const& of, std::size_t at) {
    return reals_of(operand_of_type(of, at, network::element_type::float32));
}
/// An operand in the numbers that the sums are made in: double for float32, std::int64_t for int8, less its zero point.
template <class Number>
std::vector<Number> values(call const& of, std::size_t at) {
    if constexpr (std::is_same_v<Number, double>) return floats(of, at);
    else return centred(of, at);
}
/// Calls `compute` with a zero of the numbers that sums are made in: double where the result is float32, std::int64_t where it is int8.
///
/// @throws not_covered  where the result is of another type
template <class Compute>
elements in_its_numbers(call const& of, Compute const& compute) {
    if (makes_floats(of)) return compute(0.0);
    if (of.result().type == network::element_type::int8) return compute(std::int64_t{0});
    of.refuse("a result of " + std::string(network::name_of(of.result().type)));
}

/// The dimension that an axis means; a negative one counts from the back.
///
/// @throws not_covered  where there is no such dimension
inline std::size_t dimension_of(call const& of, std::int64_t axis, std::size_t rank) {
    std::int64_t const found = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    if (found < 0 || found >= static_cast<std::int64_t>(rank))
        of.refuse("axis " + std::to_string(axis) + " of " + std::to_string(rank) + " dimensions");
    return static_cast<std::size_t>(found);
}

}  // namespace tilewright::reference::tflite
