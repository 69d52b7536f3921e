#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/write/clipping.hpp>
#include <tilewright/plan/write/constant_value.hpp>
#include <tilewright/plan/write/intrinsic_steps.hpp>

// Steps of an intrinsic that reach past the end of an axis. They are computed in full: what they write there must not fall on other data,
// and what they read there must add nothing to a reduction.
namespace tilewright::detail {

/// A step of the intrinsic of stage `s` that can reach beyond an end.
struct partial_lane {
    linear axis;     ///< the value of the stage's axis that has the end, without its lane
    linear limited;  ///< likewise, of the part of it that has the end
    std::int16_t lane = -1;
    std::int64_t extent = 0, step = 0;
    bool reduction = false;
    label name{};
};

/// Refuses an end that a step of constant extents cannot keep to, and a step of this intrinsic cannot either.
constexpr void refuse_shared_end(planning const& p, stage_id s, nest_axis const& a, std::int64_t extent) {
    verdict& v = p.refuse(verdict_kind::partial_step, p.nest_at(s).intrinsic_ordinal);
    v.broken = rule::step_shares_its_end;
    v.names = {p.of->where().intrinsics[p.nest_at(s).intrinsic].name, a.name};
    v.facts = {fact{fact_kind::extent, extent}, fact{fact_kind::factor, a.lane_extent}};
}

/// Calls `visit(partial_lane)` for every end that a step reaches beyond.
template <class Visit>
constexpr void each_partial_lane(planning const& p, stage_id s, Visit&& visit) {
    nest const& n = p.nest_at(s);
    for (int at = 0; at < p.plan.limits.count && !p.refused(); ++at) {
        limit const l = p.plan.limits[at];
        if (l.stage != s || l.loop >= 0) continue;
        linear const form = p.form_of(l.form);
        for (int covered = 0; covered < n.covered_count; ++covered) {
            nest_axis const& a = n.axes[n.covered[covered]];
            std::int64_t const weight = form.coefficient_of(a.lane);
            if (weight == 0) continue;
            std::int64_t grain = 0;
            for (int t = 0; t < form.count; ++t) {
                if (form.terms[t].variable != a.lane) grain = gcd(grain, form.terms[t].coefficient);
            }
            std::int64_t const reach = (weight < 0 ? -weight : weight) * (a.lane_extent - 1);
            if (grain > reach && (l.bound - form.constant) % grain == 0) continue;
            if (a.flexible) {
                if (!ends_step(p, form, a)) refuse_shared_end(p, s, a, l.bound);
                continue;
            }
            partial_lane found{.axis = {},
                               .limited = form,
                               .lane = a.lane,
                               .extent = grain > 0 && grain <= reach ? grain / (weight < 0 ? -weight : weight) : l.bound,
                               .step = a.lane_extent,
                               .reduction = a.reduction,
                               .name = a.name};
            for (int axis = 0; axis < p.stage_at(s).axis_count; ++axis) {
                linear const& value = p.placed(s).axis_values[axis];
                if (value.coefficient_of(a.lane) != 0) found.axis = value;
            }
            visit(found);
        }
    }
}

/// How many loops of stage `s` stand around a buffer's box: the box is for one iteration of them.
constexpr int depth_of(planning const& p, stage_id s, buffer_id buffer_at) {
    for (int at = 0; at < p.staging_count(); ++at) {
        if (p.staging_at(at).buffer == buffer_at && p.staging_at(at).stage == s) return p.staging_at(at).depth;
    }
    for (stage_id t{}; t < p.plan.stages.count; ++t) {
        if (p.placed(t).home == buffer_at) return p.placed(t).outer_depth;
    }
    return 0;
}

/// Whether a buffer holds the beginning of the next part of an axis after the end of one part.
constexpr bool holds_next(planning const& p, stage_id s, partial_lane const& lane, int depth) {
    for (int t = 0; t < lane.axis.count; ++t) {
        term const& part = lane.axis.terms[t];
        if (lane.limited.coefficient_of(part.variable) != 0 || p.var(part.variable).extent == 1) continue;
        if (side_of(p, s, part.variable, depth) != side::outside) return true;
    }
    return false;
}

constexpr void refuse_partial(planning const& p, stage_id s, partial_lane const& lane, rule why, label const& tensor) {
    verdict& v = p.refuse(verdict_kind::partial_step, p.nest_at(s).intrinsic_ordinal);
    v.broken = why;
    v.names = {p.of->where().intrinsics[p.nest_at(s).intrinsic].name, lane.name, tensor};
    v.facts = {fact{fact_kind::extent, lane.extent}, fact{fact_kind::factor, lane.step}};
}

/// What an operand can hold where a step reads past the end of a reduction.
struct tail_operand {
    std::int16_t node = -1;     ///< the access of the stage …
    std::int16_t staging = -1;  ///< … and the buffer that it reads; -1: what is there is not known
    std::int16_t dimension = -1;
    scalar_type type{};
};

constexpr tail_operand operand_of(planning& p, stage_id s, partial_lane const& lane, node_id node) {
    use const& u = *p.plan.use_at(node);
    tail_operand found{.node = node, .type = p.plan.what.nodes[node].type};
    for (int dimension = 0; dimension < p.plan.what.nodes[node].argument_count; ++dimension) {
        if (p.index_form(s, node, dimension).coefficient_of(lane.lane) != 0) found.dimension = static_cast<std::int16_t>(dimension);
    }
    if (found.dimension < 0) return found;
    for (int at = 0; at < p.staging_count(); ++at) {
        staging const& st = p.staging_at(at);
        // With another tensor, a result has overwritten what was loaded.
        if (st.buffer != u.buffer || st.tensor != p.plan.what.nodes[node].name || st.writes || holds_next(p, s, lane, st.depth)) continue;
        // Nothing but this axis may move there. Otherwise one step reads past the end what another step needs.
        linear others = p.index_form(s, node, found.dimension), outside;
        range inside;
        others.add(lane.axis, -others.coefficient_of(lane.lane));
        split_at_level(p, s, others, st.depth, outside, inside);
        if (inside.low == inside.high) found.staging = static_cast<std::int16_t>(at);
    }
    return found;
}

/// Finds the transfers that fill operands of a stage so that what partial steps read beyond the end of a reduction adds nothing to it.
class fill_choice {
  public:
    constexpr fill_choice(placing& p, stage_id s) : p_(p), s_(s), st_(p.stage_at(s)), where_(p.of->where()) {}

    constexpr void run() {
        each_partial_lane(p_, s_, [&](partial_lane const& lane) {
            check_operands(lane);
            if (!p_.refused() && lane.reduction) fill(lane);
        });
    }

  private:
    using choice = fixed_array<int, matching::most>;

    constexpr computation_view semantics() const { return where_.view(where_.intrinsics[p_.nest_at(s_).intrinsic].semantics); }

    /// What a partial step reads and writes past the end must have room, and must not be data of others.
    constexpr void check_operands(partial_lane const& lane) {
        auto const check = [&](node_id node) {
            use const& u = *p_.plan.use_at(node);
            bool moves = false;
            for (int dimension = 0; dimension < p_.plan.what.nodes[node].argument_count; ++dimension)
                moves |= p_.index_form(s_, node, dimension).coefficient_of(lane.lane) != 0;
            if (!moves || p_.refused()) return;
            if (st_.is_in_start(node) && find_start_transfer(p_, s_)) return;  // which ends where the tile does
            buffer const& b = p_.buffer_at(u.buffer);
            if (b.kind == buffer_kind::argument) return refuse_partial(p_, s_, lane, rule::step_behind_an_argument, b.tensor);
            if (node == st_.target && holds_next(p_, s_, lane, depth_of(p_, s_, u.buffer)))
                return refuse_partial(p_, s_, lane, rule::step_on_the_next_tile, b.tensor);
        };
        p_.each_access(s_, check, true);
    }

    constexpr void fill(partial_lane const& lane) {
        found_ = {};
        if (match_intrinsic(p_, s_, p_.nest_at(s_).intrinsic, found_)) return;
        count_ = 0;
        for (int at = 1; at < found_.count; ++at) operands_[count_++] = operand_of(p_, s_, lane, found_.nodes[at]);
        // The fewest fills that are enough, in the order of the machine's transfers; 0 is none.
        choice chosen{}, best{};
        int fewest = matching::most + 1;
        do {
            int fills = 0;
            for (int at = 0; at < count_; ++at) fills += chosen[at] > 0;
            if (fills < fewest && adds_nothing(chosen)) fewest = fills, best = chosen;
        } while (next(chosen));
        if (fewest > matching::most) return refuse(lane);
        for (int at = 0; at < count_; ++at) {
            int const transfer_at = best[at] - 1;
            if (transfer_at < 0) continue;
            staging& staged = p_.staging_at(operands_[at].staging);
            if (staged.fill != staging::no_fill && staged.fill != transfer_at)
                return refuse_partial(p_, s_, lane, rule::step_behind_a_reduction, staged.tensor);
            staged.fill = static_cast<std::int16_t>(transfer_at);
        }
    }
    constexpr known fill_of(int transfer_at, tail_operand const& o) {
        staging const& st = p_.staging_at(o.staging);
        return reaches_as_load(p_, st, transfer_at) ? filled_value(p_, transfer_at, st.memory, o.type) : known{};
    }
    /// Whether the semantics make the identity of the reduction out of the values that fill the operands.
    constexpr bool adds_nothing(choice const& chosen) {
        auto const value_of_access = [&](int semantic_node) -> known {
            for (int at = 1; at < found_.count; ++at) {
                if (found_.names[at] != semantics()[semantic_node].name) continue;
                int const transfer_at = chosen[at - 1] - 1;
                return transfer_at < 0 ? known{} : fill_of(transfer_at, operands_[at - 1]);
            }
            return {};
        };
        known const value = evaluate(semantics(), found_.semantics.body, value_of_access);
        return value.is && is_identity({.value = value.value}, st_.reduction, st_.type);
    }
    /// The next choice of fills, counted like a number of `count_` digits. @return false after the last one
    constexpr bool next(choice& chosen) {
        for (int at = 0; at < count_; ++at) {
            int& digit = chosen[at];
            // A buffer has one value for its fill, whichever axes end there.
            bool const open = operands_[at].staging >= 0;
            do ++digit;
            while (open && digit <= where_.transfers.size() && !fill_of(digit - 1, operands_[at]).is);
            if (open && digit <= where_.transfers.size()) return true;
            digit = 0;
        }
        return false;
    }
    /// Names an operand that the reduction moves along.
    constexpr void refuse(partial_lane const& lane) {
        label tensor = st_.output;
        rule why = rule::step_behind_a_reduction;
        for (int at = count_ - 1; at >= 0; --at) {
            tail_operand const& o = operands_[at];
            if (o.dimension < 0) continue;
            tensor = p_.plan.what.nodes[o.node].name;
            bool const holds = holds_next(p_, s_, lane, depth_of(p_, s_, p_.plan.use_at(o.node)->buffer));
            why = holds ? rule::step_on_the_next_tile : rule::step_behind_a_reduction;
        }
        refuse_partial(p_, s_, lane, why, tensor);
    }

    placing& p_;
    stage_id s_;
    stage const& st_;
    machine const& where_;
    matching found_{};
    fixed_array<tail_operand, matching::most> operands_{};
    int count_ = 0;
};

constexpr void choose_fills(placing& p, stage_id s) { fill_choice(p, s).run(); }

}  // namespace tilewright::detail
