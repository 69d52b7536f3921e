#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tilewright/tune/space.hpp>
#include <tuple>
#include <vector>

// What is known of one configuration.
namespace tilewright::tune {

/// Why a configuration has no measurement, in the words of T4.
enum class invalidity { correct, timeout, compile, runtime, correctness, constraints };

inline char const* name_of(invalidity is) {
    constexpr char const* names[] = {"correct", "timeout", "compile", "runtime", "correctness", "constraints"};
    return names[static_cast<int>(is)];
}

/// A number that was measured, or is known of the plan: `{"time", 0.123, "ms"}`.
struct measurement {
    std::string name;
    double value = 0;
    std::string unit;
};

/// Where numbers come from. Those of different origins are not compared with each other.
struct origin {
    std::string problem;           ///< its name
    problem_shape shape{};         ///< what it is large
    std::string machine;           ///< the name of its description
    std::string machine_hash;      ///< of everything that the description says
    std::string processor;         ///< what the kernel ran on, as the user calls it; winners are kept by it
    std::string model;             ///< of this computer's processor, where that is what the kernel ran on
    std::string compiler;          ///< what made code of the kernel
    std::string measured_by;       ///< "processor", "emulator" or "command"
    std::string operating_system;  ///< for the reader only

    auto key() const { return std::tuple(problem, text_of(shape), processor, machine, machine_hash, model, compiler, measured_by); }
};

/// One line of a log: what became of a configuration. Times in milliseconds.
struct record {
    origin from;
    configuration what;
    std::string plan_hash;
    std::string timestamp;  ///< UTC, "2026-11-24T08:40:00Z"
    double compilation_time = 0, validation = 0, framework = 0, search_algorithm = 0;
    std::vector<double> runtimes;  ///< of each run, or each round of runs
    invalidity is = invalidity::correct;
    std::string reason;      ///< why it is invalid
    double correctness = 1;  ///< the share of elements of the result that are right; 0: it did not come to a result
    std::vector<measurement> measurements;
    std::string objective;  ///< the name of the measurement that counts; the least one is best

    /// The measurement that counts. @pre the record is correct
    double value() const {
        for (measurement const& one : measurements) {
            if (one.name == objective) return one.value;
        }
        throw std::invalid_argument("a result without its objective");
    }
    std::string unit() const {
        for (measurement const& one : measurements) {
            if (one.name == objective) return one.unit;
        }
        return "";
    }
};

}  // namespace tilewright::tune
