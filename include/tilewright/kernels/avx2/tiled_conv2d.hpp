#pragma once
#include <stdexcept>
#include <tilewright/kernels/convolution.hpp>
#include <tilewright/kernels/tile_list.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/targets/x86_avx2.hpp>
#include <utility>

/// Convolutions for one core with vector registers, as schedules parameterised by shape and tile.
///
/// Images are [batch][y][x][channels], and so is the result. With packed weights, x and channels of the image are one
/// dimension: a row of it is contiguous, and so are the elements that the taps of a row meet.
namespace tilewright::kernel {

/// A window over a row of pixels as one over its elements.
constexpr window elements_of(window const& of, std::int64_t channels) {
    return {of.extent * channels, of.taps, of.stride * channels, of.dilation * channels, of.before * channels, of.after * channels};
}

/// Where windows have one tap and no border, rows follow each other: all positions of an image as one row, in the same memory.
/// @pre stride 1, one tap and no border in both directions
constexpr conv2d_shape in_one_row(conv2d_shape of) {
    of.x.extent *= of.y.extent, of.y.extent = 1;
    return of;
}

/// How packed weights stand in memory: [filters / lanes][channels / depth][r][s][depth][lanes], channels being those of a group.
struct conv2d_packing {
    std::int64_t lanes = 8;  ///< filters beside each other: a vector, or another divisor of the filters of a group
    std::int64_t depth = 1;  ///< channels that are summed up before the result is stored: a divisor of the channels of a group
};

/// The loops of a convolution with packed weights, and where they read.
struct packed_conv2d_loops {
    conv2d_shape shape;
    conv2d_packing packing;
    axis batch, y, x, group, block, lane, pass, r, s, term, in_y, in_row;

    constexpr packed_conv2d_loops(conv2d_shape const& of, conv2d_packing const& packed)
        : shape(of),
          packing(packed),
          batch{"batch", of.batch},
          y{"y", of.y.positions()},
          x{"x", of.x.positions()},
          group{"group", of.groups},
          block{"block", of.filters / of.groups / packed.lanes},
          lane{"lane", packed.lanes},
          pass{"pass", of.channels / of.groups / packed.depth},
          r{"r", of.y.taps},
          s{"s", joins_taps() ? 1 : of.x.taps},
          term{"term", joins_taps() ? of.x.taps * packed.depth : packed.depth},
          in_y{"in_y", of.y.extent},
          in_row{"in_row", of.x.extent * of.channels} {
        if (of.channels % of.groups != 0 || of.filters % of.groups != 0 || of.filters / of.groups % packed.lanes != 0 ||
            of.channels / of.groups % packed.depth != 0)
            throw std::invalid_argument("groups divide channels and filters, lanes and depth those of a group");
    }

    /// Taps of a row that are neighbours in memory, with all channels of each, are one loop over both.
    constexpr bool joins_taps() const { return shape.groups == 1 && packing.depth == shape.channels && shape.x.dilation == 1; }
    constexpr std::int64_t group_channels() const { return shape.channels / shape.groups; }
    constexpr std::int64_t weight_count() const { return shape.filters * group_channels() * shape.y.taps * shape.x.taps; }
    /// Where the weight of a filter for a channel of its group stands.
    constexpr std::int64_t place_of(std::int64_t filter, std::int64_t channel, std::int64_t at_r, std::int64_t at_s) const {
        std::int64_t const lanes = packing.lanes, depth = packing.depth;
        std::int64_t const passes = filter / lanes * (group_channels() / depth) + channel / depth;
        return (((passes * shape.y.taps + at_r) * shape.x.taps + at_s) * depth + channel % depth) * lanes + filter % lanes;
    }

    constexpr auto at_row() const {
        return elements_of(shape.x, shape.channels).index(x, s) + group_channels() * group + packing.depth * pass + term;
    }
    constexpr auto at_weight() const {
        std::int64_t const lanes = packing.lanes, per_tap = packing.depth * lanes, per_row = per_tap * shape.x.taps,
                           per_pass = per_row * shape.y.taps, per_block = per_pass * (group_channels() / packing.depth);
        return per_block * block.extent * group + per_block * block + per_pass * pass + per_row * r + per_tap * s + lanes * term + lane;
    }
};

/// The stage of a convolution.
template <class Element, class Sum>
constexpr auto sum_into(packed_conv2d_loops const& l, tensor<Element> const& in, tensor<Element> const& weights, tensor<Sum> const& out) {
    return out(l.batch, l.y, l.x, l.group, l.block, l.lane) +=
           cast<Sum>(padded(in(l.batch, l.in_y, l.in_row), 0)(l.batch, l.shape.y.index(l.y, l.r), l.at_row())) *
           cast<Sum>(weights(l.at_weight()));
}

/// A convolution with packed weights: in [batch][in_y][in_x channels], out [batch][y][x][group][block][lane].
template <class Element, class Sum>
struct packed_conv2d : packed_conv2d_loops {
    tensor<Element> in{"in"}, weights{"weights"};
    tensor<Sum> out{"out"};

    decltype(sum_into(std::declval<packed_conv2d_loops const&>(), in, weights, out)) what;

    /// @throws std::invalid_argument when groups, lanes or depth do not divide what they part
    constexpr packed_conv2d(conv2d_shape const& of, conv2d_packing const& packed)
        : packed_conv2d_loops(of, packed), what(sum_into(*this, in, weights, out)) {}
};

/// The loops of a convolution of each channel with a filter of its own, and where they read.
struct depthwise_conv2d_loops {
    conv2d_shape shape;
    axis batch, y, x, channel, r, s, in_y, in_x;

    constexpr explicit depthwise_conv2d_loops(conv2d_shape const& of)
        : shape(of),
          batch{"batch", of.batch},
          y{"y", of.y.positions()},
          x{"x", of.x.positions()},
          channel{"channel", of.channels},
          r{"r", of.y.taps},
          s{"s", of.x.taps},
          in_y{"in_y", of.y.extent},
          in_x{"in_x", of.x.extent} {
        if (of.groups != of.channels || of.filters != of.channels)
            throw std::invalid_argument("a depthwise convolution has as many groups and filters as channels");
    }

    constexpr auto at_weight() const { return shape.channels * shape.x.taps * r + shape.channels * s + channel; }
    constexpr std::int64_t weight_count() const { return shape.channels * shape.y.taps * shape.x.taps; }
    /// Where the weight of a filter stands; its only channel is 0.
    constexpr std::int64_t place_of(std::int64_t filter, std::int64_t, std::int64_t at_r, std::int64_t at_s) const {
        return (at_r * shape.x.taps + at_s) * shape.channels + filter;
    }
};

/// The stage of a depthwise convolution.
template <class Element, class Weight, class Sum>
constexpr auto sum_into(depthwise_conv2d_loops const& l, tensor<Element> const& in, tensor<Weight> const& weights, tensor<Sum> const& out) {
    return out(l.batch, l.y, l.x, l.channel) += cast<Sum>(padded(in(l.batch, l.in_y, l.in_x, l.channel), 0)(
                                                    l.batch, l.shape.y.index(l.y, l.r), l.shape.x.index(l.x, l.s), l.channel)) *
                                                cast<Sum>(weights(l.at_weight()));
}

/// A convolution of each channel with a filter of its own: in [batch][in_y][in_x][channel], weights [r][s][channel] in one dimension,
/// out [batch][y][x][channel].
template <class Element, class Sum, class Weight = Element>
struct depthwise_conv2d : depthwise_conv2d_loops {
    tensor<Element> in{"in"};
    tensor<Weight> weights{"weights"};
    tensor<Sum> out{"out"};

    decltype(sum_into(std::declval<depthwise_conv2d_loops const&>(), in, weights, out)) what;

    /// @throws std::invalid_argument when there are not as many groups and filters as channels
    constexpr explicit depthwise_conv2d(conv2d_shape const& of) : depthwise_conv2d_loops(of), what(sum_into(*this, in, weights, out)) {}
};

/// Convolutions whose shape is known to the compiler, where schedules can point at them.
template <class Element, class Sum, conv2d_shape Shape, conv2d_packing Packing>
inline constexpr packed_conv2d<Element, Sum> packed_conv2d_of{Shape, Packing};
template <class Element, class Sum, conv2d_shape Shape, class Weight = Element>
inline constexpr depthwise_conv2d<Element, Sum, Weight> depthwise_conv2d_of{Shape};

/// How a convolution is cut up for one core.
struct conv2d_tile {
    std::int64_t rows = 1;           ///< of the tile of the result in registers
    std::int64_t columns = 6;        ///< likewise
    std::int64_t vectors = 2;        ///< of filters, or of channels, at each of its positions
    std::int64_t block_rows = 8;     ///< of the result that are worked on together
    std::int64_t block_columns = 0;  ///< likewise; 0: all
    std::int64_t steps = 4;          ///< terms of the sum that are written out
    bool stages = true;              ///< what a block reads is copied to `l2`, with its border; otherwise it is read where it is
    bool filters_inside = false;     ///< at a tile's positions all filters follow each other; otherwise positions do, for the same filters

    friend constexpr bool operator==(conv2d_tile const&, conv2d_tile const&) = default;
};

/// Tiles that are worth trying for a shape with packed weights: those of registers that keep both multipliers busy, and blocks whose part
/// of the image takes a quarter of `l2`.
constexpr tile_list<conv2d_tile> tiles_for(conv2d_shape const& of, int limit = tile_list<conv2d_tile>::most,
                                           targets::vector_core const& on = targets::avx2::vectors) {
    tile_list<conv2d_tile> found(limit);
    bool const border = of.y.before + of.y.after + of.x.before + of.x.after > 0;
    std::int64_t const row_bytes = (of.x.extent + of.x.before + of.x.after) * of.channels * 4;
    std::int64_t const positions = of.y.positions(), fitting = on.blocks().capacity / 4 / row_bytes / of.y.stride;
    // As equal blocks as there can be.
    std::int64_t const blocks = fitting > 1 ? (positions + fitting - 1) / fitting : positions;
    struct register_tiles {
        std::int64_t rows[5], columns[5], vectors[5];
    };
    auto const [rows_of, columns_of, vectors_of] = on.registers().registers >= 32
                                                       ? register_tiles{{1, 2, 1, 1, 1}, {14, 7, 8, 6, 12}, {2, 2, 3, 4, 2}}
                                                       : register_tiles{{1, 2, 1, 1, 2}, {6, 3, 4, 4, 2}, {2, 2, 3, 2, 2}};
    for (bool inside : {false, true}) {
        for (std::size_t which = 0; which < 5; ++which) {
            for (std::int64_t parts : {blocks, 2 * blocks}) {
                std::int64_t const tile = rows_of[which], rows = ((positions + parts - 1) / parts + tile - 1) / tile * tile;
                found.add({.rows = tile,
                           .columns = columns_of[which],
                           .vectors = vectors_of[which],
                           .block_rows = rows,
                           .stages = border,
                           .filters_inside = inside});
            }
        }
    }
    return found;
}

/// What both kinds of convolution have in common: the positions in blocks and tiles.
struct conv2d_positions {
    axis rows{"rows"}, rows_in{"rows_in"}, columns{"columns"}, columns_in{"columns_in"}, row_tile{"row_tile"}, row{"row"},
        column_tile{"column_tile"}, column{"column"}, filter_tile{"filter_tile"}, vector{"vector"};

    constexpr void split_positions(schedule& s, axis const& y, axis const& x, conv2d_tile const& t) const {
        s.split(y, rows, rows_in, t.block_rows).split(rows_in, row_tile, row, t.rows);
        s.split(x, columns, columns_in, t.block_columns > 0 ? t.block_columns : x.extent).split(columns_in, column_tile, column, t.columns);
    }
};

/// The loops of a convolution with packed weights: blocks of positions and passes over the channels outside, tiles of the result in
/// registers inside. @param terms  of the sum that are neighbours in memory
constexpr void tile_packed(schedule& s, packed_conv2d_loops const& of, axis const& terms, any_tensor const& out, conv2d_tile const& t,
                           targets::vector_core const& on) {
    constexpr conv2d_positions l{};
    constexpr axis steps{"steps"}, step{"step"};
    l.split_positions(s, of.y, of.x, t);
    s.split(of.block, l.filter_tile, l.vector, t.vectors).split(terms, steps, step, t.steps);
    s.reorder(of.batch, l.rows, l.columns, of.group, of.pass, l.filter_tile, l.row_tile, l.column_tile, of.r, of.s, steps, step, l.row,
              l.column, l.vector, of.lane);
    if (t.filters_inside) s.reorder(l.row_tile, l.column_tile, l.filter_tile);
    s.unroll(step).unroll(l.row).unroll(l.column).unroll(l.vector).vectorize(of.lane);
    s.cache_write(out, on.registers()).at(t.filters_inside ? l.filter_tile : l.column_tile);
}

/// `constexpr auto on_avx2 = tiled_conv2d(packed_conv2d_of<float, float, shape, packing>, {.columns = 6});`: a convolution whose blocks are
/// copied with their border.
template <class Element, class Sum>
constexpr schedule tiled_conv2d(packed_conv2d<Element, Sum> const& of, conv2d_tile const& t,
                                targets::vector_core const& on = targets::avx2::vectors) {
    schedule s(of.what, on.host());
    tile_packed(s, of, of.term, of.out, t, on);
    if (t.stages) s.cache_read(of.in, on.blocks()).at(conv2d_positions{}.columns);
    return s;
}

/// The same of a depthwise convolution: vectors of channels, and all taps of a row written out; all taps where `steps` are as many.
template <class Element, class Sum, class Weight>
constexpr schedule tiled_conv2d(depthwise_conv2d<Element, Sum, Weight> const& of, conv2d_tile const& t,
                                targets::vector_core const& on = targets::avx2::vectors) {
    constexpr conv2d_positions l{};
    constexpr axis channels{"channels"}, lane{"lane"};
    std::int64_t const lanes = on.lanes_of<Sum>();
    schedule s(of.what, on.host());
    l.split_positions(s, of.y, of.x, t);
    s.split(of.channel, l.filter_tile, channels, t.vectors * lanes).split(channels, l.vector, lane, lanes);
    s.reorder(of.batch, l.rows, l.columns, l.filter_tile, l.row_tile, l.column_tile, of.r, of.s, l.row, l.column, l.vector, lane);
    if (t.filters_inside) s.reorder(l.row_tile, l.column_tile, l.filter_tile);
    if (t.steps >= of.r.extent * of.s.extent) s.unroll(of.r);
    s.unroll(of.s).unroll(l.row).unroll(l.column).unroll(l.vector).vectorize(lane);
    if (t.stages) s.cache_read(of.in, on.blocks()).at(l.columns);
    s.cache_write(of.out, on.registers()).at(t.filters_inside ? l.filter_tile : l.column_tile);
    return s;
}

}  // namespace tilewright::kernel
