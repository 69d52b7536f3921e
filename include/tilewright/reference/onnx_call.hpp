#pragma once
#include <iterator>
#include <tilewright/reference/elements.hpp>
#include <type_traits>
#include <utility>
#include <variant>

// How operators of ONNX find their operands and settings.
namespace tilewright::reference::of_onnx {

using network::element_type;
using shape = std::vector<std::int64_t>;
using results = std::vector<elements>;

/// @throws not_covered  where `fact` is false
inline void require(bool fact, char const* why) {
    if (!fact) throw not_covered(why);
}

/// A node with its operands.
struct call {
    network::graph const& whole;
    network::node const& node;
    operands const& given;

    std::int64_t version() const { return node.version; }

    /// The operand at a position, or null where it is left out.
    elements const* find(std::size_t at) const { return at < given.size() ? given[at] : nullptr; }
    /// @throws not_covered  where it is left out
    elements const& operand(std::size_t at) const {
        require(find(at) != nullptr, "an operand is left out");
        return *find(at);
    }

    /// The setting of a name, or null. @throws not_covered  where it is of another kind than `T`
    template <class T>
    T const* setting(std::string_view name) const {
        auto const* found = node.find(name);
        if (found == nullptr) return nullptr;
        require(std::holds_alternative<T>(*found), "a setting of another kind");
        return std::get_if<T>(found);
    }
    bool has(std::string_view name) const { return node.find(name) != nullptr; }
    std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
        auto const* found = setting<std::int64_t>(name);
        return found != nullptr ? *found : otherwise;
    }
    double real(std::string_view name, float otherwise) const {
        auto const* found = setting<float>(name);
        return found != nullptr ? *found : otherwise;
    }
    std::string word(std::string_view name, std::string const& otherwise) const {
        auto const* found = setting<std::string>(name);
        return found != nullptr ? *found : otherwise;
    }
    shape integers(std::string_view name, shape const& otherwise = {}) const {
        auto const* found = setting<shape>(name);
        return found != nullptr ? *found : otherwise;
    }
    /// Integers that a setting has in old versions of an operator and an operand has in new ones; none where both are left out.
    shape integers(std::string_view name, std::size_t at) const {
        if (has(name)) return integers(name);
        return find(at) != nullptr ? integers_of(*find(at)) : shape{};
    }
};

/// A line of the table: calls `compute`, which gives elements or results. Results that the node does not name are dropped.
///
/// @throws not_covered  where the node wants more of them
template <auto compute>
results entry_of(network::graph const& whole, network::node const& node, operands const& given) {
    call const of{whole, node, given};
    results made;
    if constexpr (std::is_same_v<decltype(compute(of)), elements>) made.push_back(compute(of));
    else made = compute(of);
    require(node.outputs.size() <= made.size(), "a further output");
    made.resize(node.outputs.size());
    return made;
}

/// Counts an axis from the front. @throws not_covered  where the rank does not have it
inline std::size_t axis_of(std::int64_t axis, std::size_t rank) {
    auto const count = static_cast<std::int64_t>(rank);
    require(-count <= axis && axis < count, "an axis outside of the rank");
    return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

/// The setting `axis`, by default 1, where it stands between two extents: it may also stand behind the last one.
inline std::size_t split_axis(call const& of, std::size_t rank) {
    std::int64_t const axis = of.integer("axis", 1);
    return axis_of(axis, axis < 0 ? rank : rank + 1);
}

/// The product of the extents from one axis up to another.
inline std::int64_t count_between(shape const& extents, std::size_t from, std::size_t to) {
    std::int64_t count = 1;
    for (std::size_t at = from; at < to; ++at) count *= extents[at];
    return count;
}

inline bool is_float(element_type type) { return type == element_type::float32 || type == element_type::float64; }

/// The reals of an operand that may only have floats. @throws not_covered  where it has integers
inline std::vector<double> floats_of(elements const& from) {
    require(is_float(from.type), "integers where floats are wanted");
    return reals_of(from);
}

/// The only element. @throws not_covered  where there are more or none
inline elements const& single(elements const& from) {
    require(count_of(from.extents) == 1, "several elements where one is wanted");
    return from;
}

/// Element types by the numbers that ONNX gives them; `unknown`: graphs have no such elements.
inline constexpr element_type numbered_types[] = {
    element_type::unknown, element_type::float32, element_type::uint8,  element_type::int8,    element_type::uint16,
    element_type::int16,   element_type::int32,   element_type::int64,  element_type::unknown, element_type::boolean,
    element_type::float16, element_type::float64, element_type::uint32, element_type::uint64,  element_type::unknown,
    element_type::unknown, element_type::bfloat16};

/// The element type that ONNX gives a number.
///
/// @throws not_covered  where graphs have no such elements
inline element_type type_of(std::int64_t number) {
    require(number >= 0 && number < std::ssize(numbered_types) && numbered_types[number] != element_type::unknown,
            "an element type that graphs do not have");
    return numbered_types[number];
}
/// The number that ONNX gives an element type.
///
/// @throws not_covered  where the type is unknown
inline int number_of(element_type type) {
    require(type != element_type::unknown && type != element_type::other, "elements of an unknown type");
    int number = 1;
    while (numbered_types[number] != type) ++number;
    return number;
}

}  // namespace tilewright::reference::of_onnx
