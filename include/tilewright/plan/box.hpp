#pragma once
#include <tilewright/plan/planning.hpp>

// The part of a tensor that one iteration of a loop touches.
namespace tilewright::detail {

/// The box of a tensor inside the first `depth` loops of a path: where it begins, over the loops outside, and how far it reaches.
struct box {
    int rank = 0;
    fixed_array<linear, max_rank> at{};
    fixed_array<std::int64_t, max_rank> extents{};
    bool started = false;
};

enum class side : std::uint8_t { outside, inside, across };

/// On which side of the level `depth` of stage `s` a variable varies. A component varies where its fused loop's parts do.
constexpr side side_of(planning const& p, int s, int variable_at, int depth) {
    variable const& v = p.var(variable_at);
    if (v.kind == variable_kind::lane) return side::inside;
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

struct range {
    std::int64_t low = 0, high = 0;
};

/// Splits a form at a level: what varies outside stays a form, what varies inside becomes a range.
/// @return false when a fused loop lies across the level
constexpr bool split_at_level(planning const& p, int s, linear const& form, int depth, linear& outside, range& inside) {
    outside = {};
    inside = {form.constant, form.constant};
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[static_cast<std::size_t>(at)];
        switch (side_of(p, s, t.variable, depth)) {
            case side::across: return false;
            case side::outside: outside.add(t.coefficient, t.variable); break;
            case side::inside: {
                std::int64_t const reach = t.coefficient * (p.var(t.variable).extent - 1);
                (reach < 0 ? inside.low : inside.high) += reach;
            }
        }
    }
    return true;
}

constexpr bool same_terms(linear const& a, linear const& b) {
    if (a.count != b.count) return false;
    for (int at = 0; at < a.count; ++at) {
        auto const position = static_cast<std::size_t>(at);
        if (a.terms[position].variable != b.terms[position].variable || a.terms[position].coefficient != b.terms[position].coefficient)
            return false;
    }
    return true;
}

/// Widens `whole` by the access at `node` of stage `s`, seen from inside the first `depth` loops of its path.
/// @return -1, or the dimension whose extent would not be constant
constexpr int widen(planning const& p, box& whole, int s, int node, int depth) {
    whole.rank = p.plan.what[node].argument_count;
    for (int dimension = 0; dimension < whole.rank; ++dimension) {
        auto const d = static_cast<std::size_t>(dimension);
        linear outside;
        range inside;
        if (!split_at_level(p, s, p.index_form(s, node, dimension), depth, outside, inside)) return dimension;
        if (!whole.started) {
            whole.at[d] = outside;
            whole.at[d].constant = inside.low;
            whole.extents[d] = inside.high - inside.low + 1;
            continue;
        }
        if (!same_terms(whole.at[d], outside)) return dimension;
        std::int64_t const low = whole.at[d].constant, high = low + whole.extents[d] - 1;
        whole.at[d].constant = low < inside.low ? low : inside.low;
        whole.extents[d] = (high > inside.high ? high : inside.high) - whole.at[d].constant + 1;
    }
    whole.started = true;
    return -1;
}

struct coverage {
    std::int64_t computed = 1, spanned = 1;
};

/// Of the box of stage `s`'s target inside the first `depth` loops of its path: how many elements the loops inside compute in the first
/// dimension that has gaps, and how many it spans. Both are equal when no dimension has any.
constexpr coverage cover(planning const& p, int s, int depth) {
    for (int dimension = 0; dimension < p.stage_at(s).rank; ++dimension) {
        linear const form = p.index_form(s, p.stage_at(s).target, dimension);
        coverage found;
        for (int at = 0; at < form.count; ++at) {
            term const& t = form.terms[static_cast<std::size_t>(at)];
            if (side_of(p, s, t.variable, depth) != side::inside) continue;
            found.computed *= p.var(t.variable).extent;
            found.spanned += t.coefficient * (p.var(t.variable).extent - 1);
        }
        if (found.computed != found.spanned) return found;
    }
    return {};
}

/// Refuses a box whose extent changes from one iteration of the loop at `depth` to the next.
constexpr void refuse_box(planning& p, label const& tensor, int dimension, int s, int depth, int ordinal) {
    stage_placement const& place = p.placed(s);
    verdict& v = p.refuse(verdict_kind::box_not_constant, ordinal);
    v.names = {tensor, depth > 0 ? p.var(place.path[static_cast<std::size_t>(depth - 1)]).name : label("the kernel")};
    v.facts = {fact{fact_kind::dimension, dimension}};
}

}  // namespace tilewright::detail
