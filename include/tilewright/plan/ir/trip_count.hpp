#pragma once
#include <tilewright/plan/ir/forms.hpp>

// How often loops run if limits end them early, and what they move.
namespace tilewright::detail {

using namespace ir;

/// Counts the iterations that limits leave of some loops, by how much a movement moves in each.
///
/// Loops that no limit or clip connects are counted apart: the time grows with the tiles of one axis, not with those of all.
class trip_count {
  public:
    struct amount {
        std::int64_t elements;  ///< that one iteration moves
        std::int64_t times;
    };
    static constexpr int most_amounts = 64, most_coverages = 256;

    constexpr explicit trip_count(plan_value const& plan) : plan_(plan) {}

    constexpr void add_loop(int variable_at) { add(variable_at, 0, variable_of(variable_at).extent); }
    /// A loop that stands at `value`.
    constexpr void add_loop_at(int variable_at, std::int64_t value) { add(variable_at, value, 1); }
    /// @pre all loops are added
    constexpr void add_limit(limit const& l) {
        limits_[limit_count_++] = l;
        connect(form_of(plan_, l.form), -1);
    }
    constexpr void add_movement(movement const& m) {
        moved_ = &m;
        fixed_array<int, max_rank + 1> of_dimension{};
        set_all(of_dimension, -1);
        for (int at = 0; at < m.clip_count; ++at) {
            clip const& c = clip_at(at);
            if (pads(c.is)) continue;
            limited_ = true;
            linear const form = form_of(plan_, c.form);
            has_beyond_ |= c.is == clip_kind::beyond;
            beyond_always_ |= c.is == clip_kind::beyond && form.count == 0 && form.constant >= c.bound;
            if (c.is == clip_kind::only || c.is == clip_kind::beyond) connect(form, -1);
            else {
                int& together = of_dimension[c.dimension + 1];
                together = connect(form, together);
            }
        }
    }
    /// Steps of an intrinsic, by how much they cover of some axes.
    /// @param first, count  their `step_extent`s
    /// @param axes          a bit for each axis that is looked at
    constexpr void add_steps(int first, int count, unsigned axes) {
        first_extent_ = first, extent_count_ = count, axes_ = axes;
        for (int at = first; at < first + count; ++at) {
            step_extent const& e = plan_.step_extents[at];
            if (e.weight == 0) whole_.extents[e.axis] = e.most;
            if (!is_end(e)) continue;
            linear const form = form_of(plan_, e.form);
            if (connect(form, -1) < 0) end_at(e, form, whole_);  // no loop moves it: it ends all steps
        }
    }
    constexpr bool limited() const { return limit_count_ > 0 || limited_; }

    constexpr part_pool<amount, most_amounts> counted() {
        part_pool<amount, most_amounts> all = counted_with(false);
        if (!has_beyond_ || beyond_always_) return all;
        // Iterations beyond any end are all iterations less those within every end: so loops of different ends need not be counted
        // together.
        part_pool<amount, most_amounts> const within = counted_with(true);
        for (int at = 0; at < within.size(); ++at) put(all, within[at].elements, -within[at].times);
        return all;
    }

    /// What steps cover of each axis, and in how many iterations. For axes that are not looked at, it is what a whole step covers.
    struct coverage {
        fixed_array<std::int64_t, stage::most_axes> extents{};
        std::int64_t times = 1;
    };
    constexpr part_pool<coverage, most_coverages> counted_steps() {
        part_pool<coverage, most_coverages> all{};
        all.push(whole_);
        for (int group = 0; group < count_ && beyond_.what == nullptr; ++group) {
            if (groups_[group] != group) continue;
            part_pool<coverage, most_coverages> const mine = covered_of(group), before = all;
            all = {};
            for (int a = 0; a < before.size(); ++a) {
                for (int b = 0; b < mine.size(); ++b) {
                    coverage both = before[a];
                    coverage const& other = mine[b];
                    both.times *= other.times;
                    for (int axis = 0; axis < both.extents.size(); ++axis)
                        both.extents[axis] = other.extents[axis] < both.extents[axis] ? other.extents[axis] : both.extents[axis];
                    put(all, both);
                }
            }
        }
        return all;
    }

    /// What there was too much of to count, and how many can be counted; nothing if all went well.
    struct excess {
        char const* what = nullptr;
        int most = 0;
    };
    constexpr excess const& beyond() const { return beyond_; }

  private:
    static constexpr int most_loops = 36;

    /// @param within  leaves out iterations beyond an end; otherwise ends are not looked at
    constexpr part_pool<amount, most_amounts> counted_with(bool within) {
        part_pool<amount, most_amounts> all{};
        all.push({1, 1});
        for (int group = 0; group < count_ && beyond_.what == nullptr; ++group) {
            if (groups_[group] != group) continue;
            part_pool<amount, most_amounts> const mine = counted_of(group, within), before = all;
            all = {};
            for (int a = 0; a < before.size(); ++a) {
                for (int b = 0; b < mine.size(); ++b) put(all, before[a].elements * mine[b].elements, before[a].times * mine[b].times);
            }
        }
        if (moved_ == nullptr) return all;
        std::int64_t whole = moves_all_of(-1) ? moved_->row_elements : 1;
        for (int dimension = 0; dimension < moved_->dimension_count; ++dimension)
            whole *= moves_all_of(dimension) ? moved_->dimensions[dimension].extent : 1;
        for (int at = 0; at < all.size(); ++at) all[at].elements *= whole;
        return all;
    }

    constexpr void add(int variable_at, std::int64_t first, std::int64_t extent) {
        for (int at = 0; at < count_; ++at) {
            if (loops_[at] == variable_at) return;
        }
        if (count_ == most_loops) return give_up("nested loops", most_loops);
        loops_[count_] = static_cast<std::int16_t>(variable_at);
        firsts_[count_] = first;
        extents_[count_] = extent;
        groups_[count_] = count_;
        ++count_;
    }
    constexpr void give_up(char const* what, int most) {
        if (beyond_.what == nullptr) beyond_ = {what, most};
    }
    constexpr variable const& variable_of(int at) const { return plan_.variables[at]; }

    constexpr clip const& clip_at(int at) const { return plan_.clips[moved_->first_clip + at]; }
    /// Whether all of a dimension is moved in every call.
    constexpr bool moves_all_of(int dimension) const {
        for (int at = 0; at < moved_->clip_count; ++at) {
            clip const& c = clip_at(at);
            if (c.dimension == dimension && shortens(c.is)) return false;
        }
        return true;
    }
    constexpr std::int64_t extent_of(int dimension) const {
        return dimension < 0 ? moved_->row_elements : moved_->dimensions[dimension].extent;
    }
    constexpr void put(part_pool<amount, most_amounts>& into, std::int64_t elements, std::int64_t times) {
        if (times == 0) return;
        for (int at = 0; at < into.size(); ++at) {
            if (into[at].elements == elements) return void(into[at].times += times);
        }
        if (into.full()) return give_up("sizes of partial tiles", most_amounts);
        into.push({elements, times});
    }
    constexpr void put(part_pool<coverage, most_coverages>& into, coverage const& one) {
        if (one.times == 0) return;
        for (int at = 0; at < into.size(); ++at) {
            coverage& other = into[at];
            if (other.extents == one.extents) return void(other.times += one.times);
        }
        if (into.full()) return give_up("sizes of partial steps", most_coverages);
        into.push(one);
    }

    /// Puts the loops of a form, and those of `group`, into one group. @return it
    constexpr int connect(linear const& form, int group) {
        for (int at = 0; at < count_; ++at) {
            if (!moves_with(plan_, form, loops_[at])) continue;
            int const other = groups_[at];
            if (group < 0) group = other;
            // The name of a group is its first loop.
            int const name = group < other ? group : other, gone = group < other ? other : group;
            for (int each = 0; each < count_; ++each) {
                if (groups_[each] == gone) groups_[each] = name;
            }
            group = name;
        }
        return group;
    }
    constexpr bool in_group(linear const& form, int group) const {
        for (int at = 0; at < count_; ++at) {
            if (groups_[at] == group && moves_with(plan_, form, loops_[at])) return true;
        }
        return false;
    }

    constexpr std::int64_t value_of_form(linear const& form) const {
        std::int64_t value = form.constant;
        for (int at = 0; at < form.count; ++at) value += form.terms[at].coefficient * value_of_variable(form.terms[at].variable);
        return value;
    }
    constexpr std::int64_t value_of_variable(int at) const {
        variable const& v = variable_of(at);
        if (v.kind != variable_kind::component) return values_[at];
        std::int64_t const value = value_of_form(form_of(plan_, v.fused)) / v.divisor;
        return v.modulus == 0 ? value : value % v.modulus;
    }

    /// A limit or a clip of one group, read once.
    struct bound {
        linear form;
        std::int64_t at = 0;
        int dimension = -1;
        clip_kind is = clip_kind::only;
    };

    struct loop_group {
        fixed_array<int, most_loops> loops{};
        int size = 0;
        std::int64_t trips = 1;
    };
    constexpr loop_group loops_of(int group) const {
        loop_group found;
        for (int at = 0; at < count_; ++at) {
            if (groups_[at] != group) continue;
            found.loops[found.size++] = at;
            found.trips *= extents_[at];
        }
        return found;
    }
    constexpr void set_first(loop_group const& of) {
        for (int position = 0; position < of.size; ++position) set(of.loops[position], 0);
    }
    /// Moves the loops of a group on, except one; -1: all of them. @return false after their last iteration
    constexpr bool set_next(loop_group const& of, int left_out) {
        bool more = false;
        for (int position = 0; position < of.size && !more; ++position) {
            int const at = of.loops[position];
            if (at == left_out) continue;
            std::int64_t const next = values_[loops_[at]] + 1 - firsts_[at];
            more = next < extents_[at];
            set(at, more ? next : 0);
        }
        return more;
    }

    /// Whether an end makes steps cover less of an axis that is looked at.
    constexpr bool is_end(step_extent const& e) const { return e.weight != 0 && (axes_ >> e.axis & 1) != 0; }
    /// Shortens a step to what an end leaves of it, where the loops stand.
    constexpr void end_at(step_extent const& e, linear const& form, coverage& step) const {
        std::int64_t const left = (e.bound + e.weight - 1 - value_of_form(form)) / e.weight;
        std::int64_t& extent = step.extents[e.axis];
        extent = left < extent ? left : extent;
    }
    /// What is left of steps by the ends that loops of one group move.
    constexpr part_pool<coverage, most_coverages> covered_of(int group) {
        part_pool<coverage, most_coverages> all{};
        struct end {
            linear form;
            int at = 0;
        };
        part_pool<end, plan_value::most_step_extents> ends{};
        for (int at = first_extent_; at < first_extent_ + extent_count_; ++at) {
            step_extent const& e = plan_.step_extents[at];
            linear const form = form_of(plan_, e.form);
            if (is_end(e) && in_group(form, group)) ends.push({form, at});
        }
        if (ends.size() == 0) {
            auto const amounts = counted_of(group, false);
            coverage whole = whole_;
            whole.times = 0;
            for (int at = 0; at < amounts.size(); ++at) whole.times += amounts[at].times;
            put(all, whole);
            return all;
        }
        part_pool<bound, most_bounds> limits{};
        for (int at = 0; at < limit_count_; ++at) {
            linear const form = form_of(plan_, limits_[at].form);
            if (!in_group(form, group)) continue;
            if (limits.full()) {
                give_up("limits of partial tiles", most_bounds);
                return all;
            }
            limits.push({form, limits_[at].bound});
        }
        loop_group const mine = loops_of(group);
        set_first(mine);
        do {
            if (!holds(limits)) continue;
            coverage one = whole_;
            for (int which = 0; which < ends.size(); ++which) {
                end const& e = ends[which];
                end_at(plan_.step_extents[e.at], e.form, one);
            }
            put(all, one);
        } while (beyond_.what == nullptr && set_next(mine, -1));
        return all;
    }

    constexpr part_pool<amount, most_amounts> counted_of(int group, bool within) {
        part_pool<amount, most_amounts> all{};
        loop_group const mine = loops_of(group);
        part_pool<bound, most_bounds> bounds{};
        bool sized = false;
        auto const add = [&](bound const& b) {
            if (!in_group(b.form, group)) return;
            if (bounds.full()) return give_up("limits of partial tiles", most_bounds);
            bounds.push(b);
        };
        for (int at = 0; at < limit_count_; ++at) add({form_of(plan_, limits_[at].form), limits_[at].bound});
        for (int at = 0; moved_ != nullptr && at < moved_->clip_count; ++at) {
            clip const& c = clip_at(at);
            if (pads(c.is) || (c.is == clip_kind::beyond && !within)) continue;
            int const before = bounds.size();
            add({form_of(plan_, c.form), c.bound, c.dimension, c.is == clip_kind::beyond ? clip_kind::only : c.is});
            sized |= bounds.size() > before && c.is != clip_kind::only && c.is != clip_kind::beyond;
        }
        if (bounds.size() == 0) {
            put(all, 1, mine.trips);
            return all;
        }
        // One loop in which all bounds are linear needs no enumeration: bounds leave a range of it.
        int ranged = -1;
        for (int position = 0; position < mine.size && !sized; ++position) {
            int const at = mine.loops[position];
            bool linear_in_it = true;
            for (int b = 0; b < bounds.size() && linear_in_it; ++b) {
                linear const& form = bounds[b].form;
                for (int t = 0; t < form.count; ++t) {
                    int const variable_at = form.terms[t].variable;
                    if (variable_of(variable_at).kind != variable_kind::component) continue;
                    linear part;
                    part.add(1, variable_at);
                    linear_in_it &= !moves_with(plan_, part, loops_[at]);
                }
            }
            if (linear_in_it && (ranged < 0 || extents_[at] > extents_[ranged])) ranged = at;
        }
        set_first(mine);
        do {
            if (ranged >= 0) put(all, 1, range_of(bounds, ranged));
            else put(all, elements_of(bounds), holds(bounds) ? 1 : 0);
        } while (beyond_.what == nullptr && set_next(mine, ranged));
        return all;
    }
    /// Puts a loop at its iteration `number`.
    constexpr void set(int loop, std::int64_t number) { values_[loops_[loop]] = firsts_[loop] + number; }

    static constexpr int most_bounds = 32;
    constexpr std::int64_t range_of(part_pool<bound, most_bounds> const& bounds, int ranged) const {
        std::int64_t low = 0, high = extents_[ranged];  // half open
        for (int b = 0; b < bounds.size() && low < high; ++b) {
            bound const& each = bounds[b];
            std::int64_t const step = each.form.coefficient_of(loops_[ranged]);
            std::int64_t const room = each.at - value_of_form(each.form);  // step * loop < room
            if (step == 0) high = room > 0 ? high : 0;
            else if (step > 0) high = room <= 0 ? 0 : high < (room - 1) / step + 1 ? high : (room - 1) / step + 1;
            else if (room <= 0) low = low > -room / -step + 1 ? low : -room / -step + 1;
        }
        return low < high ? high - low : 0;
    }
    constexpr bool holds(part_pool<bound, most_bounds> const& bounds) const {
        for (int b = 0; b < bounds.size(); ++b) {
            bound const& each = bounds[b];
            if (each.is == clip_kind::only && value_of_form(each.form) >= each.at) return false;
        }
        return elements_of(bounds) > 0;
    }
    /// Elements in the dimensions that bounds of this group shorten.
    constexpr std::int64_t elements_of(part_pool<bound, most_bounds> const& bounds) const {
        std::int64_t elements = 1;
        for (int dimension = -1; moved_ != nullptr && dimension < moved_->dimension_count; ++dimension) {
            std::int64_t low = 0, high = extent_of(dimension);
            bool clipped = false;
            for (int b = 0; b < bounds.size(); ++b) {
                bound const& each = bounds[b];
                if (each.dimension != dimension || each.is == clip_kind::only) continue;
                std::int64_t const at = each.at - value_of_form(each.form);
                if (each.is == clip_kind::end) high = at < high ? at : high;
                else low = at > low ? at : low;
                clipped = true;
            }
            if (clipped) elements *= high > low ? high - low : 0;
        }
        return elements;
    }

    plan_value const& plan_;
    excess beyond_{};
    fixed_array<std::int16_t, most_loops> loops_{};
    fixed_array<std::int64_t, most_loops> firsts_{}, extents_{};
    fixed_array<int, most_loops> groups_{};
    int count_ = 0;
    fixed_array<limit, plan_value::most_limits> limits_{};
    int limit_count_ = 0;
    movement const* moved_ = nullptr;
    int first_extent_ = 0, extent_count_ = 0;  ///< of steps
    unsigned axes_ = 0;                        ///< of them that are looked at
    coverage whole_{};
    bool limited_ = false;        ///< a clip changes what it moves, or when
    bool has_beyond_ = false;     ///< a clip of it asks for what is beyond an end
    bool beyond_always_ = false;  ///< … and it always is
    fixed_array<std::int64_t, plan_value::most_variables> values_{};
};

}  // namespace tilewright::detail
