#pragma once
#include <tilewright/plan/offsets/sections.hpp>
#include <utility>

// The search for offsets below a given capacity.
namespace tilewright::detail {

enum class found_offsets : std::uint8_t { yes, no, unknown };

/// Which section is decided next.
enum class section_choice : std::uint8_t {
    lowest,  ///< the one with the first of the items that can begin lowest
    tight,   ///< one that has nothing to waste, with the fewest items to choose from
    failed,  ///< where the search has failed most, with the fewest items to choose from
};

/// What a search tries first.
struct preference {
    work_array<int> const&
        rank;              ///< of items that can begin at the same offset, those of lower rank; a twin has a higher one than its twin
    bool fullest = false;  ///< before that, those in the section that waits for most
    section_choice sections = section_choice::lowest;
};

/// Looks for offsets of all items below a capacity, depth first.
///
/// A decision is about one item that can begin where nothing that is alive with it can begin lower. Either it is placed there, and the
/// others go above it. Or it is not: then another item has to come below it, or it could be moved down in the end. That raises where it can
/// begin, and the floor of a section, where the lowest of its items can begin. So the search meets every arrangement in which nothing can
/// be moved down at most once, whatever section is decided next.
///
/// @see M. Moffitt, "MiniMalloc", ASPLOS 2023: sections, floors, canonical arrangements, orders of preference
class offset_search {
  public:
    /// @param capacity bytes of each bank
    /// @param weights  how often a section had no room, which the search counts on
    /// @param steps    counts looks at items
    constexpr offset_search(offset_sections& of, std::int64_t capacity, preference const& how, work_array<std::int64_t>& weights,
                            std::int64_t& steps)
        : offsets(of.count),
          of_(of),
          capacity_(capacity),
          rounded_(aligned_up(capacity, of.unit)),
          how_(how),
          weights_(weights),
          steps_(steps),
          placed_(of.count),
          supported_(of.count),
          upper_twin_(of.count),
          fullest_(of.count),
          floor_(of.sections),
          total_(of.sections),
          crossing_(of.sections + 1),
          length_(of.sections),
          choices_(of.sections),
          queued_(of.sections),
          queue_(of.sections),
          list_(0),
          trail_(0) {
        for (int at = 0; at < of.count; ++at) upper_twin_.at[at] = -1;
        for (int at = 0; at < of.count; ++at) {
            offset_item const& item = of.items.at[at];
            if (item.twin >= 0) upper_twin_.at[item.twin] = at;
            spanning_ += item.bank_count > 1;
            for (int bank = 0, first = item.first; bank < item.bank_count; ++bank, first = of.in_next_bank(first)) {
                int const last = first + item.last - item.first;
                for (int section = first; section < last; ++section) total_.at[section] += item.footprint, ++length_.at[section];
                for (int section = first + 1; section < last; ++section) ++crossing_.at[section];
            }
        }
    }

    /// Searches the sections from `first` to `end`, which share no item with others.
    /// @param limit value of `steps` at which the search gives up
    constexpr found_offsets run(int first, int end, std::int64_t limit) {
        limit_ = limit;
        bool possible = true;
        for (int at = 0; at < of_.count; ++at) {
            supported_.at[at] = 1;
            if (of_.items.at[at].fixed_at > 0) offsets.at[at] = of_.items.at[at].fixed_at;
            possible = possible && offsets.at[at] + of_.items.at[at].bytes <= capacity_;
        }
        for (int at = 0; at < of_.count && possible; ++at) {
            int const upper = upper_twin_.at[at];
            if (upper >= 0) possible = raise(upper, offsets.at[at] + of_.items.at[at].footprint, false);
        }
        for (int section = first; section < end; ++section) touch(section);
        if (!settle() || !possible) return found_offsets::no;
        for (int at = 0; at < of_.count; ++at) list_.push(at);
        return search_part(first, end, 0, of_.count);
    }

    work_array<std::int64_t> offsets;  ///< of the items: the lowest possible ones and, when all are found, the final ones

  private:
    struct change {
        std::int64_t* where = nullptr;
        std::int64_t before = 0;
    };
    constexpr void set(std::int64_t& where, std::int64_t value) {
        trail_.push({&where, where});
        where = value;
    }
    constexpr void undo(int mark) {
        while (trail_.used() > mark) {
            change const last = trail_.pop();
            *last.where = last.before;
        }
    }

    constexpr void touch(int section) {
        if (queued_.at[section]) return;
        queued_.at[section] = true;
        queue_.push(section);
    }

    /// The item cannot begin below `offset`.
    /// @param supported something lies directly below it when it begins there
    constexpr bool raise(int which, std::int64_t offset, bool supported) {
        offset_item const& item = of_.items.at[which];
        std::int64_t const before = offsets.at[which];
        offset = aligned_up(offset, item.alignment);
        if (offset < before || (offset == before && (!supported || supported_.at[which]))) return true;
        if (offset + item.bytes > capacity_ || (item.fixed_at >= 0 && offset > item.fixed_at)) return false;
        if (item.fixed_at < 0 && (supported_.at[which] != 0) != supported) set(supported_.at[which], supported);
        if (offset > before) set(offsets.at[which], offset);
        steps_ += item.last - item.first;
        for (int bank = 0, from = item.first; bank < item.bank_count; ++bank, from = of_.in_next_bank(from)) {
            for (int section = from, to = from + item.last - item.first; section < to; ++section) {
                if (floor_.at[section] >= before) touch(section);
            }
        }
        int const upper = upper_twin_.at[which];
        return offset == before || upper < 0 || placed_.at[upper] || raise(upper, offset + item.footprint, false);
    }

    /// Draws all conclusions from what has changed. @return false if there is no solution
    constexpr bool settle() {
        bool possible = true;
        while (queue_.used() > 0) {
            int const section = queue_.pop();
            queued_.at[section] = false;
            if (possible && !settle(section)) {
                possible = false;
                ++weights_.at[section];
            }
        }
        return possible;
    }
    constexpr bool settle(int section) {
        int const first = of_.starts.at[section], length = static_cast<int>(length_.at[section]);
        std::int64_t lowest = no_offset;
        int end = first + length, choices = 0;
        steps_ += length;
        for (int at = first; at < end;) {
            int const which = of_.alive.at[at];
            if (placed_.at[which]) {
                std::swap(of_.alive.at[at], of_.alive.at[--end]);
                continue;
            }
            ++at;
            if (offsets.at[which] > lowest) continue;
            if (offsets.at[which] < lowest) lowest = offsets.at[which], choices = 0;
            choices += supported_.at[which] != 0;
        }
        if (end != first + length) set(length_.at[section], end - first);
        if (lowest != floor_.at[section]) set(floor_.at[section], lowest);
        if (lowest == no_offset) return true;
        if (choices != choices_.at[section]) set(choices_.at[section], choices);
        return lowest + total_.at[section] <= rounded_;
    }

    /// Two items of the same sections, one on the other, could change places: the one of lower rank goes below.
    constexpr bool is_exchangeable(int which) const {
        offset_item const& item = of_.items.at[which];
        if (item.fixed_at >= 0) return false;
        for (int other = item.alike; other != which; other = of_.items.at[other].alike) {
            offset_item const& below = of_.items.at[other];
            if (!placed_.at[other] || below.fixed_at >= 0 || offsets.at[other] + below.footprint != offsets.at[which]) continue;
            return how_.rank.at[which] < how_.rank.at[other] && below.footprint - below.bytes >= item.footprint - item.bytes &&
                   offsets.at[other] % item.alignment == 0 && item.footprint % below.alignment == 0;
        }
        return false;
    }
    /// Places the item where it can begin; items that are alive with it go above.
    constexpr bool place(int which, int begin, int end) {
        offset_item const& item = of_.items.at[which];
        std::int64_t const top = offsets.at[which] + item.footprint;
        set(placed_.at[which], 1);
        if (item.bank_count > 1) set(spanning_, spanning_ - 1);
        for (int bank = 0, from = item.first; bank < item.bank_count; ++bank, from = of_.in_next_bank(from)) {
            for (int section = from, to = from + item.last - item.first; section < to; ++section) {
                set(total_.at[section], total_.at[section] - item.footprint);
                if (section > from) set(crossing_.at[section], crossing_.at[section] - 1);
                touch(section);
            }
        }
        bool possible = true;
        steps_ += end - begin;
        for (int at = begin; at < end && possible; ++at) {
            int const other = list_.at[at];
            offset_item const& o = of_.items.at[other];
            bool const meet = (o.first < item.last && item.first < o.last) || (of_.several_banks && of_.meet(o, item));
            if (meet && !placed_.at[other]) possible = raise(other, top, true);
        }
        return settle() && possible;
    }
    /// Does not place the item where it can begin: another item comes below it.
    constexpr bool lift(int which, int begin, int end) {
        offset_item const& item = of_.items.at[which];
        std::int64_t const above = offsets.at[which] + item.footprint;
        std::int64_t lowest = no_offset;
        steps_ += end - begin;
        for (int at = begin; at < end; ++at) {
            int const other = list_.at[at];
            offset_item const& o = of_.items.at[other];
            bool const meet = (o.first < item.last && item.first < o.last) || (of_.several_banks && of_.meet(o, item));
            if (!meet || placed_.at[other] || other == which) continue;
            if (offsets.at[other] < above) lowest = std::min(lowest, offsets.at[other] + o.footprint);
        }
        if (item.fixed_at >= 0 || lowest == no_offset) return false;
        bool const possible = raise(which, lowest, false);
        return settle() && possible;
    }

    /// Searches sections that no item connects with others.
    /// @param begin,stop positions in the list that have all of their items
    constexpr found_offsets search_part(int first, int end, int begin, int stop) {
        int const own = list_.used();
        for (int at = begin; at < stop; ++at) {
            int const which = list_.at[at];
            offset_item const& item = of_.items.at[which];
            if (placed_.at[which] || item.first < first || item.first >= end) continue;
            list_.push(which);
            fullest_.at[which] = 0;
            for (int bank = 0, from = item.first; bank < item.bank_count && how_.fullest; ++bank, from = of_.in_next_bank(from)) {
                for (int section = from, to = from + item.last - item.first; section < to; ++section)
                    fullest_.at[which] = std::max(fullest_.at[which], total_.at[section]);
            }
        }
        steps_ += list_.used() - own;
        std::sort(list_.begin() + own, list_.begin() + list_.used(), [&](int a, int b) {
            return fullest_.at[a] != fullest_.at[b] ? fullest_.at[a] > fullest_.at[b] : how_.rank.at[a] < how_.rank.at[b];
        });
        found_offsets const found = decide(first, end, own, list_.used());
        list_.shrink(own);
        return found;
    }
    /// An item that can begin where no item that is alive with it can begin lower; -1: all are placed.
    constexpr int choose(int first, int end, int begin, int stop) {
        int next = -1;
        // An item in several banks may have to go above something in another bank: as long as there is such an item, take the lowest of
        // all.
        if (how_.sections == section_choice::lowest || spanning_ > 0) {
            steps_ += stop - begin;
            for (int at = begin; at < stop; ++at) {
                int const which = list_.at[at];
                if (!placed_.at[which] && (next < 0 || offsets.at[which] < offsets.at[next])) next = which;
            }
            return next;
        }
        int const section = hardest_section(first, end);
        for (int at = begin; at < stop && section >= 0; ++at, ++steps_) {
            int const which = list_.at[at];
            offset_item const& item = of_.items.at[which];
            if (item.first <= section && section < item.last && offsets.at[which] == floor_.at[section] && !placed_.at[which]) {
                if (supported_.at[which]) return which;
                if (next < 0) next = which;
            }
        }
        return next;
    }
    /// Chooses among the sections whose items all begin on one level.
    constexpr int hardest_section(int first, int end) {
        bool const tight_first = how_.sections == section_choice::tight;
        int best = -1;
        std::int64_t least = no_offset;
        steps_ += end - first;
        for (int from = first, to = first; from < end; from = to) {
            for (to = from + 1; to < end && floor_.at[to] == floor_.at[from];) ++to;
            if ((from > first && floor_.at[from - 1] < floor_.at[from]) || (to < end && floor_.at[to] < floor_.at[from])) continue;
            for (int section = from; section < to; ++section) {
                if (length_.at[section] == 0) continue;
                bool const tight = floor_.at[section] + total_.at[section] == rounded_;
                std::int64_t const choices = choices_.at[section] + (tight ? 0 : 1);
                std::int64_t const cost =
                    tight_first ? (tight ? choices : choices + of_.count) : (choices << 24) / (1 + weights_.at[section]);
                if (cost > least || (cost == least && floor_.at[section] <= floor_.at[best])) continue;
                best = section, least = cost;
            }
        }
        return best;
    }
    constexpr found_offsets decide(int first, int end, int begin, int stop) {
        int const mark = trail_.used();
        for (;;) {
            if (steps_ > limit_) return found_offsets::unknown;
            int const next = choose(first, end, begin, stop);
            if (next < 0) return found_offsets::yes;
            if (supported_.at[next] && !is_exchangeable(next)) {
                int const before = trail_.used();
                if (place(next, begin, stop)) {
                    found_offsets const found = go_on(next, first, end, begin, stop);
                    if (found != found_offsets::no) return found;
                }
                undo(before);
            }
            if (!lift(next, begin, stop)) break;
        }
        undo(mark);
        return found_offsets::no;
    }
    /// If no open item connects sections any more, they are searched one after the other: if one has no solution, the others need no
    /// search.
    constexpr found_offsets go_on(int placed, int first, int end, int begin, int stop) {
        offset_item const& item = of_.items.at[placed];
        // When the last item in several banks is placed, nothing connects the banks.
        bool split = item.bank_count > 1;
        for (int section = item.first + 1; section < item.last; ++section) split |= crossing_.at[section] == 0;
        if (!split || spanning_ > 0) return decide(first, end, begin, stop);
        for (int from = first, to = first; from < end; from = to) {
            for (to = from + 1; to < end && crossing_.at[to] > 0;) ++to;
            found_offsets const part = search_part(from, to, begin, stop);
            if (part != found_offsets::yes) return part;
        }
        return found_offsets::yes;
    }

    offset_sections& of_;
    std::int64_t capacity_, rounded_, limit_ = 0;
    preference const& how_;
    work_array<std::int64_t>& weights_;  ///< how often a section had no room
    std::int64_t& steps_;
    std::int64_t spanning_ = 0;  ///< items in several banks that are not placed
    work_array<std::int64_t> placed_;
    work_array<std::int64_t> supported_;  ///< items that lie on something where they can begin; others wait for it
    work_array<int> upper_twin_;          ///< the item of which this one is the twin
    work_array<std::int64_t> fullest_;    ///< the largest total of an item's sections
    work_array<std::int64_t> floor_;
    work_array<std::int64_t> total_;     ///< footprints of a section's items that are not placed
    work_array<std::int64_t> crossing_;  ///< items that are not placed, and alive on both sides of a section's beginning
    work_array<std::int64_t> length_;    ///< of the list of items that are not placed
    work_array<std::int64_t> choices_;   ///< items that can begin at a section's floor
    work_array<char> queued_;
    work_array<int> queue_;
    work_array<int> list_;  ///< of the items of each part that is being searched, in the order of preference
    work_array<change> trail_;
};

}  // namespace tilewright::detail
