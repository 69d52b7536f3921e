#pragma once
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "peer_environment.hpp"

/// A benchmark against other libraries, in two runs: all with the same instructions, and each at its best on this processor.
///
/// A library looks at the environment once, when it is loaded. So each run is a process of its own, with an environment made for it.
namespace peers {

/// What the libraries may use.
enum class level {
    same_instructions,  ///< AVX2, which ours is held to as well
    at_their_best,      ///< all that the processor has
};
constexpr char const* name_of(level of) { return of == level::same_instructions ? "same instructions" : "at their best"; }

/// Whether the processor and its system have the instructions of `targets/x86_avx512.hpp`.
inline bool has_avx512() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/// Likewise those of `targets/x86_vnni.hpp` for vectors of 64 bytes.
inline bool has_vnni() { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
/// Whether bytes of ours run with VNNI.
inline bool runs_vnni(level at) { return at == level::at_their_best && has_vnni(); }

/// What a run is asked for.
struct request {
    level instructions = level::same_instructions;
    unsigned seed = 0;                ///< of random shapes
    std::vector<std::string> shapes;  ///< to be run in place of all listed and random ones
};
/// Figures of a run, each with the name that it has in the last line.
using named_figures = std::vector<std::pair<std::string, double>>;

struct comparison {
    char const* name;
    /// What the libraries are told.
    std::function<environment(level)> asks;
    /// Prints a table.
    std::function<named_figures(request const&)> run;
};

/// @throws std::runtime_error where a library does not run what it was asked for: what is measured would not be what the table says
inline void expect(std::string const& library, std::string const& asked, std::string const& runs) {
    if (asked != runs) throw std::runtime_error(library + " was asked for " + asked + ", but runs " + runs);
}
/// No library has started threads, whatever it says.
inline void expect_one_thread() {
    auto const threads = std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
    expect("the whole process", "1 thread", std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
}

namespace detail {

struct options {
    request asked;
    int core = -1;     ///< to stay on
    int results = -1;  ///< where a run writes its figures; -1: this process starts the runs
};
inline options options_of(int count, char** arguments) {
    options made;
    made.asked.seed = std::random_device()();
    made.core = sched_getcpu();
    for (int at = 1; at < count; ++at) {
        std::string const one = arguments[at];
        auto const value = [&](std::string const& name) { return one.rfind(name, 0) == 0 ? one.c_str() + name.size() : nullptr; };
        if (char const* seed = value("--seed=")) made.asked.seed = static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
        else if (char const* core = value("--core=")) made.core = std::atoi(core);
        else if (char const* results = value("--results=")) made.results = std::atoi(results);
        else if (one == "--best") made.asked.instructions = level::at_their_best;
        else if (one.rfind("-", 0) == 0) throw std::runtime_error("unknown option " + one + "; there are --seed=N and --core=N");
        else made.asked.shapes.push_back(one);
    }
    return made;
}

inline void stay_on(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(core), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/// Starts this program again, with the environment of a level. @return its figures @throws std::runtime_error when it fails
inline named_figures run_apart(comparison const& of, options const& how, level at) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("there is no pipe to be had");
    std::vector<std::string> arguments{of.name, "--seed=" + std::to_string(how.asked.seed), "--core=" + std::to_string(how.core),
                                       "--results=" + std::to_string(ends[1])};
    if (at == level::at_their_best) arguments.emplace_back("--best");
    arguments.insert(arguments.end(), how.asked.shapes.begin(), how.asked.shapes.end());
    std::vector<std::string> variables = environment_for_peers(environ, of.asks(at));
    auto const pointers = [](std::vector<std::string>& to) {
        std::vector<char*> made;
        for (std::string& one : to) made.push_back(one.data());
        made.push_back(nullptr);
        return made;
    };
    std::vector<char*> const passed = pointers(arguments), told = pointers(variables);
    std::fflush(nullptr);
    pid_t const child = fork();
    if (child == 0) {
        close(ends[0]);
        execve("/proc/self/exe", passed.data(), told.data());
        _exit(EXIT_FAILURE);
    }
    close(ends[1]);
    std::string text;
    char part[256];
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error(std::string("no figures, ") + name_of(at));
    named_figures figures;
    std::istringstream lines(text);
    std::pair<std::string, double> one;
    while (lines >> one.first >> one.second) figures.push_back(one);
    return figures;
}

inline void begin_and_join(comparison const& of, options const& how) {
    named_figures const same = run_apart(of, how, level::same_instructions);
    std::string last = std::string(of.name) + ":";
    auto const add = [&](std::string const& name, std::string const& value) { last += " " + name + "=" + value; };
    auto const text = [](double value) {
        char made[32];
        std::snprintf(made, sizeof made, "%.3f", value);
        return std::string(made);
    };
    for (auto const& [name, value] : same) add(name, text(value));
    if (has_avx512()) {
        for (auto const& [name, value] : run_apart(of, how, level::at_their_best)) add("best_" + name, text(value));
    } else {
        std::printf("\nat their best: this processor has no AVX-512, so the libraries are at their best above, and nothing counts here\n");
        for (auto const& [name, value] : same) add("best_" + name, "no_avx512");
    }
    std::printf("%s\n", last.c_str());
}

}  // namespace detail

/// The main function of a benchmark: `NAME [--seed=N] [--core=N] [shape…]`.
inline int compare(comparison const& of, int count, char** arguments) try {
    detail::options const how = detail::options_of(count, arguments);
    if (how.results < 0) {
        detail::begin_and_join(of, how);
        return EXIT_SUCCESS;
    }
    detail::stay_on(how.core);
    std::printf("\n%s\n", name_of(how.asked.instructions));
    for (auto const& [name, value] : of.run(how.asked)) dprintf(how.results, "%s %.17g\n", name.c_str(), value);
    return EXIT_SUCCESS;
} catch (std::exception const& wrong) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", of.name, wrong.what());
    return EXIT_FAILURE;
}

}  // namespace peers
