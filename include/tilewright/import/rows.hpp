#pragma once
#include <tilewright/import/layers.hpp>

// How kernels read what the caller gives.
namespace tilewright::imported {

namespace detail {

/// The largest value of an affine index.
inline std::int64_t highest_of_index(std::vector<ir::node> const& nodes, int at, bool highest = true) {
    ir::node const& one = nodes[static_cast<std::size_t>(at)];
    auto const of = [&](int argument, bool up) { return highest_of_index(nodes, one.argument(argument), up); };
    switch (one.op) {
        case operation::constant: return one.value;
        case operation::axis_value: return highest ? one.value - 1 : 0;
        case operation::add: return of(0, highest) + of(1, highest);
        case operation::subtract: return of(0, highest) - of(1, !highest);
        case operation::multiply: {
            // One of the two is a constant.
            std::int64_t const left = of(0, true), right = of(1, true);
            bool const by_right = nodes[static_cast<std::size_t>(one.argument(1))].op == operation::constant;
            std::int64_t const by = by_right ? right : left;
            return by * (by_right ? of(0, highest == (by >= 0)) : of(1, highest == (by >= 0)));
        }
        default: return 0;
    }
}

/// Reads a tensor by one index for all of its dimensions.
inline void read_flat(std::vector<ir::node>& nodes, stored const& tensor) {
    std::vector<ir::node> made;
    std::vector<std::int16_t> moved;
    auto const put = [&](ir::node const& one) { return made.push_back(one), static_cast<std::int16_t>(made.size() - 1); };
    for (ir::node one : nodes) {
        for (int at = 0; one.op != operation::constant && at < one.argument_count; ++at)
            one.arguments[at] = moved[static_cast<std::size_t>(one.arguments[at])];
        if (one.op == operation::access && one.name == tensor.name) {
            std::int64_t stride = 1;
            std::int16_t whole = -1;
            for (int at = one.argument_count; at-- > 0; stride *= tensor.extents[static_cast<std::size_t>(at)]) {
                std::int16_t const by = put(number(stride, scalar_type::int32).nodes[0]);
                std::int16_t const part =
                    put({.op = operation::multiply, .type = scalar_type::int32, .argument_count = 2, .arguments = {one.arguments[at], by}});
                whole = whole < 0
                            ? part
                            : put({.op = operation::add, .type = scalar_type::int32, .argument_count = 2, .arguments = {part, whole}});
            }
            one.arguments = {whole};
            one.argument_count = 1;
        }
        moved.push_back(put(one));
    }
    nodes = made;
}

/// A program takes the extents of what the caller gives, and of constants, from what kernels read. Where no kernel reads to the end of a
/// dimension, rows would be too short. Then all kernels read that tensor by one index.
inline void keep_rows(layers& of, stored& tensor) {
    std::vector<std::int64_t> reached(tensor.extents.size(), 0);
    for (layer const& one : of.all) {
        for (std::size_t at = 0; at < one.nodes.size(); ++at) {
            ir::node const& node = one.nodes[at];
            if (node.op != operation::access || node.name != tensor.name) continue;
            if (is_padded({one.nodes.data(), static_cast<int>(one.nodes.size())}, static_cast<int>(at))) return;
            for (int dimension = 0; dimension < node.argument_count; ++dimension) {
                std::int64_t& most = reached[static_cast<std::size_t>(dimension)];
                most = std::max(most, highest_of_index(one.nodes, node.argument(dimension)) + 1);
            }
        }
    }
    if (reached.size() < 2 || std::equal(reached.begin() + 1, reached.end(), tensor.extents.begin() + 1)) return;
    for (layer& one : of.all) read_flat(one.nodes, tensor);
    std::int64_t count = 1;
    for (std::int64_t const extent : tensor.extents) count *= extent;
    tensor.extents = {count};
}

}  // namespace detail

}  // namespace tilewright::imported
