#pragma once
#include <tilewright/plan/ir/trip_count.hpp>

// Runs a loop program in the compiler without visiting every iteration.
namespace tilewright::ir {

/// Whether iterations that repeat are skipped. A run that visits every iteration must give the same.
enum class visiting : std::uint8_t { periods, everything };

}  // namespace tilewright::ir

namespace tilewright::detail {

using namespace ir;

/// The state that the rest of a run depends on, as numbers that are equal where a run repeats; and the numbers that move on meanwhile.
struct run_signature {
    static constexpr int most = 96;
    fixed_array<std::int64_t, most> values{};
    int count = 0;
    std::int64_t now = 0;
    fixed_array<std::int64_t, plan_value::most_rings> steps{};

    constexpr void push(std::int64_t value) {
        if (count < most) values[count] = value;
        ++count;
    }
    constexpr bool same(run_signature const& other) const {
        if (count > most || count != other.count) return false;
        for (int at = 0; at < count; ++at) {
            if (values[at] != other.values[at]) return false;
        }
        return true;
    }
};

/// Whether engines compute aside of the core, so that a run is more than the core's own order and its waits.
constexpr bool is_ordered_aside(plan_value const& plan) {
    for (int at = 0; at < plan.bodies.size(); ++at) {
        if (plan.is_aside(plan.bodies[at])) return true;
    }
    return plan.links.size() > 0;
}

/// Whether versions of two buffers have bytes in common, as buffers may at different times. Arguments share no bytes.
constexpr bool versions_overlap(plan_value const& plan, buffer_id buffer_a, int version_a, buffer_id buffer_b, int version_b) {
    if (buffer_a < 0 || buffer_b < 0) return false;
    if (buffer_a == buffer_b) return version_a == version_b;
    buffer const& a = plan.buffers[buffer_a];
    buffer const& b = plan.buffers[buffer_b];
    if (a.kind == buffer_kind::argument || b.kind == buffer_kind::argument || a.memory != b.memory) return false;
    int const banks = plan.where->memories[a.memory].banks;
    for (int part = version_a * a.blocks; part < (version_a + 1) * a.blocks; ++part) {
        for (int other = version_b * b.blocks; other < (version_b + 1) * b.blocks; ++other) {
            std::int64_t const first = a.offset_of(part, banks), second = b.offset_of(other, banks);
            bool const meet = first < second + b.part_bytes() && second < first + a.part_bytes();
            if (meet && a.bank_of(part, banks) == b.bank_of(other, banks)) return true;
        }
    }
    return false;
}

/// Where a walk of a plan's program stands: the iterations of its loops, and what the plan's parts are there.
///
/// It does not depend on what the walk keeps, so a compiler reads it once for all walks.
class program_position {
  public:
    /// @param only  the core whose steps are run; -1: those of all
    constexpr explicit program_position(plan_value const& plan, int only = -1) : plan_(plan), only_(only) {
        fixed_array<std::int16_t, 32> open{};
        fixed_array<std::int8_t, plan_value::most_steps>
            computes{};  ///< of each loop: 1 it holds a body, 2 several, 4 on an interlocked engine
        int depth = 0;
        for (int at = 0; at < plan.steps.size(); ++at) {
            step const& s = plan_.steps[at];
            if (s.kind == step_kind::loop) {
                open[depth++] = static_cast<std::int16_t>(at);
                moves_data_[at] = counts_steps(s.what);
                goes_on_[at] = plan.limits.size() == 0 || plan.holds_ring_steps(at);
            }
            if (s.kind == step_kind::end) end_of_[open[--depth]] = static_cast<std::int16_t>(at);
            bool const moves = is_followed(s) || (s.kind == step_kind::loop && variable_at(s.what).distributed),
                       held = s.kind == step_kind::compute && is_interlocked(s.what);
            for (int around = 0; around < depth; ++around) {
                int const loop = open[around];
                // If there are several bodies, each must begin in its turn.
                if (s.kind == step_kind::compute) computes[loop] = static_cast<std::int8_t>(computes[loop] | (computes[loop] != 0 ? 2 : 1));
                if (held) computes[loop] = static_cast<std::int8_t>(computes[loop] | 4);
                if (moves || computes[loop] == 7) moves_data_[loop] = true;
            }
        }
    }
    /// Ends the run where it is; `run` then returns true.
    constexpr void stop() { stopped_ = true; }

    constexpr plan_value const& plan() const { return plan_; }
    /// Of a loop variable: -1 in loops that `compute` counts in its `times`.
    constexpr std::int64_t value(int variable_at) const { return values_[variable_at]; }
    /// Whether a reduction begins where the loops of a body stand, or may begin in loops that are counted in its `times`.
    constexpr bool begins(body const& b) const {
        bool begun = true;
        for (int at = 0; at < b.first_loop_count; ++at) begun &= value(b.first_loops[at]) <= 0;
        return begun;
    }
    /// Whether a distributed loop stands around: one core runs its share.
    constexpr bool is_shared() const { return shared_; }
    /// Whether a loop stands around.
    constexpr bool is_open(int variable_at) const {
        bool open = false;
        for (int at = 0; at < depth_; ++at) open |= open_[at] == variable_at;
        return open;
    }
    /// The value of a form when the loops of ring `ring_at` stand at step `number`; -1: where they stand now.
    constexpr std::int64_t value_of(affine const& form, int ring_at = -1, std::int64_t number = 0) const {
        std::int64_t value = form.constant;
        for (int at = 0; at < form.count; ++at) {
            term const& t = plan_.term_at(form, at);
            value += t.coefficient * value_at(t.variable, ring_at, number);
        }
        return value;
    }
    constexpr std::int64_t value_at(variable_id variable_at, int ring_at, std::int64_t number) const {
        variable const& v = plan_.variables[variable_at];
        if (v.kind == variable_kind::component) {
            std::int64_t const part = value_of(v.fused, ring_at, number) / v.divisor;
            return v.modulus == 0 ? part : part % v.modulus;
        }
        for (int at = ring_at < 0 ? -1 : plan_.rings[ring_at].loop_count - 1; at >= 0; --at) {
            int const here = plan_.rings[ring_at].loops[at];
            std::int64_t const extent = plan_.variables[here].extent;
            if (here == variable_at) return number % extent;
            number /= extent;
        }
        return value(variable_at);
    }
    /// Likewise, with loops that `compute` counts in its `times` at 0.
    constexpr std::int64_t value_of_first(affine const& form) const {
        std::int64_t value = form.constant;
        for (int at = 0; at < form.count; ++at) {
            term const& t = plan_.term_at(form, at);
            variable const& v = variable_at(t.variable);
            std::int64_t here = values_[t.variable];
            if (v.kind == variable_kind::component) {
                here = value_of_first(v.fused) / v.divisor;
                if (v.modulus != 0) here %= v.modulus;
            }
            if (here > 0) value += t.coefficient * here;
        }
        return value;
    }
    /// The loops that `compute` counts in the `times` of a body, outermost first. @return how many
    template <class List>
    constexpr int alone_loops(int body_at, List& loops) const {
        fixed_array<std::int16_t, 32> open{};
        int depth = 0;
        for (int at = 0; at < plan_.steps.size(); ++at) {
            step const& s = plan_.steps[at];
            if (s.kind == step_kind::loop) open[depth++] = static_cast<std::int16_t>(at);
            if (s.kind == step_kind::end) --depth;
            if (s.kind != step_kind::compute || s.what != body_at) continue;
            int count = 0;
            for (int around = 0; around < depth && plan_.limits.size() == 0; ++around) {
                int const loop = open[around];
                if (!moves_data_[loop]) loops[count++] = variable_id(plan_.steps[loop].what);
            }
            return count;
        }
        return 0;
    }
    /// The step of a movement's ring.
    constexpr std::int64_t number_of(movement const& m) const { return m.at.ring < 0 ? 0 : value_of(m.at.step); }
    /// What one call of a movement moves: of each dimension, the row last, the elements from `first` up to `end`.
    struct moved_part {
        bool any = false;  ///< otherwise there is no call
        fixed_array<std::int64_t, max_rank + 1> first{}, end{};
    };
    /// It is less where tiles have ended.
    /// @param read  without the border that the call writes
    constexpr moved_part part_of(movement const& m, bool read = false) const {
        std::int64_t const number = number_of(m);
        if (plan_.limits.size() > 0 && !within_limits(m.at.ring, number)) return {};
        moved_part part{.any = true};
        for (int at = 0; at < m.dimension_count; ++at) part.end[at] = m.dimensions[at].extent;
        part.end[max_rank] = m.row_elements;
        bool beyond = false, one_beyond = false;
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = plan_.clips[at];
            std::int64_t const room = c.bound - value_of(c.form, m.at.ring, number);
            if (c.is == clip_kind::only) part.any &= room > 0;
            if (c.is == clip_kind::beyond) beyond = true, one_beyond |= room <= 0;
            if (!shortens(c.is) && !(read && pads(c.is))) continue;
            bool const ends = c.is == clip_kind::end || c.is == clip_kind::border_end;
            std::int64_t& edge = (ends ? part.end : part.first)[c.dimension < 0 ? max_rank : c.dimension];
            if (ends ? room < edge : room > edge) edge = room;
        }
        part.any &= one_beyond || !beyond;
        part.any &= part.first[max_rank] < part.end[max_rank];
        for (int at = 0; at < m.dimension_count; ++at) part.any &= part.first[at] < part.end[at];
        return part;
    }
    constexpr std::int64_t elements_of(movement const& m) const {
        moved_part const part = part_of(m);
        std::int64_t all = part.any ? part.end[max_rank] - part.first[max_rank] : 0;
        for (int at = 0; at < m.dimension_count; ++at) all *= part.end[at] - part.first[at];
        return all;
    }
    /// Iterations of a body's loops: fewer where tiles have ended.
    constexpr std::int64_t iterations_of(body const& b, bool pure_only) const {
        trip_count trips(plan_);
        std::int64_t all = 1;
        for (int at = 0; at < depth_; ++at) trips.add_loop_at(open_[at], value(open_[at]));
        for (int at = 0; at < b.loop_count; ++at) {
            int const loop = b.loops[at];
            if (pure_only && plan_.variables[loop].reduction) continue;
            trips.add_loop(loop);
            all *= plan_.variables[loop].extent;
        }
        bool whole = true;
        for (int at = 0; at < plan_.limits.size(); ++at) {
            limit const& l = plan_.limits[at];
            if (!limits_body(plan_, l, b, pure_only || b.kind == body_kind::identity)) continue;
            trips.add_limit(l);
            whole = whole && highest_here(l.form) < l.bound;
        }
        if (whole) return all;
        std::int64_t total = 0;
        auto const amounts = trips.counted();
        for (int at = 0; at < amounts.size(); ++at) total += amounts[at].times;
        return total;
    }
    /// The step of a buffer's ring when the loops of ring `ring_at` stand at step `number`; -1: where they stand now.
    constexpr std::int64_t step_of(buffer_id buffer_at, int ring_at, std::int64_t number) const {
        int const own = plan_.buffers[buffer_at].ring;
        int const by = plan_.buffers[buffer_at].by_loop;
        if (own < 0) return by < 0 || value(by) < 0 ? 0 : value(by);
        // A transfer that is waited for at once has a ring of its own, which counts no loops.
        bool const counts = ring_at >= 0 && plan_.rings[ring_at].loop_count > 0;
        if (counts && plan_.rings[ring_at].buffer == buffer_at) return number;
        return value_of(plan_.rings[own].step, ring_at, number);
    }
    constexpr int version_of(buffer_id buffer_at, int ring_at, std::int64_t number) const {
        int const versions = plan_.buffers[buffer_at].versions;
        return versions == 1 ? 0 : static_cast<int>(step_of(buffer_at, ring_at, number) % versions);
    }
    /// Whether a body is an intrinsic of an interlocked engine.
    constexpr bool is_interlocked(int body_at) const {
        body const& b = plan_.bodies[body_at];
        if (b.kind != body_kind::intrinsic) return false;
        int const on = plan_.where->engines.find(plan_.where->intrinsics[b.intrinsic].engine_name);
        return on >= 0 && plan_.where->engines[on].interlocked;
    }
    constexpr movement const& movement_at(int at) const { return plan_.movements[at]; }
    constexpr ring const& ring_at(int at) const { return plan_.rings[at]; }
    constexpr bool is_there(ring_step const& at) const {
        if (at.only_where >= 0 && value_at(at.only_where, -1, 0) != 0) return false;
        if (!plan_.may_precede(at) && !plan_.may_exceed(at)) return true;
        std::int64_t const number = value_of(at.step);
        return number >= 0 && number < plan_.end_of(at);
    }

  protected:
    /// Whether the axes have the present iterations of all loops around, and those of a ring's loops at a step of it.
    constexpr bool within_limits(int ring_at = -1, std::int64_t number = 0) const {
        auto const holds = [&](int loop, auto const& loops, int count) {
            for (int at = 0; at < count; ++at) {
                if (loops[at] == loop) return true;
            }
            return false;
        };
        for (int at = 0; at < plan_.limits.size(); ++at) {
            limit const& l = plan_.limits[at];
            bool concerned = holds(l.loop, open_, depth_);
            if (ring_at >= 0 && !concerned) {
                ring const& r = plan_.rings[ring_at];
                concerned = holds(l.loop, r.loops, r.loop_count);
            }
            if (concerned && value_of(l.form, ring_at, number) >= l.bound) return false;
        }
        return true;
    }
    /// The largest value of a form at the present iterations of the loops around, over all iterations of the loops inside.
    constexpr std::int64_t highest_here(affine const& form) const {
        std::int64_t high = form.constant;
        for (int at = 0; at < form.count; ++at) {
            term const& t = plan_.term_at(form, at);
            bool around = false;
            for (int open = 0; open < depth_; ++open) around |= open_[open] == t.variable;
            std::int64_t const far = t.coefficient * (around ? value(t.variable) : variable_at(t.variable).extent - 1);
            if (around || far > 0) high += far;
        }
        return high;
    }

    /// Whether iterations that hold a step are run one by one.
    constexpr bool is_followed(step const& s) const {
        if (s.kind == step_kind::start || s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop) return true;
        if (s.kind == step_kind::signal || s.kind == step_kind::await || is_upkeep(s.kind)) return true;
        if (s.kind != step_kind::compute) return false;
        // On an engine that works beside the core or is interlocked: jobs that differ in length or use, or that meet those of other
        // engines.
        body const& b = plan_.bodies[s.what];
        stage const& of = plan_.stages[b.stage];
        bool const two = b.first_intrinsic >= 0 && (b.cycles != b.first_cycles || of.start >= 0 || plan_.where->has_unlike_cores());
        return (plan_.is_aside(b) && (two || interlocks_units(b))) || (is_interlocked(s.what) && (two || has_mixed_steps(b)));
    }
    /// Whether the place of an operand depends on a component over several loops: it does not step as each loop does.
    constexpr bool has_mixed_steps(body const& b) const {
        for (int at = 0; at < plan_.where->intrinsics[b.intrinsic].operand_count; ++at) {
            for (affine const& form : plan_.operands[b.operands + at].at.elements) {
                for (int t = 0; t < form.count; ++t) {
                    variable const& v = variable_at(plan_.term_at(form, t).variable);
                    if (v.kind == variable_kind::component && v.fused.count > 1) return true;
                }
            }
        }
        return false;
    }
    /// Whether a body runs beside the core, on one of several interlocked engines that compute.
    constexpr bool interlocks_units(body const& b) const {
        if (!plan_.is_aside(b)) return false;
        engine const& on = plan_.where->engines[plan_.where->engines.find(plan_.where->intrinsics[b.intrinsic].engine_name)];
        bool other = false;
        for (int at = 0; at < plan_.bodies.size() && on.interlocked; ++at) {
            body const& o = plan_.bodies[at];
            other |= plan_.is_aside(o) && plan_.where->intrinsics[o.intrinsic].engine_name != on.name;
        }
        return other;
    }
    /// Whether a ring counts its steps over the loop. Then every iteration has another version, even if it moves nothing.
    constexpr bool counts_steps(int loop) const {
        for (int at = 0; at < plan_.rings.size(); ++at) {
            for (int position = 0; position < ring_at(at).loop_count; ++position) {
                if (ring_at(at).loops[position] == loop) return true;
            }
        }
        return false;
    }
    constexpr variable const& variable_at(int at) const { return plan_.variables[at]; }
    /// The last iteration of loop `v` that has the same steps of rings as iteration `first`; -1: not even that one.
    constexpr std::int64_t last_alike(int v, std::int64_t first, std::int64_t extent) const {
        std::int64_t last = extent - 2;
        auto const look = [&](ring_step const& at) {
            // Up to the iteration in which a wait is made only there.
            if (at.only_where >= 0) {
                variable const& where = variable_at(at.only_where);
                std::int64_t const move = form_of(plan_, where.fused).coefficient_of(v);
                std::int64_t const here = move == 0 ? -1 : (where.modulus - where.fused.constant) % where.modulus / move % extent;
                if (move % where.modulus != 0 && here >= first && here <= last) last = here - 1;
            }
            if (!plan_.may_precede(at) && !plan_.may_exceed(at)) return;
            std::int64_t move = 0, outside = at.step.constant;
            for (int t = 0; t < at.step.count; ++t) {
                term const& part = plan_.term_at(at.step, t);
                if (part.variable == v) move = part.coefficient;
                else if (part.coefficient > 0 && is_around(part.variable, v)) outside += part.coefficient * values_[part.variable];
            }
            if (move == 0) return;
            // Inside iteration i, steps go from outside + move * i over `move` numbers.
            if (plan_.may_precede(at) && outside + move * first < 0) last = -1;
            std::int64_t const end = plan_.end_of(at);
            if (plan_.may_exceed(at) && outside + move * (last + 1) > end) last = (end - outside) / move - 1;
        };
        for (int at = 0; at < plan_.movements.size(); ++at) look(plan_.movements[at].at);
        for (int at = 0; at < plan_.waits.size(); ++at) look(plan_.waits[at]);
        if (plan_.limits.size() + plan_.clips.size() > 0) last = last_whole(v, first, last);
        return last;
    }
    /// The last of the iterations `first` to `last` of loop `v` up to which every tile is whole, also those that are loaded ahead.
    constexpr std::int64_t last_whole(int v, std::int64_t first, std::int64_t last) const {
        std::int64_t ahead = 0;
        for (int at = 0; at < plan_.movements.size(); ++at) {
            ring_step const& when = plan_.movements[at].at;
            if (when.ring < 0 || when.ahead <= 0) continue;
            std::int64_t move = 0;
            for (int t = 0; t < when.step.count; ++t) {
                if (plan_.term_at(when.step, t).variable == v) move = plan_.term_at(when.step, t).coefficient;
            }
            if (move > 0 && (when.ahead + move - 1) / move > ahead) ahead = (when.ahead + move - 1) / move;
        }
        last = last < variable_at(v).extent - 2 - ahead ? last : variable_at(v).extent - 2 - ahead;
        auto const look = [&](affine const& kept, std::int64_t bound, std::int64_t reach, bool begins, int ring_at, std::int64_t number) {
            linear const form = form_of(plan_, kept);
            if (!moves_with(plan_, form, v)) return;
            std::int64_t const move = form.coefficient_of(v);
            std::int64_t low = form.constant, high = form.constant;
            for (int at = 0; at < form.count; ++at) {
                term const& t = form.terms[at];
                if (t.variable == v) continue;
                bool around = false;
                for (int open = 0; open < depth_; ++open) around |= open_[open] == t.variable;
                std::int64_t const far =
                    t.coefficient * (around ? value_at(t.variable, ring_at, number) : variable_at(t.variable).extent - 1);
                if (around) low += far;
                (around || far > 0 ? high : low) += far;
            }
            // Fused loops, and loops that run down, are followed one by one.
            if (move <= 0) last = -1;
            else if (begins) last = low + move * first >= bound ? last : -1;
            else last = last < (bound - 1 - reach - high) / move - ahead ? last : (bound - 1 - reach - high) / move - ahead;
            if (!begins && bound - 1 - reach - high < 0) last = -1;
        };
        for (int at = 0; at < plan_.limits.size(); ++at) look(plan_.limits[at].form, plan_.limits[at].bound, 0, false, -1, 0);
        for (int at = 0; at < plan_.movements.size(); ++at) {
            movement const& m = plan_.movements[at];
            for (int which = m.first_clip; which < m.first_clip + m.clip_count; ++which) {
                clip const& c = plan_.clips[which];
                bool const sized = c.is == clip_kind::end || c.is == clip_kind::border_end;
                bool const begins = c.is == clip_kind::begin || c.is == clip_kind::border_begin;
                std::int64_t const extent = c.dimension < 0 ? m.row_elements : m.dimensions[c.dimension].extent;
                look(c.form, c.bound, sized ? extent - 1 : 0, begins, m.at.ring, number_of(m));
            }
        }
        return last;
    }
    /// Whether loop `a` of a ring stands around its loop `b`.
    constexpr bool is_around(int a, int b) const {
        for (int at = 0; at < plan_.rings.size(); ++at) {
            ring const& r = plan_.rings[at];
            bool found = false;
            for (int loop = 0; loop < r.loop_count; ++loop) {
                int const here = r.loops[loop];
                if (here == a) found = true;
                if (here == b && found) return true;
            }
        }
        return false;
    }
    /// Whether a body runs at the present iterations of the loops around: an identity runs only where a reduction begins.
    constexpr bool is_begun(int body_at) const {
        body const& b = plan_.bodies[body_at];
        return b.kind != body_kind::identity || begins(b);
    }
    constexpr bool is_run(step const& s) const { return only_ < 0 || shared_ || s.core == only_; }
    constexpr bool is_told(int message_at) const {
        message const& m = plan_.messages[message_at];
        return m.loop < 0 || value(m.loop) >= m.first;
    }
    /// The steps of all rings, and the versions that they stand at.
    constexpr void sign_rings(run_signature& into) const {
        for (int at = 0; at < plan_.rings.size(); ++at) {
            ring const& r = plan_.rings[at];
            into.steps[at] = value_of(r.step);
            into.push(into.steps[at] % r.versions);
        }
    }
    /// How what a run does in a loop repeats: periods of so many iterations, and how many of them can be skipped.
    struct repetition {
        int period = 0;
        std::int64_t times = 0;  ///< 0: nothing repeats
    };
    static constexpr int most_period = 12;
    using signatures = fixed_array<run_signature, most_period>;  ///< of the last iterations: that of `i` at `i % most_period`
    /// @param now  the signature after iteration `i` of loop `v`
    constexpr repetition repetition_at(int v, std::int64_t i, std::int64_t extent, run_signature const& now,
                                       signatures const& history) const {
        for (int period = 1; period <= most_period && period <= i; ++period) {
            if (!now.same(history[(i - period) % most_period])) continue;
            std::int64_t const times = (last_alike(v, i - period + 1, extent) - i) / period;
            if (times > 0) return {period, times};
        }
        return {};
    }
    /// Iterations of the loops that are run as one, in which an identity is written.
    constexpr std::int64_t repeats_of_first(int body_at) const {
        body const& b = plan_.bodies[body_at];
        std::int64_t repeats = 1;
        for (int at = 0; at < b.first_loop_count && b.kind == body_kind::identity; ++at) {
            int const loop = b.first_loops[at];
            if (value(loop) < 0) repeats *= variable_at(loop).extent;
        }
        return repeats;
    }

    plan_value const& plan_;
    fixed_array<std::int64_t, plan_value::most_variables> values_{};
    fixed_array<std::int16_t, 32> open_{};  ///< loops around, outermost first
    int depth_ = 0;
    fixed_array<std::int16_t, plan_value::most_steps> end_of_{};
    fixed_array<bool, plan_value::most_steps> moves_data_{}, goes_on_{};  ///< of each loop; the second past the end of an axis
    bool stopped_ = false;
    bool shared_ = false;  ///< a distributed loop stands around
    int only_;             ///< the core whose steps are run; -1: those of all
};

/// Walks a plan's program. `State` has
/// - `start(run, movement)`, `wait(run, wait)`, `push(run, wait)`, `pop(run, wait)`, `compute(run, body, times)` for what is executed, by
/// position in the plan,
/// - `sign(run, signature)`, which describes it relative to now, and `skip(run, times, now, then)`, which moves it on by that many periods,
/// - `most_visits`, the loop iterations that a compiler can follow before it ends the evaluation as too long.
///
/// Of a plan for several cores it may have
/// - `of_core(number)`, the state of that core: it is asked inside of distributed loops, whose iterations are the cores, and for steps
/// of stages that run on another core. `sign` and `skip` of core 0 speak of all cores,
/// - `meet(run)` for a barrier, `signal(run, message)` and `await(run, message)` for what cores tell each other.
/// It may have `keep_up(run, step)` for caches that are cleaned or invalidated.
/// Without, one core runs all shares, and all stages, one after the other; or only those of core `only` are run.
///
/// Signatures are compared at the end of the iterations of a loop. When one equals that of an earlier iteration, what follows repeats.
/// Whole periods are then skipped, up to where a load would lie past the last step. The last iteration is always visited.
template <class State>
class program_run : public program_position {
  public:
    constexpr program_run(plan_value const& plan, State& state, visiting how, int only = -1)
        : program_position(plan, only), state_(&state), how_(how) {}
    /// @return false when the compiler gave up
    constexpr bool run() {
        run_steps(0, plan_.steps.size());
        return visits_ >= 0;
    }

  private:
    static constexpr bool knows_cores = requires(State & state, program_run& run) {
        state.of_core(0);
        state.meet(run);
        state.signal(run, 0);
        state.await(run, 0);
    };

    constexpr void run_steps(int at, int end) {
        while (at < end && visits_ >= 0 && !stopped_) {
            step const& s = plan_.steps[at];
            if (s.kind == step_kind::loop) {
                int const behind = end_of_[at];
                if (moves_data_[at] || plan_.limits.size() > 0) run_loop(at, behind);
                else run_alone(at, behind);
                at = behind + 1;
                continue;
            }
            if constexpr (requires { state_->keep_up(*this, at); }) {
                if (is_upkeep(s.kind)) keep_up(at);
            }
            if (!is_run(s)) {
                ++at;
                continue;
            }
            State* const led = state_;
            lead(s);
            if (s.kind == step_kind::start && is_there(plan_.movements[s.what].at)) state_->start(*this, s.what);
            if (s.kind == step_kind::wait && is_there(plan_.waits[s.what])) state_->wait(*this, s.what);
            if (s.kind == step_kind::push && is_there(plan_.waits[s.what])) state_->push(*this, s.what);
            if (s.kind == step_kind::pop && is_there(plan_.waits[s.what])) state_->pop(*this, s.what);
            if (s.kind == step_kind::compute && within_limits() && is_begun(s.what)) state_->compute(*this, s.what, 1);
            if constexpr (knows_cores) {
                if (s.kind == step_kind::barrier) state_->meet(*this);
                if (s.kind == step_kind::signal && is_told(s.what)) state_->signal(*this, s.what);
                if (s.kind == step_kind::await && is_told(s.what)) state_->await(*this, s.what);
            }
            state_ = led;
            ++at;
        }
    }
    /// Lines of caches, by the core that works here, or by each of all.
    constexpr void keep_up(int at) {
        step const& s = plan_.steps[at];
        if constexpr (knows_cores) {
            for (int core = 0; s.core < 0 && core < plan_.cores; ++core) state_->of_core(core)->keep_up(*this, at);
            if (s.core >= 0) (shared_ ? state_ : state_->of_core(s.core))->keep_up(*this, at);
        } else {
            state_->keep_up(*this, at);
        }
    }
    constexpr void run_loop(int at, int behind) {
        int const v = plan_.steps[at].what;
        std::int64_t const extent = plan_.variables[v].extent;
        signatures history{};
        bool const shared = (knows_cores || only_ >= 0) && variable_at(v).distributed;
        State* const led = state_;
        bool looking = how_ == visiting::periods && extent > 3 && !shared;
        open_[depth_++] = static_cast<std::int16_t>(v);
        for (std::int64_t i = 0; i < extent && visits_ >= 0 && !stopped_; ++i) {
            int const core = plan_.first_core + static_cast<int>(i);
            if (shared && only_ >= 0 && core != only_) continue;
            if (__builtin_is_constant_evaluated() && ++visits_ > State::most_visits) visits_ = -1;
            values_[v] = i;
            if constexpr (knows_cores) {
                if (shared) state_ = led->of_core(core);
            }
            if (shared) shared_ = true;
            if (goes_on_[at] || within_limits()) run_steps(at + 1, behind);
            if (!looking) continue;
            run_signature now;
            sign_rings(now);
            state_->sign(*this, now);
            repetition const found = repetition_at(v, i, extent, now, history);
            if (found.times == 0) {
                history[i % most_period] = now;
                continue;
            }
            state_->skip(*this, found.times, now, history[(i - found.period) % most_period]);
            i += found.times * found.period;
            looking = false;
        }
        state_ = led;
        if (shared) shared_ = false;
        --depth_;
    }
    /// Loops in which nothing is moved.
    constexpr void run_alone(int at, int behind) {
        std::int64_t times = 1;
        State* const led = state_;
        for (; at <= behind; ++at) {
            step const& s = plan_.steps[at];
            std::int64_t const extent = s.kind == step_kind::loop || s.kind == step_kind::end ? plan_.variables[s.what].extent : 1;
            if (s.kind == step_kind::loop) times *= extent, values_[s.what] = -1;
            if (s.kind == step_kind::end) times /= extent, values_[s.what] = extent - 1;
            if (s.kind != step_kind::compute || !is_run(s) || !is_begun(s.what)) continue;
            lead(s);
            state_->compute(*this, s.what, times / repeats_of_first(s.what));
            state_ = led;
        }
    }
    /// Outside of shares, a step is that of its core.
    constexpr void lead(step const& s) {
        if constexpr (knows_cores) {
            if (s.core > 0 && !shared_) state_ = state_->of_core(s.core);
        }
    }

    State* state_;  ///< that of the core that runs
    visiting how_;
    int visits_ = 0;
};

}  // namespace tilewright::detail
