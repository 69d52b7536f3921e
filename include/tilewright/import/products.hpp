#pragma once
#include <tilewright/import/values.hpp>

// Products of matrices.
namespace tilewright::imported::detail {

/// A list of int32 for each channel, if it is not 0 alone.
inline std::optional<view> list_of_channels(lowering& of, std::vector<std::int64_t> const& values) {
    if (std::all_of(values.begin(), values.end(), [](auto one) { return one == 0; })) return std::nullopt;
    return of.constant(known_int32(values));
}

/// Splits loops of a view's last dimensions: the reduction of a product, whose operands share factors.
inline space reduction_over(view const& a, view const& b) {
    space loops = loops_over({a, b}, a.shape());
    for (std::size_t part = 0; part < loops.axes[0].size(); ++part) {
        loops.axes[0][part] = along(ir::label(("r" + std::to_string(part)).c_str()), loops.extents[0][part]);
    }
    return loops;
}
/// Rows [..., i] by rows of weights [o, i]: loops over the result [..., o], and the factors and axes of its sums.
struct rows_by_rows {
    rows_by_rows(view const& rows, view const& weights) : last(rows.dimensions.size() - 1) {
        shape whole = rows.shape();
        view like_rows = rows;
        like_rows.dimensions[last] = {};
        whole[last] = weights.extent(0);
        loops = loops_over({like_rows}, whole);
        space const inner = reduction_over(only(rows, {last}), only(weights, {1}));
        space of_rows = loops, of_weights;
        of_rows.extents[last] = inner.extents[0], of_rows.axes[last] = inner.axes[0];
        of_weights.extents = {loops.extents[last], inner.extents[0]}, of_weights.axes = {loops.axes[last], inner.axes[0]};
        row = imported::at(rows, of_rows), weight = imported::at(weights, of_weights), axes = inner.axes[0];
    }
    value channel() const { return loops.index(static_cast<int>(last)); }

    std::size_t last;
    space loops = {};
    value row = {}, weight = {};
    std::vector<value> axes = {};
};
/// [..., m, k] times [..., k, n]; `left` and `right` make the factors of what is read.
template <class Left, class Right>
value product_at(view const& a, view const& b, space const& loops, scalar_type sum, Left const& left, Right const& right) {
    std::size_t const rank = a.dimensions.size();
    space const inner = reduction_over(only(a, {rank - 1}), only(b, {rank - 2}));
    space of_a = loops, of_b = loops;
    of_a.extents[rank - 1] = inner.extents[0], of_a.axes[rank - 1] = inner.axes[0];
    of_b.extents[rank - 2] = inner.extents[0], of_b.axes[rank - 2] = inner.axes[0];
    value const body = convert(left(imported::at(a, of_a)), sum) * convert(right(imported::at(b, of_b)), sum);
    return over(operation::reduce_sum, inner.axes[0], body);
}
struct product_operands {
    view a, b;
    space loops;
    bool squeezed_a = false, squeezed_b = false;  ///< the result has no rows, no columns
};
inline product_operands operands_of_product(lowering& of, view a, view b) {
    product_operands made;
    if (a.rank() == 0 || b.rank() == 0) throw not_imported("a product of a scalar");
    if (a.rank() == 1) a.dimensions.insert(a.dimensions.begin(), factors{}), made.squeezed_a = true;
    if (b.rank() == 1) b.dimensions.push_back(factors{}), made.squeezed_b = true;
    shape outer_a = a.shape(), outer_b = b.shape();
    std::int64_t const m = outer_a[outer_a.size() - 2], k = outer_a.back(), n = outer_b.back();
    if (outer_b[outer_b.size() - 2] != k) throw not_imported("shapes " + text_of(outer_a) + " and " + text_of(outer_b) + " do not fit");
    outer_a.resize(outer_a.size() - 2), outer_b.resize(outer_b.size() - 2);
    auto const outer = common_shape(outer_a, outer_b);
    if (!outer) throw not_imported("shapes " + text_of(a.shape()) + " and " + text_of(b.shape()) + " do not fit");
    shape whole = *outer;
    whole.push_back(m), whole.push_back(k);
    made.a = repeated_to(a, whole);
    whole[whole.size() - 2] = k, whole.back() = n;
    made.b = repeated_to(b, whole);
    // Loops over the result: m as a has it, n as b does. The sum goes over the last dimension of a and the one before the last of b.
    std::size_t const rank = whole.size();
    whole[rank - 2] = m;
    auto const as_result = [&] {
        std::vector<view> all{made.a, made.b};
        all[0].dimensions[rank - 1] = {}, all[1].dimensions[rank - 2] = {};
        return all;
    };
    std::vector<view> const summed{only(made.a, {rank - 1}), only(made.b, {rank - 2})};
    bool const share = can_share_loops(as_result(), whole) && can_share_loops(summed, {k});
    // A result has at most so many dimensions.
    if (!share || axes_of(loops_over(as_result(), whole)) > max_rank) made.a = of.indexable(made.a), made.b = of.indexable(made.b);
    made.loops = loops_over(as_result(), whole);
    return made;
}
/// Loops over the result, without rows or columns that it does not have.
inline space loops_of_result(product_operands const& with) {
    space loops = with.loops;
    auto const leave_out = [&](std::ptrdiff_t from_the_end) {
        loops.axes.erase(loops.axes.end() - from_the_end);
        loops.extents.erase(loops.extents.end() - from_the_end);
    };
    if (with.squeezed_a) leave_out(2);
    if (with.squeezed_b) leave_out(1);
    return loops;
}
inline view result_of_product(lowering& of, product_operands const& with, value const& what) {
    return of.compute(loops_of_result(with), what, 0);
}
inline void matrix_product(lowering& of) {
    auto const with = operands_of_product(of, of.operand(0), of.operand(1));
    result_of_product(of, with, product_at(with.a, with.b, with.loops, with.a.type(), same, same));
}
inline void integer_product(lowering& of) {
    auto const with = operands_of_product(of, of.operand(0), of.operand(1));
    auto const minus_zero = [&](std::size_t operand) {
        return [&of, operand](value const& x) {
            value const wide = convert(x, scalar_type::int32);
            if (!of.has(operand)) return wide;
            if (of.operand(operand).elements() != 1) throw not_imported("a zero point for each row or column");
            return wide - convert(scalar_of(of.operand(operand)), scalar_type::int32);
        };
    };
    result_of_product(of, with, product_at(with.a, with.b, with.loops, scalar_type::int32, minus_zero(2), minus_zero(3)));
}
/// @param put  is given the product and its operands, and makes the kernel
template <class Put>
void general_product(lowering& of, Put const& put) {
    view a = of.operand(0), b = of.operand(1);
    if (a.rank() != 2 || b.rank() != 2)
        throw not_imported("shapes " + text_of(a.shape()) + " and " + text_of(b.shape()) + " are no matrices");
    if (integer(of, "transA", 0) != 0) a = transposed(a, {1, 0});
    if (integer(of, "transB", 0) != 0) b = transposed(b, {1, 0});
    double const alpha = static_cast<double>(real(of, "alpha", 1)), beta = static_cast<double>(real(of, "beta", 1));
    auto const with = operands_of_product(of, a, b);
    value const product = product_at(with.a, with.b, with.loops, a.type(), same,
                                     [&](value const& x) { return alpha == 1 ? x : x * number(alpha, x.type()); });
    if (!of.has(2)) return put(with, product);
    view const c = repeated_to(of.operand(2), {a.extent(0), b.extent(1)});
    value start = imported::at(c, with.loops);
    if (beta != 1) start = start * number(beta, start.type());
    put(with, start + product);
}
inline void general_product(lowering& of) {
    general_product(of, [&](product_operands const& with, value const& what) { result_of_product(of, with, what); });
}

}  // namespace tilewright::imported::detail
