#pragma once
#include <tilewright/compute/expression.hpp>

namespace tilewright {

/// A computation of one or several stages as `Count` nodes. Every stage ends in a `store` node.
template <int Count>
struct computation {
    fixed_array<ir::node, Count> nodes{};

    constexpr computation_view view() const { return {nodes.elements, Count}; }
};

/// One element of a tensor: `A(m, 2 * k + 1)`. Assigning to it states a stage of a computation.
template <int Count>
struct tensor_element {
    expression<Count> whole;

    constexpr tensor_element() = default;
    constexpr tensor_element(tensor_element const&) = default;

    /// Each element is computed once; a right-hand side `sum(k, …)`, `maximum` or `minimum` reduces from its identity.
    template <class Value>
        requires detail::operand<Value>
    constexpr auto operator=(Value const& value) const { return store(detail::to_expression(value)); }
    constexpr auto operator=(tensor_element const& value) const { return store(value.whole); }

    /// Sums the right-hand side over the axes that the target does not have, from 0.
    /// In an intrinsic that `updates` the target, the sum continues from its contents.
    template <class Value>
        requires detail::operand<Value>
    constexpr auto operator+=(Value const& value) const { return store(detail::reduce(operation::reduce_sum, value)); }

  private:
    template <int Value>
    constexpr computation<Count + Value + 1> store(expression<Value> const& value) const {
        computation<Count + Value + 1> stage;
        detail::append(stage.nodes, detail::append(stage.nodes, 0, whole.nodes), value.nodes);
        ir::node& root = stage.nodes[Count + Value];
        root.argument_count = 2;
        root.arguments = {Count - 1, Count + Value - 1};
        root.name = whole.root().name;
        ir::node& body = stage.nodes[Count + Value - 1];
        root.op = operation::store;
        root.type = whole.root().type;
        root.value = static_cast<std::int64_t>(detail::agree(stage.nodes[Count - 1], body));
        return stage;
    }
};

namespace detail {
template <int Count>
constexpr expression<Count> to_expression(tensor_element<Count> const& a) {
    return a.whole;
}
template <int Count>
constexpr expression<1> to_expression(computation<Count> const& c) {
    return not_a_value(rule::stage_inside_a_value, c.nodes[Count - 1].name);
}
}  // namespace detail

/// `A[m][n]`, for `A(m, n)`: an element that the planner refuses.
struct element_in_brackets {
    ir::label name;

    template <class Index>
        requires detail::operand<Index>
    constexpr element_in_brackets const& operator[](Index const&) const { return *this; }
    template <class Value>
        requires detail::operand<Value>
    constexpr auto operator=(Value const&) const {
        tensor_element<1> target;
        target.whole.nodes[0] = {.op = operation::access, .type = scalar_type::int32, .name = name};
        return target = detail::not_a_value(ir::rule::indices_in_brackets, name);
    }
    template <class Value>
        requires detail::operand<Value>
    constexpr auto operator+=(Value const&) const { return *this = 0; }
};
namespace detail {
constexpr expression<1> to_expression(element_in_brackets const& e) { return not_a_value(rule::indices_in_brackets, e.name); }
}  // namespace detail

/// A tensor whose element type is chosen at run time. Row-major: the last index is contiguous.
struct any_tensor {
    ir::label name;
    scalar_type type = scalar_type::literal;

    /// @param indices affine in axes: `a * i + b * j + c`; at most `max_rank`
    template <class... Indices>
        requires(detail::operand<Indices>&&...)
    constexpr auto operator()(Indices const&... indices) const {
        constexpr int total = (0 + ... + detail::nodes_of<Indices>);
        tensor_element<total + 1> element;
        ir::node& root = element.whole.nodes[total];
        root.op = operation::access;
        root.type = type;
        root.name = name;
        int at = 0;
        [[maybe_unused]] auto const take = [&](auto index) {
            ir::rule const wrong = detail::adopt(last_of(index.nodes), scalar_type::int32);
            if (wrong != ir::rule::none) detail::set_root(last_of(index.nodes), operation::invalid, scalar_type::int32, wrong);
            at = detail::append(element.whole.nodes, at, index.nodes);
            if (root.argument_count < max_rank) root.arguments[root.argument_count++] = static_cast<std::int16_t>(at - 1);
        };
        (take(detail::to_expression(indices)), ...);
        detail::limit_arguments(root, sizeof...(Indices));
        return element;
    }

    template <class Index>
        requires detail::operand<Index>
    constexpr element_in_brackets operator[](Index const&) const { return {name}; }

    /// `C = A(m, n)`, for `C(m, n) = A(m, n)`: a stage that the planner refuses.
    template <class Value>
        requires detail::operand<Value>
    constexpr auto operator=(Value const&) const { return (*this)() = detail::not_a_value(ir::rule::tensor_without_indices, name); }
};

namespace detail {
constexpr expression<1> to_expression(any_tensor const& t) { return not_a_value(rule::tensor_without_indices, t.name); }
}  // namespace detail

/// A tensor of elements of type `T`. Its extents follow from how it is indexed.
template <class T>
struct tensor : any_tensor {
    constexpr tensor(ir::label tensor_name) : any_tensor{tensor_name, scalar_type_of<T>()} {}
    /// Refused: a tensor has no extents of its own.
    template <class Extent, bool expected = false>
    constexpr tensor(ir::label tensor_name, Extent const&, ...) : tensor(tensor_name) {
        static_assert(expected, "a tensor takes a name: its extents are those of the axes");
    }
    using any_tensor::operator=;
};

/// Without a type, it is refused by the planner.
template <>
constexpr tensor<void>::tensor(ir::label tensor_name) : any_tensor{tensor_name} {}

/// A tensor of known extents with a constant around it: see `padded`.
template <int Rank>
struct padded_tensor {
    fixed_array<ir::node, Rank + 1> axes{};  ///< the access that names the extents
    ir::node border{};
    ir::rule wrong = ir::rule::none;

    /// @param indices as those of a tensor; where one is outside its extent, the element is the border
    template <class... Indices>
        requires(sizeof...(Indices) > 0 && (detail::operand<Indices> && ...))
    constexpr auto operator()(Indices const&... indices) const {
        constexpr int total = (detail::nodes_of<Indices> + ...) + Rank;
        tensor_element<total + 1> element;
        ir::node& root = element.whole.nodes[total];
        root = axes[Rank];
        int at = 0, dimension = 0;
        auto const take = [&](auto index) {
            ir::rule const misfit = detail::adopt(last_of(index.nodes), scalar_type::int32);
            if (misfit != ir::rule::none) detail::set_root(last_of(index.nodes), operation::invalid, scalar_type::int32, misfit);
            ir::node const& extent = axes[dimension < Rank ? dimension : 0];
            auto const limited = detail::wrap(operation::within, scalar_type::int32, index);
            at = detail::append(element.whole.nodes, at, limited.nodes);
            element.whole.nodes[at - 1].name = extent.name;
            element.whole.nodes[at - 1].value = extent.value;
            if (dimension < max_rank) root.arguments[dimension] = static_cast<std::int16_t>(at - 1);
            ++dimension;
        };
        (take(detail::to_expression(indices)), ...);
        if (root.op == operation::invalid) return element;
        root.value = border.value;
        ir::rule const broken = wrong == ir::rule::none && dimension != Rank ? ir::rule::padding_without_plain_axes : wrong;
        if (broken != ir::rule::none) detail::set_root(root, operation::invalid, root.type, broken);
        return element;
    }
};

/// A tensor to be read outside its extents, which are those of the axes: `padded(in(h, w), 0)(y + r - 1, x + s - 1)` is 0 there. Nothing is
/// read from outside.
///
/// @param extents  the tensor, indexed by plain axes with extents: one dimension or more
/// @param border   a literal that fits the tensor's type
template <int Count, class T>
    requires(Count > 1 && detail::arithmetic<T>)
constexpr padded_tensor<Count - 1> padded(tensor_element<Count> const& extents, T border) {
    padded_tensor<Count - 1> made{.axes = extents.whole.nodes, .border = detail::to_expression(border).root()};
    made.wrong = detail::adopt(made.border, extents.whole.root().type);
    for (int at = 0; at + 1 < Count && made.wrong == ir::rule::none; ++at) {
        if (made.axes[at].op != operation::axis_value) made.wrong = ir::rule::padding_without_plain_axes;
    }
    if (made.wrong == ir::rule::none && extents.whole.root().argument_count != Count - 1) made.wrong = ir::rule::padding_without_plain_axes;
    return made;
}

/// Joins stages into one computation, producers before consumers; the last stage computes the result.
template <int... Counts>
constexpr auto stages(computation<Counts> const&... parts) {
    computation<(Counts + ...)> whole;
    int at = 0;
    ((at = detail::append(whole.nodes, at, parts.nodes)), ...);
    return whole;
}

}  // namespace tilewright
