#pragma once
#include <iosfwd>
#include <tilewright/tune/options.hpp>
#include <tilewright/tune/problem.hpp>
#include <tilewright/tune/record.hpp>

// The tuner: plans all configurations of a problem, measures those that cost least, and keeps what it finds in a log.
//
// `tilewright_add_tuner` (CMake) defines the functions that are declared here; without CMake, a source of the program that is like
// cmake/tuner.cpp.
namespace tilewright::tune {

/// What a tuner has found.
struct findings {
    std::vector<record> results{};  ///< all that can be used of this problem, the fastest first, then those that failed
    std::vector<record> winners{};  ///< for each problem, shape and processor that the log knows
    std::int64_t combinations = 0;  ///< configurations that are allowed
    std::int64_t refused = 0;       ///< by the planner
    std::int64_t mine = 0;          ///< to be measured by this process
    std::int64_t known = 0;         ///< of these, that the log had already
    std::int64_t measured = 0;      ///< by this process, now
    bool merged = false;            ///< logs were merged, and nothing was measured
    int signal = 0;                 ///< that ended it early; 0: none

    /// The fastest of this problem; null: none is correct.
    record const* best() const { return results.empty() || results.front().is != invalidity::correct ? nullptr : &results.front(); }
};

/// Tunes a problem: see docs/reference/tuning.md. Says on stderr how far it is, and what of a log it does not use. SIGINT and SIGTERM end
/// it early, with what it has.
/// @throws std::exception when nothing can be measured, or a file cannot be read or written
findings run(problem const& of, options const& how);

/// What was found, for people: the fastest configurations, and what failed.
void print(findings const& found, problem const& of, std::ostream& out);

/// A tuner as a program: `int main(int count, char** arguments) { return tune::main(problem, count, arguments); }`
/// @return 0; 1 when no configuration is correct; 2 after a message, when the arguments are wrong or nothing can be measured; 128 and the
/// signal that ended it
int main(problem const& of, int count, char const* const* arguments);

}  // namespace tilewright::tune
