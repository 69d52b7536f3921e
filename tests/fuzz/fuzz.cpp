#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>

#include "fuzz/walk.hpp"

// fuzz MINUTES [SEED] [--first N] [--cases N] [--cores N] [--workers N] [--shrink SECONDS] [--no-c] [--quick]: see README.md

extern "C" char const* __asan_default_options() { return "detect_leaks=0:quarantine_size_mb=8:allocator_may_return_null=1"; }

namespace {

int usage(char const* name) {
    std::cerr << "usage: " << name
              << " MINUTES [SEED] [--first N] [--cases N] [--cores N] [--workers N] [--shrink SECONDS] [--no-c] [--quick]\n";
    return 2;
}

}  // namespace

int main(int count, char** given) {
    fuzz::walk_options options{.workers = 2, .shows_progress = true};
    int position = 0;
    for (int at = 1; at < count; ++at) {
        std::string const word = given[at];
        bool const named = word.size() > 2 && word[0] == '-';
        if (named && at + 1 == count && word != "--no-c" && word != "--quick") return usage(given[0]);
        if (word == "--no-c") options.c_source = false;
        else if (word == "--quick") options.quick = true, options.c_source = false;
        else if (word == "--first") options.first = std::strtoull(given[++at], nullptr, 10);
        else if (word == "--cases") options.cases = std::strtoll(given[++at], nullptr, 10);
        else if (word == "--cores") options.on_cores = std::max<std::int64_t>(1, std::strtoll(given[++at], nullptr, 10));
        else if (word == "--workers") options.workers = std::max(1, std::atoi(given[++at]));
        else if (word == "--shrink") options.shrink_seconds = std::atof(given[++at]);
        else if (named || position > 1) return usage(given[0]);
        else if (position++ == 0) options.seconds = 60 * std::atof(given[at]);
        else options.first = std::strtoull(given[at], nullptr, 10), options.cases = 1, options.shows_cases = true, options.seconds = 0;
    }
    if (position == 0) return usage(given[0]);
    // What was found so far is printed. A second signal of the same kind ends the process at once.
    struct sigaction stop {};
    stop.sa_handler = [](int) { fuzz::stop_walking(); };
    stop.sa_flags = static_cast<int>(SA_RESETHAND);
    for (int which : {SIGINT, SIGTERM}) sigaction(which, &stop, nullptr);
    fuzz::walk_result const all = fuzz::walk(options);
    for (auto const& [name, times] : all.refused) std::cout << "refused: " << name << " " << times << "\n";
    if (!all.blamed.empty()) std::cout << "refused by the proof at the end of a plan, which asks to be reported: seeds";
    for (std::uint64_t seed : all.blamed) std::cout << " " << seed;
    if (!all.blamed.empty()) std::cout << "\n";
    std::cout << "compared: " << all.agreed << ", of them from C source too " << all.in_c
              << "; left to the user by the language: " << all.undefined << "\n";
    if (all.cores_drawn > 0) {
        std::cout << "drawn for one to four cores: " << all.cores_drawn << "; compared on several: " << all.on_cores << ", with multicasts "
                  << all.with_multicasts << "; refused:";
        for (auto const& [name, times] : all.refused_cores) std::cout << " " << name << " " << times;
        std::cout << "\n";
    }
    bool const few = all.on_cores < options.on_cores;
    if (few) std::cout << "fewer than " << options.on_cores << " kernels ran on several cores\n";
    for (fuzz::walk_failure const& f : all.failures) std::cout << "\nseed " << f.seed << ": " << f.what << "\n" << f.text;
    std::cout << "fuzz: cases=" << all.cases << " refused=" << all.refusals() << " mismatches=" << all.failures.size() << "\n";
    return all.failures.empty() && !few ? 0 : 1;
}
