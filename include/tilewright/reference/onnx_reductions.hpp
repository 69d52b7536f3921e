#pragma once
#include <limits>
#include <tilewright/reference/onnx_places.hpp>

// Reductions: what is made of all elements along axes.
namespace tilewright::reference::of_onnx {

/// Which elements are reduced to which.
struct reduction {
    shape result = {};       ///< the extents
    places to = {};          ///< for each element of the operand, its place in the result
    std::size_t count = 0;   ///< of the elements of the result
    std::int64_t group = 1;  ///< of the operand that are reduced to one

    reduction(shape const& extents, std::vector<bool> const& reduced, bool keeps) {
        shape kept = extents;
        for (std::size_t at = 0; at < extents.size(); ++at) {
            if (reduced[at]) group *= extents[at], kept[at] = 1;
            if (!reduced[at] || keeps) result.push_back(kept[at]);
        }
        shape steps = strides_of(kept);
        for (std::size_t at = 0; at < extents.size(); ++at) {
            if (reduced[at]) steps[at] = 0;
        }
        to = walk<std::size_t>(extents, 0, steps);
        count = static_cast<std::size_t>(count_of(result));
    }
};

/// Axes are a setting or the second operand, by the version. Without axes, all are reduced, or none where `noop_with_empty_axes` says so.
inline reduction reduction_of(call const& of) {
    shape const& extents = of.operand(0).extents;
    shape const axes = of.integers("axes", std::size_t{1});
    std::vector<bool> reduced(extents.size(), axes.empty() && of.integer("noop_with_empty_axes", 0) == 0);
    for (std::int64_t const axis : axes) reduced[axis_of(axis, extents.size())] = true;
    return {extents, reduced, of.integer("keepdims", 1) != 0};
}

/// @param add   takes what came out so far and an element; it begins with 0, or with the first element where `from_first`
/// @param last  makes the result of what came out and the number of elements
template <class Add, class Last>
elements reduce(call const& of, bool from_first, Add const& add, Last const& last) {
    auto const& in = of.operand(0);
    reduction const how = reduction_of(of);
    require(!from_first || how.group > 0, "the largest or smallest of no elements");
    return with_wide(in.type, [&](auto wide) {
        using number = decltype(wide);
        auto const values = detail::numbers_of<number>(in);
        std::vector<number> made(how.count);
        std::vector<char> begun(how.count, from_first ? 0 : 1);
        for (std::size_t at = 0; at < values.size(); ++at) {
            number& sum = made[how.to[at]];
            sum = begun[how.to[at]] != 0 ? add(sum, values[at]) : values[at];
            begun[how.to[at]] = 1;
        }
        for (number& one : made) one = static_cast<number>(last(one, how.group));
        return detail::of_numbers(in.type, how.result, made);
    });
}
inline constexpr auto as_reduced = [](auto x, std::int64_t) { return x; };
inline constexpr auto root_of = [](auto x, std::int64_t) { return std::sqrt(static_cast<double>(x)); };
inline constexpr auto add_absolute = [](auto sum, auto x) { return plus(sum, x < 0 ? minus(decltype(x){0}, x) : x); };
inline constexpr auto add_square = [](auto sum, auto x) { return plus(sum, times(x, x)); };

inline elements reduce_sum(call const& of) { return reduce(of, false, plus, as_reduced); }
inline elements reduce_max(call const& of) { return reduce(of, true, larger, as_reduced); }
inline elements reduce_min(call const& of) { return reduce(of, true, smaller, as_reduced); }
inline elements reduce_l1(call const& of) { return reduce(of, false, add_absolute, as_reduced); }
inline elements reduce_l2(call const& of) { return reduce(of, false, add_square, root_of); }
inline elements reduce_sum_square(call const& of) { return reduce(of, false, add_square, as_reduced); }

/// A mean of integers loses its fraction.
inline elements reduce_mean(call const& of) {
    return reduce(of, false, plus, [](auto sum, std::int64_t count) {
        require(count > 0, "the mean of no elements");
        return sum / static_cast<decltype(sum)>(count);
    });
}
inline elements reduce_log_sum(call const& of) {
    return reduce(of, false, plus, [](auto sum, std::int64_t) { return std::log(static_cast<double>(sum)); });
}

/// The product of no elements is 1.
inline elements reduce_prod(call const& of) {
    if (reduction_of(of).group > 0) return reduce(of, true, times, as_reduced);
    return reduce(of, false, times, [](auto x, std::int64_t) { return decltype(x){1}; });
}

/// Exponentials of what is left when the largest element is subtracted, so that none overflows.
inline elements reduce_log_sum_exp(call const& of) {
    auto const& in = of.operand(0);
    auto const values = floats_of(in);
    reduction const how = reduction_of(of);
    constexpr double lowest = -std::numeric_limits<double>::infinity();
    std::vector<double> most(how.count, lowest), made(how.count);
    for (std::size_t at = 0; at < values.size(); ++at) most[how.to[at]] = std::max(most[how.to[at]], values[at]);
    for (double& one : most) one = std::isinf(one) ? 0 : one;
    for (std::size_t at = 0; at < values.size(); ++at) made[how.to[at]] += std::exp(values[at] - most[how.to[at]]);
    for (std::size_t at = 0; at < made.size(); ++at) made[at] = most[at] + std::log(made[at]);
    return of_reals(in.type, how.result, made);
}

/// The index of an extreme along one axis; of equal ones the first, or the last where `select_last_index` says so.
template <class Better>
elements index_of_extreme(call const& of, Better const& better) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(of.integer("axis", 0), in.extents.size());
    std::vector<bool> reduced(in.extents.size());
    reduced[axis] = true;
    reduction const how(in.extents, reduced, of.integer("keepdims", 1) != 0);
    require(how.group > 0, "the extreme of no elements");
    bool const last = of.integer("select_last_index", 0) != 0;
    std::int64_t const step = strides_of(in.extents)[axis];
    auto const found = with_wide(in.type, [&](auto wide) {
        auto const values = detail::numbers_of<decltype(wide)>(in);
        places best(how.count, outside);
        for (std::size_t at = 0; at < values.size(); ++at) {
            std::size_t& kept = best[how.to[at]];
            if (kept == outside || better(values[at], values[kept]) || (last && values[at] == values[kept])) kept = at;
        }
        return best;
    });
    std::vector<std::int64_t> made;
    for (std::size_t const place : found) made.push_back(static_cast<std::int64_t>(place) / step % in.extents[axis]);
    return of_integers(element_type::int64, how.result, made);
}
inline elements arg_max(call const& of) {
    return index_of_extreme(of, [](auto x, auto best) { return x > best; });
}
inline elements arg_min(call const& of) {
    return index_of_extreme(of, [](auto x, auto best) { return x < best; });
}

/// Sums of all elements up to each one along an axis, without it where `exclusive`, from the end where `reverse`.
inline elements cum_sum(call const& of) {
    auto const& in = of.operand(0);
    std::size_t const axis = axis_of(integers_of(single(of.operand(1)))[0], in.extents.size());
    bool const exclusive = of.integer("exclusive", 0) != 0, reverse = of.integer("reverse", 0) != 0;
    shape starts = in.extents;
    starts[axis] = 1;
    shape const steps = strides_of(in.extents);
    std::int64_t const extent = in.extents[axis];
    return with_ring(in.type, [&](auto wide) {
        using number = decltype(wide);
        auto const values = detail::numbers_of<number>(in);
        std::vector<number> made(values.size());
        for (std::size_t const start : walk<std::size_t>(starts, 0, steps)) {
            number sum = 0;
            for (std::int64_t at = 0; at < extent; ++at) {
                std::size_t const place = start + static_cast<std::size_t>((reverse ? extent - 1 - at : at) * steps[axis]);
                made[place] = exclusive ? sum : sum + values[place];
                sum += values[place];
            }
        }
        return detail::of_numbers(in.type, in.extents, made);
    });
}

}  // namespace tilewright::reference::of_onnx
