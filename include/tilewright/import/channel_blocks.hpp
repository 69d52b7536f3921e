#pragma once
#include <map>
#include <optional>
#include <tilewright/import/contraction.hpp>
#include <tilewright/import/value.hpp>

// Channels in blocks: those that stay apart, as in a depthwise convolution, for instructions that sum over channels; and filters, for
// instructions that take the weights of some filters from one piece of memory.
namespace tilewright::imported {

/// Weights whose channels are in blocks. Those of channels that stay apart are summed over a block: all are 0 but where a channel reads
/// itself.
struct channel_blocks {
    int dimension = 0;      ///< of the weights, that of the channels: it becomes (block, channel that is read, channel that is made)
    std::int64_t size = 0;  ///< channels of a block; it divides the number of channels
    bool summed = true;     ///< otherwise it becomes (block, channel that is made)

    /// Extents of the weights of blocks.
    std::vector<std::int64_t> extents(std::vector<std::int64_t> const& of_weights) const {
        std::vector<std::int64_t> made = of_weights;
        auto const at = made.begin() + dimension;
        *at /= size;
        made.insert(at + 1, summed ? 2 : 1, size);
        return made;
    }
    /// The weights of blocks, row by row.
    ///
    /// @param element  bytes of one
    std::vector<std::byte> bytes(std::vector<std::byte> const& of_weights, std::vector<std::int64_t> const& extents_of_weights,
                                 std::size_t element) const {
        if (!summed) return of_weights;
        std::size_t inner = element;
        for (std::size_t at = static_cast<std::size_t>(dimension) + 1; at < extents_of_weights.size(); ++at)
            inner *= static_cast<std::size_t>(extents_of_weights[at]);
        auto const block = static_cast<std::size_t>(size);
        std::vector<std::byte> made(of_weights.size() * block);
        for (std::size_t from = 0, channel = 0; from < of_weights.size(); from += inner, ++channel) {
            std::size_t const place = channel % block, first = channel - place;
            std::copy_n(of_weights.begin() + static_cast<std::ptrdiff_t>(from), inner,
                        made.begin() + static_cast<std::ptrdiff_t>(((first + place) * block + place) * inner));
        }
        return made;
    }
};

namespace detail {

/// Rewrites a layer so that its channels are in blocks. One that moves the data, too, becomes a sum over those of its block.
class block_writer {
  public:
    /// @param channel  of the result: what moves in the weights
    block_writer(layer const& of, contraction const& what, contracted_loop const& channel, std::int64_t size)
        : of_(of),
          what_(what),
          nodes_(nodes_of(of)),
          size_(size),
          blocks_(channel.extent / size),
          channel_(channel.name),
          is_summed_(channel.in_data != 0) {
        in_sums_ = what.in_sums(channel_);
        block_ = with_ending(channel_, "_b"), block_in_sums_ = what.in_sums(block_);
        read_ = with_ending(in_sums_, "_k");
        read_stage(nodes_, 0, sums_);
    }
    /// @param weights  what the weights of blocks are called
    /// @param blocks   is given which dimension of the weights is that of the channels
    /// @return nothing where an index has another form, or more dimensions or axes would be needed than there can be
    std::optional<layer> written(ir::label const& weights, channel_blocks& blocks) {
        layer made = of_;
        bool fits = true;
        made.nodes = pruned(rewritten(of_.nodes, [&](std::vector<ir::node>& to, ir::node one, int at) {
            if (one.op == operation::axis_value && (one.name == channel_ || one.name == in_sums_)) return whole_channel(to, one.name);
            if (is_summed_ && one.op == operation::reduce_sum && at < sums_.store) {
                fits = fits && one.argument_count < max_rank;
                if (fits) one.arguments[one.argument_count++] = put(to, axis(read_, size_));
            }
            if (one.op != operation::access) return put(to, one);
            bool const is_weights = one.name == what_.weights;
            if (is_summed_ && one.name == what_.data) {
                for (int argument = 0; argument < one.argument_count; ++argument)
                    one.arguments[argument] = as_read(to, nodes_[at].argument(argument));
            } else if (is_weights || one.name == what_.sums || one.name == what_.result) {
                int const moved = moved_argument(at);
                fits = fits && moved >= 0 && one.argument_count + (is_weights && is_summed_ ? 2 : 1) <= max_rank;
                if (!fits) return put(to, one);
                parts const own = parts_.at(one.arguments[moved]);
                std::vector<std::int16_t> indices{own.block, own.channel};
                if (is_weights && is_summed_) indices = {own.block, put(to, axis(read_, size_)), own.channel};
                expand(one, moved, indices);
                if (is_weights) blocks = {moved, size_, is_summed_}, one.name = weights;
            }
            return put(to, one);
        }));
        made.rescaled.reset();  // a channel is no loop any more
        return fits ? std::optional(made) : std::nullopt;
    }

  private:
    struct parts {
        std::int16_t block = 0, channel = 0;
    };
    static ir::node axis(ir::label const& name, std::int64_t extent) { return along(name, extent).nodes[0]; }
    /// block * size + another axis.
    std::int16_t in_block(std::vector<ir::node>& to, std::int16_t block, std::int16_t within) const {
        std::int16_t const by = put(to, number(size_, scalar_type::int32).nodes[0]);
        ir::node both{.op = operation::multiply, .type = scalar_type::int32, .argument_count = 2, .arguments = {block, by}};
        std::int16_t const first = put(to, both);
        both.op = operation::add, both.arguments = {first, within};
        return put(to, both);
    }
    std::int16_t whole_channel(std::vector<ir::node>& to, ir::label const& name) {
        std::int16_t const block = put(to, axis(name == channel_ ? block_ : block_in_sums_, blocks_)), channel = put(to, axis(name, size_));
        std::int16_t const whole = in_block(to, block, channel);
        parts_[whole] = {block, channel};
        return whole;
    }
    /// An index of the data, where another channel of the block is read.
    std::int16_t as_read(std::vector<ir::node>& to, int at) const {
        return put_copy(to, nodes_, at, [&](std::vector<ir::node>& put_to, ir::node const& one) {
            if (one.name != in_sums_) return put(put_to, one);
            std::int16_t const block = put(put_to, axis(block_in_sums_, blocks_)), channel = put(put_to, axis(read_, size_));
            return in_block(put_to, block, channel);
        });
    }
    /// The one index of an access that is the channel; -1: there is none, or it stands in another one as well.
    int moved_argument(int access) const {
        int found = -1;
        for (int argument = 0; argument < nodes_[access].argument_count; ++argument) {
            ir::node const& index = nodes_[nodes_[access].argument(argument)];
            if (index.op != operation::axis_value || (index.name != channel_ && index.name != in_sums_)) continue;
            if (found >= 0) return -1;
            found = argument;
        }
        return found;
    }
    static void expand(ir::node& one, int argument, std::vector<std::int16_t> const& indices) {
        int const more = static_cast<int>(indices.size()) - 1;
        for (int at = one.argument_count; at-- > argument + 1;) one.arguments[at + more] = one.arguments[at];
        for (int at = 0; at <= more; ++at) one.arguments[argument + at] = indices[static_cast<std::size_t>(at)];
        one.argument_count = static_cast<std::int8_t>(one.argument_count + more);
    }

    layer const& of_;
    contraction const& what_;
    computation_view nodes_;
    std::int64_t size_, blocks_;
    ir::label channel_, in_sums_, block_, block_in_sums_, read_;
    bool is_summed_;
    ir::stage sums_;
    std::map<std::int16_t, parts> parts_ = {};  ///< of a whole channel, by its node
};

}  // namespace detail
}  // namespace tilewright::imported
