#pragma once
#include <tilewright/import/values.hpp>

// Reductions, softmax and normalisation.
namespace tilewright::imported::detail {

/// Loops over what is left when dimensions of a view are reduced, and the value that one of its elements has.
struct reduced_view {
    space outer;
    value what;
    std::size_t shared = 0;  ///< dimensions in front of the first that is reduced
};
inline reduced_view reduced_of(operation op, view const& x, std::vector<bool> const& gone, value (*each)(value const&)) {
    space const loops = loops_over({x}, x.shape());
    space outer = loops;
    std::vector<value> axes;
    for (std::size_t dimension = 0; dimension < gone.size(); ++dimension) {
        if (!gone[dimension]) continue;
        axes.insert(axes.end(), loops.axes[dimension].begin(), loops.axes[dimension].end());
        outer.axes[dimension].clear(), outer.extents[dimension].clear();
    }
    auto const first = static_cast<std::size_t>(std::find(gone.begin(), gone.end(), true) - gone.begin());
    return {outer, over(op, axes, each(imported::at(x, loops))), first};
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
inline double count_of(view const& x, std::vector<bool> const& gone) {
    double count = 1;
    for (std::size_t at = 0; at < gone.size(); ++at) count *= gone[at] ? static_cast<double>(x.extent(static_cast<int>(at))) : 1;
    return count;
}
inline value square_of(value const& x) { return x * x; }
template <operation Op, value (*Each)(value const&), bool Mean, value (*After)(value const&)>
void reduction(lowering& of) {
    view const x = of.operand(0);
    auto const axes = list(of, "axes", 1);
    bool const all = !axes || axes->empty();
    if (all && integer(of, "noop_with_empty_axes", 0) != 0) {
        space const loops = loops_over({x}, x.shape());
        return void(of.compute(loops, After(Each(imported::at(x, loops))), 0));
    }
    std::vector<bool> gone = dimensions_of(axes.value_or(shape{}), x.rank());
    if (all) gone.assign(gone.size(), true);
    bool const plain = !Mean && After == static_cast<value (*)(value const&)>(same);
    reduced_view const reduced = reduced_of(Op, x, gone, Each);
    view const made = plain ? of.compute(reduced.outer, reduced.what, 0) : of.compute(reduced.outer, reduced.what, 0, [&](value whole) {
        if (Mean) need_float(whole), whole = whole / like(whole, count_of(x, gone));
        return After(whole);
    });
    if (integer(of, "keepdims", 1) != 0) return;
    std::vector<std::size_t> kept;
    for (std::size_t at = 0; at < gone.size(); ++at) {
        if (!gone[at]) kept.push_back(at);
    }
    of.give(0, only(made, kept));
}
inline void softmax(lowering& of) {
    view x = of.operand(0);
    need_float32(number(std::int64_t{0}, x.type()));
    bool const legacy = of.node->version < 13;
    int const axis = x.rank() == 0 ? 0 : dimension_of(integer(of, "axis", legacy ? 1 : -1), x.rank());
    std::vector<bool> gone(x.dimensions.size(), false);
    for (int at = axis; at < x.rank() && (legacy || at == axis); ++at) gone[static_cast<std::size_t>(at)] = true;
    shape const whole = x.shape();
    view const highest = repeated_to(reduce_inside(of, operation::reduce_maximum, x, gone, same), whole);
    space loops = loops_over({x, highest}, whole);
    auto const shared = static_cast<std::size_t>(axis);
    view const powers = of.stage(loops, exponential(imported::at(x, loops) - imported::at(highest, loops)), shared);
    view const sums = repeated_to(reduce_inside(of, operation::reduce_sum, powers, gone, same), whole);
    loops = loops_over({powers, sums}, whole);
    of.compute(loops, imported::at(powers, loops) / imported::at(sums, loops), 0);
}
/// (x - mean) / sqrt(variance + epsilon), over the dimensions that are gone.
inline view normalised(lowering& of, view const& x, std::vector<bool> const& gone, double epsilon) {
    shape const whole = x.shape();
    double const count = count_of(x, gone);
    view const sums = repeated_to(reduce(of, operation::reduce_sum, x, gone, same), whole);
    space loops = loops_over({x, sums}, whole);
    value const mean = imported::at(sums, loops) / number(count, x.type());
    view const centred = of.compute(loops, imported::at(x, loops) - mean);
    view const squares = reduce_inside(of, operation::reduce_sum, centred, gone, square_of);
    space const few = loops_over({squares}, squares.shape());
    value const variance = imported::at(squares, few) / number(count, x.type());
    view const deviation = repeated_to(of.compute(few, root_of(variance + number(epsilon, x.type()))), whole);
    loops = loops_over({centred, deviation}, whole);
    return of.compute(loops, imported::at(centred, loops) / imported::at(deviation, loops));
}
inline void scale_and_shift(lowering& of, view const& x, view scale, std::optional<view> shift) {
    scale = repeated_to(scale, x.shape());
    if (shift) shift = repeated_to(*shift, x.shape());
    space const loops = loops_over(shift ? std::vector<view>{x, scale, *shift} : std::vector<view>{x, scale}, x.shape());
    value made = imported::at(x, loops) * imported::at(scale, loops);
    if (shift) made = made + imported::at(*shift, loops);
    of.compute(loops, made, 0);
}
/// A list of channels as a shape with dimensions after it.
inline view of_channels(view of, int rank) {
    if (of.rank() != 1) throw not_imported("a list of channels of " + std::to_string(of.rank()) + " dimensions");
    for (int at = 2; at < rank; ++at) of.dimensions.push_back(factors{});
    return of;
}
inline void normalise_layer(lowering& of) {
    if (of.results() > 1) throw not_imported("mean and deviation as results");
    view const x = of.operand(0);
    int const axis = dimension_of(integer(of, "axis", -1), x.rank());
    std::vector<bool> gone(x.dimensions.size(), false);
    for (int at = axis; at < x.rank(); ++at) gone[static_cast<std::size_t>(at)] = true;
    view const made = normalised(of, x, gone, static_cast<double>(real(of, "epsilon", 1e-5f)));
    scale_and_shift(of, made, of.operand(1), of.has(2) ? std::optional(of.operand(2)) : std::nullopt);
}
inline void normalise_instance(lowering& of) {
    view const x = of.operand(0);
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::vector<bool> gone(x.dimensions.size(), true);
    gone[0] = gone[1] = false;
    view const made = normalised(of, x, gone, static_cast<double>(real(of, "epsilon", 1e-5f)));
    scale_and_shift(of, made, of_channels(of.operand(1), x.rank()), of_channels(of.operand(2), x.rank()));
}
inline void normalise_batch(lowering& of) {
    if (integer(of, "training_mode", 0) != 0 || of.results() > 1) throw not_imported("statistics of a training run");
    view const x = of.operand(0);
    shape const whole = x.shape();
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::vector<view> lists;
    for (std::size_t at = 1; at < 5; ++at) lists.push_back(of.operand(at));
    space const few = loops_over({lists[3]}, lists[3].shape());
    double const epsilon = static_cast<double>(real(of, "epsilon", 1e-5f));
    lists[3] = of.compute(few, root_of(imported::at(lists[3], few) + number(epsilon, x.type())));
    for (view& one : lists) one = repeated_to(of_channels(one, x.rank()), whole);
    std::vector<view> all = lists;
    all.push_back(x);
    space const loops = loops_over(all, whole);
    auto const element_of = [&](view const& one) { return imported::at(one, loops); };
    of.compute(loops, (element_of(x) - element_of(lists[2])) / element_of(lists[3]) * element_of(lists[0]) + element_of(lists[1]), 0);
}

}  // namespace tilewright::imported::detail
