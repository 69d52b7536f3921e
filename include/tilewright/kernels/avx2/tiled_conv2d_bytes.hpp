#pragma once
#include <tilewright/kernels/avx2/tiled_conv2d.hpp>
#include <utility>

/// Convolutions of bytes with exact sums of 32 bits, for one core with vector registers. Weights are packed by the caller.
///
/// `packed_conv2d_bytes` takes weights of 8 bits: the image is widened to 16 bits, block by block and with its border, and weights stand
/// widened in memory. A multiply-add of pairs then cannot saturate. `packed_conv2d_reduced_bytes` takes weights of 7 bits: the sum of two
/// products fits 16 bits, and four bytes are multiplied and added up where they are.
namespace tilewright::kernel {

/// The loops of a convolution of bytes with packed weights, and where they read. Terms of the sum go in groups of `Together`; those that
/// the last group lacks have a weight of 0.
template <int Together>
struct packed_conv2d_bytes_loops : packed_conv2d_loops {
    axis terms, one;  ///< groups, and the terms of each

    constexpr packed_conv2d_bytes_loops(conv2d_shape const& of, conv2d_packing const& packed)
        : packed_conv2d_loops(of, packed), terms{"terms", (term.extent + Together - 1) / Together}, one{"one", Together} {}

    /// Of all terms that are neighbours in memory, for the filters of a block.
    constexpr std::int64_t weights_of_run() const { return Together * terms.extent * packing.lanes; }
    /// Of all taps and the channels of a pass, for the filters of a block.
    constexpr std::int64_t weights_of_pass() const { return shape.y.taps * s.extent * weights_of_run(); }
    constexpr std::int64_t weight_count() const { return shape.groups * block.extent * pass.extent * weights_of_pass(); }
    /// Where the weight of a filter for a channel of its group stands. What is at no such place is 0.
    constexpr std::int64_t place_of(std::int64_t filter, std::int64_t channel, std::int64_t at_r, std::int64_t at_s) const {
        std::int64_t const lanes = packing.lanes, depth = packing.depth;
        std::int64_t const run =
            ((filter / lanes * pass.extent + channel / depth) * shape.y.taps + at_r) * s.extent + (joins_taps() ? 0 : at_s);
        std::int64_t const at = channel % depth + (joins_taps() ? at_s * depth : 0);
        return run * weights_of_run() + (at / Together * lanes + filter % lanes) * Together + at % Together;
    }

    /// Channels and terms of the sum, from the element of a row where a window begins.
    constexpr auto at_term() const { return group_channels() * group + packing.depth * pass + Together * terms + one; }
    /// Among the weights of a pass.
    constexpr auto at_weight() const {
        std::int64_t const run = weights_of_run();
        return run * s.extent * r + run * s + Together * packing.lanes * terms + Together * lane + one;
    }
};

namespace detail {

/// The loops, tensors and stages, before there is a type for all stages together.
template <class Element>
struct wide_conv2d : packed_conv2d_bytes_loops<2> {
    axis wide_batch, wide_y, wide_row;
    tensor<Element> in{"in"};
    tensor<std::int16_t> wide{"wide"}, weights{"weights"};
    tensor<std::int32_t> out{"out"};

    constexpr wide_conv2d(conv2d_shape const& of, conv2d_packing const& packed)
        : packed_conv2d_bytes_loops<2>(of, packed),
          wide_batch{"wide_batch", of.batch},
          wide_y{"wide_y", of.y.extent + of.y.before + of.y.after},
          wide_row{"wide_row", (of.x.extent + of.x.before + of.x.after) * of.channels + term.extent % 2} {}

    constexpr auto computation() const {
        std::int64_t const channels = shape.channels, per_pass = weights_of_pass(), per_block = per_pass * pass.extent;
        return stages(wide(wide_batch, wide_y, wide_row) = cast<std::int16_t>(padded(in(wide_batch, in_y, in_row), 0)(
                          wide_batch, wide_y - shape.y.before, wide_row - shape.x.before * channels)),
                      out(batch, y, x, group, block, lane) +=
                      cast<std::int32_t>(wide(batch, shape.y.stride * y + shape.y.dilation * r,
                                              shape.x.stride * channels * x + shape.x.dilation * channels * s + at_term())) *
                      cast<std::int32_t>(weights(per_block * block.extent * group + per_block * block + per_pass * pass + at_weight())));
    }
};

struct reduced_conv2d : packed_conv2d_bytes_loops<4> {
    axis of_group, of_block, of_pass, of_weight;
    tensor<std::uint8_t> in{"in"};
    tensor<std::int8_t> weights{"weights"}, reduced{"reduced"};
    tensor<std::int32_t> out{"out"};

    constexpr reduced_conv2d(conv2d_shape const& of, conv2d_packing const& packed)
        : packed_conv2d_bytes_loops<4>(of, packed),
          of_group{"of_group", of.groups},
          of_block{"of_block", block.extent},
          of_pass{"of_pass", pass.extent},
          of_weight{"of_weight", weights_of_pass()} {}

    constexpr auto computation() const {
        return stages(
            reduced(of_group, of_block, of_pass, of_weight) =
                clamp(weights(of_group, of_block, of_pass, of_weight), -targets::avx2::furthest_reduced, targets::avx2::furthest_reduced),
            out(batch, y, x, group, block, lane) +=
            cast<std::int32_t>(padded(in(batch, in_y, in_row), 0)(batch, shape.y.index(y, r),
                                                                  elements_of(shape.x, shape.channels).index(x, s) + at_term())) *
            cast<std::int32_t>(reduced(group, block, pass, at_weight())));
    }
};

}  // namespace detail

/// A convolution of bytes with packed weights: in [batch][in_y][in_x channels], weights of 16 bits, out [batch][y][x][group][block][lane].
/// `wide` is the image with its border.
template <class Element>
struct packed_conv2d_bytes : detail::wide_conv2d<Element> {
    decltype(std::declval<detail::wide_conv2d<Element> const&>().computation()) what;

    constexpr packed_conv2d_bytes(conv2d_shape const& of, conv2d_packing const& packed)
        : detail::wide_conv2d<Element>(of, packed), what(this->computation()) {}
};
/// Likewise with weights of 7 bits, [group][block][pass][taps, terms and lanes]: they are moved into [-64, 64] before they are used. A
/// kernel takes the weights in front of the image.
struct packed_conv2d_reduced_bytes : detail::reduced_conv2d {
    decltype(std::declval<detail::reduced_conv2d const&>().computation()) what;

    constexpr packed_conv2d_reduced_bytes(conv2d_shape const& of, conv2d_packing const& packed)
        : detail::reduced_conv2d(of, packed), what(computation()) {}
};

template <class Element, conv2d_shape Shape, conv2d_packing Packing>
inline constexpr packed_conv2d_bytes<Element> packed_conv2d_bytes_of{Shape, Packing};
template <conv2d_shape Shape, conv2d_packing Packing>
inline constexpr packed_conv2d_reduced_bytes packed_conv2d_reduced_bytes_of{Shape, Packing};

/// As for floats; blocks are widened with their border.
template <class Element>
constexpr schedule tiled_conv2d(packed_conv2d_bytes<Element> const& of, conv2d_tile const& t) {
    using targets::avx2::l2;
    schedule s(of.what, targets::avx2::host);
    tile_packed(s, of, of.terms, of.out, t, targets::avx2::vectors);
    s.vectorize(of.one);
    s.compute_at(of.wide, conv2d_positions{}.columns).store_in(of.wide, l2);
    s.stage(of.wide).vectorize(of.wide_row, 16);
    if (t.stages) s.cache_read(of.in, l2).at(of.wide_y);
    return s;
}

/// As for floats; weights are reduced for the filters of a tile, or for all filters where these stand inside.
constexpr schedule tiled_conv2d(packed_conv2d_reduced_bytes const& of, conv2d_tile const& t) {
    using targets::avx2::l2;
    constexpr conv2d_positions l{};
    schedule s(of.what, targets::avx2::host);
    tile_packed(s, of, of.terms, of.out, t, targets::avx2::vectors);
    s.vectorize(of.one);
    s.compute_at(of.reduced, t.filters_inside ? of.pass : l.filter_tile).store_in(of.reduced, l2);
    if (t.stages) s.cache_read(of.in, l2).at(l.columns);
    s.stage(of.reduced).vectorize(of.of_weight, targets::avx2::vector_bytes);
    return s;
}

}  // namespace tilewright::kernel
