#pragma once
#include <tilewright/plan/place/joined_rows.hpp>
#include <utility>

// Whether a loop nest computes exactly what an intrinsic or a transfer declares.
namespace tilewright::detail {

/// Why a stage and an intrinsic do not match, as the verdict shows it: a rule and its numbers, or the operations of both.
struct mismatch {
    verdict_kind kind = verdict_kind::none;
    rule broken = rule::none;
    label about{};  ///< the axis or operand of the intrinsic; what the stage has
    label other{};  ///< what the intrinsic has
    std::int64_t stage_value = 0;
    std::int64_t intrinsic_value = 0;
    bool one_number = false;
    int reached = 0;  ///< how much matched before it

    constexpr explicit operator bool() const { return kind != verdict_kind::none; }
};
constexpr mismatch differs(rule broken, label const& about, std::int64_t in_stage, std::int64_t in_intrinsic) {
    return {verdict_kind::intrinsic_mismatch, broken, about, {}, in_stage, in_intrinsic};
}
constexpr mismatch only_in_stage(rule broken, label const& about, std::int64_t value) {
    return {verdict_kind::intrinsic_mismatch, broken, about, {}, value, 0, true};
}
constexpr mismatch differs(char const* in_stage, char const* in_intrinsic) {
    return {verdict_kind::intrinsic_operation, rule::none, in_stage, in_intrinsic};
}

/// How an intrinsic's semantics lie on a stage.
struct matching {
    static constexpr int most = intrinsic_description::most_operands;

    stage semantics{};
    fixed_array<std::int16_t, max_rank> loop_of_axis{};  ///< the nest axis that each axis of the semantics covers
    fixed_array<label, most> names{};                    ///< tensors of the semantics …
    fixed_array<node_id, most> nodes{};                  ///< … and the accesses of the stage that they stand for
    fixed_array<node_id, most> semantic_nodes{};
    int count = 0;
    fixed_array<fixed_array<std::int8_t, max_rank>, most> dimension{};  ///< of the tensor, for each dimension of the operand; -1: none
    fixed_array<fixed_array<std::int64_t, max_rank>, most> factor{};
    fixed_array<joined_axis, most> joined{};  ///< of an operand that goes on from row to row

    constexpr int find(label const& tensor) const {
        for (int position = 0; position < count; ++position) {
            if (names[position] == tensor) return position;
        }
        return -1;
    }
};

struct matcher {
    planning const& p;
    stage_id s;
    intrinsic_description const& what;
    computation_view semantics;
    matching& found;

    /// How far a dimension of an access moves when the leaf `leaf` moves by one. Parts of a fused loop do not add up: an index such as
    /// y - x moves with the loop, too.
    constexpr std::int64_t coefficient(node_id node, int dimension, int leaf) const {
        stage_index const index = p.access_index(s, node, dimension);
        int const axes = p.stage_at(s).axis_count;
        std::int64_t total = 0;
        for (int axis = 0; axis < axes; ++axis) {
            std::int64_t const c = index.coefficients.elements[axis];
            if (c == 0) continue;
            std::int64_t const moved = leaf_coefficient(p.nest_at(s), axis, leaf);
            if (moved == not_linear) return not_linear;
            total += c * moved;
        }
        return total;
    }

    /// Whether steps cover one iteration along an axis of the semantics. Then it does not matter how far an operand would move along it.
    constexpr bool is_one_iteration(int axis) const {
        return what.is_flexible(axis) && p.nest_at(s).axes[found.loop_of_axis[axis]].extent == 1;
    }

    /// Whether dimensions of an operand that lie in one of the stage's, as windows that overlap do, move it by what they move it together.
    /// Only what is read may overlap.
    constexpr bool may_overlap(node_id node, node_id other, int binding, int dimension) const {
        if (node == p.stage_at(s).target) return false;
        for (int axis = 0; axis < found.semantics.axis_count; ++axis) {
            std::int64_t wanted = 0;
            for (int at = 0; at < semantics[other].argument_count; ++at) {
                if (found.dimension[binding][at] != dimension) continue;
                wanted += found.factor[binding][at] * index_of(semantics, found.semantics, other, at).coefficients[axis];
            }
            if (!is_one_iteration(axis) && coefficient(node, dimension, found.loop_of_axis[axis]) != wanted) return false;
        }
        return true;
    }

    /// Compares the indices of the stage's access at `node` with those of the semantics' access at `other`, up to a base and strides.
    constexpr mismatch match_access(node_id node, node_id other, int binding) const {
        stage const& sem = found.semantics;
        label const &name = semantics[other].name, &name_in_stage = p.plan.what.nodes[node].name;
        int const rank = p.plan.what.nodes[node].argument_count;
        fixed_array<int, max_rank> along{};             // of the operand's dimensions, how many lie in each of the stage's
        fixed_array<std::uint16_t, max_rank> moving{};  // the axes that move them: a bit for each
        set_all(found.dimension[binding], -1), found.joined[binding] = {};
        if (p.computes_index(s, node)) return differs(rule::instruction_at_computed_index, name_in_stage, 0, 0);
        for (int operand_dimension = semantics[other].argument_count - 1; operand_dimension >= 0; --operand_dimension) {
            stage_index const index = index_of(semantics, sem, other, operand_dimension);
            if (index.constant != 0) return differs(rule::operand_with_offset, name, 0, index.constant);
            int where = -1;
            std::int64_t factor = 0;
            for (int axis = 0; axis < sem.axis_count; ++axis) {
                std::int64_t const wanted = index.coefficients[axis];
                if (wanted == 0) continue;
                for (int dimension = 0; dimension < rank; ++dimension) {
                    std::int64_t have = coefficient(node, dimension, found.loop_of_axis[axis]);
                    if (have == 0) continue;
                    if (have == not_linear) {
                        joined_rows const rows = joined_rows_of(p, s, node, found.loop_of_axis[axis]);
                        joined_axis& joined = found.joined[binding];
                        bool const is_other = joined.row > 0 && joined.axis != axis;
                        if (rows.dimension < 0 || wanted != 1 || is_other) return differs(rule::covered_by_a_fused_loop, name, 0, wanted);
                        joined = {rows.row, static_cast<std::int8_t>(axis), static_cast<std::int8_t>(operand_dimension)};
                        moving[dimension] |= static_cast<std::uint16_t>(1 << axis);
                        if (dimension != rows.dimension) continue;
                        have = 1;
                    }
                    if (have < 0 || have % wanted != 0 || (where == dimension && factor != have / wanted))
                        return differs(rule::other_index, name, have, wanted);
                    if (where >= 0 && where != dimension) return differs(rule::axis_in_two_dimensions, name, where, dimension);
                    where = dimension;
                    factor = have / wanted;
                }
                if (where < 0 && !is_one_iteration(axis)) return differs(rule::other_index, name, 0, wanted);
            }
            if (where < 0) continue;
            found.dimension[binding][operand_dimension] = static_cast<std::int8_t>(where);
            found.factor[binding][operand_dimension] = factor;
            ++along[where];
            for (int axis = 0; axis < sem.axis_count; ++axis)
                if (index.coefficients[axis] != 0) moving[where] |= static_cast<std::uint16_t>(1 << axis);
            bool const last = operand_dimension == semantics[other].argument_count - 1;
            // With a layout, the buffer decides: see `keep_operands`.
            if (last && !p.has_layout(s, name_in_stage, node == p.stage_at(s).target) && (where != rank - 1 || factor != 1)) {
                return where == rank - 1 ? differs(rule::neighbours_apart, name, factor, 1)
                                         : differs(rule::not_contiguous, name, where, rank - 1);
            }
        }
        // Nothing else may move the tensor's index.
        for (int dimension = 0; dimension < rank; ++dimension) {
            if (along[dimension] > 1 && !may_overlap(node, other, binding, dimension))
                return differs(rule::dimensions_in_one, name, 1, along[dimension]);
            for (int axis = 0; axis < sem.axis_count; ++axis) {
                if ((moving[dimension] >> axis & 1) != 0) continue;
                std::int64_t const have = coefficient(node, dimension, found.loop_of_axis[axis]);
                if (have == not_linear) return differs(rule::covered_by_a_fused_loop, name, 0, 0);
                if (have != 0) return differs(rule::other_index, name, have, 0);
            }
        }
        return {};
    }

    /// Binds the operand at `other` to the stage's access at `node`, or finds that it is bound to the same.
    constexpr mismatch bind(node_id node, node_id other) const {
        ir::node const& a = p.plan.what.nodes[node];
        ir::node const& b = semantics[other];
        int const known = found.find(b.name);
        if (known >= 0) {
            bool const same = same_tree(p.plan.what, found.nodes[known], node) && same_tree(semantics, found.semantic_nodes[known], other);
            return same ? mismatch{} : mismatch{verdict_kind::intrinsic_mismatch, rule::one_operand_for_two, b.name, a.name};
        }
        mismatch const wrong = match_access(node, other, found.count);
        if (wrong) return wrong;
        int const next = found.count++;
        found.names[next] = b.name;
        found.nodes[next] = node;
        found.semantic_nodes[next] = other;
        return {};
    }
    /// What still has to match: a node of the stage and a node of the semantics.
    struct goal {
        node_id node{};
        node_id other{};
        std::int16_t next = -1;
    };
    /// Where the second order of commuted operands can still be tried.
    struct choice {
        std::int16_t goal = 0;
        std::int16_t goals = 0;
        std::int16_t bound = 0;
    };
    /// The goals of a try, as lists with common ends. Goals that have matched stay: a pair that comes again is not walked again, so shared
    /// subexpressions cost no more than their nodes.
    struct goal_list {
        static constexpr int most = 512, most_choices = 64;
        part_pool<goal, most> all{};
        part_pool<choice, most_choices> choices{};
        fixed_array<std::int16_t, max_semantics> latest{};  ///< of each node of the semantics: 1 more than the position of its latest goal
        int first = -1;

        constexpr void push(node_id node, node_id other) {
            std::int16_t& behind = latest[other];
            if (behind > 0 && behind <= all.size()) {
                goal const& known = all[behind - 1];
                if (known.node == node && known.other == other) return;
            }
            first = all.push({node, other, static_cast<std::int16_t>(first)});
            behind = static_cast<std::int16_t>(all.size());
        }
        constexpr bool is_full() const { return all.size() + max_rank > most || choices.full(); }
        constexpr void clear() {
            all.shrink(0);
            choices.shrink(0);
            first = -1;
        }
    };
    /// The arguments of two nodes have to match, with those of the stage as they are written or exchanged.
    constexpr void open_arguments(goal_list& goals, int at, bool swapped) const {
        goal const of = goals.all[at];
        ir::node const &a = p.plan.what.nodes[of.node], &b = semantics[of.other];
        goals.first = of.next;
        for (int argument = a.argument_count - 1; argument >= 0; --argument)
            goals.push(a.argument(swapped ? 1 - argument : argument), b.argument(argument));
    }
    /// Matches the first goal. Its arguments take its place.
    constexpr mismatch match_first(goal_list& goals) const {
        int const at = goals.first;
        goal const of = goals.all[at];
        ir::node const &a = p.plan.what.nodes[of.node], &b = semantics[of.other];
        goals.first = of.next;
        if (a.op != b.op) return differs(name_of(a.op), name_of(b.op));
        if (a.type != b.type) return differs(name_of(a.type), name_of(b.type));
        if (a.op == operation::constant) {
            if (a.value == b.value) return {};
            return is_float(a.type) ? differs("a constant", "another constant")
                                    : differs(rule::other_constant, name_of(a.type), a.value, b.value);
        }
        if (a.op == operation::access) return bind(of.node, of.other);
        if (is_commutative(a.op, a.type)) {
            ir::node const &left = semantics[b.argument(0)], &right = p.plan.what.nodes[a.argument(1)];
            // If the first operands differ by themselves, an exchange leads nowhere.
            if (left.op == right.op && left.type == right.type)
                goals.choices.push(
                    {static_cast<std::int16_t>(at), static_cast<std::int16_t>(goals.all.size()), static_cast<std::int16_t>(found.count)});
        }
        open_arguments(goals, at, false);
        return {};
    }
    /// Matches all goals. If an order of commuted operands leads nowhere, gives it up for the other one, with all that it has bound.
    /// @return what is wrong where most of the operands were bound; `reached` says how many
    constexpr mismatch match_all(goal_list& goals) const {
        mismatch closest{};
        while (goals.first >= 0) {
            if (goals.is_full()) {
                p.refuse_capacity("pairs of nodes", goal_list::most + 1, goal_list::most, p.nest_at(s).intrinsic_ordinal);
                return differs(rule::other_number_of_loops, {}, 0, 0);
            }
            mismatch wrong = match_first(goals);
            if (!wrong) continue;
            wrong.reached = found.count;
            if (!closest || wrong.reached > closest.reached) closest = wrong;
            int const choices = goals.choices.size();
            if (choices == 0) return closest;
            choice const back = goals.choices[choices - 1];
            goals.choices.shrink(choices - 1);
            goals.all.shrink(back.goals);
            found.count = back.bound;
            open_arguments(goals, back.goal, true);
        }
        return {};
    }
};

constexpr char const* start_name(stage const& s) { return s.start >= 0 ? "a value to start from" : "the identity to start from"; }
constexpr char const* reduction_name(operation reduction) { return reduction == operation::constant ? "no reduction" : name_of(reduction); }

/// Whether a form of an intrinsic takes the steps that another one takes of a loop.
constexpr bool takes_step(intrinsic_description const& what, stage const& semantics, int axis, nest_axis const& loop) {
    std::int64_t const extent = semantics.axes[axis].extent;
    return what.is_flexible(axis) ? extent >= loop.lane_extent : extent == loop.lane_extent && !loop.flexible;
}

/// Whether an intrinsic continues from the contents of what it writes.
constexpr bool accumulates(intrinsic_description const& what, stage const& semantics) {
    int const target = what.find(semantics.output);
    return target >= 0 && semantics.reduces() && what.operands[target].is == direction::updates;
}

/// Whether the value alone is the first step of a reduction. Of floating point, 0 + -0.0 is 0.0, and a maximum passes over a NaN.
constexpr bool begins_reduction(stage const& st, stage const& semantics) {
    return st.reduces() && !semantics.reduces() && st.start < 0 && !is_float(st.type);
}

/// Whether stage `s` computes what the semantics `view` declare, if its covered loops stand for the axes as `found.loop_of_axis` says.
constexpr mismatch match_semantics(planning const& p, stage_id s, intrinsic_description const& what, computation_view view, matching& found,
                                   matcher::goal_list& goals) {
    stage const& st = p.stage_at(s);
    nest const& n = p.nest_at(s);
    stage const& sem = found.semantics;
    auto const loop_for = [&](int axis) -> nest_axis const& { return n.axes[found.loop_of_axis[axis]]; };
    auto const after = [](int reached, mismatch wrong) {
        wrong.reached = wrong ? reached : 0;
        return wrong;
    };
    for (int axis = 0; axis < sem.axis_count; ++axis) {
        bool const wanted = sem.axes[axis].reduction;
        if (loop_for(axis).reduction == wanted) continue;
        return wanted ? differs("an output loop", "a reduction") : differs("a reduction", "an output loop");
    }
    // Other forms of the chosen intrinsic take the same steps.
    bool is_other_form = false;
    for (int axis = 0; axis < sem.axis_count; ++axis) {
        std::int64_t const step = loop_for(axis).lane_extent;
        is_other_form |= step > 0;
        if (step > 0 && !takes_step(what, sem, axis, loop_for(axis))) return {.kind = verdict_kind::intrinsic_mismatch};
    }
    if (st.type != sem.type) return after(1, differs(name_of(st.type), name_of(sem.type)));
    if (st.reduction != sem.reduction && !(is_other_form && begins_reduction(st, sem)))
        return after(1, differs(reduction_name(st.reduction), reduction_name(sem.reduction)));
    // Steps that continue do not say what the first step starts from.
    bool const continues = accumulates(what, sem);
    if (!continues && (st.start >= 0) != (sem.start >= 0)) return after(1, differs(start_name(st), start_name(sem)));
    matcher const m{p, s, what, view, found};
    found.count = 0;
    mismatch const wrong = m.match_access(st.target, sem.target, 0);
    if (wrong) return after(2, wrong);
    found.names[0] = sem.output;
    found.nodes[0] = st.target;
    found.semantic_nodes[0] = sem.target;
    found.count = 1;
    goals.clear();
    if (sem.start >= 0) goals.push(st.start, sem.start);
    goals.push(st.body, sem.body);
    mismatch const in_body = m.match_all(goals);
    return after(2 + in_body.reached, in_body);
}

/// Whether the extents of an intrinsic divide those of the loops that it covers.
constexpr bool whole_steps(nest const& n, intrinsic_description const& what, matching const& found) {
    for (int axis = 0; axis < found.semantics.axis_count; ++axis) {
        nest_axis const& loop = n.axes[found.loop_of_axis[axis]];
        if (!what.is_flexible(axis) && loop.extent % found.semantics.axes[axis].extent != 0) return false;
    }
    return true;
}

/// Whether every operand of an intrinsic that lies on a stage as `found` says is in the memory that it is taken from.
constexpr bool takes_operands_where_they_lie(planning const& p, int intrinsic_at, matching const& found) {
    intrinsic_description const& what = p.of->where().intrinsics[intrinsic_at];
    for (int position = 0; position < what.operand_count; ++position) {
        int const binding = found.find(what.operands[position].tensor);
        use const* const of = binding < 0 ? nullptr : p.plan.use_at(found.nodes[binding]);
        if (of != nullptr && p.buffer_at(of->buffer).memory != memory_under(p.of->where(), what.operands[position].memory_name))
            return false;
    }
    return true;
}

/// Tries the covered loops of stage `s` for the axes of an intrinsic, first in the order they were named, then in every other order. Orders
/// that take every operand from its memory go before others, and of these, orders with whole steps before orders with a partial last step.
/// @return what is wrong in the order that matches best, the first among equals
constexpr mismatch match_intrinsic(planning const& p, stage_id s, int intrinsic_at, matching& found) {
    machine const& where = p.of->where();
    computation_view const view = where.view(where.intrinsics[intrinsic_at].semantics);
    nest const& n = p.nest_at(s);
    found.semantics = p.parts.semantics[intrinsic_at];
    if (n.covered_count != found.semantics.axis_count)
        return differs(rule::other_number_of_loops, {}, n.covered_count, found.semantics.axis_count);
    fixed_array<int, max_rank> order{0, 1, 2, 3, 4, 5};
    mismatch closest{};
    matcher::goal_list goals;
    matching best;  // the first order of the highest rank that matches
    int highest = 0;
    for (bool more = true; more;) {
        for (int axis = 0; axis < n.covered_count; ++axis) {
            found.loop_of_axis[axis] = n.covered[order[axis]];
        }
        mismatch const wrong = match_semantics(p, s, where.intrinsics[intrinsic_at], view, found, goals);
        if (!wrong) {
            bool const lie = takes_operands_where_they_lie(p, intrinsic_at, found);
            bool const whole = whole_steps(n, where.intrinsics[intrinsic_at], found) || n.axes[found.loop_of_axis[0]].lane_extent > 0;
            if (lie && whole) return {};
            int const rank = 1 + (whole ? 1 : 0) + (lie ? 2 : 0);
            if (rank > highest) highest = rank, best = found;
        }
        if (!closest || wrong.reached > closest.reached) closest = wrong;
        // The next permutation in lexicographic order.
        more = false;
        for (int at = n.covered_count - 2; at >= 0 && !more; --at) {
            if (order[at] > order[at + 1]) continue;
            int last = n.covered_count - 1;
            while (order[last] < order[at]) --last;
            std::swap(order[at], order[last]);
            for (int low = at + 1, high = n.covered_count - 1; low < high; ++low, --high) std::swap(order[low], order[high]);
            more = true;
        }
    }
    if (highest > 0) found = best;
    return highest > 0 ? mismatch{} : closest;
}

}  // namespace tilewright::detail
