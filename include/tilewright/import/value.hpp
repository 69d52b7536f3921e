#pragma once
#include <algorithm>
#include <tilewright/compute/functions.hpp>
#include <tilewright/compute/stage.hpp>
#include <tilewright/import/extents.hpp>
#include <utility>

// Expressions that are made at run time: as many nodes as a layer needs, in the form that schedules read.
namespace tilewright::imported {

/// An expression; the last node is its root. Operands of one operation have one type: nothing is converted silently.
struct value {
    std::vector<ir::node> nodes;

    ir::node const& root() const { return nodes.back(); }
    scalar_type type() const { return root().type; }
};

inline value number(double of, scalar_type type) {
    if (!is_float(type)) throw not_imported(std::string("a real number among elements of ") + name_of(type));
    return {{{.op = operation::constant, .type = type, .value = __builtin_bit_cast(std::int64_t, of)}}};
}
inline value number(std::int64_t of, scalar_type type) {
    if (is_float(type)) return number(static_cast<double>(of), type);
    return {{{.op = operation::constant, .type = type, .value = of}}};
}

/// What changes nothing where it is added: -0 of floats.
inline value nothing_to_add(scalar_type type) { return is_float(type) ? number(-0.0, type) : number(std::int64_t{0}, type); }

namespace detail {

/// Nodes of one expression that can be counted, with room for what stores it.
inline constexpr std::size_t most_nodes = 30'000;

/// Copies `from` to the end of `to`; returns where its root is.
inline std::int16_t append(std::vector<ir::node>& to, std::vector<ir::node> const& from) {
    if (to.size() + from.size() > most_nodes) throw not_imported("its expression is too long");
    auto const at = static_cast<std::int16_t>(to.size());
    for (ir::node copy : from) {
        for (int argument = 0; copy.op != operation::constant && argument < copy.argument_count; ++argument)
            copy.arguments[argument] = static_cast<std::int16_t>(copy.arguments[argument] + at);
        to.push_back(copy);
    }
    return static_cast<std::int16_t>(to.size() - 1);
}

/// The name of a stand-in for a value, which no other stand-in has.
inline ir::label new_name() {
    static thread_local std::uint64_t count = 0;
    return ir::label(("once" + std::to_string(count++)).c_str());
}
/// Puts a node at the end; returns where it is.
inline std::int16_t put(std::vector<ir::node>& to, ir::node const& one) {
    to.push_back(one);
    return static_cast<std::int16_t>(to.size() - 1);
}
/// A copy of nodes, where some become others. `place(to, node, at)` is given node `at` with the arguments that it has in the copy, and
/// returns where in the copy what stands for it is: `put(to, node)` keeps it.
///
/// @param made  what the copy follows
template <class Nodes, class Place>
std::vector<ir::node> rewritten(Nodes const& from, Place const& place, std::vector<ir::node> made = {}) {
    std::vector<std::int16_t> moved;
    for (ir::node one : from) {
        for (int argument = 0; one.op != operation::constant && argument < one.argument_count; ++argument)
            one.arguments[argument] = moved[static_cast<std::size_t>(one.arguments[argument])];
        moved.push_back(place(made, one, static_cast<int>(moved.size())));
    }
    return made;
}

/// The nodes that stages need.
inline std::vector<ir::node> pruned(std::vector<ir::node> const& from) {
    std::vector<bool> used(from.size(), false);
    for (std::size_t at = from.size(); at-- > 0;) {
        ir::node const& one = from[at];
        if (one.op == operation::store) used[at] = true;
        for (int argument = 0; used[at] && one.op != operation::constant && argument < one.argument_count; ++argument)
            used[static_cast<std::size_t>(one.arguments[argument])] = true;
    }
    return rewritten(from, [&](std::vector<ir::node>& to, ir::node const& one, int at) {
        return used[static_cast<std::size_t>(at)] ? put(to, one) : std::int16_t{-1};
    });
}

/// Puts a copy of one expression at the end, where some of its axes become something else; returns where its root is. `axis(to, node)` puts
/// what stands for an axis, and returns where that is.
template <class Axis>
std::int16_t put_copy(std::vector<ir::node>& to, computation_view from, int at, Axis const& axis) {
    ir::node one = from[at];
    if (one.op == operation::axis_value) return axis(to, one);
    for (int argument = 0; one.op != operation::constant && argument < one.argument_count; ++argument)
        one.arguments[argument] = put_copy(to, from, from[at].argument(argument), axis);
    return put(to, one);
}
/// The nodes of an expression that is a part of others.
inline std::vector<ir::node> subtree(computation_view from, int root) {
    std::vector<ir::node> made;
    put_copy(made, from, root, [](std::vector<ir::node>& to, ir::node const& axis) { return put(to, axis); });
    return made;
}

inline value node_of(ir::node root, std::vector<value> const& arguments) {
    value whole;
    for (value const& one : arguments) root.arguments[root.argument_count++] = append(whole.nodes, one.nodes);
    whole.nodes.push_back(root);
    return whole;
}
inline void need_types(operation op, scalar_type left, scalar_type right) {
    if (left != right) throw not_imported(std::string("elements of ") + name_of(left) + " and of " + name_of(right));
    if (!tilewright::detail::takes(op, left)) throw not_imported(std::string(name_of(op)) + " of elements of " + name_of(left));
}

/// The nodes of stages if shared ones stood wherever they are used, as planners walk them; a large number for any larger.
inline double written_out(std::vector<ir::node> const& nodes) {
    std::vector<double> sizes;
    double whole = 0;
    for (ir::node const& one : nodes) {
        double size = 1;
        for (int at = 0; one.op != operation::constant && at < one.argument_count; ++at)
            size += sizes[static_cast<std::size_t>(one.arguments[at])];
        sizes.push_back(std::min(size, 1e18));
        if (one.op == operation::store) whole += sizes.back();
    }
    return whole;
}

}  // namespace detail

/// @throw not_imported  where operands have two types, or one that the operation is not for; as all of these do
inline value binary(operation op, value const& left, value const& right) {
    using enum operation;
    detail::need_types(op, left.type(), right.type());
    bool const asks = op == equal || op == not_equal || op == less || op == less_equal;
    return detail::node_of({.op = op, .type = asks ? scalar_type::boolean : left.type()}, {left, right});
}
inline value operator+(value const& left, value const& right) { return binary(operation::add, left, right); }
inline value operator-(value const& left, value const& right) { return binary(operation::subtract, left, right); }
inline value operator*(value const& left, value const& right) { return binary(operation::multiply, left, right); }
inline value operator/(value const& left, value const& right) { return binary(operation::divide, left, right); }
inline value operator<(value const& left, value const& right) { return binary(operation::less, left, right); }
inline value operator<=(value const& left, value const& right) { return binary(operation::less_equal, left, right); }
inline value equal(value const& left, value const& right) { return binary(operation::equal, left, right); }
inline value smaller_of(value const& left, value const& right) { return binary(operation::minimum, left, right); }
inline value larger_of(value const& left, value const& right) { return binary(operation::maximum, left, right); }
inline value choose(value const& condition, value const& then, value const& otherwise) {
    detail::need_types(operation::select, then.type(), otherwise.type());
    return detail::node_of({.op = operation::select, .type = then.type()}, {condition, then, otherwise});
}
inline value convert(value const& of, scalar_type to) {
    return of.type() == to ? of : detail::node_of({.op = operation::cast, .type = to}, {of});
}

/// An axis of `extent` iterations.
inline value along(ir::label const& name, std::int64_t extent) {
    return {{{.op = operation::axis_value, .type = scalar_type::int32, .name = name, .value = extent}}};
}
/// An element of a tensor: one index for each dimension, affine in axes.
inline value element(ir::label const& tensor, scalar_type type, std::vector<value> const& indices) {
    return detail::node_of({.op = operation::access, .type = type, .name = tensor}, indices);
}
/// An index that may leave [0, extent). Where one of an element's indices does, the element is `border`; so each of them is one of these.
inline value within(value const& index, ir::label const& name, std::int64_t extent) {
    return detail::node_of({.op = operation::within, .type = scalar_type::int32, .name = name, .value = extent}, {index});
}
inline value padded_element(ir::label const& tensor, scalar_type type, std::vector<value> const& indices, std::int64_t border_bits) {
    return detail::node_of({.op = operation::access, .type = type, .name = tensor, .value = border_bits}, indices);
}
/// `body` reduced over axes; at least one, at most five.
inline value reduced(operation op, std::vector<value> axes, value const& body) {
    detail::need_types(op, body.type(), body.type());
    // As it is written: the axes first, then the body, which is the first argument.
    value whole;
    ir::node root{.op = op, .type = body.type(), .argument_count = static_cast<std::int8_t>(axes.size() + 1)};
    int at = 0;
    for (value const& axis : axes) root.arguments[++at] = detail::append(whole.nodes, axis.nodes);
    root.arguments[0] = detail::append(whole.nodes, body.nodes);
    whole.nodes.push_back(root);
    return whole;
}

/// An expression of the compute language at given values: what it is made of, and what each of its parameters stands for. Each value is
/// computed once. `apply(exp(x), {{x, v}})` is `exp` of `v`.
struct argument {
    ir::label name;
    value of;
};
template <class T>
value apply(T const& expression, std::vector<argument> const& arguments) {
    auto const& of = tilewright::detail::to_expression(expression);
    value whole;
    std::vector<std::int16_t> given;
    for (argument const& one : arguments) given.push_back(detail::append(whole.nodes, one.of.nodes));
    if (whole.nodes.size() + of.nodes.size() > detail::most_nodes) throw not_imported("its expression is too long");
    std::int16_t root = -1;
    auto const place = [&](std::vector<ir::node>& to, ir::node const& one, int) {
        for (std::size_t at = 0; one.op == operation::parameter && at < arguments.size(); ++at) {
            if (one.name == arguments[at].name) return root = given[at];
        }
        return root = detail::put(to, one);
    };
    whole.nodes = detail::rewritten(of.nodes, place, std::move(whole.nodes));
    // A parameter that is the whole expression leaves nothing to add.
    whole.nodes.resize(static_cast<std::size_t>(root) + 1);
    return whole;
}

/// The same expression, where parts that are equal stand once.
inline value shared(value const& of) {
    return {detail::rewritten(of.nodes, [](std::vector<ir::node>& to, ir::node const& one, int) {
        auto const found = std::find(to.begin(), to.end(), one);
        return found == to.end() ? detail::put(to, one) : static_cast<std::int16_t>(found - to.begin());
    })};
}

/// What a function makes of a value, which is computed once.
template <class Body>
value once(value const& x, Body const& body) {
    ir::label const name = detail::new_name();
    value const stand_in{{{.op = operation::parameter, .type = x.type(), .name = name}}};
    value const around = body(stand_in);
    auto const x_at = static_cast<std::int16_t>(x.nodes.size() - 1);
    if (x.nodes.size() + around.nodes.size() > detail::most_nodes) throw not_imported("its expression is too long");
    auto const place = [&](std::vector<ir::node>& to, ir::node const& one, int) {
        return one.op == operation::parameter && one.name == name ? x_at : detail::put(to, one);
    };
    return {detail::rewritten(around.nodes, place, x.nodes)};
}

/// A stage: `target`, an element indexed by plain axes, is `what`.
inline std::vector<ir::node> stage_of(value const& target, value const& what) {
    value whole = detail::node_of({.op = operation::store, .type = target.type(), .name = target.root().name}, {target, what});
    if (target.type() != what.type()) whole.nodes.back().value = static_cast<std::int64_t>(ir::rule::operands_of_different_types);
    return whole.nodes;
}

}  // namespace tilewright::imported
