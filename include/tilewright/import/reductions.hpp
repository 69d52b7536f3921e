#pragma once
#include <tilewright/import/transcendental.hpp>

// Reductions, and what softmax is made of.
namespace tilewright::imported::detail {

/// Loops over what is left when dimensions of a view are reduced, and the value that one of its elements has.
struct reduced_view {
    space outer;
    value what;
    std::size_t shared = 0;  ///< dimensions in front of the first that is reduced
};
inline std::size_t shared_dimensions(std::vector<bool> const& gone) {
    return static_cast<std::size_t>(std::find(gone.begin(), gone.end(), true) - gone.begin());
}
template <class Each>
reduced_view reduced_of(operation op, view const& x, std::vector<bool> const& gone, Each const& each) {
    space const loops = loops_over({x}, x.shape());
    space outer = loops;
    std::vector<value> axes;
    for (std::size_t dimension = 0; dimension < gone.size(); ++dimension) {
        if (!gone[dimension]) continue;
        axes.insert(axes.end(), loops.axes[dimension].begin(), loops.axes[dimension].end());
        outer.axes[dimension].clear(), outer.extents[dimension].clear();
    }
    return {outer, over(op, axes, each(imported::at(x, loops))), shared_dimensions(gone)};
}
/// Reduces dimensions of a view to dimensions of extent 1, in a kernel of its own.
inline view reduce(lowering& of, operation op, view const& x, std::vector<bool> const& gone, value (*each)(value const&)) {
    reduced_view const made = reduced_of(op, x, gone, each);
    return of.compute(made.outer, made.what);
}
/// Likewise, in the kernel that the next result ends, whose loops over the first dimensions are the same.
inline view reduce_inside(lowering& of, operation op, view const& x, std::vector<bool> const& gone, value (*each)(value const&)) {
    reduced_view const made = reduced_of(op, x, gone, each);
    return of.stage(made.outer, made.what, made.shared);
}
/// How many elements of a view are reduced to one.
inline double number_of(view const& x, std::vector<bool> const& gone) {
    double count = 1;
    for (std::size_t at = 0; at < gone.size(); ++at) count *= gone[at] ? static_cast<double>(x.extent(static_cast<int>(at))) : 1;
    return count;
}
inline value square_of(value const& x) { return x * x; }
/// The dimensions that a node reduces, or none at all where it gives what it is given.
inline std::optional<std::vector<bool>> reduced_dimensions(lowering& of, view const& x) {
    auto const axes = list(of, "axes", 1);
    bool const all = !axes || axes->empty();
    if (all && integer(of, "noop_with_empty_axes", 0) != 0) return std::nullopt;
    return all ? std::vector<bool>(x.dimensions.size(), true) : dimensions_of(*axes, x.rank());
}
/// Without the dimensions that are gone, unless they are kept.
inline view without(lowering const& of, view const& made, std::vector<bool> const& gone) {
    if (integer(of, "keepdims", 1) != 0) return made;
    std::vector<std::size_t> kept;
    for (std::size_t at = 0; at < gone.size(); ++at) {
        if (!gone[at]) kept.push_back(at);
    }
    return only(made, kept);
}
/// A kernel of each element, as the result.
template <class Make>
void finish_each(lowering& of, view const& from, Make const& make) {
    space const loops = loops_over({from}, from.shape());
    of.compute(loops, make(imported::at(from, loops)), 0);
}
template <operation Op, value (*Each)(value const&), bool Mean, value (*After)(value const&)>
void reduction(lowering& of) {
    view const x = of.operand(0);
    auto const gone = reduced_dimensions(of, x);
    if (!gone) return finish_each(of, x, [](value const& one) { return After(Each(one)); });
    bool const plain = !Mean && After == static_cast<value (*)(value const&)>(same);
    reduced_view const reduced = reduced_of(Op, x, *gone, Each);
    view const made = plain ? of.compute(reduced.outer, reduced.what, 0) : of.compute(reduced.outer, reduced.what, 0, [&](value whole) {
        if (Mean) need_float(whole), whole = whole / like(whole, number_of(x, *gone));
        return After(whole);
    });
    of.give(0, without(of, made, *gone));
}
/// Products: half of a dimension times the other half, until one element is left.
inline void product_of_elements(lowering& of) {
    view x = of.operand(0);
    auto const gone = reduced_dimensions(of, x);
    if (!gone) return of.give(0, x);
    for (int along_it = 0; along_it < x.rank(); ++along_it) {
        while ((*gone)[static_cast<std::size_t>(along_it)] && x.extent(along_it) > 1) {
            x = of.plain(x);
            shape whole = x.shape();
            std::int64_t const half = (x.extent(along_it) + 1) / 2;
            whole[static_cast<std::size_t>(along_it)] = half;
            space const loops = loops_over(whole);
            std::vector<value> near, far;
            for (int at = 0; at < x.rank(); ++at) {
                near.push_back(loops.index(at));
                far.push_back(at == along_it ? loops.index(at) + number(half, scalar_type::int32) : loops.index(at));
            }
            value const one = number(std::int64_t{1}, x.type());
            x = of.compute(loops, padded_at(x, near, one) * padded_at(x, far, one));
        }
    }
    of.give(0, without(of, x, *gone));
}
/// The logarithm of a sum of powers, which are taken of what is left after the largest.
inline void log_sum_of_powers(lowering& of) {
    view const x = of.operand(0);
    auto const gone = reduced_dimensions(of, x);
    if (!gone) return of.give(0, x);
    need_float(none_of(x.type()));
    std::size_t const shared = shared_dimensions(*gone);
    view const found = reduce_inside(of, operation::reduce_maximum, x, *gone, same);
    space const few = loops_over({found}, found.shape());
    // An infinity is no number to take away.
    view const highest = of.stage(
        few,
        once(imported::at(found, few), [](value const& one) { return choose(magnitude(one) < like(one, infinite), one, like(one, 0)); }),
        shared);
    view const whole = repeated_to(highest, x.shape());
    space const loops = loops_over({x, whole}, x.shape());
    view const powers = of.stage(loops, power_of_e(imported::at(x, loops) - imported::at(whole, loops)), shared);
    view const sums = reduce_inside(of, operation::reduce_sum, powers, *gone, same);
    view const made = of.compute(few, logarithm(imported::at(sums, few)) + imported::at(highest, few), 0);
    of.give(0, without(of, made, *gone));
}
/// The dimensions of a softmax: one; before version 13, all from `axis` on.
inline std::vector<bool> dimensions_of_softmax(lowering const& of, view const& x) {
    bool const legacy = of.node->version < 13;
    int const axis = x.rank() == 0 ? 0 : dimension_of(integer(of, "axis", legacy ? 1 : -1), x.rank());
    std::vector<bool> gone(x.dimensions.size(), false);
    for (int at = axis; at < x.rank() && (legacy || at == axis); ++at) gone[static_cast<std::size_t>(at)] = true;
    return gone;
}
inline void softmax(lowering& of) {
    view const x = of.operand(0);
    need_float(none_of(x.type()));
    shape const whole = x.shape();
    auto const gone = dimensions_of_softmax(of, x);
    view const highest = repeated_to(reduce_inside(of, operation::reduce_maximum, x, gone, same), whole);
    space loops = loops_over({x, highest}, whole);
    view const powers = of.stage(loops, power_of_e(imported::at(x, loops) - imported::at(highest, loops)), shared_dimensions(gone));
    view const sums = repeated_to(reduce_inside(of, operation::reduce_sum, powers, gone, same), whole);
    loops = loops_over({powers, sums}, whole);
    of.compute(loops, imported::at(powers, loops) / imported::at(sums, loops), 0);
}
inline view log_softmax_of(lowering& of, view const& x, std::vector<bool> const& gone, std::optional<std::size_t> output) {
    need_float(none_of(x.type()));
    shape const whole = x.shape();
    std::size_t const shared = shared_dimensions(gone);
    view const highest = repeated_to(reduce_inside(of, operation::reduce_maximum, x, gone, same), whole);
    space loops = loops_over({x, highest}, whole);
    view const moved = of.stage(loops, imported::at(x, loops) - imported::at(highest, loops), shared);
    loops = loops_over({moved}, whole);
    view const powers = of.stage(loops, power_of_e(imported::at(moved, loops)), shared);
    view const sums = repeated_to(reduce_inside(of, operation::reduce_sum, powers, gone, same), whole);
    loops = loops_over({moved, sums}, whole);
    value const what = imported::at(moved, loops) - logarithm(imported::at(sums, loops));
    return output ? of.compute(loops, what, *output) : of.compute(loops, what);
}
inline void log_softmax(lowering& of) {
    view const x = of.operand(0);
    log_softmax_of(of, x, dimensions_of_softmax(of, x), 0);
}

}  // namespace tilewright::imported::detail
