#pragma once
#include <tilewright/plan/write/clipping.hpp>
#include <tilewright/plan/write/program_writer.hpp>
#include <tilewright/plan/ir/step_cycles.hpp>

// What the steps of a program with partial tiles do in one run: exact counts, from its loops.
namespace tilewright::detail {

constexpr bool is_loop_of(ring const& r, int loop) {
    for (int at = 0; at < r.loop_count; ++at) {
        if (r.loops[at] == loop) return true;
    }
    return false;
}

/// Counts the steps that partial tiles concern. @return what there is too much of to be counted
constexpr trip_count::excess count_partial(plan_value& plan) {
    trip_count::excess excess;
    // A number that run time gives is a loop of one iteration: what it alone ends is ended in all of them.
    auto const add_given = [&](trip_count& trips) {
        for (int at = 0; at < plan.variables.size(); ++at) {
            if (is_given(plan.variables[at])) trips.add_loop_at(at, 0);
        }
    };
    auto const loop_at = [&](int at) -> variable const& { return plan.variables[at]; };
    fixed_array<std::int16_t, 32> open{};
    fixed_array<bool, 32> goes_on{};
    int depth = 0;
    for (int position = 0; position < plan.steps.size() && excess.what == nullptr; ++position) {
        step& s = plan.steps[position];
        if (s.kind == step_kind::end) --depth;
        if (s.kind == step_kind::loop) {
            goes_on[depth] = plan.holds_ring_steps(position);
            open[depth++] = s.what;
        }
        if (s.kind != step_kind::start && s.kind != step_kind::compute && s.kind != step_kind::configure) continue;
        movement const* const moved = s.kind == step_kind::start ? &plan.movements[s.what] : nullptr;
        body const* const computes = s.kind == step_kind::compute ? &plan.bodies[s.what] : nullptr;
        enum class of : std::uint8_t { step, first, body, pure_body };
        bool const only_first = computes != nullptr && computes->kind == body_kind::identity && computes->first_loop_count > 0;
        bool limited = false;
        auto const add_loops = [&](trip_count& trips, of what) {
            add_given(trips);
            for (int at = 0; at < depth; ++at) {
                bool at_first = false;
                for (int loop = 0; (what == of::first || only_first) && loop < computes->first_loop_count; ++loop)
                    at_first |= computes->first_loops[loop] == open[at];
                if (at_first) trips.add_loop_at(open[at], 0);
                else trips.add_loop(open[at]);
            }
            bool const inside = what == of::body || what == of::pure_body;
            for (int at = 0; inside && at < computes->loop_count; ++at) {
                int const loop = computes->loops[at];
                if (what == of::body || !loop_at(loop).reduction) trips.add_loop(loop);
            }
            for (int at = 0; at < plan.limits.size(); ++at) {
                limit const& l = plan.limits[at];
                bool holds = inside && limits_body(plan, l, *computes, what == of::pure_body || computes->kind == body_kind::identity);
                for (int loop = 0; loop < depth; ++loop) {
                    // What is configured in a loop that goes on past the end is configured there, too.
                    bool const is_made = s.kind == step_kind::configure && goes_on[loop];
                    holds |= l.loop >= 0 && l.loop == open[loop] && !is_made;
                }
                if (holds) trips.add_limit(l);
            }
            if (moved != nullptr) trips.add_movement(*moved);
        };
        auto const count = [&](of what) {
            trip_count trips(plan);
            add_loops(trips, what);
            limited |= trips.limited();
            auto const counted = trips.counted();
            if (trips.beyond().what != nullptr) excess = trips.beyond();
            return counted;
        };
        // Cycles of so many steps of an intrinsic, by how much each of them covers.
        auto const cycles_of_steps = [&](of what, intrinsic_form const& form, std::int64_t whole_cycles, std::int64_t times) {
            unsigned const axes = costly_ends(plan, form);
            if (axes == 0) return times * whole_cycles;
            trip_count trips(plan);
            add_loops(trips, what);
            trips.add_steps(form.extents, form.extent_count, axes);
            limited = true;
            auto const counted = trips.counted_steps();
            if (trips.beyond().what != nullptr) excess = trips.beyond();
            std::int64_t cycles = 0;
            for (int at = 0; at < counted.size(); ++at) {
                trip_count::coverage const& one = counted[at];
                cycles += one.times * time_of(plan.where->intrinsics[form.intrinsic].costs, one.extents).busy;
            }
            return cycles;
        };
        auto const total = [](auto const& amounts) {
            std::int64_t times = 0;
            for (int at = 0; at < amounts.size(); ++at) times += amounts[at].times;
            return times;
        };
        tally whole{};
        // Adds what a movement does, or takes it away.
        auto const add = [&](auto const& amounts, int sign) {
            transfer_description const& t = mover_of(plan, moved->transfer);
            std::int64_t const size = bytes_of(plan.buffers[moved->destination].type), rate = t.costs.bytes_per_cycle;
            std::int64_t const fixed_cycles = moved->cycles - (moved->bytes + rate - 1) / rate;
            for (int at = 0; at < amounts.size(); ++at) {
                std::int64_t const bytes = amounts[at].elements * size, times = sign * amounts[at].times;
                whole.times += times;
                whole.bytes += times * bytes;
                whole.cycles +=
                    times * (moved->transfer < 0 ? bytes / size * fill_cycles(plan, *moved) : fixed_cycles + (bytes + rate - 1) / rate);
            }
        };
        // What a movement of a ring does at one step, for all iterations of the loops that its steps are not counted over.
        auto const count_at = [&](ring const& r, std::int64_t number) {
            trip_count trips(plan);
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
            for (int at = 0; at < depth; ++at) {
                int const loop = open[at];
                bool const counts = moved->at.step.count == 1 && plan.term_at(moved->at.step, 0).variable == loop && r.steps > 1;
                if (counts && !is_loop_of(r, loop)) continue;  // the loop that counts the first steps
                trips.add_loop(loop);
                put(loop);
            }
            for (int at = 0; at < plan.limits.size(); ++at) {
                limit const& l = plan.limits[at];
                for (int loop = 0; loop < count && l.loop >= 0; ++loop) {
                    if (loops[loop] != l.loop) continue;
                    trips.add_limit(l);
                    break;
                }
            }
            trips.add_movement(*moved);
            limited |= trips.limited();
            auto const counted = trips.counted();
            if (trips.beyond().what != nullptr) excess = trips.beyond();
            return counted;
        };
        ring const* const of_ring = moved != nullptr && moved->at.ring >= 0 ? &plan.rings[moved->at.ring] : nullptr;
        if (of_ring != nullptr && of_ring->loop_count > 0) {
            bool inside = false;
            for (int at = 0; at < depth; ++at) inside |= is_loop_of(*of_ring, open[at]);
            // Loads that run ahead make up for those in front of the loops: together they are one at each step.
            std::int64_t const in_front = of_ring->distance < of_ring->steps ? of_ring->distance : of_ring->steps;
            if (inside) add(count(of::step), 1);
            for (std::int64_t number = 0; !of_ring->stores && number < in_front; ++number) {
                bool const this_one = moved->at.step.count > 0 || moved->at.step.constant == number;
                if (inside || this_one) add(count_at(*of_ring, number), inside ? -1 : 1);
            }
        } else if (moved != nullptr) {
            add(count(of::step), 1);
        } else {
            whole.times = whole.first_times = total(count(of::step));
        }
        if (moved != nullptr) {
            whole.first_times = whole.times;
        } else if (computes != nullptr && computes->kind == body_kind::intrinsic) {
            whole.cycles = cycles_of_steps(of::step, form_of_rest(*computes), computes->cycles, whole.times);
            if (computes->first_intrinsic >= 0) {
                whole.first_times = total(count(of::first));
                whole.first_cycles = cycles_of_steps(of::first, form_of_first(*computes), computes->first_cycles, whole.first_times);
                whole.cycles +=
                    whole.first_cycles - cycles_of_steps(of::first, form_of_rest(*computes), computes->cycles, whole.first_times);
            }
        } else if (computes != nullptr) {
            operation_costs const& costs = plan.where->host().costs;
            whole.cycles = total(count(of::body)) * cycles_of(computes->counts, costs);
            if (computes->kind == body_kind::reduction)
                whole.cycles += total(count(of::pure_body)) * cycles_of(computes->start_counts, costs);
        }
        if (!limited || excess.what != nullptr) continue;
        if (plan.tallies.full()) return {"counts of partial tiles", plan_value::most_tallies};
        s.tally = static_cast<std::int16_t>(plan.tallies.push(whole));
    }
    return excess;
}

constexpr void refuse_excess(planning& p, trip_count::excess const& found) {
    if (found.what != nullptr) p.refuse_capacity(found.what, found.most + 1, found.most);
}

}  // namespace tilewright::detail
