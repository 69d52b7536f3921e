#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tilewright/reference/tflite_movement.hpp>
#include <tilewright/reference/tflite_node.hpp>
#include <tilewright/reference/tflite_numbers.hpp>
#include <tilewright/reference/tflite_windows.hpp>
#include <utility>
#include <vector>

// Images [n, h, w, c] of another size, which the second operand says: [h', w'].
namespace tilewright::reference::tflite {

namespace detail {

/// The extents of the result.
inline image_extents resized(call const& of) {
    image_extents made = image_of(of, of.operand(0).extents);
    std::vector<std::int64_t> const to = integers_of(of.operand(1));
    if (to.size() != 2 || to[0] < 1 || to[1] < 1) of.refuse("a size that is not two extents");
    made.height = to[0], made.width = to[1];
    return made;
}

/// For each index of the result along one dimension, the nearest of the operand. Computed in float32.
inline std::vector<std::int64_t> nearest_places(call const& of, std::int64_t extent, std::int64_t result) {
    bool const corners = of.number("align_corners") != 0;
    float const half = of.number("half_pixel_centers") != 0 ? 0.5f : 0.0f;
    float const scale = corners && result > 1 ? static_cast<float>(extent - 1) / static_cast<float>(result - 1)
                                              : static_cast<float>(extent) / static_cast<float>(result);
    std::vector<std::int64_t> made;
    for (std::int64_t at = 0; at < result; ++at) {
        float const place = (static_cast<float>(at) + half) * scale;
        made.push_back(std::clamp<std::int64_t>(nearest(corners ? place : std::floor(place)), 0, extent - 1));
    }
    return made;
}

/// Two neighbours, and how far the place lies from the first, in 1024ths.
struct neighbours {
    std::int64_t below = 0, above = 0, from_below = 0;
};
inline std::vector<neighbours> bilinear_places(call const& of, std::int64_t extent, std::int64_t result) {
    std::int64_t scale = (1024 * extent + result / 2) / result;
    if (of.number("align_corners") != 0 && result > 1) scale = (1024 * (extent - 1) + (result - 1) / 2) / (result - 1);
    std::vector<neighbours> made;
    for (std::int64_t at = 0; at < result; ++at) {
        std::int64_t const place = at * scale + (of.number("half_pixel_centers") != 0 ? scale / 2 - 512 : 0);
        std::int64_t const below = std::max<std::int64_t>(place / 1024, 0);
        made.push_back({below, std::min((place + 1023) / 1024, extent - 1), place - 1024 * below});
    }
    return made;
}
/// The mean of four neighbours by weights of 10 bits along each dimension, rounded once; halves go away from zero.
inline std::int64_t weighted(std::int64_t const* pixels, image_extents const& in, std::int64_t n, neighbours y, neighbours x) {
    auto const at = [&](std::int64_t row, std::int64_t column) { return pixels[in.place(n, row, column)]; };
    std::int64_t const top = at(y.below, x.below) * (1024 - x.from_below) + at(y.below, x.above) * x.from_below;
    std::int64_t const bottom = at(y.above, x.below) * (1024 - x.from_below) + at(y.above, x.above) * x.from_below;
    std::int64_t const total = top * (1024 - y.from_below) + bottom * y.from_below, half = 1 << 19;
    return (total > 0 ? total + half : total - half) / (1 << 20);
}

}  // namespace detail

/// RESIZE_NEAREST_NEIGHBOR: of any type.
inline elements resize_nearest_neighbor(call const& of) {
    detail::keeps_scale(of);
    image_extents const in = image_of(of, of.operand(0).extents), out = detail::resized(of);
    auto const rows = detail::nearest_places(of, in.height, out.height), columns = detail::nearest_places(of, in.width, out.width);
    std::vector<std::int64_t> places;
    for (std::int64_t n = 0; n < in.batch; ++n)
        for (std::int64_t const row : rows)
            for (std::int64_t const column : columns)
                for (std::int64_t channel = 0; channel < in.channels; ++channel)
                    places.push_back(static_cast<std::int64_t>(in.place(n, row, column)) + channel);
    return detail::taken(of, of.operand(0), out.list(), places);
}

/// RESIZE_BILINEAR: of int8.
inline elements resize_bilinear(call const& of) {
    detail::keeps_scale(of);
    image_extents const in = image_of(of, of.operand(0).extents), out = detail::resized(of);
    std::vector<std::int64_t> const pixels = integers_of(operand_of_type(of, 0, network::element_type::int8));
    auto const rows = detail::bilinear_places(of, in.height, out.height), columns = detail::bilinear_places(of, in.width, out.width);
    std::vector<std::int64_t> made;
    for (std::int64_t n = 0; n < in.batch; ++n)
        for (detail::neighbours const& row : rows)
            for (detail::neighbours const& column : columns)
                for (std::int64_t channel = 0; channel < in.channels; ++channel)
                    made.push_back(detail::weighted(pixels.data() + channel, in, n, row, column));
    return of_integers(network::element_type::int8, out.list(), made);
}

}  // namespace tilewright::reference::tflite
