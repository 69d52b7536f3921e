#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/check_plan.hpp>
#include <tilewright/tune/interrupt.hpp>
#include <tilewright/tune/progress.hpp>

#include "mutations/good_plans.hpp"
#include "mutations/interleavings.hpp"
#include "mutations/mutate.hpp"

// Plans with a mistake each, and who finds it: the check of plans, and the emulator. Which of them can go wrong is decided by trying every
// order in which their transfers can get on.

namespace {

using namespace mutations;

/// What became of a mutant.
struct finding {
    std::int32_t position = 0;  ///< -1: the worker is done
    bool faulty = false, checker = false, wrong_bits = false, stopped = false, checked = false;
    verdict_kind what = verdict_kind::none;
    ir::rule why = ir::rule::none;
    std::array<char, 80> how{};  ///< an order that goes wrong

    bool emulator() const { return wrong_bits || stopped || checked; }
};

/// One plan and its mutants on an emulated machine.
class bench {
  public:
    bench(plan_value const& good, semantics_table const& semantics)
        : good_(good), meaning_(meaning_of(good)), on_(*good.where, semantics), plain_(good, nullptr) {
        for (int at = 0; at < good.buffers.size(); ++at) {
            ir::buffer const& b = good.buffers[at];
            if (b.kind != ir::buffer_kind::argument) continue;
            Halide::Buffer<> data = apart(b);
            if (!b.written) {
                scramble(static_cast<std::uint8_t*>(data.data()), data.size_in_bytes());
                inputs_.push_back(data);
            } else {
                // small values, so that sums do not overflow
                auto* const elements = static_cast<std::int32_t*>(data.data());
                for (std::size_t e = 0; e < data.number_of_elements(); ++e) elements[e] = static_cast<std::int32_t>(random_() % 1000);
                before_ = data;
                result_ = apart(b);
            }
        }
        expected_ = before_.copy();
        plain_.run(inputs_, expected_);
    }

    finding look_at(plan_value const& plan) {
        finding found;
        std::string const fault = fault_of(plan, meaning_);
        std::strncpy(found.how.data(), fault.c_str(), found.how.size() - 1);
        found.faulty = !fault.empty();
        verdict const refusal = check_plan(plan);
        found.checker = refusal && check_plan(plan, ir::visiting::everything);
        found.what = refusal.kind, found.why = refusal.broken;
        if (!found.faulty) return found;
        {
            halide::jit_kernel kernel(plan, &on_);
            run_in_all_modes(kernel, found.wrong_bits, found.stopped);
        }
        if (found.emulator()) return found;
        halide::jit_kernel kernel(plan, &on_, true);
        on_.check(plan);
        bool wrong = false;
        run_in_all_modes(kernel, wrong, found.checked);
        on_.stop_checking();
        return found;
    }
    /// Whether the plan itself passes everywhere.
    bool is_good() {
        if (!fault_of(good_, meaning_).empty() || check_plan(good_)) return false;
        bool wrong = false, stopped = false;
        for (bool checked : {false, true}) {
            halide::jit_kernel kernel(good_, &on_, checked);
            if (checked) on_.check(good_);
            run_in_all_modes(kernel, wrong, stopped);
        }
        on_.stop_checking();
        return !wrong && !stopped;
    }

  private:
    static std::vector<int> extents_of(ir::buffer const& b) {
        std::vector<int> extents;
        for (int d = b.rank - 1; d >= 0; --d) extents.push_back(static_cast<int>(b.extents[d]));
        return extents;
    }
    /// A dense argument with room around it, where some mutants read and write.
    Halide::Buffer<> apart(ir::buffer const& b) {
        std::size_t const bytes = static_cast<std::size_t>(b.bytes);
        auto& storage = storages_.emplace_back(std::make_unique<std::vector<std::uint64_t>>((bytes + 2 * room) / 8 + 1));
        return Halide::Buffer<>(halide::type_of(b.type), reinterpret_cast<std::uint8_t*>(storage->data()) + room, extents_of(b));
    }
    void scramble(std::uint8_t* first, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; ++at) first[at] = static_cast<std::uint8_t>(random_());
    }
    void run_in_all_modes(halide::jit_kernel& kernel, bool& wrong_bits, bool& stopped) {
        struct mode {
            progress how;
            std::uint64_t seed;
        };
        for (mode const& each : {mode{progress::latest, 1}, mode{progress::earliest, 1}, mode{progress::random, 1},
                                 mode{progress::random, 2}, mode{progress::random, 3}, mode{progress::threads, 1}}) {
            on_.reset();
            on_.use(each.how, each.seed);
            // What the run before has left must not pass for what this one should have loaded.
            for (int at = 0; at < good_.where->memories.size(); ++at) {
                memory const& m = good_.where->memories[at];
                for (int bank = 0; m.capacity > 0 && bank < m.banks; ++bank)
                    scramble(reinterpret_cast<std::uint8_t*>(on_.base(at, bank)), static_cast<std::size_t>(m.bank_capacity()));
            }
            Halide::Buffer<> result = result_;
            std::memcpy(result.data(), before_.data(), before_.size_in_bytes());
            try {
                kernel.run(inputs_, result);
            } catch (Halide::RuntimeError const&) {
            }
            stopped |= !on_.error().empty();
            wrong_bits |= on_.error().empty() && std::memcmp(result.data(), expected_.data(), result.size_in_bytes()) != 0;
        }
        on_.use(progress::earliest);
    }

    plan_value const& good_;
    meaning meaning_;
    emulator on_;
    halide::jit_kernel plain_;
    std::mt19937 random_{1};
    std::vector<Halide::Buffer<>> inputs_;
    static constexpr std::size_t room = 1 << 16;
    std::vector<std::unique_ptr<std::vector<std::uint64_t>>> storages_;
    Halide::Buffer<> before_, result_, expected_;
};

struct seeded {
    good_plan const* of;
    mutant what;
};

/// Looks at every `count`-th mutant from `first` on, and writes what it finds.
void work(std::vector<seeded> const& all, std::size_t first, std::size_t count, int into) {
    std::unique_ptr<bench> current;
    good_plan const* of = nullptr;
    for (std::size_t at = first; at < all.size(); at += count) {
        if (all[at].of != of) {
            of = all[at].of;
            current = std::make_unique<bench>(*of->plan, of->semantics);
            if (first == 0 && !current->is_good()) {
                std::fprintf(stderr, "%s: the plan itself does not pass\n", of->name.c_str());
                std::_Exit(EXIT_FAILURE);
            }
        }
        finding found = current->look_at(all[at].what.plan);
        found.position = static_cast<std::int32_t>(at);
        if (write(into, &found, sizeof found) != sizeof found) std::_Exit(EXIT_FAILURE);
    }
    finding const end{.position = -1};
    if (write(into, &end, sizeof end) != sizeof end) std::_Exit(EXIT_FAILURE);
    std::_Exit(EXIT_SUCCESS);
}

struct counts {
    int mutants = 0, faulty = 0, checker = 0, emulator = 0, wrong_bits = 0, stopped = 0, checked = 0, refused = 0;

    void add(finding const& f) {
        ++mutants;
        if (!f.faulty) {
            refused += f.checker;
            return;
        }
        ++faulty;
        checker += f.checker, emulator += f.emulator(), wrong_bits += f.wrong_bits, stopped += f.stopped, checked += f.checked;
    }
    void print(char const* name) const {
        std::printf("%-48s %7d %7d %7d %8d %10d %7d %8d %9d\n", name, mutants, faulty, checker, emulator, wrong_bits, stopped, checked,
                    refused);
    }
};

}  // namespace

int main(int argument_count, char** arguments) {
    bool const lists = argument_count > 1 && std::strcmp(arguments[1], "--list") == 0;
    good_plans const good;
    std::vector<seeded> all;
    for (good_plan const& g : good.all) {
        // of one kind of plans: --only TEXT
        if (argument_count > 2 && std::strcmp(arguments[1], "--only") == 0 && g.name.find(arguments[2]) == std::string::npos) continue;
        if (g.plan->refusal) {
            std::fprintf(stderr, "%s is refused: %s\n", g.name.c_str(), to_string(g.plan->refusal).c_str());
            return EXIT_FAILURE;
        }
        for (mutant& m : mutants_of(*g.plan).all) all.push_back({&g, std::move(m)});
    }

    // Processes, since what a mutant does to its process must not be seen in another one.
    tilewright::tune::interruption const asked_to_stop;
    std::size_t const workers = std::max(1u, std::thread::hardware_concurrency());
    int ends[2];
    std::vector<pid_t> processes;
    if (pipe(ends) != 0) return EXIT_FAILURE;
    for (std::size_t worker = 0; worker < workers; ++worker) {
        pid_t const process = fork();
        if (process == 0) {
            for (int which : {SIGINT, SIGTERM}) std::signal(which, SIG_DFL);
            close(ends[0]), work(all, worker, workers, ends[1]);
        }
        processes.push_back(process);
    }
    close(ends[1]);

    std::array<counts, static_cast<std::size_t>(mutation::count)> kinds{};
    counts total;
    std::size_t done = 0;
    finding found;
    tilewright::tune::progress_line progress("mutations", static_cast<std::int64_t>(all.size()));
    while (tilewright::tune::interruption::signal() == 0 && read(ends[0], &found, sizeof found) == sizeof found) {
        if (found.position < 0) {
            ++done;
            continue;
        }
        seeded const& s = all[found.position];
        kinds[static_cast<std::size_t>(s.what.is)].add(found);
        total.add(found);
        bool const missed = found.faulty && (!found.checker || !found.emulator());
        if (missed || lists) {
            progress.clear();
            std::printf("%s: %s, %s, %s: %s; checker: %s; emulator: %s%s%s%s\n", missed ? "missed" : "seeded", s.of->name.c_str(),
                        text_of(s.what.is), s.what.where.c_str(), found.faulty ? found.how.data() : "does no harm",
                        !found.checker                ? "-"
                        : found.why == ir::rule::none ? name_of(found.what)
                                                      : text_of(found.why),
                        found.wrong_bits ? "wrong bits " : "", found.stopped ? "stopped " : "", found.checked ? "checked " : "",
                        found.emulator() ? "" : "-");
        }
        progress.show(total.mutants, "");
    }
    int const signal = tilewright::tune::interruption::signal();
    for (pid_t const process : processes) {
        if (signal != 0 && process > 0) kill(process, SIGKILL);
    }
    progress.clear();
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    if (done != workers && signal == 0) {
        std::fprintf(stderr, "a worker ended early\n");
        return EXIT_FAILURE;
    }

    std::printf("\n%zu plans; found in runs by wrong bits, by a stop, else by a checked run; harmless ones that the checker refuses\n\n",
                good.all.size());
    std::printf("%-48s %7s %7s %7s %8s %10s %7s %8s %9s\n", "", "mutants", "faulty", "checker", "emulator", "wrong bits", "stopped",
                "checked", "harmless");
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) kinds[kind].print(text_of(static_cast<mutation>(kind)));
    total.print("all");
    std::printf("mutations: seeded=%d checker=%d emulator=%d\n", total.faulty, total.checker, total.emulator);
    if (signal != 0) {
        std::fprintf(stderr, "mutations: stopped; %d of %zu were looked at\n", total.mutants, all.size());
        return 128 + signal;
    }
    return total.faulty > 0 && total.checker == total.faulty && total.emulator == total.faulty ? EXIT_SUCCESS : EXIT_FAILURE;
}
