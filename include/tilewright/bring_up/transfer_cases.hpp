#pragma once
#include <set>
#include <tilewright/bring_up/room.hpp>
#include <tilewright/emulate/legal_call.hpp>
#include <utility>

// The cases of a transfer: every stride, edge and alignment that it takes, one at a time, around a shape of some rows.
namespace tilewright::bring_up {

class transfer_cases {
  public:
    transfer_cases(machine const& where, memory_ways const& ways, int transfer_at, int part, std::int64_t largest)
        : where_(where),
          ways_(ways),
          t_(where.transfers[transfer_at]),
          part_(part),
          largest_(largest),
          limits_(detail::limits_of(where, t_)),
          dimensions_(std::min(t_.most_dimensions - 1, max_rank)) {
        read_sides(transfer_at);
        about_.choose_small();
        std::int64_t const granule = row_granule(where, t_);
        granule_ = detail::lcm(granule, to().element) / to().element;
        longest_ = t_.largest_row_bytes > 0 ? t_.largest_row_bytes / to().element / granule_ : 0;
    }
    tested_part const& part() const { return about_; }

    std::vector<test_case> make() {
        rows();
        dimensions();
        strides();
        alignments();
        borders();
        places();
        values();
        several();
        return std::move(cases_);
    }

  private:
    /// How far apart rows lie: as they follow each other, so many steps further, or as far as the side takes.
    static constexpr int follow = 0, furthest = -1;
    struct shape {
        std::int64_t row = 1;
        std::vector<moved_dimension> dimensions{};
        std::int64_t pad_before = 0, pad_after = 0, border = 0, channel = 0;
        std::int64_t source_skew = 0, destination_skew = 0;
        bool at_end = false;
    };
    operand_side const& to() const { return about_.sides.back(); }
    operand_side const& from() const { return about_.sides.front(); }
    bool reads() const { return about_.sides.size() > 1; }

    void read_sides(int transfer_at) {
        about_ = {true, transfer_at, t_.name.str(), {}, {}};
        operand_side source{"source", memory_under(where_, t_.source), where_.memories.find(t_.source)};
        operand_side destination{"destination", memory_under(where_, t_.destination), where_.memories.find(t_.destination)};
        source.by_value = where_.memories[source.memory].passes_values();
        destination.by_value = where_.memories[destination.memory].passes_values();
        source.reads = destination.writes = true;
        bool reads = true;
        if (t_.semantics.count > 0) {
            computation_view const view = where_.view(t_.semantics);
            ir::stage s;
            read_stage(view, 0, s);
            reads = false;
            destination.type = s.type;
            for (int at = s.target + 1; at < s.store; ++at) {
                if (view[at].op == operation::access) source.type = view[at].type, reads = true;
            }
        }
        source.element = bytes_of(source.type), destination.element = bytes_of(destination.type);
        if (reads) about_.sides.push_back(source);
        about_.sides.push_back(destination);
    }
    std::int64_t step(bool of_source) const {
        operand_side const& s = of_source ? from() : to();
        return detail::lcm(address_step(where_.memories[s.seen], t_.address_alignment), s.element);
    }
    std::int64_t fitted(std::int64_t granules) const {
        return granule_ * std::max<std::int64_t>(1, longest_ > 0 ? std::min(granules, longest_) : granules);
    }

    /// A shape of `granules` in a row, and of these extents, whose rows lie so far apart.
    shape of(std::int64_t granules, std::vector<std::int64_t> const& extents, int source = follow, int destination = follow) const {
        shape made;
        made.row = fitted(granules);
        made.dimensions.resize(static_cast<std::size_t>(dimensions_));
        int deduced = limits_.deduced;
        for (int d = 1; d <= dimensions_; ++d) {
            std::int64_t const asked = d <= static_cast<int>(extents.size()) ? extents[static_cast<std::size_t>(d - 1)] : 1;
            std::int64_t const most = limits_.extent(d);
            bool const told = limits_.tells(d) || (asked > 1 && deduced-- > 0);
            made.dimensions[static_cast<std::size_t>(d - 1)].extent = !told ? 1 : most > 0 ? std::min(asked, most) : asked;
        }
        for (int d = 1; d <= dimensions_; ++d) {
            if (reads()) set_stride(made, true, d, source);
            set_stride(made, false, d, destination);
        }
        return made;
    }
    /// Bytes to what would follow without gaps in front of dimension d.
    std::int64_t follows(shape const& s, bool of_source, int d) const {
        if (d == 1) return of_source ? (s.row - s.pad_before - s.pad_after) * from().element : s.row * to().element;
        moved_dimension const& inner = s.dimensions[static_cast<std::size_t>(d - 2)];
        if (inner.extent == 1) return follows(s, of_source, d - 1);
        return of_source ? inner.source_stride * (inner.extent - inner.pad_before - inner.pad_after)
                         : inner.destination_stride * inner.extent;
    }
    void set_stride(shape& s, bool of_source, int d, int how) const {
        stride_limits const& taken = limits_.strides(of_source, d);
        moved_dimension& one = s.dimensions[static_cast<std::size_t>(d - 1)];
        std::int64_t& stride = of_source ? one.source_stride : one.destination_stride;
        if (one.extent == 1) return void(stride = 0);  // as generated code passes it
        std::int64_t const next = follows(s, of_source, d), unit = detail::lcm(step(of_source), taken.unit());
        std::int64_t const least = room::rounded(next, unit);
        if (taken.none) stride = next;
        else if (taken.exactly > 0) stride = taken.exactly;
        else if (how == furthest) stride = taken.most > 0 ? taken.most / unit * unit : least + 40 * unit;
        else stride = least + how * unit;
    }
    void set_all_strides(shape& s, int source, int destination) const {
        for (int d = 1; d <= dimensions_; ++d) {
            if (reads()) set_stride(s, true, d, source);
            set_stride(s, false, d, destination);
        }
    }
    std::vector<std::int64_t> some(std::int64_t extent) const {
        return std::vector<std::int64_t>(static_cast<std::size_t>(dimensions_), extent);
    }

    void rows() {
        for (std::int64_t const granules : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255}) {
            if (longest_ > 0 && granules > longest_) break;
            add(of(granules, {}), "one row of " + bytes_text(granules * granule_ * to().element));
        }
        if (longest_ > 0) add(of(longest_, {}), "the longest row");
        for (std::int64_t const granules : {1, 3, 16, 17})
            add(of(granules, some(3), 1, 1), "rows of " + bytes_text(fitted(granules) * to().element));
    }
    void dimensions() {
        for (int d = 1; d <= dimensions_; ++d) {
            for (std::int64_t const extent : {1, 2, 3, 5, 16}) {
                std::vector<std::int64_t> extents = some(2);
                extents[static_cast<std::size_t>(d - 1)] = extent;
                add(of(5, extents, 1, 2), std::to_string(extent) + " in dimension " + std::to_string(d));
            }
            std::vector<std::int64_t> extents(static_cast<std::size_t>(d), 1);
            extents.back() = limits_.extent(d);
            if (limits_.extent(d) > 0 && limits_.tells(d)) add(of(1, extents), "as many as dimension " + std::to_string(d) + " takes");
        }
        // Neighbours change places: what is a row on one side is a column on the other.
        if (dimensions_ < 2 || !reads()) return;
        for (std::int64_t const extent : {2, 5}) {
            shape s = of(1, {3, extent}, 0, 0);
            if (s.dimensions[0].extent == 1 || s.dimensions[1].extent == 1) continue;
            std::int64_t const unit = room::rounded(std::max(s.row * from().element, step(true)), step(true));
            s.dimensions[0].source_stride = unit * s.dimensions[1].extent, s.dimensions[1].source_stride = unit;
            add(s, "rows and columns change places");
        }
    }
    void strides() {
        for (int d = 1; d <= dimensions_; ++d) {
            for (int const of_source : {1, 0}) {
                if (of_source != 0 && !reads()) continue;
                stride_limits const& taken = limits_.strides(of_source != 0, d);
                if (!taken.is_told()) continue;
                for (int const how : {follow, 1, 2, 7, furthest}) {
                    bool const longest = how == furthest && taken.most > 0;
                    std::vector<std::int64_t> extents = some(3);
                    // What lies around rows that are as far apart as they can be would be further than that.
                    if (longest) std::fill(extents.begin() + d, extents.end(), 1);
                    shape s = of(9, extents, 0, 0);
                    set_stride(s, of_source != 0, d, how);
                    for (int outer = d + 1; outer <= dimensions_; ++outer) set_stride(s, of_source != 0, outer, 0);
                    moved_dimension const& one = s.dimensions[static_cast<std::size_t>(d - 1)];
                    std::string const text = std::string(of_source != 0 ? "source" : "destination") + " stride of dimension " +
                                             std::to_string(d) + ": " +
                                             std::to_string(of_source != 0 ? one.source_stride : one.destination_stride);
                    add(s, longest ? "longest " + text : text);
                }
            }
        }
        if (reads()) add(of(12, some(3), 2, 0), "gaps in the source alone"), add(of(12, some(3), 0, 2), "gaps in the destination alone");
        add(of(12, some(3), 0, 0), "no gaps");
    }
    void alignments() {
        for (std::size_t which = 0; which < about_.sides.size(); ++which) {
            bool const of_source = reads() && which == 0;
            if (about_.sides[which].by_value) continue;
            for (std::int64_t const steps : {1, 2, 3, 4, 7}) {
                for (std::int64_t const granules : {4, 19}) {
                    shape s = of(granules, some(2), 1, 1);
                    (of_source ? s.source_skew : s.destination_skew) = steps * step(of_source);
                    add(s, about_.sides[which].name + " " + bytes_text(steps * step(of_source)) + " further");
                }
            }
        }
    }
    void borders() {
        if (!t_.border.is) return;
        std::int64_t const longest = limits_.longest_pad > 0 ? limits_.longest_pad : 3;
        std::vector<std::int64_t> const values =
            t_.border.any_value ? std::vector<std::int64_t>{0, 1, 77, 255} : std::vector<std::int64_t>{t_.border.value};
        for (std::int64_t const value : values) {
            for (int ends = 1; ends < 4; ++ends) {
                for (std::int64_t const pad : std::set<std::int64_t>{1, longest}) {
                    for (int d = 0; d <= dimensions_; ++d) {
                        shape s = of(12, some(2 * longest + 2));
                        s.border = value;
                        std::int64_t& before = d == 0 ? s.pad_before : s.dimensions[static_cast<std::size_t>(d - 1)].pad_before;
                        std::int64_t& after = d == 0 ? s.pad_after : s.dimensions[static_cast<std::size_t>(d - 1)].pad_after;
                        before = (ends & 1) != 0 ? pad : 0, after = (ends & 2) != 0 ? pad : 0;
                        set_all_strides(s, 1, 1);
                        add(s, "a border of " + std::to_string(before) + " and " + std::to_string(after) + " in dimension " +
                                   std::to_string(d) + ", of " + std::to_string(value));
                    }
                }
            }
            shape all = of(12, some(4));
            all.border = value, all.pad_before = all.pad_after = 1;
            for (moved_dimension& d : all.dimensions) d.pad_before = d.pad_after = 1;
            set_all_strides(all, 1, 1);
            add(all, "a border on all sides, of " + std::to_string(value));
        }
    }
    void places() {
        shape s = of(12, some(3), 1, 1);
        s.at_end = true;
        add(s, "at the end of the memories");
        int const on = where_.engines.find(t_.engine_name);
        for (int channel = 1; on >= 0 && channel < where_.engines[on].channels; ++channel) {
            s = of(12, some(3), 1, 1);
            s.channel = channel;
            add(s, "channel " + std::to_string(channel));
        }
    }
    void values() {
        if (t_.semantics.count == 0 || !reads()) return;
        for (int kind = 1; kind < pattern_count; ++kind) add(of(16, some(3), 1, 1), "", static_cast<pattern>(kind));
    }
    /// Asynchronous jobs that are in flight together.
    void several() {
        if (!t_.is_asynchronous) return;
        int const on = where_.engines.find(t_.engine_name);
        int const depth = on < 0 ? 1 : std::min(where_.engines[on].depth, 3),
                  channels = on < 0 ? 1 : std::min(where_.engines[on].channels, 3);
        for (std::int64_t const granules : {7, 64}) {
            shape const first = of(granules, some(3), 1, 1), second = of(3, some(2), 0, 0), third = of(5, some(2), 1, 0);
            if (depth > 1) add(std::vector<shape>{first, second}, "two in flight");
            if (depth > 2) add(std::vector<shape>{first, second, third}, "three in flight");
            if (channels < 2) continue;
            std::vector<shape> on_channels{first, second, third};
            on_channels.resize(static_cast<std::size_t>(channels));
            for (int channel = 0; channel < channels; ++channel) on_channels[static_cast<std::size_t>(channel)].channel = channel;
            add(on_channels, "channels side by side");
        }
    }

    static std::string bytes_text(std::int64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }
    static std::int64_t read_along(moved_dimension const& d) { return d.extent - d.pad_before - d.pad_after; }
    /// Why the device cannot make a call; empty: it can.
    std::string why_not(shape const& s, test_call const& call) const {
        std::vector<std::int64_t> told{s.row, to().element, reads() ? from().element : 0, dimensions_, -1, -1, -1};
        for (auto d = s.dimensions.rbegin(); d != s.dimensions.rend(); ++d)
            told.insert(told.end(), {d->extent, d->source_stride, d->destination_stride});
        told.insert(told.end(), {s.border, s.pad_before, s.pad_after});
        for (auto d = s.dimensions.rbegin(); d != s.dimensions.rend(); ++d) told.insert(told.end(), {d->pad_before, d->pad_after});
        auto const address = [](window const& w) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(w.offset + w.first)); };
        void* const source = reads() ? address(call.windows.front()) : nullptr;
        return emulation::why_illegal(t_, limits_, {source, address(call.windows.back()), told.data()});
    }
    bool take_call(room& in, shape const& s, test_call& made) const {
        std::int64_t source = (s.row - s.pad_before - s.pad_after) * from().element, destination = s.row * to().element;
        for (moved_dimension const& d : s.dimensions) {
            source += (read_along(d) - 1) * d.source_stride, destination += (d.extent - 1) * d.destination_stride;
            if (d.extent > 1 && ((reads() && d.source_stride <= 0) || d.destination_stride <= 0)) return false;
        }
        made.windows.resize(about_.sides.size());
        bool fits = in.take(to().memory, destination, s.destination_skew, s.at_end, step(false), made.windows.back());
        // A memory of arguments has no end of its own.
        if (!fits && s.at_end) fits = in.take(to().memory, destination, s.destination_skew, false, step(false), made.windows.back());
        if (!reads()) return fits;
        bool fits_too = fits && in.take(from().memory, source, s.source_skew, s.at_end && from().memory != to().memory, step(true),
                                        made.windows.front());
        if (fits && !fits_too && s.at_end)
            fits_too = in.take(from().memory, source, s.source_skew, false, step(true), made.windows.front());
        return fits_too;
    }
    void add(shape const& s, std::string const& text, pattern values = pattern::mixed) { add(std::vector<shape>{s}, text, values); }
    void add(std::vector<shape> const& shapes, std::string const& text, pattern values = pattern::mixed) {
        test_case made{part_, values, 0, {}, text};
        room in(where_, ways_, largest_);
        std::string key = std::to_string(static_cast<int>(values));
        for (shape const& s : shapes) {
            test_call& call = made.calls.emplace_back();
            if (!take_call(in, s, call)) return leave_out(text + ": larger than a window");
            if (!why_not(s, call).empty()) return;  // what the device does not take is never planned
            call.numbers = {s.channel, s.border, s.row, s.pad_before, s.pad_after};
            for (moved_dimension const& d : s.dimensions)
                call.numbers.insert(call.numbers.end(), {d.extent, d.source_stride, d.destination_stride, d.pad_before, d.pad_after});
            if (!call.is_short()) return leave_out(text + ": numbers of more than 32 bits");
            for (std::int64_t number : call.numbers) key += " " + std::to_string(number);
            for (window const& w : call.windows) key += " " + std::to_string(w.first) + (s.at_end ? " end" : "");
        }
        if (known_.insert(key).second) cases_.push_back(std::move(made));
    }
    void leave_out(std::string const& what) { about_.left_out.push_back(what); }

    machine const& where_;
    memory_ways const& ways_;
    transfer_description const& t_;
    int part_;
    std::int64_t largest_;
    detail::call_limits limits_;
    int dimensions_;  ///< besides the row
    std::int64_t granule_ = 1, longest_ = 0;
    tested_part about_;
    std::vector<test_case> cases_;
    std::set<std::string> known_;
};

}  // namespace tilewright::bring_up
