#pragma once
#include <tilewright/compute/tensor.hpp>
#include <tilewright/compute/value_range.hpp>

namespace tilewright {

namespace ir {

/// A loop of a stage before any directive.
struct stage_axis {
    label name{};
    std::int64_t extent = 0;
    bool reduction = false;
    bool run_time = false;  ///< `extent` is the most that it can be
};

/// The rule that a stage breaks; `about` names the axis, tensor, type or operation.
struct stage_mistake {
    rule broken = rule::none;
    label about{};
    label what{};            ///< of which there is more than the representation can hold …
    std::int64_t need = 0;   ///< … namely this many, …
    std::int64_t limit = 0;  ///< … at most

    constexpr explicit operator bool() const { return broken != rule::none; }
};

/// One stage in normal form: `output(axes…) = start + reduction over the other axes of body`, read from the nodes [first, store].
struct stage {
    static constexpr int most_axes = 12;
    static constexpr std::int64_t most_index = highest_of(scalar_type::int32);  ///< generated code counts in 32 bits

    ir::node_id first{};
    ir::node_id store{};
    ir::node_id target{};                       ///< the access that is written
    ir::node_id body{};                         ///< the value, or what is reduced
    operation reduction = operation::constant;  ///< `constant`: none
    bool continues = false;                     ///< the reduction starts from the target's contents
    ir::node_id start = ir::no_node;            ///< the value that the reduction starts from; -1: its identity, or the target's contents
    ir::node_id start_first{};                  ///< the first of its nodes, which end with it
    label output{};
    scalar_type type = scalar_type::literal;
    int rank = 0;
    fixed_array<stage_axis, most_axes> axes{};  ///< the target's in its order, then the reduction's in order of appearance
    int axis_count = 0;

    constexpr bool reduces() const { return reduction != operation::constant; }
    /// Whether a node belongs to what the reduction starts from.
    constexpr bool is_in_start(int node) const { return start >= 0 && node >= start_first && node <= start; }
    constexpr int find(label const& name) const {
        for (int position = 0; position < axis_count; ++position) {
            stage_axis const& a = axes.elements[position];
            if (a.name.words.elements[0] == name.words.elements[0] && a.name == name) return position;
        }
        return -1;
    }
};

/// An affine index over the axes of one stage: `constant + sum of coefficient * axis`.
struct stage_index {
    std::int64_t constant = 0;
    fixed_array<std::int64_t, stage::most_axes> coefficients{};
    bool affine = true;
    ir::node_id computed = ir::no_node;  ///< not affine, into a padded tensor: the expression of the index. Then all else is 0
    std::int64_t beyond = 0;             ///< a coefficient that is larger than an index can be; 0: there is none
};

}  // namespace ir

namespace detail {

constexpr void accumulate_index(computation_view nodes, stage const& of, int at, std::int64_t scale, stage_index& into) {
    node const& n = nodes.nodes[at];
    switch (n.op) {
        case operation::axis_value: into.coefficients.elements[of.find(n.name)] += scale; return;
        case operation::constant: into.constant += scale * n.value; return;
        case operation::within: return accumulate_index(nodes, of, n.argument(0), scale, into);
        case operation::add:
        case operation::subtract:
            accumulate_index(nodes, of, n.argument(0), scale, into);
            accumulate_index(nodes, of, n.argument(1), n.op == operation::add ? scale : -scale, into);
            return;
        case operation::multiply: {
            node const& left = nodes[n.argument(0)];
            node const& right = nodes[n.argument(1)];
            bool const by_left = left.op == operation::constant;
            if (!by_left && right.op != operation::constant) return void(into.affine = false);
            std::int64_t const product = scale * (by_left ? left.value : right.value);
            if (product > stage::most_index || product < -stage::most_index) return void(into.beyond = product);
            accumulate_index(nodes, of, n.argument(by_left ? 1 : 0), product, into);
            return;
        }
        default: into.affine = false; return;
    }
}

/// Whether two subtrees of one computation are the same expression.
constexpr bool same_tree(computation_view nodes, int left, int right) {
    node a = nodes[left], b = nodes[right];
    auto const a_arguments = a.arguments, b_arguments = b.arguments;
    a.arguments = b.arguments = {};
    if (!(a == b)) return false;
    for (int argument = 0; argument < a.argument_count; ++argument) {
        if (!same_tree(nodes, a_arguments[argument], b_arguments[argument])) return false;
    }
    return true;
}

}  // namespace detail

/// The affine form of dimension `dimension` of the access at node `at`.
constexpr ir::stage_index index_of(computation_view nodes, ir::stage const& of, int at, int dimension) {
    ir::stage_index index;
    ir::node_id const root = nodes.nodes[at].argument(dimension);
    detail::accumulate_index(nodes, of, root, 1, index);
    if (index.affine || nodes[root].op != operation::within) return index;
    return {.affine = false, .computed = nodes[root].argument(0)};
}

namespace detail {

/// Whether `op` exists for operands of a type. Booleans have no arithmetic, logic has nothing else, floating point no shifts.
constexpr bool takes(operation op, scalar_type operand) {
    using enum operation;
    bool const logic = op == logical_and || op == logical_or || op == logical_not;
    bool const arithmetic = op == add || op == subtract || op == multiply || op == divide || op == modulo || op == reduce_sum;
    bool const shift = op == shift_left || op == shift_right;
    if (operand == scalar_type::boolean) return !arithmetic && !shift;
    return !logic && !(shift && is_float(operand));
}

/// Whether a node leaves numbers of 16 bits as they are, or converts them to float or from float.
constexpr bool only_moves_halves(computation_view nodes, node const& n) {
    scalar_type const operand = nodes[n.argument(0)].type;
    if (!is_half(operand) && !is_half(n.type)) return true;
    if (n.op == operation::cast) return operand == n.type || operand == scalar_type::float32 || n.type == scalar_type::float32;
    return n.op == operation::select || n.op == operation::reinterpret;
}

/// The reduction whose step is an operation; `constant`: none.
constexpr operation reduction_by(operation step) {
    using enum operation;
    return step == add ? reduce_sum : step == maximum ? reduce_maximum : step == minimum ? reduce_minimum : constant;
}

/// "int8, int16": the types of the two operands of a node.
constexpr label types_of(computation_view nodes, node const& n) {
    fixed_array<char, label::longest + 1> text{};
    int at = 0;
    for (int argument = n.argument_count - 2; argument < n.argument_count; ++argument) {
        if (at > 0) text[at++] = ',', text[at++] = ' ';
        for (char const* name = name_of(nodes[n.argument(argument)].type); *name != '\0'; ++name) text[at++] = *name;
    }
    return label(text.elements);
}

/// The first axis of a value that the result does not have; -1: there is none.
constexpr int reduced_axis_in(computation_view nodes, stage const& s, int at) {
    node const& n = nodes[at];
    if (n.op == operation::axis_value) return s.find(n.name) >= s.rank ? at : -1;
    for (int argument = 0; n.op != operation::constant && argument < n.argument_count; ++argument) {
        int const found = reduced_axis_in(nodes, s, n.argument(argument));
        if (found >= 0) return found;
    }
    return -1;
}

/// What is wrong with the expressions of a stage, apart from its axes.
constexpr stage_mistake check_expressions(computation_view nodes, stage const& s) {
    for (int at = s.first; at < s.store; ++at) {
        node const& n = nodes.nodes[at];
        if (n.op == operation::invalid) {
            auto const broken = static_cast<rule>(n.value);
            if (broken == rule::too_many)
                return {broken, n.name, n.name.empty() ? "parts of a reduction" : "dimensions", n.arguments[0], max_rank};
            if (broken == rule::condition_without_bool || broken == rule::text_as_a_value) return {broken};
            if (broken == rule::tensor_without_indices || broken == rule::indices_in_brackets || broken == rule::stage_inside_a_value)
                return {broken, n.name};
            return {broken, broken == rule::operands_of_different_types ? types_of(nodes, n) : name_of(n.type)};
        }
        if (n.op == operation::access && n.type == scalar_type::literal) return {rule::tensor_without_type, n.name};
        if (n.op == operation::within && run_time_extent::is_kept_in(n.value)) return {rule::padding_of_run_time, n.name};
        if (n.op == operation::within && n.value < 1) return {rule::axis_without_extent, n.name};
        bool const computes = n.op != operation::access && n.op != operation::constant && n.op != operation::parameter &&
                              n.op != operation::axis_value && n.op != operation::within;
        if (!computes) continue;
        scalar_type const operand = nodes[n.argument(0)].type;
        if (operand == scalar_type::literal && n.op != operation::select) return {rule::literal_without_type, name_of(n.op)};
        if (n.type == scalar_type::literal) return {rule::literal_without_type, name_of(n.op)};
        if (!takes(n.op, operand)) return {rule::operation_not_for_this_type, name_of(n.op)};
        if (!only_moves_halves(nodes, n)) return {rule::computes_with_halves, name_of(n.op)};
    }
    node const& root = nodes[s.store];
    if (root.value == 0) return {};
    auto const broken = static_cast<rule>(root.value);
    return {broken, broken == rule::operands_of_different_types ? types_of(nodes, root) : name_of(root.type)};
}

/// `C = C + sum(…)` and `C = C + x` continue from the contents of C. `bias(n) + sum(…)`: one of the two is what the reduction starts from.
constexpr stage_mistake read_start(computation_view nodes, stage& s) {
    auto const is_target = [&](int at) { return nodes[at].op == operation::access && same_tree(nodes, at, s.target); };
    if (nodes[s.body].op == operation::add) {
        ir::node_id const left = nodes[s.body].argument(0), right = nodes[s.body].argument(1);
        if (is_target(left) || is_target(right)) {
            s.continues = true;
            s.body = is_target(left) ? right : left;
            s.reduction = operation::reduce_sum;
            bool const of_no_sum = is_reduction(nodes[s.body].op) && nodes[s.body].op != operation::reduce_sum;
            return of_no_sum ? stage_mistake{rule::continuing_what_is_no_sum, name_of(nodes[s.body].op)} : stage_mistake{};
        }
    }
    operation const reduction = reduction_by(nodes[s.body].op);
    if (reduction == operation::constant) return {};
    // Nodes stand as they were written.
    ir::node_id const left = nodes[s.body].argument(0), right = nodes[s.body].argument(1);
    if ((nodes[left].op == reduction) == (nodes[right].op == reduction)) return {};
    bool const leads = nodes[right].op == reduction;
    s.start = leads ? left : right;
    s.body = leads ? right : left;
    s.start_first = ir::node_id((s.start < s.body ? s.target : s.body) + 1);
    return {};
}

/// The reduction of a stage that has one. @param named  receives how many axes it names; -1: there is no reduction
constexpr stage_mistake read_reduction(computation_view nodes, stage& s, int& named) {
    named = -1;
    node const& reduce = nodes[s.body];
    if (!is_reduction(reduce.op)) return {};
    s.reduction = reduce.op;
    s.body = reduce.argument(0);
    named = reduce.argument_count - 1;
    for (int argument = 1; argument <= named; ++argument) {
        node const& axis = nodes[reduce.argument(argument)];
        if (axis.op != operation::axis_value) return {rule::reduction_over_no_axis, name_of(reduce.op)};
        for (int dimension = 0; dimension < s.rank; ++dimension) {
            if (nodes[nodes[s.target].argument(dimension)].name == axis.name) return {rule::reduction_over_the_output, axis.name};
        }
    }
    return {};
}

/// The axes of a stage, those of its result first.
constexpr stage_mistake read_axes(computation_view nodes, stage& s) {
    for (int at = s.first; at < s.store; ++at) {
        node const& n = nodes.nodes[at];
        if (is_reduction(n.op) && n.argument(0) != s.body) return {rule::reduction_inside_a_value, name_of(n.op)};
        bool const is_output = n.op == operation::access && at != s.target && n.name == s.output;
        if (is_output && !(s.continues && same_tree(nodes, at, s.target))) return {rule::reading_its_own_output};
        if (n.op != operation::axis_value) continue;
        int const known = s.find(n.name);
        bool const run_time = run_time_extent::is_kept_in(n.value);
        std::int64_t const extent = run_time ? run_time_extent::most_of(n.value) : n.value;
        if (known >= 0) {
            stage_axis const& before = s.axes[known];
            if (before.extent != extent || before.run_time != run_time) return {rule::axis_with_two_extents, n.name};
            continue;
        }
        if (extent < 1) return {rule::axis_without_extent, n.name};
        std::int64_t const most = run_time ? run_time_extent::most_of_all : stage::most_index;
        if (extent > most) return {rule::too_many, n.name, "extent", extent, most};
        if (s.axis_count == stage::most_axes) return {rule::too_many, s.output, "axes", stage::most_axes + 1, stage::most_axes};
        s.axes[s.axis_count++] = {n.name, extent, at > s.target, run_time};
    }
    return {};
}

/// @param reduce_at  the node of the reduction that names `named` axes
constexpr stage_mistake check_axes(computation_view nodes, stage const& s, int reduce_at, int named) {
    for (int dimension = 0; dimension < s.rank; ++dimension) {
        node const& plain = nodes[nodes[s.target].argument(dimension)];
        if (plain.op != operation::axis_value || s.find(plain.name) != dimension) return {rule::target_without_plain_axes};
    }
    if (int const at = s.start >= 0 ? reduced_axis_in(nodes, s, s.start) : -1; at >= 0)
        return {rule::start_along_a_reduction, nodes[at].name};
    for (int position = s.rank; position < s.axis_count; ++position) {
        label const& name = s.axes[position].name;
        if (!s.reduces()) return {rule::axis_only_on_the_right, name};
        bool is_named = named <= 0;
        for (int argument = 1; argument <= named; ++argument) is_named |= nodes[nodes[reduce_at].argument(argument)].name == name;
        if (!is_named) return {rule::axis_not_reduced, name};
    }
    return {};
}

/// Whether all values of a type are numbers of int32.
constexpr bool is_index_type(scalar_type type) {
    return type != scalar_type::boolean && range_of(type).is_inside(range_of(scalar_type::int32));
}
/// Checks that indices are affine, but for those into padded tensors, and are numbers that the plan can hold.
constexpr stage_mistake check_indices(computation_view nodes, stage const& s) {
    for (int at = s.first; at < s.store; ++at) {
        if (nodes.nodes[at].op != operation::access) continue;
        for (int dimension = 0; dimension < nodes.nodes[at].argument_count; ++dimension) {
            stage_index const index = index_of(nodes, s, at, dimension);
            if (!index.affine && index.computed < 0) return {rule::index_not_affine, nodes[at].name};
            if (!index.affine && !is_index_type(nodes[index.computed].type)) return {rule::index_of_another_type, nodes[at].name};
            if (index.beyond != 0) return {rule::too_many, nodes[at].name, "index", index.beyond, stage::most_index};
            // Not more than 2^31 times 2^31 times 12: a double holds it where an int64 would not.
            double low = static_cast<double>(index.constant), high = low;
            for (int axis = 0; axis < s.axis_count; ++axis) {
                std::int64_t const coefficient = index.coefficients.elements[axis];
                if (coefficient == 0 || s.axes[axis].run_time) continue;  // left to the entry of the kernel
                double const reach = static_cast<double>(coefficient) * static_cast<double>(s.axes[axis].extent - 1);
                (reach < 0 ? low : high) += reach;
            }
            double const furthest = high > -low ? high : -low;
            if (furthest > stage::most_index)
                return {rule::too_many, nodes[at].name, "index", static_cast<std::int64_t>(furthest < 4e18 ? furthest : 4e18),
                        stage::most_index};
        }
    }
    return {};
}

}  // namespace detail

/// Reads the stage whose first node is `first` into normal form.
/// @return the rule that it breaks, or none
constexpr ir::stage_mistake read_stage(computation_view nodes, int first, ir::stage& s) {
    s.first = ir::node_id(first);
    int store = first;
    while (nodes.nodes[store].op != operation::store) ++store;
    s.store = ir::node_id(store);
    ir::node const& root = nodes[s.store];
    s.target = root.argument(0);
    s.body = root.argument(1);
    s.output = root.name;
    s.type = nodes[s.target].type;
    s.rank = nodes[s.target].argument_count;
    if (ir::stage_mistake const wrong = detail::check_expressions(nodes, s)) return wrong;
    if (ir::stage_mistake const wrong = detail::read_start(nodes, s)) return wrong;
    int const reduce_at = s.body;
    int named = -1;
    if (ir::stage_mistake const wrong = detail::read_reduction(nodes, s, named)) return wrong;
    if (ir::stage_mistake const wrong = detail::read_axes(nodes, s)) return wrong;
    if (ir::stage_mistake const wrong = detail::check_axes(nodes, s, reduce_at, named)) return wrong;
    return detail::check_indices(nodes, s);
}

}  // namespace tilewright
