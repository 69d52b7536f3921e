#pragma once
#include <tilewright/compute/functions.hpp>
#include <tilewright/kernels/window.hpp>

namespace tilewright::kernel {

/// A convolution of images [batch][y][x][channels] with filters [r][s][channels of a group][filters].
///
/// Filters and channels fall into groups: those of one group see each other. As many groups as channels: depthwise.
struct conv2d_shape {
    std::int64_t batch = 1, channels = 1, filters = 1, groups = 1;
    window y{}, x{};
};

/// `Shape`'s convolution. Its axes are the stage's loops; with one group there is none of groups.
template <conv2d_shape Shape, class Element, class Sum, class Weight = Element>
struct conv2d {
    static_assert(Shape.channels % Shape.groups == 0 && Shape.filters % Shape.groups == 0, "groups divide channels and filters");

    static constexpr axis batch{"batch", Shape.batch}, y{"y", Shape.y.positions()}, x{"x", Shape.x.positions()};
    static constexpr axis group{"group", Shape.groups}, filter{"filter", Shape.filters / Shape.groups};
    static constexpr axis r{"r", Shape.y.taps}, s{"s", Shape.x.taps}, channel{"channel", Shape.channels / Shape.groups};
    static constexpr axis in_y{"in_y", Shape.y.extent}, in_x{"in_x", Shape.x.extent};
    static constexpr tensor<Element> in{"in"};
    static constexpr tensor<Weight> weights{"weights"};
    static constexpr tensor<Sum> out{"out"};

    /// One group: in [batch][y][x][channels], weights [r][s][channels][filters], out [batch][y][x][filters]. Several: a dimension of groups
    /// stands in front of the last one of each, so that memory is the same.
    static constexpr auto compute() {
        auto const at_y = Shape.y.index(y, r), at_x = Shape.x.index(x, s);
        if constexpr (Shape.groups == 1) {
            return out(batch, y, x, filter) += cast<Sum>(padded(in(batch, in_y, in_x, channel), 0)(batch, at_y, at_x, channel)) *
                                               cast<Sum>(weights(r, s, channel, filter));
        } else {
            return out(batch, y, x, group, filter) +=
                   cast<Sum>(padded(in(batch, in_y, in_x, group, channel), 0)(batch, at_y, at_x, group, channel)) *
                   cast<Sum>(weights(r, s, channel, group, filter));
        }
    }
    static constexpr auto what = compute();
};

}  // namespace tilewright::kernel
