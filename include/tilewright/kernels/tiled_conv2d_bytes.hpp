#pragma once
#include <tilewright/kernels/tiled_conv2d.hpp>

/// Convolutions of bytes with exact sums of 32 bits, for one core with vector registers.
///
/// The image is widened to 16 bits, block by block and with its border; weights stand widened and packed in memory. A multiply-add of pairs
/// then cannot saturate.
namespace tilewright::kernel {

/// The loops of a convolution of bytes with packed weights, and where they read. Terms of the sum go in pairs; where there is an odd number
/// of them, the last one's partner has a weight of 0.
struct packed_conv2d_bytes_loops : packed_conv2d_loops {
    axis pairs, pair, wide_batch, wide_y, wide_row;

    constexpr packed_conv2d_bytes_loops(conv2d_shape const& of, conv2d_packing const& packed)
        : packed_conv2d_loops(of, packed),
          pairs{"pairs", (term.extent + 1) / 2},
          pair{"pair", 2},
          wide_batch{"wide_batch", of.batch},
          wide_y{"wide_y", of.y.extent + of.y.before + of.y.after},
          wide_row{"wide_row", (of.x.extent + of.x.before + of.x.after) * of.channels + term.extent % 2} {}

    /// Of all terms that are neighbours in memory, for the filters of a block.
    constexpr std::int64_t weights_of_run() const { return 2 * pairs.extent * packing.lanes; }
    constexpr std::int64_t weight_count() const {
        return shape.groups * block.extent * pass.extent * shape.y.taps * s.extent * weights_of_run();
    }
    /// Where the weight of a filter for a channel of its group stands. What is at no such place is 0.
    constexpr std::int64_t place_of(std::int64_t filter, std::int64_t channel, std::int64_t at_r, std::int64_t at_s) const {
        std::int64_t const lanes = packing.lanes, depth = packing.depth;
        std::int64_t const run =
            ((filter / lanes * pass.extent + channel / depth) * shape.y.taps + at_r) * s.extent + (joins_taps() ? 0 : at_s);
        std::int64_t const term = channel % depth + (joins_taps() ? at_s * depth : 0);
        return run * weights_of_run() + (term / 2 * lanes + filter % lanes) * 2 + term % 2;
    }

    /// The element of a widened row, which begins with its border.
    constexpr auto at_wide_row() const {
        std::int64_t const channels = shape.channels;
        return shape.x.stride * channels * x + shape.x.dilation * channels * s + group_channels() * group + packing.depth * pass +
               2 * pairs + pair;
    }
    constexpr auto at_weight() const {
        std::int64_t const run = weights_of_run(), per_row = run * s.extent, per_pass = per_row * shape.y.taps,
                           per_block = per_pass * pass.extent;
        return per_block * block.extent * group + per_block * block + per_pass * pass + per_row * r + run * s + 2 * packing.lanes * pairs +
               2 * lane + pair;
    }
};

/// The stages of a convolution of bytes.
template <class Element>
constexpr auto sum_into(packed_conv2d_bytes_loops const& l, tensor<Element> const& in, tensor<std::int16_t> const& wide,
                        tensor<std::int16_t> const& weights, tensor<std::int32_t> const& out) {
    std::int64_t const channels = l.shape.channels;
    return stages(wide(l.wide_batch, l.wide_y, l.wide_row) = cast<std::int16_t>(padded(in(l.wide_batch, l.in_y, l.in_row), 0)(
                      l.wide_batch, l.wide_y - l.shape.y.before, l.wide_row - l.shape.x.before * channels)),
                  out(l.batch, l.y, l.x, l.group, l.block, l.lane) +=
                  cast<std::int32_t>(wide(l.batch, l.shape.y.stride * l.y + l.shape.y.dilation * l.r, l.at_wide_row())) *
                  cast<std::int32_t>(weights(l.at_weight())));
}

/// A convolution of bytes with packed weights: in [batch][in_y][in_x channels], weights of 16 bits, out [batch][y][x][group][block][lane].
template <class Element>
struct packed_conv2d_bytes : packed_conv2d_bytes_loops {
    tensor<Element> in{"in"};
    tensor<std::int16_t> wide{"wide"}, weights{"weights"};
    tensor<std::int32_t> out{"out"};

    decltype(sum_into(std::declval<packed_conv2d_bytes_loops const&>(), in, wide, weights, out)) what;

    constexpr packed_conv2d_bytes(conv2d_shape const& of, conv2d_packing const& packed)
        : packed_conv2d_bytes_loops(of, packed), what(sum_into(*this, in, wide, weights, out)) {}
};

template <class Element, conv2d_shape Shape, conv2d_packing Packing>
inline constexpr packed_conv2d_bytes<Element> packed_conv2d_bytes_of{Shape, Packing};

/// As for floats; blocks are widened with their border.
template <class Element>
constexpr schedule tiled_conv2d(packed_conv2d_bytes<Element> const& of, conv2d_tile const& t) {
    using targets::avx2::l2;
    schedule s(of.what, targets::avx2::host);
    tile_packed(s, of, of.pairs, of.out, t);
    s.vectorize(of.pair);
    s.compute_at(of.wide, conv2d_positions{}.columns).store_in(of.wide, l2);
    s.stage(of.wide).vectorize(of.wide_row, 16);
    if (t.stages) s.cache_read(of.in, l2).at(of.wide_y);
    return s;
}

}  // namespace tilewright::kernel
