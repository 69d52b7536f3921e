#pragma once
#include <string>
#include <tilewright/plan/loops/nest.hpp>
#include <tilewright/report/directive_text.hpp>
#include <tilewright/report/loop_program.hpp>

// Comments in the C source of a kernel: its schedule, what a step is, and the directive that asked for it.
namespace tilewright::halide {

using namespace ir;

namespace detail {

class c_remarks {
  public:
    c_remarks(schedule const& made_by, plan_value const& plan) : schedule_(made_by), plan_(plan) {
        // The code has no loops of one iteration, so texts do not name them.
        for (int which = 0; which < plan_.bodies.size(); ++which) {
            body& b = plan_.bodies[which];
            std::int16_t kept = 0;
            for (int at = 0; at < b.loop_count; ++at) {
                if (!is_single(b.loops[at]) || plan_.variables[b.loops[at]].reduction) b.loops[kept++] = b.loops[at];
            }
            b.loop_count = kept;
        }
        for (int at = 0; at < plan_.terms.size(); ++at) {
            if (is_single(plan_.terms[at].variable)) plan_.terms[at].coefficient = 0;
        }
    }

    /// The directives, as lines of a comment.
    static std::string schedule_text(schedule const& made_by) {
        std::string text;
        for (int at = 0; at < made_by.directive_count(); ++at) {
            if (!description_of(made_by.directive_at(at).kind).refines())
                text += " *     ." + as_comment(reports::directive_text(made_by, at)) + "\n";
        }
        return text;
    }

    /// What a step of the plan is, and what asked for it.
    std::string of_step(int step_at) const {
        step const& s = plan_.steps[step_at];
        if (s.kind == step_kind::end) return "";
        int const what = s.what;
        auto const of_buffer = [&](int at) { return at < 0 ? std::string() : directive_at(plan_.buffers[at].ordinal); };
        std::string directive;
        switch (s.kind) {
            case step_kind::loop: {
                variable const& v = plan_.variables[what];
                directive = v.distributed ? distributes(v.name) : maker_of(v.name);
                break;
            }
            case step_kind::start: {
                movement const& m = plan_.movements[what];
                bool const arrives = plan_.buffers[m.destination].kind != buffer_kind::argument;
                directive = of_buffer(arrives ? m.destination : m.source);
                break;
            }
            case step_kind::wait:
            case step_kind::push:
            case step_kind::pop: {
                ring_step const& at = plan_.waits[what];
                if (at.ring >= 0) directive = of_buffer(plan_.rings[at.ring].buffer);
                break;
            }
            case step_kind::signal:
            case step_kind::await: directive = of_buffer(plan_.messages[what].buffer); break;
            case step_kind::compute: directive = tensorized_by(plan_.bodies[what]); break;
            default: break;
        }
        if (s.kind == step_kind::loop) return is_single(what) ? "" : as_comment(directive);
        reports::program_line const line = reports::line_of(plan_, s);
        return as_comment(line.text + (line.value.empty() ? "" : ": " + line.value) + (directive.empty() ? "" : "  [" + directive + "]"));
    }

  private:
    bool is_single(int loop) const {
        variable const& v = plan_.variables[loop];
        return v.kind == variable_kind::loop && v.extent == 1 && v.trips < 0 && v.first_of < 0 && !v.distributed;
    }
    /// What is longer than a reader follows is cut: the expression of a curve has thousands of letters, and the code says the same.
    static std::string as_comment(std::string text) {
        constexpr std::size_t most = 600;
        if (text.size() > most) text = text.substr(0, most) + " ...";
        for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/")) text.replace(at, 2, "* /");
        return text;
    }
    std::string directive_at(int ordinal) const {
        return ordinal < 1 || ordinal > schedule_.directive_count() ? "" : reports::directive_text(schedule_, ordinal - 1);
    }
    /// The one directive that `is_it(directive, its stage)` says yes to; empty where there are several that differ, or none.
    template <class Test>
    std::string directive_where(Test const& is_it) const {
        std::string found;
        label stage_of = plan_.stages[plan_.stages.size() - 1].output;
        for (int at = 0; at < schedule_.directive_count(); ++at) {
            directive const& d = schedule_.directive_at(at);
            if (d.kind == directive_kind::stage) stage_of = schedule_.name_at(d, 0);
            if (!is_it(d, stage_of)) continue;
            std::string const text = reports::one_directive_text(schedule_, at);
            if (!found.empty() && found != text) return "";
            found = text;
        }
        return found;
    }
    /// What made a loop.
    std::string maker_of(label const& loop) const {
        return directive_where([&](directive const& d, label const&) {
            using enum directive_kind;
            int const first = d.kind == split ? 1 : d.kind == tile || d.kind == fuse ? 2 : d.name_count;
            for (int name = first; name < d.name_count; ++name) {
                if (schedule_.name_at(d, name) == loop) return true;
            }
            return false;
        });
    }
    /// What shares a loop among cores: "m.core" is of the loop m.
    std::string distributes(label const& loop) const {
        return directive_where([&](directive const& d, label const&) {
            return d.kind == directive_kind::distribute && tilewright::detail::dotted(schedule_.name_at(d, 0), "core") == loop;
        });
    }
    std::string tensorized_by(body const& b) const {
        if (b.kind != body_kind::intrinsic) return "";
        return directive_where([&](directive const& d, label const& stage_of) {
            return d.kind == directive_kind::tensorize && stage_of == plan_.stages[b.stage].output;
        });
    }

    schedule const& schedule_;
    plan_value plan_;
};

}  // namespace detail
}  // namespace tilewright::halide
