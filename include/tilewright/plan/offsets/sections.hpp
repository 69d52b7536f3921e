#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/offsets/placed_buffer.hpp>

// What a search for offsets works on: buffers over sections of time.
namespace tilewright::detail {

/// Elements whose number is known when it runs, also in constant evaluation. Access goes through the pointer, because an operator would be
/// a call for each access in constant evaluation.
template <class Element>
class work_array {
  public:
    constexpr explicit work_array(int count) : at(new Element[static_cast<std::size_t>(count)]{}), count_(count) {}
    constexpr ~work_array() { delete[] at; }
    work_array(work_array const&) = delete;
    work_array& operator=(work_array const&) = delete;

    constexpr Element* begin() const { return at; }
    constexpr Element* end() const { return at + count_; }
    constexpr int size() const { return count_; }
    constexpr void push(Element const& value) {
        if (used_ == count_) grow();
        at[used_++] = value;
    }
    constexpr Element pop() { return at[--used_]; }
    constexpr int used() const { return used_; }
    constexpr void shrink(int used) { used_ = used; }

    Element* at;

  private:
    constexpr void grow() {
        int const more = 2 * count_ + 16;
        Element* const grown = new Element[static_cast<std::size_t>(more)]{};
        for (int each = 0; each < used_; ++each) grown[each] = at[each];
        delete[] at;
        at = grown, count_ = more;
    }
    int count_, used_ = 0;
};

constexpr std::int64_t no_offset = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t aligned_up(std::int64_t offset, std::int64_t alignment) {
    return alignment == 1 ? offset : (offset + alignment - 1) / alignment * alignment;
}

/// A buffer over sections.
struct offset_item {
    int first = 0, last = 0;     ///< half-open range of sections, in its first bank
    int bank_count = 1;          ///< that it lies in, each with such a range
    std::int64_t bytes = 0;      ///< the bytes that it needs below the capacity
    std::int64_t footprint = 0;  ///< the bytes that it takes from others: rounded up to the unit of all offsets
    std::int64_t alignment = 1;
    std::int64_t fixed_at = -1;
    std::int64_t duration = 0;
    int twin = -1;   ///< an item that is equal to this one and goes below it
    int alike = -1;  ///< the next item of the same sections, in a ring
    int source = 0;  ///< which buffer it is
};

/// Items, and which of them are alive together.
///
/// Sections are the largest sets of buffers that are alive at one time: smaller sets add nothing. A buffer is in consecutive sections. Each
/// bank has its own sections, so several banks are one address space in which no buffer crosses a border. A buffer that lies in several
/// banks is in sections of each, at one offset.
class offset_sections {
  public:
    /// @param bank_of the bank of each buffer
    constexpr offset_sections(std::span<ir::placed_buffer const> buffers, int const* bank_of, int banks)
        : items(static_cast<int>(buffers.size())), starts(0), alive(0) {
        int const most = static_cast<int>(buffers.size());
        work_array<int> births(most), deaths(most), points(most);
        for (int at = 0; at < most; ++at) {
            ir::placed_buffer const& b = buffers[static_cast<std::size_t>(at)];
            if (b.bytes == 0 || b.born == b.dead) continue;
            births.at[count] = b.born, deaths.at[count] = b.dead;
            items.at[count++] = {.bytes = b.bytes,
                                 .alignment = b.alignment,
                                 .fixed_at = b.fixed ? b.offset : -1,
                                 .duration = static_cast<std::int64_t>(b.dead) - b.born,
                                 .source = at};
            unit = gcd(unit, b.alignment);
        }
        std::sort(births.begin(), births.begin() + count);
        std::sort(deaths.begin(), deaths.begin() + count);
        int in_bank = 0;
        bool grown = false;
        for (int born = 0, dead = 0; dead < count;) {
            if (born < count && births.at[born] < deaths.at[dead]) {
                points.at[in_bank] = births.at[born++];
                grown = true;
            } else {
                in_bank += grown;
                grown = false;
                ++dead;
            }
        }
        sections = in_bank * banks;
        in_bank_ = in_bank;
        for (int at = 0; at < count; ++at) {
            offset_item& item = items.at[at];
            ir::placed_buffer const& b = buffers[static_cast<std::size_t>(item.source)];
            item.footprint = aligned_up(item.bytes, unit);
            item.bank_count = banks == 1 ? 1 : b.bank_count;
            several_banks |= item.bank_count > 1;
            int const bank_first = bank_of[item.source] * in_bank;
            item.first = bank_first + static_cast<int>(std::lower_bound(points.begin(), points.begin() + in_bank, b.born) - points.begin());
            item.last = bank_first + static_cast<int>(std::lower_bound(points.begin(), points.begin() + in_bank, b.dead) - points.begin());
        }
        if (count == 0) unit = 1;
        find_alike();
        list_alive();
    }

    /// The sum of footprints in a section.
    constexpr std::int64_t total(int section) const {
        std::int64_t sum = 0;
        for (int at = starts.at[section]; at < starts.at[section + 1]; ++at) sum += items.at[alive.at[at]].footprint;
        return sum;
    }
    /// From a section to the one of the same time in the next bank, round all of them.
    constexpr int in_next_bank(int section) const {
        return section + in_bank_ < sections ? section + in_bank_ : section + in_bank_ - sections;
    }
    /// Whether two items are alive together in some bank. @pre one of them lies in several banks
    constexpr bool meet(offset_item const& a, offset_item const& b) const {
        int first = a.first;
        for (int bank = 0; bank < a.bank_count; ++bank, first = in_next_bank(first)) {
            int other = b.first;
            for (int at = 0; at < b.bank_count; ++at, other = in_next_bank(other)) {
                if (first < other + b.last - b.first && other < first + a.last - a.first) return true;
            }
        }
        return false;
    }

    work_array<offset_item> items;
    int count = 0, sections = 0;
    bool several_banks = false;  ///< an item lies in several
    std::int64_t unit = 0;       ///< all offsets are multiples of this
    work_array<int> starts, alive;

  private:
    constexpr void find_alike() {
        work_array<int> order(count);
        for (int at = 0; at < count; ++at) order.at[at] = at;
        auto const differs = [&](int a, int b) {
            offset_item const &x = items.at[a], &y = items.at[b];
            return x.first != y.first || x.last != y.last || x.bank_count != y.bank_count;
        };
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            offset_item const &x = items.at[a], &y = items.at[b];
            if (x.first != y.first) return x.first < y.first;
            if (x.last != y.last) return x.last < y.last;
            if (x.bank_count != y.bank_count) return x.bank_count < y.bank_count;
            if (x.bytes != y.bytes) return x.bytes < y.bytes;
            return x.alignment != y.alignment ? x.alignment < y.alignment : a < b;
        });
        for (int from = 0, to = 0; from < count; from = to) {
            int last_free = -1;
            for (to = from; to < count && !differs(order.at[from], order.at[to]); ++to) {
                offset_item& item = items.at[order.at[to]];
                item.alike = to + 1 < count && !differs(order.at[from], order.at[to + 1]) ? order.at[to + 1] : order.at[from];
                if (item.fixed_at >= 0) continue;
                if (last_free >= 0 && items.at[last_free].bytes == item.bytes && items.at[last_free].alignment == item.alignment)
                    item.twin = last_free;
                last_free = order.at[to];
            }
        }
    }
    constexpr void list_alive() {
        for (int section = 0; section < sections; ++section) {
            starts.push(alive.used());
            for (int at = 0; at < count; ++at) {
                offset_item const& item = items.at[at];
                int first = item.first;
                for (int bank = 0; bank < item.bank_count; ++bank, first = in_next_bank(first)) {
                    if (first <= section && section < first + item.last - item.first) alive.push(at);
                }
            }
        }
        starts.push(alive.used());
    }
    int in_bank_ = 0;
};

}  // namespace tilewright::detail
