#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/offsets/ejections.hpp>
#include <tilewright/plan/offsets/search.hpp>
#include <tilewright/plan/offsets/successions.hpp>

// Finds the smallest peak: greedy orders first, then searches below one capacity after the other.
namespace tilewright::detail {

/// One call of `ir::assign_offsets`.
class offset_solver {
  public:
    constexpr offset_solver(std::span<ir::placed_buffer> buffers, ir::address_space of, ir::offset_goal goal, std::int64_t budget)
        : buffers_(buffers.data()),
          count_(static_cast<int>(buffers.size())),
          banks_(of.banks),
          capacity_(of.banks > 0 ? of.capacity / of.banks : 0),
          goal_(goal),
          budget_(budget) {
        if (of.banks < 1 || of.capacity < 0) result_.fault = ir::offset_fault::space;
    }

    constexpr ir::offset_result run() {
        check();
        if (result_.fault != ir::offset_fault::none) return result_;
        find_bound();
        result_.peak = no_offset;
        for (int measure = 0; measure < measures && !done(); ++measure) place_greedily(measure);
        if (budget_ >= run_time_steps && !done()) search_long();
        improve();
        for (int at = 0; at < count_; ++at) {
            buffer(at).offset = best_.at[at];
            buffer(at).bank = best_bank_.at[at];
        }
        result_.proven = result_.peak == result_.lower_bound;
        result_.fits = result_.peak <= capacity_;
        return result_;
    }

  private:
    static constexpr int measures = 4;
    /// A budget that no compiler is given.
    static constexpr std::int64_t run_time_steps = 1'000'000;
    constexpr ir::placed_buffer& buffer(int at) const { return buffers_[at]; }
    constexpr bool is_empty(int at) const { return buffer(at).bytes == 0 || buffer(at).born == buffer(at).dead; }
    /// Whether a buffer, with its first part in `first`, lies in a bank.
    constexpr bool lies_in(int at, int first, int bank) const { return (bank - first + banks_) % banks_ < buffer(at).bank_count; }
    /// Whether two buffers have a bank in common, given the first of each.
    constexpr bool share_bank(int a, int first_a, int b, int first_b) const {
        return first_a == first_b || (several_banks_ && (lies_in(a, first_a, first_b) || lies_in(b, first_b, first_a)));
    }
    constexpr bool meet(int a, int b) const { return buffer(a).born < buffer(b).dead && buffer(b).born < buffer(a).dead; }
    constexpr bool done() const {
        return result_.peak <= result_.lower_bound || (goal_ == ir::offset_goal::first_fit && result_.peak <= capacity_);
    }

    constexpr void check() {
        auto const refuse = [&](ir::offset_fault fault, int which) {
            if (result_.fault == ir::offset_fault::none) result_.fault = fault, result_.faulty = which;
        };
        std::int64_t sum = 0;
        for (int at = 0; at < count_; ++at) {
            ir::placed_buffer const& b = buffer(at);
            if (b.alignment < 1 || b.alignment > no_offset / 4) return refuse(ir::offset_fault::alignment, at);
            std::int64_t const most = no_offset / 4 - sum - b.alignment;
            if (b.bytes < 0 || b.bytes > most || (b.fixed && b.offset > most)) return refuse(ir::offset_fault::bytes, at);
            sum += b.bytes + b.alignment;
            if (b.dead < b.born) return refuse(ir::offset_fault::lifetime, at);
            bool const which_matters = (b.fixed || b.bank_count > 1) && b.bank_count < banks_;
            if (b.bank < -1 || b.bank >= banks_ || (b.bank < 0 && which_matters)) return refuse(ir::offset_fault::bank, at);
            if (b.bank_count < 1 || b.bank_count > banks_) return refuse(ir::offset_fault::bank, at);
            several_banks_ |= b.bank_count > 1;
            if (b.fixed && (b.offset < 0 || b.offset % b.alignment != 0)) return refuse(ir::offset_fault::fixed_offset, at);
            for (int other = 0; other < at && b.fixed && !is_empty(at); ++other) {
                ir::placed_buffer const& o = buffer(other);
                if (!o.fixed || is_empty(other) || !meet(at, other)) continue;
                if (banks_ > 1 && !share_bank(at, std::max(b.bank, 0), other, std::max(o.bank, 0))) continue;
                if (b.offset < o.offset + o.bytes && o.offset < b.offset + b.bytes) return refuse(ir::offset_fault::fixed_overlap, at);
            }
        }
    }

    /// The smallest number from `offset` on that can be the end of a buffer.
    constexpr std::int64_t next_peak(std::int64_t offset) const {
        offset = aligned_up(offset, grain_);
        std::int64_t next = no_offset;
        for (int at = 0; at < count_; ++at) {
            if (is_empty(at)) continue;
            ir::placed_buffer const& b = buffer(at);
            next = std::min(next, b.bytes + aligned_up(std::max<std::int64_t>(offset - b.bytes, 0), b.alignment));
        }
        return next;
    }
    /// A bound: the bytes that are alive at one time, spread over the banks, and the bytes that each bank was asked for.
    constexpr void find_bound() {
        for (int at = 0; at < count_; ++at) {
            ir::placed_buffer const& b = buffer(at);
            bank_of_.at[at] = 0;
            if (is_empty(at)) continue;
            grain_ = gcd(gcd(grain_, b.bytes), b.alignment);
            result_.lower_bound = std::max(result_.lower_bound, b.bytes + (b.fixed ? b.offset : 0));
        }
        offset_sections const sections({buffers_, static_cast<std::size_t>(count_)}, bank_of_.begin(), 1);
        if (sections.count == 0) return;
        for (int section = 0; section < sections.sections; ++section) {
            for (int bank = banks_ == 1 ? 0 : -1; bank < banks_; ++bank) {
                std::int64_t sum = 0, padding = 0;
                for (int at = sections.starts.at[section]; at < sections.starts.at[section + 1]; ++at) {
                    offset_item const& item = sections.items.at[sections.alive.at[at]];
                    ir::placed_buffer const& b = buffer(item.source);
                    bool const all = b.bank_count == banks_;
                    if (banks_ > 1 && bank >= 0 && !all && (b.bank < 0 || !lies_in(item.source, b.bank, bank))) continue;
                    sum += bank < 0 ? item.footprint * b.bank_count : item.footprint;
                    padding = std::max(padding, item.footprint - item.bytes);
                }
                if (bank < 0) sum = (sum + banks_ - 1) / banks_;
                result_.lower_bound = std::max(result_.lower_bound, sum - padding);
            }
        }
        result_.lower_bound = next_peak(result_.lower_bound);
    }

    /// Keeps the present offsets when their peak is smaller.
    constexpr void keep() {
        std::int64_t peak = 0;
        for (int at = 0; at < count_; ++at) {
            if (!is_empty(at)) peak = std::max(peak, offsets_.at[at] + buffer(at).bytes);
        }
        if (peak >= result_.peak) return;
        result_.peak = peak;
        for (int at = 0; at < count_; ++at) best_.at[at] = offsets_.at[at], best_bank_.at[at] = bank_of_.at[at];
    }

    static constexpr double measured(int measure, double bytes, double duration) {
        switch (measure) {
            case 0: return duration * duration * bytes;
            case 1: return duration * bytes;
            case 2: return duration;
            default: return bytes;
        }
    }
    /// Buffers one by one, those of the largest measure first, each at the lowest offset that is free for its lifetime.
    constexpr void place_greedily(int measure) {
        work_array<double> key(count_);
        for (int at = 0; at < count_; ++at) {
            ir::placed_buffer const& b = buffer(at);
            order_.at[at] = at;
            key.at[at] = measured(measure, static_cast<double>(b.bytes), static_cast<double>(b.dead) - b.born);
        }
        std::sort(order_.begin(), order_.end(), [&](int a, int b) {
            if (buffer(a).fixed != buffer(b).fixed) return buffer(a).fixed;
            return key.at[a] != key.at[b] ? key.at[a] > key.at[b] : a < b;
        });
        place_in_order();
    }
    constexpr void place_in_order() {
        work_array<int> placed(count_);
        for (int const at : order_) {
            ir::placed_buffer const& b = buffer(at);
            offsets_.at[at] = b.fixed ? b.offset : is_empty(at) ? 0 : no_offset;
            bank_of_.at[at] = std::max(b.bank, 0);
            if (is_empty(at)) continue;
            int const first = bank_of_.at[at], last = b.bank < 0 ? banks_ - 1 : first;
            for (int bank = first; bank <= last && !b.fixed; ++bank) {
                std::int64_t const offset = lowest_free(at, bank, placed);
                if (offset < offsets_.at[at]) offsets_.at[at] = offset, bank_of_.at[at] = bank;
                if (b.bank_count == banks_) break;
            }
            int position = placed.used();
            placed.push(at);
            for (; position > 0 && offsets_.at[placed.at[position - 1]] > offsets_.at[at]; --position)
                placed.at[position] = placed.at[position - 1];
            placed.at[position] = at;
        }
        keep();
    }
    constexpr std::int64_t lowest_free(int which, int bank, work_array<int> const& placed) {
        ir::placed_buffer const& b = buffer(which);
        std::int64_t offset = 0;
        result_.steps += placed.used();
        for (int at = 0; at < placed.used(); ++at) {
            int const other = placed.at[at];
            if (!meet(which, other) || !share_bank(which, bank, other, bank_of_.at[other])) continue;
            if (offset + b.bytes <= offsets_.at[other]) break;
            offset = std::max(offset, aligned_up(offsets_.at[other] + buffer(other).bytes, b.alignment));
        }
        return offset;
    }

    /// What there is no time for in a compiler: looks for what follows what in the same place, as if nothing could be wasted, then with
    /// more and more tolerance, and moves a few buffers at a time. Where each section is full, the former comes before anything else.
    constexpr void search_long() {
        bool ordered = banks_ == 1;
        for (int at = 0; at < count_; ++at) {
            bank_of_.at[at] = 0;
            ordered &= !buffer(at).fixed || is_empty(at);
        }
        offset_sections const sections({buffers_, static_cast<std::size_t>(count_)}, bank_of_.begin(), 1);
        bool full = ordered;
        for (int section = 0; section < sections.sections; ++section) full &= sections.total(section) == result_.lower_bound;
        std::int64_t const all = budget_;
        auto const follow_turns = [&](auto&& choice, int turns, std::int64_t limit) {
            for (int turn = 0; turn < turns && !done() && result_.steps < limit; ++turn) follow(sections, choice(turn), limit);
        };
        if (!full) {
            budget_ = std::min(all / 2, run_time_steps * 100);
            improve();
            budget_ = all;
        }
        if (!ordered) return;
        follow_turns(exact_choice, 400, result_.steps + (all - result_.steps) / 8 * (full ? 6 : 1));
        follow_turns(forced_choice, 60, result_.steps + (all - result_.steps) / 4);
        if (!done()) eject(sections, all - (all - result_.steps) / 4);
    }
    constexpr void follow(offset_sections const& sections, succession_choice const& how, std::int64_t limit) {
        successions found(sections, result_.lower_bound, how, result_.steps);
        if (!found.run(limit)) return;
        work_array<std::int64_t> key(count_);
        for (int at = 0; at < sections.count; ++at) key.at[sections.items.at[at].source] = found.positions.at[at];
        bool aligned = true;
        for (int at = 0; at < count_; ++at) {
            order_.at[at] = at, offsets_.at[at] = key.at[at];
            aligned &= key.at[at] % buffer(at).alignment == 0;
        }
        if (aligned) keep();  // where hardly anything is wasted, the order alone would not bring it together again
        std::sort(order_.begin(), order_.end(), [&](int a, int b) { return key.at[a] != key.at[b] ? key.at[a] < key.at[b] : a < b; });
        place_in_order();
    }
    constexpr void eject(offset_sections const& sections, std::int64_t limit) {
        ejections search(sections, result_.steps);
        for (int at = 0; at < sections.count; ++at) search.offsets.at[at] = best_.at[sections.items.at[at].source];
        search.lower(goal_ == ir::offset_goal::first_fit ? std::max(capacity_, result_.lower_bound) : result_.lower_bound, limit);
        for (int at = 0; at < sections.count; ++at) offsets_.at[sections.items.at[at].source] = search.offsets.at[at];
        keep();
    }

    /// Tries the capacity first, then the bound. Then it halves what lies between the bound and the best peak so far.
    constexpr void improve() {
        if (result_.lower_bound <= capacity_ && capacity_ < result_.peak) attempt(capacity_, budget_ / 4 * 3);
        std::int64_t unclear = result_.lower_bound - 1;  // peaks up to here are impossible or were given up
        bool at_bound = true;
        while (!done() && result_.steps < budget_ && (goal_ == ir::offset_goal::smallest_peak || result_.lower_bound <= capacity_)) {
            std::int64_t const from = std::max(unclear + 1, result_.lower_bound);
            std::int64_t aim = at_bound ? from : next_peak(from + (result_.peak - from) / 2);
            if (aim >= result_.peak) aim = from;
            if (aim >= result_.peak) {
                if (budget_ - result_.steps < budget_ / 8) break;
                unclear = result_.lower_bound - 1, at_bound = true;  // once more, with what is left
                continue;
            }
            at_bound = false;
            if (attempt(aim, result_.steps + (budget_ - result_.steps) / 2) == found_offsets::unknown) unclear = aim;
        }
    }
    /// Looks for a peak of at most `capacity`.
    constexpr found_offsets attempt(std::int64_t capacity, std::int64_t limit) {
        for (int at = 0; at < count_; ++at) bank_of_.at[at] = std::max(buffer(at).bank, 0), offsets_.at[at] = 0;
        found_offsets const found = banks_ == 1 ? search(capacity, limit) : search_banks(capacity, limit);
        if (found == found_offsets::yes) keep();
        if (found == found_offsets::no) result_.lower_bound = next_peak(capacity + 1);
        return found;
    }

    constexpr bool is_wanted(int at) const { return buffer(at).bank >= 0 || buffer(at).bank_count > 1; }

    /// Tries all ways to spread the buffers over the banks that the sums of their bytes allow, largest buffers first.
    constexpr found_offsets search_banks(std::int64_t capacity, std::int64_t limit) {
        work_array<int> none(count_);
        offset_sections const sections({buffers_, static_cast<std::size_t>(count_)}, none.begin(), 1);
        work_array<std::int64_t> room(sections.sections * banks_);
        work_array<int> order(sections.count);
        for (std::int64_t& r : room) r = aligned_up(capacity, sections.unit);
        for (int at = 0; at < sections.count; ++at) order.at[at] = at;
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            offset_item const &x = sections.items.at[a], &y = sections.items.at[b];
            bool const wanted = is_wanted(x.source);
            if (wanted != is_wanted(y.source)) return wanted;
            return x.footprint != y.footprint ? x.footprint > y.footprint : a < b;
        });
        spreading way{sections, room, order, capacity, limit};
        return spread(way, 0, 0);
    }
    /// Where buffers may go while they are dealt out over the banks.
    struct spreading {
        offset_sections const& sections;
        work_array<std::int64_t> const& room;  ///< of each section of each bank, in bytes
        work_array<int> const& order;
        std::int64_t capacity, limit;  ///< bytes of a bank; steps
    };
    /// @param used banks that are not empty any more: of the empty ones, one is as good as another
    constexpr found_offsets spread(spreading& way, int position, int used) {
        offset_sections const& sections = way.sections;
        // Several ways are tried, rather than one to the end.
        if (position == sections.count) return search(way.capacity, std::min(way.limit, result_.steps + 200 * sections.count));
        offset_item const& item = sections.items.at[way.order.at[position]];
        int const wanted = is_wanted(item.source) ? std::max(buffer(item.source).bank, 0) : -1, count = buffer(item.source).bank_count;
        int const first = std::max(wanted, 0), last = wanted >= 0 ? wanted : std::min(used, banks_ - 1);
        found_offsets all = found_offsets::no;
        for (int bank = first; bank <= last; ++bank) {
            if (result_.steps >= way.limit) return found_offsets::unknown;
            bool enough = true;
            result_.steps += item.last - item.first;
            for (int part = 0; part < count; ++part) {
                std::int64_t* const here = way.room.begin() + (bank + part) % banks_ * sections.sections;
                for (int section = item.first; section < item.last; ++section) enough &= (here[section] -= item.footprint) >= 0;
            }
            if (enough) {
                bank_of_.at[item.source] = bank;
                int const touched = std::max(used, std::min(bank + count, banks_));
                found_offsets const found = spread(way, position + 1, touched);
                if (found == found_offsets::yes) return found;
                if (found == found_offsets::unknown) all = found;
            }
            for (int part = 0; part < count; ++part) {
                std::int64_t* const here = way.room.begin() + (bank + part) % banks_ * sections.sections;
                for (int section = item.first; section < item.last; ++section) here[section] += item.footprint;
            }
        }
        return all;
    }

    /// Looks for offsets below the capacity, in the banks that buffers have. Parts of the time that share no buffer are searched one by
    /// one.
    constexpr found_offsets search(std::int64_t capacity, std::int64_t limit) {
        offset_sections sections({buffers_, static_cast<std::size_t>(count_)}, bank_of_.begin(), banks_);
        work_array<char> joined(sections.sections + 1);
        for (int at = 0; at < sections.count; ++at) {
            for (int section = sections.items.at[at].first + 1; section < sections.items.at[at].last; ++section) joined.at[section] = true;
        }
        for (int section = 1; section < sections.sections && sections.several_banks; ++section) joined.at[section] = true;
        found_offsets all = found_offsets::yes;
        for (int first = 0, end = 0; first < sections.sections; first = end) {
            for (end = first + 1; joined.at[end];) ++end;
            found_offsets const found = search_part(sections, first, end, capacity, limit);
            if (found == found_offsets::no) return found;
            if (found == found_offsets::unknown) all = found;
        }
        return all;
    }
    /// Makes one search after the other, each with another order of preference and with more or fewer steps, because a search that begins
    /// badly does not come back to its beginning. Orders by measure have the most steps; between them, orders are disturbed at random.
    constexpr found_offsets search_part(offset_sections& sections, int first, int end, std::int64_t capacity, std::int64_t limit) {
        work_array<std::int64_t> weights(sections.sections);
        work_array<double> key(sections.count), area(sections.count);
        work_array<int> order(sections.count), rank(sections.count);
        std::uint64_t random = 1;
        for (int round = 0;; ++round) {
            int const group = round / 4 + 1;
            bool const as_measured = (group & (group - 1)) == 0;
            for (int at = 0; at < sections.count; ++at) {
                offset_item const& item = sections.items.at[at];
                random = random * 6364136223846793005u + 1442695040888963407u;
                std::int64_t most = 0;
                for (int section = item.first; section < item.last; ++section) most = std::max(most, weights.at[section]);  // of one bank
                area.at[at] = measured(1, static_cast<double>(item.bytes), static_cast<double>(item.duration));
                key.at[at] = round % 2 == 0 ? static_cast<double>(item.duration) : area.at[at];
                if (!as_measured) key.at[at] *= static_cast<double>(1000 + (random >> 33) % 512) * static_cast<double>(1 + most);
                if (item.twin >= 0) key.at[at] = key.at[item.twin], area.at[at] = area.at[item.twin];
                order.at[at] = at;
            }
            std::sort(order.begin(), order.end(), [&](int a, int b) {
                if (key.at[a] != key.at[b]) return key.at[a] > key.at[b];
                return area.at[a] != area.at[b] ? area.at[a] > area.at[b] : a < b;
            });
            for (int at = 0; at < sections.count; ++at) rank.at[order.at[at]] = at;
            for (std::int64_t& weight : weights) weight -= weight / 8;
            // 1, 2, 1, 4, 1, 2, 1, 8, … for each group of orders
            std::int64_t slice = std::int64_t{500} * sections.count;
            for (int turn = group; turn % 2 == 0; turn /= 2) slice *= 2;
            preference how{.rank = rank};
            if (as_measured) {
                how.fullest = round % 4 < 2;
            } else {
                how.sections = group % 2 == 0 ? section_choice::tight : section_choice::failed;
            }
            offset_search search(sections, capacity, how, weights, result_.steps);
            found_offsets const found = search.run(first, end, std::min(limit, result_.steps + slice));
            for (int at = 0; at < sections.count && found == found_offsets::yes; ++at) {
                offset_item const& item = sections.items.at[at];
                if (first <= item.first && item.first < end) offsets_.at[item.source] = search.offsets.at[at];
            }
            if (found != found_offsets::unknown || result_.steps >= limit) return found;
        }
    }

    ir::placed_buffer* buffers_;
    int count_, banks_;
    bool several_banks_ = false;  ///< a buffer lies in several
    std::int64_t capacity_;
    ir::offset_goal goal_;
    std::int64_t budget_, grain_ = 0;
    work_array<std::int64_t> offsets_{count_}, best_{count_};
    work_array<int> bank_of_{count_}, best_bank_{count_}, order_{count_};
    ir::offset_result result_;
};

}  // namespace tilewright::detail
