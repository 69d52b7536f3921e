#pragma once
#include <tilewright/compute/expression.hpp>

namespace tilewright::detail {

/// `body(value)`, where the value stands once however often the body uses it.
///
/// While the body is made, a leaf stands for the value; `place` tells those of one call from those of another around it.
template <int Count, class Body>
constexpr auto compute_once(expression<Count> const& value, Body const& body, int place = __builtin_LINE()) {
    expression<1> const stand_in{{{{.op = operation::parameter, .type = value.root().type, .value = place}}}};
    auto const around = body(stand_in);
    constexpr int size = static_cast<int>(decltype(around.nodes)::size());
    expression<Count + size> whole;
    append(whole.nodes, append(whole.nodes, 0, value.nodes), around.nodes);
    auto const is_stand_in = [&](node const& n) { return n.op == operation::parameter && n.name.empty() && n.value == place; };
    for (int at = Count; at < Count + size; ++at) {
        node& n = whole.nodes[at];
        if (n.op == operation::constant) continue;
        for (int argument = 0; argument < n.argument_count; ++argument) {
            std::int16_t& position = n.arguments[argument];
            if (is_stand_in(whole.nodes[position])) position = Count - 1;
        }
    }
    // Nothing refers to them any more.
    for (int at = Count; at < Count + size; ++at) {
        node& n = whole.nodes[at];
        if (is_stand_in(n)) n = node{.op = operation::constant, .type = n.type};
    }
    return whole;
}

}  // namespace tilewright::detail
