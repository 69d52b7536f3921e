#include "fuzz/walk.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <tilewright/tune/progress.hpp>

#include "fuzz/draw.hpp"
#include "fuzz/draw_cores.hpp"
#include "fuzz/print.hpp"
#include "fuzz/program_trial.hpp"
#include "fuzz/shrink.hpp"
#include "fuzz/shrink_program.hpp"
#include "fuzz/trial.hpp"
#include "program/program_text.hpp"

namespace fuzz {

namespace {

std::atomic<bool> stopped = false;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// What a worker tells of a case.
struct record {
    std::uint64_t seed = 0;
    outcome::kind is = outcome::kind::agreed;
    bool in_c = false;
    bool again = false;  ///< of the C source, after the case has been told of
    int cores = 1;
    bool multicasts = false;
    char what[240] = {};
};
/// What a worker is at, for those who find it dead.
struct place_of_work {
    std::atomic<std::uint64_t> seed{0};
    std::atomic<std::uint64_t> drawn{0};  ///< the last seed
    std::atomic<int> in_c{0};
};

std::string text_of(std::uint64_t seed, programs::recipe const& program) {
    return "// seed " + std::to_string(seed) + "\n" + programs::cpp_of(program);
}
std::string text_of(std::uint64_t seed) { return is_program(seed) ? text_of(seed, draw_program(seed)) : cpp_of(draw(seed)); }

void send(int to, std::uint64_t seed, outcome const& found, bool again = false) {
    record r{seed, found.is, found.in_c, again, found.cores, found.multicasts, {}};
    std::strncpy(r.what, found.what.c_str(), sizeof r.what - 1);
    if (write(to, &r, sizeof r) != static_cast<ssize_t>(sizeof r)) _exit(3);
}

/// Draws and runs the seeds first, first + step, … below `end`; C sources of many cases are compiled together.
void work(int to, place_of_work& at, walk_options const& options, std::uint64_t first, std::uint64_t step, std::uint64_t end) {
    constexpr std::size_t batch = 12;
    std::deque<std::unique_ptr<trial>> waiting;
    auto const compile = [&] {
        if (waiting.empty()) return;
        std::string pattern = (std::filesystem::temp_directory_path() / "tilewright_fuzz_XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) _exit(4);
        at.in_c = 1;
        std::vector<std::string> files;
        std::vector<std::string> names(waiting.size());
        for (std::size_t one = 0; one < waiting.size(); ++one) {
            at.seed = waiting[one]->what().seed;
            std::string const name = "kernel_" + std::to_string(waiting[one]->what().seed);
            try {
                std::vector<std::string> const made = waiting[one]->write_c(pattern, name);
                files.insert(files.end(), made.begin(), made.end());
                if (!made.empty()) names[one] = name;
            } catch (std::exception const& wrong) {
                send(to, waiting[one]->what().seed, {outcome::kind::failed, std::string("c_exception: ") + wrong.what()}, true);
            }
        }
        void* library = nullptr;
        bool together = true;
        try {
            if (!files.empty()) library = compile_c(pattern, files);
        } catch (std::exception const&) {
            together = false;  // one of them is wrong: each by itself
        }
        std::filesystem::remove_all(pattern);
        for (std::size_t one = 0; one < waiting.size(); ++one) {
            if (names[one].empty()) continue;
            at.seed = waiting[one]->what().seed;
            send(to, waiting[one]->what().seed, together ? waiting[one]->run_c(library, names[one]) : try_case(waiting[one]->what(), true),
                 true);
        }
        waiting.clear();
        at.in_c = 0;
    };
    int done = 0;
    for (std::uint64_t seed = first; seed < end; seed += step) {
        at.seed = at.drawn = seed;
        if (is_program(seed)) {
            program_trial program(draw_program(seed), seed);
            outcome const found = program.run();
            send(to, seed, found);
            if (found.is != outcome::kind::agreed || !options.c_source) continue;
            at.in_c = 1;
            send(to, seed, program.run_c(), true);
            at.in_c = 0;
            continue;
        }
        auto one = std::make_unique<trial>(draw(seed));
        outcome found = one->plan();
        if (found.is == outcome::kind::agreed) found = one->run(options.quick);
        send(to, seed, found);
        if (found.is == outcome::kind::agreed && options.c_source) waiting.push_back(std::move(one));
        if (waiting.size() == batch) compile();
        if (++done == 400) break;  // what was compiled at run time is never given back
    }
    compile();
}

struct child {
    pid_t process = -1;
    int from = -1;
    std::string bytes{};
};

/// A process that calls `what(pipe)`; its standard error goes to `errors`, a file.
template <class What>
child start(What const& what, std::string const& errors) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::cout.flush();
    child made{fork(), ends[0], {}};
    if (made.process == 0) {
        close(ends[0]);
        std::signal(SIGINT, SIG_IGN);
        if (!errors.empty() && std::freopen(errors.c_str(), "w", stderr) == nullptr) _exit(5);
        what(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (made.process < 0) throw std::runtime_error("no process");
    return made;
}
/// Reads what has come, for at most so many milliseconds. @return false when the other end is closed
template <class Take>
bool read_records(child& from, int milliseconds, Take const& take) {
    pollfd asked{from.from, POLLIN, 0};
    if (poll(&asked, 1, milliseconds) <= 0) return true;
    char bytes[4096];
    ssize_t const count = read(from.from, bytes, sizeof bytes);
    if (count <= 0) return count < 0;
    from.bytes.append(bytes, static_cast<std::size_t>(count));
    while (from.bytes.size() >= sizeof(record)) {
        record r;
        std::memcpy(&r, from.bytes.data(), sizeof r);
        from.bytes.erase(0, sizeof r);
        take(r);
    }
    return true;
}
std::string first_line_of(std::string const& file, std::string const& with) {
    std::string found;
    if (FILE* in = std::fopen(file.c_str(), "r")) {
        char line[400];
        while (found.empty() && std::fgets(line, sizeof line, in) != nullptr) {
            if (std::strstr(line, with.c_str()) != nullptr) found = line;
        }
        std::fclose(in);
    }
    while (!found.empty() && found.back() == '\n') found.pop_back();
    return found;
}
/// How a process ended that did not get to its end.
std::string death_of(int status, std::string const& errors) {
    std::string said = first_line_of(errors, "runtime error");
    if (said.empty()) said = first_line_of(errors, "ERROR");
    if (said.empty()) said = first_line_of(errors, "terminate");
    return (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : "exit " + std::to_string(WEXITSTATUS(status))) + " " +
           said;
}

/// What becomes of a case in a process of its own. @param tries  what tells
outcome try_apart(std::uint64_t seed, std::function<outcome()> const& tries, double seconds, std::string const& folder) {
    std::string const errors = folder + "/apart";
    child made = start([&](int to) { send(to, seed, tries()); }, errors);
    outcome found;
    bool came = false;
    double const until = now() + seconds;
    while (!came && now() < until) {
        bool const open = read_records(made, 200, [&](record const& r) {
            found = {r.is, r.what, r.in_c, r.cores, r.multicasts};
            came = true;
        });
        if (!open) break;
    }
    if (!came && now() >= until) kill(made.process, SIGKILL);
    int status = 0;
    waitpid(made.process, &status, 0);
    close(made.from);
    if (!came && now() >= until)
        return {outcome::kind::failed, "hangs: it takes longer than " + std::to_string(static_cast<int>(seconds)) + " seconds"};
    if (!came) return {outcome::kind::failed, "crash: " + death_of(status, errors)};
    return found;
}

/// How far a walk is, and how long it may still take: until its time is over, or its cases are.
std::string progress_text(walk_result const& all, walk_options const& options, double seconds) {
    auto const rate = static_cast<double>(all.cases) / seconds;
    std::string text = "fuzz: " + std::to_string(all.cases) + " cases, " + std::to_string(all.refusals()) + " refused, " +
                       std::to_string(all.failures.size()) + " mismatches, " + std::to_string(static_cast<int>(rate + 0.5)) + " a second";
    double left = options.seconds > 0 ? std::max(0.0, options.seconds - seconds) : 1e9;
    if (options.cases > 0 && rate > 0) left = std::min(left, static_cast<double>(options.cases - all.cases) / rate);
    return left < 1e9 ? text + ", " + tilewright::tune::duration_text(left) + " left" : text;
}

}  // namespace

void stop_walking() { stopped = true; }

walk_result walk(walk_options const& options) {
    walk_result all;
    double const began = now();
    std::string folder = (std::filesystem::temp_directory_path() / "tilewright_walk_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    auto const left = [&] { return options.seconds <= 0 ? 1e9 : began + options.seconds - now(); };

    struct worker {
        child process{};
        place_of_work* at = nullptr;
        std::uint64_t next = 0;  ///< seed
        std::uint64_t seen = 0;  ///< that it was last found at
        double since = 0;
        bool ended = false;
        std::string errors{};
    };
    std::uint64_t const end = options.cases > 0 ? options.first + static_cast<std::uint64_t>(options.cases) : ~std::uint64_t{0} / 2;
    std::uint64_t first = options.first;
    while (options.on_cores > 0 && !is_for_cores(first)) ++first;
    std::uint64_t const apart = options.on_cores > 0 ? cores_every : 1, step = apart * static_cast<std::uint64_t>(options.workers);
    std::vector<worker> workers(static_cast<std::size_t>(options.workers));
    std::deque<std::pair<std::uint64_t, std::string>> failed;  // not made smaller yet
    bool enough = false;

    auto const begin = [&](worker& w) {
        w.since = now();
        w.seen = 0;
        w.at->seed = w.at->drawn = w.next;
        w.at->in_c = 0;
        w.process = start([&](int to) { work(to, *w.at, options, w.next, step, end); }, w.errors);
    };
    auto const take = [&](worker& w, record const& r) {
        w.since = now();
        if (r.is == outcome::kind::failed) failed.emplace_back(r.seed, r.what);
        all.in_c += r.in_c ? 1 : 0;
        if (r.again) return;
        ++all.cases;
        all.cores_drawn += is_for_cores(r.seed) ? 1 : 0;
        static constexpr char const* words[] = {"agrees with the oracle ",
                                                "is refused: ", "is left to the user by the language: ", "fails: "};
        if (options.shows_cases) std::cout << text_of(r.seed) << "// " << words[static_cast<int>(r.is)] << r.what << "\n\n";
        if (r.is == outcome::kind::refused) {
            std::string const name = outcome{r.is, r.what}.category();
            ++all.refused[name];
            if (is_for_cores(r.seed)) ++all.refused_cores[name];
            if (name == "race" || name == "deadlock") all.blamed.push_back(r.seed);
        }
        if (r.is == outcome::kind::undefined) ++all.undefined;
        if (r.is == outcome::kind::agreed) ++all.agreed, all.on_cores += r.cores > 1 ? 1 : 0, all.with_multicasts += r.multicasts ? 1 : 0;
        if (options.on_cores > 0 && all.on_cores >= options.on_cores) enough = true;
    };
    for (std::size_t at = 0; at < workers.size(); ++at) {
        worker& w = workers[at];
        void* const shared = mmap(nullptr, sizeof(place_of_work), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED) throw std::bad_alloc();
        w.at = new (shared) place_of_work;
        w.next = first + apart * at;
        w.errors = folder + "/worker" + std::to_string(at);
        begin(w);
    }
    auto const after_end = [&](worker& w, int status, bool hung) {
        bool const died = hung || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        if (died) {
            bool const in_c = w.at->in_c != 0;
            std::string const how = hung ? "hangs: nothing came for a long time" : "crash: " + death_of(status, w.errors);
            record r{w.at->seed, outcome::kind::failed, false, in_c, 1, {}};
            std::strncpy(r.what, ((in_c ? "c_" : "") + how).c_str(), sizeof r.what - 1);
            take(w, r);
        }
        w.next = w.at->drawn + step;
        w.ended = w.next >= end || stopped || enough || left() <= 0;
        if (!w.ended) begin(w);
    };
    tilewright::tune::progress_line progress("fuzz", 0);
    while (std::any_of(workers.begin(), workers.end(), [](worker const& w) { return !w.ended; })) {
        for (worker& w : workers) {
            if (w.ended) continue;
            bool const open = read_records(w.process, 50, [&](record const& r) { take(w, r); });
            std::uint64_t const seed = w.at->seed;
            if (seed != w.seen) w.seen = seed, w.since = now();
            bool const hung = open && now() - w.since > 120;
            bool const over = stopped || enough || left() <= 0;
            if (open && !hung && !over) continue;
            if (open) kill(w.process.process, SIGKILL);
            int status = 0;
            waitpid(w.process.process, &status, 0);
            close(w.process.from);
            if (over) w.ended = true;
            else after_end(w, status, hung);
        }
        while (!failed.empty() && !stopped) {
            std::uint64_t const seed = failed.front().first;
            std::string const what = failed.front().second;
            failed.pop_front();
            if (options.shows_progress) progress.clear(), std::cout << "\nseed " << seed << ": " << what << "\n" << std::flush;
            walk_failure found{seed, what, {}};
            std::string const category = what.substr(0, what.find(':'));
            bool const in_c = category.substr(0, 2) == "c_";
            double const until = now() + std::min(options.shrink_seconds, std::max(left(), 30.0));
            double const patience = category == "hangs" ? 40 : 60;
            std::string last = what;
            auto const fails = [&](std::function<outcome()> const& smaller) {
                outcome const is = try_apart(seed, smaller, patience, folder);
                std::string const mine = is.category();
                bool const same = is.is == outcome::kind::failed && (mine == category || "c_" + mine == category);
                if (same) last = is.what;
                return same;
            };
            auto const enough = [&] { return stopped || now() > until; };
            std::string text;
            if (options.shrink_seconds <= 0) text = text_of(seed);
            else if (is_program(seed))
                text = text_of(
                    seed,
                    shrink_program(
                        draw_program(seed),
                        [&](programs::recipe const& smaller) { return fails([&] { return try_program(smaller, seed, in_c); }); }, enough));
            else
                text = cpp_of(shrink(
                    draw(seed), [&](drawn_case const& smaller) { return fails([&] { return try_case(smaller, in_c); }); }, enough));
            found.text = "// " + last + "\n" + text;
            std::replace(last.begin(), last.end(), '\n', ' ');
            if (options.shows_progress) std::cout << found.text << std::flush;
            all.failures.push_back(found);
            for (worker& w : workers) w.since = now();
            if (static_cast<int>(all.failures.size()) >= options.most_failures) stopped = true;
        }
        if (options.shows_progress && progress.is_due()) progress.say(progress_text(all, options, now() - began));
    }
    for (auto const& [seed, what] : failed) all.failures.push_back({seed, what, "// " + what + "\n" + text_of(seed)});
    for (worker& w : workers) munmap(w.at, sizeof(place_of_work));
    std::filesystem::remove_all(folder);
    return all;
}

}  // namespace fuzz
