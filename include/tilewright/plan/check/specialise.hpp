#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/check/core_accesses.hpp>
#include <tilewright/plan/check/excess.hpp>
#include <tilewright/plan/check/hazards.hpp>
#include <tilewright/plan/check/partial_counts.hpp>
#include <tilewright/plan/check/totals.hpp>
#include <tilewright/plan/loops/run_time.hpp>

// A plan with open extents becomes a plan like any other when they are known.
namespace tilewright::detail {

/// Extents in the order of a plan's first variables.
using open_extents = fixed_array<std::int64_t, plan_value::most_variables>;

/// The value of every number that run time gives.
constexpr open_extents given_numbers(plan_value const& plan, open_extents numbers) {
    for (int at = plan.run_time_extents; at < plan.variables.size(); ++at) {
        variable const& v = plan.variables[at];
        if (v.kind != variable_kind::count) continue;
        std::int64_t all = v.fused.constant;
        for (int t = 0; t < v.fused.count; ++t) all += plan.term_at(v.fused, t).coefficient * numbers[plan.term_at(v.fused, t).variable];
        numbers[at] = all / v.divisor;
    }
    return numbers;
}

/// Gives an argument the least extents that it can have. @return whether they can be counted
constexpr bool size_argument(plan_value const& open, int at, open_extents const& numbers, buffer& b) {
    double elements = 1;
    for (int dimension = 0; dimension < b.rank; ++dimension) {
        std::int64_t furthest = b.minimum[dimension] + 1;
        for (int which = 0; which < open.shapes.size(); ++which) {
            shape const& one = open.shapes[which];
            if (one.buffer != at || one.dimension != dimension) continue;
            std::int64_t end = one.end.constant;
            for (int t = 0; t < one.end.count; ++t)
                end += open.term_at(one.end, t).coefficient * numbers[open.term_at(one.end, t).variable];
            furthest = end > furthest ? end : furthest;
        }
        b.extents[dimension] = furthest - b.minimum[dimension];
        elements *= static_cast<double>(b.extents[dimension]);
    }
    if (elements > stage::most_index) return false;
    b.bytes = static_cast<std::int64_t>(elements) * bytes_of(b.type);
    return true;
}

/// A plan at some extents; `wrong`: why it cannot be at them.
struct specialisation {
    plan_value plan;
    char const* wrong = nullptr;
};

/// The plan at some extents. Structure, addresses and boxes are those of the open plan; its numbers are filled in.
/// @param counts  whether what its steps do in one run is counted, too: the check of hazards does not ask for it
constexpr specialisation specialised(plan_value const& open, open_extents const& extents, bool counts = true) {
    specialisation made{open};
    plan_value& plan = made.plan;
    for (int at = 0; at < plan.run_time_extents; ++at) {
        std::int64_t const extent = extents[at];
        if (extent < 1) return {open, "an extent is missing, or less than 1"};
        if (extent > plan.variables[at].extent) return {open, "an extent is beyond the most that it can be"};
    }
    open_extents const numbers = given_numbers(open, extents);
    auto const given = [&](affine const& form) {
        std::int64_t value = 0;
        for (int t = 0; t < form.count; ++t) {
            term const& part = open.term_at(form, t);
            if (is_given(open.variables[part.variable])) value += part.coefficient * numbers[part.variable];
        }
        return value;
    };
    for (int at = 0; at < plan.variables.size(); ++at) {
        variable& v = plan.variables[at];
        if (is_given(v)) v.extent = numbers[at];
        if (v.trips >= 0) v.extent = numbers[v.trips];
        v.trips = no_variable;
    }
    for (int at = 0; at < plan.rings.size(); ++at) {
        ring& r = plan.rings[at];
        if (!r.run_time) continue;
        double steps = 1;
        for (int loop = r.loop_count - 1; loop >= 0; --loop) {
            for (int t = 0; t < r.step.count; ++t) {
                term& part = plan.terms[r.step.first + t];
                if (part.variable == r.loops[loop]) part.coefficient = static_cast<std::int64_t>(steps);
            }
            steps *= static_cast<double>(plan.variables[r.loops[loop]].extent);
            if (steps > stage::most_index - most_versions) return {open, "there are more steps than can be counted"};
        }
        r.steps = static_cast<std::int64_t>(steps);
        r.run_time = false;
    }
    for (int at = 0; at < plan.variables.size(); ++at) {
        variable& v = plan.variables[at];
        if (v.first_of < 0) continue;
        std::int64_t const steps = plan.rings[v.first_of].steps;
        v.extent = v.extent < steps ? v.extent : steps;
        v.first_of = -1;
    }
    // Numbers that run time gives go from the forms into the bounds.
    for (int at = 0; at < plan.step_extents.size(); ++at) plan.step_extents[at].bound -= given(plan.step_extents[at].form);
    for (int at = 0; at < plan.limits.size(); ++at) plan.limits[at].bound -= given(plan.limits[at].form);
    for (int at = 0; at < plan.clips.size(); ++at) plan.clips[at].bound -= given(plan.clips[at].form);
    for (int at = 0; at < plan.terms.size(); ++at) {
        term& part = plan.terms[at];
        if (is_given(plan.variables[part.variable])) part.coefficient = 0;
    }
    for (int at = 0; at < plan.buffers.size(); ++at) {
        buffer& b = plan.buffers[at];
        if (b.kind != buffer_kind::argument) continue;
        if (!size_argument(open, at, numbers, b)) return {open, "an argument has more elements than can be counted"};
    }
    for (stage_id s{}; s < plan.stages.size(); ++s) {
        for (stage_axis& a : plan.stages[s].axes.elements) {
            for (int at = 0; at < open.run_time_extents && a.run_time; ++at) {
                if (open.variables[at].name != a.name) continue;
                a.extent = extents[at];
                a.run_time = false;
            }
        }
    }
    plan.run_time_extents = 0;
    if (!counts) return made;
    totals const all = totals_of(plan);
    if (all.cycles > plan_value::most_total || all.bytes > plan_value::most_total) return {open, "its totals cannot be counted"};
    trip_count::excess const excess = count_partial(plan);
    if (excess.what != nullptr) return {open, excess.what};
    plan.total_cycles = count_cycles(plan);
    return made;
}

/// Elements of an extent that one iteration of the outermost loop over it takes, at most.
constexpr std::int64_t elements_of_iteration(plan_value const& plan, int extent) {
    std::int64_t most = 1;
    for (int at = 0; at < plan.variables.size(); ++at) {
        int number = plan.variables[at].trips;
        std::int64_t elements = 1;
        while (number >= 0 && plan.variables[number].kind == variable_kind::count) {
            variable const& v = plan.variables[number];
            elements = (elements * v.divisor + plan.term_at(v.fused, 0).coefficient - 1) / plan.term_at(v.fused, 0).coefficient;
            number = plan.term_at(v.fused, 0).variable;
        }
        if (number == extent && elements > most) most = elements;
    }
    return most;
}

/// Extents that a pipeline can tell apart: one partial tile along every axis, and more tiles than it has versions, the last one partial: it
/// fills, is full, and drains.
///
/// `thorough`, for run time: also each axis on its own while the others have many tiles, and combinations of the numbers of tiles up
/// to what a pipeline needs to fill and drain, whole and partial: all of them up to 256.
///
/// `for (representatives some(plan, thorough); some.next();)` has them in `some.extents`, one after the other.
class representatives {
  public:
    constexpr representatives(plan_value const& plan, bool thorough)
        : plan_(plan), thorough_(thorough), alone_(plan.run_time_extents > 1 ? plan.run_time_extents : 0) {
        for (int at = 0; at < plan.rings.size(); ++at)
            versions_ = plan.rings[at].versions > versions_ ? plan.rings[at].versions : versions_;
        if (thorough) find_sizes();
    }
    /// @return false after the last ones
    constexpr bool next() {
        int const which = next_++;
        if (which == 0) set_all_to(1, true);
        else if (which == 1) set_all_to(versions_ + 1, true);
        else if (!thorough_) return false;
        else if (which == 2) set_all_to(versions_, false);
        else if (int const axis = which - 3; axis < alone_) set_all_to(steady(), true), extents[axis] = size_of(axis, 1, true);
        else return combine((axis - alone_) * apart_);
        return true;
    }

    open_extents extents{};

  private:
    static constexpr std::int64_t most_visits = 256, most_combinations = std::int64_t{1} << 40;

    constexpr std::int64_t steady() const { return 2 * versions_ + 2; }
    /// Elements of an axis with so many tiles.
    constexpr std::int64_t size_of(int axis, std::int64_t count, bool partial) const {
        std::int64_t const elements = elements_of_iteration(plan_, axis), most = plan_.variables[axis].extent;
        std::int64_t const wanted = partial ? (count - 1) * elements + 1 : count * elements;
        return wanted < most ? wanted : most;
    }
    constexpr void set_all_to(std::int64_t count, bool partial) {
        for (int axis = 0; axis < plan_.run_time_extents; ++axis) extents[axis] = size_of(axis, count, partial);
    }
    /// Several counts give the same size if an axis has no room for it, or tiles have one element: each size once.
    constexpr void find_sizes() {
        for (int axis = 0; axis < plan_.run_time_extents; ++axis) {
            auto& mine = sizes_[axis];
            int& count = size_count_[axis];
            for (std::int64_t which = 0; which < 2 * steady(); ++which) {
                std::int64_t const size = size_of(axis, 1 + which / 2, which % 2 == 0);
                if (count == 0 || size > mine[count - 1]) mine[count++] = size;
            }
            combinations_ = combinations_ > most_combinations ? combinations_ : combinations_ * count;
        }
        // If there are too many to try, some that are spread over all: the sizes of every axis take turns.
        apart_ = combinations_ <= most_visits ? 1 : combinations_ / most_visits + 1;
        while (gcd(apart_, combinations_) != 1) ++apart_;
    }
    constexpr bool combine(std::int64_t which) {
        if (which >= combinations_) return false;
        for (int axis = 0; axis < plan_.run_time_extents; ++axis) {
            extents[axis] = sizes_[axis][which % size_count_[axis]];
            which /= size_count_[axis];
        }
        return true;
    }

    plan_value const& plan_;
    bool thorough_;
    int alone_;  ///< axes that have one tile while the others have many
    int next_ = 0;
    std::int64_t versions_ = 1;  ///< the most of a ring
    fixed_array<fixed_array<std::int64_t, 4 * most_versions + 4>, plan_value::most_variables> sizes_{};
    fixed_array<int, plan_value::most_variables> size_count_{};
    std::int64_t combinations_ = 1, apart_ = 1;
};

/// The first hazard of a plan at extents that stand for all others, or what leaves a buffer there.
constexpr hazard find_hazard_at_any(plan_value const& plan) {
    if (plan.run_time_extents == 0) {
        hazard const found = find_hazard(plan);
        return found ? found : find_core_hazard(plan);
    }
    hazard found;
    if (plan.refusal) return found;
    for (representatives some(plan, true); !found && some.next();) {
        specialisation const at = specialised(plan, some.extents, false);
        if (at.wrong != nullptr) continue;
        found = find_hazard(at.plan);
        if (!found) found = find_core_hazard(at.plan);
        if (!found) found = find_excess(at.plan);
    }
    return found;
}

/// Refuses a plan that runs into a hazard at extents that stand for all others. The compiler looks for accesses outside of buffers only at
/// the first of them, because clang ends longer evaluations; generators and tools look at all of them.
constexpr void check_representatives(plan_value const& plan, refusals const& to) {
    bool first = true;
    for (representatives some(plan, false); !to.refused() && some.next();) {
        specialisation const at = specialised(plan, some.extents, false);
        if (at.wrong != nullptr) continue;
        refuse_hazard(plan, to, find_hazard(at.plan));
        if (!to.refused()) refuse_hazard(plan, to, find_core_hazard(at.plan));
        if (!to.refused() && (first || !__builtin_is_constant_evaluated())) refuse_hazard(plan, to, find_excess(at.plan));
        first = false;
    }
}

}  // namespace tilewright::detail

namespace tilewright::ir {

/// The place of an extent that a plan leaves to run time, among them; -1: it leaves none of this name.
constexpr int open_extent_of(plan_value const& open, label const& name) {
    for (int at = 0; at < open.run_time_extents; ++at) {
        if (open.variables[at].name == name) return at;
    }
    return -1;
}
/// Extents by name, in the order of a plan's first variables; 0 where one is missing.
/// @throws bad_query when the plan has none of a name
template <class List>
constexpr detail::open_extents extents_by_name(plan_value const& open, List const& given) {
    detail::open_extents extents{};
    for (axis_extent const& one : given) {
        int const found = open_extent_of(open, one.name);
        if (found < 0) detail::throw_or_abort(bad_query("the plan leaves no extent of this name to run time"));
        extents[found] = one.extent;
    }
    return extents;
}

template <class List>
constexpr plan_value plan_value::at(List const& extents) const {
    if (refusal) return *this;
    detail::specialisation const made = detail::specialised(*this, extents_by_name(*this, extents));
    if (made.wrong != nullptr) detail::throw_or_abort(bad_query(made.wrong));
    return made.plan;
}
constexpr plan_value plan_value::at(std::initializer_list<axis_extent> extents) const {
    return at<std::initializer_list<axis_extent>>(extents);
}

}  // namespace tilewright::ir
