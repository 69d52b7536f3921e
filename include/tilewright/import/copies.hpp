#pragma once
#include <tilewright/import/attributes.hpp>

// Copies, where a kernel has to read a dimension by one index.
namespace tilewright::imported::detail {

/// A view of which no dimension has several factors.
inline view joined(lowering& of, view from) {
    for (int at = 0; at < from.rank(); ++at) from = of.joined(from, at);
    return from;
}

}  // namespace tilewright::imported::detail
