#pragma once
#include <bit>
#include <tilewright/plan/write/clipping.hpp>
#include <tilewright/plan/write/intrinsic_steps.hpp>

// Steps of an intrinsic that reach beyond the end of an axis. They are computed in full: what they write there must fall on nothing, and
// what they read there must add nothing to a reduction.
namespace tilewright::detail {

constexpr known wrapped(scalar_type type, std::int64_t value) {
    return visit_scalar(type, [value]<class T>(T) -> known {
        if constexpr (std::is_same_v<T, bool>) return {true, value != 0};
        else if constexpr (std::is_integral_v<T>) return {true, static_cast<std::int64_t>(static_cast<T>(value))};
        else return {false, 0};
    });
}

/// What a value is when its operands are `operand(node)`: of integers the operations that intrinsics are made of, of floating point what
/// products, sums and conversions make of zeros and what is passed on.
template <class Operand>
constexpr known evaluate(computation_view nodes, int at, Operand const& operand) {
    node const& n = nodes[at];
    auto const argument = [&](int position) { return evaluate(nodes, n.argument(position), operand); };
    bool const real = is_float(n.type);
    auto const integer = [&](std::uint64_t value) { return wrapped(n.type, static_cast<std::int64_t>(value)); };
    switch (n.op) {
        case operation::constant: return {true, n.value};
        case operation::access: return operand(at);
        case operation::cast: {
            known const a = argument(0);
            scalar_type const from = nodes[n.argument(0)].type;
            if (!a.is) return {};
            if (is_float(from) && real) return a;  // a single is kept as a double
            if (is_float(from) || real) return a.value == 0 ? known{true, 0} : known{};
            return wrapped(n.type, a.value);
        }
        case operation::multiply: {
            known const a = argument(0), b = argument(1);
            bool const zero = (a.is && a.value == 0) || (b.is && b.value == 0);
            // Zero times infinity is no number.
            if (real) return a.is && b.is && a.value == 0 && b.value == 0 ? known{true, 0} : known{};
            if (zero) return {true, 0};
            return a.is && b.is ? integer(static_cast<std::uint64_t>(a.value) * static_cast<std::uint64_t>(b.value)) : known{};
        }
        case operation::add:
        case operation::subtract: {
            known const a = argument(0), b = argument(1);
            if (!a.is || !b.is) return {};
            if (real) return a.value == 0 && b.value == 0 ? known{true, 0} : known{};
            std::uint64_t const right = static_cast<std::uint64_t>(b.value);
            return integer(static_cast<std::uint64_t>(a.value) + (n.op == operation::add ? right : 0 - right));
        }
        default: return {};
    }
}

/// A step of the intrinsic of stage `s` that can reach beyond an end.
struct partial_lane {
    linear axis;     ///< the value of the stage's axis that has the end, without its lane
    linear limited;  ///< likewise, of the part of it that has the end
    std::int16_t lane = -1;
    std::int64_t extent = 0, step = 0;
    bool reduction = false;
    label name{};
};

/// An end that a step of constant extents cannot keep to, nor one of this intrinsic.
constexpr void refuse_shared_end(planning& p, int s, nest_axis const& a, std::int64_t extent) {
    verdict& v = p.refuse(verdict_kind::partial_step, p.nest_at(s).intrinsic_ordinal);
    v.broken = rule::step_shares_its_end;
    v.names = {p.of->where().intrinsics[p.nest_at(s).intrinsic].name, a.name};
    v.facts = {fact{fact_kind::extent, extent}, fact{fact_kind::factor, a.lane_extent}};
}

/// Calls `visit(partial_lane)` for every end that a step reaches beyond.
template <class Visit>
constexpr void each_partial_lane(planning& p, int s, Visit&& visit) {
    nest const& n = p.nest_at(s);
    for (int at = 0; at < p.plan.limits.size() && !p.refused(); ++at) {
        limit const l = p.plan.limits[at];
        if (l.stage != s || l.loop >= 0) continue;
        linear const form = p.form_of(l.form);
        for (int covered = 0; covered < n.covered_count; ++covered) {
            nest_axis const& a = n.axes[n.covered[covered]];
            std::int64_t const weight = form.coefficient_of(a.lane);
            if (weight == 0) continue;
            std::int64_t grain = 0;
            for (int t = 0; t < form.count; ++t) {
                if (form.terms[t].variable != a.lane) grain = std::gcd(grain, form.terms[t].coefficient);
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
                               .extent = l.bound,
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

/// How many loops of stage `s` stand around what is in a buffer: its box is for one iteration of them.
constexpr int depth_of(planning& p, int s, int buffer_at) {
    for (int at = 0; at < p.stagings.size(); ++at) {
        if (p.staging_at(at).buffer == buffer_at && p.staging_at(at).stage == s) return p.staging_at(at).depth;
    }
    for (int t = 0; t < p.plan.stages.size(); ++t) {
        if (p.placed(t).home == buffer_at) return p.placed(t).outer_depth;
    }
    return 0;
}

/// Whether a buffer holds, behind the end of one part of an axis, the beginning of the next one.
constexpr bool holds_next(planning& p, int s, partial_lane const& lane, int depth) {
    for (int t = 0; t < lane.axis.count; ++t) {
        term const& part = lane.axis.terms[t];
        if (lane.limited.coefficient_of(part.variable) != 0 || p.var(part.variable).extent == 1) continue;
        if (side_of(p, s, part.variable, depth) != side::outside) return true;
    }
    return false;
}

constexpr void refuse_partial(planning& p, int s, partial_lane const& lane, rule why, label const& tensor) {
    verdict& v = p.refuse(verdict_kind::partial_step, p.nest_at(s).intrinsic_ordinal);
    v.broken = why;
    v.names = {p.of->where().intrinsics[p.nest_at(s).intrinsic].name, lane.name, tensor};
    v.facts = {fact{fact_kind::extent, lane.extent}, fact{fact_kind::factor, lane.step}};
}

/// What can be in an operand where a step reads beyond the end of a reduction.
struct tail_operand {
    std::int16_t node = -1;     ///< the access of the stage …
    std::int16_t staging = -1;  ///< … and the buffer that it reads; -1: what is there is not known
    std::int16_t dimension = -1;
    scalar_type type{};
};

constexpr tail_operand operand_of(planning& p, int s, partial_lane const& lane, int node) {
    use const& u = *p.plan.use_at(node);
    tail_operand found{.node = static_cast<std::int16_t>(node), .type = p.plan.what[node].type};
    for (int dimension = 0; dimension < p.plan.what[node].argument_count; ++dimension) {
        if (p.index_form(s, node, dimension).coefficient_of(lane.lane) != 0) found.dimension = static_cast<std::int16_t>(dimension);
    }
    if (found.dimension < 0) return found;
    for (int at = 0; at < p.stagings.size(); ++at) {
        staging const& st = p.staging_at(at);
        // Of another tensor, a result has overwritten what is loaded.
        if (st.buffer != u.buffer || st.tensor != p.plan.what[node].name || st.writes || holds_next(p, s, lane, st.depth)) continue;
        // Nothing but this axis moves there: else what one step reads beyond the end is what another one needs.
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
    constexpr fill_choice(planning& p, int s) : p_(p), s_(s), st_(p.stage_at(s)), where_(p.of->where()) {}

    constexpr void run() {
        each_partial_lane(p_, s_, [&](partial_lane const& lane) {
            check_operands(lane);
            if (!p_.refused() && lane.reduction) fill(lane);
        });
    }

  private:
    using choice = fixed_array<int, matching::most>;

    constexpr computation_view semantics() const { return where_.view(where_.intrinsics[p_.nest_at(s_).intrinsic].semantics); }

    /// What a partial step reads and writes beyond the end must have room, and be nobody's.
    constexpr void check_operands(partial_lane const& lane) {
        auto const check = [&](int node) {
            use const& u = *p_.plan.use_at(node);
            bool moves = false;
            for (int dimension = 0; dimension < p_.plan.what[node].argument_count; ++dimension)
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
        // The fewest fills that do, in the order of the machine's transfers; 0 is none.
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
        return filled_value(p_, transfer_at, p_.staging_at(o.staging).memory, o.type);
    }
    /// Whether the semantics make the identity of the reduction of what operands are filled with.
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
    /// The next choice of fills, like a number of `count_` digits. @return false after the last one
    constexpr bool next(choice& chosen) {
        for (int at = 0; at < count_; ++at) {
            int& digit = chosen[at];
            // A buffer is filled with one value, whatever ends there.
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
            tensor = p_.plan.what[o.node].name;
            bool const holds = holds_next(p_, s_, lane, depth_of(p_, s_, p_.plan.use_at(o.node)->buffer));
            why = holds ? rule::step_on_the_next_tile : rule::step_behind_a_reduction;
        }
        refuse_partial(p_, s_, lane, why, tensor);
    }

    planning& p_;
    int s_;
    stage const& st_;
    machine const& where_;
    matching found_{};
    fixed_array<tail_operand, matching::most> operands_{};
    int count_ = 0;
};

constexpr void choose_fills(planning& p, int s) { fill_choice(p, s).run(); }

/// Whether what is loaded along a dimension ends where a partial step of a reduction goes on.
constexpr bool ends_a_reduction(planning& p, staging const& st, int dimension) {
    bool reduced = false;
    each_partial_lane(p, st.stage, [&](partial_lane const& lane) {
        reduced |= lane.reduction && p.index_form(st.stage, access_of(p, st, dimension).node, dimension).coefficient_of(lane.lane) != 0;
    });
    return reduced;
}
/// What is to be in a staged buffer, and at which ends of it the border is.
constexpr region bordered_box(planning& p, staging const& st) {
    region r{.destination = st.buffer};
    r.count = box_rank(p, p.buffer_at(st.buffer));
    staging seen = st;
    seen.pads = true;
    for (int dimension = 0; dimension < r.count; ++dimension) {
        std::int64_t const extent = clip_staged(p, seen, dimension, r);
        r.dimensions[dimension] = {.extent = extent, .destination_dimension = static_cast<std::int8_t>(dimension)};
        settle_clips(p, r, dimension);
        drop_idle_borders(p, dimension, r);
    }
    return r;
}

/// Calls `visit(region, dimension, most)` for the strips that the border of a box is: in each dimension one in front and one behind, which
/// have all of the dimensions further in, and what lies inside of those further out. `most`: elements of the dimension that a strip has at
/// most; its region can have more, as it begins where it is longest.
template <class Visit>
constexpr void each_strip(planning& p, region const& whole, Visit&& visit) {
    for (int dimension = 0; dimension < whole.count; ++dimension) {
        for (int both = 0; both < 2 * whole.clips.size(); ++both) {
            bool const begins = both < whole.clips.size();
            int const which = both % whole.clips.size();
            region::clipped const border = whole.clips[which];
            if (border.dimension != dimension || border.is != (begins ? clip_kind::border_begin : clip_kind::border_end)) continue;
            std::int64_t const extent = whole.dimensions[dimension].extent,
                               reaches = border.bound - (begins ? lowest_of(p, border.form) : highest_of(p, border.form));
            std::int64_t const first = begins || reaches < 0 ? 0 : reaches, end = begins && reaches < extent ? reaches : extent;
            region strip = whole;
            strip.clips = {};
            strip.dimensions[dimension].extent = end - first;
            strip.destination_at[dimension].constant += first;
            for (int at = 0; at < whole.clips.size(); ++at) {
                region::clipped c = whole.clips[at];
                if (at == which) c.is = begins ? clip_kind::end : clip_kind::begin;
                else if (pads(c.is) && c.dimension >= dimension) continue;
                else if (pads(c.is)) c.is = c.is == clip_kind::border_end ? clip_kind::end : clip_kind::begin;
                if (c.dimension == dimension && shortens(c.is)) c.bound -= first;
                strip.clips.push(c);
            }
            bool any = true;
            for (int settled = 0; settled <= dimension; ++settled) {
                settle_clips(p, strip, settled);
                any &= strip.dimensions[settled].extent > 0;
            }
            if (any) visit(strip, dimension, reach_of_border(p, whole, border, extent).outside);
        }
    }
}

/// All of a staged buffer, filled where the load leaves some of it out.
constexpr region filled_box(planning& p, staging const& st) {
    buffer const& b = p.buffer_at(st.buffer);
    region r{.destination = st.buffer};
    bool always = false;
    for (int dimension = 0; dimension < box_rank(p, b); ++dimension) {
        std::int64_t const extent = box_extent(p, b, dimension);
        r.dimensions[dimension] = {.extent = extent, .destination_dimension = static_cast<std::int8_t>(dimension)};
        if (st.border >= 0 && !st.pads) {
            linear const begin = p.form_of(p.box_at[st.buffer][dimension]);
            std::int64_t const end = padded_extent(p.plan.what, st.border, dimension);
            linear negative;
            negative.add(begin, -1);
            always |= begin.count == 0 && (begin.constant < 0 || begin.constant + extent > end);
            if (lowest_of(p, begin) < 0) r.add(p, {negative, 1, -1, clip_kind::beyond});
            if (highest_of(p, begin) + extent > end) r.add(p, {begin, end - extent + 1, -1, clip_kind::beyond});
        }
        if (!ends_a_reduction(p, st, dimension)) continue;
        touched const loaded = touched_by(p, st.stage, access_of(p, st, dimension).node, dimension, st.depth, 0);
        always |= loaded.extent < extent;
        for (int at = 0; at < loaded.clips.items.size(); ++at) {
            clip_list::item const& c = loaded.clips.items[at];
            if (c.is == clip_kind::end) r.add(p, {c.form, c.bound - extent + 1, -1, clip_kind::beyond});
        }
    }
    if (always) r.clips = {};
    r.count = box_rank(p, b);
    return r;
}

/// Steps that are tried: what they cost, and back to where the program was before.
struct trial {
    planning& p;
    buffer const before;
    int const buffer_at, variables, terms, clips, movements, steps;

    constexpr trial(planning& planned, int filled)
        : p(planned),
          before(planned.buffer_at(filled)),
          buffer_at(filled),
          variables(planned.plan.variables.size()),
          terms(planned.plan.terms.size()),
          clips(planned.plan.clips.size()),
          movements(planned.plan.movements.size()),
          steps(planned.plan.steps.size()) {}

    /// Cycles of all calls behind step `from`, whose regions have `most` of `extent` elements in one dimension.
    constexpr std::int64_t cycles(int from, std::int64_t most, std::int64_t extent) const {
        std::int64_t all = 0, times = 1;
        for (int at = from; at < p.plan.steps.size(); ++at) {
            step const& s = p.plan.steps[at];
            if (s.kind == step_kind::loop) times *= p.var(s.what).extent;
            if (s.kind == step_kind::end) times /= p.var(s.what).extent;
            if (s.kind != step_kind::start) continue;
            movement const& m = p.plan.movements[s.what];
            std::int64_t const bytes = (m.bytes * most + extent - 1) / extent, rate = mover_of(p.plan, m.transfer).costs.bytes_per_cycle;
            if (m.transfer < 0) all += times * ((m.cycles * most + extent - 1) / extent);
            else all += times * (m.cycles - (m.bytes + rate - 1) / rate + (bytes + rate - 1) / rate);
        }
        return all;
    }
    constexpr void take_back() const {
        p.kept = {};
        p.buffer_at(buffer_at) = before;
        p.plan.variables.shrink(variables), p.plan.terms.shrink(terms), p.plan.clips.shrink(clips);
        p.plan.movements.shrink(movements), p.plan.steps.shrink(steps);
    }
};

/// Whether the border alone is filled, in strips: where calls can move these, and in no step take longer than a fill of the whole box.
constexpr bool goes_in_strips(planning& p, staging const& st, region const& all, int transfer_at, ring_step const& when) {
    if (st.border < 0 || st.pads || p.refused()) return false;
    for (int dimension = 0; dimension < all.count; ++dimension) {
        if (ends_a_reduction(p, st, dimension)) return false;
    }
    trial const tried(p, st.buffer);
    region const box = bordered_box(p, st);
    // A box that is no longer than its tensor meets the border at one end of a dimension at a time.
    fixed_array<std::int64_t, max_rank> longest{}, both{};
    each_strip(p, box, [&](region& strip, int dimension, std::int64_t most) {
        int const from = p.plan.steps.size();
        std::int64_t const extent = strip.dimensions[dimension].extent;
        strip.border = all.border;
        move_region(p, strip, transfer_at, st.ordinal, when);
        std::int64_t const cycles = p.refused() ? 0 : tried.cycles(from, most < extent ? most : extent, extent);
        both[dimension] += cycles;
        if (cycles > longest[dimension]) longest[dimension] = cycles;
    });
    std::int64_t strips = 0;
    for (int dimension = 0; dimension < box.count; ++dimension) {
        strips +=
            box.dimensions[dimension].extent > padded_extent(p.plan.what, st.border, dimension) ? both[dimension] : longest[dimension];
    }
    bool const can = !p.refused();
    tried.take_back();
    if (!can) return false;
    move_region(p, all, transfer_at, st.ordinal, when);
    bool const whole = !p.refused() && tried.cycles(tried.steps, 1, 1) < strips;
    tried.take_back();
    return !whole;
}

/// Fills a staged buffer in front of a load that leaves some of it out: a border, and what steps read beyond the end of a reduction.
constexpr void write_fill_of_staged(planning& p, staging const& st, ring_step const& when) {
    region all = filled_box(p, st);
    int const filler = st.fill == staging::filled_by_core ? by_core : st.fill;
    if (filler == by_core) all.border = st.border;
    bool const aside = filler >= 0 && p.of->where().transfers[filler].is_asynchronous;
    ring_step at = when;
    // It goes into the version that is loaded next: in front of the load, or in the same queue.
    if (aside && when.ring >= 0 && p.of->where().engines.find(p.of->where().transfers[filler].engine_name) != p.ring_at(when.ring).engine) {
        p.refuse(verdict_kind::not_honoured, st.ordinal).names = {p.of->where().transfers[filler].name, "a queue of its own"};
        return;
    }
    bool const strips = goes_in_strips(p, st, all, filler, when);
    if (aside && when.ring < 0) at = step_number(alone_in(p, st.buffer, filler), 0);
    if (strips) {
        each_strip(p, bordered_box(p, st), [&](region& strip, int, std::int64_t) {
            strip.border = all.border;
            move_region(p, strip, filler, st.ordinal, at);
        });
    } else {
        move_region(p, all, filler, st.ordinal, at);
    }
    if (aside && when.ring < 0) p.add(step_kind::wait, p.add(at));
}

}  // namespace tilewright::detail
