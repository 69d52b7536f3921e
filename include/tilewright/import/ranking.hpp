#pragma once
#include <tilewright/import/selection.hpp>

// Positions of extremes, and what is made of positions. Elements that are no number have none.
namespace tilewright::imported::detail {

/// The position of the largest or smallest element along a dimension, of several the first or the last. @return of int32, kept at extent 1
template <bool Largest>
view position_of_extreme(lowering& of, view const& x, int dimension, bool last) {
    std::vector<bool> gone(x.dimensions.size(), false);
    gone[static_cast<std::size_t>(dimension)] = true;
    view const best = repeated_to(reduce(of, Largest ? operation::reduce_maximum : operation::reduce_minimum, x, gone, same), x.shape());
    space const loops = loops_over({x, best}, x.shape());
    space outer = loops;
    auto const at = static_cast<std::size_t>(dimension);
    outer.axes[at].clear(), outer.extents[at].clear();
    value const none = number(last ? std::int64_t{-1} : x.extent(dimension), scalar_type::int32);
    value const body = choose(equal(imported::at(x, loops), imported::at(best, loops)), loops.index(dimension), none);
    return of.compute(outer, over(last ? operation::reduce_maximum : operation::reduce_minimum, loops.axes[at], body));
}
template <bool Largest>
void position(lowering& of) {
    view const x = of.operand(0);
    int const dimension = dimension_of(integer(of, "axis", 0), x.rank());
    view const made = position_of_extreme<Largest>(of, x, dimension, integer(of, "select_last_index", 0) != 0);
    std::vector<bool> gone(x.dimensions.size(), false);
    gone[static_cast<std::size_t>(dimension)] = true;
    finish_each(of, without(of, made, gone), [](value const& one) { return convert(one, scalar_type::int64); });
}
/// 1 at the first of the largest elements, 0 elsewhere. Before version 13, of all dimensions from `axis` on.
inline void hard_max(lowering& of) {
    view x = of.operand(0);
    shape const whole = x.shape();
    bool const legacy = of.node->version < 13;
    int dimension = dimension_of(integer(of, "axis", legacy ? 1 : -1), x.rank());
    if (legacy) {
        shape const outer(whole.begin(), whole.begin() + dimension);
        x = of.reshaped(x, {count_of(outer), x.elements() / count_of(outer)});
        dimension = 1;
    }
    view const at = repeated_to(position_of_extreme<true>(of, x, dimension, false), x.shape());
    space const loops = loops_over({at}, x.shape());
    value const is_it = equal(imported::at(at, loops), loops.index(dimension));
    view const made = of.compute(loops, choose(is_it, number(std::int64_t{1}, x.type()), none_of(x.type())));
    reshape_to(of, made, whole);
}
/// The k largest or smallest elements in their order: an element stands after those that are better, or as good and before it.
inline void top(lowering& of) {
    view const x = of.indexable(of.operand(0));
    int const dimension = dimension_of(integer(of, "axis", -1), x.rank());
    auto const at = static_cast<std::size_t>(dimension);
    std::int64_t const extent = x.extent(dimension),
                       count = limited(of.has(1) ? known_integer(of, 1) : integer(of, "k", 0), 1, extent, "a number of elements");
    bool const largest = integer(of, "largest", 1) != 0;
    space loops = loops_over(x.shape());
    std::vector<value> index = indices_of(loops);
    value const own = index[at], one = imported::at(x, index);
    auto const beside = [&](value const& body, operation op) { return extent > 1 ? reduced(op, {along("other", extent)}, body) : body; };
    value const other = extent > 1 ? along("other", extent) : none_of(scalar_type::int32);
    index[at] = other;
    value const there = imported::at(x, index);
    value const tie = binary(operation::logical_and, equal(there, one), other < own);
    value const before = binary(operation::logical_or, largest ? one < there : there < one, tie);
    value const as_number = choose(before, number(std::int64_t{1}, scalar_type::int32), none_of(scalar_type::int32));
    view const ranks = of.compute(loops, beside(as_number, operation::reduce_sum));
    shape whole = x.shape();
    whole[at] = count;
    loops = loops_over(whole);
    index = indices_of(loops);
    value const wanted = std::exchange(index[at], other);
    value const is_it = equal(imported::at(ranks, index), wanted);
    auto const give = [&](value const& what, std::size_t output) {
        of.compute(loops, beside(choose(is_it, what, none_of(what.type())), operation::reduce_sum), output);
    };
    give(imported::at(x, index), 0);
    if (of.wants(1)) give(convert(other, scalar_type::int64), 1);
}
/// Before version 11, an index below 0 does not count from the end: it is none.
inline void one_hot(lowering& of) {
    view const which = of.indexable(of.operand(0)), values = of.operand(2);
    std::int64_t const depth = limited(static_cast<std::int64_t>(known_real(of, 1)), 1, most_extent, "a depth");
    if (values.shape() != shape{2}) throw not_imported("values of shape " + text_of(values.shape()));
    int const dimension = dimension_of(integer(of, "axis", -1), which.rank() + 1);
    shape whole = which.shape();
    whole.insert(whole.begin() + dimension, depth);
    space const loops = loops_over(whole);
    std::vector<value> index = indices_of(loops);
    value const here = index[static_cast<std::size_t>(dimension)];
    index.erase(index.begin() + dimension);
    value given = imported::at(which, index);
    if (given.type() != scalar_type::int32) given = convert(given, scalar_type::int64);
    auto const value_at = [&](std::int64_t at) { return imported::at(values, {number(at, scalar_type::int32)}); };
    value const hot = of.node->version < 11 ? given : wrapped(given, depth);
    of.compute(loops, choose(is_at(hot, here), value_at(1), value_at(0)), 0);
}
/// Minus what an element of class `target` has, times the weight of the class; nothing where the class is to be ignored.
inline void likelihood_loss(lowering& of, view const& given) {
    view const x = of.plain(given), target = of.indexable(of.operand(1));
    shape expected = x.shape();
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    expected.erase(expected.begin() + 1);
    if (target.shape() != expected) throw not_imported("classes of " + text_of(target.shape()) + ", not of " + text_of(expected));
    std::string const how = word(of, "reduction", "mean");
    if (how != "none" && how != "sum" && how != "mean") throw not_imported("reduction " + network::shown(how));
    std::optional<view> const weights = of.has(2) ? std::optional(of.operand(2)) : std::nullopt;
    if (weights && weights->shape() != shape{x.extent(1)}) throw not_imported("weights of " + text_of(weights->shape()));
    auto const ignored = setting<std::int64_t>(of, "ignore_index");
    space const loops = loops_over(expected);
    std::vector<value> index = indices_of(loops);
    value const is_class = imported::at(target, index);
    value const at = index_along(is_class, x.extent(1));
    index.insert(index.begin() + 1, at);
    auto const unless_ignored = [&](value const& what) {
        if (!ignored) return what;
        return choose(equal(is_class, number(*ignored, is_class.type())), none_of(what.type()), what);
    };
    value const one = number(std::int64_t{1}, x.type());
    value weight = one;
    if (weights) {
        // The mean needs all weights once more.
        value const what = picked(of.plain(*weights), {at});
        weight = imported::at(how == "mean" ? of.compute(loops, what) : of.stage(loops, what), loops);
    }
    view const found = of.stage(loops, picked(x, index));
    value const loss = unless_ignored(negated(imported::at(found, loops)) * weight);
    if (how == "none") return void(of.compute(loops, loss, 0));
    view const losses = of.compute(loops, loss);
    std::vector<bool> const all(losses.dimensions.size(), true);
    view const sum = only(reduce(of, operation::reduce_sum, losses, all, same), {});
    if (how == "sum") return of.give(0, sum);
    view const weights_of_all = of.compute(loops, unless_ignored(weight));
    view const count = only(reduce(of, operation::reduce_sum, weights_of_all, all, same), {});
    of.compute(space{}, imported::at(sum, space{}) / imported::at(count, space{}), 0);
}
inline void negative_likelihood_loss(lowering& of) { likelihood_loss(of, of.operand(0)); }
inline void cross_entropy_loss(lowering& of) {
    view const x = of.operand(0);
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::vector<bool> gone(x.dimensions.size(), false);
    gone[1] = true;
    std::optional<std::size_t> const output = of.wants(1) ? std::optional<std::size_t>(1) : std::nullopt;
    likelihood_loss(of, log_softmax_of(of, x, gone, output));
}

}  // namespace tilewright::imported::detail
