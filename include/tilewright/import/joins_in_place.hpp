#pragma once
#include <functional>
#include <iterator>
#include <set>
#include <tilewright/import/place_layers.hpp>
#include <tilewright/import/rows.hpp>

// Concatenations that nobody copies: the kernels that make the operands write parts of the result.
namespace tilewright::imported {

namespace detail {

/// A kernel that puts tensors after each other along a dimension of its result.
struct join_kernel {
    struct operand {
        ir::label tensor = {};            ///< empty: it is computed of others
        int element = 0;                  ///< the node that is chosen
        std::int64_t begin = 0, end = 0;  ///< indices of the result along the dimension
        bool is_whole = false;            ///< it is all of its tensor, whose dimensions are those of the result
        std::int64_t count() const { return end - begin; }
    };
    ir::stage stage = {};
    int dimension = 0;
    std::vector<operand> operands = {};
};

/// Whether a join reads all of a tensor, index by index, where it chooses it.
inline bool takes_whole(computation_view nodes, join_kernel const& of, join_kernel::operand const& one,
                        std::vector<std::int64_t> const& extents) {
    ir::node const& access = nodes[one.element];
    if (access.op != operation::access || access.argument_count != of.stage.rank || static_cast<int>(extents.size()) != of.stage.rank)
        return false;
    for (int dimension = 0; dimension < of.stage.rank; ++dimension) {
        ir::stage_index const index = index_of(nodes, of.stage, one.element, dimension);
        bool const is_joined = dimension == of.dimension;
        std::int64_t const extent = is_joined ? one.count() : of.stage.axes[dimension].extent;
        if (!index.affine || index.beyond != 0 || extents[static_cast<std::size_t>(dimension)] != extent) return false;
        bool moves_alone = index.coefficients[dimension] == 1 && index.constant == (is_joined ? -one.begin : 0);
        bool stays = extent == 1 && index.coefficients[dimension] == 0 && index.constant == 0;
        for (int axis = 0; axis < of.stage.axis_count; ++axis) {
            if (axis != dimension && index.coefficients[axis] != 0) moves_alone = stays = false;
        }
        if (!moves_alone && !stays) return false;
    }
    return true;
}
/// A layer as such a kernel: it chooses one tensor below an index of a dimension, another one below the next, and so on.
inline std::optional<join_kernel> join_of(layer const& of, tensor_shapes const& shapes) {
    auto const stage = last_stage_of(of);
    if (!stage || stage->first != 0 || stage->reduces() || stage->rank != stage->axis_count) return std::nullopt;
    computation_view const nodes = nodes_of(of);
    join_kernel made{*stage, -1};
    std::int64_t begin = 0;
    int at = stage->body;
    auto const add = [&](int element, std::int64_t end) {
        if (end <= begin) return false;
        made.operands.push_back({nodes[element].op == operation::access ? nodes[element].name : ir::label(), element, begin, end});
        begin = end;
        return true;
    };
    while (nodes[at].op == operation::select) {
        ir::node const &chosen = nodes[at], &below = nodes[chosen.argument(0)];
        if (below.op != operation::less) return std::nullopt;
        ir::node const &index = nodes[below.argument(0)], &end = nodes[below.argument(1)];
        if (index.op != operation::axis_value || end.op != operation::constant) return std::nullopt;
        int const axis = stage->find(index.name);
        if (made.dimension < 0) made.dimension = axis;
        if (axis != made.dimension || !add(chosen.argument(1), end.value)) return std::nullopt;
        at = chosen.argument(2);
    }
    if (made.dimension < 0 || !add(at, stage->axes[made.dimension].extent)) return std::nullopt;
    for (join_kernel::operand& one : made.operands) {
        auto const known = shapes.find(one.tensor.str());
        one.is_whole = known != shapes.end() && of.parts.count(one.tensor.str()) == 0 && takes_whole(nodes, made, one, known->second);
    }
    return made;
}
/// A kernel that copies some neighbouring operands of a join to their part of the result.
inline layer copy_of_operands(layer const& of, join_kernel const& join, std::size_t first, std::size_t last, ir::label const& name) {
    computation_view const nodes = nodes_of(of);
    ir::stage_axis const& along_it = join.stage.axes[join.dimension];
    std::int64_t const begin = join.operands[first].begin;
    std::vector<value> indices;
    for (int axis = 0; axis < join.stage.rank; ++axis) {
        bool const is_joined = axis == join.dimension;
        std::int64_t const extent = is_joined ? join.operands[last].end - begin : join.stage.axes[axis].extent;
        indices.push_back(along(join.stage.axes[axis].name, extent));
    }
    value const& here = indices[static_cast<std::size_t>(join.dimension)];
    value made;
    for (std::size_t at = last + 1; at-- > first;) {
        join_kernel::operand const& one = join.operands[at];
        // An index of the result is so much more than one of its part.
        value read;
        put_copy(read.nodes, nodes, one.element, [&](std::vector<ir::node>& to, ir::node const& axis) {
            if (axis.name != along_it.name) return put(to, axis);
            return append(to, begin == 0 ? here.nodes : (here + number(begin, scalar_type::int32)).nodes);
        });
        if (first == last && one.is_whole) read = element(one.tensor, read.type(), indices);  // it is never outside
        made = made.nodes.empty() ? read : choose(here < number(one.end - begin, scalar_type::int32), read, made);
    }
    layer copy{name};
    copy.nodes = stage_of(element(join.stage.output, join.stage.type, indices), made);
    copy.made_for = of.made_for;
    copy.parts = of.parts;
    for (auto one = copy.parts.begin(); one != copy.parts.end();)
        one = accesses(copy, ir::label(one->first.c_str())) ? std::next(one) : copy.parts.erase(one);
    std::vector<std::int64_t>& place = copy.parts[join.stage.output.str()];
    place.resize(static_cast<std::size_t>(join.stage.rank), 0);
    place[static_cast<std::size_t>(join.dimension)] += begin;
    return copy;
}

/// Lets kernels write parts of what they make for a join.
class join_writer {
  public:
    /// @param stays  whether a kernel or a tensor of this name stays as it is
    join_writer(layers of, std::function<bool(ir::label const&)> stays)
        : of_(std::move(of)), shapes_(shapes_of(of_)), stays_(std::move(stays)) {
        for (auto const* const all : {&of_.inputs, &of_.outputs}) {
            for (stored const& one : *all) given_.insert(one.name.str());
        }
        for (known_tensor const& one : of_.constants) given_.insert(one.what.name.str());
        for (state const& one : of_.states) kept_.insert(of_.outputs[one.output].name.str());
    }
    layers written() && {
        for (std::size_t at = 0; at < of_.all.size();) {
            auto const join = stays_(of_.all[at].name) ? std::nullopt : join_of(of_.all[at], shapes_);
            at += join && kept_.count(join->stage.output.str()) == 0 ? write(at, *join) : 1;
        }
        return std::move(of_);
    }

  private:
    using moved_operands = std::vector<bool>;

    bool writes(layer const& of, ir::label const& tensor) const { return of.nodes.back().name == tensor; }
    /// Whether its kernels can write an operand elsewhere, and others read it there.
    bool can_move(std::size_t join_at, join_kernel const& join, std::size_t which) const {
        join_kernel::operand const& one = join.operands[which];
        if (!one.is_whole || given_.count(one.tensor.str()) != 0 || stays_(one.tensor)) return false;
        auto const is_it = [&](join_kernel::operand const& other) { return other.tensor == one.tensor; };
        if (std::count_if(join.operands.begin(), join.operands.end(), is_it) != 1) return false;
        bool is_made = false;
        for (std::size_t at = 0; at < of_.all.size(); ++at) {
            if (at == join_at || !accesses(of_.all[at], one.tensor)) continue;
            is_made = is_made || writes(of_.all[at], one.tensor);
            if (at > join_at && writes(of_.all[at], one.tensor)) return false;
            // A kernel has one part of a tensor.
            if (accesses(of_.all[at], join.stage.output)) return false;
        }
        return is_made;
    }
    std::int64_t elements_of(join_kernel::operand const& one) const { return count_of(shapes_.at(one.tensor.str())); }
    /// A kernel that has two of the operands would have two parts of the result: the larger one is moved, and the other one is copied.
    void leave_smaller(std::size_t join_at, join_kernel const& join, moved_operands& moved) const {
        for (std::size_t at = 0; at < of_.all.size(); ++at) {
            if (at == join_at) continue;
            std::optional<std::size_t> kept;
            for (std::size_t which = 0; which < moved.size(); ++which) {
                if (!moved[which] || !accesses(of_.all[at], join.operands[which].tensor)) continue;
                bool const is_larger = kept && elements_of(join.operands[which]) > elements_of(join.operands[*kept]);
                if (kept) moved[is_larger ? *kept : which] = false;
                if (!kept || is_larger) kept = which;
            }
        }
    }
    /// @return how many kernels stand in its place then
    std::size_t write(std::size_t at, join_kernel const& join) {
        moved_operands moved;
        for (std::size_t which = 0; which < join.operands.size(); ++which) moved.push_back(can_move(at, join, which));
        leave_smaller(at, join, moved);
        if (std::find(moved.begin(), moved.end(), true) == moved.end()) return 1;
        layer const whole = of_.all[at];
        of_.all.erase(of_.all.begin() + static_cast<std::ptrdiff_t>(at));
        std::size_t copies = 0;
        for (std::size_t first = 0, end = 0; first < moved.size(); first = end) {
            end = first + 1;
            if (moved[first]) {
                move(join, join.operands[first]);
                continue;
            }
            while (end < moved.size() && !moved[end]) ++end;
            ir::label const name = copies == 0 ? whole.name : with_ending(whole.name, ("p" + std::to_string(copies)).c_str());
            of_.all.insert(of_.all.begin() + static_cast<std::ptrdiff_t>(at + copies++),
                           copy_of_operands(whole, join, first, end - 1, name));
        }
        return copies;
    }
    /// All that have an operand have a part of the result.
    void move(join_kernel const& join, join_kernel::operand const& one) {
        ir::label const& result = join.stage.output;
        auto const rank = static_cast<std::size_t>(join.stage.rank), dimension = static_cast<std::size_t>(join.dimension);
        for (layer& by : of_.all) {
            if (!accesses(by, one.tensor)) continue;
            for (ir::node& node : by.nodes) {
                bool const names_it = (node.op == operation::access || node.op == operation::store) && node.name == one.tensor;
                if (names_it) node.name = result;
            }
            std::vector<std::int64_t> begin(rank, 0);
            if (auto const part = by.parts.find(one.tensor.str()); part != by.parts.end()) begin = part->second, by.parts.erase(part);
            begin[dimension] += one.begin;
            by.parts[result.str()] = begin;
        }
        for (std::optional<view>& seen : of_.tensors) {
            if (!seen || seen->of.name != one.tensor) continue;
            seen->of = {result, join.stage.type, shapes_.at(result.str())};
            seen->first[dimension] += one.begin;
        }
    }

    layers of_;
    tensor_shapes shapes_;
    std::function<bool(ir::label const&)> stays_;
    std::set<std::string> given_ = {}, kept_ = {};  ///< arguments and constants; what the next run finds
};

}  // namespace detail

/// The same network, where the kernels that make the operands of a concatenation write parts of the result, and no kernel copies them.
/// What is an argument or a constant, a part of another tensor, or joined twice is copied, as is what a kernel reads that makes
/// another operand: no kernel has two parts of one tensor. What is kept from run to run has no parts. Dimensions have their order
/// before: see `with_channels_last`. A network of which kernels have parts already stays as it is.
///
/// @param stays  whether a kernel or a tensor of this name stays as it is
inline layers with_joins_in_place(
    layers of, std::function<bool(ir::label const&)> stays = [](ir::label const&) { return false; }) {
    bool const has_parts = std::any_of(of.all.begin(), of.all.end(), [](layer const& one) { return !one.parts.empty(); });
    return has_parts ? of : detail::join_writer(std::move(of), std::move(stays)).written();
}

}  // namespace tilewright::imported
