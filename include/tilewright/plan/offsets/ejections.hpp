#pragma once
#include <tilewright/plan/offsets/sections.hpp>
#include <utility>

// Lowers the peak of an arrangement by moving a few buffers at a time.
namespace tilewright::detail {

/// Begins with an arrangement and looks for one below a smaller peak. Buffers that end above that peak wait for another place. One of those
/// that wait, drawn at random, goes where the cheapest buffers lie in its way, and these wait then. A buffer becomes dearer each time it
/// had no free place, so what is hard to place stays.
///
/// This is a heuristic: it finds arrangements, and proves nothing.
///
/// @see Y. Nagata, O. Bräysy, "A powerful route minimization heuristic for the vehicle routing problem with time windows", 2009, for
/// ejected
///      things that become dearer
class ejections {
  public:
    /// @param of    nothing is fixed or lies in several banks
    /// @param steps counts looks at items
    constexpr ejections(offset_sections const& of, std::int64_t& steps)
        : offsets(of.count),
          of_(of),
          steps_(steps),
          starts_(of.count + 1),
          meets_(0),
          dearness_(of.count),
          waits_(of.count),
          kept_(of.count),
          waiting_(0),
          bottoms_(0),
          tops_(0) {
        for (int at = 0; at < of.count; ++at) {
            starts_.at[at] = meets_.used();
            for (int other = 0; other < of.count; ++other) {
                offset_item const &a = of.items.at[at], &b = of.items.at[other];
                if (at != other && a.first < b.last && b.first < a.last) meets_.push(other);
            }
            dearness_.at[at] = 1;
            grain_ = gcd(gcd(grain_, of.items.at[at].bytes), of.items.at[at].alignment);
        }
        starts_.at[of.count] = meets_.used();
    }

    /// Lowers the peak of `offsets` step by step, and leaves the lowest arrangement there.
    /// @param bound no peak is smaller
    /// @param limit value of `steps` at which it gives up
    /// @return the peak
    constexpr std::int64_t lower(std::int64_t bound, std::int64_t limit) {
        std::int64_t best = peak(), share = 2, slice = std::int64_t{2'000} * of_.count;
        while (best > bound && steps_ < limit) {
            keep();
            std::int64_t const step = std::max((best - bound) / share / grain_ * grain_, grain_);
            if (place_below(best - step, std::min(limit, steps_ + slice))) {
                best = peak(), share = std::max<std::int64_t>(share / 2, 2);
                continue;
            }
            bring_back();
            if (step == grain_) share = 1;
            share *= 2, slice += slice / 8;
        }
        return best;
    }

    work_array<std::int64_t> offsets;  ///< of the items

  private:
    /// Where something begins to be in the way or is in the way no more, and how dear it is.
    struct edge {
        std::int64_t at = 0, dearness = 0;
    };
    constexpr std::uint64_t draw(int below) {
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        return (random_ >> 33) % static_cast<std::uint64_t>(below);
    }
    constexpr std::int64_t peak() const {
        std::int64_t highest = 0;
        for (int at = 0; at < of_.count; ++at) highest = std::max(highest, offsets.at[at] + of_.items.at[at].bytes);
        return highest;
    }
    constexpr void keep() {
        for (int at = 0; at < of_.count; ++at) kept_.at[at] = offsets.at[at];
    }
    constexpr void bring_back() {
        for (int at = 0; at < of_.count; ++at) offsets.at[at] = kept_.at[at];
    }

    /// @return whether all lie below the capacity; otherwise, some wait still
    constexpr bool place_below(std::int64_t capacity, std::int64_t limit) {
        capacity_ = capacity;
        waiting_.shrink(0);
        for (int at = 0; at < of_.count; ++at) {
            waits_.at[at] = offsets.at[at] + of_.items.at[at].bytes > capacity;
            if (waits_.at[at]) waiting_.push(at);
        }
        while (waiting_.used() > 0 && steps_ < limit) {
            std::swap(waiting_.at[draw(waiting_.used())], waiting_.at[waiting_.used() - 1]);
            int const which = waiting_.pop();
            look_round(which);
            place const to = cheapest(which);
            offsets.at[which] = to.offset, waits_.at[which] = false;
            if (to.cost == 0) continue;
            ++dearness_.at[which];
            throw_out(which);
        }
        return waiting_.used() == 0;
    }
    /// Lists the ends of all that can be in the way of an item.
    constexpr void look_round(int which) {
        bottoms_.shrink(0), tops_.shrink(0);
        for (int at = starts_.at[which]; at < starts_.at[which + 1]; ++at) {
            int const other = meets_.at[at];
            if (waits_.at[other]) continue;
            bottoms_.push({offsets.at[other], dearness_.at[other]});
            tops_.push({offsets.at[other] + of_.items.at[other].footprint, dearness_.at[other]});
        }
        steps_ += starts_.at[which + 1] - starts_.at[which] + 12 * bottoms_.used();
        auto const lower = [](edge const& a, edge const& b) { return a.at < b.at; };
        std::sort(bottoms_.begin(), bottoms_.begin() + bottoms_.used(), lower);
        std::sort(tops_.begin(), tops_.begin() + tops_.used(), lower);
    }
    struct place {
        std::int64_t offset = 0, cost = no_offset;
    };
    /// Calls `visit(place)` for the places of an item at the bottom, upon and below others, and at the top.
    template <class Visit>
    constexpr void each_place(int which, Visit&& visit) {
        offset_item const& item = of_.items.at[which];
        int const count = tops_.used();
        for (bool const upon : {true, false}) {
            std::int64_t cost = 0, before = -1;
            for (int at = 0, bottom = 0, top = 0; at <= count; ++at) {
                std::int64_t offset = upon          ? (at == 0 ? 0 : aligned_up(tops_.at[at - 1].at, item.alignment))
                                      : at == count ? capacity_ - item.bytes
                                                    : bottoms_.at[at].at - item.footprint;
                if (!upon && offset > 0) offset -= offset % item.alignment;
                if (offset < 0 || offset + item.bytes > capacity_ || offset == before) continue;
                before = offset;
                for (; bottom < count && bottoms_.at[bottom].at < offset + item.footprint; ++bottom) cost += bottoms_.at[bottom].dearness;
                for (; top < count && tops_.at[top].at <= offset; ++top) cost -= tops_.at[top].dearness;
                visit(place{offset, cost});
            }
        }
    }
    constexpr place cheapest(int which) {
        place best;
        int equal = 0;
        each_place(which, [&](place const& to) {
            if (to.cost > best.cost) return;
            if (to.cost < best.cost) equal = 0;
            if (draw(++equal) == 0) best = to;
        });
        return best;
    }
    constexpr void throw_out(int by) {
        std::int64_t const bottom = offsets.at[by], top = bottom + of_.items.at[by].footprint;
        for (int at = starts_.at[by]; at < starts_.at[by + 1]; ++at) {
            int const other = meets_.at[at];
            if (waits_.at[other] || offsets.at[other] >= top || offsets.at[other] + of_.items.at[other].footprint <= bottom) continue;
            waits_.at[other] = true;
            waiting_.push(other);
        }
    }
    offset_sections const& of_;
    std::int64_t& steps_;
    work_array<int> starts_, meets_;  ///< for each item, the items that are alive with it
    work_array<std::int64_t> dearness_;
    work_array<char> waits_;
    work_array<std::int64_t> kept_;  ///< the best offsets so far
    work_array<int> waiting_;
    work_array<edge> bottoms_, tops_;
    std::int64_t capacity_ = 0, grain_ = 0;
    std::uint64_t random_ = 1;
};

}  // namespace tilewright::detail
