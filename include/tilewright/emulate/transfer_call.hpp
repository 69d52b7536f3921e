#pragma once
#include <cstdint>

namespace tilewright::emulation {

/// One call of a transfer, as generated code makes it. Dimensions are counted from the row outwards, the row is 0.
///
/// `shape`: {row elements, bytes of a destination element, of a source element, number of dimensions, tag, source buffer, destination
/// buffer, then for each dimension, outermost first: extent, source stride and destination stride in bytes; then, if the transfer writes
/// borders, the bits of an element of the border, and the numbers of border elements before and after, for the row and for each dimension;
/// then, if its engine has several channels, the channel; last, if it is a multicast, how many cores it reaches}. Buffers are positions in
/// the plan, -1: none. The tag of a blocking transfer is -1.
struct transfer_call {
    void const* source = nullptr;
    void* destination = nullptr;
    std::int64_t const* shape = nullptr;

    /// Positions in the shape of a call with so many dimensions.
    static constexpr std::int64_t along_at(std::int64_t dimensions, std::int64_t dimension) { return 7 + 3 * (dimensions - dimension); }
    static constexpr std::int64_t border_at(std::int64_t dimensions) { return 7 + 3 * dimensions; }
    static constexpr std::int64_t pads_at(std::int64_t dimensions, std::int64_t dimension) {
        return border_at(dimensions) + 1 + (dimension == 0 ? 0 : 2 * (dimensions - dimension + 1));
    }
    static constexpr std::int64_t end_at(std::int64_t dimensions, bool has_border) {
        return border_at(dimensions) + (has_border ? 3 + 2 * dimensions : 0);
    }

    std::int64_t row() const { return shape[0]; }
    std::int64_t destination_size() const { return shape[1]; }
    /// 0: a fill, which has no source.
    std::int64_t source_size() const { return shape[2]; }
    std::int64_t row_bytes() const { return row() * destination_size(); }
    /// Besides the row.
    std::int64_t dimensions() const { return shape[3]; }
    std::int64_t tag() const { return shape[4]; }
    bool is_blocking() const { return tag() < 0; }
    std::int64_t source_buffer() const { return shape[5]; }
    std::int64_t destination_buffer() const { return shape[6]; }

    /// {extent, source stride, destination stride}. @pre the dimension is none of the row
    std::int64_t const* along(std::int64_t dimension) const { return shape + along_at(dimensions(), dimension); }
    std::int64_t extent(std::int64_t dimension) const { return dimension == 0 ? row() : along(dimension)[0]; }
    std::int64_t source_stride(std::int64_t dimension) const { return along(dimension)[1]; }
    std::int64_t destination_stride(std::int64_t dimension) const { return along(dimension)[2]; }
    /// The bits of an element, then what is border. @pre the transfer writes borders, here and below
    std::int64_t const* border() const { return shape + border_at(dimensions()); }
    /// How many elements are border: {before, after}.
    std::int64_t const* pads(std::int64_t dimension) const { return shape + pads_at(dimensions(), dimension); }
    /// Elements of a dimension that are border.
    std::int64_t padded(std::int64_t dimension) const { return pads(dimension)[0] + pads(dimension)[1]; }
    /// @pre the engine of the transfer has several channels
    std::int64_t channel(bool has_border) const { return shape[end_at(dimensions(), has_border)]; }
    /// @pre the transfer is a multicast
    std::int64_t cores(bool has_border, bool has_channel) const { return shape[end_at(dimensions(), has_border) + (has_channel ? 1 : 0)]; }
};

}  // namespace tilewright::emulation
