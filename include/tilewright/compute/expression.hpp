#pragma once
#include <tilewright/compute/axis.hpp>

namespace tilewright {

/// An expression of exactly `Count` nodes; the last one is its root.
template <int Count>
struct expression {
    fixed_array<ir::node, Count> nodes{};

    constexpr ir::node const& root() const { return nodes[Count - 1]; }
};

/// A scalar that the caller of the kernel passes by value.
template <class T>
struct parameter {
    // Refuses a type that elements cannot have here, in a short line.
    static_assert(scalar_type_of<T>() != scalar_type::literal);
    static_assert(!is_half(scalar_type_of<T>()), "a parameter of 16 bits is passed as a float: parameter<float>");
    ir::label name;
};

template <int Count>
struct computation;
struct any_tensor;
struct element_in_brackets;
template <class T = void>
struct tensor;
template <int Count>
struct tensor_element;

namespace detail {

template <class T>
inline constexpr bool is_symbolic = false;
template <>
inline constexpr bool is_symbolic<axis> = true;
template <class T>
inline constexpr bool is_symbolic<parameter<T>> = true;
template <int Count>
inline constexpr bool is_symbolic<expression<Count>> = true;
template <int Count>
inline constexpr bool is_symbolic<tensor_element<Count>> = true;
// What stands for no value becomes an expression that says which rule it breaks.
template <>
inline constexpr bool is_symbolic<any_tensor> = true;
template <>
inline constexpr bool is_symbolic<element_in_brackets> = true;
template <class T>
inline constexpr bool is_symbolic<tensor<T>> = true;
template <int Count>
inline constexpr bool is_symbolic<computation<Count>> = true;
template <class T>
inline constexpr bool is_text = false;
template <std::size_t Letters>
inline constexpr bool is_text<char[Letters]> = true;

template <class T>
concept symbolic = is_symbolic<T>;
template <class T>
concept operand = symbolic<T> || arithmetic<T> || is_text<T>;
/// The cheaper question comes first: a compiler asks it for every comparison of two enumerators in the library.
template <class... T>
concept operands = (symbolic<T> || ...) && (operand<T> && ...);

constexpr node literal_node(std::int64_t value) { return {.op = operation::constant, .value = value}; }
/// A floating literal is told from an integer one by its first argument.
constexpr node literal_node(double value) {
    return {.op = operation::constant, .arguments = {1}, .value = __builtin_bit_cast(std::int64_t, value)};
}

constexpr expression<1> to_expression(axis const& a) {
    return {{{{.op = operation::axis_value, .type = scalar_type::int32, .name = a.name, .value = a.extent}}}};
}
template <class T>
constexpr expression<1> to_expression(parameter<T> const& p) {
    return {{{{.op = operation::parameter, .type = scalar_type_of<T>(), .name = p.name}}}};
}
template <int Count>
constexpr expression<Count> const& to_expression(expression<Count> const& e) {
    return e;
}
template <int Count>
constexpr expression<Count> to_expression(tensor_element<Count> const& a);
constexpr expression<1> to_expression(any_tensor const& t);
constexpr expression<1> to_expression(element_in_brackets const& e);
template <int Count>
constexpr expression<1> to_expression(computation<Count> const& c);
constexpr expression<1> not_a_value(rule broken, ir::label const& name = {}) {
    return {{{{.op = operation::invalid, .name = name, .value = static_cast<std::int64_t>(broken)}}}};
}
template <std::size_t Letters>
constexpr expression<1> to_expression(char const (&)[Letters]) {
    return not_a_value(rule::text_as_a_value);
}
template <class T>
    requires arithmetic<T>
constexpr expression<1> to_expression(T value) {
    if constexpr (floating<T>) return {{{literal_node(static_cast<double>(value))}}};
    else return {{{literal_node(static_cast<std::int64_t>(value))}}};
}
template <int Count>
char (&as_many_letters(expression<Count> const&))[static_cast<std::size_t>(Count)];
template <class T>
inline constexpr int nodes_of = sizeof(as_many_letters(to_expression(*static_cast<T const*>(nullptr))));

/// Copies the nodes of `from` after the first `at` nodes of `to`; returns the position after them.
template <int To, int From>
constexpr int append(fixed_array<node, To>& to, int at, fixed_array<node, From> const& from) {
    for (int position = 0; position < From; ++position) {
        node& copy = to.elements[at + position];
        copy = from.elements[position];
        if (at == 0 || copy.op == operation::constant) continue;
        for (int argument = 0; argument < copy.argument_count; ++argument) {
            std::int16_t& moved = copy.arguments.elements[argument];
            moved = static_cast<std::int16_t>(moved + at);
        }
    }
    return at + static_cast<int>(From);
}

constexpr bool fits(std::int64_t value, scalar_type type) {
    switch (type) {
        case scalar_type::boolean: return value == 0 || value == 1;
        case scalar_type::int64: return true;
        case scalar_type::uint64: return value >= 0;
        case scalar_type::float32: return value >= -(1 << 24) && value <= (1 << 24);
        case scalar_type::float64: return value >= -(std::int64_t{1} << 53) && value <= (std::int64_t{1} << 53);
        case scalar_type::float16: return value >= -(1 << 11) && value <= (1 << 11);
        case scalar_type::bfloat16: return value >= -(1 << 8) && value <= (1 << 8);
        default: {
            int const bits = 8 * bytes_of(type);
            if (is_unsigned(type)) return value >= 0 && value < (std::int64_t{1} << bits);
            return value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1));
        }
    }
}

/// Gives a literal constant its type. Other nodes stay as they are.
constexpr rule adopt(node& constant, scalar_type type) {
    if (constant.op != operation::constant || constant.type != scalar_type::literal) return rule::none;
    bool const floating = constant.arguments[0] != 0;
    constant.type = type;
    constant.arguments[0] = 0;
    if (floating ? !is_float(type) && !is_half(type) : !fits(constant.value, type)) return rule::literal_that_does_not_fit;
    double const number = floating ? __builtin_bit_cast(double, constant.value) : static_cast<double>(constant.value);
    if (is_float(type)) constant.value = __builtin_bit_cast(std::int64_t, number);
    if (is_half(type)) constant.value = half_bits_of(type, static_cast<float>(number));
    return rule::none;
}

/// Makes the operands' types agree, literals adopting the type of the other side.
constexpr rule agree(node& left, node& right) {
    if (left.type == scalar_type::literal && right.type != scalar_type::literal) return adopt(left, right.type);
    if (right.type == scalar_type::literal && left.type != scalar_type::literal) return adopt(right, left.type);
    return left.type == right.type ? rule::none : rule::operands_of_different_types;
}

constexpr void set_root(node& root, operation op, scalar_type type, rule wrong) {
    root.op = wrong == rule::none ? op : operation::invalid;
    root.type = type;
    if (wrong != rule::none) root.value = static_cast<std::int64_t>(wrong);
}

/// Marks a node that was given more arguments than it can hold. `arguments[0]` then is their count.
constexpr void limit_arguments(node& root, std::size_t count) {
    if (count <= max_rank) return;
    set_root(root, operation::invalid, root.type, rule::too_many);
    root.argument_count = 0;
    root.arguments[0] = static_cast<std::int16_t>(count);
}

template <int Left, int Right>
constexpr expression<Left + Right + 1> combine(operation op, expression<Left> const& left, expression<Right> const& right,
                                               bool gives_boolean = false) {
    expression<Left + Right + 1> whole;
    append(whole.nodes, append(whole.nodes, 0, left.nodes), right.nodes);
    node& root = whole.nodes[Left + Right];
    root.argument_count = 2;
    root.arguments = {Left - 1, Left + Right - 1};
    rule const wrong = agree(whole.nodes[Left - 1], whole.nodes[Left + Right - 1]);
    set_root(root, op, gives_boolean ? scalar_type::boolean : whole.nodes[Left - 1].type, wrong);
    return whole;
}

template <int Count>
constexpr expression<Count + 1> wrap(operation op, scalar_type type, expression<Count> const& inner) {
    expression<Count + 1> whole;
    append(whole.nodes, 0, inner.nodes);
    node& root = whole.nodes[Count];
    root.argument_count = 1;
    root.arguments = {Count - 1};
    set_root(root, op, type, rule::none);
    return whole;
}

template <class L, class R>
constexpr auto binary(operation op, L const& left, R const& right, bool gives_boolean = false) {
    return combine(op, to_expression(left), to_expression(right), gives_boolean);
}

/// The same with the root's two arguments exchanged. The nodes stay in the order in which they were written, because a kernel's arguments
/// have that order.
template <int Count>
constexpr expression<Count> swapped(expression<Count> whole) {
    auto& arguments = whole.nodes[Count - 1].arguments;
    std::int16_t const first = arguments[0];
    arguments[0] = arguments[1];
    arguments[1] = first;
    return whole;
}

template <class... Parts>
constexpr auto reduce(operation op, Parts const&... parts) {
    constexpr int total = (nodes_of<Parts> + ...);
    expression<total + 1> whole;
    node& root = whole.nodes[total];
    int at = 0;
    auto const take = [&](auto const& part) {
        at = append(whole.nodes, at, part.nodes);
        if (root.argument_count < max_rank) root.arguments[root.argument_count++] = static_cast<std::int16_t>(at - 1);
    };
    (take(to_expression(parts)), ...);
    root.op = op;
    limit_arguments(root, sizeof...(Parts));
    if (root.op == operation::invalid) return whole;
    // The body comes last in the call and first among the arguments.
    std::int16_t const body = static_cast<std::int16_t>(at - 1);
    for (int position = static_cast<int>(sizeof...(Parts)) - 1; position > 0; --position)
        root.arguments[position] = root.arguments[position - 1];
    root.arguments[0] = body;
    root.type = whole.nodes[body].type;
    return whole;
}

}  // namespace detail

// Arithmetic. Both sides have one element type (casts are written); a literal takes the type of the other side.
// 8- and 16-bit integers and unsigned ones wrap; `/` and `%` round as Halide's: the remainder is never negative, x / 0 is 0.
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator+(L const& left, R const& right) { return detail::binary(operation::add, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator-(L const& left, R const& right) { return detail::binary(operation::subtract, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator*(L const& left, R const& right) { return detail::binary(operation::multiply, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator/(L const& left, R const& right) { return detail::binary(operation::divide, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator%(L const& left, R const& right) { return detail::binary(operation::modulo, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator<<(L const& left, R const& right) { return detail::binary(operation::shift_left, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator>>(L const& left, R const& right) { return detail::binary(operation::shift_right, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator&&(L const& left, R const& right) { return detail::binary(operation::logical_and, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator||(L const& left, R const& right) { return detail::binary(operation::logical_or, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator==(L const& left, R const& right) { return detail::binary(operation::equal, left, right, true); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator!=(L const& left, R const& right) { return detail::binary(operation::not_equal, left, right, true); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator<(L const& left, R const& right) { return detail::binary(operation::less, left, right, true); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator<=(L const& left, R const& right) { return detail::binary(operation::less_equal, left, right, true); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator>(L const& left, R const& right) { return detail::swapped(detail::binary(operation::less, left, right, true)); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto operator>=(L const& left, R const& right) {
    return detail::swapped(detail::binary(operation::less_equal, left, right, true));
}
template <detail::symbolic T>
constexpr auto operator!(T const& value) {
    return detail::wrap(operation::logical_not, scalar_type::boolean, detail::to_expression(value));
}
/// Negation: 0 - x for integers; x * -1 for floating point, so that the sign of a zero changes too.
template <detail::symbolic T>
constexpr auto operator-(T const& value) {
    auto const& inner = detail::to_expression(value);
    return is_float(inner.root().type) ? inner * -1 : 0 - inner;
}

// The library compares enumerators in hundreds of places, and a compiler would ask the templates above about each pair. A search for an
// operator ends at the first namespace that declares one: these take nothing. Expressions find theirs through their arguments.
namespace detail {
struct nothing;
void operator==(nothing const&, nothing const&);
void operator!=(nothing const&, nothing const&);
}  // namespace detail
namespace ir {
using detail::operator==, detail::operator!=;
}  // namespace ir

template <class L, class R>
    requires detail::operands<L, R>
constexpr auto min(L const& left, R const& right) { return detail::binary(operation::minimum, left, right); }
template <class L, class R>
    requires detail::operands<L, R>
constexpr auto max(L const& left, R const& right) { return detail::binary(operation::maximum, left, right); }
/// The value moved into [low, high].
template <class T, class L, class H>
    requires detail::operands<T, L, H>
constexpr auto clamp(T const& value, L const& low, H const& high) { return min(max(value, low), high); }

/// `then` where the condition holds, `otherwise` elsewhere; both are evaluated.
template <class C, class T, class E>
    requires detail::operands<C, T, E>
constexpr auto select(C const& condition, T const& then, E const& otherwise) {
    constexpr int first = detail::nodes_of<C>, second = first + detail::nodes_of<T>, third = second + detail::nodes_of<E>;
    expression<third + 1> whole;
    int at = detail::append(whole.nodes, 0, detail::to_expression(condition).nodes);
    at = detail::append(whole.nodes, at, detail::to_expression(then).nodes);
    detail::append(whole.nodes, at, detail::to_expression(otherwise).nodes);
    ir::node& root = whole.nodes[third];
    root.argument_count = 3;
    root.arguments = {first - 1, second - 1, third - 1};
    ir::rule wrong = detail::agree(whole.nodes[second - 1], whole.nodes[third - 1]);
    if (whole.nodes[first - 1].type != scalar_type::boolean) wrong = ir::rule::condition_without_bool;
    detail::set_root(root, operation::select, whole.nodes[second - 1].type, wrong);
    return whole;
}

/// The value converted to `To`. Narrowing integers wrap; floating point to integer truncates.
template <class To, class T>
    requires detail::operand<T>
constexpr auto cast(T const& value) {
    constexpr scalar_type to = scalar_type_of<To>();
    auto whole = detail::wrap(operation::cast, to, detail::to_expression(value));
    // A literal has no type of its own to be converted from: it becomes a constant of the new one.
    ir::node& inner = whole.nodes[whole.nodes.size() - 2];
    if (inner.type == scalar_type::literal && detail::adopt(inner, to) != ir::rule::none) {
        detail::set_root(last_of(whole.nodes), operation::cast, to, ir::rule::literal_that_does_not_fit);
    }
    return whole;
}

/// The bits of a value taken as those of a `To`, which has as many.
template <class To, class T>
    requires detail::symbolic<T>
constexpr auto reinterpret(T const& value) {
    constexpr scalar_type to = scalar_type_of<To>();
    auto whole = detail::wrap(operation::reinterpret, to, detail::to_expression(value));
    scalar_type const from = whole.nodes[whole.nodes.size() - 2].type;
    bool const whole_bits = from != scalar_type::boolean && to != scalar_type::boolean;
    if (!whole_bits || bytes_of(from) != bytes_of(to))
        detail::set_root(last_of(whole.nodes), operation::reinterpret, to, ir::rule::operation_not_for_this_type);
    return whole;
}

/// `sum(k, l, body)`: the sum of `body` over the named axes, from 0. At least one axis; it must be the whole right-hand side.
template <class... Parts>
constexpr auto sum(Parts const&... axes_and_body) {
    return detail::reduce(operation::reduce_sum, axes_and_body...);
}
/// `maximum(k, body)`: from the lowest value of the type.
template <class... Parts>
constexpr auto maximum(Parts const&... axes_and_body) {
    return detail::reduce(operation::reduce_maximum, axes_and_body...);
}
/// `minimum(k, body)`: from the highest value of the type.
template <class... Parts>
constexpr auto minimum(Parts const&... axes_and_body) {
    return detail::reduce(operation::reduce_minimum, axes_and_body...);
}

}  // namespace tilewright
