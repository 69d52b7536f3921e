#pragma once
#include <string>
#include <tilewright/plan/loops/nest.hpp>
#include <tilewright/report/step_directives.hpp>
#include <vector>

// Comments in the C source of a kernel: its schedule, what a step is, and the directive that asked for it.
namespace tilewright::halide {

using namespace ir;

namespace detail {

class c_remarks {
  public:
    c_remarks(schedule const& made_by, plan_value const& plan) : plan_(plan), directives_(made_by, plan_) {
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

    c_remarks(c_remarks const&) = delete;

    /// The directives, as a comment may have them: ".split(i, io, ii, 256)".
    static std::vector<std::string> directives_of(schedule const& made_by) {
        std::vector<std::string> all;
        for (int at = 0; at < made_by.directive_count(); ++at) {
            if (!description_of(made_by.directive_at(at).kind).refines())
                all.push_back("." + as_comment(reports::directive_text(made_by, at)));
        }
        return all;
    }

    /// What a step of the plan is, and what asked for it.
    std::string of_step(int step_at) const {
        step const& s = plan_.steps[step_at];
        if (s.kind == step_kind::end) return "";
        std::string const directive = directives_.of_step(step_at);
        if (s.kind == step_kind::loop) return is_single(s.what) ? "" : as_comment(directive);
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

    plan_value plan_;
    reports::step_directives directives_;
};

}  // namespace detail
}  // namespace tilewright::halide
