#pragma once
#include <tilewright/import/attributes.hpp>

// Copies, where a kernel has to read a dimension by one index.
namespace tilewright::imported::detail {

/// A view with a dimension that a kernel reads by an index of its own, and loops over a result that has another extent there.
struct searched_view {
    view x;
    space loops;
};
inline searched_view searched(lowering& of, view const& from, int dimension, std::int64_t extent) {
    auto const at = static_cast<std::size_t>(dimension);
    view const x = of.joined(from, dimension);
    view like_x = x;
    like_x.dimensions[at] = {};
    std::vector<std::int64_t> whole = x.shape();
    whole[at] = extent;
    return {x, loops_over({like_x}, whole)};
}
/// A view of which no dimension has several factors.
inline view joined(lowering& of, view from) {
    for (int at = 0; at < from.rank(); ++at) from = of.joined(from, at);
    return from;
}

}  // namespace tilewright::imported::detail
