#pragma once
#include <tilewright/plan/offsets/equal_sums.hpp>

// Arrangements of buffers by what follows what in the same place.
namespace tilewright::detail {

/// What to try in turn where nothing may be wasted: few ways first, then more to the end, then many that go back where they stand still.
constexpr succession_choice exact_choice(int turn) {
    int const group = turn / 4;
    succession_choice how{.backwards = turn % 2 == 1, .width = group == 0 ? 2 : group == 1 ? 8 : 16, .trust = 4 + turn / 2 % 2 * 4};
    how.forced = group == 1;
    if (group > 1) how.returns = 24, how.seed = turn;
    return how;
}
/// What to try in turn to find orders in which to place, where sums are not equal.
constexpr succession_choice forced_choice(int turn) {
    int const tolerances[] = {0, 10, 40, 80, 20};
    return {.backwards = turn % 2 == 1,
            .width = turn < 30 ? 1 : 8,
            .trust = 4 + turn / 10 % 3 * 2,
            .forced = true,
            .tolerance = tolerances[turn / 2 % 5]};
}

/// Goes through the sections in the order of time and decides who follows whom in the same place. How things lie upon each other is left
/// open as long as possible.
///
/// Where nothing may be wasted, what begins at the end of a section fills the places of what ends there, without a gap. If three buffers
/// end and two begin, and no fewer of them have equal sums, the three lie side by side. `contiguous_orders` keeps all orders that have
/// this.
///
/// Where fewer have equal sums, each of these sets may have a place of its own, or they are equal by chance. So there are several ways on,
/// and of all of them the most likely ones are kept: sums that are hardly equal by chance count for a way, and so do orders that are left.
///
/// Where something is missing at some time, boxes of nothing fill it. With a tolerance, sums need not be equal. Then what it finds is an
/// order in which to place the buffers, rather than offsets.
class successions {
  public:
    /// @param capacity no section has more bytes
    constexpr successions(offset_sections const& of, std::int64_t capacity, succession_choice const& how, std::int64_t& steps)
        : positions(0),
          of_(of),
          capacity_(capacity),
          how_(how),
          steps_(steps),
          boxes_(0),
          chosen_(0),
          by_begin_(0),
          by_end_(0),
          ended_(0),
          begun_(0),
          sums_(how),
          ways_(0),
          next_(0),
          kept_ways_(0),
          marks_(of.sections),
          saved_(0),
          spare_(0),
          blocks_(0),
          old_(0),
          fresh_(0) {}

    /// @pre   nothing is fixed or lies in several banks
    /// @param limit value of `steps` at which it gives up
    /// @return whether there are positions: without tolerance, their peak is the capacity
    constexpr bool run(std::int64_t limit) {
        for (int at = 0; at < of_.count; ++at) add_box(of_.items.at[at].first, of_.items.at[at].last, of_.items.at[at].footprint);
        fill();
        sort_by_time();
        for (; next_begin_ < count() && begin_of(by_begin_.at[next_begin_]) == 0; ++next_begin_) begun_.push(by_begin_.at[next_begin_]);
        tree_.start({begun_.begin(), static_cast<std::size_t>(begun_.used())});
        ways_.push({.tree = tree_.save(saved_)});
        for (int section = 1, furthest = 0, returns = 0; section < of_.sections && steps_ <= limit;) {
            put_mark(section);
            bool const last = returns == how_.returns;
            if (cross(section, section < furthest ? how_.seed + returns : 0, last && how_.forced)) {
                ++section;
                continue;
            }
            if (last) return false;
            ++returns;
            // 16, 32, 16, 64, 16, 32, 16, 128, … sections
            int length = 16;
            for (int turn = returns; turn % 2 == 0 && length < 512; turn /= 2) length *= 2;
            furthest = std::max(furthest, section + 1), section = std::max(section - length, 1);
            return_to(section);
        }
        return ways_.used() > 0 && steps_ <= limit && go_back();
    }

    work_array<std::int64_t> positions;  ///< of the items, then of boxes of nothing: offsets, where nothing is aligned

  private:
    /// Places that have become others: leaves of the tree that went, and new ones.
    struct block {
        int section = 0;
        int before = -1;  ///< the block before it
        int tree = 0;     ///< with the old leaves side by side, as it was saved
        int old_from = 0, old_to = 0, fresh_from = 0, fresh_to = 0;
    };
    /// What was decided so far.
    struct way {
        int tree = 0, last_block = -1;
        std::int64_t merit = 0;    ///< the logarithm of how likely it is
        std::uint64_t orders = 0;  ///< the signature of those that are left
    };
    using members = equal_sums::members;
    static constexpr int most_tried = 48, least_merit = -10 * 256;

    struct box {
        int first = 0, last = 0;
        std::int64_t bytes = 0;
    };
    constexpr int count() const { return boxes_.used(); }
    constexpr int begin_of(int at) const { return how_.backwards ? of_.sections - boxes_.at[at].last : boxes_.at[at].first; }
    constexpr int end_of(int at) const { return how_.backwards ? of_.sections - boxes_.at[at].first : boxes_.at[at].last; }
    constexpr std::int64_t bytes_of(int at) const { return boxes_.at[at].bytes; }
    constexpr void add_box(int first, int last, std::int64_t bytes) {
        by_begin_.push(count()), by_end_.push(count()), positions.push(0), chosen_.push(0);
        boxes_.push({first, last, bytes});
    }
    /// Boxes of nothing, so that every section is full. Nothing that begins where something is missing is as likely to end where as much is
    /// missing no more.
    constexpr void fill() {
        work_array<box> open(0);
        std::int64_t missing = 0;
        for (int section = 0; section < of_.sections; ++section) {
            std::int64_t more = capacity_ - of_.total(section) - missing, small = 0;
            for (int at = of_.starts.at[section]; at < of_.starts.at[section + 1] && how_.tolerance > 0; ++at) {
                box const& b = boxes_.at[of_.alive.at[at]];
                if (b.first == section) small += b.bytes;
            }
            missing += more;
            if (section > 0 && (more < 0 ? -more : more) <= small / 1000 * how_.tolerance) continue;
            if (more > 0) open.push({section, 0, more});
            while (more < 0 && open.used() > 0) end_filling(open, section, more);
        }
        for (int at = 0; at < open.used(); ++at) add_box(open.at[at].first, of_.sections, open.at[at].bytes);
    }
    /// Ends what is as large as it should be or, if nothing is, a part of something.
    constexpr void end_filling(work_array<box>& open, int section, std::int64_t& more) {
        int best = 0;
        auto const distance = [&](int at) {
            return open.at[at].bytes + more < 0 ? -2 * (open.at[at].bytes + more) : open.at[at].bytes + more;
        };
        for (int at = 1; at < open.used(); ++at) {
            if (distance(at) < distance(best)) best = at;
        }
        steps_ += open.used();
        box& b = open.at[best];
        std::int64_t const part = std::min(b.bytes, -more);
        if (b.first < section) add_box(b.first, section, part);
        b.bytes -= part, more += part;
        if (b.bytes == 0) open.at[best] = open.at[open.used() - 1], open.pop();
    }
    constexpr void sort_by_time() {
        auto const by = [&](work_array<int>& order, auto&& less) { std::sort(order.begin(), order.begin() + count(), less); };
        by(by_begin_, [&](int a, int b) { return begin_of(a) != begin_of(b) ? begin_of(a) < begin_of(b) : a < b; });
        by(by_end_, [&](int a, int b) { return end_of(a) != end_of(b) ? end_of(a) < end_of(b) : a < b; });
    }

    /// Where everything was before a section was crossed: so many of each, and the ways.
    struct mark {
        int begun = 0, ended = 0, saved = 0, blocks = 0, olds = 0, freshes = 0;
        int ways_from = 0, ways_to = 0;
    };
    constexpr void put_mark(int section) {
        marks_.at[section] = {next_begin_, next_end_, saved_.used(), blocks_.used(), old_.used(), fresh_.used(), kept_ways_.used(), 0};
        for (int at = 0; at < ways_.used(); ++at) kept_ways_.push(ways_.at[at]);
        marks_.at[section].ways_to = kept_ways_.used();
    }
    constexpr void return_to(int section) {
        mark const& m = marks_.at[section];
        next_begin_ = m.begun, next_end_ = m.ended;
        saved_.shrink(m.saved), blocks_.shrink(m.blocks), old_.shrink(m.olds), fresh_.shrink(m.freshes);
        ways_.shrink(0);
        for (int at = m.ways_from; at < m.ways_to; ++at) ways_.push(kept_ways_.at[at]);
        kept_ways_.shrink(m.ways_from);
    }
    /// From a section to the next one. @return whether there is a way on
    /// @param seed of what merits are disturbed by; 0: nothing
    constexpr bool cross(int section, int seed, bool forced) {
        section_ = section;
        int const saved = saved_.used(), blocks = blocks_.used();
        ended_.shrink(0), begun_.shrink(0), next_.shrink(0);
        for (; next_end_ < count() && end_of(by_end_.at[next_end_]) == section; ++next_end_) ended_.push(by_end_.at[next_end_]);
        for (; next_begin_ < count() && begin_of(by_begin_.at[next_begin_]) == section; ++next_begin_)
            begun_.push(by_begin_.at[next_begin_]);
        sums_.find(
            ended_, begun_, seed, [&](int at) { return bytes_of(at); }, steps_);
        for (int at = 0, tried = 0; at < ways_.used(); ++at, tried = 0) try_matches(ways_.at[at], 0, 0, 0, tried);
        for (int at = 0; at < ways_.used() && next_.used() == 0 && forced; ++at) force(ways_.at[at]);
        choose_ways();
        forget_others(saved, blocks);
        return ways_.used() > 0;
    }
    /// Keeps the ways of most merit. Of those that leave the same orders, one is enough: whatever becomes of them is the same.
    constexpr void choose_ways() {
        std::sort(next_.begin(), next_.begin() + next_.used(),
                  [](way const& a, way const& b) { return a.merit != b.merit ? a.merit > b.merit : a.last_block < b.last_block; });
        ways_.shrink(0);
        for (int at = 0; at < next_.used() && ways_.used() < how_.width; ++at) {
            bool known = false;
            for (int other = 0; other < ways_.used() && !known; ++other) known = ways_.at[other].orders == next_.at[at].orders;
            if (!known) ways_.push(next_.at[at]);
        }
    }
    /// Of the trees that were saved here, keeps those of the ways that go on.
    constexpr void forget_others(int saved, int blocks) {
        auto const each_kept = [&](auto&& visit) {
            for (int at = 0; at < ways_.used(); ++at) {
                visit(ways_.at[at].tree);
                for (int of = ways_.at[at].last_block; of >= blocks; of = blocks_.at[of].before) visit(blocks_.at[of].tree);
            }
        };
        spare_.shrink(0);
        each_kept([&](int& tree) {
            // Ways may have blocks in common, which have moved then.
            if (tree < saved) return;
            tree_.load(saved_, tree);
            tree = -1 - tree_.save(spare_);
        });
        saved_.shrink(saved);
        each_kept([&](int& tree) {
            if (tree >= 0) return;
            tree_.load(spare_, -1 - tree);
            tree = tree_.save(saved_);
        });
    }
    /// All ways on from here: all that ends makes place for all that begins, or some of it for some.
    ///
    /// @param at which match to begin with; those before it are decided
    constexpr void try_matches(way const& from, int at, members gone, members put, int& tried) {
        finish(from, gone, put);
        for (; at < sums_.matches.used() && tried < most_tried; ++at) {
            equal_sums::match const& m = sums_.matches.at[at];
            if (m.merit < least_merit) break;
            if ((m.ended & gone) != 0 || (m.begun & put) != 0) continue;
            int const old_from = old_.used(), fresh_from = fresh_.used();
            take(ended_, m.ended, false, old_), take(begun_, m.begun, false, fresh_);
            way next = from;
            if (!follow(next, old_from, fresh_from)) continue;
            next.merit += m.merit;
            ++tried;
            try_matches(next, at + 1, gone | m.ended, put | m.begun, tried);
        }
    }
    constexpr void take(work_array<int> const& from, members set, bool others, work_array<int>& into) {
        for (int at = 0; at < from.used(); ++at) {
            bool const in_set = at < equal_sums::most_members && (set >> at) % 2 != 0;
            if (in_set != others) into.push(from.at[at]);
        }
    }
    /// All that is left, against all that is left.
    constexpr void finish(way const& from, members gone, members put) {
        int const old_from = old_.used(), fresh_from = fresh_.used();
        take(ended_, gone, true, old_), take(begun_, put, true, fresh_);
        way next = from;
        if (old_.used() == old_from && fresh_.used() == fresh_from) return next_.push(next);
        if (old_.used() == old_from || fresh_.used() == fresh_from) return old_.shrink(old_from), fresh_.shrink(fresh_from);
        std::int64_t error = 0;
        for (int at = old_from; at < old_.used(); ++at) error += bytes_of(old_.at[at]);
        for (int at = fresh_from; at < fresh_.used(); ++at) error -= bytes_of(fresh_.at[at]);
        next.merit -= (error < 0 ? -error : error) * 50'000 / capacity_;
        if (follow(next, old_from, fresh_from)) next_.push(next);
    }
    /// Each that begins, the largest first, goes where the most room is left of what has ended.
    constexpr void force(way next) {
        int const ends = ended_.used();
        work_array<std::int64_t> room(ends);
        work_array<int> place(begun_.used());
        auto const larger = [&](int a, int b) { return bytes_of(a) != bytes_of(b) ? bytes_of(a) > bytes_of(b) : a < b; };
        std::sort(begun_.begin(), begun_.begin() + begun_.used(), larger);
        for (int at = 0; at < ends; ++at) room.at[at] = bytes_of(ended_.at[at]);
        for (int at = 0; at < begun_.used(); ++at) {
            int most = 0;
            for (int end = 1; end < ends; ++end) most = room.at[end] > room.at[most] ? end : most;
            place.at[at] = most;
            if (ends > 0) room.at[most] -= bytes_of(begun_.at[at]);
        }
        for (int end = 0; end < ends; ++end) {
            int const old_from = old_.used(), fresh_from = fresh_.used();
            old_.push(ended_.at[end]);
            for (int at = 0; at < begun_.used(); ++at) {
                if (place.at[at] == end) fresh_.push(begun_.at[at]);
            }
            next.merit -= (room.at[end] < 0 ? -room.at[end] : room.at[end]) * 50'000 / capacity_;
            follow(next, old_from, fresh_from);
        }
        for (int at = 0; at < begun_.used() && ends == 0; ++at) {
            fresh_.push(begun_.at[at]);
            follow(next, old_.used(), fresh_.used() - 1);
        }
        next_.push(next);
    }
    /// The fresh leaves take the place of the old ones, if these can lie side by side.
    constexpr bool follow(way& from, int old_from, int fresh_from) {
        tree_.load(saved_, from.tree);
        for (int at = old_from; at < old_.used(); ++at) chosen_.at[old_.at[at]] = true;
        steps_ += 8 * tree_.size();
        int const olds = old_.used() - old_from, freshes = fresh_.used() - fresh_from;
        bool const possible = olds == 0 || tree_.can_gather(chosen_);
        if (possible) {
            std::int64_t const before = tree_.freedom();
            if (olds > 0) tree_.gather();
            int const gathered = tree_.save(saved_);
            from.merit += tree_.freedom() - before + log2_of_orders(freshes);
            blocks_.push({section_, from.last_block, gathered, old_from, old_.used(), fresh_from, fresh_.used()});
            if (olds == 0) {
                tree_.add(fresh_.at[fresh_from]);
            } else if (freshes == 0) {
                tree_.remove(chosen_);
            } else {
                tree_.replace(chosen_, {fresh_.begin() + fresh_from, static_cast<std::size_t>(freshes)});
            }
            from.orders = tree_.signature();
            from.tree = tree_.save(saved_), from.last_block = blocks_.used() - 1;
        }
        for (int at = old_from; at < old_.used(); ++at) chosen_.at[old_.at[at]] = false;
        if (!possible) old_.shrink(old_from), fresh_.shrink(fresh_from);
        return possible;
    }

    /// From the last section to the first one: chooses one of the orders that were left, and who lies upon whom.
    constexpr bool go_back() {
        work_array<std::int64_t> key(count());
        work_array<int> order(0), above(count()), from(0), to(0);
        for (int at = 0; at < count(); ++at) above.at[at] = -1;
        tree_.load(saved_, ways_.at[0].tree);
        tree_.read(order);
        int last_block = ways_.at[0].last_block;
        for (int section = of_.sections - 1; section >= 0; --section) {
            // Who lies upon whom in this section.
            int below = -1;
            for (int at = 0; at < order.used(); ++at) {
                int const label = order.at[at];
                if (below >= 0 && above.at[below] != label) from.push(below), to.push(label), above.at[below] = label;
                below = label;
            }
            steps_ += order.used();
            for (; last_block >= 0 && blocks_.at[last_block].section == section; last_block = blocks_.at[last_block].before) {
                block const& b = blocks_.at[last_block];
                for (int at = 0; at < order.used(); ++at) key.at[order.at[at]] = at;
                std::int64_t lowest = no_offset;
                for (int at = b.fresh_from; at < b.fresh_to; ++at) lowest = std::min(lowest, key.at[fresh_.at[at]]);
                for (int at = b.old_from; at < b.old_to; ++at) key.at[old_.at[at]] = lowest;
                tree_.load(saved_, b.tree);
                tree_.sort(key);
                order.shrink(0);
                tree_.read(order);
                steps_ += 3 * order.used();
            }
        }
        return stack(from, to);
    }
    /// The lowest position of each item above what it lies upon.
    constexpr bool stack(work_array<int> const& from, work_array<int> const& to) {
        work_array<int> starts(count() + 1), targets(from.used()), waits(count()), ready(0);
        for (int at = 0; at < from.used(); ++at) ++starts.at[from.at[at] + 1], ++waits.at[to.at[at]];
        for (int at = 0; at < count(); ++at) starts.at[at + 1] += starts.at[at];
        work_array<int> filled(count());
        for (int at = 0; at < from.used(); ++at) targets.at[starts.at[from.at[at]] + filled.at[from.at[at]]++] = to.at[at];
        for (int at = 0; at < count(); ++at) {
            positions.at[at] = 0;
            if (waits.at[at] == 0) ready.push(at);
        }
        int done = 0;
        for (; ready.used() > 0; ++done) {
            int const at = ready.pop();
            for (int edge = starts.at[at]; edge < starts.at[at + 1]; ++edge) {
                int const upper = targets.at[edge];
                positions.at[upper] = std::max(positions.at[upper], positions.at[at] + bytes_of(at));
                if (--waits.at[upper] == 0) ready.push(upper);
            }
        }
        steps_ += from.used();
        return done == count();
    }

    offset_sections const& of_;
    std::int64_t capacity_;
    succession_choice const& how_;
    std::int64_t& steps_;
    int section_ = 0, next_begin_ = 0, next_end_ = 0;
    contiguous_orders tree_;
    work_array<box> boxes_;    ///< items, and what fills the rest
    work_array<char> chosen_;  ///< of each box
    work_array<int> by_begin_, by_end_;
    work_array<int> ended_, begun_;  ///< boxes that end and begin at this section
    equal_sums sums_;
    work_array<way> ways_, next_, kept_ways_;
    work_array<mark> marks_;  ///< for each section
    work_array<contiguous_orders::node> saved_, spare_;
    work_array<block> blocks_;
    work_array<int> old_, fresh_;  ///< leaves of all blocks
};

}  // namespace tilewright::detail
