#pragma once
#include <chrono>
#include <functional>
#include <tilewright/tune/problem.hpp>
#include <tilewright/tune/record.hpp>

namespace tilewright::tune {

/// What became of a candidate: the part of a record that measuring fills in.
struct outcome {
    double compilation_time = 0, validation = 0;  ///< milliseconds
    std::vector<double> runtimes{};               ///< milliseconds
    invalidity is = invalidity::correct;
    std::string reason{};
    double correctness = 1;
    std::vector<measurement> measurements{};  ///< the first one is the objective

    static outcome failed(invalidity is, std::string const& reason, double correctness = 0) {
        return {.is = is, .reason = reason, .correctness = correctness};
    }
};

/// Where and how candidates are measured.
class measurer {
  public:
    virtual ~measurer() = default;

    /// "processor", "emulator", "command"
    virtual std::string name() const = 0;
    /// What the kernels run on, unless the user calls it otherwise.
    virtual std::string processor() const = 0;
    /// The model of this computer's processor, where that matters.
    virtual std::string model() const { return ""; }
    /// What makes code of the kernels.
    virtual std::string compiler() const = 0;
    /// The name of the measurement that counts.
    virtual std::string objective() const = 0;
    /// How many candidates take turns.
    virtual std::size_t together() const { return 1; }
    /// Measures candidates. Nothing that a candidate does throws: it becomes an outcome.
    /// @param stop  asked often; when it says yes, the outcomes are not used
    /// @throws std::exception when nothing can be measured at all
    virtual std::vector<outcome> measure(std::vector<candidate> const& candidates, std::function<bool()> const& stop) = 0;
};

namespace detail {

/// Milliseconds since it was made.
class stopwatch {
  public:
    double milliseconds() const { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count(); }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace detail
}  // namespace tilewright::tune
