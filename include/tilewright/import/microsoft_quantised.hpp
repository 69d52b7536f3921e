#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tilewright/import/elementwise.hpp>
#include <tilewright/import/joining.hpp>
#include <tilewright/import/quantisation.hpp>
#include <tilewright/import/reductions.hpp>
#include <utility>
#include <vector>

// Operators of quantised elements that ONNX Runtime's quantiser writes, of domain com.microsoft. They compute in reals: each element that
// is read stands for one, and the result is rounded once.
namespace tilewright::imported::detail::microsoft {

/// One scale and zero point for all elements.
struct levels {
    value scale, zero;
    std::optional<std::int64_t> known_zero = {};  ///< where the zero point is a constant
};
inline void need_one(lowering& of, std::size_t operand) {
    if (of.operand(operand).elements() != 1)
        throw not_imported("operand " + std::to_string(operand) + " has " + std::to_string(of.operand(operand).elements()) +
                           " elements; it has to be one scale or zero point for all");
}
/// Those of operand `scale` and the next one, for elements of `type`. A zero point that is left out is 0.
inline levels levels_at(lowering& of, std::size_t scale, scalar_type type) {
    need_byte(type);
    need_one(of, scale);
    need_float32(none_of(of.operand(scale).type()));
    levels made{scalar_of(of.operand(scale)), number(std::int64_t{0}, type), 0};
    if (!of.has(scale + 1)) return made;
    need_one(of, scale + 1);
    made.zero = scalar_of(of.operand(scale + 1));
    need_types(operation::subtract, made.zero.type(), type);
    made.known_zero.reset();
    if (of.is_constant(scale + 1)) made.known_zero = known_integer(of, scale + 1), made.zero = number(*made.known_zero, type);
    return made;
}
/// An element without its zero point, as an int32.
inline value whole_of(value const& x, levels const& with) {
    return minus_zero(x, with.known_zero == 0 ? std::nullopt : std::optional(with.zero));
}
/// The real that an element stands for.
inline value real_of(value const& x, levels const& with) { return convert(whole_of(x, with), scalar_type::float32) * with.scale; }
inline value element_of(value const& real, levels const& with) { return quantised_value(real / with.scale, with.zero); }

/// Two operands, each with scale and zero point, then those of the result.
template <operation Op>
void two_quantised(lowering& of) {
    auto const with = repeated_together(of, {of.operand(0), of.operand(3)});
    levels const a = levels_at(of, 1, with.all[0].type()), b = levels_at(of, 4, with.all[1].type()),
                 out = levels_at(of, 6, with.all[0].type());
    of.compute(with.loops, element_of(binary(Op, real_of(with[0], a), real_of(with[1], b)), out), 0);
}
/// A condition, then two operands as above: one of them is chosen.
inline void where_quantised(lowering& of) {
    auto const with = repeated_together(of, {of.operand(0), of.operand(1), of.operand(4)});
    levels const x = levels_at(of, 2, with.all[1].type()), y = levels_at(of, 5, with.all[2].type()),
                 out = levels_at(of, 7, with.all[1].type());
    of.compute(with.loops, element_of(choose(is_true(with[0]), real_of(with[1], x), real_of(with[2], y)), out), 0);
}
template <class Function>
void each_quantised(lowering& of, Function const& function) {
    view const x = of.operand(0);
    levels const in = levels_at(of, 1, x.type()), out = levels_at(of, 3, x.type());
    finish_each(of, x, [&](value const& one) { return element_of(function(real_of(one, in)), out); });
}
inline void leak_quantised(lowering& of) {
    double const alpha = static_cast<double>(real(of, "alpha", 0.01f));
    each_quantised(
        of, [&](value const& real) { return once(real, [&](value const& x) { return choose(x < like(x, 0), x * like(x, alpha), x); }); });
}
/// The function is a stage of its own: a rounding of it would be too long an expression.
inline void logistic_of_quantised(lowering& of) {
    view const x = of.operand(0);
    levels const in = levels_at(of, 1, x.type()), out = levels_at(of, 3, x.type());
    finish_each(of, of.each_inside(x, [&](value const& one) { return logistic(real_of(one, in)); }),
                [&](value const& real) { return element_of(real, out); });
}

/// Scale and zero point of the result, then each part with its own: a part of other ones is rescaled first.
inline void concatenate_quantised(lowering& of) {
    std::size_t count = of.node->inputs.size();
    if (count < 5 || count % 3 != 2) throw not_imported("of " + std::to_string(count) + " operands; each part has three, the result two");
    levels const out = levels_at(of, 0, of.operand(2).type());
    std::vector<view> parts;
    for (std::size_t at = 2; at < count; at += 3) {
        view const x = of.operand(at);
        need_types(operation::maximum, x.type(), out.zero.type());
        levels const in = levels_at(of, at + 1, x.type());
        bool const known = in.known_zero && out.known_zero && of.is_constant(at + 1) && of.is_constant(0);
        bool const same_levels = known && *in.known_zero == *out.known_zero && known_real(of, at + 1) == known_real(of, 0);
        parts.push_back(same_levels ? x : of.each(x, [&](value const& one) { return element_of(real_of(one, in), out); }));
    }
    auto const axis = setting<std::int64_t>(of, "axis");
    if (!axis) throw not_imported("no axis");
    joined_views(of, parts, dimension_of(*axis, parts[0].rank()), 0);
}

/// An image with its channels in dimension 1: with `channels_last`, the node has them in the last one.
inline bool has_channels_last(lowering const& of) { return integer(of, "channels_last", 0) != 0; }
inline view with_channels_first(lowering const& of, view const& x) {
    if (x.rank() < 3) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    if (!has_channels_last(of)) return x;
    shape order{0, x.rank() - 1};
    for (int at = 1; at + 1 < x.rank(); ++at) order.push_back(at);
    return transposed(x, order);
}
/// Loops over such an image in the order of the node.
inline space in_order_of_node(lowering const& of, space loops) {
    if (!has_channels_last(of)) return loops;
    std::rotate(loops.axes.begin() + 1, loops.axes.begin() + 2, loops.axes.end());
    std::rotate(loops.extents.begin() + 1, loops.extents.begin() + 2, loops.extents.end());
    return loops;
}
inline void average_quantised(lowering& of) {
    view const given = of.operand(0);
    levels const in = levels_at(of, 1, given.type()), out = levels_at(of, 3, given.type());
    if (!integers(of, "kernel_shape")) throw not_imported("no kernel_shape");
    pooled const from = pooled_view(of, with_channels_first(of, given), false);
    auto const [read, axes] = taps_of(from);
    if (from.with.pads() && !in.known_zero) throw not_imported("padding of elements whose zero point is no constant");
    value const border = number(in.known_zero.value_or(0), given.type());
    value const sums = over(operation::reduce_sum, axes, whole_of(read_window(from.x, read, from.with, border), in));
    of.compute(in_order_of_node(of, from.loops), sums, 0, [&](value const& sum) {
        value const mean = convert(sum, scalar_type::float32) * in.scale / counted_by(of, from, scalar_type::float32);
        return element_of(mean, out);
    });
}
inline void average_all_quantised(lowering& of) {
    view const x = with_channels_first(of, of.operand(0));
    levels const in = levels_at(of, 1, x.type()), out = levels_at(of, 3, x.type());
    std::vector<bool> gone(x.dimensions.size(), true);
    gone[0] = gone[1] = false;
    reduced_view const sums = reduced_of(operation::reduce_sum, x, gone, [&](value const& one) { return whole_of(one, in); });
    of.compute(in_order_of_node(of, sums.outer), sums.what, 0, [&](value const& sum) {
        return element_of(convert(sum, scalar_type::float32) * in.scale / number(number_of(x, gone), scalar_type::float32), out);
    });
}
/// A softmax as operator set `opset` of ONNX has it: of one dimension; before 13, of all from `axis` on.
inline void softmax_quantised(lowering& of) {
    view const x = of.operand(0);
    levels const in = levels_at(of, 1, x.type()), out = levels_at(of, 3, x.type());
    auto const set = setting<std::int64_t>(of, "opset");
    if (!set) throw not_imported("no opset, which says what its axis means");
    int const axis = dimension_of(integer(of, "axis", -1), x.rank());
    std::vector<bool> gone(x.dimensions.size(), false);
    for (int at = axis; at < x.rank() && (*set < 13 || at == axis); ++at) gone[static_cast<std::size_t>(at)] = true;
    auto const in32 = [](value const& one) { return convert(one, scalar_type::int32); };
    auto const inside = [&](operation op, view const& from, auto const& each) {
        reduced_view const made = reduced_of(op, from, gone, each);
        return repeated_to(of.stage(made.outer, made.what, made.shared), x.shape());
    };
    view const highest = inside(operation::reduce_maximum, x, in32);
    space loops = loops_over({x, highest}, x.shape());
    value const below = convert(in32(imported::at(x, loops)) - imported::at(highest, loops), scalar_type::float32) * in.scale;
    view const powers = of.stage(loops, power_of_e(below), shared_dimensions(gone));
    view const sums = inside(operation::reduce_sum, powers, same);
    loops = loops_over({powers, sums}, x.shape());
    of.compute(loops, element_of(imported::at(powers, loops) / imported::at(sums, loops), out), 0);
}

/// A list with one element for all, or one for each column of a product: its element where that stands.
inline value in_columns(lowering& of, product_operands const& with, view const& list) {
    if (list.elements() == 1) return scalar_of(list);
    std::int64_t const columns = with.b.shape().back();
    if (with.squeezed_b || list.shape() != shape{columns})
        throw not_imported("a list of " + text_of(list.shape()) + " for " + std::to_string(columns) + " columns");
    shape whole = with.a.shape();
    whole.back() = columns;
    return imported::at(repeated_to(of.indexable(list), whole), with.loops);
}
/// The sum of products of integers less their zero points.
///
/// @param zero_of_a  of all elements
/// @param zero_of_b  an operand, for all or for each column; it may be left out
inline value sum_of_products(lowering& of, product_operands const& with, levels const& zero_of_a, std::size_t zero_of_b) {
    need_byte(with.a.type()), need_byte(with.b.type());
    std::optional<value> zero;
    if (of.has(zero_of_b)) {
        need_types(operation::subtract, of.operand(zero_of_b).type(), with.b.type());
        bool is_none = of.is_constant(zero_of_b);
        if (is_none) {
            for (std::int64_t const one : of.known_integers(zero_of_b)) is_none = is_none && one == 0;
        }
        zero = in_columns(of, with, of.operand(zero_of_b));
        if (is_none) zero.reset();
    }
    return product_at(
        with.a, with.b, with.loops, scalar_type::int32, [&](value const& x) { return whole_of(x, zero_of_a); },
        [&](value const& x) { return minus_zero(x, zero); });
}
/// Sums as reals: times both scales, plus a bias for each column, which may be left out.
///
/// @param scale, zero, bias  operands: those of b, which is operand 1, and the bias
inline void products_as_reals(lowering& of, product_operands const& with, levels const& a, std::size_t scale, std::size_t zero,
                              std::size_t bias) {
    // ONNX Runtime reads a list otherwise where b is a stack of matrices.
    for (std::size_t const one : {scale, zero}) {
        if (of.has(one) && of.operand(one).elements() != 1 && of.operand(1).rank() > 2)
            throw not_imported("operand " + std::to_string(one) + " has " + std::to_string(of.operand(one).elements()) +
                               " elements for several matrices");
    }
    value const sums = sum_of_products(of, with, a, zero);
    need_float32(none_of(of.operand(scale).type()));
    of.compute(loops_of_result(with), sums, 0, [&](value const& sum) {
        value const made = convert(sum, scalar_type::float32) * (a.scale * in_columns(of, with, of.operand(scale)));
        return of.has(bias) ? made + in_columns(of, with, of.operand(bias)) : made;
    });
}
/// Operands: a, b, their scales, their zero points, a bias.
inline void product_to_reals(lowering& of) {
    auto const with = operands_of_product(of, of.operand(0), of.operand(1));
    need_one(of, 2);
    need_float32(none_of(of.operand(2).type()));
    levels a{scalar_of(of.operand(2)), number(std::int64_t{0}, with.a.type()), 0};
    if (of.has(4)) {
        need_one(of, 4);
        a.zero = scalar_of(of.operand(4)), a.known_zero.reset();
        if (of.is_constant(4)) a.known_zero = known_integer(of, 4);
        need_types(operation::subtract, a.zero.type(), with.a.type());
    }
    products_as_reals(of, with, a, 3, 5, 6);
}
/// Operands: a of floats, which become bytes by their range, b, its scale, its zero point, a bias.
inline void product_of_range(lowering& of) {
    bytes_of_range const bytes = bytes_by_range(of, of.operand(0), false);
    auto const with = operands_of_product(of, bytes.elements, of.operand(1));
    products_as_reals(of, with, {scalar_of(bytes.scale), scalar_of(bytes.zero)}, 2, 3, 4);
}
/// alpha * a * b + c: a and b with scale and zero point, c of int32 that counts in alpha times both scales. Without a scale of the result
/// that is a float.
inline void general_product_of_quantised(lowering& of) {
    view a = of.operand(0), b = of.operand(3);
    if (a.rank() != 2 || b.rank() != 2)
        throw not_imported("shapes " + text_of(a.shape()) + " and " + text_of(b.shape()) + " are no matrices");
    if (integer(of, "transA", 0) != 0) a = transposed(a, {1, 0});
    if (integer(of, "transB", 0) != 0) b = transposed(b, {1, 0});
    levels const of_a = levels_at(of, 1, a.type());
    need_float32(none_of(of.operand(4).type()));
    auto const with = operands_of_product(of, a, b);
    value sums = sum_of_products(of, with, of_a, 5);
    if (of.has(6)) {
        if (of.operand(6).type() != scalar_type::int32) throw not_imported(std::string("a bias of ") + name_of(of.operand(6).type()));
        sums = imported::at(repeated_to(of.indexable(of.operand(6)), {a.extent(0), b.extent(1)}), with.loops) + sums;
    }
    double const alpha = static_cast<double>(real(of, "alpha", 1));
    of.compute(with.loops, sums, 0, [&](value const& sum) {
        value scale = of_a.scale * in_columns(of, with, of.operand(4));
        if (alpha != 1) scale = scale * like(scale, alpha);
        value const made = convert(sum, scalar_type::float32) * scale;
        if (!of.has(7)) return made;
        return element_of(made, levels_at(of, 7, of.has(8) ? of.operand(8).type() : a.type()));
    });
}

}  // namespace tilewright::imported::detail::microsoft
