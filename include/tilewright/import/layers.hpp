#pragma once
#include <algorithm>
#include <map>
#include <tilewright/base/label_text.hpp>
#include <tilewright/import/view.hpp>
#include <tilewright/network/half.hpp>
#include <tilewright/network/model_error.hpp>
#include <utility>

// A network as kernels: what operators make, and what a program is made of.
namespace tilewright::imported {

/// A plan holds positions of at most so many terms.
inline constexpr int most_terms = 12;

/// A stage whose result only its own kernel reads.
struct inner_stage {
    ir::label result{};
    ir::label loop{};      ///< of the last stage; it is computed for one iteration. Empty: it is computed once
    bool element = false;  ///< one iteration needs one element
};

/// What the last stage of a layer makes of sums of int32, as numbers: see `rescaled_bytes`, and `scaled_bytes` where it has scales.
struct rescaling {
    ir::label channel{};                                      ///< the loop of the last stage that there is a scale for each iteration of
    std::vector<std::int64_t> multipliers = {}, shifts = {};  ///< one, or one for each channel; shifts are to the right
    std::int64_t low = 0, high = 0, zero_point = 0;           ///< limits before the zero point is added
    std::vector<float> scales = {};                           ///< in place of multipliers and shifts: one, or one for each channel
};

/// What a layer makes of two elements of int8, the first two that it reads, as numbers: see `added_bytes`.
struct adding {
    std::int64_t zero_points[2] = {}, multipliers[2] = {}, shifts[2] = {};  ///< of the elements; shifts are to the right
    std::int64_t multiplier = 0, shift = 0;                                 ///< of the sum
    std::int64_t low = 0, high = 0, zero_point = 0;                         ///< limits before the zero point is added
};

/// One kernel. Its tensors have the names that they have in the program.
struct layer {
    ir::label name;
    std::vector<ir::node> nodes = {};     ///< of all stages
    std::vector<inner_stage> inner = {};  ///< all stages but the last
    std::string made_for = {};            ///< the node of the model: its number and its operator
    std::optional<rescaling> rescaled{};  ///< where the last stage does that, and nothing else
    ir::label rescaled_in{};              ///< the inner stage that does it, where the last one adds to its bytes; empty: the last stage
    std::optional<adding> added{};        ///< where it is all that is computed, or all that is computed of rescaled bytes
    std::map<std::string, std::vector<std::int64_t>> parts =
        {};                ///< tensors of which it has a part, by name: the element where that begins
    ir::label strip_of{};  ///< the layer of which it computes some rows; empty: it computes all of one

    /// What a user calls it.
    ir::label const& known_as() const { return strip_of.empty() ? name : strip_of; }
};

/// Whether a kernel reads a tensor, or makes it.
inline bool accesses(layer const& of, ir::label const& tensor) {
    return std::any_of(of.nodes.begin(), of.nodes.end(),
                       [&](ir::node const& node) { return node.op == operation::access && node.name == tensor; });
}

/// Elements of a tensor: those with indices from `first` to `last` in each dimension.
struct index_box {
    std::vector<std::int64_t> first = {}, last = {};

    bool meets(index_box const& other) const {
        for (std::size_t at = 0; at < first.size() && at < other.first.size(); ++at) {
            if (last[at] < other.first[at] || other.last[at] < first[at]) return false;
        }
        return first.size() == other.first.size();
    }
    friend bool operator==(index_box const&, index_box const&) = default;
};
/// Those of its result that a kernel makes.
inline index_box box_made_by(layer const& of) {
    index_box made;
    ir::node const& target = of.nodes.at(static_cast<std::size_t>(of.nodes.back().arguments[0]));
    auto const part = of.parts.find(of.nodes.back().name.str());
    for (int at = 0; at < target.argument_count; ++at) {
        made.first.push_back(part == of.parts.end() ? 0 : part->second.at(static_cast<std::size_t>(at)));
        made.last.push_back(made.first.back() + of.nodes.at(static_cast<std::size_t>(target.arguments[at])).value - 1);
    }
    return made;
}
/// The smallest that holds the elements of a view.
inline index_box box_around(view const& of) {
    index_box made{of.first, of.first};
    for (factors const& dimension : of.dimensions) {
        for (factor const& one : dimension) {
            for (std::size_t at = 0; at < one.steps.size(); ++at)
                (one.steps[at] < 0 ? made.first : made.last)[at] += (one.extent - 1) * one.steps[at];
        }
    }
    return made;
}

/// A tensor whose elements are known, row by row, each little-endian.
struct known_tensor {
    stored what;
    std::vector<std::byte> bytes;

    known_tensor(stored of, std::vector<std::byte> elements) : what(std::move(of)), bytes(std::move(elements)) {}
    known_tensor(scalar_type type, std::vector<std::int64_t> extents, std::vector<std::byte> elements) : bytes(std::move(elements)) {
        what.type = type;
        what.extents = std::move(extents);
    }
};

/// Numbers as a tensor of integers with these extents.
inline known_tensor known_integers(scalar_type type, std::vector<std::int64_t> const& values, std::vector<std::int64_t> const& extents) {
    known_tensor made(type, extents, {});
    for (std::int64_t const one : values) network::append_bytes(made.bytes, static_cast<std::uint64_t>(one), bytes_of(type));
    return made;
}
/// Likewise of int32.
inline known_tensor known_int32(std::vector<std::int64_t> const& values, std::vector<std::int64_t> const& extents) {
    return known_integers(scalar_type::int32, values, extents);
}
/// Likewise as a list.
inline known_tensor known_int32(std::vector<std::int64_t> const& values) {
    return known_int32(values, {static_cast<std::int64_t>(values.size())});
}

/// A list of floats.
inline known_tensor known_float32(std::vector<float> const& values) {
    known_tensor made(scalar_type::float32, {static_cast<std::int64_t>(values.size())}, {});
    for (float const one : values) network::append_bytes(made.bytes, std::bit_cast<std::uint32_t>(one), 4);
    return made;
}

/// An input and an output of a network that are one: what a run gives, the next run is given. By their names in the model or in C.
struct state_names {
    std::string before, after;
};
/// Likewise, by their positions.
struct state {
    std::size_t input = 0, output = 0;
};

/// What a model calls its tensors and nodes. Names may be empty, and several things may have one.
struct model_names {
    struct tensor {
        std::string name;
        std::size_t at = 0;  ///< of `layers::tensors`
    };
    std::vector<tensor> tensors = {};     ///< inputs, constants, then results in the order of the nodes
    std::vector<std::string> nodes = {};  ///< by their numbers
};
/// The names in a model.
inline model_names names_of(network::graph const& from) {
    model_names made;
    auto const add = [&](network::tensor_id id) {
        if (id != network::no_tensor && !from.at(id).name.empty()) made.tensors.push_back({from.at(id).name, static_cast<std::size_t>(id)});
    };
    for (network::tensor_id const one : from.inputs) add(one);
    for (std::size_t at = 0; at < from.tensors.size(); ++at) {
        if (from.tensors[at].constant != network::no_constant) add(network::tensor_id(static_cast<std::int32_t>(at)));
    }
    for (network::node const& one : from.nodes) {
        for (network::tensor_id const result : one.outputs) add(result);
        made.nodes.push_back(one.name);
    }
    return made;
}

/// A network that can be planned.
struct layers {
    std::vector<layer> all = {};
    std::vector<known_tensor> constants = {};
    std::vector<stored> inputs = {}, outputs = {};  ///< in the order of the model's; argument_names.hpp says what they are called
    std::vector<std::optional<view>> tensors = {};  ///< of the model, by their numbers: where their elements are, if anywhere
    std::vector<state> states = {};
    std::vector<std::string> refused = {};  ///< the operators that are not imported, a line each; then the rest is not to be used
    model_names names = {};                 ///< as far as there is a model

    /// Whether an input (`&state::input`) or an output is one of a state: then it is no argument.
    bool is_kept(std::size_t state::*which, std::size_t at) const {
        return std::any_of(states.begin(), states.end(), [&](state const& one) { return one.*which == at; });
    }
    /// Whether a kernel reads a tensor.
    bool is_read(stored const& tensor) const {
        return std::any_of(all.begin(), all.end(), [&](layer const& one) { return accesses(one, tensor.name); });
    }
};

/// What kernels made in a run: bytes, row by row, by the name of the tensor.
using made_tensors = std::map<std::string, std::vector<std::byte>>;

/// The type of elements in the compute language. A boolean is a byte of 0 or 1, and a float of 16 bits is a float32.
inline scalar_type type_of(network::element_type type) {
    using from = network::element_type;
    switch (type) {
        case from::float32:
        case from::float16:
        case from::bfloat16: return scalar_type::float32;
        case from::float64: return scalar_type::float64;
        case from::int8: return scalar_type::int8;
        case from::int16: return scalar_type::int16;
        case from::int32: return scalar_type::int32;
        case from::int64: return scalar_type::int64;
        case from::uint16: return scalar_type::uint16;
        case from::uint32: return scalar_type::uint32;
        case from::uint64: return scalar_type::uint64;
        case from::uint8:
        case from::boolean: return scalar_type::uint8;
        case from::other: throw not_imported("elements of a type that is not imported");
        case from::unknown: break;
    }
    throw not_imported("the model does not say what the elements are");
}

/// A constant of the model, as kernels have it.
inline known_tensor known_elements(network::graph const& from, network::element_type type, std::vector<std::int64_t> extents,
                                   network::constant_id id) {
    std::vector<std::byte> const& bytes = from.at(id);
    return {type_of(type), std::move(extents), network::is_half(type) ? network::as_float32(type, bytes) : bytes};
}

}  // namespace tilewright::imported
