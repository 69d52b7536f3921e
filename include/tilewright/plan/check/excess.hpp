#pragma once
#include <tilewright/plan/check/hazards.hpp>

// Whether a plan with partial tiles moves and computes only elements that are there. The check reads the program alone: it does not know
// how clips and limits were found.
namespace tilewright::detail {

/// Follows a program and compares where it moves and computes: with the extents of buffers, and with what the transfers into a buffer, or
/// the loops that compute it, have put there.
struct within_bounds {
    using run = program_position;
    using values = fixed_array<std::int64_t, plan_value::most_variables>;
    using ranges = fixed_array<range, max_rank>;
    static constexpr int most_visits = 24;
    static constexpr std::int64_t most_tried = 1 << 12;

    /// Neighbouring dimensions of a buffer, from `first` to `last`, that a transfer moves as one, and which elements of them.
    struct stretch {
        int first = 0, last = 0;
        range elements{};
    };
    struct moved {
        fixed_array<stretch, max_rank> stretches{};
        int count = 0;
    };
    hazard found{};

    constexpr void start(run& in, int movement_at) {
        movement const& m = in.movement_at(movement_at);
        if (in.elements_of(m) == 0) return;
        values const loops = loops_at(in, m.at.ring, in.number_of(m));
        for (bool source : {true, false}) {
            buffer_id const buffer_at = source ? m.source : m.destination;
            if (buffer_at < 0) continue;
            moved const there = moved_of(in, m, source, loops);
            buffer const& b = in.plan().buffers[buffer_at];
            for (int at = 0; at < there.count; ++at) {
                stretch const& s = there.stretches[at];
                std::int64_t size = 1;
                for (int d = s.first; d <= s.last; ++d) size *= b.extents[d];
                if (s.elements.low < 0 || s.elements.high >= size) return report(in, rule::outside_of_it, buffer_at, movement_at);
            }
            if (source) compare_with_computed(in, buffer_at, movement_at, there, loops);
        }
    }
    constexpr void wait(run&, int) {}
    constexpr void push(run&, int) {}
    constexpr void pop(run&, int) {}
    constexpr void compute(run& in, int body_at, std::int64_t times) {
        if (times == 0) return;
        body const& b = in.plan().bodies[body_at];
        if (b.kind == body_kind::intrinsic) return;  // idle lanes are allowed for, and proven to add nothing
        values const loops = loops_at(in, -1, 0);
        in.plan().each_use(b, [&](use const& u, bool reads, bool) {
            if (found) return;
            buffer const& used = in.plan().buffers[u.buffer];
            ranges where{};
            for (int d = 0; d < used.rank; ++d) {
                range& r = where[d];
                if (!reach(in, u.at[d], b, loops, false, r)) return;
                r.low -= used.minimum[d], r.high -= used.minimum[d];
                if (used.layout < 0 && !keep_inside(in, u.node, d, b, loops, r)) return;
                if (r.low < 0 || r.high >= used.extents[d]) return report(in, rule::outside_of_it, u.buffer, -1);
            }
            if (!reads) return;
            if (!is_computed_by_instructions(in, u.node)) compare_with_loaded(in, u.buffer, where, loops);
            compare_with_computed(in, u.buffer, -1, each_dimension(used, where), loops);
        });
    }
    constexpr void sign(run const&, run_signature&) const {}
    constexpr void skip(run const&, std::int64_t, run_signature const&, run_signature const&) {}

  private:
    static constexpr variable const& variable_at(run const& in, int at) { return in.plan().variables[at]; }
    /// The loops as they stand, or as they are at a step of a ring; -1: a loop that is free.
    static constexpr values loops_at(run const& in, int ring_at, std::int64_t number) {
        values loops{};
        set_all(loops, -1);
        for (int at = 0; at < in.plan().variables.size(); ++at) {
            if (in.is_open(at)) loops[at] = in.value(at);
        }
        for (int at = ring_at < 0 ? -1 : in.ring_at(ring_at).loop_count - 1; at >= 0; --at) {
            int const loop = in.ring_at(ring_at).loops[at];
            loops[loop] = number % variable_at(in, loop).extent;
            number /= variable_at(in, loop).extent;
        }
        return loops;
    }
    /// From where to where a form goes, free loops at all of their iterations.
    static constexpr range range_of(run const& in, affine const& form, values const& loops) {
        range whole{form.constant, form.constant};
        for (int at = 0; at < form.count; ++at) {
            term const& t = in.plan().term_at(form, at);
            variable const& v = variable_at(in, t.variable);
            range one{0, v.extent - 1};
            std::int64_t const here = loops[t.variable];
            if (v.kind == variable_kind::component) {
                one = range_of(in, v.fused, loops);
                std::int64_t const row = v.modulus;
                bool const wraps = row != 0 && one.low / row != one.high / row;
                if (wraps) one = {0, row - 1};
                else if (row != 0) one = {one.low % row, one.high % row};
                else one = {one.low / v.divisor, one.high / v.divisor};
            } else if (here >= 0) {
                one = {here, here};
            }
            whole.low += t.coefficient * (t.coefficient > 0 ? one.low : one.high);
            whole.high += t.coefficient * (t.coefficient > 0 ? one.high : one.low);
        }
        return whole;
    }
    /// From where to where a form goes in the iterations of a body that its limits leave; of a whole stage, in those of the loops of the
    /// program that are free, too. @return false when they leave none
    static constexpr bool reach(run const& in, affine const& form, body const& b, values const& loops, bool of_stage, range& into) {
        into = range_of(in, form, loops);
        fixed_array<int, body::most_loops> free{};
        int moving = 0;
        linear const whole = form_of(in.plan(), form);
        for (int at = 0; at < in.plan().variables.size() && moving < body::most_loops; ++at) {
            variable const& v = variable_at(in, at);
            if (v.kind != variable_kind::loop || loops[at] >= 0 || !moves_with(in.plan(), whole, at)) continue;
            free[moving++] = at;
        }
        fixed_array<int, plan_value::most_limits> limits{};  // that end loops which the form moves with
        fixed_array<bool, body::most_loops> is_ended{};
        int count = 0;
        for (int at = 0; at < in.plan().limits.size(); ++at) {
            limit const& l = in.plan().limits[at];
            if (l.stage != b.stage || (b.kind == body_kind::identity && l.reduction)) continue;
            bool concerned = l.loop >= 0 && of_stage && loops[l.loop] < 0;
            linear const ended = form_of(in.plan(), l.form);
            for (int loop = 0; loop < b.loop_count && l.loop < 0; ++loop) concerned |= moves_with(in.plan(), ended, b.loops[loop]);
            range const reached = concerned ? range_of(in, l.form, loops) : range{0, l.bound - 1};
            if (reached.low >= l.bound) return false;
            bool shared = false;
            for (int loop = 0; loop < moving && reached.high >= l.bound; ++loop) {
                if (!moves_with(in.plan(), ended, free[loop])) continue;
                shared = is_ended[loop] = true;
            }
            if (shared) limits[count++] = at;
        }
        if (count == 0) return true;
        // The other loops run in full, wherever these stand.
        int ends = 0;
        std::int64_t all = 1;
        for (int loop = 0; loop < moving; ++loop) {
            if (!is_ended[loop]) continue;
            free[ends++] = free[loop];
            all *= variable_at(in, free[loop]).extent;
        }
        moving = ends;
        if (all > most_tried) return false;
        bool any = false;
        values tried = loops;
        range const widest = into;
        for (std::int64_t number = 0; number < all; ++number) {
            std::int64_t rest = number;
            for (int at = 0; at < moving; ++at) {
                int const loop = free[at];
                tried[loop] = rest % variable_at(in, free[at]).extent;
                rest /= variable_at(in, free[at]).extent;
            }
            bool left = true;
            for (int at = 0; at < count && left; ++at) {
                limit const& l = in.plan().limits[limits[at]];
                left = range_of(in, l.form, tried).low < l.bound;
            }
            if (!left) continue;
            range const here = range_of(in, form, tried);
            into = any ? range{into.low < here.low ? into.low : here.low, into.high > here.high ? into.high : here.high} : here;
            any = true;
            if (into.low == widest.low && into.high == widest.high) break;
        }
        return any;
    }
    /// Leaves of what a padded access touches only what is inside its tensor. @return false when nothing is left
    static constexpr bool keep_inside(run const& in, int node, int dimension, body const& b, values const& loops, range& touched) {
        bool any = true;
        in.plan().each_padding(node, [&](padding const& one) {
            range index{};
            if (one.dimension != dimension || !reach(in, one.index, b, loops, false, index)) return;
            if (index.low < 0) touched.low -= index.low;
            if (index.high >= one.extent) touched.high -= index.high - one.extent + 1;
            any &= touched.low <= touched.high;
        });
        return any;
    }
    /// The elements that clips leave of a dimension of a call; dimension -1 is its row.
    static constexpr range left_of(run const& in, movement const& m, int dimension, bool source, values const& loops) {
        range left{0, (dimension < 0 ? m.row_elements : m.dimensions[dimension].extent) - 1};
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = in.plan().clips[at];
            if (c.dimension != dimension || !(shortens(c.is) || (source && pads(c.is)))) continue;
            bool const ends = c.is == clip_kind::end || c.is == clip_kind::border_end;
            range const form = range_of(in, c.form, loops);
            if (ends && c.bound - form.low - 1 < left.high) left.high = c.bound - form.low - 1;
            if (!ends && c.bound - form.high > left.low) left.low = c.bound - form.high;
        }
        return left;
    }
    /// What a movement moves on one of its sides. Where loops that make several calls of it are free, what all these calls move.
    static constexpr moved moved_of(run const& in, movement const& m, bool source, values const& loops) {
        buffer const& b = in.plan().buffers[source ? m.source : m.destination];
        // Loops that make several calls begin at 0: only the iterations that make a call count.
        values last = loops;
        for (int at = m.first_clip; at < m.first_clip + m.clip_count; ++at) {
            clip const& c = in.plan().clips[at];
            for (int t = 0; c.is == clip_kind::only && t < c.form.count; ++t) {
                int const piece = in.plan().term_at(c.form, t).variable;
                variable const& v = variable_at(in, static_cast<int>(piece));
                if (loops[piece] >= 0 || v.kind != variable_kind::loop) continue;
                values tried = loops;
                for (tried[piece] = last[piece] < 0 ? v.extent - 1 : last[piece]; tried[piece] > 0; --tried[piece]) {
                    if (range_of(in, c.form, tried).low < c.bound) break;
                }
                last[piece] = tried[piece];
            }
        }
        values first = last;
        for (int at = 0; at < in.plan().variables.size(); ++at) {
            if (loops[at] < 0 && last[at] >= 0) first[at] = 0;
        }
        moved there;
        ranges spans{};
        // The row is the innermost dimension of several elements. A box may have several, its border, where its tensor has one.
        int const other_at = source ? m.destination : m.source;
        buffer const& other = other_at < 0 ? b : in.plan().buffers[other_at];
        bool const alike = other.rank == b.rank && other.layout < 0 && b.layout < 0;
        int row = b.rank - 1;
        while (row > 0 && b.extents[row] == 1 && (!alike || other.extents[row] == 1)) --row;
        for (int d = 0; d < b.rank; ++d) {
            affine const& form = (source ? m.source_at : m.destination_at)[d];
            spans[d] = {range_of(in, form, first).low, range_of(in, form, last).high};
            spans[d].low -= b.minimum[d], spans[d].high -= b.minimum[d];
        }
        auto const widen_by = [&](int dimension, range const& left, std::int64_t factor) {
            if (dimension < 0) return;
            spans[dimension].low += factor * left.low, spans[dimension].high += factor * left.high;
        };
        for (int at = 0; at < m.dimension_count; ++at) {
            movement_dimension const& d = m.dimensions[at];
            widen_by(source ? d.source_dimension : d.destination_dimension, left_of(in, m, at, source, loops),
                     source ? d.source_factor : d.destination_factor);
        }
        if (b.rank > 0) widen_by(row, left_of(in, m, -1, source, loops), 1);
        unsigned const joined = source ? m.source_joined : m.destination_joined;
        for (int d = b.rank - 1; d >= 0; --d) {
            stretch s{d, d, spans[d]};
            std::int64_t size = b.extents[d];
            while (s.first > 0 && (joined >> (s.first - 1) & 1) != 0) {
                int const outer = --s.first;
                s.elements.low += spans[outer].low * size, s.elements.high += spans[outer].high * size;
                size *= b.extents[outer];
            }
            there.stretches[there.count++] = s;
            d = s.first;
        }
        return there;
    }
    /// Some elements of a buffer as stretches of single dimensions.
    static constexpr moved each_dimension(buffer const& b, ranges const& where) {
        moved found;
        for (int d = 0; d < b.rank; ++d) found.stretches[found.count++] = {d, d, where[d]};
        return found;
    }
    /// Whether stretches hold all of some elements of a buffer, or lie among them.
    static constexpr bool compare(run const& in, int buffer_at, moved const& there, ranges const& where, bool hold) {
        buffer const& b = in.plan().buffers[buffer_at];
        for (int at = 0; at < there.count; ++at) {
            stretch const& s = there.stretches[at];
            range of{};
            for (int d = s.first; d <= s.last; ++d) {
                std::int64_t const size = b.extents[d];
                of = {of.low * size + where[d].low, of.high * size + where[d].high};
            }
            range const& inner = hold ? of : s.elements;
            range const& outer = hold ? s.elements : of;
            if (inner.low < outer.low || inner.high > outer.high) return false;
        }
        return true;
    }
    /// Whether several movements bring a piece each, because a layout is on one of their sides. Only checked runs then follow what has
    /// come.
    static constexpr bool in_pieces(run const& in, int buffer_at) {
        auto const has_layout = [&](int at) { return at >= 0 && in.plan().buffers[at].layout >= 0; };
        bool pieces = has_layout(buffer_at);
        for (int at = 0; at < in.plan().movements.size(); ++at)
            pieces |= in.movement_at(at).destination == buffer_at && has_layout(in.movement_at(at).source);
        return pieces;
    }
    /// Whether instructions compute the tensor that a node reads: what transfers bring to its buffer is what they overwrite there.
    static constexpr bool is_computed_by_instructions(run const& in, int node) {
        for (int at = 0; at < in.plan().bodies.size(); ++at) {
            body const& by = in.plan().bodies[at];
            label const& output = in.plan().stages[by.stage].output;
            if (by.kind == body_kind::intrinsic && output == in.plan().what[node].name) return true;
        }
        return false;
    }
    /// Transfers must have brought what is read of a buffer that they fill.
    constexpr void compare_with_loaded(run& in, buffer_id buffer_at, ranges const& where, values const& loops) {
        if (in_pieces(in, buffer_at)) return;
        for (int at = 0; at < in.plan().movements.size() && !found; ++at) {
            movement const& m = in.movement_at(at);
            if (m.destination != buffer_at || m.source < 0) continue;
            if (!compare(in, buffer_at, moved_of(in, m, false, loops), where, true)) report(in, rule::never_loaded, buffer_at, -1);
        }
    }
    /// Loops of a stage must have computed what is stored or read of their buffer.
    constexpr void compare_with_computed(run& in, buffer_id buffer_at, int by_movement, moved const& there, values const& loops) {
        buffer const& b = in.plan().buffers[buffer_at];
        if (b.kind == buffer_kind::argument || b.layout >= 0) return;
        for (int at = 0; at < in.plan().bodies.size() && !found; ++at) {
            body const& by = in.plan().bodies[at];
            bool const continues = in.plan().stages[by.stage].continues;
            if (by.kind == body_kind::intrinsic || by.kind == body_kind::identity || continues) continue;
            in.plan().each_use(by, [&](use const& u, bool, bool writes) {
                if (u.buffer != buffer_at || !writes || found) return;
                ranges computed{};
                for (int d = 0; d < b.rank; ++d) {
                    if (!reach(in, u.at[d], by, loops, true, computed[d])) return;
                }
                if (!compare(in, buffer_at, there, computed, false)) report(in, rule::never_computed, buffer_at, by_movement);
            });
        }
    }
    constexpr void report(run& in, rule broken, buffer_id buffer_at, int movement_at) {
        if (!found) found = {broken, buffer_at, 0, static_cast<std::int16_t>(movement_at), -1};
        in.stop();
    }
};

/// The first movement or body of a plan with partial tiles that leaves a buffer, or touches elements that nothing has put there.
constexpr hazard find_excess(plan_value const& plan, visiting how = visiting::periods) {
    if (plan.refusal || plan.limits.size() + plan.clips.size() == 0) return {};
    within_bounds state;
    program_run<within_bounds>(plan, state, how).run();
    return state.found;
}

}  // namespace tilewright::detail
