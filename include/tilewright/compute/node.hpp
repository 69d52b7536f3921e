#pragma once
#include <tilewright/base/label.hpp>
#include <tilewright/base/positions.hpp>
#include <tilewright/base/rule.hpp>
#include <tilewright/compute/scalar.hpp>

namespace tilewright {

/// Most dimensions of a tensor.
inline constexpr int max_rank = 6;

enum class operation : std::uint8_t {
    constant,    // value: the bits of an int64 or of a double
    parameter,   // name
    axis_value,  // name; value: extent (0 when the axis was made by a directive)
    access,      // name: the tensor; arguments: one index expression a dimension; value: the border of a padded one, as of a constant
    add,
    subtract,
    multiply,
    divide,
    modulo,
    minimum,
    maximum,
    equal,
    not_equal,
    less,
    less_equal,
    logical_and,
    logical_or,
    logical_not,
    shift_left,
    shift_right,
    select,  // condition, then, otherwise
    cast,
    reinterpret,  // the bits as a value of another type of that size
    reduce_sum,
    reduce_maximum,
    reduce_minimum,  // arguments: body, then the axes that were named (may be none)
    within,  // an index that may leave [0, value), where a padded access gives its border: argument: the index, of any form; name: the axis
    store,   // arguments: the target access, the value; value: the rule that it breaks, 0: none
    invalid,  // value: the rule that the expression breaks by itself, to be reported by the planner
};

namespace ir {

/// One node of an expression. Nodes of a computation stand in one array; arguments are positions in it, smaller than the node's own.
struct node {
    operation op = operation::constant;
    scalar_type type = scalar_type::literal;
    std::int8_t argument_count = 0;
    fixed_array<std::int16_t, max_rank> arguments{};
    label name{};
    std::int64_t value = 0;

    constexpr ir::node_id argument(int position) const { return ir::node_id(arguments.elements[position]); }

    friend constexpr bool operator==(node const&, node const&) = default;
};

}  // namespace ir

constexpr bool is_reduction(operation op) {
    return op == operation::reduce_sum || op == operation::reduce_maximum || op == operation::reduce_minimum;
}

/// Whether a value of `type` is the same when its two operands change places. Of -0.0 and 0.0 the smaller
/// is the first one, and so it is where one is no number.
constexpr bool is_commutative(operation op, scalar_type type) {
    using enum operation;
    if (is_float(type) && (op == minimum || op == maximum)) return false;
    return op == add || op == multiply || op == minimum || op == maximum || op == equal || op == not_equal || op == logical_and ||
           op == logical_or;
}

constexpr char const* name_of(operation op) {
    constexpr char const* names[] = {"constant", "parameter", "axis",       "access",      "add",    "subtract", "multiply",    "divide",
                                     "modulo",   "min",       "max",        "==",          "!=",     "<",        "<=",          "and",
                                     "or",       "not",       "shift_left", "shift_right", "select", "cast",     "reinterpret", "sum",
                                     "maximum",  "minimum",   "within",     "store",       "invalid"};
    return names[static_cast<int>(op)];
}

/// A computation, or an instruction's semantics, as a view of its nodes: every `store` node is a stage, in order.
struct computation_view {
    ir::node const* nodes = nullptr;
    int count = 0;

    constexpr ir::node const& operator[](int position) const { return nodes[position]; }
};

/// Whether the access at node `at` gives a constant outside the extents of its tensor.
constexpr bool is_padded(computation_view nodes, int at) {
    ir::node const& n = nodes.nodes[at];
    return n.op == operation::access && n.argument_count > 0 && nodes.nodes[n.argument(0)].op == operation::within;
}
/// The extent of a padded access' tensor along `dimension`.
constexpr std::int64_t padded_extent(computation_view nodes, int at, int dimension) {
    return nodes.nodes[nodes.nodes[at].argument(dimension)].value;
}

}  // namespace tilewright
