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

/// Whether the image is copied with a border: of the image, or of channels up to a multiple of 4.
constexpr bool has_border(conv2d_shape const& of) {
    return of.y.before + of.y.after + of.x.before + of.x.after > 0 || of.channels % 4 != 0;
}

namespace detail {

template <bool Bordered>
struct fours_to_convolve {
    conv2d_shape shape;
    std::int64_t lanes;  ///< filters beside each other
    axis batch, y, x, block, lane, r, s, group, term, in_y, in_x, channel;
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
          group{"group", (of.channels + 3) / 4},
          term{"term", 4},
          in_y{"in_y", of.y.extent},
          in_x{"in_x", of.x.extent},
          channel{"channel", of.channels} {
        if (of.groups != 1) throw std::invalid_argument("a convolution by VNNI has one group of channels");
        if (of.filters % filters != 0) throw std::invalid_argument("filters beside each other divide all filters");
        if (Bordered != has_border(of)) throw std::invalid_argument("a border is a matter of the shape: ask has_border");
    }

    constexpr auto computation() const {
        auto const at = 4 * group + term;
        auto const image = [&] {
            if constexpr (Bordered) return padded(in(batch, in_y, in_x, channel), 0)(batch, shape.y.index(y, r), shape.x.index(x, s), at);
            else return in(batch, shape.y.index(y, r), shape.x.index(x, s), at);
        }();
        return out(batch, y, x, block, lane) =
                   sum(r, s, group, term, cast<std::int32_t>(image) * cast<std::int32_t>(weights(block, r, s, group, 4 * lane + term)));
    }
};

}  // namespace detail

/// A convolution of bytes without sign, in [batch][in_y][in_x][channels], with weights [block][r][s][group of four channels][4 lane + term]
/// to out [batch][y][x][block][lane], which is [batch][y][x][filters].
/// @tparam Bordered  `has_border` of the shape
template <bool Bordered>
struct vnni_conv2d : detail::fours_to_convolve<Bordered> {
    using operands = detail::fours_to_convolve<Bordered>;
    decltype(std::declval<operands const&>().computation()) what;

    /// @param filters  beside each other: 32 are two vectors of AVX-512
    /// @throws std::invalid_argument when they do not divide all filters, or there are groups of channels
    constexpr explicit vnni_conv2d(conv2d_shape const& of, std::int64_t filters = 32)
        : operands(of, filters), what(operands::computation()) {}

    /// Of the packed weights; what stands at no `place_of` is 0.
    constexpr std::int64_t weight_count() const {
        return this->shape.filters * this->shape.y.taps * this->shape.x.taps * this->group.extent * 4;
    }
    constexpr std::int64_t place_of(std::int64_t filter, std::int64_t channel, std::int64_t at_r, std::int64_t at_s) const {
        std::int64_t const lanes = this->lanes, taps = (filter / lanes * this->shape.y.taps + at_r) * this->shape.x.taps + at_s;
        return ((taps * this->group.extent + channel / 4) * lanes + filter % lanes) * 4 + channel % 4;
    }
};

/// A convolution whose shape is known to the compiler, where schedules can point at it.
template <conv2d_shape Shape, std::int64_t Filters = 32>
inline constexpr vnni_conv2d<has_border(Shape)> vnni_conv2d_of{Shape, Filters};

/// Tiles that are worth trying for a shape, the likeliest first: blocks whose part of the image takes a quarter or half of `l2`.
constexpr tile_list<vnni_conv2d_tile> vnni_tiles_for(conv2d_shape const& of, int limit = tile_list<vnni_conv2d_tile>::most) {
    tile_list<vnni_conv2d_tile> found(limit);
    std::int64_t const row_bytes = (of.x.extent + of.x.before + of.x.after) * ((of.channels + 3) / 4 * 4) * of.y.stride;
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
/// @param on  a core whose windows take the steps of the shape; others are refused by the planner
template <bool Bordered>
constexpr schedule tiled_conv2d(vnni_conv2d<Bordered> const& of, vnni_conv2d_tile const& t, targets::vnni::window_core const& on) {
    constexpr axis rows{"rows"}, row{"row"}, columns{"columns"}, column{"column"};
    schedule s(of.what, Bordered ? on.bordered : on.host);
    s.split(of.y, rows, row, t.block_rows).split(of.x, columns, column, t.block_columns > 0 ? t.block_columns : of.x.extent);
    s.reorder(of.batch, rows, columns, of.block, row, column, of.lane, of.r, of.s, of.group, of.term);
    if (Bordered) s.cache_read(of.in, targets::vnni::l2).at(columns);
    return s.tensorize(column, of.lane, of.r, of.s, of.group, of.term, "mac_window");
}

}  // namespace tilewright::kernel
