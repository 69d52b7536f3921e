#pragma once
#include <tilewright/plan/ir/planning.hpp>
#include <tilewright/plan/ir/program_run.hpp>

// Which indices an access of one core takes along a dimension, so that those of two cores can be told apart.
namespace tilewright::detail {

/// Indices along one dimension, all of them and, if it is cut in pieces for the cores again and again, those inside of `period`.
struct core_side {
    std::int64_t low = 0, high = 0;
    std::int64_t period = 0, first = 0, last = 0;  ///< 0: none

    constexpr bool apart(core_side const& other) const {
        if (low > other.high || other.low > high) return true;
        return period > 0 && period == other.period && (first > other.last || other.first > last);
    }
    /// The lines that they lie in, counted from that of index `origin`. @param step  bytes from an index to the next
    constexpr core_side in_lines(std::int64_t origin, std::int64_t step, std::int64_t line) const {
        core_side lines{(low - origin) * step / line, ((high - origin + 1) * step - 1) / line};
        if (period > 0 && origin == 0 && period * step % line == 0)
            lines.period = period * step / line, lines.first = first * step / line, lines.last = ((last + 1) * step - 1) / line;
        return lines;
    }
    constexpr void include(core_side const& other) {
        low = other.low < low ? other.low : low;
        high = other.high > high ? other.high : high;
        first = other.first < first ? other.first : first;
        last = other.last > last ? other.last : last;
        if (period != other.period) period = 0;
    }
};

/// From where an index is looked at: where the loops around stand, or those of a ring at a step of it.
struct side_place {
    int ring_at = -1;
    std::int64_t number = 0;
    body const* in = nullptr;  ///< the tile body that uses it, whose limits cut what it reaches
    bool pure_only = false;    ///< the use may be where a reduction begins, which its limits do not cut
};

/// Makes the side of an index.
///
/// Loops that are run as one, those of tile bodies, and parts of fused loops are taken at all of their iterations.
class side_maker {
  public:
    constexpr side_maker(program_position const& in, side_place const& place) : in_(in), plan_(in.plan()), place_(place) {}

    /// @param reach  how far the access goes from the index
    constexpr core_side side_of(affine const& kept, range const& reach) const {
        linear const form = form_of(plan_, kept);
        core_side s{lowest_of(form) + reach.low, highest_of(form) + reach.high};
        set_period(form, reach, s);
        return s;
    }

  private:
    /// The iteration of a loop that stands still; -1: it is at all of them.
    constexpr std::int64_t here(variable_id at) const {
        bool stands = in_.is_open(at);
        for (int loop = 0; place_.ring_at >= 0 && loop < in_.ring_at(place_.ring_at).loop_count; ++loop)
            stands |= in_.ring_at(place_.ring_at).loops[loop] == at;
        return stands && plan_.variables[at].kind == variable_kind::loop ? in_.value_at(at, place_.ring_at, place_.number) : -1;
    }
    constexpr std::int64_t furthest(linear const& form, bool down) const {
        std::int64_t sum = form.constant;
        for (int at = 0; at < form.count; ++at) {
            term const& t = form.terms[at];
            std::int64_t const stands = here(t.variable), far = t.coefficient * (plan_.variables[t.variable].extent - 1);
            if (stands >= 0) sum += t.coefficient * stands;
            else if (down == (far < 0)) sum += far;
        }
        return sum;
    }
    constexpr std::int64_t lowest_of(linear const& form) const { return furthest(form, true); }
    constexpr std::int64_t highest_of(linear const& form) const {
        auto const up = [&](linear const& of) { return furthest(of, false); };
        return place_.in == nullptr ? up(form) : cut_by_limits(plan_, form, *place_.in, place_.pure_only, up);
    }
    static constexpr bool has(linear const& form, term const& t) { return form.coefficient_of(t.variable) == t.coefficient; }
    /// The limit at which the last of uneven shares ends, and what is around begins anew, if an index moves as it says; -1: there is none.
    /// A limit of the whole index does not say where shares begin anew.
    constexpr int end_of_shares(linear const& form) const {
        int found = -1;
        for (int which = 0; which < plan_.limits.size(); ++which) {
            linear const limited = form_of(plan_, plan_.limits[which].form);
            bool shared = false, same = limited.constant == 0;
            for (int at = 0; at < form.count; ++at) {
                term const& t = form.terms[at];
                shared |= has(limited, t) && plan_.variables[t.variable].distributed;
                same &= has(limited, t) || limited.coefficient_of(t.variable) == 0;
            }
            if (shared && same && (found < 0 || plan_.limits[which].bound < plan_.limits[found].bound)) found = which;
        }
        bool whole = found >= 0;
        for (int at = 0; at < form.count && whole; ++at) whole = has(form_of(plan_, plan_.limits[found].form), form.terms[at]);
        return whole ? -1 : found;
    }
    /// An index that moves with the core begins anew after the pieces of all cores, if all but whole periods fits into one of them.
    constexpr void set_period(linear const& form, range const& reach, core_side& s) const {
        std::int64_t period = 0;
        for (int at = 0; at < form.count; ++at) {
            variable const& v = plan_.variables[form.terms[at].variable];
            if (v.distributed) period = form.terms[at].coefficient * v.extent;
        }
        if (period <= 0) return;
        int const end = end_of_shares(form);
        if (end >= 0) period = plan_.limits[end].bound;
        // Loops around move it by whole periods, wherever they stand.
        linear inside = form;
        bool others = false;
        for (int at = 0; at < form.count; ++at) {
            term const& t = form.terms[at];
            if (t.coefficient % period != 0 || (end >= 0 && has(form_of(plan_, plan_.limits[end].form), t))) continue;
            others |= plan_.variables[t.variable].extent > 1;
            inside.add(-t.coefficient, t.variable);
        }
        std::int64_t const first = lowest_of(inside) + reach.low, last = highest_of(inside) + reach.high;
        if (!others || first < 0 || first / period != last / period) return;
        s.period = period, s.first = first % period, s.last = last % period;
    }

    program_position const& in_;
    plan_value const& plan_;
    side_place place_;
};

}  // namespace tilewright::detail
