#pragma once
#include <stdexcept>
#include <tilewright/kernels/convolution.hpp>
#include <tilewright/kernels/tile_list.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/targets/x86_vnni.hpp>
#include <utility>

/// Convolutions of bytes with exact sums of 32 bits on processors with VNNI. Weights have 8 bits, and the caller packs them.
namespace tilewright::kernel {

/// How such a convolution is cut up for one core.
struct vnni_conv2d_tile {
    std::int64_t block_rows = 8;     ///< of the result that are worked on together; what they read is copied to `l2` where it has a border
    std::int64_t block_columns = 0;  ///< positions of a row that one call covers; 0: all
};

/// Whether groups of four bytes run over the taps of a row and their channels together: where the taps follow each other, and the channels
/// of each would leave a group that is not full.
constexpr bool joins_taps(conv2d_shape const& of) { return of.groups == 1 && of.x.taps > 1 && of.x.dilation == 1 && of.channels % 4 != 0; }

/// Groups of four bytes that a tap has, or a row of joined taps.
constexpr std::int64_t groups_of_four(conv2d_shape const& of) { return ((joins_taps(of) ? of.x.taps : 1) * of.channels + 3) / 4; }

/// Filters beside each other that suit a shape: all of them, where their weights fit in half of `l2`. Otherwise, the largest part of them
/// that is whole panels of two vectors and fits; or one panel of 32, up to whose multiple the caller fills up the filters with zeros.
constexpr std::int64_t filters_beside(conv2d_shape const& of) {
    constexpr std::int64_t panel = 32;
    std::int64_t const of_filter = 4 * of.y.taps * (joins_taps(of) ? 1 : of.x.taps) * groups_of_four(of),
                       most = detail::at_most(targets::vnni::most_columns, targets::vnni::l2.capacity / 2 / of_filter);
    if (of.filters <= most) return of.filters;
    for (std::int64_t some = most / panel * panel; some > panel; some -= panel) {
        if (of.filters % some == 0) return some;
    }
    return panel;
}

/// Whether the image is copied with a border: of the image, or up to a full group of four. Groups of a depthwise convolution are rows of
/// taps.
constexpr bool has_border(conv2d_shape const& of) {
    std::int64_t const terms = of.groups > 1 ? of.y.taps : joins_taps(of) ? of.x.taps * of.channels : of.channels;
    return of.y.before + of.y.after + of.x.before + of.x.after > 0 || terms % 4 != 0;
}

/// What the windows of a core for such a convolution do.
constexpr targets::vnni::window_steps steps_of(conv2d_shape const& of) {
    return {.stride = of.x.stride,
            .dilation_y = of.y.dilation,
            .dilation_x = of.x.dilation,
            .joined_channels = joins_taps(of) ? of.channels : 0,
            .apart = of.groups > 1};
}

namespace detail {

template <bool Bordered, bool Joined>
struct fours_to_convolve {
    conv2d_shape shape;
    std::int64_t lanes;  ///< filters beside each other
    axis batch, y, x, block, lane, r, s, group, term, in_y, in_x, channel;
    axis in_bytes;  ///< of a row of the image
    tensor<std::uint8_t> in{"in"};
    tensor<std::int8_t> weights{"weights"};
    tensor<std::int32_t> out{"out"};

    constexpr fours_to_convolve(conv2d_shape const& of, std::int64_t filters)
        : shape(of),
          lanes(filters),
          batch{"batch", of.batch},
          y{"y", of.y.positions()},
          x{"x", of.x.positions()},
          block{"block", of.filters / filters},
          lane{"lane", filters},
          r{"r", of.y.taps},
          s{"s", of.x.taps},
          group{"group", groups_of_four(of)},
          term{"term", 4},
          in_y{"in_y", of.y.extent},
          in_x{"in_x", of.x.extent},
          channel{"channel", of.channels},
          in_bytes{"in_bytes", of.x.extent * of.channels} {
        if (of.groups != 1) throw std::invalid_argument("a convolution by VNNI has one group of channels");
        if (of.filters % filters != 0) throw std::invalid_argument("filters beside each other divide all filters");
        if (Joined != joins_taps(of)) throw std::invalid_argument("joined taps are a matter of the shape: ask joins_taps");
        if (Bordered != has_border(of)) throw std::invalid_argument("a border is a matter of the shape: ask has_border");
    }

    constexpr auto computation() const {
        auto const image = [&](auto const& whole, auto const&... at) {
            if constexpr (Bordered) return cast<std::int32_t>(padded(whole, 0)(at...));
            else return cast<std::int32_t>(in(at...));
        };
        auto const weight = [&](auto const&... at) { return cast<std::int32_t>(weights(block, at..., group, 4 * lane + term)); };
        auto const at = 4 * group + term;
        auto const at_y = shape.y.index(y, r);
        if constexpr (Joined) {
            auto const at_byte = shape.x.stride * shape.channels * x + at - shape.x.before * shape.channels;
            return out(batch, y, x, block, lane) = sum(r, group, term, image(in(batch, in_y, in_bytes), batch, at_y, at_byte) * weight(r));
        } else {
            return out(batch, y, x, block, lane) =
                       sum(r, s, group, term, image(in(batch, in_y, in_x, channel), batch, at_y, shape.x.index(x, s), at) * weight(r, s));
        }
    }
};

}  // namespace detail

/// A convolution of bytes without sign, in [batch][in_y][in_x][channels], with weights [block][r][s][group of four channels][4 lane + term]
/// to out [batch][y][x][block][lane], which is [batch][y][x][filters]. With joined taps, weights are [block][r][group of four][4 lane +
/// term], where groups run over [s][channels]; as a tensor, in is then [batch][in_y][in_x channels], which is the same memory.
/// @tparam Bordered  `has_border` of the shape
/// @tparam Joined    `joins_taps` of the shape
template <bool Bordered, bool Joined = false>
struct vnni_conv2d : detail::fours_to_convolve<Bordered, Joined> {
    using operands = detail::fours_to_convolve<Bordered, Joined>;
    decltype(std::declval<operands const&>().computation()) what;

    /// @param filters  beside each other: those of a call
    /// @throws std::invalid_argument when they do not divide all filters, or there are groups of channels
    constexpr vnni_conv2d(conv2d_shape const& of, std::int64_t filters) : operands(of, filters), what(operands::computation()) {}
    constexpr explicit vnni_conv2d(conv2d_shape const& of) : vnni_conv2d(of, filters_beside(of)) {}

    /// Of the packed weights; what stands at no `place_of` is 0.
    constexpr std::int64_t weight_count() const { return this->shape.filters * this->shape.y.taps * taps() * this->group.extent * 4; }
    constexpr std::int64_t place_of(std::int64_t filter, std::int64_t channel, std::int64_t at_r, std::int64_t at_s) const {
        std::int64_t const lanes = this->lanes, byte = Joined ? at_s * this->shape.channels + channel : channel;
        std::int64_t const tap = (filter / lanes * this->shape.y.taps + at_r) * taps() + (Joined ? 0 : at_s);
        return ((tap * this->group.extent + byte / 4) * lanes + filter % lanes) * 4 + byte % 4;
    }

  private:
    /// Of a row, with groups of their own.
    constexpr std::int64_t taps() const { return Joined ? 1 : this->shape.x.taps; }
};

/// A convolution whose shape is known to the compiler, where schedules can point at it.
template <conv2d_shape Shape, std::int64_t Filters = filters_beside(Shape)>
inline constexpr vnni_conv2d<has_border(Shape), joins_taps(Shape)> vnni_conv2d_of{Shape, Filters};

/// Tiles that are worth trying for a shape, the likeliest first: blocks whose part of the image takes a quarter or half of `l2`.
constexpr tile_list<vnni_conv2d_tile> vnni_tiles_for(conv2d_shape const& of, int limit = tile_list<vnni_conv2d_tile>::most) {
    tile_list<vnni_conv2d_tile> found(limit);
    std::int64_t const pixel_bytes = joins_taps(of) ? of.channels : (of.channels + 3) / 4 * 4,
                       row_bytes = (of.x.extent + of.x.before + of.x.after) * pixel_bytes * of.y.stride;
    for (std::int64_t columns : {std::int64_t{0}, std::int64_t{96}}) {
        if (columns >= of.x.positions()) continue;
        for (std::int64_t share : {4, 16, 2}) {
            std::int64_t const rows = targets::vnni::l2.capacity / share / row_bytes;
            found.add({detail::at_most(rows > 1 ? rows : 1, of.y.positions()), columns});
        }
    }
    return found;
}

/// `constexpr auto on_vnni = tiled_conv2d(vnni_conv2d_of<shape>, {.block_rows = 14}, windows);`: blocks of rows outside, then blocks of
/// filters; a call for each row of the result in it.
/// @param on  a core whose windows have the `steps_of` the shape; others are refused by the planner
template <bool Bordered, bool Joined>
constexpr schedule tiled_conv2d(vnni_conv2d<Bordered, Joined> const& of, vnni_conv2d_tile const& t, targets::vnni::window_core const& on) {
    constexpr axis rows{"rows"}, row{"row"}, columns{"columns"}, column{"column"};
    schedule s(of.what, Bordered ? on.bordered : on.host);
    s.split(of.y, rows, row, t.block_rows).split(of.x, columns, column, t.block_columns > 0 ? t.block_columns : of.x.extent);
    auto const with = [&](auto const&... taps) {
        s.reorder(of.batch, rows, columns, of.block, row, column, of.lane, taps..., of.group, of.term);
        if (Bordered) s.cache_read(of.in, targets::vnni::l2).at(columns);
        s.tensorize(column, of.lane, taps..., of.group, of.term, "mac_window");
    };
    if constexpr (Joined) with(of.r);
    else with(of.r, of.s);
    return s;
}

}  // namespace tilewright::kernel
