#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// What benchmarks against other libraries share: data, and candidates that take turns.
namespace peers {

struct aligned_free {
    void operator()(void* data) const { std::free(data); }
};
template <class T>
using aligned_array = std::unique_ptr<T[], aligned_free>;
/// Elements that begin at a line of cache.
template <class T>
aligned_array<T> aligned(std::size_t count) {
    return aligned_array<T>(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64)));
}

/// Numbers from `least` on, `different` ones of them, that are drawn again the same way. Small floats of no fraction have exact sums, in
/// whatever order they are formed, so that results are compared to the bit.
template <class T>
void fill(T* data, std::size_t count, unsigned seed, int least = -3, unsigned different = 7) {
    for (std::size_t at = 0; at < count; ++at) {
        seed = seed * 1664525u + 1013904223u;
        data[at] = static_cast<T>(static_cast<int>((seed >> 16) % different) + least);
    }
}

/// Ends the benchmark when a kernel did not run.
/// @param given  what `tilewright::call` returned
void expect_run(auto const& given) {
    if (given == 0) return;
    std::fprintf(stderr, "%s\n", given.message.c_str());
    std::exit(EXIT_FAILURE);
}

inline double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

/// Seconds of candidates that take turns in every round, so that what disturbs the machine disturbs them all.
class rounds {
  public:
    rounds(std::vector<std::function<void()>> const& candidates, int count, int repeats) : seconds_(candidates.size()) {
        using clock = std::chrono::steady_clock;
        for (int round = 0; round < count; ++round) {
            for (std::size_t which = 0; which < candidates.size(); ++which) {
                auto const begin = clock::now();
                for (int again = 0; again < repeats; ++again) candidates[which]();
                seconds_[which].push_back(std::chrono::duration<double>(clock::now() - begin).count() / repeats);
            }
        }
    }

    std::size_t candidates() const { return seconds_.size(); }
    double seconds(std::size_t which) const { return median(seconds_[which]); }
    /// How many times as fast the first candidate is as another one, by the rounds.
    double ratio_to(std::size_t other) const {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < seconds_[0].size(); ++round) ratios.push_back(seconds_[other][round] / seconds_[0][round]);
        return median(ratios);
    }

  private:
    std::vector<std::vector<double>> seconds_;
};

/// Ratios of a benchmark's last line.
struct summary {
    double logarithms = 0, least = 1e9;
    int count = 0;

    void add(double ratio) {
        logarithms += std::log(ratio), least = std::min(least, ratio);
        ++count;
    }
    double geometric_mean() const { return std::exp(logarithms / count); }
};

}  // namespace peers
