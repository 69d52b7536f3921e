#pragma once
#include <tilewright/report/directive_text.hpp>
#include <tilewright/report/loop_program.hpp>

// Which directive asked for each step of a plan: of loops the one that made them, of other steps the one that asked for their buffer.
namespace tilewright {
namespace reports {

/// The schedule and the plan must stay while this is used.
class step_directives {
  public:
    step_directives(schedule const& made_by, plan_value const& plan) : schedule_(made_by), plan_(plan) {}

    /// The directive as it was written; empty: none, or several that differ.
    std::string of_step(int step_at) const {
        step const& s = plan_.steps[step_at];
        int const what = s.what;
        auto const of_buffer = [&](int at) { return at < 0 ? std::string() : directive_at(plan_.buffers[at].ordinal); };
        switch (s.kind) {
            case step_kind::loop: {
                variable const& v = plan_.variables[what];
                return v.distributed ? distributes(v.name) : maker_of(v.name);
            }
            case step_kind::start: {
                movement const& m = plan_.movements[what];
                bool const arrives = plan_.buffers[m.destination].kind != buffer_kind::argument;
                return of_buffer(arrives ? m.destination : m.source);
            }
            case step_kind::wait:
            case step_kind::push:
            case step_kind::pop: {
                ring_step const& at = plan_.waits[what];
                return at.ring < 0 ? "" : of_buffer(plan_.rings[at.ring].buffer);
            }
            case step_kind::signal:
            case step_kind::await: return of_buffer(plan_.messages[what].buffer);
            case step_kind::compute: return tensorized_by(plan_.bodies[what]);
            default: return "";
        }
    }
    /// Of each line of the loop program, from the first.
    std::vector<std::string> of_lines() const {
        std::vector<std::string> all;
        for (int at = 0; at < plan_.steps.size(); ++at) {
            if (plan_.steps[at].kind != step_kind::end) all.push_back(of_step(at));
        }
        return all;
    }

  private:
    std::string directive_at(int ordinal) const {
        return ordinal < 1 || ordinal > schedule_.directive_count() ? "" : directive_text(schedule_, ordinal - 1);
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
            std::string const text = one_directive_text(schedule_, at);
            if (!found.empty() && found != text) return "";
            found = text;
        }
        return found;
    }
    bool makes(directive const& d, label const& loop) const {
        using enum directive_kind;
        int const first = d.kind == split ? 1 : d.kind == tile || d.kind == fuse ? 2 : d.name_count;
        for (int name = first; name < d.name_count; ++name) {
            if (schedule_.name_at(d, name) == loop) return true;
        }
        return false;
    }
    /// What made a loop; empty, too, where it may be the axis of a stage in which no directive makes one of its name.
    std::string maker_of(label const& loop) const {
        for (int at = 0; at < plan_.stages.size(); ++at) {
            stage const& s = plan_.stages[at];
            if (s.find(loop) < 0) continue;
            std::string const made =
                directive_where([&](directive const& d, label const& stage_of) { return stage_of == s.output && makes(d, loop); });
            if (made.empty()) return "";
        }
        return directive_where([&](directive const& d, label const&) { return makes(d, loop); });
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
    plan_value const& plan_;
};

}  // namespace reports

/// The loop program with the directive that asked for each line behind it: "for mo in 0..8  [split(m, mo, mi, 64)]".
/// @param made_by  the schedule that the plan was made of
inline std::string loop_program(schedule const& made_by, plan_value const& plan) {
    if (plan.refusal) return reports::refused_text(plan);
    return reports::program_text(plan, reports::step_directives(made_by, plan).of_lines());
}

}  // namespace tilewright
