#pragma once
#include <tilewright/import/attributes.hpp>

// Copies, where a kernel has to read a dimension by one index.
namespace tilewright::imported::detail {

/// Whether each factor of a view is a whole dimension of the stored tensor, and each of these is a factor.
inline bool has_whole_factors(view const& of) {
    view apart = of;
    apart.dimensions.clear();
    for (factors const& one : of.dimensions) {
        for (factor const& part : one) apart.dimensions.push_back({part});
    }
    return is_plain(apart);
}
/// A view whose factors are whole dimensions of a stored tensor: itself, or a copy.
inline view with_whole_factors(lowering& of, view const& from) {
    if (has_whole_factors(from)) return from;
    space const loops = loops_over({from}, from.shape());
    return of.compute(loops, imported::at(from, loops));
}

/// The element of a view at an index for each dimension, or for each factor of it.
inline value at_factors(view const& of, std::vector<std::vector<value>> const& index) {
    std::vector<std::vector<value>> parts(of.first.size());
    for (std::size_t dimension = 0; dimension < of.dimensions.size(); ++dimension) {
        factors const& here = of.dimensions[dimension];
        if (!here.empty() && index[dimension].size() != here.size())
            throw not_imported("a dimension that a reshape joined would have to be copied");
        for (std::size_t part = 0; part < here.size(); ++part) add_index(parts, here[part], index[dimension][part]);
    }
    return element_of(of, parts);
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

/// A view whose dimension is one dimension of a stored tensor: itself, or a copy. Element y of factors a and b, b of extent s, is y = a s +
/// b: the copy takes the sum over a of what stands at (a, y - a s), of which one is inside.
inline view joined(lowering& of, view const& from, int dimension) {
    if (from.dimensions[static_cast<std::size_t>(dimension)].size() < 2) return from;
    view const x = with_whole_factors(of, from);
    space loops = loops_over({x}, x.shape());
    auto const at = static_cast<std::size_t>(dimension);
    factors const& parts = x.dimensions[at];
    loops.extents[at] = {x.extent(dimension)};
    loops.axes[at] = {along("joined", x.extent(dimension))};
    std::vector<value> outer, index;
    value inner = loops.axes[at][0];
    std::int64_t step = x.extent(dimension);
    for (std::size_t part = 0; part + 1 < parts.size(); ++part) {
        step /= parts[part].extent;
        outer.push_back(along(ir::label(("part" + std::to_string(part)).c_str()), parts[part].extent));
        inner = inner - times(outer.back(), step);
    }
    index = outer;
    index.push_back(inner);
    std::vector<std::vector<value>> all = loops.axes;
    all[at] = index;
    value const nothing = nothing_to_add(x.type());
    return of.compute(loops, nothing + over(operation::reduce_sum, outer, padded_at_factors(x, all, nothing)));
}
/// A view with a dimension that a kernel reads by an index of its own, and loops over a result that has another extent there.
struct searched_view {
    view x;
    space loops;
};
inline searched_view searched(lowering& of, view const& from, int dimension, std::int64_t extent) {
    auto const at = static_cast<std::size_t>(dimension);
    view const x = joined(of, from, dimension);
    view like_x = x;
    like_x.dimensions[at] = {};
    std::vector<std::int64_t> whole = x.shape();
    whole[at] = extent;
    return {x, loops_over({like_x}, whole)};
}
/// A view of which no dimension has several factors.
inline view joined(lowering& of, view from) {
    for (int at = 0; at < from.rank(); ++at) from = joined(of, from, at);
    return from;
}

}  // namespace tilewright::imported::detail
