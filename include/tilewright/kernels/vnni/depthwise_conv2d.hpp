#pragma once
#include <tilewright/kernels/vnni/conv2d.hpp>

/// Depthwise convolutions of bytes with exact sums of 32 bits on processors with VNNI. Weights have 8 bits, and the caller packs them.
namespace tilewright::kernel {

namespace detail {

template <bool Bordered>
struct rows_to_convolve {
    conv2d_shape shape;
    axis batch, y, x, channel, group, s, term, in_y, in_x;
    tensor<std::uint8_t> in{"in"};
    tensor<std::int8_t> weights{"weights"};
    tensor<std::int32_t> out{"out"};

    constexpr explicit rows_to_convolve(conv2d_shape const& of)
        : shape(of),
          batch{"batch", of.batch},
          y{"y", of.y.positions()},
          x{"x", of.x.positions()},
          channel{"channel", of.channels},
          group{"group", (of.y.taps + 3) / 4},
          s{"s", of.x.taps},
          term{"term", 4},
          in_y{"in_y", of.y.extent},
          in_x{"in_x", of.x.extent} {
        if (of.groups < 2 || of.groups != of.channels || of.filters != of.channels)
            throw std::invalid_argument("a depthwise convolution has as many groups and filters as channels, and more than one");
        if (Bordered != has_border(of)) throw std::invalid_argument("a border is a matter of the shape: ask has_border");
    }

    constexpr auto computation() const {
        auto const at_y = shape.y.index(y, 4 * group + term);
        auto const image = [&] {
            if constexpr (Bordered) return padded(in(batch, in_y, in_x, channel), 0)(batch, at_y, shape.x.index(x, s), channel);
            else return in(batch, at_y, shape.x.index(x, s), channel);
        };
        return out(batch, y, x, channel) =
                   sum(group, s, term, cast<std::int32_t>(image()) * cast<std::int32_t>(weights(group, s, 4 * channel + term)));
    }
};

}  // namespace detail

/// A depthwise convolution of bytes without sign, in [batch][in_y][in_x][channels], with weights [group of four rows of taps][s][4 channel
/// + term] to out [batch][y][x][channels]. @tparam Bordered  `has_border` of the shape
template <bool Bordered>
struct vnni_depthwise_conv2d : detail::rows_to_convolve<Bordered> {
    using operands = detail::rows_to_convolve<Bordered>;
    decltype(std::declval<operands const&>().computation()) what;

    /// @throws std::invalid_argument when groups, filters and channels differ, or are one
    constexpr explicit vnni_depthwise_conv2d(conv2d_shape const& of) : operands(of), what(operands::computation()) {}

    /// Of the packed weights; what stands at no `place_of` is 0.
    constexpr std::int64_t weight_count() const { return this->group.extent * this->shape.x.taps * this->shape.channels * 4; }
    /// @param channel  of its group: 0
    constexpr std::int64_t place_of(std::int64_t filter, std::int64_t channel, std::int64_t at_r, std::int64_t at_s) const {
        return ((at_r / 4 * this->shape.x.taps + at_s) * this->shape.channels + filter + channel) * 4 + at_r % 4;
    }
};

/// A depthwise convolution whose shape is known to the compiler, where schedules can point at it.
template <conv2d_shape Shape>
inline constexpr vnni_depthwise_conv2d<has_border(Shape)> vnni_depthwise_conv2d_of{Shape};

/// `constexpr auto on_vnni = tiled_conv2d(vnni_depthwise_conv2d_of<shape>, {.block_rows = 14}, windows);`: blocks of rows outside; a call
/// for each row of the result in it, of up to 1,024 channels.
/// @param on  a core whose windows have the `steps_of` the shape; others are refused by the planner
template <bool Bordered>
constexpr schedule tiled_conv2d(vnni_depthwise_conv2d<Bordered> const& of, vnni_conv2d_tile const& t,
                                targets::vnni::window_core const& on) {
    constexpr axis rows{"rows"}, row{"row"}, columns{"columns"}, column{"column"}, block{"block"}, lane{"lane"};
    schedule s(of.what, Bordered ? on.bordered : on.host);
    s.split(of.y, rows, row, t.block_rows).split(of.x, columns, column, t.block_columns > 0 ? t.block_columns : of.x.extent);
    s.split(of.channel, block, lane, detail::at_most(of.channel.extent, targets::vnni::most_columns));
    s.reorder(of.batch, rows, columns, block, row, column, lane, of.group, of.s, of.term);
    if (Bordered) s.cache_read(of.in, targets::vnni::l2).at(columns);
    s.tensorize(column, lane, of.group, of.s, of.term, "mac_window");
    return s;
}

}  // namespace tilewright::kernel
