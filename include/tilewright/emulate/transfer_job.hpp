#pragma once
#include <array>
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/emulate/transfer_call.hpp>
#include <vector>

namespace tilewright::emulation {

/// Bytes [begin, end) of this process.
struct byte_range {
    std::uintptr_t begin = 0, end = 0;
};

/// Makes ranges disjoint and ascending.
inline void sort_and_merge(std::vector<byte_range>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](byte_range const& a, byte_range const& b) { return a.begin < b.begin; });
    std::size_t kept = 0;
    for (byte_range const& r : ranges) {
        if (kept > 0 && r.begin <= ranges[kept - 1].end) ranges[kept - 1].end = std::max(ranges[kept - 1].end, r.end);
        else ranges[kept++] = r;
    }
    ranges.resize(kept);
}

/// What one call of a transfer moves, and how much of it has been moved so far.
struct transfer_job {
    static constexpr int most_dimensions = max_rank;
    struct dimension {
        std::int64_t extent = 1, source_stride = 0, destination_stride = 0;  // bytes
        std::int64_t pad_before = 0, pad_after = 0;                          // elements that are border: written, not read

        std::int64_t read() const { return extent - pad_before - pad_after; }
    };

    transfer_function function = nullptr;  ///< of a row; none: a copy
    std::byte const* source = nullptr;     ///< null: a fill
    std::byte* destination = nullptr;
    std::int64_t row = 0;                                ///< elements
    std::int64_t row_before = 0, row_after = 0;          ///< of them, those that are border
    std::array<std::byte, 8> border{};                   ///< an element of it
    std::int64_t destination_size = 1, source_size = 1;  ///< bytes of an element
    int dimension_count = 0;
    fixed_array<dimension, most_dimensions> dimensions;  ///< outermost first
    std::int64_t elements = 0;
    std::int64_t done = 0;                    ///< elements that have been moved
    std::vector<std::ptrdiff_t> elsewhere{};  ///< of a multicast: how far from the destination the other cores have theirs

    transfer_job(transfer_function what, transfer_call const& call)
        : function(what),
          source(static_cast<std::byte const*>(call.source)),
          destination(static_cast<std::byte*>(call.destination)),
          row(call.row()),
          destination_size(call.destination_size()),
          source_size(call.source_size()),
          dimension_count(static_cast<int>(call.dimensions())),
          elements(call.row()) {
        std::int64_t const* along = call.along(dimension_count);
        for (int d = 0; d < dimension_count; ++d, along += 3) {
            dimensions[d] = {along[0], along[1], along[2]};
            elements *= along[0];
        }
    }

    /// What its call writes outside of what it reads. @param pads  as `transfer_call` has it: an element's bits, then the numbers of
    /// elements before and after, of the row and of each dimension, outermost first
    void write_border(std::int64_t const* pads) {
        std::memcpy(border.data(), pads, border.size());
        row_before = pads[1], row_after = pads[2];
        for (int d = 0; d < dimension_count; ++d) {
            dimensions[d].pad_before = pads[3 + 2 * d];
            dimensions[d].pad_after = pads[4 + 2 * d];
        }
    }

    bool complete() const { return done == elements; }
    std::int64_t bytes() const { return elements * destination_size; }
    /// Bytes from the first element to the end of the last one.
    std::int64_t source_reach() const {
        std::int64_t bytes = read_row() * source_size;
        for (int d = 0; d < dimension_count; ++d) bytes += (at(d).read() - 1) * at(d).source_stride;
        return bytes;
    }
    std::int64_t destination_reach() const {
        std::int64_t bytes = row * destination_size;
        for (int d = 0; d < dimension_count; ++d) bytes += (at(d).extent - 1) * at(d).destination_stride;
        return bytes;
    }

    /// Moves the next elements, at most so many. It may cut rows: no device promises to move them whole.
    void advance(std::int64_t most) {
        if (most > elements - done) most = elements - done;
        each_row(done / row, [&](std::int64_t from, std::int64_t to, bool inside) {
            std::int64_t const first = done % row;
            // Up to the end of the border before, the beginning of the border after, or the end of the row.
            bool const reads = inside && first >= row_before && first < row - row_after;
            std::int64_t const end = reads ? row - row_after : inside && first < row_before ? row_before : row;
            std::int64_t const count = std::min(end - first, most);
            if (count <= 0) return next::stop;
            std::byte* const into = destination + to + first * destination_size;
            auto const bytes = static_cast<std::size_t>(count * destination_size);
            std::byte const* const out_of = source == nullptr ? nullptr : source + from + (first - row_before) * source_size;
            if (!reads) {
                for (std::int64_t element = 0; element < count; ++element)
                    std::memcpy(into + element * destination_size, border.data(), static_cast<std::size_t>(destination_size));
            } else if (function != nullptr) {
                function(into, out_of, count);
            } else {
                std::memcpy(into, out_of, bytes);
            }
            for (std::ptrdiff_t const away : elsewhere) std::memcpy(into + away, into, bytes);
            done += count;
            most -= count;
            return most <= 0 ? next::stop : first + count < row ? next::again : next::row;
        });
    }
    void finish() { advance(elements); }

    /// What a visit of a row asks for.
    enum class next { row, again, stop };
    /// The elements of a row that are read, if the row is not border as a whole.
    std::int64_t read_row() const { return row - row_before - row_after; }
    /// Calls `visit(source offset, destination offset, inside)`, in bytes, for the rows from `first` on. A row that is not `inside` is
    /// border; of one that is, the source offset is that of the first element that is read.
    template <class Visit>
    void each_row(std::int64_t first, Visit&& visit) const {
        fixed_array<std::int64_t, most_dimensions> position;
        std::int64_t from = 0, to = 0;
        for (int d = dimension_count - 1; d >= 0; --d) {
            position[d] = first % at(d).extent;
            first /= at(d).extent;
            from += (position[d] - at(d).pad_before) * at(d).source_stride;
            to += position[d] * at(d).destination_stride;
        }
        auto const inside = [&] {
            bool all = true;
            for (int d = 0; d < dimension_count; ++d) {
                std::int64_t const here = position[d];
                all &= here >= at(d).pad_before && here < at(d).extent - at(d).pad_after;
            }
            return all;
        };
        for (next asked = visit(from, to, inside()); asked != next::stop; asked = visit(from, to, inside())) {
            if (asked == next::again) continue;
            int d = dimension_count - 1;
            for (; d >= 0; --d) {
                from += at(d).source_stride, to += at(d).destination_stride;
                if (++position[d] < at(d).extent) break;
                from -= at(d).extent * at(d).source_stride, to -= at(d).extent * at(d).destination_stride;
                position[d] = 0;
            }
            if (d < 0) return;
        }
    }

    /// The bytes that it reads, or writes: disjoint ranges in ascending order.
    std::vector<byte_range> reads() const {
        return source == nullptr ? std::vector<byte_range>{}
                                 : ranges(reinterpret_cast<std::uintptr_t>(source), read_row() * source_size, true);
    }
    std::vector<byte_range> writes() const { return ranges(reinterpret_cast<std::uintptr_t>(destination), row * destination_size, false); }

  private:
    dimension const& at(int d) const { return dimensions[d]; }
    std::vector<byte_range> ranges(std::uintptr_t base, std::int64_t row_bytes, bool of_source) const {
        std::vector<byte_range> rows;
        each_row(0, [&](std::int64_t from, std::int64_t to, bool inside) {
            if (of_source && !inside) return next::row;
            std::uintptr_t const begin = base + static_cast<std::uintptr_t>(of_source ? from : to);
            rows.push_back({begin, begin + static_cast<std::uintptr_t>(row_bytes)});
            return next::row;
        });
        sort_and_merge(rows);
        return rows;
    }
};

/// The first byte that `range` shares with `ranges`, which are disjoint and ascending; 0: none.
inline std::uintptr_t first_shared(std::vector<byte_range> const& ranges, byte_range const& range) {
    auto const found = std::upper_bound(ranges.begin(), ranges.end(), range.begin,
                                        [](std::uintptr_t begin, byte_range const& r) { return begin < r.end; });
    if (found == ranges.end() || found->begin >= range.end) return 0;
    return std::max(found->begin, range.begin);
}

}  // namespace tilewright::emulation
