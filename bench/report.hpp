#pragma once
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// Prints the table of Google Benchmark and keeps the figures for the last line of a benchmark.
class figures : public benchmark::ConsoleReporter {
  public:
    /// Runs every registered benchmark, with the options of Google Benchmark from the command line.
    figures(int argument_count, char** arguments) : ConsoleReporter(OO_Tabular) {
        benchmark::Initialize(&argument_count, arguments);
        if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) std::exit(EXIT_FAILURE);
        benchmark::RunSpecifiedBenchmarks(this);
        benchmark::Shutdown();
    }

    /// Seconds of real time that one iteration took; of several repetitions, the median.
    double seconds(std::string const& name) const {
        auto const found = seconds_.find(name);
        if (found == seconds_.end()) throw std::out_of_range("no benchmark `" + name + "` has run");
        return found->second;
    }

    void ReportRuns(std::vector<Run> const& runs) override {
        for (Run const& run : runs) {
            bool const median = run.run_type == Run::RT_Aggregate && run.aggregate_name == "median";
            if (run.error_occurred || (run.run_type == Run::RT_Aggregate && !median)) continue;
            seconds_[run.run_name.function_name] = run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
        }
        ConsoleReporter::ReportRuns(runs);
    }

  private:
    std::map<std::string, double> seconds_;
};
