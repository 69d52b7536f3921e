#pragma once
#include <tilewright/compute/tensor.hpp>

namespace tilewright::kernel {

/// How a window moves over one direction of an image, with a border around it.
struct window {
    std::int64_t extent = 1;  ///< of the image
    std::int64_t taps = 1;    ///< of the window
    std::int64_t stride = 1;
    std::int64_t dilation = 1;           ///< from tap to tap
    std::int64_t before = 0, after = 0;  ///< elements of border

    /// How many places it has; none without a stride.
    constexpr std::int64_t positions() const { return stride < 1 ? 0 : (extent + before + after - (taps - 1) * dilation - 1) / stride + 1; }
    /// The index in the image of a tap at a position, outside it in the border. A tap is an axis, or an affine index.
    constexpr auto index(axis const& position, auto const& tap) const { return stride * position + dilation * tap - before; }
};

}  // namespace tilewright::kernel
