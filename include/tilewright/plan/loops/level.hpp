#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/loops/run_time.hpp>

// What varies outside a loop, and what varies inside it.
namespace tilewright::detail {

enum class side : std::uint8_t { outside, inside, across };

/// On which side of the level `depth` of stage `s` a variable varies. A component varies where its fused loop's parts do.
constexpr side side_of(planning const& p, stage_id s, variable_id variable_at, int depth) {
    variable const& v = p.var(variable_at);
    if (v.kind == variable_kind::lane) return side::inside;
    if (is_given(v)) return side::outside;
    if (v.kind == variable_kind::component) {
        side whole = side::across;
        for (int at = 0; at < v.fused.count; ++at) {
            side const part = side_of(p, s, p.plan.term_at(v.fused, at).variable, depth);
            if (at > 0 && part != whole) return side::across;
            whole = part;
        }
        return whole;
    }
    stage_placement const& place = p.placed(s);
    for (int position = 0; position < depth; ++position) {
        if (place.path.elements[position] == variable_at) return side::outside;
    }
    return side::inside;
}

/// The largest value of a form, whatever its variables are.
constexpr std::int64_t highest_of(planning const& p, linear const& form) {
    std::int64_t high = form.constant;
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[at];
        variable const& v = p.var(t.variable);
        if (is_given(v)) high += t.coefficient * (t.coefficient > 0 ? v.extent : 1);
        else if (t.coefficient > 0) high += t.coefficient * (v.extent - 1);
    }
    return high;
}

constexpr std::int64_t lowest_of(planning const& p, linear const& form) {
    std::int64_t low = form.constant;
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[at];
        variable const& v = p.var(t.variable);
        if (is_given(v)) low += t.coefficient * (t.coefficient > 0 ? 1 : v.extent);
        else if (t.coefficient < 0) low += t.coefficient * (v.extent - 1);
    }
    return low;
}

constexpr std::int64_t grain_of(planning const& p, linear const& form);

/// A number that all values of a term are multiples of.
constexpr std::int64_t grain_of(planning const& p, term const& t) {
    variable const& v = p.var(t.variable);
    if (v.kind != variable_kind::component) return t.coefficient;
    std::int64_t const whole = grain_of(p, p.form_of(v.fused));
    if (v.modulus != 0) return t.coefficient * gcd(whole, v.modulus);
    return whole % v.divisor == 0 ? t.coefficient * (whole / v.divisor) : t.coefficient;
}
/// Likewise for a form; 0 if it is always 0.
constexpr std::int64_t grain_of(planning const& p, linear const& form) {
    std::int64_t grain = form.constant;
    for (int at = 0; at < form.count; ++at) grain = gcd(grain, grain_of(p, form.terms[at]));
    return grain;
}

/// The divisor of a part of a fused loop: a row, in elements.
constexpr std::int64_t row_of(variable const& part) { return part.modulus == 0 ? part.divisor : part.modulus; }

/// The terms of a form that are not multiples of a number.
constexpr linear rest_of(linear const& form, std::int64_t by) {
    linear rest;
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[at];
        if (t.coefficient % by != 0) rest.add(t.coefficient, t.variable);
    }
    return rest;
}
/// How far after the beginning of a row a form can lie.
constexpr std::int64_t furthest_in_row(planning const& p, linear const& form, std::int64_t row) {
    linear const rest = rest_of(form, row);
    std::int64_t const highest = highest_of(p, rest);
    return highest < row ? highest : row - gcd(grain_of(p, rest), row);
}

/// `whole` / divisor, or `whole` % modulus, as a form: over the same loops if that is linear, else over a variable that stands for it.
/// @pre all of `whole` is positive
constexpr linear part_of(planning& p, linear const& whole, variable part) {
    std::int64_t const row = row_of(part);
    linear const rest = rest_of(whole, row);
    linear moved;
    for (int at = 0; at < whole.count && part.modulus == 0; ++at) {
        term const& t = whole.terms[at];
        if (t.coefficient % row == 0) moved.add(t.coefficient / row, t.variable);
    }
    std::int64_t const highest = highest_of(p, rest);
    if (highest < row) {
        if (part.modulus != 0) moved.add(rest);
        return moved;
    }
    part.extent = (part.modulus == 0 ? highest / row : furthest_in_row(p, rest, row)) + 1;
    for (int at = 0; at < p.plan.variables.count; ++at) {
        variable const& v = p.var(at);
        bool const alike = v.kind == variable_kind::component && v.divisor == part.divisor && v.modulus == part.modulus;
        if (!alike || v.fused.constant != 0 || !p.form_of(v.fused).same_terms(rest)) continue;
        moved.add(1, at);
        return moved;
    }
    part.fused = p.keep(rest);
    part.trips = no_variable;
    moved.add(1, p.add(part));
    return moved;
}

/// Calls `visit(loop)` for the loops with several iterations that stage `s` reduces over, among the first `depth` loops of its path.
template <class Visit>
constexpr void each_reduction_around(planning const& p, stage_id s, int depth, Visit&& visit) {
    for (int position = p.placed(s).outer_depth; position < depth; ++position) {
        variable_id const loop = p.placed(s).path[position];
        if (p.var(loop).reduction && p.var(loop).extent > 1) visit(loop);
    }
}

/// Whether a stage on `core`, which is another one than that of stage `s`, reads what stage `s` computes.
constexpr bool is_read_on(planning const& p, stage_id s, int core) {
    if (core == p.placed(s).core) return false;
    for (stage_id t{}; t < p.plan.stages.count; ++t) {
        if (p.placed(t).core == core && p.reads(t, p.stage_at(s).output)) return true;
    }
    return false;
}
/// Whether a stage on any other core does.
constexpr bool is_read_on_another_core(planning const& p, stage_id s) {
    for (int core = 0; core < p.plan.cores; ++core) {
        if (is_read_on(p, s, core)) return true;
    }
    return false;
}

/// The position on the path of a stage after its distributed loop, if that is among the first `depth` loops; 0: it is not.
constexpr std::int16_t share_depth(planning const& p, stage_id s, int depth) {
    stage_placement const& place = p.placed(s);
    int found = 0;
    for (int position = 0; position < depth; ++position) {
        if (p.var(place.path.elements[position]).distributed) found = position + 1;
    }
    return static_cast<std::int16_t>(found);
}

/// The cores that run what stands inside the first `depth` loops of the path of stage `s`.
constexpr planning::core_range cores_of(planning const& p, stage_id s, int depth) {
    if (share_depth(p, s, depth) > 0) return {p.plan.first_core, p.plan.end_core};
    return {p.placed(s).core, p.placed(s).core + 1};
}

/// Whether all cores that run stage `s` have an intrinsic. Of several of one name, the first stands for all.
constexpr bool is_for_stage(planning const& p, stage_id s, int intrinsic_at) {
    machine const& where = p.of->where();
    if (!where.has_unlike_cores()) return true;
    if (where.intrinsics.find(where.intrinsics[intrinsic_at].name) != intrinsic_at) return false;
    planning::core_range const running = cores_of(p, s, p.placed(s).path_length);
    bool everywhere = true;
    for (int core = running.first; core < running.end; ++core) everywhere &= intrinsic_on(where, intrinsic_at, core) >= 0;
    return everywhere;
}

}  // namespace tilewright::detail
