#pragma once
#include <tilewright/plan/run_time.hpp>

// What varies outside a loop, and what varies inside it.
namespace tilewright::detail {

enum class side : std::uint8_t { outside, inside, across };

/// On which side of the level `depth` of stage `s` a variable varies. A component varies where its fused loop's parts do.
constexpr side side_of(planning const& p, int s, int variable_at, int depth) {
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
        if (place.path[static_cast<std::size_t>(position)] == variable_at) return side::outside;
    }
    return side::inside;
}

/// Splits a form at a level: what varies outside stays a form, what varies inside becomes a range.
/// @return false when a fused loop lies across the level: its part is in the range
constexpr bool split_at_level(planning const& p, int s, linear const& form, int depth, linear& outside, range& inside) {
    outside = {};
    inside = {form.constant, form.constant};
    bool clean = true;
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[static_cast<std::size_t>(at)];
        side const where = side_of(p, s, t.variable, depth);
        if (where == side::outside) {
            outside.add(t.coefficient, t.variable);
            continue;
        }
        clean &= where == side::inside;
        std::int64_t const reach = t.coefficient * (p.var(t.variable).extent - 1);
        (reach < 0 ? inside.low : inside.high) += reach;
    }
    return clean;
}

/// The largest value of a form, whatever its variables are.
constexpr std::int64_t highest_of(planning const& p, linear const& form) {
    std::int64_t high = form.constant;
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[static_cast<std::size_t>(at)];
        variable const& v = p.var(t.variable);
        if (is_given(v)) high += t.coefficient * (t.coefficient > 0 ? v.extent : 1);
        else if (t.coefficient > 0) high += t.coefficient * (v.extent - 1);
    }
    return high;
}

}  // namespace tilewright::detail
