#pragma once
#include <tilewright/plan/write/partial_steps.hpp>

// Fills of a staged buffer besides its load: borders, and what steps read beyond the end of a reduction.
namespace tilewright::detail {

/// Whether the load ends along a dimension where a partial step of a reduction goes on.
constexpr bool ends_a_reduction(planning const& p, staging const& st, int dimension) {
    bool reduced = false;
    each_partial_lane(p, st.stage, [&](partial_lane const& lane) {
        reduced |= lane.reduction && p.index_form(st.stage, access_of(p, st, dimension).node, dimension).coefficient_of(lane.lane) != 0;
    });
    return reduced;
}
/// The contents of a staged buffer, and the ends at which it has a border.
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

/// Calls `visit(region, dimension, most)` for the strips that make up the border of a box: in each dimension one before and one after. A
/// strip covers the dimensions further in as a whole, and the inside of those further out. `most`: the most elements of the dimension that
/// a strip has; its region can have more, as it begins where it is longest.
template <class Visit>
constexpr void each_strip(planning const& p, region const& whole, Visit&& visit) {
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

/// The whole of a staged buffer, to be filled if the load leaves some of it out.
constexpr region filled_box(planning& p, staging const& st) {
    buffer const& b = p.buffer_at(st.buffer);
    region r{.destination = st.buffer};
    bool always = false;
    for (int dimension = 0; dimension < box_rank(p, b); ++dimension) {
        std::int64_t const extent = box_extent(p, b, dimension);
        r.dimensions[dimension] = {.extent = extent, .destination_dimension = static_cast<std::int8_t>(dimension)};
        if (st.border >= 0 && !st.pads) {
            linear const begin = p.form_of(p.from.box_at[st.buffer][dimension]);
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

/// Steps that are written as a trial: what they cost, and how to take them back.
struct trial {
    writing& p;
    buffer const before;
    int const buffer_at, variables, terms, clips, movements, steps;

    constexpr trial(writing& planned, int filled)
        : p(planned),
          before(planned.buffer_at(filled)),
          buffer_at(filled),
          variables(planned.plan.variables.count),
          terms(planned.plan.terms.count),
          clips(planned.plan.clips.count),
          movements(planned.plan.movements.count),
          steps(planned.plan.steps.count) {}

    /// Cycles of all calls after step `from`, whose regions have `most` of `extent` elements in one dimension.
    constexpr std::int64_t cycles(int from, std::int64_t most, std::int64_t extent) const {
        std::int64_t all = 0, times = 1;
        // Rounded up, and without a product that is larger than what comes out.
        auto const part_of = [&](std::int64_t whole) { return whole / extent * most + (whole % extent * most + extent - 1) / extent; };
        for (int at = from; at < p.plan.steps.count; ++at) {
            step const& s = p.plan.steps[at];
            if (s.kind == step_kind::loop) times *= p.var(s.what).extent;
            if (s.kind == step_kind::end) times /= p.var(s.what).extent;
            if (s.kind != step_kind::start) continue;
            movement const& m = p.plan.movements[s.what];
            std::int64_t const bytes = part_of(m.bytes), rate = mover_of(p.plan, m.transfer).costs.bytes_per_cycle;
            if (m.transfer < 0) all += times * part_of(m.cycles);
            else all += times * (m.cycles - (m.bytes + rate - 1) / rate + (bytes + rate - 1) / rate);
        }
        return all;
    }
    constexpr void take_back() const {
        p.forget();
        p.buffer_at(buffer_at) = before;
        p.plan.variables.shrink(variables), p.plan.terms.shrink(terms), p.plan.clips.shrink(clips);
        p.plan.movements.shrink(movements), p.plan.steps.shrink(steps);
    }
};

/// Whether to fill only the border, in strips: if calls can move the strips, and take no longer in any step than a fill of the whole box.
constexpr bool goes_in_strips(writing& p, staging const& st, region const& all, int transfer_at, ring_step const& when) {
    if (st.border < 0 || st.pads || p.refused()) return false;
    for (int dimension = 0; dimension < all.count; ++dimension) {
        if (ends_a_reduction(p, st, dimension)) return false;
    }
    trial const tried(p, st.buffer);
    region const box = bordered_box(p, st);
    // A box that is no longer than its tensor meets the border at one end of a dimension at a time.
    fixed_array<std::int64_t, max_rank> longest{}, both{};
    each_strip(p, box, [&](region& strip, int dimension, std::int64_t most) {
        int const from = p.plan.steps.count;
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

/// Fills a staged buffer before a load that leaves some of it out: a border, and what steps read beyond the end of a reduction.
constexpr void write_fill_of_staged(writing& p, staging const& st, ring_step const& when) {
    region all = filled_box(p, st);
    int const filler = st.fill == staging::filled_by_core ? by_core : st.fill;
    if (filler == by_core) all.border = st.border;
    bool const aside = filler >= 0 && p.of->where().transfers[filler].is_asynchronous;
    ring_step at = when;
    // The fill goes into the version that is loaded next: before the load, or in the same queue.
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
