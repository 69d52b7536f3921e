#pragma once
#include <sstream>
#include <tilewright/c_source/arguments.hpp>

// Numbers that follow from extents which are left to run time, in C.
namespace tilewright::halide::detail {

/// A form over such numbers.
inline std::string number_text(plan_value const& plan, argument_words const& words, affine const& form) {
    std::string all = std::to_string(form.constant);
    for (int t = 0; t < form.count; ++t) {
        term const& part = plan.term_at(form, t);
        all += " + " + std::to_string(part.coefficient) + " * " + words.number(part.variable);
    }
    return all;
}
/// How many tiles there are at the extents. A number that only counts towards another one may not be used itself.
inline std::string count_text(plan_value const& plan, argument_words const& words, int at) {
    variable const& v = plan.variables[at];
    return "    const int64_t " + words.number(at) + " = (" + number_text(plan, words, v.fused) + ") / " + std::to_string(v.divisor) +
           ";\n    (void)" + words.number(at) + ";\n";
}
/// Refuses extents that make more steps than can be counted. `error(kind, buffer)` is the statement that does.
template <class Error>
std::string step_checks_text(plan_value const& plan, argument_words const& words, Error const& error) {
    std::ostringstream text;
    for (int at = 0; at < plan.rings.size(); ++at) {
        ring const& r = plan.rings[at];
        if (!r.run_time) continue;
        std::string left = std::to_string(stage::most_index - most_versions);  // after division by the trips of a loop: none, if too many
        int asked = 0;
        for (int loop = r.loop_count - 1; loop >= 0; --loop) {
            variable const& v = plan.variables[r.loops[loop]];
            left += " / " + (v.trips >= 0 ? words.number(v.trips) : std::to_string(v.extent));
            if (v.trips >= 0) asked = v.trips;
        }
        while (plan.variables[asked].kind == variable_kind::count) asked = plan.term_at(plan.variables[asked].fused, 0).variable;
        text << "    if (" << left << " < 1) " << error("RUN_TIME_EXTENT", shape_of_extent(plan, asked, true).buffer);
    }
    return text.str();
}

}  // namespace tilewright::halide::detail
