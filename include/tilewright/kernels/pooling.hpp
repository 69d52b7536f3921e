#pragma once
#include <limits>
#include <tilewright/compute/functions.hpp>
#include <tilewright/kernels/window.hpp>
#include <type_traits>

namespace tilewright::kernel {

/// Windows of images [batch][y][x][channels].
struct pool2d_shape {
    std::int64_t batch = 1, channels = 1;
    window y{}, x{};
};

/// The axes of a pooling kernel: of its results, and in windows and images.
template <pool2d_shape Shape>
struct pool2d_axes {
    static constexpr axis batch{"batch", Shape.batch}, y{"y", Shape.y.positions()}, x{"x", Shape.x.positions()},
        channel{"channel", Shape.channels};
    static constexpr axis r{"r", Shape.y.taps}, s{"s", Shape.x.taps}, in_y{"in_y", Shape.y.extent}, in_x{"in_x", Shape.x.extent};
};

/// The largest of every window. The border is the lowest value, and a window that lies in it as a whole gives that.
template <pool2d_shape Shape, class Element>
struct max_pool2d : pool2d_axes<Shape> {
    using axes = pool2d_axes<Shape>;
    static constexpr tensor<Element> in{"in"}, out{"out"};
    static constexpr Element lowest =
        std::is_floating_point_v<Element> ? -std::numeric_limits<Element>::infinity() : std::numeric_limits<Element>::lowest();
    static constexpr auto what = out(axes::batch, axes::y, axes::x, axes::channel) =
        maximum(axes::r, axes::s,
                padded(in(axes::batch, axes::in_y, axes::in_x, axes::channel), lowest)(axes::batch, Shape.y.index(axes::y, axes::r),
                                                                                       Shape.x.index(axes::x, axes::s), axes::channel));
};

/// What a mean is divided by at the border.
enum class border : std::uint8_t { counts, does_not_count };

/// The mean of every window of floats: the sum, then its quotient. `sums` needs a memory of its own: store_in.
template <pool2d_shape Shape, class Element, border Border = border::does_not_count>
    requires std::is_floating_point_v<Element>
struct average_pool2d : pool2d_axes<Shape> {
    using axes = pool2d_axes<Shape>;
    static constexpr tensor<Element> in{"in"}, sums{"sums"}, out{"out"};

    /// Taps of a window at a position that are inside the image.
    static constexpr auto inside(window const& of, axis const& position) {
        // From the first tap that is not before the image to the last that is not after it, in steps of the dilation.
        auto const begin = of.stride * position - of.before;
        auto const first = max((of.dilation - 1 - begin) / of.dilation, 0);
        auto const last = min((of.extent - 1 - begin) / of.dilation, of.taps - 1);
        return max(last - first + 1, 0);
    }
    static constexpr auto count() {
        if constexpr (Border == border::counts) return cast<Element>(Shape.y.taps * Shape.x.taps);
        else return cast<Element>(max(inside(Shape.y, axes::y) * inside(Shape.x, axes::x), 1));
    }
    static constexpr auto what =
        stages(sums(axes::batch, axes::y, axes::x, axes::channel) += padded(in(axes::batch, axes::in_y, axes::in_x, axes::channel), 0)(
                   axes::batch, Shape.y.index(axes::y, axes::r), Shape.x.index(axes::x, axes::s), axes::channel),
               out(axes::batch, axes::y, axes::x, axes::channel) = sums(axes::batch, axes::y, axes::x, axes::channel) / count());
};

}  // namespace tilewright::kernel
