#pragma once
#include <tilewright/plan/ir/planning.hpp>

// Extents that are left to run time, and the counts of tiles that follow from them. Forms hold them like any other variable.
namespace tilewright::detail {

/// Whether a variable is a number that run time gives, the same throughout a run.
constexpr bool is_given(variable const& v) { return v.kind == variable_kind::extent || v.kind == variable_kind::count; }

/// The extent of an axis that is left to run time; axes of one name are one axis in all stages. -1: no argument has the extent.
constexpr variable_id extent_of(planning const& p, stage_axis const& a) {
    for (variable_id at{}; at < p.plan.run_time_extents; ++at) {
        if (p.var(at).name == a.name) return at;
    }
    return no_variable;
}

/// Whether an axis of an intermediate tensor goes as far as later stages read it, whatever that is.
constexpr bool reaches_as_read(planning const& p, stage_axis const& a) { return extent_of(p, a) < 0; }

/// Makes the extents that a kernel is told the first variables of its plan: those of the result and of reductions.
constexpr void add_extents(writing& p) {
    int const last = p.plan.stages.count - 1;
    for (stage_id s{}; s <= last; ++s) {
        stage const& st = p.stage_at(s);
        for (int at = s == last ? 0 : st.rank; at < st.axis_count && !p.refused(); ++at) {
            stage_axis const& a = st.axes[at];
            if (!a.run_time || extent_of(p, a) >= 0) continue;
            p.plan.run_time_extents = 1 + p.add(variable{.name = a.name, .extent = a.extent, .kind = variable_kind::extent});
        }
    }
    for (stage_id s{}; s <= last; ++s) {
        for (int at = 0; at < p.stage_at(s).axis_count && !p.refused(); ++at) {
            stage_axis const& a = p.stage_at(s).axes[at];
            int const known = a.run_time ? extent_of(p, a) : -1;
            if (known >= 0 && p.var(known).extent != a.extent)
                p.refuse(verdict_kind::ill_formed, rule::axis_with_two_extents, {p.stage_at(s).output, a.name});
        }
    }
}

/// Refuses extents at which a number that follows from them would be more than `most`.
constexpr void restrict_extent(writing& p, int at, std::int64_t most, int ordinal) {
    variable& v = p.plan.variables[at];
    if (v.extent <= most) return;
    if (v.kind == variable_kind::extent && (v.extent < run_time_extent::most_of_all || most < 1))
        return p.refuse_capacity("extent", v.extent, most, ordinal, v.name);
    v.extent = most;
    for (int t = 0; v.kind == variable_kind::count && t < v.fused.count; ++t) {
        term const part = p.plan.term_at(v.fused, t);
        restrict_extent(p, part.variable, most * v.divisor / part.coefficient / v.fused.count, ordinal);
    }
}

/// The number of tiles of `divisor` in the value of a form; the last tile may be partial.
constexpr variable_id count_of(writing& p, linear all, std::int64_t divisor, label const& name, int ordinal) {
    std::int64_t most = all.constant;
    for (int t = 0; t < all.count; ++t) {
        term const& part = all.terms[t];
        restrict_extent(p, part.variable, run_time_extent::most_of_all / part.coefficient / all.count, ordinal);
        most += part.coefficient * p.var(part.variable).extent;
    }
    if (p.refused() || (all.count == 1 && all.constant == 0 && all.terms[0].coefficient == 1 && divisor == 1)) return all.terms[0].variable;
    all.constant += divisor - 1;
    return p.add(variable{
        .name = name, .extent = (most + divisor - 1) / divisor, .kind = variable_kind::count, .fused = p.keep(all), .divisor = divisor});
}
/// Likewise, in `factor` times what variable `of` gives.
constexpr variable_id count_of(writing& p, variable_id of, std::int64_t factor, std::int64_t divisor, label const& name, int ordinal) {
    linear all;
    all.add(factor, of);
    return count_of(p, all, divisor, name, ordinal);
}

/// Where an axis ends, as a form and the number that it has to stay below: `form - extent < 0` at run time.
constexpr std::int64_t end_before(linear& form, nest_axis const& a) {
    if (a.trips < 0) return a.extent;
    form.add(-1, a.trips);
    return 0;
}

/// Subtracts the end of an axis from a form that is compared with it. @return what is left of the end, a number
constexpr std::int64_t take_highest(planning const& p, affine const& highest, linear& form) {
    for (int at = 0; at < highest.count; ++at) form.add(-p.plan.term_at(highest, at).coefficient, p.plan.term_at(highest, at).variable);
    return highest.constant;
}

/// Whether only the range of numbers bounds an extent.
constexpr bool is_open(planning const& p, int extent) {
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        int const axis = p.stage_at(s).find(p.var(extent).name);
        if (axis < 0 || !p.stage_at(s).axes[axis].run_time) continue;
        return p.stage_at(s).axes[axis].extent == run_time_extent::most_of_all;
    }
    return false;
}

/// The extent without an upper bound that a loop runs over; -1: it has a bound.
constexpr int open_extent_of(planning const& p, int number) {
    if (number < 0) return -1;
    variable const& v = p.var(number);
    if (v.kind == variable_kind::extent) return is_open(p, number) ? number : -1;
    int found = -1;
    for (int t = 0; t < v.fused.count && found < 0; ++t) found = open_extent_of(p, p.plan.term_at(v.fused, t).variable);
    return found;
}

}  // namespace tilewright::detail
