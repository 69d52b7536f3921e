#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tilewright/network/element_type.hpp>
#include <type_traits>
#include <variant>
#include <vector>

// A trained network as its file describes it: what every reader fills, and all that an importer looks at. It is a plain value. It decides
// nothing: no operator has a meaning here, and no tensor a memory.
namespace tilewright::network {

enum tensor_id : std::int32_t { no_tensor = -1 };      // of graph::tensors
enum constant_id : std::int32_t { no_constant = -1 };  // of graph::constants

/// One extent of a shape: a number, or left to run time.
struct dimension {
    std::optional<std::int64_t> extent = {};  ///< elements; absent where run time decides
    std::string symbol = {};                  ///< the model's name of an extent that run time decides; often empty
    std::int64_t usual = 0;                   ///< what a model of TensorFlow Lite has where run time does not decide; 0: nothing

    friend bool operator==(dimension const&, dimension const&) = default;
};
using tensor_shape = std::vector<dimension>;

/// Integers q that stand for the reals scale * (q - zero_point).
struct quantisation {
    std::vector<float> scales = {};              ///< one, or one for each index along `axis`
    std::vector<std::int64_t> zero_points = {};  ///< as many
    std::optional<int> axis = {};                ///< the dimension of the scales; absent where one scale serves all elements
};

struct tensor {
    std::string name = {};
    element_type type = element_type::unknown;
    std::optional<tensor_shape> shape = {};  ///< absent where the model does not say; empty for a scalar
    std::optional<quantisation> quantised = {};
    constant_id constant = no_constant;  ///< the elements, if the model has them
    bool variable = false;               ///< keeps its elements from one run to the next, and no node writes it
    std::string type_name = {};          ///< the format's word for a type that is `other`
};

/// The elements of an attribute that is a tensor.
struct literal {
    element_type type = element_type::unknown;
    std::vector<std::int64_t> extents = {};
    constant_id constant = no_constant;
    std::string type_name = {};  ///< as of a tensor
};

using attribute_value =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>, literal>;

/// A setting of an operator, by the name that the format gives it. A truth is 0 or 1; what the format enumerates is its word.
struct attribute {
    std::string name = {};
    attribute_value value = {};
};

struct node {
    std::string name = {};               ///< often empty
    std::string operation = {};          ///< the format's word: `Conv`, `CONV_2D`
    std::string domain = {};             ///< whose operator; empty for the format's own
    std::int64_t version = 1;            ///< of the operator; in ONNX, of the set of operators that the model was written for
    std::vector<tensor_id> inputs = {};  ///< no_tensor where an optional one is left out
    std::vector<tensor_id> outputs = {};
    std::vector<attribute> attributes = {};
    bool attributes_known = true;  ///< false: the reader does not know this operator, and has not read its settings

    /// The setting of this name, or null.
    attribute_value const* find(std::string_view setting) const {
        for (attribute const& one : attributes) {
            if (one.name == setting) return &one.value;
        }
        return nullptr;
    }
};

/// An input and an output that are one: what a run gives, the next run is given. Before the first run it is 0.
struct kept_tensor {
    tensor_id before = no_tensor, after = no_tensor;
};

/// A network. Each tensor has one source: it is an input, a constant, a variable, or the result of one node. A node stands after the nodes
/// that it needs.
struct graph {
    std::string name = {};
    std::string format = {};  ///< `onnx` or `tflite`: whose operators the nodes name
    std::vector<tensor> tensors = {};
    std::vector<node> nodes = {};
    std::vector<tensor_id> inputs = {};
    std::vector<tensor_id> outputs = {};
    std::vector<kept_tensor> kept = {};                  ///< the last of the inputs and outputs, likewise: see variables.hpp
    std::vector<std::vector<std::byte>> constants = {};  ///< elements row by row, each little-endian; several tensors may share one

    tensor& at(tensor_id id) { return tensors[static_cast<std::size_t>(id)]; }
    tensor const& at(tensor_id id) const { return tensors[static_cast<std::size_t>(id)]; }
    std::vector<std::byte> const& at(constant_id id) const { return constants[static_cast<std::size_t>(id)]; }
};

/// The inputs, or the outputs, that are passed: those that are not kept from run to run.
inline std::vector<tensor_id> passed_inputs(graph const& of) {
    return {of.inputs.begin(), of.inputs.end() - static_cast<std::ptrdiff_t>(of.kept.size())};
}
inline std::vector<tensor_id> passed_outputs(graph const& of) {
    return {of.outputs.begin(), of.outputs.end() - static_cast<std::ptrdiff_t>(of.kept.size())};
}

/// The same without results that nothing reads, as `no_tensor`.
inline graph without_unread_results(graph of) {
    std::vector<bool> read(of.tensors.size(), false);
    for (tensor_id const one : of.outputs) read[static_cast<std::size_t>(one)] = true;
    for (node const& by : of.nodes) {
        for (tensor_id const one : by.inputs) {
            if (one != no_tensor) read[static_cast<std::size_t>(one)] = true;
        }
    }
    for (node& by : of.nodes) {
        for (tensor_id& one : by.outputs) {
            if (one != no_tensor && !read[static_cast<std::size_t>(one)]) one = no_tensor;
        }
    }
    return of;
}

/// The number of elements of a shape, or nothing: where run time decides an extent, or where 63 bits do not hold it.
inline std::optional<std::int64_t> elements_of(tensor_shape const& shape) {
    std::int64_t count = 1;
    bool overflow = false, empty = false;
    for (dimension const& one : shape) {
        if (!one.extent || *one.extent < 0) return std::nullopt;
        empty = empty || *one.extent == 0;
        overflow = overflow || __builtin_mul_overflow(count, *one.extent, &count);
    }
    if (empty) return 0;
    return overflow ? std::nullopt : std::optional(count);
}

/// The extents of a tensor; where run time decides one, what the model usually has. None where the model does not say.
inline std::vector<std::int64_t> usual_extents(tensor const& of) {
    std::vector<std::int64_t> made;
    for (dimension const& one : of.shape.value_or(tensor_shape{})) made.push_back(one.extent.value_or(one.usual));
    return made;
}

/// The elements of a constant as values of `T`.
///
/// @pre `T` has the size of the constant's elements; a `bool` is read as std::uint8_t
template <class T>
std::vector<T> values_of(std::vector<std::byte> const& constant) {
    using bits = std::conditional_t<
        sizeof(T) == 8, std::uint64_t,
        std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
    std::vector<T> values(constant.size() / sizeof(T));
    for (std::size_t at = 0; at < values.size(); ++at) {
        std::uint64_t word = 0;
        for (std::size_t byte = 0; byte < sizeof(T); ++byte)
            word |= std::to_integer<std::uint64_t>(constant[at * sizeof(T) + byte]) << 8 * byte;
        values[at] = std::bit_cast<T>(static_cast<bits>(word));
    }
    return values;
}

/// Appends the lower `size` bytes of a word to a constant, the lowest first.
inline void append_bytes(std::vector<std::byte>& constant, std::uint64_t word, int size) {
    for (int byte = 0; byte < size; ++byte) constant.push_back(static_cast<std::byte>(word >> 8 * byte & 0xff));
}

}  // namespace tilewright::network
