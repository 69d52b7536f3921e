#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/loops/spread.hpp>

// Layouts: from the box of a buffer to its dimensions.
namespace tilewright::detail {

/// Dimensions of the tensor that is in a buffer, whatever its layout makes of them.
constexpr int box_rank(planning const& p, buffer const& b) { return b.layout < 0 ? b.rank : p.plan.layouts[b.layout].rank; }
constexpr std::int64_t box_extent(planning const& p, buffer const& b, int dimension) {
    return b.layout < 0 ? b.extents.elements[dimension] : p.plan.layouts[b.layout].extents[dimension];
}

/// Refuses a map that gives two indices of a dimension one place, or makes places that no index can have. Its parts, the fastest first,
/// must follow each other: i % 8, then i % 24 / 8, then i / 24.
constexpr void check_bijection(planning const& p, label const& tensor, buffer_layout const& l, int coordinates, int dimension,
                               int ordinal) {
    auto const refuse = [&](rule broken, std::int64_t one, std::int64_t other) {
        p.refuse(verdict_kind::layout_mismatch, broken, {tensor}, ordinal,
                 {fact{fact_kind::dimension, dimension}, fact{fact_kind::from, one}, fact{fact_kind::to, other}});
    };
    std::int64_t const extent = l.extents[dimension];
    std::int64_t told = 1;  // values of the dimension that the parts so far tell apart
    fixed_array<bool, max_rank> seen{};
    for (;;) {
        int next = -1;
        for (int at = 0; at < coordinates; ++at) {
            buffer_layout::coordinate const& c = l.coordinates[at];
            if (c.dimension != dimension || seen[at] || c.modulus == 1) continue;  // of one value, nothing to tell
            if (next < 0 || c.divisor < l.coordinates[next].divisor) next = at;
        }
        if (next < 0) break;
        seen[next] = true;
        buffer_layout::coordinate const& c = l.coordinates[next];
        if (c.divisor < told) return refuse(rule::parts_that_overlap, c.divisor, told == box_index::highest ? extent : told);
        if (c.divisor > told && told < extent) return refuse(rule::indices_in_one_place, 0, told);
        told = c.modulus == 0 || c.divisor > box_index::highest / c.modulus ? box_index::highest : c.divisor * c.modulus;
    }
    if (told < extent) refuse(rule::indices_in_one_place, 0, told);
}

/// Gives a buffer, whose extents are those of its box, the dimensions that an index map makes of them.
constexpr void apply_layout(writing& p, buffer& b, index_map_list const& map, int ordinal) {
    auto const refuse = [&](rule broken, std::int64_t one, std::int64_t other, label const& about = {}) {
        p.refuse(verdict_kind::layout_mismatch, broken, {b.tensor, about}, ordinal,
                 {fact{fact_kind::have, one}, fact{fact_kind::need, other}});
    };
    if (map.arguments != b.rank) return refuse(rule::map_of_another_rank, map.arguments, b.rank);
    if (map.count > map.most) return p.refuse_capacity("dimensions of a layout", map.count, max_rank, ordinal, b.tensor);
    buffer_layout l{.rank = b.rank, .extents = b.extents};
    int rank = 0, separators = 0;
    fixed_array<std::int64_t, max_rank> extents{};
    for (int at = 0; at < map.count; ++at) {
        box_index const& index = map.indices[at];
        if (index.dimension == box_index::no_coordinate) {
            p.refuse(verdict_kind::layout_mismatch, rule::no_part_of_the_box, {b.tensor}, ordinal);
            return;
        }
        if (index.dimension < 0) {
            b.block_dimensions = static_cast<std::int8_t>(rank);
            ++separators;
            continue;
        }
        if (index.is_broken && index.divisor < 1) {
            verdict& v = p.refuse(verdict_kind::invalid_number, ordinal);
            v.names = {b.tensor, "factor"};
            v.facts = {fact{fact_kind::have, index.divisor}, fact{fact_kind::limit, 1}};
            return;
        }
        if (index.is_broken) return refuse(rule::part_of_unequal_parts, index.modulus, index.divisor);
        if (rank == max_rank) return p.refuse_capacity("dimensions of a layout", rank + 1, max_rank, ordinal, b.tensor);
        std::int64_t const extent = l.extents[index.dimension];
        extents[rank] = index.modulus > 0 ? index.modulus : (extent - 1) / index.divisor + 1;
        l.coordinates[rank++] = {static_cast<std::int8_t>(index.dimension), index.divisor, index.modulus};
    }
    for (int dimension = 0; dimension < l.rank && !p.refused(); ++dimension) check_bijection(p, b.tensor, l, rank, dimension, ordinal);
    if (separators > 1) return refuse(rule::two_separators, separators, 1);
    double bytes = bytes_of(b.type), blocks = 1;
    for (int at = 0; at < rank; ++at) {
        bytes *= static_cast<double>(extents[at]);
        if (at < b.block_dimensions) blocks *= static_cast<double>(extents[at]);
    }
    memory const& m = p.of->where().memories[b.memory];
    if (separators > 0 && (m.banks == 1 || blocks > m.banks))
        return refuse(rule::blocks_without_banks, p.limited(blocks, plan_value::most_bytes, "blocks", b.tensor), m.banks, m.name);
    b.rank = static_cast<std::int16_t>(rank);
    b.extents = extents;
    b.blocks = static_cast<std::int16_t>(blocks);
    b.bytes = p.limited(bytes, plan_value::most_bytes, "bytes", b.name);
    b.layout = static_cast<std::int16_t>(p.add(l));
}

/// form = divisor * high + low, where `high` has all multiples of the divisor.
constexpr void divide(linear const& form, std::int64_t divisor, linear& high, linear& low) {
    low.constant = (form.constant % divisor + divisor) % divisor;
    high.constant = (form.constant - low.constant) / divisor;
    for (int at = 0; at < form.count; ++at) {
        term const& t = form.terms[at];
        if (t.coefficient % divisor == 0) high.add(t.coefficient / divisor, t.variable);
        else low.add(t.coefficient, t.variable);
    }
}
/// Whether a form is in [0, end), wherever its variables stand.
constexpr bool stays_below(planning const& p, linear const& form, std::int64_t end) {
    linear negative;
    negative.add(form, -1);
    return highest_of(p, negative) <= 0 && highest_of(p, form) < end;
}

/// A variable that is (form / divisor) % modulus; a modulus of 0 is none.
constexpr int component_of(planning& p, label const& name, linear const& whole, std::int64_t divisor, std::int64_t modulus) {
    linear form;  // without variables that stand at 0: lanes of one element are no loops
    form.constant = whole.constant;
    for (int at = 0; at < whole.count; ++at) {
        term const& t = whole.terms[at];
        if (p.var(t.variable).extent > 1) form.add(t.coefficient, t.variable);
    }
    for (int at = 0; at < p.plan.variables.count; ++at) {
        variable const& v = p.var(at);
        if (v.kind != variable_kind::component || v.divisor != divisor || v.modulus != modulus) continue;
        linear same = p.form_of(v.fused);
        same.add(form, -1);
        if (same.count == 0 && same.constant == 0) return at;
    }
    variable made{.name = name, .kind = variable_kind::component, .fused = p.keep(form), .divisor = divisor, .modulus = modulus};
    made.extent = modulus > 0 ? modulus : highest_of(p, form) / divisor + 1;
    return p.add(made);
}
/// The largest divisor of `number`, less than itself, in which a form splits into whole terms: form = divisor * high + low.
constexpr std::int64_t evenly(planning const& p, linear const& form, std::int64_t number, linear& high, linear& low) {
    std::int64_t best = 1;
    high = form;
    low = {};
    for (int at = 0; at < form.count; ++at) {
        std::int64_t const divisor = gcd(form.terms[at].coefficient, number);
        if (divisor <= best || divisor == number) continue;
        linear above, below;
        divide(form, divisor, above, below);
        if (!stays_below(p, below, divisor)) continue;
        best = divisor;
        high = above;
        low = below;
    }
    return best;
}
/// form % modulus: as a form if terms are multiples of the modulus or stay below it, else with a component for the terms that cross it.
/// @pre the form is never negative, nor are the forms that follow from it
constexpr linear remainder_of(planning& p, label const& name, linear const& form, std::int64_t modulus) {
    linear whole, rest, high, low;
    divide(form, modulus, whole, rest);
    if (stays_below(p, rest, modulus)) return rest;
    if (!stays_below(p, rest, box_index::highest)) rest = form;
    std::int64_t const step = evenly(p, rest, modulus, high, low);
    low.add(step, component_of(p, name, high, 1, modulus / step));
    return low;
}
/// form / divisor, likewise.
constexpr linear quotient_of(planning& p, label const& name, linear const& form, std::int64_t divisor) {
    linear whole, rest, high, low;
    divide(form, divisor, whole, rest);
    if (stays_below(p, rest, divisor)) return whole;
    if (!stays_below(p, rest, box_index::highest)) whole = {}, rest = form;
    std::int64_t const step = evenly(p, rest, divisor, high, low);
    whole.add(1, component_of(p, name, high, divisor / step, 0));
    return whole;
}
/// (form / divisor) % modulus; no modulus where it is 0.
constexpr linear part_of(planning& p, label const& name, linear const& form, std::int64_t divisor, std::int64_t modulus) {
    bool const wraps = modulus > 0 && highest_of(p, form) / divisor >= modulus;
    return quotient_of(p, name, wraps ? remainder_of(p, name, form, divisor * modulus) : form, divisor);
}

/// The index into a buffer of an element of its box.
constexpr fixed_array<linear, max_rank> place_in_buffer(planning& p, int buffer_at, fixed_array<linear, max_rank> const& at) {
    buffer const& b = p.buffer_at(buffer_at);
    if (b.layout < 0) return at;
    buffer_layout const& l = p.plan.layouts[b.layout];
    fixed_array<linear, max_rank> index{};
    for (int dimension = 0; dimension < b.rank && !p.refused(); ++dimension) {
        buffer_layout::coordinate const& c = l.coordinates[dimension];
        index[dimension] = part_of(p, b.tensor, at[c.dimension], c.divisor, c.modulus);
    }
    return index;
}

/// The index of the access at `node` of stage `s` in the box of a buffer, along one dimension of its tensor.
constexpr linear place_in_box(planning const& p, stage_id s, node_id node, int dimension, buffer_id buffer_at) {
    linear at = p.index_form(s, node, dimension);
    at.add(p.form_of(p.from.box_at.elements[buffer_at].elements[dimension]), -1);
    return at;
}

}  // namespace tilewright::detail
