#pragma once
#include <tilewright/reference/onnx_places.hpp>

// Windows that move over the spatial extents of a tensor: those behind batch and channels.
namespace tilewright::reference::of_onnx {

/// A window along one extent. Its tap t, where the window stands at position p, lies on p * stride + t * dilation - before of the large
/// side. The large side of a convolution or a pool is its input; that of a transposed convolution is its output.
struct window {
    std::int64_t large = 1, small = 1, taps = 1, stride = 1, dilation = 1, before = 0, after = 0;

    std::int64_t reach() const { return (taps - 1) * dilation + 1; }
    std::int64_t at(std::int64_t position, std::int64_t tap) const { return position * stride + tap * dilation - before; }
};
using windows = std::vector<window>;

/// What a setting says of each of so many extents. @throws not_covered  where it has another number of them
inline shape for_each_extent(call const& of, std::string_view name, std::size_t count, std::int64_t otherwise) {
    shape made = of.integers(name, shape(count, otherwise));
    require(made.size() == count, "a setting for another number of extents");
    return made;
}

/// Strides, dilations and pads as settings say them; extents of the small side are left open, and so are pads that follow from them.
inline windows windows_of(call const& of, shape const& taps) {
    std::size_t const count = taps.size();
    require(count > 0, "a window without extents");
    shape const strides = for_each_extent(of, "strides", count, 1), dilations = for_each_extent(of, "dilations", count, 1),
                pads = of.integers("pads", shape(2 * count, 0));
    require(pads.size() == 2 * count, "pads for another number of extents");
    bool const explicit_pads = of.word("auto_pad", "NOTSET") == "NOTSET";
    windows made(count);
    for (std::size_t at = 0; at < count; ++at) {
        made[at].taps = taps[at], made[at].stride = strides[at], made[at].dilation = dilations[at];
        require(made[at].taps > 0 && made[at].stride > 0 && made[at].dilation > 0, "a window with a setting below 1");
        if (explicit_pads) made[at].before = pads[at], made[at].after = pads[at + count];
    }
    return made;
}

/// Gives all of the padding to two sides; one that is left over to the end, or to the begin for SAME_LOWER.
inline void share_padding(window& of, std::int64_t padding, bool more_at_begin) {
    of.before = more_at_begin ? padding - padding / 2 : padding / 2;
    of.after = padding - of.before;
}

/// Fits windows to an input: how many positions they have, and what SAME pads. With `rounds_up`, a last window may reach behind the padded
/// input, but begins before the padding at the end.
inline void fit_to_input(windows& all, shape const& extents, std::string const& auto_pad, bool rounds_up) {
    require(extents.size() == all.size() + 2, "windows of another rank than their operand");
    for (std::size_t at = 0; at < all.size(); ++at) {
        window& one = all[at];
        one.large = extents[at + 2];
        if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
            one.small = (one.large + one.stride - 1) / one.stride;
            share_padding(one, std::max<std::int64_t>(0, (one.small - 1) * one.stride + one.reach() - one.large), auto_pad == "SAME_LOWER");
            continue;
        }
        require(auto_pad == "NOTSET" || auto_pad == "VALID", "a padding of another name");
        std::int64_t const free = one.large + one.before + one.after - one.reach();
        require(free >= 0, "a window that is larger than its operand");
        one.small = free / one.stride + 1;
        if (rounds_up && free % one.stride != 0 && one.small * one.stride < one.large + one.before) ++one.small;
    }
}

/// Extents of one side of the windows.
inline shape extents_of(windows const& all, std::int64_t window::*side) {
    shape made;
    for (window const& one : all) made.push_back(one.*side);
    return made;
}

/// Positions along the last extent for which one tap of the window lies on the large side: elements from `small` on, which are neighbours,
/// and those from `large` on, which lie a stride apart.
struct run {
    std::int64_t small = 0, large = 0, count = 0, tap = 0;
};

/// All runs of one channel: for each row of the small side, for each tap.
inline std::vector<run> runs_of(windows const& all) {
    window const& last = all.back();
    shape const taps = extents_of(all, &window::taps), large = extents_of(all, &window::large), small = extents_of(all, &window::small);
    shape rows = small;
    rows.back() = std::min<std::int64_t>(1, last.small);
    std::vector<run> made;
    each_index(rows, [&](shape const& row) {
        std::int64_t tap_number = -1;
        each_index(taps, [&](shape const& tap) {
            ++tap_number;
            shape at_large(all.size());
            for (std::size_t at = 0; at + 1 < all.size(); ++at) {
                at_large[at] = all[at].at(row[at], tap[at]);
                if (at_large[at] < 0 || at_large[at] >= large[at]) return;
            }
            std::int64_t first = 0, end = last.small;
            while (first < end && last.at(first, tap.back()) < 0) ++first;
            while (first < end && last.at(end - 1, tap.back()) >= last.large) --end;
            if (first == end) return;
            shape at_small = row;
            at_small.back() = first;
            at_large.back() = last.at(first, tap.back());
            made.push_back({static_cast<std::int64_t>(place_of(at_small, small)), static_cast<std::int64_t>(place_of(at_large, large)),
                            end - first, tap_number});
        });
    });
    return made;
}

}  // namespace tilewright::reference::of_onnx
