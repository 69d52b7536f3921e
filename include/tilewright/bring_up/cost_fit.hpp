#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <tilewright/base/label_text.hpp>
#include <tilewright/bring_up/least_squares.hpp>
#include <tilewright/bring_up/trace_log.hpp>
#include <tilewright/machine/clock.hpp>
#include <tilewright/machine/machine.hpp>

// Costs of a machine's parts from measured cycles: numbers for its description, and how far they are off.
namespace tilewright::bring_up {

/// One step of a part, or a job that an engine has carried out.
struct measured_step {
    double cycles = 0;
    std::int64_t bytes = 0;       ///< transfer: at the destination
    bool waited_in_line = false;  ///< an engine began it when the job before left: its latency hides in that of the one before
    std::array<std::int64_t, ir::stage::most_axes> extents{};  ///< intrinsic
};

/// What was found of one part.
struct fitted_cost {
    std::string parts{};  ///< those that one function carries out
    std::string line{};   ///< for the description; empty: too little was measured
    std::string remarks{};
    std::size_t measured = 0, left_out = 0;
    double worst = 0, mean = 0;                    ///< relative errors with that line
    double declared_worst = 0, declared_mean = 0;  ///< and with what the machine declares now
};

class cost_fit {
  public:
    cost_fit(machine const& where, std::vector<core_trace> const& traces) : where_(where), traces_(traces) {}

    std::vector<fitted_cost> fit() {
        std::vector<fitted_cost> all;
        std::map<std::string, std::vector<int>> together;
        for (int at = 0; at < where_.transfers.size(); ++at) {
            transfer_description const& t = where_.transfers[at];
            if (t.core_name.empty() && !passes_values(where_, t)) together[symbols_of(t)].push_back(at);
        }
        for (int at = 0; at < where_.transfers.size(); ++at) {
            transfer_description const& t = where_.transfers[at];
            auto const same = together.find(symbols_of(t));
            if (same != together.end() && same->second.front() == at) all.push_back(fit_transfer(same->second));
        }
        for (int at = 0; at < where_.intrinsics.size(); ++at) {
            if (!passes_values(where_, where_.intrinsics[at])) all.push_back(fit_intrinsic(where_.intrinsics[at]));
        }
        return all;
    }

  private:
    template <class Description>
    std::vector<device_call> calls_of(Description const& part) const {
        std::vector<device_call> calls;
        each_call(where_, part, [&](device_call const& call) { calls.push_back(call); });
        return calls;
    }
    template <class Description>
    std::string symbols_of(Description const& part) const {
        std::string text;
        for (device_call const& call : calls_of(part)) text += (text.empty() ? "" : ", ") + call.symbol.str();
        return text;
    }
    /// Whether the calls of a step stand at a place of a trace; literals tell parts of one function apart.
    static bool stands_at(std::vector<traced_call> const& trace, std::size_t at, std::vector<device_call> const& calls) {
        if (at + calls.size() > trace.size()) return false;
        for (std::size_t which = 0; which < calls.size(); ++which) {
            traced_call const& is = trace[at + which];
            device_call const& should = calls[which];
            if (should.symbol.str() != is.symbol || static_cast<std::size_t>(should.count) != is.arguments.size() || !is.returned ||
                is.code != 0)
                return false;
            for (int a = 0; a < should.count; ++a) {
                call_argument const& argument = should.arguments[a];
                if (argument.is == role::literal && argument.value != is.arguments[static_cast<std::size_t>(a)]) return false;
            }
        }
        return true;
    }
    /// Calls `visit(argument, value)` for all arguments of a step.
    template <class Visit>
    static void each_argument(std::vector<traced_call> const& trace, std::size_t at, std::vector<device_call> const& calls,
                              Visit const& visit) {
        for (std::size_t which = 0; which < calls.size(); ++which) {
            for (int a = 0; a < calls[which].count; ++a)
                visit(calls[which].arguments[a], trace[at + which].arguments[static_cast<std::size_t>(a)]);
        }
    }
    /// Bytes that a call of a transfer moves, by what it is told; nothing where it is not told enough.
    std::optional<std::int64_t> bytes_of_step(transfer_description const& t, std::vector<traced_call> const& trace, std::size_t at,
                                              std::vector<device_call> const& calls) const {
        std::int64_t all = 0, row = 0, elements = 0, rows = 1;
        each_argument(trace, at, calls, [&](call_argument const& a, std::int64_t value) {
            std::int64_t const told = a.value > 1 ? value * a.value : value;
            if (a.is == role::bytes) all = told;
            else if (a.is == role::row_bytes) row = told;
            else if (a.is == role::extent && a.dimension == 0) elements = told;
            else if (a.is == role::extent) rows *= told;
        });
        if (all > 0) return all;
        if (row > 0) return row * rows;
        if (elements == 0) return {};
        std::int64_t size = 1;
        if (t.semantics.count > 0) {
            ir::stage s;
            read_stage(where_.view(t.semantics), 0, s);
            size = bytes_of(s.type);
        }
        return elements * rows * size;
    }
    /// The number of the channel that a call is for.
    static std::int64_t value_of(role is, std::vector<traced_call> const& trace, std::size_t at, std::vector<device_call> const& calls) {
        std::int64_t found = 0;
        each_argument(trace, at, calls, [&](call_argument const& a, std::int64_t value) { found = a.is == is ? value : found; });
        return found;
    }

    fitted_cost fit_transfer(std::vector<int> const& parts) const {
        fitted_cost made;
        transfer_description const& first = where_.transfers[parts.front()];
        for (int at : parts) made.parts += (made.parts.empty() ? "" : ", ") + where_.transfers[at].name.str();
        std::vector<device_call> const calls = calls_of(first);
        std::vector<measured_step> steps;
        int const engine_at = where_.engines.find(first.engine_name);
        for (core_trace const& trace : traces_) {
            if (first.is_asynchronous && engine_at >= 0) collect_jobs(first, engine_at, trace.calls, calls, steps, made.left_out);
            else collect_blocking(first, trace.calls, calls, steps);
        }
        made.measured = steps.size();
        if (steps.size() < 2 || stands_still(steps, made)) return made;
        bool const one_size =
            std::all_of(steps.begin(), steps.end(), [&](measured_step const& one) { return one.bytes == steps.front().bytes; });
        bool const in_line = std::any_of(steps.begin(), steps.end(), [](measured_step const& one) { return one.waited_in_line; });
        double least = -1;
        transfer_cost best;
        for (std::int64_t rate = 1; rate <= 1024; rate += rate < 64 ? 1 : 16) {
            if (one_size && rate != first.costs.bytes_per_cycle) continue;
            std::vector<std::vector<double>> rows;
            std::vector<double> wanted;
            for (measured_step const& one : steps) {
                rows.push_back(in_line ? std::vector<double>{1, one.waited_in_line ? 0.0 : 1.0} : std::vector<double>{1});
                wanted.push_back(one.cycles - static_cast<double>((one.bytes + rate - 1) / rate));
            }
            std::vector<double> const x = least_squares(rows, wanted);
            transfer_cost const tried{.latency = in_line ? std::llround(x[1]) : 0, .setup = std::llround(x[0]), .bytes_per_cycle = rate};
            double sum = 0;
            for (measured_step const& one : steps) sum += std::pow(cycles_of(tried, one) - one.cycles, 2);
            if (least < 0 || sum < least * (1 - 1e-12)) least = sum, best = tried;
        }
        made.line = ".cost({.latency = " + std::to_string(best.latency) + ", .setup = " + std::to_string(best.setup) +
                    ", .bytes_per_cycle = " + std::to_string(best.bytes_per_cycle) + "})";
        errors(
            steps, [&](measured_step const& one) { return cycles_of(best, one); }, made.worst, made.mean);
        errors(
            steps, [&](measured_step const& one) { return cycles_of(first.costs, one); }, made.declared_worst, made.declared_mean);
        if (!in_line) made.remarks = "no two jobs were in line, so latency and setup cannot be told apart: all of it stands as setup";
        std::vector<std::vector<double>> rows;
        std::vector<double> wanted;
        for (measured_step const& one : steps)
            rows.push_back({1, one.waited_in_line ? 0.0 : 1.0, static_cast<double>(one.bytes)}), wanted.push_back(one.cycles);
        double const for_a_byte = least_squares(rows, wanted)[2];
        if (for_a_byte > 1.02) {
            char text[120]{};
            std::snprintf(text, sizeof text, "a byte takes %.2f cycles, and a machine moves a whole number of bytes in one", for_a_byte);
            made.remarks += (made.remarks.empty() ? "" : "; ") + std::string(text);
        }
        if (one_size)
            made.remarks +=
                (made.remarks.empty() ? "" : "; ") +
                std::string("all calls moved as many bytes, so bytes_per_cycle stays as it is declared: trace a self-test, too");
        return made;
    }
    static double cycles_of(transfer_cost const& of, measured_step const& one) {
        return static_cast<double>(of.setup + (one.bytes + of.bytes_per_cycle - 1) / of.bytes_per_cycle +
                                   (one.waited_in_line ? 0 : of.latency));
    }
    void collect_blocking(transfer_description const& t, std::vector<traced_call> const& trace, std::vector<device_call> const& calls,
                          std::vector<measured_step>& steps) const {
        for (std::size_t at = 0; at < trace.size(); ++at) {
            if (!stands_at(trace, at, calls)) continue;
            if (auto const bytes = bytes_of_step(t, trace, at, calls))
                steps.push_back({static_cast<double>(trace[at + calls.size() - 1].end - trace[at].begin), *bytes, false, {}});
        }
    }
    /// Jobs that are started and then waited for at once. Where the core does something else in between, a wait may come too late to say
    /// when a job was complete.
    void collect_jobs(transfer_description const& t, int engine_at, std::vector<traced_call> const& trace,
                      std::vector<device_call> const& calls, std::vector<measured_step>& steps, std::size_t& left_out) const {
        engine const& on = where_.engines[engine_at];
        device_call const wait = wait_call_of(on);
        struct job {
            std::uint64_t begin = 0;
            std::int64_t bytes = 0, channel = 0, tag = 0;
            bool late = false;  ///< the core has waited for another channel since: it may be complete for long
        };
        std::vector<job> line;                           // in the order of their starts
        std::map<std::int64_t, std::uint64_t> complete;  // of each channel, the job before
        for (std::size_t at = 0; at < trace.size(); ++at) {
            if (stands_at(trace, at, calls)) {
                auto const bytes = bytes_of_step(t, trace, at, calls);
                line.push_back(
                    {trace[at].begin, bytes.value_or(0), value_of(role::channel, trace, at, calls), value_of(role::tag, trace, at, calls)});
                at += calls.size() - 1;
                continue;
            }
            bool const waits = stands_at(trace, at, {wait});
            if (!waits) {
                left_out += line.size();
                line.clear(), complete.clear();
                continue;
            }
            std::int64_t const tag = value_of(role::tag, trace, at, {wait}), channel = value_of(role::channel, trace, at, {wait}),
                               pending = value_of(role::pending, trace, at, {wait});
            std::size_t ready = 0;
            std::int64_t there = 0;
            for (job const& one : line) there += one.channel == channel;
            std::vector<job> left;
            std::optional<job> last;
            bool found = false;
            for (job const& one : line) {
                bool const mine = !on.has_channels() || one.channel == channel;
                bool const done = mine && !found &&
                                  (on.completes == completion::by_engine ||
                                   (on.completes == completion::by_channel && there - static_cast<std::int64_t>(ready) > pending) ||
                                   on.completes == completion::by_transfer);
                if (!done) {
                    left.push_back(one);
                    continue;
                }
                ++ready;
                last = one;
                found = on.completes == completion::by_transfer && one.tag == tag;
            }
            line = left;
            for (job& one : line) one.late |= one.channel != channel;
            if (!last || last->bytes == 0) continue;
            // Only the last one's end is known; those before it had none of their own.
            if (ready > 1 || last->late) {
                left_out += ready;
                complete.clear();
                continue;
            }
            std::uint64_t const end = trace[at].end;
            auto const before = complete.find(last->channel);
            bool const in_line = before != complete.end() && last->begin < before->second;
            steps.push_back({static_cast<double>(end - (in_line ? before->second : last->begin)), last->bytes, in_line, {}});
            complete[last->channel] = end;
        }
    }

    fitted_cost fit_intrinsic(intrinsic_description const& i) const {
        fitted_cost made;
        made.parts = i.name.str();
        std::vector<device_call> const calls = calls_of(i);
        if (i.is_asynchronous) {
            made.remarks = "asynchronous: not fitted";
            return made;
        }
        ir::stage s;
        read_stage(where_.view(i.semantics), 0, s);
        std::vector<measured_step> steps;
        for (core_trace const& trace : traces_) {
            for (std::size_t at = 0; at < trace.calls.size(); ++at) {
                if (!stands_at(trace.calls, at, calls)) continue;
                measured_step one{static_cast<double>(trace.calls[at + calls.size() - 1].end - trace.calls[at].begin), 0, false, {}};
                for (int axis = 0; axis < s.axis_count; ++axis) one.extents[static_cast<std::size_t>(axis)] = s.axes[axis].extent;
                each_argument(trace.calls, at, calls, [&](call_argument const& a, std::int64_t value) {
                    if (a.is == role::covered) one.extents[static_cast<std::size_t>(a.dimension)] = value;
                });
                steps.push_back(one);
            }
        }
        made.measured = steps.size();
        if (steps.empty() || stands_still(steps, made)) return made;
        intrinsic_cost shape = i.costs;
        if (shape.term_count == 0 && i.flexible_axes != 0) {
            shape.terms[0] = {.cycles = 1, .factor_count = 1};
            shape.terms[0].factors[0].axes = i.flexible_axes;
            shape.term_count = 1;
        }
        std::vector<std::vector<double>> rows;
        std::vector<double> wanted;
        for (measured_step const& one : steps) {
            std::vector<double> row{1};
            for (int term = 0; term < shape.term_count; ++term) row.push_back(units_of(shape.terms[term], one));
            rows.push_back(row), wanted.push_back(one.cycles);
        }
        std::vector<double> const x = least_squares(rows, wanted);
        intrinsic_cost best = shape;
        best.cycles = std::llround(x[0]);
        std::string text = ".cycles(" + std::to_string(best.cycles);
        for (int term = 0; term < shape.term_count; ++term) {
            best.terms[term].cycles = std::llround(x[static_cast<std::size_t>(term) + 1]);
            if (best.terms[term].cycles > 0) text += ", " + term_text(s, best.terms[term]);
        }
        made.line = text + ")";
        errors(
            steps, [&](measured_step const& one) { return cycles_of(best, one); }, made.worst, made.mean);
        errors(
            steps, [&](measured_step const& one) { return cycles_of(i.costs, one); }, made.declared_worst, made.declared_mean);
        return made;
    }
    static double units_of(cycle_term const& term, measured_step const& one) {
        double units = 1;
        for (int f = 0; f < term.factor_count; ++f) {
            std::int64_t elements = 1;
            for (int axis = 0; axis < ir::stage::most_axes; ++axis)
                elements *= term.factors[f].has(axis) ? one.extents[static_cast<std::size_t>(axis)] : 1;
            units *= static_cast<double>((elements + term.factors[f].unit - 1) / term.factors[f].unit);
        }
        return units;
    }
    static double cycles_of(intrinsic_cost const& of, measured_step const& one) {
        double all = static_cast<double>(of.cycles);
        for (int term = 0; term < of.term_count; ++term) all += static_cast<double>(of.terms[term].cycles) * units_of(of.terms[term], one);
        return all;
    }
    static std::string term_text(ir::stage const& s, cycle_term const& term) {
        std::string text = term.cycles == 1 ? "" : std::to_string(term.cycles) + " * ";
        for (int f = 0; f < term.factor_count; ++f) {
            text += f > 0 ? " * per(" : "per(";
            bool first = true;
            for (int axis = 0; axis < s.axis_count; ++axis) {
                if (!term.factors[f].has(axis)) continue;
                text += (first ? "" : ", ") + s.axes[axis].name.str();
                first = false;
            }
            text += ")";
            if (term.factors[f].unit > 1) text += ".in_units_of(" + std::to_string(term.factors[f].unit) + ")";
        }
        return text;
    }
    /// Whether nothing was measured, since the counter does not count.
    static bool stands_still(std::vector<measured_step> const& steps, fitted_cost& made) {
        bool const still = std::all_of(steps.begin(), steps.end(), [](measured_step const& one) { return one.cycles == 0; });
        if (still) made.remarks = "the counter did not move: look at tilewright_cycles";
        return still;
    }
    template <class Cycles>
    static void errors(std::vector<measured_step> const& steps, Cycles const& cycles, double& worst, double& mean) {
        double sum = 0;
        worst = 0;
        for (measured_step const& one : steps) {
            double const off = std::abs(cycles(one) - one.cycles) / std::max(one.cycles, 1.0);
            worst = std::max(worst, off), sum += off;
        }
        mean = sum / static_cast<double>(steps.size());
    }

    machine const& where_;
    std::vector<core_trace> const& traces_;
};

/// The fitted costs of all parts, for people: lines for the description and how far they are off.
inline std::string fit_text(machine const& where, std::vector<core_trace> const& traces) {
    std::string text;
    for (fitted_cost const& one : cost_fit(where, traces).fit()) {
        text += one.parts + ": ";
        if (one.line.empty()) text += "nothing to say, of " + std::to_string(one.measured) + " calls";
        else {
            char numbers[160]{};
            std::snprintf(
                numbers, sizeof numbers,
                "\n    %zu calls; error at most %.1f %%, on average %.1f %%; with the declared costs at most %.1f %%, on average %.1f %%",
                one.measured, 100 * one.worst, 100 * one.mean, 100 * one.declared_worst, 100 * one.declared_mean);
            text += one.line + numbers;
        }
        if (one.left_out > 0)
            text += "\n    " + std::to_string(one.left_out) + " calls left out: the core did something else before it waited";
        if (!one.remarks.empty()) text += "\n    " + one.remarks;
        text += "\n";
    }
    return text;
}

}  // namespace tilewright::bring_up
