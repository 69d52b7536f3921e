#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <tilewright/import/place_layers.hpp>

// Images of which each channel is a plane, as ONNX has them, become images whose channels follow each other in each pixel.
namespace tilewright::imported {

namespace detail {

/// How a tensor is told from others: what stays in a kernel has the names that it has in other kernels.
inline std::string name_in(layer const& of, ir::label const& tensor) {
    bool const is_inner = std::any_of(of.inner.begin(), of.inner.end(), [&](inner_stage const& one) { return one.result == tensor; });
    return is_inner ? of.name.str() + "." + tensor.str() : tensor.str();
}

/// What a convolution reads as its image, or makes: a dimension of it is that of channels.
struct image {
    std::string layer;
    ir::label tensor;
    int channel = 0;
    bool is_made = false;
};

/// Finds which dimensions of the tensors of a network are channels.
class channel_search {
  public:
    explicit channel_search(layers const& of) {
        for (known_tensor const& one : of.constants) constants_.insert(one.what.name.str());
        for (layer const& one : of.all) read(one);
        for (auto const& [tensor, dimension] : seeds_) are_channels_.insert(root_of(at(tensor, dimension)));
    }
    /// The dimension of a tensor that is one of channels; -1: none is, or there is more than one.
    int channel_of(std::string const& tensor, int rank) {
        int found = -1;
        for (int dimension = 0; dimension < rank; ++dimension) {
            auto const known = numbers_.find({tensor, dimension});
            if (known == numbers_.end() || are_channels_.count(root_of(known->second)) == 0) continue;
            if (found >= 0) return -1;
            found = dimension;
        }
        return found;
    }
    std::vector<image> const& images() const { return images_; }

  private:
    std::size_t at(std::string const& tensor, int dimension) {
        auto const [found, is_new] = numbers_.emplace(std::pair{tensor, dimension}, parents_.size());
        if (is_new) parents_.push_back(parents_.size());
        return found->second;
    }
    std::size_t root_of(std::size_t one) {
        while (parents_[one] != one) one = parents_[one] = parents_[parents_[one]];
        return one;
    }
    void read(layer const& of) {
        computation_view const nodes = nodes_of(of);
        for (ir::stage const& stage : stages_of(nodes)) {
            for (int node = stage.first; node < stage.store; ++node) {
                if (nodes[node].op == operation::access && node != stage.target) link(of, stage, node);
            }
        }
        auto const what = contraction_of(of, [&](ir::label const& tensor) { return constants_.count(tensor.str()) != 0; });
        if (what && constants_.count(what->weights.str()) != 0) seed(of, *what);
    }
    /// A loop of a stage that moves one dimension of what is read, step by step, and nothing else there: it is one dimension in both.
    void link(layer const& of, ir::stage const& stage, int access) {
        computation_view const nodes = nodes_of(of);
        for (int dimension = 0; dimension < nodes[access].argument_count; ++dimension) {
            ir::stage_index const index = index_of(nodes, stage, access, dimension);
            if (!index.affine) continue;
            int axis = -1, count = 0;
            for (int one = 0; one < stage.axis_count; ++one) {
                if (index.coefficients[one] != 0) axis = one, ++count;
            }
            if (count != 1 || axis >= stage.rank || index.coefficients[axis] != 1) continue;
            parents_[root_of(at(name_in(of, nodes[access].name), dimension))] = root_of(at(name_in(of, stage.output), axis));
        }
    }
    /// Images are summed over one loop of channels, or over the window alone. Pixels lie along two dimensions, or are moved over by a
    /// window.
    void seed(layer const& of, contraction const& what) {
        if (what.m.size() < 2 && what.taps.empty()) return;
        auto const place = [&](contracted_loop const& loop) {
            return static_cast<int>(std::find_if(what.all.begin(), what.all.end(), [&](auto const& one) { return one.name == loop.name; }) -
                                    what.all.begin());
        };
        bool const is_whole = what.batch.empty() && what.n.size() == 1, is_apart = what.batch.size() == 1 && what.n.empty();
        if (!is_whole && !is_apart) return;
        contracted_loop const& made = is_whole ? what.n[0] : what.batch[0];
        seeds_.emplace(name_in(of, what.sums), place(made));
        images_.push_back({of.name.str(), what.result, place(made), true});
        unsigned const dimensions = is_apart ? made.in_data : what.k.size() == 1 ? what.k[0].in_data : 0;
        if (dimensions == 0 || (dimensions & (dimensions - 1)) != 0) return;
        int const channel = __builtin_ctz(dimensions);
        if (constants_.count(what.data.str()) != 0) return;
        seeds_.emplace(what.data.str(), channel);
        images_.push_back({of.name.str(), what.data, channel, false});
    }

    std::set<std::string> constants_ = {};
    std::vector<image> images_ = {};
    std::map<std::pair<std::string, int>, std::size_t> numbers_ = {};  ///< of the dimensions of tensors
    std::vector<std::size_t> parents_ = {};                            ///< dimensions that are one have one root
    std::set<std::pair<std::string, int>> seeds_ = {};
    std::set<std::size_t> are_channels_ = {};
};

/// Gives the tensors of a network another order of dimensions.
class channel_mover {
  public:
    explicit channel_mover(layers of) : of_(std::move(of)), shapes_(shapes_of(of_)), search_(of_) {}
    layers moved() && {
        for (auto const* const all : {&of_.inputs, &of_.outputs}) {
            for (stored const& one : *all) given_.insert(one.name.str());
        }
        for (known_tensor const& one : of_.constants) given_.insert(one.what.name.str());
        for (layer const& one : of_.all) find_orders(one);
        for (image const& one : search_.images()) copy(one);
        for (layer& one : of_.all) reorder(one);
        for (std::optional<view>& one : of_.tensors) {
            if (one) reorder(*one);
        }
        return std::move(of_);
    }

  private:
    using order = std::vector<int>;  ///< dimension d is that which was dimension `order[d]`

    static order channels_last(int channel, int rank) {
        order made;
        for (int dimension = 0; dimension < rank; ++dimension) {
            if (dimension != channel) made.push_back(dimension);
        }
        made.push_back(channel);
        return made;
    }
    template <class List>
    static void reorder(List& list, order const& by) {
        using std::begin;
        auto const before = list;
        std::transform(by.begin(), by.end(), begin(list), [&](int from) { return begin(before)[from]; });
    }
    std::string new_name(char const* beginning) const {
        for (int number = 0;; ++number) {
            std::string made = beginning + std::to_string(number);
            ir::label const label(made.c_str());
            bool const is_free = given_.count(made) == 0 && std::none_of(of_.all.begin(), of_.all.end(), [&](layer const& one) {
                                     return one.name == label || accesses(one, label);
                                 });
            if (is_free) return made;
        }
    }
    /// Where the channels of an image do not come last, since it is an argument of the network, or its kernel needs another order of loops,
    /// or another convolution takes another dimension as its channels: this convolution has a copy.
    void copy(image const& of) {
        auto const by = std::find_if(of_.all.begin(), of_.all.end(), [&](layer const& one) { return one.name.str() == of.layer; });
        auto const known = shapes_.find(of.tensor.str());
        if (known == shapes_.end()) return;
        std::vector<std::int64_t> const& extents = known->second;
        int const rank = static_cast<int>(extents.size());
        auto const ordered = orders_.find(of.tensor.str());
        int const last = ordered == orders_.end() ? rank - 1 : ordered->second.back();
        if (of.channel == last) return;
        auto& own = copies_[{of.tensor.str(), of.channel}];
        bool const is_there = !own.empty();
        if (!is_there) own = new_name("last");
        ir::label const name(own.c_str());
        scalar_type type = scalar_type::literal;
        for (ir::node& node : by->nodes) {
            if ((node.op != operation::access && node.op != operation::store) || !(node.name == of.tensor)) continue;
            node.name = name, type = node.type;
        }
        if (is_there) return;
        orders_[own] = channels_last(of.channel, rank);
        std::vector<value> indices;
        for (std::int64_t const extent : extents)
            indices.push_back(along(ir::label(("i" + std::to_string(indices.size())).c_str()), extent));
        value const here = element(of.tensor, type, indices), there = element(name, type, indices);
        layer made{ir::label(new_name("last_k").c_str())};
        made.nodes = of.is_made ? stage_of(here, there) : stage_of(there, here);
        made.made_for = "channels of " + of.tensor.str();
        of_.all.insert(by + (of.is_made ? 1 : 0), std::move(made));
    }
    /// What a kernel makes, and what stays in it.
    void find_orders(layer const& of) {
        std::vector<ir::stage> const stages = stages_of(nodes_of(of));
        if (stages.empty()) return;
        ir::stage const& last = stages.back();
        // A stage that is computed for one iteration of the innermost loop is so in any order of loops. Others would be computed at another
        // one.
        bool const may_move = std::all_of(of.inner.begin(), of.inner.end(), [&](inner_stage const& one) {
            return one.element && last.rank > 0 && one.loop == last.axes[last.rank - 1].name;
        });
        if (!may_move) return;
        for (ir::stage const& one : stages) {
            std::string const tensor = name_in(of, one.output);
            int const channel = search_.channel_of(tensor, one.rank);
            if (given_.count(tensor) == 0 && channel >= 0 && channel < one.rank - 1) orders_[tensor] = channels_last(channel, one.rank);
        }
    }
    void reorder(layer& of) {
        computation_view const before = nodes_of(of);
        std::vector<ir::stage> const stages = stages_of(before);
        // A stage begins with the axes of its target, in their order.
        std::map<int, std::vector<int>> begins;  // by the first of these nodes, those that begin the stage from then on
        for (ir::stage const& one : stages) {
            auto const found = orders_.find(name_in(of, one.output));
            if (found == orders_.end()) continue;
            std::vector<int> axes;
            for (int const dimension : found->second) axes.push_back(before[one.target].argument(dimension));
            begins[*std::min_element(axes.begin(), axes.end())] = axes;
        }
        std::map<int, std::int16_t> moved;  // axes that stand where they belong
        of.nodes = rewritten(of.nodes, [&](std::vector<ir::node>& to, ir::node one, int at) {
            if (auto const found = begins.find(at); found != begins.end()) {
                for (int const axis : found->second) moved[axis] = put(to, before[axis]);
            }
            if (auto const found = moved.find(at); found != moved.end()) return found->second;
            auto const found = one.op == operation::access ? orders_.find(name_in(of, one.name)) : orders_.end();
            if (found != orders_.end()) reorder(one.arguments, found->second);
            return put(to, one);
        });
        if (of.inner.empty() || stages.empty() || orders_.count(name_in(of, stages.back().output)) == 0) return;
        ir::stage const last = stages_of(nodes_of(of)).back();
        for (inner_stage& one : of.inner) one.loop = last.axes[last.rank - 1].name;
    }
    void reorder(view& of) {
        auto const found = orders_.find(of.of.name.str());
        if (found == orders_.end()) return;
        reorder(of.of.extents, found->second), reorder(of.first, found->second);
        for (factors& dimension : of.dimensions) {
            for (factor& one : dimension) reorder(one.steps, found->second);
        }
    }

    layers of_;
    tensor_shapes shapes_;
    channel_search search_;
    std::set<std::string> given_ = {};                                ///< tensors that stay as they are
    std::map<std::pair<std::string, int>, std::string> copies_ = {};  ///< of a tensor and the dimension of its channels
    std::map<std::string, order> orders_ = {};
};

}  // namespace detail

/// The same network, where the channels of images come last in what lies between its kernels. Images are what convolutions by constant
/// weights read and make, and what follows from these element by element. Arguments of the network stay as they are: what a convolution
/// reads or makes there is copied, as is what cannot have them last. A network whose channels come last already stays the same, and so does
/// one of which kernels have parts of tensors.
inline layers with_channels_last(layers of) {
    bool const has_parts = std::any_of(of.all.begin(), of.all.end(), [](layer const& one) { return !one.parts.empty(); });
    return has_parts ? of : detail::channel_mover(std::move(of)).moved();
}

}  // namespace tilewright::imported
