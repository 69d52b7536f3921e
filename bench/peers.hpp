#pragma once
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

/// Comparing kernels on one core with those of other libraries.
namespace peers {

struct aligned_free {
    void operator()(void* data) const { std::free(data); }
};
template <class T>
using aligned_array = std::unique_ptr<T[], aligned_free>;

/// @param count  elements, not initialised
template <class T>
aligned_array<T> aligned(std::size_t count) {
    return aligned_array<T>(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64)));
}

/// Fills with numbers from `least` on that are drawn again the same way.
template <class T>
void fill(T* data, std::size_t count, unsigned seed, int least, int different) {
    for (std::size_t at = 0; at < count; ++at) {
        seed = seed * 1664525u + 1013904223u;
        data[at] = static_cast<T>(static_cast<int>((seed >> 16) % static_cast<unsigned>(different)) + least);
    }
}

/// Asks libraries for AVX2 and one thread, before any of them is loaded: the program starts itself again. Then stays on one core.
/// @param count, arguments  of main: the first one names the core
inline void stay_alone(int count, char** arguments) {
    if (std::getenv("OPENBLAS_CORETYPE") == nullptr) {
        constexpr char const* haswell_in_blis = "3";
        for (auto const& [name, value] : {std::pair{"OPENBLAS_CORETYPE", "Haswell"},
                                          {"OPENBLAS_NUM_THREADS", "1"},
                                          {"BLIS_ARCH_TYPE", haswell_in_blis},
                                          {"BLIS_NUM_THREADS", "1"},
                                          {"DNNL_MAX_CPU_ISA", "AVX2"},
                                          {"OMP_NUM_THREADS", "1"}})
            setenv(name, value, 1);
        execv("/proc/self/exe", arguments);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(count > 1 ? std::atoi(arguments[1]) : sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/// Seconds of each candidate: the median of its rounds. They take turns in every round, so that what disturbs the machine disturbs them
/// all.
/// @param operations  of one call, by which calls are gathered into rounds of a tenth of a second or so
inline std::vector<double> seconds_of(std::vector<std::function<void()>> const& candidates, double operations) {
    using clock = std::chrono::steady_clock;
    int const repeats = std::max(1, static_cast<int>(2e8 / operations)), rounds = operations > 1e10 ? 7 : 21;
    std::vector<std::vector<double>> seconds(candidates.size());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t which = 0; which < candidates.size(); ++which) {
            auto const begin = clock::now();
            for (int again = 0; again < repeats; ++again) candidates[which]();
            seconds[which].push_back(std::chrono::duration<double>(clock::now() - begin).count() / repeats);
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& all : seconds) {
        std::sort(all.begin(), all.end());
        medians.push_back(all[all.size() / 2]);
    }
    return medians;
}

/// Ratios to a peer.
class summary {
  public:
    void add(double ratio) {
        logarithms_ += std::log(ratio), least_ = std::min(least_, ratio);
        ++count_;
    }
    double geometric_mean() const { return std::exp(logarithms_ / count_); }
    double least() const { return least_; }

  private:
    double logarithms_ = 0, least_ = 1e9;
    int count_ = 0;
};

}  // namespace peers
