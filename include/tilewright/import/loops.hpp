#pragma once
#include <tilewright/import/layers.hpp>

// Loops over a shape, and elements of views where they are.
namespace tilewright::imported {

/// The loops of a kernel: for each dimension of the result, an axis for each of its factors.
struct space {
    std::vector<std::vector<std::int64_t>> extents = {};
    std::vector<std::vector<value>> axes = {};

    /// The index along a dimension.
    value index(int dimension) const {
        auto const at = static_cast<std::size_t>(dimension);
        if (axes[at].empty()) return number(std::int64_t{0}, scalar_type::int32);
        value whole = axes[at][0];
        for (std::size_t part = 1; part < axes[at].size(); ++part) {
            whole = whole * number(extents[at][part], scalar_type::int32) + axes[at][part];
        }
        return whole;
    }
};

/// How many axes loops have.
inline std::size_t axes_of(space const& loops) {
    std::size_t count = 0;
    for (auto const& one : loops.axes) count += one.size();
    return count;
}

namespace detail {

inline value times(value const& index, std::int64_t by) { return by == 1 ? index : index * number(by, scalar_type::int32); }

/// A sum of indices that are not 0.
inline value total(std::vector<value> const& parts, std::int64_t constant) {
    std::optional<value> whole;
    for (value const& one : parts) whole = whole ? *whole + one : one;
    if (!whole) return number(constant, scalar_type::int32);
    return constant == 0 ? *whole : *whole + number(constant, scalar_type::int32);
}

}  // namespace detail

/// Whether dimensions of these views are cut in ways that fit each other.
inline bool can_share_loops(std::vector<view> const& all, std::vector<std::int64_t> const& shape) {
    for (std::size_t dimension = 0; dimension < shape.size(); ++dimension) {
        std::vector<std::int64_t> ends;
        for (view const& one : all) {
            std::int64_t inner = 1;
            auto const& parts = one.dimensions[dimension];
            for (std::size_t at = parts.size(); at-- > 0;) ends.push_back(inner *= parts[at].extent);
        }
        std::sort(ends.begin(), ends.end());
        for (std::size_t at = 1; at < ends.size(); ++at) {
            if (ends[at] % ends[at - 1] != 0) return false;
        }
    }
    return true;
}
/// Loops over a shape whose dimensions have the factors of all of these views, which have that shape.
inline space loops_over(std::vector<view> const& all, std::vector<std::int64_t> const& shape) {
    count_of(shape);
    for (view const& one : all) {
        if (one.dimensions.size() != shape.size())
            throw not_imported("shapes " + text_of(one.shape()) + " and " + text_of(shape) + " do not fit");
    }
    space made;
    int axis = 0;
    for (std::size_t dimension = 0; dimension < shape.size(); ++dimension) {
        std::vector<std::int64_t> ends{1, shape[dimension]};
        for (view const& one : all) {
            std::int64_t inner = 1;
            auto const& parts = one.dimensions[dimension];
            for (std::size_t at = parts.size(); at-- > 0;) ends.push_back(inner *= parts[at].extent);
        }
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        std::vector<std::int64_t> extents;
        for (std::size_t at = ends.size(); at-- > 1;) {
            if (ends[at] % ends[at - 1] != 0) throw not_imported("operands that are reshaped in ways which do not fit each other");
            extents.push_back(ends[at] / ends[at - 1]);
        }
        std::vector<value> axes;
        for (std::int64_t const extent : extents) axes.push_back(along(ir::label(("i" + std::to_string(axis++)).c_str()), extent));
        made.extents.push_back(extents);
        made.axes.push_back(axes);
    }
    return made;
}
/// Loops over a shape, an axis for each dimension that is more than 1.
inline space loops_over(std::vector<std::int64_t> const& shape) { return loops_over({}, shape); }

namespace detail {

/// The element of a view: for each stored dimension, what the indices of the view add to the first one.
inline value element_of(view const& of, std::vector<std::vector<value>> const& parts) {
    std::vector<value> indices;
    for (std::size_t stored = 0; stored < parts.size(); ++stored) indices.push_back(total(parts[stored], of.first[stored]));
    return element(of.of.name, of.of.type, indices);
}
/// Adds an index along a factor to what the stored dimensions are indexed by.
inline void add_index(std::vector<std::vector<value>>& parts, factor const& along_it, value const& index) {
    for (std::size_t stored = 0; stored < parts.size(); ++stored) {
        if (along_it.steps[stored] != 0) parts[stored].push_back(times(index, along_it.steps[stored]));
    }
}

}  // namespace detail

/// The element of a view where these loops are; the view has their shape.
inline value at(view of, space const& loops) {
    if (of.dimensions.size() != loops.axes.size()) throw not_imported(text_of(of.shape()) + " has not as many dimensions as the loops");
    std::vector<std::vector<value>> parts(of.first.size());
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        factors& cut_here = of.dimensions[dimension];
        std::int64_t inner = 1, whole = 1;
        for (std::int64_t const extent : loops.extents[dimension]) whole *= extent;
        if (std::int64_t const extent = extent_of(cut_here); extent != whole && extent != 1)
            throw not_imported("extents of " + std::to_string(extent) + " and " + std::to_string(whole) + " do not fit");
        for (std::size_t axis = loops.axes[dimension].size(); axis-- > 0;) {
            cut(cut_here, inner *= loops.extents[dimension][axis]);
        }
        // Factors of a view may be fewer than axes only where it is repeated or of extent 1.
        if (cut_here.size() > loops.axes[dimension].size())
            throw not_imported("operands that are reshaped in ways which do not fit each other");
        std::size_t const missing = loops.axes[dimension].size() - cut_here.size();
        for (std::size_t axis = 0; axis < cut_here.size(); ++axis) {
            detail::add_index(parts, cut_here[axis], loops.axes[dimension][axis + missing]);
        }
    }
    return detail::element_of(of, parts);
}

/// The element of a view at an index for each dimension, where no dimension has several factors.
inline value at(view const& of, std::vector<value> const& index) {
    if (of.dimensions.size() != index.size()) throw not_imported("of " + std::to_string(of.rank()) + " dimensions");
    std::vector<std::vector<value>> parts(of.first.size());
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        if (of.dimensions[dimension].size() > 1) throw not_imported("a dimension that a reshape joined would have to be copied");
        for (factor const& one : of.dimensions[dimension]) detail::add_index(parts, one, index[dimension]);
    }
    return detail::element_of(of, parts);
}

/// Whether each dimension of a view that is more than 1 is a whole dimension of the stored tensor.
inline bool is_plain(view const& of) {
    std::size_t seen = 0;
    for (factors const& one : of.dimensions) {
        if (one.size() > 1) return false;
        if (one.empty()) continue;
        std::size_t const at = static_cast<std::size_t>(std::find(one[0].steps.begin(), one[0].steps.end(), 1) - one[0].steps.begin());
        if (at == of.first.size() || of.first[at] != 0 || of.of.extents[at] != one[0].extent) return false;
        if (std::count(one[0].steps.begin(), one[0].steps.end(), 0) + 1 != static_cast<std::ptrdiff_t>(of.first.size())) return false;
        ++seen;
    }
    std::size_t more = 0;
    for (std::int64_t const extent : of.of.extents) more += extent > 1 ? 1 : 0;
    return more == seen;
}

/// The element of a plain view at an index for each dimension; outside its extents, the border. A dimension of extent 1 has a border, too.
inline value padded_at(view const& of, std::vector<value> const& index, value const& border) {
    if (of.dimensions.size() != index.size()) throw not_imported("of " + std::to_string(of.rank()) + " dimensions");
    if (!is_plain(of)) throw not_imported("what is padded is not a whole tensor and would have to be copied");
    std::vector<std::optional<value>> stored_index(of.first.size());
    std::vector<value> outside;  // dimensions that are not stored: conditions that their index is 0
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        if (of.dimensions[dimension].empty()) {
            bool const is_zero = index[dimension].nodes.size() == 1 && index[dimension].root().op == operation::constant;
            if (!is_zero) outside.push_back(index[dimension]);
            continue;
        }
        auto const& steps = of.dimensions[dimension][0].steps;
        stored_index[static_cast<std::size_t>(std::find(steps.begin(), steps.end(), 1) - steps.begin())] = index[dimension];
    }
    std::vector<value> indices;
    for (std::size_t stored = 0; stored < stored_index.size(); ++stored) {
        value const inner = stored_index[stored] ? *stored_index[stored] : number(std::int64_t{0}, scalar_type::int32);
        indices.push_back(within(inner, ir::label(("w" + std::to_string(stored)).c_str()), of.of.extents[stored]));
    }
    value read = padded_element(of.of.name, of.of.type, indices, border.root().value);
    for (value const& one : outside) read = choose(equal(one, number(std::int64_t{0}, scalar_type::int32)), read, border);
    return read;
}

/// The element of a view at an index for each dimension, or for each factor of it.
inline value at_factors(view const& of, std::vector<std::vector<value>> const& index) {
    std::vector<std::vector<value>> parts(of.first.size());
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        factors const& here = of.dimensions[dimension];
        if (!here.empty() && index[dimension].size() != here.size())
            throw not_imported("a dimension that a reshape joined would have to be copied");
        for (std::size_t part = 0; part < here.size(); ++part) detail::add_index(parts, here[part], index[dimension][part]);
    }
    return detail::element_of(of, parts);
}
/// Likewise of whole factors; outside the extents, the border.
inline value padded_at_factors(view const& of, std::vector<std::vector<value>> const& index, value const& border) {
    view apart = of;
    apart.dimensions.clear();
    std::vector<value> indices;
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        factors const& here = of.dimensions[dimension];
        if (here.size() > 1 && index[dimension].size() != here.size())
            throw not_imported("a dimension that a reshape joined would have to be copied");
        if (here.empty()) apart.dimensions.push_back({});
        for (factor const& part : here) apart.dimensions.push_back({part});
        indices.insert(indices.end(), index[dimension].begin(), index[dimension].end());
        if (index[dimension].empty()) indices.push_back(number(std::int64_t{0}, scalar_type::int32));
    }
    return padded_at(apart, indices, border);
}

/// Whether each factor of a view is a whole dimension of the stored tensor, and each of these is a factor.
inline bool has_whole_factors(view const& of) {
    view apart = of;
    apart.dimensions.clear();
    for (factors const& one : of.dimensions) {
        for (factor const& part : one) apart.dimensions.push_back({part});
    }
    return is_plain(apart);
}

}  // namespace tilewright::imported
