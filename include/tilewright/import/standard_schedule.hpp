#pragma once
#include <concepts>
#include <functional>
#include <set>
#include <tilewright/import/channel_blocks.hpp>
#include <tilewright/import/joined_taps.hpp>
#include <tilewright/import/numbers_as_tensors.hpp>
#include <tilewright/import/value.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <utility>

// Standard schedules: how the kernels of a network that a machine has an answer for run on it.
namespace tilewright::imported {

namespace detail {

inline loop_name named(ir::label const& loop) {
    loop_name made;
    made.name = loop;
    return made;
}

/// `reorder` of a list of loops.
template <std::size_t... At>
void reorder(schedule& made, std::vector<ir::label> const& loops, std::index_sequence<At...>) {
    made.reorder(named(loops[0]), named(loops[At + 1])...);
}
inline void reorder(schedule& made, std::vector<ir::label> const& loops) {
    auto const of_size = [&]<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
        if (loops.size() == Count + 1) reorder(made, loops, std::make_index_sequence<Count>());
    };
    [&]<std::size_t... Count>(std::index_sequence<Count...>) { (of_size(std::integral_constant<std::size_t, Count + 1>()), ...); }
    (std::make_index_sequence<2 * ir::stage::most_axes>());
}

/// `tensorize` of a list of loops.
inline void tensorize(schedule& made, std::vector<ir::label> const& loops, intrinsic_description const& by) {
    auto const by_all = [&]<std::size_t... At>(std::index_sequence<At...>) { made.tensorize(named(loops[At])..., by); };
    auto const of_size = [&]<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
        if (loops.size() == Count) by_all(std::make_index_sequence<Count>());
    };
    [&]<std::size_t... Count>(std::index_sequence<Count...>) { (of_size(std::integral_constant<std::size_t, Count + 1>()), ...); }
    (std::make_index_sequence<ir::stage::most_axes>());
}

}  // namespace detail

/// A layer as a template sees it: what it computes, and which of its tensors are constants.
class layer_shape {
  public:
    /// @param shapes  of the tensors of the network that are no constants
    layer_shape(layer of, std::vector<stored> const& constants, tensor_shapes const& shapes) : of_(std::move(of)), constants_(&constants) {
        for (ir::node const& one : of_.nodes) {
            auto const found = shapes.find(one.name.str());
            if (one.op == operation::access && found != shapes.end()) shapes_.insert(*found);
        }
    }

    layer const& what() const { return of_; }
    computation_view nodes() const { return detail::nodes_of(of_); }
    bool is_constant(ir::label const& tensor) const {
        return find(tensor) != nullptr ||
               std::any_of(made_.begin(), made_.end(), [&](known_tensor const& one) { return one.what.name == tensor; }) ||
               std::any_of(reordered_.begin(), reordered_.end(), [&](reordered_constant const& one) { return one.name == tensor; });
    }
    /// Where sums are multiplied by one, the ones are what is moved over, and the elements are the weights.
    std::optional<contraction> as_contraction() const {
        return contraction_of(of_, [&](ir::label const& tensor) { return ones_.empty() ? is_constant(tensor) : tensor != ones_; });
    }
    /// Sums start from 0, and what they started from is added afterwards.
    void start_from_zero() { of_ = starting_from_zero(of_), changes_.emplace_back("start_from_zero()"); }
    /// Sums are a stage of their own, even where the result is no more than they are.
    void keep_sums_apart() { of_ = with_sums_apart(of_), changes_.emplace_back("keep_sums_apart()"); }
    /// Loops of neighbouring dimensions of the result become one wherever they walk all tensors as one would: the pixels of a convolution
    /// by a filter of one pixel. Tensors are then taken in another shape: see `program::reshapes`.
    /// @return whether there are such loops
    bool join_loops() {
        if (!of_.parts.empty()) return false;
        bool joins = false;
        for (int dimension = 0; dimension < max_rank;) {
            detail::loop_join one(of_, shapes_);
            auto made = one.joined(dimension);
            if (!made) {
                ++dimension;
                continue;
            }
            for (auto const& [tensor, at] : one.reshaped()) join_extents(tensor, at);
            of_ = std::move(*made), joins = true;
        }
        if (joins) changes_.emplace_back("join_loops()");
        return joins;
    }
    /// Likewise with loops that are summed over: the rows and columns of a mean over an image.
    bool join_sums() {
        bool joins = false;
        while (of_.parts.empty()) {
            detail::loop_join one(of_, shapes_);
            auto made = one.joined_sums();
            if (!made) break;
            for (auto const& [tensor, at] : one.reshaped()) join_extents(tensor, at);
            of_ = std::move(*made), joins = true;
        }
        if (joins) changes_.emplace_back("join_sums()");
        return joins;
    }
    /// The stage that makes the sums has one more loop, of one iteration.
    void add_unit_loop() { of_ = with_unit_loop(of_), changes_.emplace_back("add_unit_loop()"); }
    /// Likewise, and so has the result, which gets a first dimension of one element. @return whether it has room for that
    bool add_unit_loop_to_all() {
        ir::label const result = of_.nodes.back().name;
        auto const shape = shapes_.find(result.str());
        if (!of_.parts.empty() || of_.inner.size() != 1 || shape == shapes_.end() || shape->second.size() >= max_rank) return false;
        of_ = with_unit_loop(of_, true);
        shape->second.insert(shape->second.begin(), 1);
        reshaped_.insert(result.str());
        changes_.emplace_back("add_unit_loop_to_all()");
        return true;
    }
    /// The channels of the result are in blocks of `size`, which divides them: two loops, and two dimensions of the result and of constant
    /// weights. Channels that stay apart are summed over their block, by weights that are 0 but where a channel reads itself.
    /// @return whether it is such a layer, with room for the dimensions
    bool put_channels_in_blocks(std::int64_t size) {
        auto const what = as_contraction();
        stored const* const weights = what ? find(what->weights) : nullptr;
        if (weights == nullptr || !of_.parts.empty()) return false;
        auto const& channels = what->n.empty() ? what->batch : what->n;
        if (channels.empty() || channels.back().extent % size != 0 || what->adds()) return false;
        contracted_loop const& channel = channels.back();
        ir::label const name = detail::with_ending(what->weights, ("_blocks" + std::to_string(size)).c_str());
        channel_blocks blocks;
        auto made = detail::block_writer(of_, *what, channel, size).written(name, blocks);
        if (!made) return false;
        add_rewritten({what->weights, name, {}, blocks}, weights->extents.size() + (blocks.summed ? 2 : 1));
        of_ = std::move(*made);
        reshaped_.insert(what->result.str());
        changes_.push_back("put_channels_in_blocks(" + std::to_string(size) + ")");
        return true;
    }
    /// Sums of elements become sums of products by a constant of ones. @return whether it is such a layer
    bool multiply_by_one() {
        stored ones;
        ones.name = own_name("_ones");
        auto made = multiplied_by(of_, ones);
        if (!made || (ones.type != scalar_type::int8 && ones.type != scalar_type::float32)) return false;
        std::size_t count = 1;
        for (std::int64_t const extent : ones.extents) count *= static_cast<std::size_t>(extent);
        std::vector<std::byte> bytes;
        for (; count > 0; --count) {
            if (ones.type == scalar_type::int8) bytes.push_back(std::byte{1});
            else bytes.insert(bytes.end(), {std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}});
        }
        made_.emplace_back(ones, std::move(bytes));
        ones_ = ones.name;
        of_ = std::move(*made);
        changes_.emplace_back("multiply_by_one()");
        return true;
    }
    /// The columns of a window and the channels of constant weights, which follow each other in both operands, are summed as one loop.
    /// @return whether there are such loops, and the layer reads all of its data
    bool join_taps() {
        auto const what = as_contraction();
        stored const* const weights = what ? find(what->weights) : nullptr;
        if (weights == nullptr || !of_.parts.empty()) return false;
        detail::tap_join const join(of_, *what, shapes_);
        auto const found = join.find();
        if (!found) return false;
        ir::label const name = detail::with_ending(what->weights, ("_joined" + std::to_string(found->of_weights)).c_str());
        add_rewritten({what->weights, name, {}, {}, found->of_weights}, weights->extents.size() - 1);
        join_extents(what->data.str(), found->of_data);
        of_ = join.joined(*found, name);
        changes_.emplace_back("join_taps()");
        return true;
    }
    /// What is computed of sums becomes `rescaled_bytes` of tensors, or `scaled_bytes` where scales are floats: numbers for each channel,
    /// and limits and zero point of one element each. @return whether it is such a layer: see `layer::rescaled`
    bool finish_by_tensors() {
        auto made = detail::finished_by_tensors(
            of_, [&](std::string const& ending, auto const& numbers) { return make_constant(ending, numbers); });
        return made ? changed(std::move(*made), "finish_by_tensors()") : false;
    }
    /// What is computed of two elements becomes `added_bytes` of them and of tensors of int32 with one element each.
    /// @return whether it is such a layer: see `layer::added`
    bool add_by_tensors() {
        auto made =
            detail::added_by_tensors(of_, [&](std::string const& ending, auto const& numbers) { return make_constant(ending, numbers); });
        return made ? changed(std::move(*made), "add_by_tensors()") : false;
    }
    /// Dimension d of a constant is its dimension `order[d]` from here on: the tool writes it so.
    /// @throws std::invalid_argument  where the tensor is no constant, or `order` has not each of its dimensions once
    void reorder(ir::label const& constant, std::vector<int> const& order) {
        auto const rewritten = std::find_if(reordered_.begin(), reordered_.end(), [&](reordered_constant const& one) {
            return (one.blocks || one.joined >= 0) && one.name == constant;
        });
        bool const is_rewritten = rewritten != reordered_.end();
        stored const* const found = find(constant);
        if (found == nullptr && !is_rewritten) throw std::invalid_argument("`" + constant.str() + "` is no constant");
        std::vector<bool> there(is_rewritten ? rewritten->order.size() : found->extents.size(), false);
        for (int const one : order) {
            if (one >= 0 && static_cast<std::size_t>(one) < there.size()) there[static_cast<std::size_t>(one)] = true;
        }
        if (order.size() != there.size() || std::count(there.begin(), there.end(), false) != 0)
            throw std::invalid_argument("an order of `" + constant.str() + "` that has not each dimension once");
        if (std::is_sorted(order.begin(), order.end())) return;
        std::string name = constant.str() + "_";
        for (int const one : order) name += static_cast<char>('0' + one);
        of_ = reading_reordered(of_, constant, ir::label(name.c_str()), order);
        if (is_rewritten) rewritten->name = ir::label(name.c_str()), rewritten->order = order;
        else reordered_.push_back({constant, ir::label(name.c_str()), order, {}});
        std::string text;
        for (int const one : order) text += (text.empty() ? "" : ", ") + std::to_string(one);
        changes_.push_back("reorder(\"" + constant.str() + "\", {" + text + "})");
    }

    /// A constant in another order, after one of the other changes, if any.
    struct reordered_constant {
        ir::label from, name;
        std::vector<int> order;
        std::optional<channel_blocks> blocks{};
        int joined = -1;  ///< this dimension and the next are one
    };
    std::vector<reordered_constant> const& reordered() const { return reordered_; }
    /// Tensors that it takes in another shape than they have in the network.
    std::set<std::string> const& reshaped() const { return reshaped_; }
    /// The shapes of its tensors that are no constants, as it takes them.
    tensor_shapes const& shapes() const { return shapes_; }
    /// Constants that the network does not have by itself.
    std::vector<known_tensor> const& made_constants() const { return made_; }
    /// The calls that have changed it, as C++.
    std::vector<std::string> const& changes() const { return changes_; }

  private:
    /// Two dimensions of a tensor become one.
    void join_extents(std::string const& tensor, int at) {
        std::vector<std::int64_t>& extents = shapes_.at(tensor);
        extents[static_cast<std::size_t>(at)] *= extents[static_cast<std::size_t>(at) + 1];
        extents.erase(extents.begin() + at + 1);
        reshaped_.insert(tensor);
    }
    /// A constant that the layer reads in another form, with so many dimensions; `reorder` may follow.
    void add_rewritten(reordered_constant made, std::size_t rank) {
        for (std::size_t at = 0; at < rank; ++at) made.order.push_back(static_cast<int>(at));
        reordered_.push_back(std::move(made));
    }
    /// The name of a constant that only this layer has; others may make parts of its result. Strips of a layer have the same.
    ir::label own_name(char const* ending) const {
        ir::label const &result = of_.nodes.back().name, &own = of_.parts.count(result.str()) != 0 ? of_.name : result;
        return detail::with_ending(of_.strip_of.empty() ? own : of_.strip_of, ending);
    }
    ir::label make_constant(ir::label const& name, known_tensor of) {
        made_.push_back(std::move(of));
        return made_.back().what.name = name;
    }
    /// A constant that only this layer has.
    ir::label make_constant(std::string const& ending, std::vector<std::int64_t> const& numbers) {
        return make_constant(own_name(ending.c_str()), known_int32(numbers));
    }
    ir::label make_constant(std::string const& ending, std::vector<float> const& numbers) {
        return make_constant(own_name(ending.c_str()), known_float32(numbers));
    }
    bool changed(layer made, char const* by) {
        of_ = std::move(made);
        changes_.emplace_back(by);
        return true;
    }
    stored const* find(ir::label const& tensor) const {
        auto const found = std::find_if(constants_->begin(), constants_->end(), [&](stored const& one) { return one.name == tensor; });
        return found == constants_->end() ? nullptr : &*found;
    }

    layer of_;
    std::vector<stored> const* constants_;
    tensor_shapes shapes_ = {};
    std::set<std::string> reshaped_ = {};
    std::vector<reordered_constant> reordered_ = {};
    std::vector<known_tensor> made_ = {};
    ir::label ones_ = {};  ///< see `multiply_by_one`
    std::vector<std::string> changes_ = {};
};

/// A layer for which schedules are made: it stays where it is, since they point at it.
struct placed_layer {
    layer_shape of;
    machine const* where = nullptr;
    any_of tensors{};       ///< the memories of what is no constant; none: any
    ir::label constants{};  ///< the memory of constants

    /// A part by its name, from a list of the machine. @throws std::invalid_argument  where there is none
    template <class Parts>
    auto const& part(Parts const& all, ir::label const& name, char const* kind) const {
        int const at = all.find(name);
        if (at < 0) throw std::invalid_argument("`" + where->name.str() + "` has no " + kind + " `" + name.str() + "`");
        return all[at];
    }

    /// Whether a tensor that it reads can be in a memory.
    bool may_lie_in(ir::label const& tensor, ir::label const& memory_name) const {
        if (of.is_constant(tensor)) return constants == memory_name;
        for (int at = 0; at < tensors.size(); ++at) {
            if (tensors.names[at] == memory_name) return true;
        }
        return tensors.count == 0;
    }

    /// A schedule without directives. Those that say where arguments and results lie are added afterwards.
    schedule plain() const { return schedule(of.nodes(), *where); }

    memory const& memory_named(ir::label const& name) const { return part(where->memories, name, "memory"); }
    transfer_description const& transfer_named(ir::label const& name) const { return part(where->transfers, name, "transfer"); }
    intrinsic_description const& intrinsic_named(ir::label const& name) const { return part(where->intrinsics, name, "intrinsic"); }
    core const& core_named(ir::label const& name) const { return part(where->cores, name, "core"); }
    any_tensor tensor(ir::label const& name) const { return {name, scalar_type::literal}; }
};

/// Schedules of a layer, of which the one is taken whose plan costs least; or why there are none.
struct candidates {
    std::vector<schedule> all = {};
    std::string none = {};
    double least_cycles = 0;  ///< that the instruction is busy for if it is never idle; 0: not said
};
/// May change the layer, and then makes schedules of it.
using schedule_template = std::function<candidates(placed_layer&)>;

}  // namespace tilewright::imported
