#pragma once
#include <string_view>
#include <tilewright/import/lowering.hpp>

// The settings of a node, and what its operands must be.
namespace tilewright::imported::detail {

using shape = std::vector<std::int64_t>;

/// A setting of a node, if it has one of this type.
template <class T>
std::optional<T> setting(network::node const& of, std::string_view name) {
    auto const* found = of.find(name);
    auto const* held = found ? std::get_if<T>(found) : nullptr;
    return held ? std::optional(*held) : std::nullopt;
}
template <class T>
std::optional<T> setting(lowering const& of, std::string_view name) {
    return setting<T>(*of.node, name);
}
inline std::int64_t integer(network::node const& of, std::string_view name, std::int64_t otherwise) {
    return setting<std::int64_t>(of, name).value_or(otherwise);
}
inline std::int64_t integer(lowering const& of, std::string_view name, std::int64_t otherwise) {
    return integer(*of.node, name, otherwise);
}
inline float real(network::node const& of, std::string_view name, float otherwise) { return setting<float>(of, name).value_or(otherwise); }
inline float real(lowering const& of, std::string_view name, float otherwise) { return real(*of.node, name, otherwise); }
inline std::string word(lowering const& of, std::string_view name, std::string const& otherwise) {
    return setting<std::string>(of, name).value_or(otherwise);
}
inline std::optional<shape> integers(lowering const& of, std::string_view name) { return setting<shape>(of, name); }
/// A list that newer versions give as an operand and older ones as an attribute.
inline std::optional<shape> list(lowering& of, std::string_view name, std::size_t operand) {
    if (of.has(operand)) return of.known_integers(operand);
    return integers(of, name);
}
inline int dimension_of(std::int64_t given, int rank) {
    if (given < -rank || given >= rank) throw not_imported("axis " + std::to_string(given) + " of " + std::to_string(rank) + " dimensions");
    return static_cast<int>(given < 0 ? given + rank : given);
}
/// An index along a dimension; one below 0 counts from the end.
inline std::int64_t index_of(std::int64_t given, std::int64_t extent) {
    if (given < -extent || given >= extent) throw not_imported("index " + std::to_string(given) + " of " + std::to_string(extent));
    return given < 0 ? given + extent : given;
}
/// The only element of an operand.
template <class T>
T only_one(std::vector<T> const& all, std::size_t operand) {
    if (all.size() != 1) throw not_imported("operand " + std::to_string(operand) + " of " + std::to_string(all.size()) + " elements");
    return all[0];
}
/// The only number of an operand that must be known.
inline std::int64_t known_integer(lowering const& of, std::size_t operand) { return only_one(of.known_integers(operand), operand); }
/// Likewise, as a real number.
inline double known_real(lowering const& of, std::size_t operand) { return only_one(of.known_numbers(operand), operand); }
/// Likewise, as a number of this type.
inline value known_number(lowering const& of, std::size_t operand, scalar_type type) {
    return is_float(type) ? number(known_real(of, operand), type) : number(known_integer(of, operand), type);
}
/// The number of elements of a setting that is a tensor.
inline std::int64_t elements_of(network::literal const& of) {
    std::int64_t count = 1;
    for (std::int64_t const extent : of.extents) count *= extent;
    return count;
}
/// The type of elements by ONNX's number of it.
constexpr std::int64_t number_of_float16 = 10, number_of_bfloat16 = 16;
inline scalar_type type_of_number(std::int64_t number_of_type) {
    static constexpr scalar_type types[] = {scalar_type::literal, scalar_type::float32, scalar_type::uint8,   scalar_type::int8,
                                            scalar_type::uint16,  scalar_type::int16,   scalar_type::int32,   scalar_type::int64,
                                            scalar_type::literal, scalar_type::boolean, scalar_type::literal, scalar_type::float64,
                                            scalar_type::uint32,  scalar_type::uint64};
    if (number_of_type == number_of_float16 || number_of_type == number_of_bfloat16) return scalar_type::float32;
    scalar_type const to = number_of_type > 0 && number_of_type < 14 ? types[number_of_type] : scalar_type::literal;
    if (to == scalar_type::literal) throw not_imported("elements of type " + std::to_string(number_of_type));
    return to;
}
/// Dimensions, each named once.
inline std::vector<bool> dimensions_of(shape const& axes, int rank) {
    std::vector<bool> named(static_cast<std::size_t>(rank), false);
    for (std::int64_t const one : axes) {
        auto const at = static_cast<std::size_t>(dimension_of(one, rank));
        if (named[at]) throw not_imported("axis " + std::to_string(one) + " twice");
        named[at] = true;
    }
    return named;
}
inline void need_float(value const& of) {
    if (!is_float(of.type())) throw not_imported(std::string("of elements of ") + name_of(of.type()));
}
inline void need_float32(value const& of) {
    if (of.type() != scalar_type::float32) throw not_imported(std::string("of elements of ") + name_of(of.type()) + ", not of float");
}

/// `body` reduced over axes, or as it is where there is none.
inline value over(operation op, std::vector<value> const& axes, value const& body) {
    if (axes.size() >= max_rank) throw not_imported("more than " + std::to_string(max_rank - 1) + " dimensions are reduced");
    return axes.empty() ? body : reduced(op, axes, body);
}

}  // namespace tilewright::imported::detail
