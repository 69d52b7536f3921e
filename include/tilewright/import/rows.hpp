#pragma once
#include <algorithm>
#include <tilewright/compute/stage.hpp>
#include <tilewright/import/layers.hpp>

// How kernels read what the caller gives.
namespace tilewright::imported {

namespace detail {

/// The least and the largest value of an index of a stage, which is affine.
struct index_range {
    std::int64_t least = 0, most = 0;
};
inline index_range range_of(ir::stage_index const& index, ir::stage const& in) {
    index_range made{index.constant, index.constant};
    for (int axis = 0; axis < in.axis_count; ++axis) {
        std::int64_t const reach = index.coefficients[axis] * (in.axes[axis].extent - 1);
        (reach < 0 ? made.least : made.most) += reach;
    }
    return made;
}

/// Reads a tensor by one index for all of its dimensions.
inline void read_flat(std::vector<ir::node>& nodes, stored const& tensor) {
    nodes = rewritten(nodes, [&](std::vector<ir::node>& to, ir::node one, int) {
        if (one.op == operation::access && one.name == tensor.name) {
            std::int64_t stride = 1;
            std::int16_t whole = -1;
            for (int at = one.argument_count; at-- > 0; stride *= tensor.extents[static_cast<std::size_t>(at)]) {
                std::int16_t const by = put(to, number(stride, scalar_type::int32).nodes[0]);
                std::int16_t const part = put(
                    to, {.op = operation::multiply, .type = scalar_type::int32, .argument_count = 2, .arguments = {one.arguments[at], by}});
                whole = whole < 0
                            ? part
                            : put(to, {.op = operation::add, .type = scalar_type::int32, .argument_count = 2, .arguments = {part, whole}});
            }
            one.arguments = {whole};
            one.argument_count = 1;
        }
        return put(to, one);
    });
}

/// Takes the indices of a tensor that a kernel reads into what is reached of each of its dimensions, from the first index on.
///
/// @return false where the kernel reads beside the tensor, or is none: then the planner says why
inline bool reach(std::vector<std::int64_t>& reached, std::vector<ir::node> const& kernel, ir::label const& tensor) {
    auto const reads = [&](ir::node const& one) { return one.op == operation::access && one.name == tensor; };
    if (std::none_of(kernel.begin(), kernel.end(), reads)) return true;
    computation_view const nodes{kernel.data(), static_cast<int>(kernel.size())};
    for (int first = 0, next = 0; first < nodes.count; first = next) {
        ir::stage stage;
        if (read_stage(nodes, first, stage)) return false;
        next = stage.store + 1;
        for (int at = first; at < stage.store; ++at) {
            if (!reads(nodes[at])) continue;
            if (is_padded(nodes, at) || nodes[at].argument_count != static_cast<int>(reached.size())) return false;
            for (int dimension = 0; dimension < nodes[at].argument_count; ++dimension) {
                std::int64_t& most = reached[static_cast<std::size_t>(dimension)];
                most = std::max(most, range_of(index_of(nodes, stage, at, dimension), stage).most + 1);
            }
        }
    }
    return true;
}

/// The kernels that have each tensor, by its name: a network may have thousands of both.
inline std::map<std::string, std::vector<layer const*>> readers_of(std::vector<layer> const& all) {
    std::map<std::string, std::vector<layer const*>> made;
    for (layer const& one : all) {
        for (ir::node const& node : one.nodes) {
            if (node.op != operation::access) continue;
            std::vector<layer const*>& readers = made[node.name.str()];
            if (readers.empty() || readers.back() != &one) readers.push_back(&one);
        }
    }
    return made;
}

/// A program takes the extents of what the caller gives from what kernels read. Where no kernel reads to the end of a dimension, rows would
/// be too short. Then all kernels read that tensor by one index.
inline void keep_rows(layers& of, stored& tensor) {
    std::vector<std::int64_t> reached(tensor.extents.size(), 0);
    for (layer const& one : of.all) {
        if (!reach(reached, one.nodes, tensor.name)) return;
    }
    if (reached.size() < 2 || std::equal(reached.begin() + 1, reached.end(), tensor.extents.begin() + 1)) return;
    for (layer& one : of.all) read_flat(one.nodes, tensor);
    std::int64_t count = 1;
    for (std::int64_t const extent : tensor.extents) count *= extent;
    tensor.extents = {count};
}

/// A program takes the extents of constants in the same way: what no kernel reaches is left out.
///
/// @param reached  what `reach` has found
inline void leave_out_unreached(known_tensor& constant, std::vector<std::int64_t> const& reached) {
    std::vector<std::int64_t>& extents = constant.what.extents;
    bool is_part = reached != extents;
    for (std::size_t at = 0; at < reached.size(); ++at) is_part = is_part && reached[at] > 0 && reached[at] <= extents[at];
    if (!is_part) return;
    std::size_t const size = static_cast<std::size_t>(bytes_of(constant.what.type));
    std::vector<std::byte> kept;
    for (std::size_t at = 0; at * size < constant.bytes.size(); ++at) {
        std::int64_t rest = static_cast<std::int64_t>(at);
        bool inside = true;
        for (std::size_t dimension = extents.size(); dimension-- > 0; rest /= extents[dimension])
            inside = inside && rest % extents[dimension] < reached[dimension];
        auto const first = constant.bytes.begin() + static_cast<std::ptrdiff_t>(at * size);
        if (inside) kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(size));
    }
    constant.bytes = std::move(kept);
    extents = reached;
}

}  // namespace detail

}  // namespace tilewright::imported
