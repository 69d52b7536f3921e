#pragma once
#include <tilewright/plan/offset_sections.hpp>

// The search for offsets below a given capacity.
namespace tilewright::detail {

enum class found_offsets : std::uint8_t { yes, no, unknown };

/// Which section is decided next.
enum class section_choice : std::uint8_t {
    lowest,  ///< of the lowest ones, the fullest of those where the item of lowest rank can begin
    tight,   ///< one that has nothing to waste, with the fewest items to choose from
    failed,  ///< where the search has failed most, with the fewest items to choose from
};

/// What a search tries first.
struct preference {
    work_array<int> const& rank;  ///< of items that can begin at the same offset, those of lower rank
    section_choice sections = section_choice::failed;
};

/// Looks for offsets of all items below a capacity, depth first.
///
/// A section is filled from below. Its floor is where the lowest item that it still waits for can begin. An item can begin at the highest
/// floor of its sections. A decision says what lies lowest in one section: an item that can begin at its floor, which is pinned there, or
/// nothing, which raises the floor. So every arrangement is met at most once, whatever section is decided next.
///
/// @see M. Moffitt, "MiniMalloc", ASPLOS 2023: sections, floors, canonical arrangements and restarts with several orders
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
          pinned_(of.count),
          floor_(of.sections),
          total_(of.sections),
          open_(of.sections),
          waiting_(of.sections),
          crossing_(of.sections + 1),
          length_(of.sections),
          choices_(of.sections),
          queued_(of.sections),
          queue_(of.sections),
          candidates_(0),
          trail_(0) {
        for (int at = 0; at < of.count; ++at) {
            offset_item const& item = of.items.at[at];
            for (int section = item.first; section < item.last; ++section) total_.at[section] += item.footprint, ++open_.at[section];
            for (int section = item.first + 1; section < item.last; ++section) ++crossing_.at[section];
        }
        for (int section = 0; section < of.sections; ++section) length_.at[section] = open_.at[section];
    }

    /// Searches the sections from `first` to `end`, which share no item with others.
    /// @param limit value of `steps` at which the search gives up
    constexpr found_offsets run(int first, int end, std::int64_t limit) {
        limit_ = limit;
        for (int section = 0; section < of_.sections; ++section) touch(section);
        for (int at = 0; at < of_.count; ++at) {
            if (of_.items.at[at].fixed_at >= 0) pin(at, of_.items.at[at].fixed_at);
        }
        if (!settle()) return found_offsets::no;
        return solve(first, end);
    }

    work_array<std::int64_t> offsets;  ///< of the items: lowest ones that are possible, and when all are found, theirs

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
    constexpr void pin(int which, std::int64_t offset) {
        offset_item const& item = of_.items.at[which];
        set(pinned_.at[which], 1);
        if (offsets.at[which] != offset) set(offsets.at[which], offset);
        for (int section = item.first; section < item.last; ++section) {
            set(open_.at[section], open_.at[section] - 1);
            set(waiting_.at[section], waiting_.at[section] + 1);
            if (section > item.first) set(crossing_.at[section], crossing_.at[section] - 1);
            touch(section);
        }
    }
    constexpr bool raise(int which, std::int64_t offset) {
        offset_item const& item = of_.items.at[which];
        offset = aligned_up(offset, item.alignment);
        if (offset + item.bytes > capacity_) return false;
        std::int64_t const before = offsets.at[which];
        set(offsets.at[which], offset);
        steps_ += item.last - item.first;
        for (int section = item.first; section < item.last; ++section) {
            if (floor_.at[section] >= before || waiting_.at[section] > 0) touch(section);
        }
        return true;
    }

    /// Draws all conclusions from what has changed; false: this leads nowhere.
    constexpr bool settle() {
        bool possible = true;
        while (queue_.used() > 0) {
            int const section = queue_.pop();
            if (possible && !settle(section)) {
                possible = false;
                ++weights_.at[section];
            }
            queued_.at[section] = false;
        }
        return possible;
    }
    constexpr bool settle(int section) {
        int const first = of_.starts.at[section];
        for (bool again = true; again;) {
            again = false;
            int const end = first + static_cast<int>(length_.at[section]);
            steps_ += end - first;
            std::int64_t const floor = floor_.at[section];
            std::int64_t lowest = no_offset;
            int lowest_at = -1, choices = 0;
            for (int at = first; at < end; ++at) {
                int const which = of_.alive.at[at];
                if (offsets.at[which] < floor && (pinned_.at[which] || !raise(which, floor))) return false;
                if (offsets.at[which] > lowest) continue;
                if (offsets.at[which] < lowest) lowest = offsets.at[which], lowest_at = -1, choices = 0;
                if (pinned_.at[which]) {
                    lowest_at = at;
                } else {
                    choices += of_.items.at[which].twin < 0 || pinned_.at[of_.items.at[which].twin];
                }
            }
            if (lowest == no_offset) return true;
            if (lowest > floor) {
                set(floor_.at[section], lowest);
                if (lowest + total_.at[section] > rounded_) return false;
            }
            if (lowest_at >= 0) {
                offset_item const& item = of_.items.at[of_.alive.at[lowest_at]];
                set(floor_.at[section], lowest + item.footprint);
                set(total_.at[section], total_.at[section] - item.footprint);
                set(waiting_.at[section], waiting_.at[section] - 1);
                set(length_.at[section], length_.at[section] - 1);
                std::swap(of_.alive.at[lowest_at], of_.alive.at[end - 1]);
                again = true;
            } else if (waiting_.at[section] > 0) {
                if (!clear_pinned(section, again)) return false;
            }
            if (!again && choices_.at[section] != choices) set(choices_.at[section], choices);
        }
        return true;
    }
    /// Items that cannot lie below a pinned one go on top of it.
    constexpr bool clear_pinned(int section, bool& raised) {
        int const first = of_.starts.at[section], end = first + static_cast<int>(length_.at[section]);
        for (int at = first; at < end; ++at) {
            int const below = of_.alive.at[at];
            if (!pinned_.at[below]) continue;
            std::int64_t const bottom = offsets.at[below], top = bottom + of_.items.at[below].footprint;
            steps_ += end - first;
            for (int other = first; other < end; ++other) {
                int const which = of_.alive.at[other];
                if (pinned_.at[which] || offsets.at[which] >= top || offsets.at[which] + of_.items.at[which].footprint <= bottom) continue;
                if (!raise(which, top)) return false;
                raised = true;
            }
        }
        return true;
    }

    /// Sections that no open item connects are searched one after the other: where one has no solution, the others need none.
    constexpr found_offsets solve(int first, int end) {
        for (int from = first, to = first; from < end; from = to) {
            for (to = from + 1; to < end && crossing_.at[to] > 0;) ++to;
            if (open_.at[from] == 0) continue;
            found_offsets const part = decide(from, to);
            if (part != found_offsets::yes) return part;
        }
        return found_offsets::yes;
    }
    constexpr bool is_choice(int section, int which) const {
        offset_item const& item = of_.items.at[which];
        return offsets.at[which] == floor_.at[section] && !pinned_.at[which] && (item.twin < 0 || pinned_.at[item.twin]);
    }
    /// Two buffers of the same sections, one upon the other, could change places: the smaller one goes below.
    constexpr bool is_exchangeable(int which) const {
        offset_item const& item = of_.items.at[which];
        for (int other = item.alike; other != which; other = of_.items.at[other].alike) {
            offset_item const& below = of_.items.at[other];
            if (!pinned_.at[other] || below.fixed_at >= 0 || offsets.at[other] + below.footprint != offsets.at[which]) continue;
            return below.footprint > item.footprint && below.footprint - below.bytes >= item.footprint - item.bytes &&
                   offsets.at[other] % item.alignment == 0 && item.footprint % below.alignment == 0;
        }
        return false;
    }
    constexpr int choose_section(int first, int end) {
        steps_ += end - first;
        return how_.sections == section_choice::lowest ? lowest_section(first, end) : hardest_section(first, end);
    }
    constexpr int lowest_section(int first, int end) {
        std::int64_t lowest = no_offset;
        for (int section = first; section < end; ++section) lowest = std::min(lowest, floor_.at[section]);
        int next = -1;
        for (int section = first; section < end; ++section) {
            if (floor_.at[section] != lowest) continue;
            int const begin = of_.starts.at[section], stop = begin + static_cast<int>(length_.at[section]);
            steps_ += stop - begin;
            for (int at = begin; at < stop; ++at) {
                int const which = of_.alive.at[at];
                if (is_choice(section, which) && (next < 0 || how_.rank.at[which] < how_.rank.at[next])) next = which;
            }
        }
        int fullest = of_.items.at[next].first;
        for (int section = fullest; section < of_.items.at[next].last; ++section) {
            if (total_.at[section] > total_.at[fullest]) fullest = section;
        }
        return fullest;
    }
    /// Of the sections where all that can begin lies on one level.
    constexpr int hardest_section(int first, int end) {
        bool const tight_first = how_.sections == section_choice::tight;
        int best = -1;
        std::int64_t least = no_offset;
        for (int from = first, to = first; from < end; from = to) {
            for (to = from + 1; to < end && floor_.at[to] == floor_.at[from];) ++to;
            if ((from > first && floor_.at[from - 1] < floor_.at[from]) || (to < end && floor_.at[to] < floor_.at[from])) continue;
            for (int section = from; section < to; ++section) {
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
    /// The next floor of a section in which nothing begins at the present one: an item lies on another one, which is not in this section.
    constexpr std::int64_t next_floor(int section) {
        std::int64_t const floor = floor_.at[section];
        std::int64_t next = no_offset;
        for (int at = of_.starts.at[section]; at < of_.starts.at[section] + length_.at[section]; ++at) {
            int const which = of_.alive.at[at];
            offset_item const& item = of_.items.at[which];
            std::int64_t possible = offsets.at[which];
            if (possible == floor) {
                possible = no_offset;
                for (int s = item.first; s < item.last; ++s) {
                    if (s == section) continue;
                    steps_ += length_.at[s];
                    for (int other = of_.starts.at[s]; other < of_.starts.at[s] + length_.at[s]; ++other) {
                        int const below = of_.alive.at[other];
                        offset_item const& b = of_.items.at[below];
                        if (b.first <= section && section < b.last) continue;
                        possible = std::min(possible, offsets.at[below] + b.footprint);
                    }
                }
                possible = aligned_up(std::max(possible, floor + 1), item.alignment);
            }
            next = std::min(next, possible);
        }
        return next;
    }
    constexpr found_offsets decide(int first, int end) {
        if (steps_ > limit_) return found_offsets::unknown;
        int const section = choose_section(first, end), mark = trail_.used(), begin = candidates_.used();
        for (int at = of_.starts.at[section]; at < of_.starts.at[section] + length_.at[section]; ++at) {
            int const which = of_.alive.at[at];
            if (!is_choice(section, which) || is_exchangeable(which)) continue;
            candidates_.push(which);
            for (int to = candidates_.used() - 1; to > begin && how_.rank.at[which] < how_.rank.at[candidates_.at[to - 1]]; --to)
                std::swap(candidates_.at[to], candidates_.at[to - 1]);
        }
        int const stop = candidates_.used();
        found_offsets rest = found_offsets::no;
        for (int at = begin; at < stop && rest == found_offsets::no; ++at) {
            pin(candidates_.at[at], offsets.at[candidates_.at[at]]);
            if (settle()) rest = solve(first, end);
            if (rest == found_offsets::no) undo(mark);
        }
        candidates_.shrink(begin);
        if (rest != found_offsets::no) return rest;
        std::int64_t const floor = next_floor(section);
        if (floor + total_.at[section] > rounded_) return found_offsets::no;
        set(floor_.at[section], floor);
        touch(section);
        if (settle()) rest = solve(first, end);
        if (rest == found_offsets::no) undo(mark);
        return rest;
    }

    offset_sections& of_;
    std::int64_t capacity_, rounded_, limit_ = 0;
    preference const& how_;
    work_array<std::int64_t>& weights_;
    std::int64_t& steps_;
    work_array<std::int64_t> pinned_, floor_, total_;
    work_array<std::int64_t> open_;      ///< items of a section that are not pinned
    work_array<std::int64_t> waiting_;   ///< those that are pinned above its floor
    work_array<std::int64_t> crossing_;  ///< items that are not pinned, and alive on both sides of a section's beginning
    work_array<std::int64_t> length_;    ///< of the list of items above a section's floor
    work_array<std::int64_t> choices_;   ///< items that can begin at a section's floor
    work_array<char> queued_;
    work_array<int> queue_, candidates_;
    work_array<change> trail_;
};

}  // namespace tilewright::detail
