#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fuzz {

/// A walk draws cases and runs them in processes of its own, so that one that crashes or hangs is a finding like any other.
struct walk_options {
    std::uint64_t first = 1;
    std::int64_t cases = 0;  ///< 0: as many as the time is enough for
    double seconds = 0;      ///< 0: no limit
    int workers = 1;
    std::int64_t on_cores = 0;  ///< draw only kernels for several cores, until so many of them agree; 0: draw all
    bool c_source = true;
    bool quick = false;           ///< kernels for several cores run only with every access watched
    double shrink_seconds = 120;  ///< for each failure
    int most_failures = 20;       ///< that are made smaller and kept; then the walk ends
    bool shows_progress = false;
    bool shows_cases = false;  ///< prints what became of each case
};

struct walk_failure {
    std::uint64_t seed = 0;
    std::string what{};
    std::string text{};  ///< the case made smaller, as C++
};

struct walk_result {
    std::int64_t cases = 0;            ///< drawn
    std::int64_t agreed = 0;           ///< run in every way, and equal to the oracle
    std::int64_t in_c = 0;             ///< of them, from C source too
    std::int64_t undefined = 0;        ///< the oracle met something that the language leaves to its user
    std::int64_t cores_drawn = 0;      ///< drawn for machines of one to four cores
    std::int64_t on_cores = 0;         ///< of those that agree, kernels that run on several
    std::int64_t with_multicasts = 0;  ///< of these, with tiles that one call brings to all
    std::map<std::string, std::int64_t> refused{};
    std::map<std::string, std::int64_t> refused_cores{};  ///< of those for such machines
    std::vector<std::uint64_t> blamed{};  ///< seeds of those that are refused by the proof at the end of a plan: the planner's own mistakes
    std::vector<walk_failure> failures{};

    std::int64_t refusals() const {
        std::int64_t all = 0;
        for (auto const& [name, times] : refused) all += times;
        return all;
    }
};

walk_result walk(walk_options const& options);

/// Asks the walk to end as soon as it can: for a handler of signals.
void stop_walking();

}  // namespace fuzz
