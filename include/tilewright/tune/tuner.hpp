#pragma once
#include <iostream>
#include <tilewright/tune/by_command.hpp>
#include <tilewright/tune/computer.hpp>
#include <tilewright/tune/interrupt.hpp>
#include <tilewright/tune/known_results.hpp>
#include <tilewright/tune/on_emulator.hpp>
#include <tilewright/tune/on_processor.hpp>
#include <tilewright/tune/progress.hpp>
#include <tilewright/tune/tune.hpp>
#include <tilewright/tune/winner_header.hpp>

// How a tuner works. It takes a while to compile: one source of a program has it, and the others see `tune/tune.hpp`.
namespace tilewright::tune {

namespace detail {

inline std::unique_ptr<measurer> measurer_of(problem const& of, options const& how) {
    if (how.measure == "processor") return std::make_unique<on_processor>(of, how.seed, how.rounds);
    if (how.measure == "emulator") return std::make_unique<on_emulator>(of, how.seed);
    return std::make_unique<by_command>(of, how.measure, how.timeout);
}

inline std::string value_text(record const& one) {
    char text[96];
    std::snprintf(text, sizeof text, "%.6g", one.value());
    return text + (one.unit().empty() ? "" : " " + one.unit());
}

class tuner {
  public:
    tuner(problem const& of, options const& how) : of_(of), how_(how) {}

    findings run() {
        interruption const caught;
        auto const stop = [] { return interruption::signal() != 0; };
        std::unique_ptr<measurer> const where = measurer_of(of_, how_);
        stopwatch const planning;
        planned_space const space(of_, stop);
        per_plan_ = space.all().empty() ? 0 : planning.milliseconds() / static_cast<double>(space.all().size());
        from_ = {of_.name,
                 of_.shape,
                 space.machine_name(),
                 space.machine_hash(),
                 how_.processor.empty() ? where->processor() : how_.processor,
                 where->model(),
                 how_.compiler.empty() || where->name() != "command" ? where->compiler() : how_.compiler,
                 where->name(),
                 operating_system()};
        objective_ = where->objective();

        log_contents old;
        for (std::string const& file : how_.merge) read_log(file, old, true);
        if (!how_.log.empty()) read_log(how_.log, old);
        known_results known(space, from_, old, !how_.merge.empty());
        known.say_what_is_left_out(std::cerr);

        findings made;
        made.combinations = static_cast<std::int64_t>(space.all().size());
        made.refused = static_cast<std::int64_t>(space.refused().size());
        if (!how_.merge.empty()) {
            write_merged(old);
            made.merged = true;
        } else if (!stop()) {
            log_writer log(how_.log);
            record_refused(space, known, log);
            measure(space, *where, known, log, made);
        }
        made.signal = interruption::signal();
        finish(known, made);
        return made;
    }

  private:
    record begin_record(planned_configuration const& one, std::string const& hash) const {
        record made;
        made.from = from_;
        made.what = one.what;
        made.plan_hash = hash;
        made.timestamp = utc_now();
        made.search_algorithm = per_plan_;
        made.objective = objective_;
        return made;
    }
    /// Each refused configuration is recorded by one of the processes.
    void record_refused(planned_space const& space, known_results& known, log_writer& log) const {
        for (std::size_t at : space.refused()) {
            if (how_.log.empty() || !how_.part.has(static_cast<std::int64_t>(at)) || known.of(at) != nullptr) continue;
            add_refused(space, at, known, log);
        }
    }
    void add_refused(planned_space const& space, std::size_t at, known_results& known, log_writer& log) const {
        record made = begin_record(space.all()[at], space.hash(at));
        made.is = invalidity::constraints;
        made.reason = space.verdict_of(at);
        made.correctness = 0;
        log.add(made);
        known.add(space, made);
    }
    void measure(planned_space const& space, measurer& where, known_results& known, log_writer& log, findings& made) {
        std::vector<std::size_t> todo;
        for (std::size_t rank = 0; rank < space.ranked().size(); ++rank) {
            if (how_.limit > 0 && static_cast<std::int64_t>(rank) >= how_.limit) break;
            if (!how_.part.has(static_cast<std::int64_t>(rank))) continue;
            ++made.mine;
            record const* const before = known.of(space.ranked()[rank]);
            if (before != nullptr && (before->is == invalidity::correct || !how_.retry)) ++made.known;
            else todo.push_back(space.ranked()[rank]);
        }
        progress_line progress("tune " + of_.name + (of_.shape.count > 0 ? " " + text_of(of_.shape) : ""),
                               static_cast<std::int64_t>(todo.size()));
        for (std::size_t first = 0; first < todo.size() && interruption::signal() == 0; first += where.together()) {
            std::size_t const end = std::min(todo.size(), first + where.together());
            if (!measure_some({todo.begin() + static_cast<std::ptrdiff_t>(first), todo.begin() + static_cast<std::ptrdiff_t>(end)}, space,
                              where, known, log))
                break;
            made.measured += static_cast<std::int64_t>(end - first);
            progress.show(static_cast<std::int64_t>(end), best_text(known));
        }
    }
    /// Candidates that take turns. @return whether they were measured; otherwise somebody asked to stop
    bool measure_some(std::vector<std::size_t> const& which, planned_space const& space, measurer& where, known_results& known,
                      log_writer& log) const {
        std::vector<candidate> candidates;
        std::vector<std::size_t> places;
        std::vector<outcome> outcomes;
        stopwatch const all;
        // Plans live while their candidates are measured: each is made inside the visit of the one before.
        auto const go = [&](auto const& self, std::size_t next) -> void {
            if (next == which.size()) {
                outcomes = where.measure(candidates, [] { return interruption::signal() != 0; });
                return;
            }
            bool const taken = space.with_plan(which[next], [&](candidate const& one) {
                candidates.push_back(one);
                places.push_back(which[next]);
                self(self, next + 1);
            });
            if (taken) return;
            add_refused(space, which[next], known, log);
            self(self, next + 1);
        };
        go(go, 0);
        if (outcomes.size() != places.size()) return false;
        double total = all.milliseconds();
        for (outcome const& one : outcomes) {
            total -= one.compilation_time + one.validation;
            for (double run : one.runtimes) total -= run;
        }
        for (std::size_t at = 0; at < places.size(); ++at) {
            planned_configuration const& one = space.all()[places[at]];
            record made = begin_record(one, space.hash(places[at]));
            outcome const& found = outcomes[at];
            made.compilation_time = found.compilation_time;
            made.validation = found.validation;
            made.framework = std::max(0.0, total / static_cast<double>(places.size()));
            made.runtimes = found.runtimes;
            made.is = found.is;
            made.reason = found.reason;
            made.correctness = found.correctness;
            made.measurements = found.measurements;
            if (std::isfinite(one.cost)) made.measurements.push_back({"plan_cost", one.cost, ""});
            log.add(made);
            known.add(space, made);
        }
        return true;
    }

    void write_merged(log_contents const& old) const {
        std::vector<record> const all = merged(old.results);
        std::string text;
        for (record const& one : all) text += to_line(one) + "\n";
        if (!how_.log.empty()) replace_file(how_.log, text);
        std::cerr << "merged " << old.results.size() << " results into " << all.size() << "\n";
    }
    void finish(known_results const& known, findings& made) const {
        for (auto const& [at, one] : known.known()) made.results.push_back(one);
        std::stable_sort(made.results.begin(), made.results.end(), [](record const& a, record const& b) {
            bool const first = a.is == invalidity::correct, second = b.is == invalidity::correct;
            return first != second ? first : first && a.value() < b.value();
        });
        winner_list const found = winners_of(known.everything());
        made.winners = found.winners;
        if (found.outdated > 0) std::cerr << found.outdated << " results not used for winners: later ones have another origin or plan\n";
        if (!how_.write_header.empty() && found.winners.empty()) std::cerr << "no winner: " << how_.write_header << " is not written\n";
        else if (!how_.write_header.empty()) replace_file(how_.write_header, header_of(found.winners, namespace_of(how_.write_header)));
        if (!how_.write_t4.empty()) replace_file(how_.write_t4, to_t4(merged(known.everything())));
    }
    static std::string best_text(known_results const& known) {
        record const* best = nullptr;
        for (auto const& [at, one] : known.known()) {
            if (one.is == invalidity::correct && (best == nullptr || one.value() < best->value())) best = &one;
        }
        return best == nullptr ? "" : value_text(*best) + " (" + text_of(best->what) + ")";
    }

    problem const& of_;
    options const& how_;
    origin from_;
    std::string objective_;
    double per_plan_ = 0;
};

inline void print_findings(findings const& found, problem const& of, std::ostream& out) {
    if (found.merged) {
        for (record const& one : found.winners)
            out << one.from.problem << " " << text_of(one.from.shape) << " on " << one.from.processor << ": " << value_text(one) << "  "
                << text_of(one.what) << "\n";
        return;
    }
    out << of.name << " " << text_of(of.shape) << ": " << found.combinations << " configurations, " << found.refused
        << " refused by the planner; " << found.mine << " to measure here, " << found.known << " known, " << found.measured
        << " measured\n";
    constexpr std::size_t most = 5;
    std::size_t failed = 0, right = 0;
    for (record const& one : found.results) {
        if (one.is == invalidity::constraints) continue;
        bool const is_right = one.is == invalidity::correct;
        if (++(is_right ? right : failed) > most) continue;
        out << "  " << (is_right ? value_text(one) + "  " : std::string(name_of(one.is)) + ": ") << text_of(one.what)
            << (is_right ? "" : ": " + one.reason) << "\n";
    }
    if (failed > most) out << "  and " << failed - most << " more that failed\n";
    if (record const* const best = found.best()) out << "best: " << text_of(best->what) << "\n";
    else out << "no configuration is correct\n";
}

inline int run_program(problem const& of, int count, char const* const* arguments) try {
    options const how = options_of({arguments + 1, arguments + count});
    if (how.help) {
        std::cout << "usage: " << arguments[0] << " [options]\n" << usage;
        return 0;
    }
    findings const found = tuner(of, how).run();
    print_findings(found, of, std::cout);
    if (found.signal != 0) return 128 + found.signal;
    if (found.merged) return found.winners.empty() ? 1 : 0;
    // A part of the work may be nothing.
    bool const had_work = found.mine > 0 || found.combinations == found.refused;
    return found.best() == nullptr && had_work ? 1 : 0;
} catch (std::exception const& wrong) {
    std::cerr << arguments[0] << ": " << wrong.what() << "\n";
    return 2;
}

}  // namespace detail
}  // namespace tilewright::tune
