#pragma once
#include <algorithm>
#include <map>
#include <tilewright/import/contraction.hpp>
#include <tilewright/import/rows.hpp>
#include <tilewright/import/value.hpp>

// Neighbouring loops of a result, or of its sums, that walk all tensors as one loop would: they become one, and the tensors are taken in
// another shape.
namespace tilewright::imported {

/// The extents of tensors, by their names.
using tensor_shapes = std::map<std::string, std::vector<std::int64_t>>;

namespace detail {

/// The extents of what stages make.
inline tensor_shapes shapes_of_stages(std::vector<ir::stage> const& stages) {
    tensor_shapes made;
    for (ir::stage const& one : stages) {
        std::vector<std::int64_t>& extents = made[one.output.str()];
        extents.clear();
        for (int axis = 0; axis < one.rank; ++axis) extents.push_back(one.axes[axis].extent);
    }
    return made;
}

inline void remove_argument(ir::node& from, int argument) {
    for (int at = argument; at + 1 < from.argument_count; ++at) from.arguments[at] = from.arguments[at + 1];
    --from.argument_count;
}
/// A sum over one loop less. @param at  where it stands in `nodes`, whose arguments it has  @param loop  if it sums over it
inline void remove_loop(ir::node& sum, computation_view nodes, int at, ir::label const& loop) {
    for (int argument = 1; argument < nodes[at].argument_count; ++argument) {
        if (nodes[nodes[at].argument(argument)].name == loop) remove_argument(sum, argument);
    }
}

/// Joins two loops of a layer, if it can.
class loop_join {
  public:
    loop_join(layer const& of, tensor_shapes const& shapes)
        : of_(of), nodes_(nodes_of(of)), shapes_(shapes), stages_(stages_of(nodes_)), first_index_(of.nodes.size(), -1) {
        for (auto const& [tensor, extents] : shapes_of_stages(stages_)) shapes_[tensor] = extents;
    }
    /// The layer, where the loops of the result's dimensions `dimension` and `dimension + 1` are one; none, if an index tells them apart.
    std::optional<layer> joined(int dimension) {
        if (stages_.empty() || dimension + 1 >= stages_.back().rank) return std::nullopt;
        reshaped_[stages_.back().output.str()] = dimension;
        for (std::size_t at = stages_.size(); at-- > 0;) {
            if (!read(stages_[at])) return std::nullopt;
        }
        if (!reads_alike()) return std::nullopt;
        ir::stage const& last = stages_.back();
        ir::label const first = last.axes[dimension].name, second = last.axes[dimension + 1].name;
        if (of_.rescaled && (of_.rescaled->channel == first || of_.rescaled->channel == second)) return std::nullopt;
        layer made = of_;
        made.nodes = rewritten_nodes();
        for (inner_stage& stage : made.inner) {
            if (stage.loop == second) stage.loop = first;
        }
        return made;
    }
    /// The layer, where two neighbouring loops that its first stage sums over are one; none, if an index tells any two apart.
    std::optional<layer> joined_sums() {
        if (stages_.empty()) return std::nullopt;
        ir::stage const& of = stages_.front();
        for (int axis = of.rank; axis + 1 < of.axis_count; ++axis) {
            reshaped_.clear(), joined_extents_.clear();
            std::fill(first_index_.begin(), first_index_.end(), -1);
            if (!moved_as_one(of, of.axes[axis], of.axes[axis + 1]) || reshaped_.empty() || !reads_alike()) continue;
            summed_ = of.axes[axis + 1].name;
            layer made = of_;
            made.nodes = rewritten_nodes();
            return made;
        }
        return std::nullopt;
    }
    /// The tensors, not of its own, that it takes in another shape then: a dimension of each becomes one with the next.
    std::map<std::string, int> reshaped() const {
        std::map<std::string, int> made = reshaped_;
        for (inner_stage const& own : of_.inner) made.erase(own.result.str());
        return made;
    }

  private:
    int& first_index_at(int node) { return first_index_[static_cast<std::size_t>(node)]; }
    bool is_axis(int node, ir::label const& name) const { return nodes_[node].op == operation::axis_value && nodes_[node].name == name; }

    /// Whether all accesses of a tensor take it in the other shape.
    bool reads_alike() {
        for (int at = 0; at < nodes_.count; ++at) {
            ir::node const& one = nodes_[at];
            auto const known = reshaped_.find(one.name.str());
            if (one.op == operation::access && known != reshaped_.end() && known->second != first_index_at(at)) return false;
        }
        return true;
    }
    /// Reads a stage whose result is reshaped. @return whether its loops can be joined so
    bool read(ir::stage const& of) {
        auto const result = reshaped_.find(of.output.str());
        return result == reshaped_.end() || moved_as_one(of, of.axes[result->second], of.axes[result->second + 1]);
    }
    /// Finds the accesses of a stage that both loops move, and no more than them. @return whether there is nothing else that they move
    bool moved_as_one(ir::stage const& of, ir::stage_axis const& first, ir::stage_axis const& second) {
        joined_extents_[first.name.str()] = first.extent * second.extent;
        for (int at = of.first; at <= of.store; ++at) {
            ir::node const& one = nodes_[at];
            if (one.op == operation::constant || one.op == operation::axis_value) continue;
            bool const names_its_loops = at < of.store && one.op == of.reduction && first.reduction;
            for (int argument = names_its_loops ? one.argument_count : 0; argument < one.argument_count; ++argument) {
                bool const is_first = is_axis(one.argument(argument), first.name);
                if (!is_first && !is_axis(one.argument(argument), second.name)) continue;
                if (!is_first) {
                    if (first_index_at(at) < 0 || argument != first_index_at(at) + 1) return false;
                    continue;
                }
                if (one.op != operation::access || first_index_at(at) >= 0 || argument + 1 >= one.argument_count ||
                    !is_axis(one.argument(argument + 1), second.name) || !takes_all(of, at))
                    return false;
                first_index_at(at) = argument;
                if (reshaped_.emplace(one.name.str(), argument).first->second != argument) return false;
            }
        }
        return true;
    }
    /// Whether the loops of a stage take every element of a tensor.
    bool takes_all(ir::stage const& of, int access) const {
        auto const found = shapes_.find(nodes_[access].name.str());
        if (found == shapes_.end() || found->second.size() != static_cast<std::size_t>(nodes_[access].argument_count)) return false;
        for (int argument = 0; argument < nodes_[access].argument_count; ++argument) {
            ir::stage_index const index = index_of(nodes_, of, access, argument);
            index_range const range = range_of(index, of);
            if (!index.affine || range.least > 0 || range.most < found->second[static_cast<std::size_t>(argument)] - 1) return false;
        }
        return true;
    }
    std::vector<ir::node> rewritten_nodes() {
        return pruned(rewritten(of_.nodes, [&](std::vector<ir::node>& to, ir::node one, int at) {
            auto const extent = joined_extents_.find(one.name.str());
            if (one.op == operation::axis_value && extent != joined_extents_.end()) one.value = extent->second;
            if (first_index_at(at) >= 0) remove_argument(one, first_index_at(at) + 1);
            if (one.op == operation::reduce_sum) remove_loop(one, nodes_, at, summed_);
            return put(to, one);
        }));
    }

    layer const& of_;
    computation_view nodes_;
    tensor_shapes shapes_;
    std::vector<ir::stage> stages_;
    std::vector<int> first_index_;                             ///< of each access: the first of the two indices that become one; -1: none
    std::map<std::string, int> reshaped_ = {};                 ///< tensors, and which of their dimensions becomes one with the next
    std::map<std::string, std::int64_t> joined_extents_ = {};  ///< of the loops that stay
    ir::label summed_ = {};                                    ///< the loop of the sums that goes; empty: none
};

}  // namespace detail
}  // namespace tilewright::imported
