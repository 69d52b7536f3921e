#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/plan/check/partial_counts.hpp>
#include <tilewright/report/formula.hpp>
#include <tilewright/report/refused.hpp>
#include <tilewright/report/table.hpp>
#include <vector>

namespace tilewright {
namespace reports {

/// A line of the loop program: a step, with the steps inside it when it is a loop.
struct program_line {
    int number = 0;    ///< of the line, from 1; the memory map speaks of lifetimes in these
    std::string kind;  ///< "loop", "transfer", "intrinsic", "code", "wait", "fence", "barrier", "clean", …
    std::string name;  ///< of the loop, the transfer or the intrinsic; of the tensor that code computes or a fence guards
    std::string text;
    std::string value;              ///< code: what its loops compute
    std::int64_t extent = 1;        ///< loop
    std::int64_t times = 0;         ///< executions in one run of the kernel
    std::int64_t bytes = 0;         ///< that one execution moves
    std::int64_t cycles = 0;        ///< of one execution
    std::int64_t first_cycles = 0;  ///< intrinsic: of its overwriting form
    std::vector<program_line> inside{};
};

inline std::string loop_text(plan_value const& plan, int at) {
    variable const& v = plan.variables[at];
    return loop_name(plan, at) + " in 0.." + std::to_string(v.extent) + (v.unrolled ? " unrolled" : "") +
           (v.parallel      ? " parallel"
            : v.distributed ? " distributed"
                            : "") +
           (v.vectorized ? " vectorized" : "");
}

/// What clips leave of a dimension of a movement.
struct clipped_span {
    std::string begin, end;
    bool is_clipped = false;
    std::int64_t elements = -1;  ///< as many, where no loop moves the clips
};
/// @param dimension  -1: the row @param counts  `counts(kind)`: the clips that count @param ends  the kind of those at the end
template <class Counts>
clipped_span span_of(plan_value const& plan, movement const& m, int dimension, Counts const& counts, clip_kind ends) {
    std::int64_t const extent = dimension < 0 ? m.row_elements : m.dimensions[dimension].extent;
    std::int64_t first = 0, end = extent;
    std::string at_begin, at_end;
    bool numbers = true;
    for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
        clip const& c = plan.clips[at];
        if (c.dimension != dimension || !counts(c.is)) continue;
        std::int64_t const room = c.bound - c.form.constant;
        (c.is == ends ? at_end : at_begin) += ", " + room_text(plan, c.form, c.bound);
        (c.is == ends ? end : first) = c.is == ends ? std::min(end, room) : std::max(first, room);
        numbers &= is_number(plan, c.form);
    }
    bool const clipped = !at_begin.empty() || !at_end.empty();
    if (numbers) return {std::to_string(first), std::to_string(end), clipped, end - first};
    return {at_begin.empty() ? "0" : "max(0" + at_begin + ")",
            at_end.empty() ? std::to_string(extent) : "min(" + std::to_string(extent) + at_end + ")", clipped};
}

/// How many elements of a dimension a call moves, -1 for the row: "64", where tiles are partial "min(64, 100 - 64 mo)".
inline std::string extent_text(plan_value const& plan, movement const& m, int dimension) {
    clipped_span const span = span_of(plan, m, dimension, shortens, clip_kind::end);
    if (span.elements >= 0) return std::to_string(span.elements);
    return span.begin == "0" ? span.end : span.end + " - " + span.begin;
}

/// The extents of what one call moves, outermost first: "64 x 64". Where a dimension does not follow its buffer's order, or goes in steps,
/// it says so.
inline std::string extents_text(plan_value const& plan, movement const& m) {
    bool const fills = m.source < 0;
    auto const dimension_of = [&](movement_dimension const& d) { return fills ? d.destination_dimension : d.source_dimension; };
    auto const factor_of = [&](movement_dimension const& d) { return fills ? d.destination_factor : d.source_factor; };
    buffer const& b = plan.buffers[fills ? m.destination : m.source];
    auto const last = static_cast<std::int8_t>(b.rank - 1);
    movement_dimension const row{m.row_elements, last, last};
    bool in_order = true;
    auto const next_of = [&](int at) -> movement_dimension const& { return at + 1 == m.dimension_count ? row : m.dimensions[at + 1]; };
    auto const is_last = [&](int at) { return at + 1 == m.dimension_count && m.row_elements == 1; };
    for (int at = 0; at < m.dimension_count; ++at) {
        in_order &= is_last(at) || dimension_of(m.dimensions[at]) <= dimension_of(next_of(at));
    }
    std::string text;
    auto const add = [&](movement_dimension const& d, bool whole_steps, int dimension) {
        text += (text.empty() ? "" : " x ") + extent_text(plan, m, dimension);
        if (!in_order) text += " of dimension " + std::to_string(dimension_of(d));
        if (factor_of(d) != 1 && !whole_steps) text += " in steps of " + std::to_string(factor_of(d));
    };
    for (int at = 0; at < m.dimension_count; ++at) {
        movement_dimension const& d = m.dimensions[at];
        // A dimension that was cut goes in steps of its rest: that is no gap.
        bool const cut =
            !is_last(at) && dimension_of(next_of(at)) == dimension_of(d) && factor_of(d) == next_of(at).extent * factor_of(next_of(at));
        add(d, cut, at);
    }
    if (m.row_elements > 1 || m.dimension_count == 0) add(row, false, -1);
    return text;
}

/// What of a call is border that it writes itself: ", 0 outside [max(0, 1 - 16 xo), min(18, 33 - 16 xo)) of 18".
inline std::string pads_text(plan_value const& plan, movement const& m) {
    std::string text;
    for (int dimension = 0; dimension <= m.dimension_count && m.source >= 0 && m.border >= 0; ++dimension) {
        int const position = dimension == m.dimension_count ? -1 : dimension;
        clipped_span const span = span_of(plan, m, position, pads, clip_kind::border_end);
        if (span.is_clipped) text += (text.empty() ? ", of which it reads [" : " x [") + span.begin + ", " + span.end + ")";
    }
    if (text.empty()) return {};
    return text + ", else " + constant_text({.type = plan.what[m.border].type, .value = plan.what[m.border].value});
}

/// Which step of a ring: nothing where there is just one, "of 2 steps ahead", "of step 7".
inline std::string step_text(plan_value const& plan, ring_step const& at) {
    if (at.ring < 0) return "";
    ring const& r = plan.rings[at.ring];
    auto const steps = [](int count) { return std::to_string(count) + (count == 1 ? " step" : " steps"); };
    if (at.only_where >= 0) {
        ring_step everywhere = at;
        everywhere.only_where = ir::no_variable;
        return step_text(plan, everywhere) + " where " + variable_text(plan, at.only_where) + " = 0";
    }
    if (r.steps == 1) return "";
    if (at.step.count == 0) return ", step " + std::to_string(at.step.constant);
    if (at.ahead != 0) return ", " + steps(at.ahead < 0 ? -at.ahead : at.ahead) + (at.ahead < 0 ? " back" : " ahead");
    if (at.step.count == 1 && plan.term_at(at.step, 0).variable != r.loops[r.loop_count - 1])
        return ", step " + loop_name(plan, plan.term_at(at.step, 0).variable);
    return "";
}

inline std::string transfer_text(plan_value const& plan, movement const& m) {
    transfer_description const& t = detail::mover_of(plan, m.transfer);
    std::string source;
    if (m.border >= 0 && m.source < 0) source = constant_text({.type = plan.what[m.border].type, .value = plan.what[m.border].value});
    else if (m.source >= 0) source = corner_text(plan, m.source, m.source_at);
    else {
        computation_view const semantics = plan.where->view(t.semantics);
        source = expression_text(semantics, semantics[semantics.count - 1].argument(1), [](int) { return std::string("?"); });
    }
    std::string only, beyond;
    bool always_beyond = false;
    for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
        clip const& c = plan.clips[at];
        bool const holds = is_number(plan, c.form) && (c.is == clip_kind::only) == (c.form.constant < c.bound);
        if (c.is == clip_kind::only && !holds) only += (only.empty() ? " if " : " and ") + limit_text(plan, c.form, c.bound);
        if (c.is == clip_kind::beyond) beyond += (beyond.empty() ? " if " : " or ") + limit_text(plan, c.form, c.bound - 1, " > ");
        always_beyond |= c.is == clip_kind::beyond && holds;
    }
    if (always_beyond) beyond.clear();
    std::string const to_all = t.is_multicast ? " of " + std::to_string(plan.cores) + " cores" : "";
    return t.name.str() + "  " + source + " (" + extents_text(plan, m) + pads_text(plan, m) + ") -> " +
           corner_text(plan, m.destination, m.destination_at) + to_all + only + beyond + (m.at.ring >= 0 ? step_text(plan, m.at) : "");
}

/// Where a reduction begins: " if ko == 0 and ki == 0".
inline std::string first_text(plan_value const& plan, body const& b) {
    std::string text;
    for (int at = 0; at < b.first_loop_count; ++at) text += (at == 0 ? " if " : " and ") + loop_name(plan, b.first_loops[at]) + " == 0";
    return text;
}

inline std::string intrinsic_text(plan_value const& plan, body const& b) {
    auto const operands = [&](int intrinsic, int first) {
        std::string text;
        for (int at = 0; at < plan.where->intrinsics[intrinsic].operand_count; ++at) {
            if (plan.where->intrinsics[intrinsic].operands[at].in_place) continue;  // it stands there as the result
            operand_use const& o = plan.operands[first + at];
            text += (text.empty() ? "" : ", ") + element_text(plan, o.buffer, o.at);
        }
        return " (" + text + ")";
    };
    std::string const name = plan.where->intrinsics[b.intrinsic].name.str(), with = operands(b.intrinsic, b.operands);
    if (b.first_intrinsic < 0) return name + with;
    std::string const first_name = plan.where->intrinsics[b.first_intrinsic].name.str(),
                      first_with = operands(b.first_intrinsic, b.first_operands);
    if (b.first_loop_count == 0) return first_name + first_with;
    return first_name + (first_with == with ? "" : first_with) + first_text(plan, b) + " else " + name + with;
}

/// What one iteration of the loops of a tile body computes; a whole reduction in the words of the compute language.
inline std::string statement_text(plan_value const& plan, body const& b) {
    stage const& s = plan.stages[b.stage];
    use const& target = *plan.use_at(s.target);
    std::string const to = element_text(plan, target.buffer, target.at);
    bool const sums = s.reduction == operation::reduce_sum, largest = s.reduction == operation::reduce_maximum;
    if (b.kind == body_kind::identity && s.start >= 0) return to + " = " + value_text(plan, s.start);
    if (b.kind == body_kind::identity) {
        std::string const extreme =
            is_float(s.type) ? (largest ? "-infinity" : "infinity") : std::string(largest ? "lowest " : "highest ") + name_of(s.type);
        return to + " = " + (sums ? "0" : extreme);
    }
    std::string const value = value_text(plan, s.body);
    if (b.kind == body_kind::value) return to + " = " + value;
    if (b.kind == body_kind::update) return sums ? to + " += " + value : to + " = " + (largest ? "max(" : "min(") + to + ", " + value + ")";
    std::string text = to + " = ", behind;
    if (s.start >= 0) {
        text += (sums ? "" : largest ? "max(" : "min(") + value_text(plan, s.start) + (sums ? " + " : ", ");
        behind = sums ? "" : ")";
    }
    text += std::string(name_of(s.reduction)) + "(";
    for (int at = 0; at < b.loop_count; ++at) {
        int const loop = b.loops[at];
        if (plan.variables[loop].reduction) text += loop_name(plan, loop) + ", ";
    }
    return text + value + ")" + behind;
}

inline std::string code_text(plan_value const& plan, body const& b) {
    std::string text = "compute " + plan.stages[b.stage].output.str();
    for (int at = 0; at < b.loop_count; ++at) {
        text += (at == 0 ? ": for " : ", ") + loop_text(plan, b.loops[at]);
    }
    bool first = true;
    for (int at = 0; at < plan.limits.size(); ++at) {
        limit const& l = plan.limits[at];
        if (!detail::limits_body(plan, l, b, b.kind == body_kind::identity)) continue;
        text += (first ? " where " : " and ") + limit_text(plan, l.form, l.bound);
        first = false;
    }
    return text + first_text(plan, b);
}

/// Where the iterations of a loop of the program lie beyond an end, it does nothing: " where 8 mo + 4 mi < 10".
inline std::string guards_text(plan_value const& plan, int loop) {
    std::string text;
    for (int at = 0; at < plan.limits.size(); ++at) {
        limit const& l = plan.limits[at];
        if (l.loop == loop) text += (text.empty() ? " where " : " and ") + limit_text(plan, l.form, l.bound);
    }
    return text;
}

/// " = 64", or " = stride 0 of A x 4"; in brackets where there are several values.
inline std::string setting_text(plan_value const& plan, setting const& to) {
    std::string text;
    int const count = plan.where->configurations[to.configuration].value_count;
    for (int at = 0; at < count; ++at) {
        setting_value const& v = to.values[at];
        text += at > 0 ? ", " : "";
        if (v.buffer < 0) {
            text += std::to_string(v.number);
            continue;
        }
        text += "stride " + std::to_string(v.dimension) + " of " + plan.buffers[v.buffer].tensor.str();
        if (v.number != 1) text += " x " + std::to_string(v.number);
        if (v.unit != 1) text += " / " + std::to_string(v.unit);
    }
    return count == 1 ? " = " + text : " = (" + text + ")";
}

inline void tell(plan_value const& plan, message const& m, bool sends, program_line& line) {
    line.kind = sends ? "signal" : "await";
    line.name = plan.buffers[m.buffer].tensor.str();
    line.text = (sends ? "signal to core " : "await of core ") + std::to_string(sends ? m.to : m.from) + ", " +
                plan.buffers[m.buffer].name.str() +
                (m.loop < 0 ? "" : " where " + loop_name(plan, m.loop) + " >= " + std::to_string(m.first));
}

inline void tell(plan_value const& plan, upkeep const& u, bool cleans, program_line& line) {
    buffer const& b = plan.buffers[u.buffer];
    line.kind = cleans ? "clean" : "invalidate";
    line.name = b.tensor.str();
    line.text = line.kind + " " + b.name.str() + (u.of_version ? ", this version" : "");
    line.cycles = plan.upkeep_cycles(u);
}

inline program_line line_of(plan_value const& plan, step const& s) {
    program_line line;
    int const what = s.what;
    switch (s.kind) {
        case step_kind::loop: {
            line.kind = "loop";
            line.name = loop_name(plan, s.what);
            line.text = "for " + loop_text(plan, s.what) + guards_text(plan, s.what);
            line.extent = plan.variables[what].extent;
            break;
        }
        case step_kind::start: {
            movement const& m = plan.movements[what];
            line.kind = "transfer";
            line.name = detail::mover_of(plan, m.transfer).name.str();
            line.text = transfer_text(plan, m);
            line.bytes = m.bytes;
            line.cycles = m.cycles;
            break;
        }
        case step_kind::fence:
            line.kind = "fence";
            line.name = plan.buffers[what].tensor.str();
            line.text = "fence " + plan.buffers[what].name.str();
            break;
        case step_kind::compute: {
            body const& b = plan.bodies[what];
            bool const code = b.kind != body_kind::intrinsic;
            line.kind = code ? "code" : "intrinsic";
            line.name = (code ? plan.stages[b.stage].output : plan.where->intrinsics[b.intrinsic].name).str();
            line.text = code ? code_text(plan, b) : intrinsic_text(plan, b);
            if (code) line.value = statement_text(plan, b);
            line.cycles = b.cycles;
            line.first_cycles = b.first_intrinsic >= 0 ? b.first_cycles : b.cycles;
            break;
        }
        case step_kind::configure: {
            setting const& to = plan.settings[what];
            line.kind = "configure";
            line.name = plan.where->configurations[to.configuration].name.str();
            line.text = line.name + setting_text(plan, to);
            break;
        }
        case step_kind::wait: {
            ring_step const& until = plan.waits[what];
            ring const& r = plan.rings[until.ring];
            buffer const& b = plan.buffers[r.buffer];
            line.kind = "wait";
            line.name = b.tensor.str();
            line.text = std::string("wait for ") + (r.stores ? "the store of " : "") + b.name.str() + step_text(plan, until);
            break;
        }
        case step_kind::push:
        case step_kind::pop: {
            ring_step const& at = plan.waits[what];
            link const& l = plan.links[at.link];
            auto const engine_name = [&](int engine) { return engine < 0 ? "the core" : plan.where->engines[engine].name.str(); };
            bool const pushed = s.kind == step_kind::push;
            std::string const of = l.ring < 0 ? "" : plan.buffers[plan.rings[l.ring].buffer].name.str();
            line.kind = pushed ? "push" : "pop";
            line.name = l.tokens >= 0 ? plan.where->tokens[l.tokens].name.str() : engine_name(l.from);
            if (l.to < 0) line.text = pushed ? "mark " + engine_name(l.from) : "wait for " + engine_name(l.from);
            else
                line.text =
                    pushed ? engine_name(l.from) + ": push to " + engine_name(l.to) : engine_name(l.to) + ": pop of " + engine_name(l.from);
            if (!of.empty()) line.text += ", " + of + step_text(plan, at);
            break;
        }
        case step_kind::clean:
        case step_kind::invalidate: tell(plan, plan.upkeeps[what], s.kind == step_kind::clean, line); break;
        case step_kind::signal:
        case step_kind::await: tell(plan, plan.messages[what], s.kind == step_kind::signal, line); break;
        default: line.kind = line.text = "barrier"; break;
    }
    if (plan.messages.size() > 0 && is_led(s)) line.text = "core " + std::to_string(s.core) + ": " + line.text;
    return line;
}

/// The number of the line at a step of the plan, or the first one after it.
constexpr int line_number(plan_value const& plan, int step) {
    int number = 1;
    for (int at = 0; at < step; ++at) number += plan.steps[at].kind != step_kind::end;
    return number;
}

/// The loop program as a tree. Empty for a plan that was refused.
inline std::vector<program_line> lines_of(plan_value const& plan) {
    std::vector<program_line> whole;
    if (plan.refusal) return whole;
    std::vector<std::vector<program_line>*> open{&whole};
    int number = 0;
    plan.walk([&](step const& s, std::int64_t times, std::int64_t) {
        if (s.kind == step_kind::end) return open.pop_back();
        program_line& line = open.back()->emplace_back(line_of(plan, s));
        line.number = ++number;
        line.times = times;
        if (s.kind == step_kind::loop) open.push_back(&line.inside);
    });
    return whole;
}

/// @param directives  that asked for the lines, one for each; none: they are not shown
inline std::string program_text(plan_value const& plan, std::vector<std::string> const& directives = {}) {
    table text({table::side::right, table::side::right, table::side::right, table::side::right, table::side::left});
    text.add({"line", "times", "bytes", "cycles"});
    auto const write = [&](auto const& self, std::vector<program_line> const& lines, std::string const& indent) -> void {
        for (program_line const& line : lines) {
            bool const two = line.first_cycles != 0 && line.first_cycles != line.cycles;
            std::string const asked = directives.empty() ? "" : directives[static_cast<std::size_t>(line.number - 1)];
            text.add({std::to_string(line.number), line.kind == "loop" ? "" : grouped(line.times),
                      line.bytes > 0 ? grouped(line.bytes) : "",
                      line.cycles == 0 && !two ? "" : (two ? grouped(line.first_cycles) + " or " : "") + grouped(line.cycles),
                      indent + line.text + (asked.empty() ? "" : "  [" + asked + "]")});
            if (!line.value.empty()) text.add({"", "", "", "", indent + "    " + line.value});
            self(self, line.inside, indent + "  ");
        }
    };
    write(write, lines_of(plan), "");
    return text.str();
}

}  // namespace reports

/// The loop program as pseudo code, a line a step; in front of each, how often it runs, and the bytes and cycles of one execution.
inline std::string loop_program(plan_value const& plan) { return plan.refusal ? reports::refused_text(plan) : reports::program_text(plan); }

}  // namespace tilewright
