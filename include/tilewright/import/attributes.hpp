#pragma once
#include <string_view>
#include <tilewright/import/lowering.hpp>

// The settings of a node, and what its operands must be.
namespace tilewright::imported::detail {

using shape = std::vector<std::int64_t>;

inline std::int64_t integer(lowering const& of, std::string_view name, std::int64_t otherwise) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<std::int64_t>(found) : nullptr;
    return held ? *held : otherwise;
}
inline float real(lowering const& of, std::string_view name, float otherwise) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<float>(found) : nullptr;
    return held ? *held : otherwise;
}
inline std::string word(lowering const& of, std::string_view name, std::string const& otherwise) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<std::string>(found) : nullptr;
    return held ? *held : otherwise;
}
inline std::optional<shape> integers(lowering const& of, std::string_view name) {
    auto const* found = of.node->find(name);
    auto const* held = found ? std::get_if<shape>(found) : nullptr;
    return held ? std::optional(*held) : std::nullopt;
}
/// A list that newer versions give as an operand and older ones as an attribute.
inline std::optional<shape> list(lowering& of, std::string_view name, std::size_t operand) {
    if (of.has(operand)) return of.known_integers(operand);
    return integers(of, name);
}
inline int dimension_of(std::int64_t given, int rank) {
    if (given < -rank || given >= rank) throw not_imported("axis " + std::to_string(given) + " of " + std::to_string(rank) + " dimensions");
    return static_cast<int>(given < 0 ? given + rank : given);
}
inline std::string text_of(shape const& of) {
    std::string text;
    for (std::int64_t const one : of) text += (text.empty() ? "" : "x") + std::to_string(one);
    return text.empty() ? "a scalar" : text;
}
inline void need_float(value const& of) {
    if (!is_float(of.type())) throw not_imported(std::string("of elements of ") + name_of(of.type()));
}
inline void need_float32(value const& of) {
    if (of.type() != scalar_type::float32) throw not_imported(std::string("of elements of ") + name_of(of.type()) + ", not of float");
}

}  // namespace tilewright::imported::detail
