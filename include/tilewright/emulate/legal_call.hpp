#pragma once
#include <string>
#include <tilewright/emulate/transfer_job.hpp>
#include <tilewright/machine/call_limits.hpp>

// Whether a device can make a call of a transfer, by its declaration and by what its C functions are told.
namespace tilewright::emulation {

/// Why the transfer does not take a call; empty: it does.
inline std::string why_illegal(transfer_description const& t, detail::call_limits const& limits, transfer_call const& call) {
    auto const number = [](std::int64_t value) { return std::to_string(value); };
    auto const bits = [](void const* address) {
        return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) & 0xffff'ffff);
    };
    auto const aligned = [&](std::int64_t value) { return value % t.address_alignment == 0; };
    std::int64_t const row_bytes = call.row_bytes(), count = call.dimensions();
    if (call.row() < 1) return "a row of " + number(call.row()) + " elements";
    if (count > limits.dimensions || count > transfer_job::most_dimensions) return number(count) + " dimensions besides the row";
    if (row_bytes % t.row_granularity != 0) return "a row of " + number(row_bytes) + " bytes, no multiple of " + number(t.row_granularity);
    if (limits.row_bytes > 0 && row_bytes > limits.row_bytes)
        return "a row of " + number(row_bytes) + " bytes, more than " + number(limits.row_bytes);
    if ((call.source != nullptr && !aligned(bits(call.source))) || !aligned(bits(call.destination)))
        return "an address that is no multiple of " + number(t.address_alignment);
    for (int dimension = 0; dimension <= count && t.border.is; ++dimension) {
        std::int64_t const extent = call.extent(dimension);
        for (int end = 0; end < 2; ++end) {
            std::int64_t const pad = call.pads(dimension)[end];
            auto const named = [&] { return "a border of " + number(pad) + " in dimension " + number(dimension) + ", "; };
            if (pad < 0) return named() + "less than none";
            if (pad > 0 && !limits.pads(dimension, end == 0 ? 1 : 2)) return named() + "which no argument tells";
            if (limits.longest_pad > 0 && pad > limits.longest_pad) return named() + "more than " + number(limits.longest_pad);
        }
        if (call.padded(dimension) >= extent && extent > 0) return "nothing but border in dimension " + number(dimension);
    }
    // Bytes to what would follow without gaps, at the source and at the destination.
    std::int64_t const row_border = t.border.is ? call.padded(0) : 0;
    std::int64_t follows[] = {(call.row() - row_border) * call.source_size(), row_bytes};
    int deduced = limits.deduced;
    for (int dimension = 1; dimension <= count; ++dimension) {
        std::int64_t const* const along = call.along(dimension);
        std::int64_t const extent = along[0], most = limits.extent(dimension);
        auto const named = [&] { return "dimension " + number(dimension) + " "; };
        if (extent < 1 || (most > 0 && extent > most)) return named() + "of " + number(extent) + ", at most " + number(most);
        if (extent == 1) continue;  // there is no stride: the next element is that of the dimension further in
        if (!limits.tells(dimension) && --deduced < 0) return named() + "of " + number(extent) + ", which no argument tells";
        for (int side = call.source == nullptr ? 1 : 0; side < 2; ++side) {
            std::int64_t const stride = along[1 + side], behind = follows[side];
            stride_limits const& taken = limits.strides(side == 0, dimension);
            auto const at = [&] {
                return named() + "at a stride of " + number(stride) + (side == 0 ? " in the source, " : " in the destination, ");
            };
            if (!aligned(stride)) return at() + "no multiple of " + number(t.address_alignment);
            if (taken.exactly > 0 && stride != taken.exactly) return at() + "where it is " + number(taken.exactly);
            if (taken.none && stride != behind) return at() + "where there is none and " + number(behind) + " would follow";
            if (taken.most > 0 && stride > taken.most) return at() + "more than " + number(taken.most);
            if (stride % taken.unit() != 0) return at() + "no multiple of " + number(taken.multiple);
            std::int64_t const border = t.border.is && side == 0 ? call.padded(dimension) : 0;
            follows[side] = stride * (extent - border);
        }
    }
    return {};
}

}  // namespace tilewright::emulation
