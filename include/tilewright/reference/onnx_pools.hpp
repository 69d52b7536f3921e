#pragma once
#include <limits>
#include <tilewright/reference/onnx_windows.hpp>

// Pools: the largest, the mean or the norm of what lies in a window.
namespace tilewright::reference::of_onnx {

/// The windows of a pool over an operand, and how its planes lie: one for each channel of each batch.
struct pool {
    windows over;
    std::vector<run> runs;
    std::size_t planes = 0, large = 0, small = 0, stride = 1;
    shape result;

    explicit pool(call const& of) : over(windows_of(of, of.integers("kernel_shape"))) {
        shape const& extents = of.operand(0).extents;
        fit_to_input(over, extents, of.word("auto_pad", "NOTSET"), of.integer("ceil_mode", 0) != 0);
        runs = runs_of(over);
        planes = static_cast<std::size_t>(extents[0] * extents[1]);
        large = static_cast<std::size_t>(count_of(extents_of(over, &window::large)));
        small = static_cast<std::size_t>(count_of(extents_of(over, &window::small)));
        stride = static_cast<std::size_t>(over.back().stride);
        result = {extents[0], extents[1]};
        for (window const& one : over) result.push_back(one.small);
    }

    /// Calls `use` with a place of the result and one of the operand that lies in its window.
    template <class Use>
    void each(Use const& use) const {
        for (std::size_t plane = 0; plane < planes; ++plane) {
            for (run const& one : runs) {
                std::size_t const to = plane * small + static_cast<std::size_t>(one.small),
                                  from = plane * large + static_cast<std::size_t>(one.large);
                for (std::size_t at = 0; at < static_cast<std::size_t>(one.count); ++at) use(to + at, from + at * stride);
            }
        }
    }
};

/// The place of an element when the last extent but batch and channels is the slowest one.
inline std::int64_t column_first(std::int64_t place, windows const& over, std::int64_t large) {
    std::int64_t rest = place % large, made = 0;
    shape const extents = extents_of(over, &window::large);
    shape index(extents.size());
    for (std::size_t at = extents.size(); at-- > 0; rest /= extents[at]) index[at] = rest % extents[at];
    for (std::size_t at = extents.size(); at-- > 0;) made = made * extents[at] + index[at];
    return place / large * large + made;
}

/// The second result has the place of each largest element; of equal ones, the first.
///
/// @throws not_covered  where a window has no element
inline results max_pool(call const& of) {
    auto const& in = of.operand(0);
    pool const how(of);
    auto const values = reals_of(in);
    places from(how.planes * how.small, outside);
    how.each([&](std::size_t to, std::size_t at) {
        if (from[to] == outside || values[at] > values[from[to]]) from[to] = at;
    });
    std::vector<std::int64_t> indices;
    bool const columns_first = of.integer("storage_order", 0) != 0;
    for (std::size_t const place : from) {
        require(place != outside, "a window without elements");
        auto const at = static_cast<std::int64_t>(place);
        indices.push_back(columns_first ? column_first(at, how.over, static_cast<std::int64_t>(how.large)) : at);
    }
    return {pick(in, how.result, from), of_integers(element_type::int64, how.result, indices)};
}

/// Of the padding, what lies in the window counts as well where `count_include_pad` says so. What lies behind it never counts.
inline elements average_pool(call const& of) {
    auto const& in = of.operand(0);
    pool const how(of);
    auto const values = floats_of(in);
    std::vector<double> made(how.planes * how.small), counts(how.small);
    how.each([&](std::size_t to, std::size_t at) {
        made[to] += values[at];
        if (to < how.small) ++counts[to];
    });
    if (of.integer("count_include_pad", 0) != 0) {
        std::size_t to = 0;
        each_index(extents_of(how.over, &window::small), [&](shape const& index) {
            double count = 1;
            for (std::size_t at = 0; at < index.size(); ++at) {
                window const& one = how.over[at];
                std::int64_t inside = 0;
                for (std::int64_t tap = 0; tap < one.taps; ++tap) inside += one.at(index[at], tap) < one.large + one.after ? 1 : 0;
                count *= static_cast<double>(inside);
            }
            counts[to++] = count;
        });
    }
    for (std::size_t at = 0; at < made.size(); ++at) {
        require(counts[at % how.small] > 0, "a window without elements");
        made[at] /= counts[at % how.small];
    }
    return of_reals(in.type, how.result, made);
}

/// The p-th root of the sum of absolute values to the power p.
inline elements lp_pool(call const& of) {
    auto const& in = of.operand(0);
    pool const how(of);
    auto const p = static_cast<double>(of.integer("p", 2));
    auto const values = floats_of(in);
    std::vector<double> made(how.planes * how.small);
    how.each([&](std::size_t to, std::size_t at) { made[to] += std::pow(std::abs(values[at]), p); });
    for (double& one : made) one = std::pow(one, 1 / p);
    return of_reals(in.type, how.result, made);
}

/// One number of each plane. @param add  takes what came out so far and an element  @param last  what came out, and the size of a plane
template <class Add, class Last>
elements global_pool(call const& of, double first, Add const& add, Last const& last) {
    auto const& in = of.operand(0);
    require(in.extents.size() > 2, "a pool over nothing");
    auto const values = floats_of(in);
    shape result(in.extents.size(), 1);
    result[0] = in.extents[0], result[1] = in.extents[1];
    std::size_t const planes = static_cast<std::size_t>(count_of(result)), size = planes == 0 ? 0 : values.size() / planes;
    std::vector<double> made(planes, first);
    for (std::size_t at = 0; at < values.size(); ++at) made[at / size] = add(made[at / size], values[at]);
    for (double& one : made) one = last(one, static_cast<double>(size));
    return of_reals(in.type, result, made);
}
inline elements global_average_pool(call const& of) {
    return global_pool(of, 0, plus, [](double sum, double count) { return sum / count; });
}
inline elements global_max_pool(call const& of) {
    return global_pool(of, -std::numeric_limits<double>::infinity(), larger, [](double most, double) { return most; });
}
inline elements global_lp_pool(call const& of) {
    auto const p = static_cast<double>(of.integer("p", 2));
    auto const add = [p](double sum, double x) { return sum + std::pow(std::abs(x), p); };
    return global_pool(of, 0, add, [p](double sum, double) { return std::pow(sum, 1 / p); });
}

}  // namespace tilewright::reference::of_onnx
