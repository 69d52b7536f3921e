#pragma once
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <tilewright/report/cycle_account.hpp>
#include <tilewright/report/memory_map.hpp>
#include <tilewright/report/traffic.hpp>
#include <tilewright/report/wrong_calls.hpp>

// A plan in ten seconds.
namespace tilewright {
namespace reports {

/// `part` of `whole`, as so many of 32 columns: "|########                        |".
inline std::string bar(std::int64_t part, std::int64_t whole) {
    constexpr std::int64_t columns = 32;
    return '|' + filled_columns(part, whole, columns, ' ') + '|';
}

/// Escape sequences of ANSI. Those of colours are bold, too.
inline constexpr char const *bold = "\033[1m", *red = "\033[1;31m", *green = "\033[1;32m", *yellow = "\033[1;33m";

/// Whether a stream is a terminal that shows colours: the variable NO_COLOR is not set or empty (no-color.org), and TERM is not "dumb".
inline bool shows_colours(std::ostream const& to) {
    int const file = &to == &std::cout ? STDOUT_FILENO : &to == &std::cerr || &to == &std::clog ? STDERR_FILENO : -1;
    char const *const unwanted = std::getenv("NO_COLOR"), *const kind = std::getenv("TERM");
    if (file < 0 || (unwanted != nullptr && *unwanted != '\0') || kind == nullptr || std::string(kind) == "dumb") return false;
    return isatty(file) == 1;
}

inline std::string in_colour(char const* escape, std::string const& line, bool coloured) {
    return coloured && *escape != '\0' ? escape + line + "\033[0m" : line;
}

/// Memories and units, and how full they are: a memory is yellow from 75 % on and red from 90 % on, a unit is green from 90 % on.
class full_rows {
  public:
    explicit full_rows(bool coloured) : coloured_(coloured) {}
    void add_memory(std::string const& name, std::int64_t part, std::int64_t whole) {
        add(name, part, whole, "bytes", part >= whole - whole / 10 ? red : part >= whole - whole / 4 ? yellow : "");
    }
    void add_unit(std::string const& name, std::int64_t part, std::int64_t whole) {
        add(name, part, whole, "cycles", part >= whole - whole / 10 ? green : "");
    }
    std::string str() const {
        std::string const lines = rows_.str();
        std::string text;
        std::size_t begin = 0;
        for (char const* const escape : escapes_) {
            std::size_t const end = lines.find('\n', begin);
            text += in_colour(escape, lines.substr(begin, end - begin), coloured_) + '\n';
            begin = end + 1;
        }
        return text;
    }

  private:
    void add(std::string const& name, std::int64_t part, std::int64_t whole, char const* unit, char const* escape) {
        rows_.add({name, grouped(part) + " of " + grouped(whole), unit, percent(part, whole), bar(part, whole)});
        escapes_.push_back(escape);
    }

    bool coloured_;
    table rows_{{table::side::left, table::side::right, table::side::left, table::side::right, table::side::left}};
    std::vector<char const*> escapes_{};
};

}  // namespace reports

/// A plan in a few lines: its cycles beside the bound of the busiest; how full its memories are; how long its engines and cores work; and
/// which parts have most of the work. A plan that was refused is its verdict.
///
/// ```
/// npu: 2,688 cycles, 2.63 times the bound of 1,024 (loader)
///
/// spad    4,096 of 16,384  bytes   25.0 %  |########                        |
/// acc     4,096 of 16,384  bytes   25.0 %  |########                        |
/// loader   1,024 of 2,688  cycles  38.1 %  |#############                   |
/// storer   1,024 of 2,688  cycles  38.1 %  |#############                   |
/// array    1,024 of 2,688  cycles  38.1 %  |#############                   |
/// host         0 of 2,688  cycles   0.0 %  |                                |
///
/// of all work: mvin 47.1 %, mvout 29.4 %, mac16 17.6 %, mul16 5.9 %
/// ```
/// @param coloured  by escape sequences of ANSI: the first line is bold; a memory is yellow from 75 % on and red from 90 % on; what works
/// 90 % of the time or more is green
inline std::string summary(plan_value const& plan, bool coloured = false) {
    using namespace reports;
    if (plan.refusal) return refused_text(plan);
    std::optional<std::int64_t> const predicted = predicted_cycles(plan);
    occupation const bound = bound_of(plan);
    std::string const first = plan.where->name.str() + ": " + cycles_text(predicted, bound.least()) + " cycles" +
                              (predicted ? times_the_bound(*predicted, bound) : "");

    full_rows rows(coloured);
    for (memory_use const& use : memory_uses(plan)) {
        memory const& m = plan.where->memories[use.memory];
        rows.add_memory(m.name.str() + (m.banks > 1 ? ", bank " + std::to_string(use.bank) : ""), use.peak, use.capacity);
    }
    for (occupation const& one : occupations_of(plan)) {
        if (predicted) rows.add_unit(name_with_channels(one), one.busy, one.channels * *predicted);
    }
    std::string text = in_colour(bold, first, coloured) + "\n\n" + rows.str();

    std::vector<work> parts = work_of(plan);
    std::stable_sort(parts.begin(), parts.end(), [](work const& a, work const& b) { return a.cycles > b.cycles; });
    std::string most;
    for (std::size_t at = 0; at < parts.size() && at < 5 && parts[at].cycles > 0; ++at) {
        std::string const name = parts[at].kind == "code" ? "loops of " + parts[at].name : parts[at].name;
        most += (at > 0 ? ", " : "") + name + " " + percent(parts[at].cycles, plan.total_cycles);
    }
    if (!most.empty()) text += "\nof all work: " + most + '\n';
    std::string const wait = worst_wait(plan, accounts_of(plan));
    if (!wait.empty()) text += wait + '\n';
    return text;
}

}  // namespace tilewright

namespace tilewright::ir {

/// What `to << plan` is: the summary, coloured on a terminal.
inline void print_summary(std::ostream& to, plan_value const& plan) { to << summary(plan, reports::shows_colours(to)); }

}  // namespace tilewright::ir
