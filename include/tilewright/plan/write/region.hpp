#pragma once
#include <tilewright/plan/loops/spread.hpp>

// A box of elements that is to be moved from one buffer to another.
namespace tilewright::detail {

/// A region before it is cut to what a transfer can do: dimensions outermost first, without a row yet. The dimensions are those of the
/// boxes on both sides at first, and later those of the buffers.
struct region {
    buffer_id source = no_buffer;  ///< none: a fill
    node_id border = no_node;      ///< the padded access whose border the core's fill, or the load itself, writes
    buffer_id destination = no_buffer;
    fixed_array<movement_dimension, max_rank> dimensions{};
    int count = 0;
    fixed_array<linear, max_rank> source_at{};
    fixed_array<linear, max_rank> destination_at{};

    /// How a dimension of the destination ends if a tile is partial, before its part in the call is known.
    struct clipped {
        linear form;
        std::int64_t bound = 0;
        std::int8_t dimension = -1;
        clip_kind is = clip_kind::end;
    };
    static constexpr int most_clips = 16;
    part_pool<clipped, most_clips> clips{};

    constexpr void add(planning const& p, clipped const& c) {
        if (clips.full()) return p.refuse_capacity("clips of one transfer", most_clips + 1, most_clips);
        clips.push(c);
    }
    /// Calls `visit(clip)` for those that shorten a dimension, or what is read of it.
    template <class Visit>
    constexpr void each_end(int dimension, Visit&& visit) {
        for (int at = 0; at < clips.size(); ++at) {
            clipped& c = clips[at];
            if (c.dimension == dimension && (shortens(c.is) || pads(c.is))) visit(c);
        }
    }
    /// A dimension became a loop as a whole: no call is made where it has ended.
    static constexpr void call_where_there_is(clipped& c) {
        linear form;
        form.add(c.form, c.is == clip_kind::end ? 1 : -1);
        c = {form, c.is == clip_kind::end ? c.bound : 1 - c.bound, -1, clip_kind::only};
    }
    /// Whether a dimension, or what is read of it, ends early.
    constexpr bool is_clipped(int dimension) const { return is_shortened(dimension) || padded_ends(dimension) != 0; }
    /// At which ends of a dimension the call writes a border: 1 before, 2 after, 3 both.
    constexpr unsigned padded_ends(int dimension) const {
        unsigned ends = 0;
        for (int at = 0; at < clips.size(); ++at) {
            clipped const& c = clips[at];
            if (c.dimension == dimension && pads(c.is)) ends |= c.is == clip_kind::border_begin ? 1u : 2u;
        }
        return ends;
    }
    /// Whether the call writes less of a dimension, and does not only read less.
    constexpr bool is_shortened(int dimension) const {
        bool found = false;
        for (int at = 0; at < clips.size(); ++at) {
            clipped const& c = clips[at];
            found |= c.dimension == dimension && shortens(c.is);
        }
        return found;
    }
};

/// The most elements that lie in the border at one end of a dimension, over all iterations; and the least number of elements that are moved
/// besides these.
struct border_reach {
    std::int64_t outside = 0, inside = 0;
};
constexpr border_reach reach_of_border(planning const& p, region const& r, region::clipped const& c, std::int64_t extent) {
    bool const begins = c.is == clip_kind::border_begin;
    border_reach found{begins ? c.bound - lowest_of(p, c.form) : extent - c.bound + highest_of(p, c.form)};
    found.inside = extent - found.outside;
    for (int at = 0; at < r.clips.size(); ++at) {
        region::clipped const& o = r.clips[at];
        if (o.dimension != c.dimension || !shortens(o.is)) continue;
        bool const same_end = begins == (o.is == clip_kind::begin);
        // The end of the tile, counted from the end of the border.
        linear apart = begins ? o.form : c.form;
        apart.add(begins ? c.form : o.form, -1);
        std::int64_t const far = highest_of(p, apart) + (begins ? c.bound - o.bound : o.bound - c.bound);
        if (same_end && far < found.outside) found.outside = far;
        if (!same_end && -far < found.inside) found.inside = -far;
    }
    return found;
}

/// Each element of a dimension that ends early becomes several, when dimensions further in are joined to it.
constexpr void scale_ends(region& r, int dimension, int joined, std::int64_t elements) {
    r.each_end(dimension, [&](region::clipped& c) {
        linear form;
        form.add(c.form, elements);
        c = {form, c.bound * elements, static_cast<std::int8_t>(joined), c.is};
    });
}

/// The elements by which a step along a dimension of the region moves on one side. An argument counts as dense here.
constexpr std::int64_t source_step(planning const& p, region const& r, movement_dimension const& d) {
    return r.source < 0 ? 0 : d.source_factor * p.buffer_at(r.source).stride(d.source_dimension);
}
constexpr std::int64_t destination_step(planning const& p, region const& r, movement_dimension const& d) {
    return d.destination_factor * p.buffer_at(r.destination).stride(d.destination_dimension);
}

/// An argument whose dimensions were joined must come without gaps there: the entry of the kernel checks it.
constexpr void rely_on_dense(writing& p, buffer_id buffer_at, int dimension) {
    if (buffer_at < 0) return;
    buffer& b = p.buffer_at(buffer_at);
    if (b.dense_from > dimension) b.dense_from = static_cast<std::uint8_t>(dimension);
}

/// The largest divisor of `extent` that is at most `most`.
constexpr std::int64_t divisor_up_to(std::int64_t extent, std::int64_t most) {
    std::int64_t best = 1;
    for (std::int64_t d = 1; d * d <= extent; ++d) {
        if (extent % d != 0) continue;
        if (d <= most && d > best) best = d;
        if (extent / d <= most && extent / d > best) best = extent / d;
    }
    return best;
}

}  // namespace tilewright::detail
