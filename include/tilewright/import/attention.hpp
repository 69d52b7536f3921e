#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tilewright/import/joining.hpp>
#include <tilewright/import/products.hpp>
#include <tilewright/import/reductions.hpp>
#include <tilewright/import/selection.hpp>
#include <vector>

// Attention, and the turning of its rows by their positions.
namespace tilewright::imported::detail {

/// Sine or cosine of each position: a row of the table that `positions` say, or the row of that number. As [batch, rows, angles].
inline view angles_of(lowering& of, view const& table, std::optional<view> const& positions, std::int64_t rows) {
    if (!positions) return table;
    if (table.rank() != 2 || positions->rank() != 2)
        throw not_imported("positions of " + text_of(positions->shape()) + " in a table of " + text_of(table.shape()));
    view const data = of.plain(table), which = of.indexable(*positions);
    if (which.extent(1) != rows) throw not_imported("positions of " + text_of(which.shape()) + " for " + std::to_string(rows) + " rows");
    space const loops = loops_over({which.extent(0), rows, table.extent(1)});
    value const at = imported::at(which, {loops.index(0), loops.index(1)});
    return of.compute(loops, picked(data, {index_along(at, data.extent(0)), loops.index(2)}));
}
/// Pairs of elements of each row are turned by angles: an element and the one beside it, or the one that is half a row behind. What a row
/// has more stays.
///
/// @param x  [batch, heads, rows, elements], or [batch, rows, heads, elements] where `rows_first`
inline view turned_by_angles(lowering& of, view const& x, view cosines, view sines, bool rows_first, bool beside) {
    std::int64_t const angles = cosines.extent(cosines.rank() - 1), size = x.extent(3);
    if (angles < 1 || 2 * angles > size) throw not_imported(std::to_string(angles) + " angles for rows of " + std::to_string(size));
    shape whole = x.shape();
    for (view* one : {&cosines, &sines}) {
        if (one->rank() != 3 || one->extent(0) != x.extent(0)) throw not_imported("angles of " + text_of(one->shape()));
        one->dimensions.insert(one->dimensions.begin() + (rows_first ? 2 : 1), factors{});
        whole[3] = angles;
        *one = repeated_to(*one, whole);
        one->dimensions.insert(beside ? one->dimensions.end() : one->dimensions.end() - 1, factors{});
    }
    shape pairs{whole[0], whole[1], whole[2], beside ? angles : 2, beside ? 2 : angles};
    for (view* one : {&cosines, &sines}) *one = of.indexable(repeated_to(*one, pairs));
    view const part = of.indexable(of.reshaped(sliced_or_copied(of, x, 3, 0, 1, 2 * angles), pairs));
    space const loops = loops_over(pairs);
    std::vector<value> index = indices_of(loops);
    value const own = imported::at(part, index), cosine = imported::at(cosines, index), sine = imported::at(sines, index);
    value const which = index[beside ? 4 : 3], one = number(std::int64_t{1}, scalar_type::int32);
    index[beside ? 4 : 3] = one - which;
    value const other = imported::at(part, index) * sine;
    value const made = own * cosine + choose(equal(which, one), other, negated(other));
    whole[3] = 2 * angles;
    if (2 * angles == size) return of.reshaped(of.compute(loops, made, 0), whole);
    view const turned = of.reshaped(of.compute(loops, made), whole);
    return joined_views(of, {turned, sliced_or_copied(of, x, 3, 2 * angles, 1, size - 2 * angles)}, 3, 0);
}
inline void turn_rows(lowering& of) {
    view x = of.operand(0);
    shape const given = x.shape();
    bool const rows_first = x.rank() == 3;
    if (x.rank() != 3 && x.rank() != 4) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    if (rows_first) {
        std::int64_t const heads = limited(integer(of, "num_heads", 0), 1, given[2], "heads");
        if (given[2] % heads != 0) throw not_imported(std::to_string(given[2]) + " elements of " + std::to_string(heads) + " heads");
        x = of.reshaped(x, {given[0], given[1], heads, given[2] / heads});
    }
    need_float32(none_of(x.type()));
    std::int64_t const rows = given[rows_first ? 1 : 2];
    std::optional<view> const positions = of.has(3) ? std::optional(of.operand(3)) : std::nullopt;
    view const cosines = angles_of(of, of.operand(1), positions, rows), sines = angles_of(of, of.operand(2), positions, rows);
    std::int64_t const size = integer(of, "rotary_embedding_dim", 0);
    if (2 * cosines.extent(cosines.rank() - 1) != (size == 0 ? x.extent(3) : size))
        throw not_imported("angles of " + text_of(cosines.shape()) + " for " + std::to_string(size == 0 ? x.extent(3) : size) +
                           " elements");
    view const made = turned_by_angles(of, x, cosines, sines, rows_first, integer(of, "interleaved", 0) != 0);
    of.give(0, of.reshaped(made, given));
}

/// Heads of an operand as [batch, heads, rows, elements]; of one with three dimensions a setting says how many.
inline view heads_of(lowering& of, std::size_t operand, char const* setting_name) {
    view const x = of.operand(operand);
    if (x.rank() == 4) return x;
    if (x.rank() != 3) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::int64_t const heads = limited(integer(of, setting_name, 0), 1, x.extent(2), setting_name);
    if (x.extent(2) % heads != 0) throw not_imported(std::to_string(x.extent(2)) + " elements of " + std::to_string(heads) + " heads");
    return transposed(of.reshaped(x, {x.extent(0), x.extent(1), heads, x.extent(2) / heads}), {0, 2, 1, 3});
}
/// What is left out of a softmax: elements of a mask that are false, and, where each row sees no later one, those.
inline value masked(lowering& of, value const& score, view const* mask, space const& loops) {
    value const none = like(score, -infinite);
    value made = score;
    if (mask != nullptr) {
        value const element = imported::at(*mask, loops);
        bool const truths = element.type() == scalar_type::uint8;
        made = truths ? choose(is_true(element), made, none) : made + element;
    }
    if (integer(of, "is_causal", 0) == 0) return made;
    return choose(loops.index(4) <= loops.index(3), made, none);
}
inline void need_known_form(lowering const& of) {
    for (std::size_t const one : {4u, 5u, 6u}) {
        if (of.has(one)) throw not_imported("keys and values of earlier runs, or their lengths: operand " + std::to_string(one));
    }
    if (integer(of, "softmax_precision", 1) != 1) throw not_imported("a softmax of another precision than float");
    if (real(of, "softcap", 0) != 0 && (of.has(3) || integer(of, "is_causal", 0) != 0))
        throw not_imported("a mask together with softcap: versions of the operator differ in which comes first");
    if (of.wants(3) && integer(of, "qk_matmul_output_mode", 0) != 0)
        throw not_imported("scores as a result in mode " + std::to_string(integer(of, "qk_matmul_output_mode", 0)));
}
/// Rows of queries by rows of keys, a softmax of each row, by values. A group of heads shares keys and values.
inline void attend(lowering& of) {
    need_known_form(of);
    view q = heads_of(of, 0, "q_num_heads"), k = heads_of(of, 1, "kv_num_heads"), v = heads_of(of, 2, "kv_num_heads");
    need_float32(none_of(q.type()));
    std::int64_t const batch = q.extent(0), heads = q.extent(1), rows = q.extent(2), shared = k.extent(1), keys = k.extent(2);
    if (heads % shared != 0 || k.extent(0) != batch || v.shape() != shape{batch, shared, keys, v.extent(3)})
        throw not_imported("queries " + text_of(q.shape()) + ", keys " + text_of(k.shape()) + " and values " + text_of(v.shape()) +
                           " do not fit");
    of.give(1, k), of.give(2, v);
    q = of.reshaped(q, {batch, shared, heads / shared, rows, q.extent(3)});
    for (view* one : {&k, &v}) one->dimensions.insert(one->dimensions.begin() + 2, factors{});
    shape const scored{batch, shared, heads / shared, rows, keys};
    double const usual = 1 / std::sqrt(static_cast<double>(q.extent(4))), cap = static_cast<double>(real(of, "softcap", 0));
    double const scale = of.node->find("scale") != nullptr ? static_cast<double>(real(of, "scale", 1)) : usual;
    auto const products = operands_of_product(of, q, transposed(k, {0, 1, 2, 4, 3}));
    view const raw = of.compute(products.loops, product_at(products.a, products.b, products.loops, q.type(), same, same));
    if (of.wants(3)) {
        space const loops = loops_over({raw}, scored);
        of.give(3, of.reshaped(of.compute(loops, imported::at(raw, loops) * number(scale, q.type()), 3), {batch, heads, rows, keys}));
    }
    std::vector<view> all{raw};
    if (of.has(3)) all.push_back(of.reshaped(repeated_to(of.operand(3), {batch, heads, rows, keys}), scored));
    space loops = of.loops(all, scored);
    value score = imported::at(all[0], loops) * number(scale, q.type());
    if (cap != 0) score = hyperbolic_tangent(score / like(score, cap)) * like(score, cap);
    std::vector<bool> const gone{false, false, false, false, true};
    view const scores = of.stage(loops, masked(of, score, of.has(3) ? &all[1] : nullptr, loops), 4);
    view const highest = repeated_to(reduce_inside(of, operation::reduce_maximum, scores, gone, same), scored);
    loops = loops_over({scores, highest}, scored);
    view const powers = of.stage(loops, power_of_e(imported::at(scores, loops) - imported::at(highest, loops)), 4);
    view const sums = repeated_to(reduce_inside(of, operation::reduce_sum, powers, gone, same), scored);
    loops = loops_over({powers, sums}, scored);
    view const shares = of.compute(loops, imported::at(powers, loops) / imported::at(sums, loops));
    auto const last = operands_of_product(of, shares, v);
    space into = last.loops;
    bool const rows_first = of.operand(0).rank() == 3;
    if (rows_first) {
        for (auto* const one : {&into.extents}) one->insert(one->begin() + 1, (*one)[3]), one->erase(one->begin() + 4);
        for (auto* const one : {&into.axes}) one->insert(one->begin() + 1, (*one)[3]), one->erase(one->begin() + 4);
    }
    view const made = of.compute(into, product_at(last.a, last.b, last.loops, q.type(), same, same), 0);
    std::int64_t const size = v.extent(4);
    of.give(0, of.reshaped(made, rows_first ? shape{batch, rows, heads * size} : shape{batch, heads, rows, size}));
}

}  // namespace tilewright::imported::detail
