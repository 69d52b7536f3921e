// Offsets of buffers by the search of plans, for instances in files or, without any, for full rectangles that are cut or woven into boxes,
// and for some that something was taken from. With --seeds, the rectangles are cut and woven into 1,000 and 2,000 boxes, once for each seed
// from FIRST to LAST.
//
// Ctrl-C ends it with the sums so far. --output writes what a hundredth of the steps finds, and replaces it when the search is done.
//
// bench_placement [--capacity N] [--steps N] [--first-fit] [--output FILE] [--seeds FIRST LAST | FILE.csv …]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <iostream>
#include <string>
#include <tilewright/plan/offsets/assign_offsets.hpp>
#include <tilewright/tune/interrupt.hpp>
#include <tilewright/tune/progress.hpp>
#include <vector>

#include "check.hpp"
#include "instances.hpp"

using namespace tilewright;

namespace {

struct options {
    std::int64_t capacity = 0, steps = 3'000'000'000;
    std::int64_t first_seed = 0, last_seed = 0;  ///< 0: no seeds are given
    ir::offset_goal goal = ir::offset_goal::smallest_peak;
    std::string output;
    std::vector<std::string> files;
};

/// @throws std::invalid_argument with a sentence
options options_of(int count, char** arguments) {
    options read;
    for (int at = 1; at < count; ++at) {
        std::string const argument = arguments[at];
        auto const number = [&](std::int64_t& into) {
            if (++at >= count || !parse(arguments[at], into) || into <= 0)
                throw std::invalid_argument(argument + " needs a positive number");
        };
        if (argument == "--capacity") {
            number(read.capacity);
        } else if (argument == "--steps") {
            number(read.steps);
        } else if (argument == "--seeds") {
            number(read.first_seed), number(read.last_seed);
        } else if (argument == "--first-fit") {
            read.goal = ir::offset_goal::first_fit;
        } else if (argument == "--output") {
            if (++at >= count) throw std::invalid_argument("--output needs a file");
            read.output = arguments[at];
        } else if (argument.starts_with("--")) {
            throw std::invalid_argument("unknown option " + argument);
        } else {
            read.files.push_back(argument);
        }
    }
    if (!read.output.empty() && read.files.size() != 1) throw std::invalid_argument("--output is for one instance");
    if (read.first_seed > 0 && !read.files.empty()) throw std::invalid_argument("--seeds is for rectangles, not for files");
    return read;
}

void write(instance const& of, std::vector<std::int64_t> const& offsets, std::string const& file) {
    std::ofstream out(file);
    out << "id,lower,upper,size,offset\n";
    for (std::size_t at = 0; at < offsets.size(); ++at) {
        instance::buffer const& b = of.buffers[at];
        out << b.id << ',' << b.lower << ',' << b.upper << ',' << b.size << ',' << offsets[at] << '\n';
    }
    if (!out.flush()) throw input_error(file, 0, "cannot be written");
}

struct outcome {
    bool solved = false, wrong = false;
    double seconds = 0, gap = 0;  ///< peak over bound, less one
};
struct sum {
    int solved = 0, all = 0;
    bool wrong = false;
    double seconds = 0, gap = 0;

    void add(outcome const& one) {
        solved += one.solved, ++all, wrong |= one.wrong;
        seconds += one.seconds, gap = std::max(gap, one.gap);
    }
};

/// Solved is what lies in the capacity; where none is known, what is proven to have the smallest peak.
outcome solve(instance const& of, options const& how, tune::progress_line& progress) {
    std::int64_t const capacity = how.capacity > 0 ? how.capacity : of.capacity;
    std::vector<ir::placed_buffer> buffers;
    for (instance::buffer const& b : of.buffers) buffers.push_back({.bytes = b.size, .born = b.lower, .dead = b.upper});
    auto const begin = std::chrono::steady_clock::now();
    ir::offset_result const found = ir::assign_offsets(buffers, {.capacity = capacity > 0 ? capacity : INT64_MAX}, how.steps, how.goal);
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::vector<std::int64_t> offsets;
    for (ir::placed_buffer const& b : buffers) offsets.push_back(b.offset);
    std::string const wrong = found.fault != ir::offset_fault::none ? "refused" : fault_of(of, offsets, found.peak);
    std::string const gap = found.proven ? "proven" : "gap " + std::to_string(found.peak - found.lower_bound);
    std::string const fits = capacity == 0 ? "-" : found.fits ? "yes" : found.lower_bound > capacity ? "never" : "no";
    progress.clear();
    std::printf("%-28s %8zu %12lld %12lld %12lld %6s %12s %9.3f %s\n", of.name.c_str(), of.buffers.size(), static_cast<long long>(capacity),
                static_cast<long long>(found.peak), static_cast<long long>(found.lower_bound), fits.c_str(), gap.c_str(), seconds,
                wrong.c_str());
    std::fflush(stdout);
    if (!how.output.empty()) write(of, offsets, how.output);
    return {wrong.empty() && (capacity > 0 ? found.fits : found.proven), !wrong.empty(), seconds,
            static_cast<double>(found.peak) / static_cast<double>(std::max<std::int64_t>(found.lower_bound, 1)) - 1};
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        options const how = options_of(argument_count, arguments);
        std::vector<instance> all;
        for (std::string const& file : how.files) all.push_back(read_instance(file));
        std::vector<instance> loose;
        for (std::int64_t seed = how.first_seed; seed > 0 && seed <= how.last_seed; ++seed) {
            for (int count : {1000, 2000}) {
                all.push_back(cut_rectangle(count, static_cast<unsigned>(seed)));
                all.push_back(weave_rectangle(count, static_cast<unsigned>(seed)));
            }
        }
        if (all.empty()) {
            all.push_back(cut_rectangle(24, 1));
            for (int count : {100, 200, 300, 400, 500, 1000, 2000}) {
                for (unsigned seed : {1u, 2u, 3u}) all.push_back(cut_rectangle(count, seed));
            }
            for (int count : {300, 500, 1000}) {
                for (unsigned seed : {1u, 2u, 3u}) all.push_back(weave_rectangle(count, seed));
            }
            for (int permille : {10, 30, 50}) {
                for (slack kind : {slack::smaller_boxes, slack::missing_boxes}) {
                    loose.push_back(loosen(cut_rectangle(300, 1), permille, kind, 1));
                    loose.push_back(loosen(weave_rectangle(300, 1), permille, kind, 1));
                }
            }
        }
        std::printf("%-28s %8s %12s %12s %12s %6s %12s %9s\n", "", "buffers", "capacity", "peak", "lower bound", "fits", "", "seconds");
        sum full, with_slack;
        tune::interruption const asked_to_stop;
        std::size_t const count = all.size() + loose.size();
        tune::progress_line progress("placement", static_cast<std::int64_t>(count));
        auto const print = [&] {
            std::printf("placement: solved=%d of=%d seconds=%.3f gap=%.4f", full.solved, full.all, full.seconds, full.gap);
            if (!loose.empty()) std::printf(" loose=%d loose_of=%d loose_gap=%.4f", with_slack.solved, with_slack.all, with_slack.gap);
            std::printf("\n");
        };
        auto const stop = [&](int signal) {
            progress.clear();
            print();
            std::fprintf(stderr, "placement: stopped; %d of %zu were looked at\n", full.all + with_slack.all, count);
            std::fflush(nullptr);
            std::_Exit(128 + signal);
        };
        auto const solve_each = [&](std::vector<instance> const& instances, options const& with, sum& into) {
            for (instance const& each : instances) {
                progress.show(full.all + with_slack.all, "");
                // A search cannot be asked to stop, so it is left alone then.
                std::future<outcome> found = std::async(std::launch::async, [&] { return solve(each, with, progress); });
                while (found.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
                    if (int const signal = tune::interruption::signal(); signal != 0) stop(signal);
                }
                into.add(found.get());
            }
        };
        if (!how.output.empty() && how.steps >= 100) {
            options first = how;
            first.steps = how.steps / 100;
            sum unused;
            solve_each(all, first, unused);
        }
        solve_each(all, how, full);
        options less = how;
        less.steps = how.steps / 10;
        solve_each(loose, less, with_slack);
        progress.clear();
        print();
        return full.wrong || with_slack.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
    } catch (std::exception const& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}
