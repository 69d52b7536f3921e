#pragma once
#include <tilewright/import/elementwise.hpp>
#include <tilewright/import/reductions.hpp>

// Normalisation: by mean and deviation, and by the responses of channels beside each other.
namespace tilewright::imported::detail {

/// (x - mean) / sqrt(variance + epsilon), over the dimensions that are gone.
struct normalised_view {
    view mean, centred, deviation;  ///< mean and deviation with dimensions of extent 1
};
/// @param inside  whether they are stages of the kernel that the next result ends, or else kernels
inline normalised_view normalised(lowering& of, view const& x, std::vector<bool> const& gone, double epsilon, bool inside) {
    need_float(none_of(x.type()));
    std::size_t const shared = shared_dimensions(gone);
    auto const put = [&](space const& loops, value const& what) {
        return inside ? of.stage(loops, what, shared) : of.compute(loops, what);
    };
    double const count = number_of(x, gone);
    normalised_view made;
    view const sums = reduce_inside(of, operation::reduce_sum, x, gone, same);
    space few = loops_over({sums}, sums.shape());
    made.mean = put(few, imported::at(sums, few) / number(count, x.type()));
    view const mean = repeated_to(made.mean, x.shape());
    space const loops = loops_over({x, mean}, x.shape());
    made.centred = put(loops, imported::at(x, loops) - imported::at(mean, loops));
    view const squares = reduce_inside(of, operation::reduce_sum, made.centred, gone, square_of);
    few = loops_over({squares}, squares.shape());
    value const variance = imported::at(squares, few) / number(count, x.type());
    made.deviation = put(few, root_of(variance + number(epsilon, x.type())));
    return made;
}
inline view scale_and_shift(lowering& of, normalised_view const& with, view scale, std::optional<view> shift) {
    shape const whole = with.centred.shape();
    std::vector<view> all{with.centred, repeated_to(with.deviation, whole), repeated_to(scale, whole)};
    if (shift) all.push_back(repeated_to(*shift, whole));
    space const loops = loops_over(all, whole);
    value made = imported::at(all[0], loops) / imported::at(all[1], loops) * imported::at(all[2], loops);
    if (shift) made = made + imported::at(all[3], loops);
    return of.compute(loops, made, 0);
}
/// Kernels compute in the type of x, which is the one asked for: sums of floats of 16 bits are those of float.
inline void need_stash_type(lowering const& of, view const& x) {
    scalar_type const asked = type_of_number(integer(of, "stash_type", 1));
    if (asked != scalar_type::float32 && asked != x.type())
        throw not_imported(std::string("a mean computed in ") + name_of(asked) + ", of elements of " + name_of(x.type()));
}
/// A list of channels as a shape with dimensions after it.
inline view of_channels(view of, int rank) {
    if (of.rank() != 1) throw not_imported("a list of channels of " + std::to_string(of.rank()) + " dimensions");
    for (int at = 2; at < rank; ++at) of.dimensions.push_back(factors{});
    return of;
}
/// The dimensions from `axis` on.
inline std::vector<bool> from_axis(lowering const& of, view const& x) {
    std::vector<bool> gone(x.dimensions.size(), false);
    for (int at = dimension_of(integer(of, "axis", -1), x.rank()); at < x.rank(); ++at) gone[static_cast<std::size_t>(at)] = true;
    return gone;
}
inline void normalise_layer(lowering& of) {
    view const x = of.operand(0);
    need_stash_type(of, x);
    std::vector<bool> const gone = from_axis(of, x);
    bool const inside = !of.wants(1) && !of.wants(2);
    auto const made = normalised(of, x, gone, static_cast<double>(real(of, "epsilon", 1e-5f)), inside);
    scale_and_shift(of, made, of.operand(1), of.has(2) ? std::optional(of.operand(2)) : std::nullopt);
    if (of.wants(1)) of.give(1, made.mean);
    if (!of.wants(2)) return;
    space const loops = loops_over({made.deviation}, made.deviation.shape());
    of.compute(loops, reciprocal(imported::at(made.deviation, loops)), 2);
}
/// Divided by the root of the mean of squares over the dimensions that are gone, times a scale.
inline void divide_by_root_mean_square(lowering& of, view const& x, std::vector<bool> const& gone, view const& scale_by, double epsilon) {
    need_float(none_of(x.type()));
    view const squares = reduce_inside(of, operation::reduce_sum, x, gone, square_of);
    space const few = loops_over({squares}, squares.shape());
    value const mean = imported::at(squares, few) / number(static_cast<double>(number_of(x, gone)), x.type());
    view const root = of.stage(few, root_of(mean + number(epsilon, x.type())), shared_dimensions(gone));
    scale_and_shift(of, {{}, x, root}, scale_by, std::nullopt);
}
/// Likewise, from an axis on.
inline void normalise_by_root_mean_square(lowering& of) {
    view const x = of.operand(0);
    need_stash_type(of, x);
    divide_by_root_mean_square(of, x, from_axis(of, x), of.operand(1), static_cast<double>(real(of, "epsilon", 1e-5f)));
}
/// Divided by the root of the sum of powers along one dimension: of magnitudes, or of squares. Where that is 0, the result is.
inline void normalise_by_power(lowering& of) {
    view const x = of.operand(0);
    need_float(none_of(x.type()));
    std::int64_t const power = integer(of, "p", 2);
    if (power != 1 && power != 2) throw not_imported("a power of " + std::to_string(power));
    std::vector<bool> gone(x.dimensions.size(), false);
    gone[static_cast<std::size_t>(dimension_of(integer(of, "axis", -1), x.rank()))] = true;
    view const sums = reduce_inside(of, operation::reduce_sum, x, gone, power == 1 ? magnitude : square_of);
    space const few = loops_over({sums}, sums.shape());
    value const sum = imported::at(sums, few);
    view const norm = repeated_to(of.stage(few, power == 1 ? sum : root_of(sum), shared_dimensions(gone)), x.shape());
    space const loops = loops_over({x, norm}, x.shape());
    value const by = imported::at(norm, loops);
    of.compute(loops, choose(equal(by, like(by, 0)), by, imported::at(x, loops) / by), 0);
}
/// Groups of channels. Scale and shift are those of a group before version 21, and of a channel from then on.
inline void normalise_groups(lowering& of) {
    view const x = of.operand(0);
    need_stash_type(of, x);
    shape const whole = x.shape();
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::int64_t const groups = limited(integer(of, "num_groups", 0), 1, whole[1], "groups"), members = whole[1] / groups;
    if (groups * members != whole[1]) throw not_imported(std::to_string(whole[1]) + " channels in " + std::to_string(groups) + " groups");
    shape apart = whole, of_list{groups, of.node->version < 21 ? 1 : members};
    apart[1] = groups, apart.insert(apart.begin() + 2, members);
    of_list.resize(apart.size() - 1, 1);
    std::vector<bool> gone(apart.size(), true);
    gone[0] = gone[1] = false;
    auto const list = [&](std::size_t at) {
        if (of.operand(at).elements() != of_list[0] * of_list[1]) throw not_imported("a list of " + text_of(of.operand(at).shape()));
        return of.reshaped(of.operand(at), of_list);
    };
    auto const made = normalised(of, of.reshaped(x, apart), gone, static_cast<double>(real(of, "epsilon", 1e-5f)), true);
    of.give(0, imported::reshaped(scale_and_shift(of, made, list(1), list(2)), whole).value());
}
/// Each channel of each element of the batch by itself.
inline void normalise_instance(lowering& of) {
    view const x = of.operand(0);
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::vector<bool> gone(x.dimensions.size(), true);
    gone[0] = gone[1] = false;
    auto const made = normalised(of, x, gone, static_cast<double>(real(of, "epsilon", 1e-5f)), true);
    scale_and_shift(of, made, of_channels(of.operand(1), x.rank()), of_channels(of.operand(2), x.rank()));
}
/// Over the dimensions that `axes` names, without scale and shift. The reference adds 1e-9 to the deviation.
inline void normalise_mean_and_variance(lowering& of) {
    view const x = of.operand(0);
    auto const gone = dimensions_of(integers(of, "axes").value_or(shape{0, 2, 3}), x.rank());
    auto const made = normalised(of, x, gone, 0, true);
    view const deviation = repeated_to(made.deviation, x.shape());
    space const loops = loops_over({made.centred, deviation}, x.shape());
    value const by = imported::at(deviation, loops);
    of.compute(loops, imported::at(made.centred, loops) / (by + like(by, 1e-9)), 0);
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

/// Each element divided by a power of the sum of squares of the channels around it.
inline void normalise_responses(lowering& of) {
    view const x = of.plain(of.operand(0));
    if (x.rank() < 2) throw not_imported("of " + std::to_string(x.rank()) + " dimensions");
    std::int64_t const size = limited(integer(of, "size", 0), 1, most_extent, "a size");
    double const alpha = static_cast<double>(real(of, "alpha", 0.0001f)), beta = static_cast<double>(real(of, "beta", 0.75f)),
                 bias = static_cast<double>(real(of, "bias", 1));
    need_float32(none_of(x.type()));
    space const loops = loops_over(x.shape());
    std::vector<value> index, axes;
    for (int at = 0; at < x.rank(); ++at) index.push_back(loops.index(at));
    if (size > 1) {
        axes.push_back(along("beside", size));
        index[1] = index[1] + axes[0] - number((size - 1) / 2, scalar_type::int32);
    }
    value const one = padded_at(x, index, number(std::int64_t{0}, x.type()));
    view const sums = of.stage(loops, over(operation::reduce_sum, axes, square_of(one)));
    value const base = imported::at(sums, loops) * like(one, alpha / static_cast<double>(size)) + like(one, bias);
    view const by = power_inside(of, loops, base, number(beta, scalar_type::float64));
    of.compute(loops, convert(in_double(imported::at(x, loops)) / imported::at(by, loops), scalar_type::float32), 0);
}

}  // namespace tilewright::imported::detail
