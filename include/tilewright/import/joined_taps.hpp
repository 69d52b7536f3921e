#pragma once
#include <bit>
#include <optional>
#include <tilewright/import/joined_loops.hpp>

// Columns of a window and channels, which follow each other in a row of an image, as one loop: an instruction that sums over more channels
// than there are then sums over columns as well.
namespace tilewright::imported::detail {

/// Joins a tap of a window with the channels.
class tap_join {
  public:
    /// @param shapes  of tensors that are no constants
    tap_join(layer const& of, contraction const& what, tensor_shapes const& shapes)
        : of_(of), what_(what), nodes_(nodes_of(of)), shapes_(shapes) {
        read_stage(nodes_, 0, sums_);
    }
    /// What is joined: none where no tap moves along the dimension before that of the channels, in data and weights, or where the layer
    /// does not read all of the data.
    struct found {
        contracted_loop tap, channel;
        int of_data = 0, of_weights = 0;  ///< the dimension of the tap in each
    };
    std::optional<found> find() const {
        if (what_.k.empty()) return std::nullopt;
        contracted_loop const& channel = what_.k.back();
        for (contracted_loop const& tap : what_.taps) {
            found const made{tap, channel, dimension(tap.in_data), dimension(tap.in_weights)};
            bool const follows = made.of_data >= 0 && made.of_weights >= 0 && dimension(channel.in_data) == made.of_data + 1 &&
                                 dimension(channel.in_weights) == made.of_weights + 1;
            if (follows && fits(made)) return made;
        }
        return std::nullopt;
    }
    /// @param weights  what the weights are called that have one dimension for both
    layer joined(found const& by, ir::label const& weights) const {
        layer made = of_;
        std::int64_t const channels = by.channel.extent;
        made.nodes = pruned(rewritten(of_.nodes, [&](std::vector<ir::node>& to, ir::node one, int at) {
            if (at >= sums_.store) return put(to, one);
            if (one.op == operation::axis_value && one.name == by.channel.name) one.value = by.tap.extent * channels;
            if (one.op == operation::reduce_sum) remove_loop(one, nodes_, at, by.tap.name);
            if (one.op == operation::access && one.name == what_.weights) remove_argument(one, by.of_weights), one.name = weights;
            if (one.op == operation::access && one.name == what_.data) {
                one.arguments[by.of_data + 1] = joined_index(to, at, by);
                remove_argument(one, by.of_data);
            }
            return put(to, one);
        }));
        return made;
    }

  private:
    /// The one dimension along which a loop moves; -1: there are several.
    static int dimension(unsigned moved) { return std::has_single_bit(moved) ? std::countr_zero(moved) : -1; }
    /// Whether both indices are the tap and the channel, and all of the data is read.
    bool fits(found const& by) const {
        auto const of_data = shapes_.find(what_.data.str());
        for (int at = 0; at < sums_.store; ++at) {
            ir::node const& one = nodes_[at];
            if (one.op != operation::access || (one.name != what_.data && one.name != what_.weights)) continue;
            if (one.name == what_.weights) {
                for (int const which : {by.of_weights, by.of_weights + 1}) {
                    if (nodes_[one.argument(which)].op != operation::axis_value) return false;
                }
                continue;
            }
            if (of_data == shapes_.end() || of_data->second.size() != static_cast<std::size_t>(one.argument_count)) return false;
            for (int argument = 0; argument < one.argument_count; ++argument) {
                ir::stage_index const index = index_of(nodes_, sums_, at, argument);
                index_range const range = range_of(index, sums_);
                std::int64_t const extent = of_data->second[static_cast<std::size_t>(argument)];
                if (!index.affine || (!is_padded(nodes_, at) && (range.least > 0 || range.most < extent - 1))) return false;
                if (argument == by.of_data && index.coefficients[sums_.find(by.tap.name)] != 1) return false;
                if (argument == by.of_data + 1 && (range.least != 0 || range.most != extent - 1 || by.channel.extent != extent))
                    return false;
            }
        }
        return true;
    }
    /// The index without the tap, times the channels, plus the loop that is both.
    std::int16_t joined_index(std::vector<ir::node>& to, int access, found const& by) const {
        auto const both = [&](operation op, std::int16_t left, std::int16_t right) {
            return put(to, {.op = op, .type = scalar_type::int32, .argument_count = 2, .arguments = {left, right}});
        };
        int at = nodes_[access].argument(by.of_data);
        std::optional<ir::node> border;
        if (nodes_[at].op == operation::within) border = nodes_[at], at = nodes_[at].argument(0);
        std::int16_t const first = without_tap(to, at, by), channels = put(to, number(by.channel.extent, scalar_type::int32).nodes[0]);
        std::int16_t const loop = put(to, along(by.channel.name, by.tap.extent * by.channel.extent).nodes[0]);
        std::int16_t const index = both(operation::add, both(operation::multiply, first, channels), loop);
        if (!border) return index;
        border->value *= by.channel.extent;
        border->arguments[0] = index;
        return put(to, *border);
    }
    std::int16_t without_tap(std::vector<ir::node>& to, int at, found const& by) const {
        return put_copy(to, nodes_, at, [&](std::vector<ir::node>& put_to, ir::node const& one) {
            return put(put_to, one.name == by.tap.name ? number(std::int64_t{0}, scalar_type::int32).nodes[0] : one);
        });
    }

    layer const& of_;
    contraction const& what_;
    computation_view nodes_;
    tensor_shapes const& shapes_;
    ir::stage sums_;
};

}  // namespace tilewright::imported::detail
