#pragma once
#include <tilewright/plan/ir/step_cycles.hpp>
#include <tilewright/plan/write/clipping.hpp>
#include <tilewright/plan/write/program_writer.hpp>

// What the steps of a program with partial tiles do in one run: exact counts, from its loops.
namespace tilewright::detail {

constexpr bool is_loop_of(ring const& r, int loop) {
    for (int at = 0; at < r.loop_count; ++at) {
        if (r.loops[at] == loop) return true;
    }
    return false;
}

/// Counts the steps that partial tiles concern.
class partial_counter {
  public:
    /// @param core  the only one whose share of distributed loops counts; -1: all do
    constexpr explicit partial_counter(plan_value const& plan, int core = -1) : plan_(plan), core_(core) {}

    /// Calls `visit(position, tally)` for these steps. @return what there is too much of to count
    template <class Visit>
    constexpr trip_count::excess run(Visit&& visit) {
        for (int position = 0; position < plan_.steps.size() && excess_.what == nullptr; ++position) {
            step const& s = plan_.steps[position];
            if (s.kind == step_kind::end) --depth_;
            if (s.kind == step_kind::loop) {
                goes_on_[depth_] = plan_.holds_ring_steps(position);
                open_[depth_++] = s.what;
            }
            bool const keeps_up = is_upkeep(s.kind);
            bool const is_made_as_it_is =
                s.kind == step_kind::configure || s.kind == step_kind::barrier || s.kind == step_kind::fence || keeps_up;
            if (s.kind != step_kind::start && s.kind != step_kind::compute && !is_made_as_it_is) continue;
            moved_ = s.kind == step_kind::start ? &plan_.movements[s.what] : nullptr;
            computes_ = s.kind == step_kind::compute ? &plan_.bodies[s.what] : nullptr;
            limited_ = false;
            bool const shared = is_shared();
            runs_on_ = !shared ? s.core : core_ < 0 ? plan_.first_core : core_;
            tally whole = shared && takes_each_its_own() ? count_on_cores() : count_here();
            if (keeps_up) {
                if (s.core < 0 && core_ < 0) whole.times *= plan_.cores;
                whole.cycles = whole.times * plan_.upkeep_cycles(plan_.upkeeps[s.what]);
            }
            if (limited_ && excess_.what == nullptr) visit(position, whole);
        }
        return excess_;
    }

  private:
    using amounts = part_pool<trip_count::amount, trip_count::most_amounts>;
    /// What to count of a step: its executions, those in which its reduction begins, or what a body does in all or in its pure loops.
    enum class of : std::uint8_t { step, first, body, pure_body };

    constexpr variable const& loop_at(int at) const { return plan_.variables[at]; }
    constexpr void keep_excess(trip_count const& trips) {
        if (trips.beyond().what != nullptr) excess_ = trips.beyond();
    }
    static constexpr std::int64_t total(amounts const& all) {
        std::int64_t times = 0;
        for (int at = 0; at < all.size(); ++at) times += all[at].times;
        return times;
    }

    /// A number that run time gives is a loop of one iteration: an end that depends on it alone holds in all iterations of the others.
    constexpr void add_given(trip_count& trips) const {
        for (int at = 0; at < plan_.variables.size(); ++at) {
            if (is_given(plan_.variables[at])) trips.add_loop_at(at, 0);
        }
    }
    constexpr void add_open(trip_count& trips, int loop) const {
        if (core_ >= 0 && loop_at(loop).distributed) trips.add_loop_at(loop, core_ - plan_.first_core);
        else trips.add_loop(loop);
    }
    constexpr void add_loops(trip_count& trips, of what) const {
        bool const only_first = computes_ != nullptr && computes_->kind == body_kind::identity && computes_->first_loop_count > 0;
        add_given(trips);
        for (int at = 0; at < depth_; ++at) {
            bool at_first = false;
            for (int loop = 0; (what == of::first || only_first) && loop < computes_->first_loop_count; ++loop)
                at_first |= computes_->first_loops[loop] == open_[at];
            if (at_first) trips.add_loop_at(open_[at], 0);
            else add_open(trips, open_[at]);
        }
        bool const inside = what == of::body || what == of::pure_body;
        for (int at = 0; inside && at < computes_->loop_count; ++at) {
            int const loop = computes_->loops[at];
            if (what == of::body || !loop_at(loop).reduction) trips.add_loop(loop);
        }
        // A loop that goes on past the end has what is neither moved nor computed there, too.
        bool const goes_on = moved_ == nullptr && computes_ == nullptr && depth_ > 0 && goes_on_[depth_ - 1];
        for (int at = 0; at < plan_.limits.size(); ++at) {
            limit const& l = plan_.limits[at];
            bool holds = inside && limits_body(plan_, l, *computes_, what == of::pure_body || computes_->kind == body_kind::identity);
            for (int loop = 0; loop < depth_ && !goes_on; ++loop) holds |= l.loop >= 0 && l.loop == open_[loop];
            if (holds) trips.add_limit(l);
        }
        if (moved_ != nullptr) trips.add_movement(*moved_);
    }
    constexpr amounts counted(trip_count& trips) {
        limited_ |= trips.limited();
        amounts const all = trips.counted();
        keep_excess(trips);
        return all;
    }
    constexpr amounts count(of what) {
        trip_count trips(plan_);
        add_loops(trips, what);
        return counted(trips);
    }
    /// Cycles of so many steps of an intrinsic, by how much each of them covers.
    constexpr std::int64_t cycles_of_steps(of what, intrinsic_form const& any, std::int64_t whole_cycles, std::int64_t times) {
        intrinsic_form const form = form_on(plan_, any, runs_on_);
        unsigned const axes = costly_ends(plan_, form);
        if (axes == 0) return times * whole_step_on(plan_, form, whole_cycles);
        trip_count trips(plan_);
        add_loops(trips, what);
        trips.add_steps(form.extents, form.extent_count, axes);
        limited_ = true;
        auto const covered = trips.counted_steps();
        keep_excess(trips);
        std::int64_t cycles = 0;
        for (int at = 0; at < covered.size(); ++at) {
            trip_count::coverage const& one = covered[at];
            cycles += one.times * time_of(plan_.where->intrinsics[form.intrinsic].costs, one.extents.elements).busy;
        }
        return cycles;
    }

    constexpr tally count_here() { return moved_ != nullptr ? count_movement() : computes_ != nullptr ? count_body() : count_step(); }
    constexpr bool is_shared() const {
        bool shared = false;
        for (int at = 0; plan_.cores > 1 && at < depth_; ++at) shared |= loop_at(open_[at]).distributed;
        return shared;
    }
    /// Whether a step takes other cycles on other cores that share it.
    constexpr bool takes_each_its_own() const { return unlike_ && (computes_ != nullptr || (moved_ != nullptr && moved_->transfer < 0)); }
    constexpr tally count_on_cores() {
        int const only = core_;
        tally all{};
        for (int core = only < 0 ? plan_.first_core : only; core < (only < 0 ? plan_.end_core : only + 1); ++core) {
            core_ = core, runs_on_ = core;
            tally const mine = count_here();
            all.times += mine.times, all.first_times += mine.first_times, all.bytes += mine.bytes;
            all.cycles += mine.cycles, all.first_cycles += mine.first_cycles;
        }
        core_ = only;
        limited_ = true;
        return all;
    }

    constexpr tally count_step() {
        std::int64_t const times = total(count(of::step));
        return {times, times, 0, 0, 0};
    }
    constexpr tally count_body() {
        tally whole = count_step();
        if (computes_->kind == body_kind::intrinsic) {
            whole.cycles = cycles_of_steps(of::step, form_of_rest(*computes_), computes_->cycles, whole.times);
            if (computes_->first_intrinsic < 0) return whole;
            whole.first_times = total(count(of::first));
            whole.first_cycles = cycles_of_steps(of::first, form_of_first(*computes_), computes_->first_cycles, whole.first_times);
            whole.cycles += whole.first_cycles - cycles_of_steps(of::first, form_of_rest(*computes_), computes_->cycles, whole.first_times);
            return whole;
        }
        operation_costs const& costs = plan_.where->core_at(runs_on_).costs;
        whole.cycles = total(count(of::body)) * cycles_of(computes_->counts, costs);
        if (computes_->kind == body_kind::reduction)
            whole.cycles += total(count(of::pure_body)) * cycles_of(computes_->start_counts, costs);
        return whole;
    }

    constexpr tally count_movement() {
        tally whole{};
        ring const* const of_ring = moved_->at.ring >= 0 ? &plan_.rings[moved_->at.ring] : nullptr;
        if (of_ring == nullptr || of_ring->loop_count == 0) {
            add(whole, count(of::step), 1);
        } else {
            bool inside = false;
            for (int at = 0; at < depth_; ++at) inside |= is_loop_of(*of_ring, open_[at]);
            // Loads ahead of the loops and loads that run ahead inside them are together one at each step.
            std::int64_t const in_front = of_ring->distance < of_ring->steps ? of_ring->distance : of_ring->steps;
            if (inside) add(whole, count(of::step), 1);
            for (std::int64_t number = 0; !of_ring->stores && number < in_front; ++number) {
                bool const this_one = moved_->at.step.count > 0 || moved_->at.step.constant == number;
                if (inside || this_one) add(whole, count_at(*of_ring, number), inside ? -1 : 1);
            }
        }
        whole.first_times = whole.times;
        return whole;
    }
    /// Adds what a movement does, or takes it away.
    constexpr void add(tally& whole, amounts const& all, int sign) const {
        transfer_description const& t = mover_of(plan_, moved_->transfer);
        std::int64_t const size = bytes_of(plan_.buffers[moved_->destination].type), rate = t.costs.bytes_per_cycle;
        std::int64_t const fixed_cycles = moved_->cycles - (moved_->bytes + rate - 1) / rate;
        for (int at = 0; at < all.size(); ++at) {
            std::int64_t const bytes = all[at].elements * size, times = sign * all[at].times;
            whole.times += times;
            whole.bytes += times * bytes;
            whole.cycles += times * (moved_->transfer < 0 ? bytes / size * fill_cycles(plan_, *moved_, runs_on_)
                                                          : fixed_cycles + (bytes + rate - 1) / rate);
        }
    }
    /// What a movement of a ring does at one step, in all iterations of the loops over which its steps are not counted.
    constexpr amounts count_at(ring const& r, std::int64_t number) {
        trip_count trips(plan_);
        add_given(trips);
        fixed_array<std::int16_t, 48> loops{};
        int count = 0;
        auto const put = [&](int loop) { loops[count++] = static_cast<std::int16_t>(loop); };
        for (int at = r.loop_count - 1; at >= 0; --at) {
            int const loop = r.loops[at];
            trips.add_loop_at(loop, number % loop_at(loop).extent);
            number /= loop_at(loop).extent;
            put(loop);
        }
        for (int at = 0; at < depth_; ++at) {
            int const loop = open_[at];
            bool const counts = moved_->at.step.count == 1 && plan_.term_at(moved_->at.step, 0).variable == loop && r.steps > 1;
            if (counts && !is_loop_of(r, loop)) continue;  // the loop that counts the first steps
            add_open(trips, loop);
            put(loop);
        }
        for (int at = 0; at < plan_.limits.size(); ++at) {
            limit const& l = plan_.limits[at];
            for (int loop = 0; loop < count && l.loop >= 0; ++loop) {
                if (loops[loop] != l.loop) continue;
                trips.add_limit(l);
                break;
            }
        }
        trips.add_movement(*moved_);
        return counted(trips);
    }

    plan_value const& plan_;
    int core_;
    int runs_on_ = 0;  ///< the core whose cycles are counted
    bool unlike_ = has_unlike_shares(plan_);
    trip_count::excess excess_{};
    fixed_array<std::int16_t, 32> open_{};  // the loops around the step
    fixed_array<bool, 32> goes_on_{};       // whether each of them holds steps of rings
    int depth_ = 0;
    movement const* moved_ = nullptr;  // of the step, as the two below
    body const* computes_ = nullptr;
    bool limited_ = false;  // by partial tiles
};

/// Counts them, and keeps the counts in the plan. @return what there is too much of
constexpr trip_count::excess count_partial(plan_value& plan) {
    bool full = false;
    trip_count::excess const found = partial_counter(plan).run([&](int position, tally const& whole) {
        full |= plan.tallies.full();
        if (!full) plan.steps[position].tally = static_cast<std::int16_t>(plan.tallies.push(whole));
    });
    return full ? trip_count::excess{"counts of partial tiles", plan_value::most_tallies} : found;
}

constexpr void refuse_excess(refusals const& to, trip_count::excess const& found) {
    if (found.what != nullptr) to.refuse_capacity(found.what, found.most + 1, found.most);
}

}  // namespace tilewright::detail
