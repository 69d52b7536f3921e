#pragma once
#include <tilewright/plan/loops/run_time.hpp>

// Applies the directives of one stage to its loops.
namespace tilewright::detail {

/// "name.suffix", for a loop that a directive makes and the user did not name. If both are too long, `name` is shortened.
constexpr label dotted(label const& name, label const& suffix) {
    int const behind = suffix.size(), room = label::longest - 1 - behind;
    if (name.size() <= room) return name.followed_by('.', suffix);
    fixed_array<char, 2 * label::longest + 2> text{};
    int at = 0;
    for (int position = 0; position < room || position < 1; ++position) {
        char const letter = name[position];
        if (letter == '\0') break;
        text[at++] = letter;
    }
    text[at++] = '.';
    for (int position = 0; position < behind; ++position) text[at++] = suffix[position];
    return label(text.elements);
}

/// Gives a new loop its place in the list of axes; refuses a name that the stage has already.
constexpr int add_axis(placing& p, stage_id s, nest_axis const& a, int ordinal) {
    nest& n = p.nest_at(s);
    for (int position = 0; position < n.axes.count; ++position) {
        if (n.axes.slots[position].part.name.words.elements[0] == a.name.words.elements[0] && n.axes.slots[position].part.name == a.name) {
            p.refuse(verdict_kind::axis_used_twice, ordinal).names = {a.name, p.stage_at(s).output};
            return 0;
        }
    }
    if (n.axes.full()) p.refuse_capacity("loops and split loops", nest::most + 1, nest::most, ordinal, p.stage_at(s).output);
    if (p.refused()) return 0;
    return n.axes.push(a);
}

/// Position in the nest's order of a loop that a directive names. Refuses a loop that the nest does not have, or that tensorize took.
constexpr int find_loop(planning const& p, stage_id s, label const& name, int ordinal) {
    nest const& n = p.nest_at(s);
    int const position = n.position_of(name);
    if (position < 0) p.refuse(verdict_kind::unknown_axis, ordinal).names = {name, p.stage_at(s).output};
    for (int at = 0; at < n.covered_count && position >= 0; ++at) {
        if (n.covered[at] != n.order[position]) continue;
        p.refuse(verdict_kind::misplaced_directive, rule::behind_tensorize, {name}, ordinal);
        return -1;
    }
    return position;
}

/// Refuses to take apart a loop that is to be unrolled or vectorized as it is.
constexpr void keep_marked(planning const& p, nest_axis const& a, int ordinal) {
    if (a.unrolled || a.vectorized || a.parallel || a.distributed)
        p.refuse(verdict_kind::conflicting_directives, ordinal).names = {a.name, a.unrolled     ? "unroll"
                                                                                 : a.vectorized ? "vectorize"
                                                                                 : a.parallel   ? "parallel"
                                                                                                : "distribute"};
}

/// What a loop is split into.
struct loop_parts {
    label outer, inner;
    std::int64_t factor;
};

/// loop of extent e at `position` -> outer of e / factor, rounded up, around inner of factor or e, whichever is less.
constexpr void split_loop(placing& p, stage_id s, int position, loop_parts const& parts, int ordinal) {
    std::int64_t factor = parts.factor;
    nest& n = p.nest_at(s);
    std::int16_t const parent = n.order[position];
    nest_axis const old = n.axes[parent];
    if (factor < 1) {
        verdict& v = p.refuse(verdict_kind::invalid_number, ordinal);
        v.names = {old.name, "factor"};
        v.facts = {fact{fact_kind::have, factor}, fact{fact_kind::need, 1}};
        return;
    }
    if (factor > old.extent) factor = old.extent;  // one tile, no larger than the axis
    if (old.extent + factor - 1 > stage::most_index)
        return p.refuse_capacity("extent", old.extent + factor - 1, stage::most_index, ordinal, old.name);
    keep_marked(p, old, ordinal);
    if (n.depth == body::most_loops) return p.refuse_capacity("loops", n.depth + 1, body::most_loops, ordinal, p.stage_at(s).output);
    nest_axis part{.reduction = old.reduction};
    part.name = parts.outer;
    part.extent = (old.extent - 1) / factor + 1;
    if (old.trips >= 0) part.trips = count_of(p, old.trips, 1, factor, parts.outer, ordinal);
    int const outer_at = add_axis(p, s, part, ordinal);
    part.name = parts.inner;
    part.extent = factor;
    part.trips = no_variable;
    int const inner_at = add_axis(p, s, part, ordinal);
    if (p.refused()) return;
    nest_axis& split = n.axes[parent];
    split.is = nest_axis::role::split;
    split.outer = static_cast<std::int16_t>(outer_at);
    split.inner = static_cast<std::int16_t>(inner_at);
    split.factor = factor;
    n.partial |= old.trips >= 0 || old.extent % factor != 0;
    for (int at = n.depth; at > position + 1; --at) n.order[at] = n.order[at - 1];
    n.order[position] = split.outer;
    n.order[position + 1] = split.inner;
    ++n.depth;
}

constexpr void reorder_loops(placing& p, stage_id s, label const* names, int count, int ordinal) {
    nest& n = p.nest_at(s);
    fixed_array<std::int16_t, body::most_loops> chosen{};
    fixed_array<bool, body::most_loops> is_named{};
    for (int at = 0; at < count; ++at) {
        int const position = find_loop(p, s, names[at], ordinal);
        if (position < 0) return;
        if (is_named[position]) {
            p.refuse(verdict_kind::axis_used_twice, ordinal).names = {names[at], p.stage_at(s).output};
            return;
        }
        is_named[position] = true;
        chosen[at] = n.order[position];
    }
    int next = 0;
    for (int position = 0; position < n.depth; ++position) {
        if (is_named[position]) n.order[position] = chosen[next++];
    }
}

constexpr void fuse_loops(placing& p, stage_id s, label const& outer, label const& inner, label const& fused, int ordinal) {
    nest& n = p.nest_at(s);
    int const at = find_loop(p, s, outer, ordinal);
    int const inner_at = find_loop(p, s, inner, ordinal);
    if (p.refused()) return;
    nest_axis& a = n.axis_of_loop(at);
    nest_axis& b = n.axis_of_loop(inner_at);
    if (inner_at != at + 1) return p.refuse(verdict_kind::loop_order, rule::not_directly_around, {outer, inner}, ordinal);
    if (a.reduction != b.reduction) return p.refuse(verdict_kind::loop_order, rule::reduction_fused_with_another, {outer, inner}, ordinal);
    keep_marked(p, a, ordinal);
    keep_marked(p, b, ordinal);
    if (b.trips >= 0) return p.refuse(verdict_kind::loop_order, rule::run_time_inside_fused, {inner, outer}, ordinal);
    variable_id const trips = a.trips < 0 ? no_variable : count_of(p, a.trips, b.extent, 1, fused, ordinal);
    std::int64_t const extent = trips < 0 ? a.extent * b.extent : p.var(trips).extent;
    int const whole = add_axis(p, s, {.name = fused, .extent = extent, .reduction = a.reduction, .trips = trips}, ordinal);
    if (p.refused()) return;
    a.is = b.is = nest_axis::role::fused;
    a.outer = b.outer = static_cast<std::int16_t>(whole);
    a.factor = b.extent;
    b.modulus = b.extent;
    n.order[at] = static_cast<std::int16_t>(whole);
    --n.depth;
    for (int position = at + 1; position < n.depth; ++position) n.order[position] = n.order[position + 1];
}

constexpr void mark_loop(placing& p, stage_id s, directive const& d, label name, int ordinal) {
    int position = find_loop(p, s, name, ordinal);
    if (position < 0) return;
    if (d.factors[0] != schedule::whole_loop &&
        (d.factors[0] != p.nest_at(s).axis_of_loop(position).extent || p.nest_at(s).axis_of_loop(position).trips >= 0)) {
        label const outer_name = dotted(name, "outer");
        label const inner_name = dotted(name, d.kind == directive_kind::vectorize ? "lanes" : "copies");
        split_loop(p, s, position++, {outer_name, inner_name, d.factors[0]}, ordinal);
        if (p.refused()) return;
    }
    nest_axis& a = p.nest_at(s).axis_of_loop(position);
    if (a.trips >= 0) return p.refuse(verdict_kind::loop_order, rule::run_time_loop, {a.name}, ordinal);
    keep_marked(p, a, ordinal);
    // Lanes are added up in another order, which changes only sums of floats.
    if (d.kind == directive_kind::vectorize && a.reduction && is_float(p.stage_at(s).type))
        return p.refuse(verdict_kind::loop_order, rule::vectorized_reduction, {a.name}, ordinal);
    if (d.kind == directive_kind::parallel && a.reduction)
        return p.refuse(verdict_kind::loop_order, rule::parallel_reduction, {a.name}, ordinal);
    a.marked_ordinal = static_cast<std::int16_t>(ordinal);
    (d.kind == directive_kind::vectorize ? a.vectorized : d.kind == directive_kind::unroll ? a.unrolled : a.parallel) = true;
}

/// loop of extent e -> loop.core over the cores, around loop of e / count, rounded up.
constexpr void distribute_loop(placing& p, stage_id s, directive const& d, int ordinal) {
    label const name = p.of->name_at(d, 0), among = p.of->name_at(d, 1);
    int const position = find_loop(p, s, name, ordinal);
    if (position < 0) return;
    auto const refuse = [&](rule why) -> verdict& {
        verdict& v = p.refuse(verdict_kind::distribution, ordinal);
        v.broken = why;
        v.names = {name, among};
        return v;
    };
    machine const& where = p.of->where();
    int const core_at = where.cores.find(among);
    if (core_at < 0) return void(p.refuse(verdict_kind::unknown_part, ordinal).names = {among, where.name});
    std::int64_t there = where.cores[core_at].count;
    for (int at = 2; at < d.name_count; ++at) {
        int const kind = where.cores.find(p.of->name_at(d, at));
        if (kind < 0) return void(p.refuse(verdict_kind::unknown_part, ordinal).names = {p.of->name_at(d, at), where.name});
        if (kind != core_at + at - 1) return void(refuse(rule::kinds_out_of_order).names[1] = where.cores[kind].name);
        there += where.cores[kind].count;
    }
    std::int64_t const count = d.factors[0] == schedule::whole_loop ? there : d.factors[0];
    auto const first = static_cast<std::int16_t>(where.first_core(core_at));
    if (count < 1 || count > there)
        return void(refuse(rule::more_cores_than_there_are).facts = {fact{fact_kind::have, count}, fact{fact_kind::limit, there}});
    for (stage_id t{}; t < p.plan.stages.count; ++t) {
        if (p.placed(t).core_ordinal != 0) return void(refuse(rule::on_with_distribution));
    }
    bool const again = p.plan.end_core > 1;
    if (again && p.plan.end_core - p.plan.first_core != count)
        return void(refuse(rule::other_number_of_cores).facts = {fact{fact_kind::have, count},
                                                                 fact{fact_kind::need, p.plan.end_core - p.plan.first_core}});
    if (again && p.plan.first_core != first)
        return void(refuse(rule::other_cores).facts = {fact{fact_kind::have, first}, fact{fact_kind::need, p.plan.first_core}});
    nest_axis const old = p.nest_at(s).axis_of_loop(position);
    if (old.trips >= 0) return void(refuse(rule::run_time_loop));
    if (old.reduction) return void(refuse(rule::distributed_reduction));
    // The loop inside keeps the name.
    p.nest_at(s).axis_of_loop(position).name = dotted(name, "all");
    split_loop(p, s, position, {dotted(name, "core"), name, (old.extent - 1) / count + 1}, ordinal);
    if (p.refused()) return;
    nest_axis& of_cores = p.nest_at(s).axis_of_loop(position);
    std::int64_t const share = p.nest_at(s).axis_of_loop(position + 1).extent;
    of_cores.extent = count;
    of_cores.distributed = count > 1 || first > 0;
    of_cores.marked_ordinal = static_cast<std::int16_t>(ordinal);
    p.nest_at(s).partial |= share * count != old.extent;
    p.plan.first_core = first;
    p.plan.cores = p.plan.end_core = static_cast<std::int16_t>(first + count);
}

constexpr void tensorize_loops(placing& p, stage_id s, directive const& d, int ordinal) {
    nest& n = p.nest_at(s);
    int const loops = d.name_count - 1;
    label const& name = p.of->name_at(d, loops);
    if (n.intrinsic >= 0) {
        p.refuse(verdict_kind::conflicting_directives, ordinal).names = {p.stage_at(s).output, "tensorize"};
        return;
    }
    n.intrinsic = static_cast<std::int16_t>(p.of->where().intrinsics.find(name));
    n.intrinsic_ordinal = static_cast<std::int16_t>(ordinal);
    if (n.intrinsic < 0) {
        p.refuse(verdict_kind::unknown_part, ordinal).names = {name, p.of->where().name};
        return;
    }
    if (loops > max_rank) return p.refuse_capacity("tensorized loops", loops, max_rank, ordinal, p.stage_at(s).output);
    for (int at = 0; at < loops; ++at) {
        int const position = find_loop(p, s, p.of->name_at(d, at), ordinal);
        if (position < 0) return;
        if (n.axis_of_loop(position).trips >= 0)
            return p.refuse(verdict_kind::loop_order, rule::run_time_loop, {n.axis_of_loop(position).name}, ordinal);
        if (position < n.depth - loops) {
            auto const is_named = [&](int loop) {
                bool found = false;
                for (int other = 0; other < loops; ++other) found |= n.axis_of_loop(loop).name == p.of->name_at(d, other);
                return found;
            };
            int inner = n.depth - 1;
            while (inner > position + 1 && is_named(inner)) --inner;
            return p.refuse(verdict_kind::loop_order, rule::not_innermost, {p.of->name_at(d, at), n.axis_of_loop(inner).name}, ordinal);
        }
        for (int before = 0; before < at; ++before) {
            if (n.covered[before] == n.order[position]) {
                p.refuse(verdict_kind::axis_used_twice, ordinal).names = {p.of->name_at(d, at), p.stage_at(s).output};
                return;
            }
        }
        n.covered[at] = n.order[position];
    }
    n.covered_count = loops;
}

/// The value of an axis over variables. @pre the nest is complete
constexpr linear value_of(planning const& p, stage_id s, int axis) {
    nest_axis const& a = p.nest_at(s).axes[axis];
    linear value;
    if (a.is == nest_axis::role::split) {
        value.add(value_of(p, s, a.outer), a.factor);
        value.add(value_of(p, s, a.inner));
        return value;
    }
    if (a.lane_extent > 0) {
        value.add(a.lane_extent, a.variable);
        value.add(1, a.lane);
        return value;
    }
    value.add(1, a.variable);
    return value;
}

/// The extent of an axis that run time gives, if the axis does not run over a box.
constexpr variable_id trips_of_axis(writing& p, stage_id s, int position) {
    stage_axis const& a = p.stage_at(s).axes[position];
    if (!reaches_as_read(p, a)) return extent_of(p, a);
    linear all = p.form_of(p.placed(s).highest[position]);
    all.constant += 1;
    return all.count == 0 ? no_variable : count_of(p, all, 1, a.name, 0);
}

/// Builds the loops of stage `s`, whose axes run over `extents`, by its directives in their order.
/// @param boxed  the output's axes run over a box, not over their whole extents
constexpr void build_loops(placing& p, stage_id s, fixed_array<std::int64_t, stage::most_axes> const& extents, bool boxed) {
    stage const& st = p.stage_at(s);
    nest& n = p.nest_at(s);
    for (int position = 0; position < st.axis_count; ++position) {
        stage_axis const& a = st.axes[position];
        nest_axis made{.name = a.name, .extent = extents[position], .reduction = a.reduction};
        if (a.run_time && (!boxed || position >= st.rank)) made.trips = trips_of_axis(p, s, position);
        n.order[position] = static_cast<std::int16_t>(add_axis(p, s, made, 0));
    }
    n.depth = st.axis_count;
    int current = p.plan.stages.count - 1;
    for (int at = 0; at < p.of->directive_count() && !p.refused(); ++at) {
        directive const& d = p.of->directive_at(at);
        auto const name = [&](int position) { return p.of->name_at(d, position); };
        int const ordinal = at + 1;
        if (d.kind == directive_kind::stage) current = p.producer_of(name(0));
        if (current != s) continue;
        switch (d.kind) {
            case directive_kind::split: {
                int const position = find_loop(p, s, name(0), ordinal);
                if (position >= 0) split_loop(p, s, position, {name(1), name(2), d.factors[0]}, ordinal);
                break;
            }
            case directive_kind::tile: {
                int position = find_loop(p, s, name(0), ordinal);
                if (position >= 0) split_loop(p, s, position, {name(2), name(4), d.factors[0]}, ordinal);
                if (!p.refused()) position = find_loop(p, s, name(1), ordinal);
                if (!p.refused()) split_loop(p, s, position, {name(3), name(5), d.factors[1]}, ordinal);
                fixed_array<label, 4> const order{name(2), name(3), name(4), name(5)};
                if (!p.refused()) reorder_loops(p, s, order.elements, 4, ordinal);
                break;
            }
            case directive_kind::fuse: fuse_loops(p, s, name(0), name(1), name(2), ordinal); break;
            case directive_kind::reorder: reorder_loops(p, s, &p.of->name_at(d, 0), d.name_count, ordinal); break;
            case directive_kind::unroll:
            case directive_kind::parallel:
            case directive_kind::vectorize: mark_loop(p, s, d, name(0), ordinal); break;
            case directive_kind::distribute: distribute_loop(p, s, d, ordinal); break;
            case directive_kind::tensorize: tensorize_loops(p, s, d, ordinal); break;
            default: break;
        }
    }
}

/// Turns the finished nest into variables and gives every axis of the stage its value.
constexpr void finish_loops(placing& p, stage_id s) {
    nest& n = p.nest_at(s);
    stage_placement& place = p.placed(s);
    place.path_length = place.outer_depth;
    for (int position = 0; position < n.depth && !p.refused(); ++position) {
        nest_axis& a = n.axis_of_loop(position);
        a.variable = p.add(variable{.name = a.name,
                                    .extent = a.lane_extent > 0 ? (a.extent - 1) / a.lane_extent + 1 : a.extent,
                                    .reduction = a.reduction,
                                    .unrolled = a.unrolled,
                                    .vectorized = a.vectorized,
                                    .parallel = a.parallel,
                                    .distributed = a.distributed,
                                    .trips = a.trips});
        if (a.lane_extent > 0) {
            a.lane = p.add(variable{.name = a.name, .extent = a.lane_extent, .kind = variable_kind::lane, .reduction = a.reduction});
        }
        if (place.path_length == static_cast<int>(place.path.size()))
            return p.refuse_capacity("nested loops", place.path_length + 1, place.path_length, 0, p.stage_at(s).output);
        place.path[place.path_length++] = a.variable;
    }
    // Fused axes name their whole by position, and the whole comes later in the list: go from the last to the first.
    for (int at = n.axes.size() - 1; at >= 0 && !p.refused(); --at) {
        nest_axis& a = n.axes[at];
        if (a.is != nest_axis::role::fused) continue;
        a.variable = p.add(variable{.name = a.name,
                                    .extent = a.extent,
                                    .kind = variable_kind::component,
                                    .reduction = a.reduction,
                                    .trips = a.trips,
                                    .fused = p.keep(value_of(p, s, a.outer)),
                                    .divisor = a.modulus == 0 ? a.factor : 1,
                                    .modulus = a.modulus});
    }
}

}  // namespace tilewright::detail
