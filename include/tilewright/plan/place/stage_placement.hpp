#pragma once
#include <tilewright/plan/place/buffers.hpp>
#include <tilewright/plan/place/match.hpp>

// Where every stage stands, and which of its loops the program holds.
namespace tilewright::detail {

/// What the loops of stage `s` run past: ends of tiles and of axes.
constexpr void add_limits(writing& p, stage_id s) {
    nest const& n = p.nest_at(s);
    stage_placement const& place = p.placed(s);
    // Forms end one past the last value of an axis, or of the part of it that is needed.
    auto const moving = [&](linear const& form) {  // without loops of one iteration
        linear rest;
        rest.constant = form.constant;
        for (int at = 0; at < form.count; ++at) {
            term const& t = form.terms[at];
            if (p.var(t.variable).extent > 1 || p.var(t.variable).trips >= 0) rest.add(t.coefficient, t.variable);
        }
        return rest;
    };
    auto const is_known = [&](linear const& form, std::int64_t bound) {
        for (int at = 0; at < p.plan.limits.count; ++at) {
            limit const& l = p.plan.limits[at];
            linear const known = moving(p.form_of(l.form));
            if (l.stage == s && l.bound - known.constant == bound - form.constant && known.same_terms(form)) return true;
        }
        return false;
    };
    auto const add = [&](linear const& form, std::int64_t bound, bool reduction) {
        if (highest_of(p, form) >= bound && !p.refused() && !is_known(moving(form), bound))
            p.add(limit{p.keep(form), bound, s, no_variable, reduction});
    };
    for (int axis = 0; axis < n.axes.size() && n.partial; ++axis) {
        nest_axis const& a = n.axes[axis];
        if (a.is != nest_axis::role::split && a.lane_extent == 0) continue;
        linear form = value_of(p, s, axis);
        std::int64_t const end = end_before(form, a);
        add(form, end, a.reduction);
    }
    // For a partial tile of its reader, a producer computes more than the reader needs.
    for (int dimension = 0; dimension < p.stage_at(s).rank && place.at_stage >= 0; ++dimension) {
        linear negative;
        negative.add(place.axis_values[dimension], -1);
        linear beyond = place.axis_values[dimension];
        std::int64_t const highest = take_highest(p, place.highest[dimension], beyond);
        add(beyond, highest + 1, false);
        add(negative, 1 - place.lowest[dimension], false);
    }
}

/// Where a stage stands, how large it is there, and its loops.
class stage_placer {
  public:
    constexpr stage_placer(placing& p, stage_id s)
        : p_(p), s_(s), st_(p.stage_at(s)), place_(p.placed(s)), needed_{.rank = p.stage_at(s).rank} {}

    constexpr void place() {
        if (place_.at_ordinal != 0) find_loop();
        if (p_.refused()) return;
        keep_highest();
        for (stage_id consumer{stage_id(s_ + 1)}; consumer < p_.plan.stages.count; ++consumer) add_reader(consumer);
        if (is_read_) check_domain();
        if (p_.refused()) return;
        if (needed_.open >= 0) return refuse_open_box(p_, st_.output, needed_.open, place_.at_stage, place_.outer_depth, place_.at_ordinal);
        if (place_.at_stage < 0) take_whole();
        make_loops();
        if (p_.refused() || place_.home >= 0) return;
        add_room();
        if (place_.at_stage < 0) check_bounds();
        if (!p_.refused()) give_home();
    }

  private:
    constexpr bool is_last() const { return s_ == p_.plan.stages.count - 1; }
    /// Whether an axis of the stage goes as far as later stages read it.
    constexpr bool is_as_read(int axis) const { return st_.axes[axis].run_time && reaches_as_read(p_, st_.axes[axis]); }

    /// Finds the loop that `compute_at` names: a loop of a stage that reads it, or of one that holds such a stage.
    constexpr void find_loop() {
        if (is_last()) return p_.refuse(verdict_kind::misplaced_directive, rule::without_consumer, {st_.output}, place_.at_ordinal);
        fixed_array<bool, plan_value::most_stages> holds_reader{};
        for (stage_id consumer{stage_id(s_ + 1)}; consumer < p_.plan.stages.count; ++consumer) {
            if (!p_.reads(consumer, st_.output)) continue;
            for (stage_id t = consumer; t >= 0; t = p_.placed(t).at_stage) holds_reader[t] = true;
        }
        for (stage_id t{stage_id(s_ + 1)}; t < p_.plan.stages.count && place_.at_stage < 0; ++t) {
            int const position = holds_reader[t] ? p_.nest_at(t).position_of(place_.at_loop) : -1;
            if (position < 0) continue;
            place_.at_stage = t;
            place_.level = p_.nest_at(t).axis_of_loop(position).variable;
            place_.outer_depth = p_.placed(t).outer_depth + position + 1;
            place_.path = p_.placed(t).path;
        }
        if (place_.at_stage < 0)
            p_.refuse(verdict_kind::unknown_axis, place_.at_ordinal).names = {place_.at_loop, p_.stage_at(s_ + 1).output};
    }

    constexpr void keep_highest() {
        for (int axis = 0; axis < st_.axis_count; ++axis) {
            stage_axis const& a = st_.axes[axis];
            affine& highest = place_.highest[axis];
            highest.constant = a.extent - 1;
            if (!a.run_time || reaches_as_read(p_, a)) continue;
            linear value;
            value.constant = -1;
            value.add(1, extent_of(p_, a));
            highest = p_.keep(value);
        }
    }

    /// Adds what a later stage reads to what is needed. All readers must stand inside the same loops.
    constexpr void add_reader(stage_id consumer) {
        bool inside = true;
        for (int depth = 0; depth < place_.outer_depth; ++depth) {
            inside &= depth < p_.placed(consumer).path_length && p_.placed(consumer).path[depth] == place_.path[depth];
        }
        p_.each_access(consumer, [&](node_id node) {
            if (p_.plan.what.nodes[node].name != st_.output || p_.refused()) return;
            if (!inside) {
                return p_.refuse(verdict_kind::loop_order, rule::read_outside, {place_.at_loop, p_.stage_at(consumer).output},
                                 place_.at_ordinal);
            }
            int const wrong = widen(p_, needed_, consumer, node, place_.outer_depth);
            if (wrong >= 0) return refuse_box(p_, st_.output, wrong, consumer, place_.outer_depth, place_.at_ordinal);
            add_steps(consumer, node);
            for (int dimension = 0; dimension < st_.rank; ++dimension) add_range(consumer, node, dimension);
            is_read_ = true;
        });
    }
    /// Adds what steps of an intrinsic read of a stage that is computed once, idle lanes included.
    constexpr void add_steps(stage_id consumer, node_id node) {
        box one{.rank = st_.rank};
        bool const by_steps = place_.outer_depth == 0 && p_.nest_at(consumer).intrinsic >= 0 && !is_padded(p_.plan.what, node);
        if (!by_steps || widen(p_, one, consumer, node, 0) >= 0 || one.open >= 0) return;
        for (int dimension = 0; dimension < st_.rank; ++dimension) {
            std::int64_t const first = one.at[dimension].constant, last = first + one.extents[dimension] - 1;
            if (first < stepped_[dimension].low) stepped_[dimension].low = first;
            if (last > stepped_[dimension].high) stepped_[dimension].high = last;
        }
    }
    constexpr void add_range(stage_id consumer, node_id node, int dimension) {
        planning::index_range& whole = all_[dimension];
        planning::index_range const one = p_.range_of_index(consumer, node, dimension);
        if (one.open >= 0 || (is_read_ && !whole.high.same_terms(one.high))) open_ = true;
        std::int64_t const high = is_read_ && whole.high.constant > one.high.constant ? whole.high.constant : one.high.constant;
        whole.low = is_read_ && whole.low < one.low ? whole.low : one.low;
        whole.high = one.high;
        whole.high.constant = high;
    }

    /// Checks that the stage computes all that is read.
    constexpr void check_domain() {
        for (int dimension = 0; dimension < st_.rank; ++dimension) {
            std::int64_t const low = all_[dimension].low;
            linear above = all_[dimension].high;
            std::int64_t const furthest =
                is_as_read(dimension) ? highest_of(p_, above) : take_highest(p_, place_.highest[dimension], above);
            std::int64_t const high = highest_of(p_, above);
            if (place_.at_stage >= 0) place_.lowest[dimension] = low;
            if (place_.at_stage >= 0 || is_as_read(dimension)) place_.highest[dimension] = p_.keep(all_[dimension].high);
            if (low >= 0 && high <= furthest && !open_) continue;
            if (open_ || above.count > 0) {
                p_.refuse(verdict_kind::run_time_domain).names = {st_.output, st_.axes[dimension].name};
                return;
            }
            verdict& v = p_.refuse(verdict_kind::outside_domain);
            v.names = {st_.output};
            v.facts = {fact{fact_kind::dimension, dimension}, fact{fact_kind::from, low}, fact{fact_kind::to, high},
                       fact{fact_kind::limit, furthest}};
        }
    }
    /// Places a stage that is computed once: all of it is computed.
    constexpr void take_whole() {
        needed_.at = {};
        for (int dimension = 0; dimension < st_.rank; ++dimension) {
            needed_.extents[dimension] = is_as_read(dimension) ? highest_of(p_, p_.form_of(place_.highest[dimension])) + 1  //
                                                               : st_.axes[dimension].extent;
        }
    }

    constexpr void make_loops() {
        fixed_array<std::int64_t, stage::most_axes> extents{};
        for (int position = 0; position < st_.axis_count; ++position) {
            extents[position] = position < st_.rank ? needed_.extents[position] : st_.axes[position].extent;
        }
        build_loops(p_, s_, extents, place_.at_stage >= 0);
        if (!p_.refused() && p_.nest_at(s_).intrinsic >= 0) cover_loops(p_.nest_at(s_));
        if (!p_.refused()) finish_loops(p_, s_);
        for (int position = 0; position < st_.axis_count && !p_.refused(); ++position) {
            linear& value = place_.axis_values[position];
            value = value_of(p_, s_, position);
            if (position < st_.rank) value.add(needed_.at[position]);
        }
        if (!p_.refused()) add_limits(p_, s_);
    }
    /// How much of each loop one step of the stage's intrinsic covers.
    constexpr void cover_loops(nest& n) {
        matching found;
        if (match_intrinsic(p_, s_, n.intrinsic, found)) return;
        for (int axis = 0; axis < found.semantics.axis_count; ++axis) {
            nest_axis& covered = n.axes[found.loop_of_axis[axis]];
            covered.lane_extent = found.semantics.axes[axis].extent;
            covered.flexible = p_.of->where().intrinsics[n.intrinsic].is_flexible(axis);
            if (covered.flexible && covered.extent < covered.lane_extent) covered.lane_extent = covered.extent;
            n.partial |= covered.extent % covered.lane_extent != 0;
        }
    }

    /// Makes room in the buffer for what a step of an intrinsic covers beyond the end, and for what steps of readers reach beyond its ends.
    constexpr void add_room() {
        for (int dimension = 0; dimension < st_.rank && p_.nest_at(s_).partial; ++dimension) {
            std::int64_t const padded = spread_of(p_, s_, dimension, place_.outer_depth).padded;
            if (padded > needed_.extents[dimension]) needed_.extents[dimension] = padded;
        }
        for (int dimension = 0; dimension < st_.rank && place_.at_stage < 0; ++dimension) {
            if (stepped_[dimension].high >= needed_.extents[dimension]) needed_.extents[dimension] = stepped_[dimension].high + 1;
            needed_.at[dimension].constant = stepped_[dimension].low;
            needed_.extents[dimension] -= stepped_[dimension].low;
        }
    }
    /// Checks that a buffer of the plan has a bound, whatever run time says.
    constexpr void check_bounds() {
        for (int dimension = 0; dimension < st_.rank && !p_.refused(); ++dimension) {
            affine const& highest = place_.highest[dimension];
            for (int t = 0; t < highest.count && !p_.refused(); ++t) {
                int const extent = p_.plan.term_at(highest, t).variable;
                if (is_open(p_, extent))
                    p_.refuse(verdict_kind::run_time_box, place_.store_ordinal).names = {st_.output, p_.var(extent).name, "the kernel"};
            }
        }
    }
    constexpr void give_home() {
        if (place_.store_memory < 0) {
            p_.refuse(verdict_kind::no_memory, place_.at_ordinal).names = {st_.output};
            return;
        }
        place_.home = add_planned(
            p_, {st_.output, place_.store_memory, st_.type, place_.store_ordinal, place_.store_layout, place_.store_layout_ordinal},
            needed_);
        if (is_last()) p_.buffer_at(place_.home).kind = buffer_kind::result;
    }

    placing& p_;
    stage_id s_;
    stage const& st_;
    stage_placement& place_;
    box needed_;                                          // by its readers
    fixed_array<range, max_rank> stepped_{};              // what steps of intrinsics read, idle lanes included
    fixed_array<planning::index_range, max_rank> all_{};  // what is read of each dimension
    bool is_read_ = false;
    bool open_ = false;  // only run time could say which access goes furthest
};

constexpr void place_stage(placing& p, stage_id s) { stage_placer(p, s).place(); }

/// The program holds every loop in which something is staged or computed, all loops of a tensorized stage, and the loops around these.
constexpr void choose_owned_loops(placing& p) {
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        stage_placement& place = p.placed(s);
        nest const& n = p.nest_at(s);
        if (n.intrinsic >= 0) place.owned = n.depth;
        auto const hold = [&](int level) {
            for (int position = 0; position < n.depth; ++position) {
                if (n.axis_of_loop(position).variable == level && place.owned < position + 1) place.owned = position + 1;
            }
        };
        for (int at = 0; at < p.staging_count(); ++at) hold(p.staging_at(at).level);
        for (stage_id t{}; t < s; ++t) hold(p.placed(t).level);
        for (int position = 0; position < n.depth; ++position) {
            if (n.axis_of_loop(position).parallel || n.axis_of_loop(position).distributed) hold(n.axis_of_loop(position).variable);
        }
        // Tile bodies have loops of constant extents.
        for (int position = 0; position < n.depth && p.plan.run_time_extents > 0 && place.transfer < 0; ++position) {
            if (n.axis_of_loop(position).trips >= 0) place.owned = place.owned < position + 1 ? position + 1 : place.owned;
        }
    }
}

/// A stage that a transfer carries out has no loops of its own, except loops in which other stages are computed.
constexpr void check_transfer_stages(planning const& p) {
    for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
        stage_placement const& place = p.placed(s);
        if (place.transfer < 0) continue;
        bool directed = p.nest_at(s).intrinsic >= 0 || (place.owned == 0 && p.nest_at(s).axes.size() != p.stage_at(s).axis_count);
        for (int at = 0; at < p.staging_count(); ++at) directed |= p.staging_at(at).stage == s;
        for (int position = 0; position < p.nest_at(s).depth; ++position) {
            nest_axis const& a = p.nest_at(s).axis_of_loop(position);
            bool const moved = place.owned == 0 && p.nest_at(s).order[position] != position;
            directed |= a.vectorized || a.parallel || a.distributed || (a.unrolled && position >= place.owned) || moved;
        }
        if (directed) p.refuse(verdict_kind::misplaced_directive, rule::without_loops, {p.stage_at(s).output}, place.transfer_ordinal);
    }
}

}  // namespace tilewright::detail
