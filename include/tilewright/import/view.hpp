#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <tilewright/import/value.hpp>
#include <utility>

// Tensors of a network as kernels read them. A reshape, a transposition, a slice or a repetition is another way to index a tensor: it moves
// nothing. A dimension is a product of factors, so that dimensions that a reshape joins stay apart where the tensor has them.
namespace tilewright::imported {

/// A tensor of the program: row-major, and of at most `max_rank` dimensions.
struct stored {
    ir::label name;
    scalar_type type = scalar_type::literal;
    std::vector<std::int64_t> extents = {};
};

/// A part of a dimension: an index in [0, extent), and how far it goes in each dimension of the stored tensor.
struct factor {
    std::int64_t extent = 1;
    std::vector<std::int64_t> steps = {};  ///< one for each stored dimension

    friend bool operator==(factor const&, factor const&) = default;
};
using factors = std::vector<factor>;  ///< the slowest first; none: an extent of 1

inline std::int64_t extent_of(factors const& dimension) {
    std::int64_t extent = 1;
    for (factor const& one : dimension) extent *= one.extent;
    return extent;
}

/// A stored tensor as a shape of the network.
struct view {
    stored of;
    std::vector<std::int64_t> first = {};  ///< the stored index where all indices of the view are 0
    std::vector<factors> dimensions = {};

    scalar_type type() const { return of.type; }
    int rank() const { return static_cast<int>(dimensions.size()); }
    /// @throw not_imported  where there is no such dimension
    std::int64_t extent(int dimension) const {
        if (dimension < 0 || dimension >= rank()) throw not_imported("of " + std::to_string(rank()) + " dimensions");
        return extent_of(dimensions[static_cast<std::size_t>(dimension)]);
    }
    std::vector<std::int64_t> shape() const {
        std::vector<std::int64_t> all;
        for (factors const& one : dimensions) all.push_back(extent_of(one));
        return all;
    }
    std::int64_t elements() const { return count_of(shape()); }
};

/// Factors that follow each other in one walk through the stored tensor become one.
inline factors joined(factors const& apart) {
    factors made;
    for (factor const& one : apart) {
        if (one.extent == 1) continue;
        if (!made.empty()) {
            std::vector<std::int64_t> walked = one.steps;
            for (std::int64_t& step : walked) step *= one.extent;
            if (walked == made.back().steps) {
                made.back().extent *= one.extent;
                made.back().steps = one.steps;
                continue;
            }
        }
        made.push_back(one);
    }
    return made;
}

/// The same dimension with its first or last factors cut so that the last of them have `extent` elements together.
///
/// @return the position of the first of these, or nothing where no factor can be cut there
inline std::optional<std::size_t> cut(factors& dimension, std::int64_t extent) {
    std::size_t at = dimension.size();
    std::int64_t after = 1;
    while (after < extent && at > 0) {
        factor& one = dimension[at - 1];
        if (extent % after != 0) return std::nullopt;
        std::int64_t const wanted = extent / after;
        if (wanted >= one.extent) {
            after *= one.extent;
            --at;
            continue;
        }
        if (one.extent % wanted != 0) return std::nullopt;
        factor upper = one;
        upper.extent = one.extent / wanted;
        for (std::int64_t& step : upper.steps) step *= wanted;
        one.extent = wanted;
        dimension.insert(dimension.begin() + static_cast<std::ptrdiff_t>(at) - 1, upper);
        return at;
    }
    return after == extent ? std::optional(at) : std::nullopt;
}

/// A whole stored tensor whose dimension d is made of the next `parts[d]` stored dimensions. Of what is left over, index 0 is read: so a
/// scalar is stored as one dimension of extent 1.
inline view whole_of(stored const& of, std::vector<int> const& parts) {
    view made{.of = of, .first = std::vector<std::int64_t>(of.extents.size(), 0)};
    std::size_t at = 0;
    for (int const count : parts) {
        factors dimension;
        for (int part = 0; part < count; ++part, ++at) {
            std::vector<std::int64_t> steps(of.extents.size(), 0);
            steps[at] = 1;
            dimension.push_back({of.extents[at], steps});
        }
        made.dimensions.push_back(joined(dimension));
    }
    return made;
}
/// A stored tensor as it is.
inline view whole_of(stored const& of) { return whole_of(of, std::vector<int>(of.extents.size(), 1)); }

/// The same elements, row by row, as another shape. Nothing where that needs a copy.
///
/// @throw not_imported  where the shape has another number of elements
inline std::optional<view> reshaped(view const& of, std::vector<std::int64_t> const& shape) {
    if (count_of(shape) != of.elements()) throw not_imported("from " + text_of(of.shape()) + " to " + text_of(shape));
    factors all;
    for (factors const& one : of.dimensions) all.insert(all.end(), one.begin(), one.end());
    all = joined(all);
    view made = of;
    made.dimensions.assign(shape.size(), {});
    for (std::size_t dimension = shape.size(); dimension-- > 0;) {
        std::optional<std::size_t> const at = cut(all, shape[dimension]);
        if (!at) return std::nullopt;
        made.dimensions[dimension] = joined({all.begin() + static_cast<std::ptrdiff_t>(*at), all.end()});
        all.resize(*at);
    }
    return made;
}

/// Dimension d of the result is dimension `order[d]`.
///
/// @throw not_imported  where that does not name each dimension once
inline view transposed(view const& of, std::vector<std::int64_t> const& order) {
    std::vector<bool> taken(of.dimensions.size(), false);
    view made = of;
    made.dimensions.clear();
    for (std::int64_t const one : order) {
        bool const there = one >= 0 && one < of.rank() && !taken[static_cast<std::size_t>(one)];
        if (!there) throw not_imported("dimension " + std::to_string(one) + " of " + text_of(of.shape()) + ", or twice");
        taken[static_cast<std::size_t>(one)] = true;
        made.dimensions.push_back(of.dimensions[static_cast<std::size_t>(one)]);
    }
    if (made.rank() != of.rank())
        throw not_imported("an order of " + std::to_string(made.rank()) + " dimensions of " + text_of(of.shape()));
    return made;
}

/// These dimensions, in this order; where one is left out, its index is 0.
inline view only(view of, std::vector<std::size_t> const& dimensions) {
    std::vector<factors> kept;
    for (std::size_t const one : dimensions) kept.push_back(of.dimensions[one]);
    of.dimensions = kept;
    return of;
}

/// Every `step`-th index of a dimension from `begin` on, `count` of them. A step may be negative. Nothing where the dimension has several
/// factors that this goes across.
///
/// @throw not_imported  where one of these indices is none of the dimension
inline std::optional<view> sliced(view const& of, int dimension, std::int64_t begin, std::int64_t step, std::int64_t count) {
    view made = of;
    factors& changed = made.dimensions[static_cast<std::size_t>(dimension)];
    std::int64_t const extent = extent_of(changed);
    bool const begins = count >= 1 && begin >= 0 && begin < extent;
    step = count == 1 ? 1 : std::clamp(step, -extent, extent);
    std::int64_t const way = step > 0 ? extent - 1 - begin : begin;
    if (!begins || step == 0 || way / (step > 0 ? step : -step) < count - 1) {
        throw not_imported(std::to_string(count) + " elements from " + std::to_string(begin) + " on, by steps of " + std::to_string(step) +
                           ", of " + std::to_string(extent));
    }
    if (begin == 0 && step == 1 && count == extent_of(changed)) return made;
    if (changed.empty()) changed.push_back({1, std::vector<std::int64_t>(of.first.size(), 0)});
    if (changed.size() > 1) {
        // Whole turns of the last factors can be taken.
        std::int64_t const inner = extent_of({changed.begin() + 1, changed.end()});
        if (step != 1 || begin % inner != 0 || count % inner != 0) return std::nullopt;
        begin /= inner, count /= inner;
    }
    factor& outer = changed.front();
    for (std::size_t at = 0; at < outer.steps.size(); ++at) {
        made.first[at] += begin * outer.steps[at];
        outer.steps[at] *= step;
    }
    outer.extent = count;
    changed = joined(changed);
    return made;
}

/// Every element of dimension `dimension`, of extent 1, `count` times.
inline view repeated(view const& of, int dimension, std::int64_t count) {
    view made = of;
    if (count > 1) made.dimensions[static_cast<std::size_t>(dimension)] = {{count, std::vector<std::int64_t>(of.first.size(), 0)}};
    return made;
}

/// The shape that both are repeated to, by the rule of NumPy: dimensions from the last one on are equal, or one of them is 1.
inline std::optional<std::vector<std::int64_t>> common_shape(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    if (a.size() < b.size()) std::swap(a, b);
    b.insert(b.begin(), a.size() - b.size(), 1);
    for (std::size_t at = 0; at < a.size(); ++at) {
        if (a[at] != b[at] && a[at] != 1 && b[at] != 1) return std::nullopt;
        if (a[at] == 1) a[at] = b[at];
    }
    return a;
}
/// A view repeated to such a shape.
///
/// @throw not_imported  where it does not fit
inline view repeated_to(view of, std::vector<std::int64_t> const& shape) {
    count_of(shape);
    if (common_shape(of.shape(), shape) != shape) throw not_imported("shape " + text_of(of.shape()) + " does not fit " + text_of(shape));
    of.dimensions.insert(of.dimensions.begin(), shape.size() - of.dimensions.size(), factors{});
    for (int at = 0; at < of.rank(); ++at) {
        if (of.extent(at) == 1) of = repeated(of, at, shape[static_cast<std::size_t>(at)]);
    }
    return of;
}

}  // namespace tilewright::imported
