#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace tilewright::tune {

/// Measures candidates that take turns, so that what disturbs the computer for a while disturbs all of them. Every round has its own order.
///
/// @param candidates  what is run, once
/// @param rounds      how often each has its turn
/// @param at_least    seconds that a turn takes: quick candidates run several times in each
/// @param stop        asked before each turn; when it says yes, all is over
/// @return for each candidate, the seconds of one run in each of its turns
inline std::vector<std::vector<double>> take_turns(std::vector<std::function<void()>> const& candidates, int rounds, double at_least,
                                                   std::uint64_t seed, std::function<bool()> const& stop = {}) {
    using clock = std::chrono::steady_clock;
    auto const seconds_of = [&](std::size_t which, int repeats) {
        auto const begin = clock::now();
        for (int again = 0; again < repeats; ++again) candidates[which]();
        return std::chrono::duration<double>(clock::now() - begin).count() / repeats;
    };
    std::vector<std::vector<double>> seconds(candidates.size());
    std::vector<int> repeats(candidates.size(), 1);
    for (std::size_t which = 0; which < candidates.size() && at_least > 0; ++which) {
        if (stop && stop()) return seconds;
        double const once = std::max(1e-9, seconds_of(which, 1));
        repeats[which] = static_cast<int>(std::clamp(at_least / once, 1.0, 1e6));
    }
    std::mt19937_64 random(seed);
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t at = order.size(); at > 1; --at) std::swap(order[at - 1], order[random() % at]);
        for (std::size_t which : order) {
            if (stop && stop()) return seconds;
            seconds[which].push_back(seconds_of(which, repeats[which]));
        }
    }
    return seconds;
}

}  // namespace tilewright::tune
