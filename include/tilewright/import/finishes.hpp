#pragma once
#include <initializer_list>
#include <tilewright/machine/machine.hpp>
#include <vector>

// Instructions that finish the sums of a layer.
namespace tilewright::imported {

/// Instructions of a machine that finish sums: of those that `products_by` is given, the one that computes what a layer does.
struct finishes {
    std::vector<ir::label> names;  ///< in the order in which they are asked
    ir::label adds{};              ///< that adds other bytes to what they make, in the same kernel; empty: none

    /// None: the core finishes.
    finishes() = default;
    /// One.
    finishes(char const* name) : names{name} {}
    /// One.
    finishes(ir::label const& name) : names{name} {}
    /// The first that computes what a layer does is taken.
    finishes(std::initializer_list<ir::label> all) : names(all) {}

    /// An instruction that computes `added_bytes` adds other bytes to those that sums become, tile by tile, while they are near.
    finishes& then(ir::label const& instruction) { return adds = instruction, *this; }
};

namespace detail {

/// Whether an instruction that finishes sums has scales of floats, as `scaled_bytes` has.
inline bool scales_in_floats(machine const& where, int intrinsic_at) {
    computation_view const nodes = where.view(where.intrinsics[intrinsic_at].semantics);
    for (int at = 0; at < nodes.count; ++at) {
        if (nodes[at].op == operation::access && nodes[at].type == scalar_type::float32) return true;
    }
    return false;
}

}  // namespace detail
}  // namespace tilewright::imported
