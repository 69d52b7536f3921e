#pragma once
#include <tilewright/plan/offsets/contiguous_orders.hpp>

// Buffers that make place for others of the same sum.
namespace tilewright::detail {

/// How `successions` looks for an arrangement.
struct succession_choice {
    bool backwards = false;  ///< goes from the last section to the first one
    int width = 1;           ///< so many ways at a time, those that are the most likely
    int trust = 4;           ///< how much it counts that sums are equal, in quarters
    bool forced = false;     ///< goes on where there is no right way on, with what ends being as good a place as possible
    int tolerance = 0;       ///< by how many thousandths sums may differ that count as equal
    int returns = 0;         ///< so often it goes back from where there is no way on, to disturb merits and try again
    int seed = 0;            ///< of what disturbs them
};

/// Finds sets that end, and sets that begin, with equal sums, and says how unlikely it is that they are equal by chance.
class equal_sums {
  public:
    /// Positions in a list, as bits. What is further behind is in no set.
    using members = std::uint64_t;
    struct match {
        members ended = 0, begun = 0;
        std::int64_t merit = 0;  ///< the logarithm of how unlikely that is by chance
    };
    static constexpr int most_members = 60;

    constexpr explicit equal_sums(succession_choice const& how) : matches(0), how_(how), ends_(0), begins_(0) {}

    /// Without all that ends and all that begins: that is tried in any case.
    /// @param seed     of what the merits are disturbed by, up to 4 bits, or 8 where it is odd; 0: by nothing
    /// @param bytes_of of what is in the lists
    template <class Bytes>
    constexpr void find(work_array<int> const& ended, work_array<int> const& begun, int seed, Bytes const& bytes_of, std::int64_t& steps) {
        matches.shrink(0);
        noise_ = seed == 0 ? 0 : seed % 2 == 0 ? 4 * 256 : 8 * 256;
        random_ += static_cast<std::uint64_t>(seed);
        list_subsets(ended, bytes_of, ends_), list_subsets(begun, bytes_of, begins_);
        steps += ends_.used() + begins_.used();
        for (int end = 1, from = 1; end < ends_.used() && matches.used() <= 16 * most_matches; ++end) {
            subset const& e = ends_.at[end];
            std::int64_t const apart = e.bytes / 1000 * how_.tolerance;
            while (from < begins_.used() && begins_.at[from].bytes < e.bytes - apart) ++from;
            for (int at = from; at < begins_.used() && begins_.at[at].bytes <= e.bytes + apart; ++at, ++steps) {
                subset const& b = begins_.at[at];
                std::int64_t const error = b.bytes < e.bytes ? e.bytes - b.bytes : b.bytes - e.bytes;
                if (e.size == ended.used() && b.size == begun.used()) continue;
                matches.push({e.set, b.set,
                              (log2_of(e.bytes) - log2_of(1 + 2 * error)) * how_.trust / 4 - log2_of_sets(ended.used(), e.size) -
                                  log2_of_sets(begun.used(), b.size) + noise()});
            }
        }
        std::sort(matches.begin(), matches.begin() + matches.used(), [](match const& a, match const& b) {
            return a.merit != b.merit ? a.merit > b.merit : a.ended != b.ended ? a.ended < b.ended : a.begun < b.begun;
        });
        matches.shrink(std::min(matches.used(), most_matches));
    }

    work_array<match> matches;  ///< those of the most merit, the best first

  private:
    struct subset {
        members set = 0;
        int size = 0;
        std::int64_t bytes = 0;
    };
    static constexpr int most_subsets = 1 << 15, most_matches = 1 << 12;

    /// The sets by their sums: all of them, or those with few members if the list is long.
    template <class Bytes>
    constexpr void list_subsets(work_array<int> const& of, Bytes const& bytes_of, work_array<subset>& sets) {
        int const count = std::min(of.used(), most_members);
        int most = 0;
        for (std::int64_t sum = 1, ways = 1; most < count; ++most) {
            ways = ways * (count - most) / (most + 1), sum += ways;
            if (sum > most_subsets) break;
        }
        sets.shrink(0);
        sets.push({});
        for (int at = 0; at < count; ++at) {
            for (int before = 0, end = sets.used(); before < end; ++before) {
                subset const s = sets.at[before];
                if (s.size < most) sets.push({s.set | members{1} << at, s.size + 1, s.bytes + bytes_of(of.at[at])});
            }
        }
        std::sort(sets.begin(), sets.begin() + sets.used(), [](subset const& one, subset const& other) {
            return one.bytes != other.bytes ? one.bytes < other.bytes : one.set < other.set;
        });
    }
    constexpr std::int64_t noise() {
        if (noise_ == 0) return 0;
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::int64_t>((random_ >> 33) % static_cast<std::uint64_t>(2 * noise_)) - noise_;
    }

    succession_choice const& how_;
    std::int64_t noise_ = 0;
    std::uint64_t random_ = 0;
    work_array<subset> ends_, begins_;
};

}  // namespace tilewright::detail
