#pragma once
#include <tilewright/plan/place/layout.hpp>
#include <tilewright/plan/write/movement_writer.hpp>

// Moves regions into buffers with a layout, and out of them.
namespace tilewright::detail {

/// Turns the dimensions of a region, which are those of boxes, into those of buffers. A dimension is cut where a layout splits it: its
/// parts move by different steps on the two sides. A part that has no constant step, or ends early, becomes a loop of the program.
struct packing {
    writing& p;
    region r;
    int transfer_at = by_core;
    int ordinal = 0;

    /// A part of a dimension of the region: `extent` steps of `weight` elements.
    struct part {
        std::int64_t extent = 1;
        std::int64_t weight = 1;
    };
    /// The parts of a dimension, outermost first; none: the layout gives it no constant step.
    struct cuts {
        static constexpr int most = 2 * max_rank;
        fixed_array<part, most> parts{};
        int count = 0;
    };
    fixed_array<std::int16_t, 24> loops{};
    int loop_count = 0;

    constexpr buffer_layout const* layout_of(int buffer_at) const {
        if (buffer_at < 0 || p.buffer_at(buffer_at).layout < 0) return nullptr;
        return &p.plan.layouts[p.buffer_at(buffer_at).layout];
    }

    /// The least number of elements above `above` at which a layout cuts a dimension of the region; 0: none. -1 if that number depends on
    /// where the region begins.
    constexpr std::int64_t next_cut(buffer_id buffer_at, int dimension, std::int64_t factor, linear const& begin, std::int64_t extent,
                                    std::int64_t above) const {
        buffer_layout const* const l = layout_of(buffer_at);
        std::int64_t least = 0;
        for (int at = 0; l != nullptr && at < p.buffer_at(buffer_at).rank; ++at) {
            buffer_layout::coordinate const& c = l->coordinates[at];
            if (c.dimension != dimension || c.divisor <= above || (least > 0 && c.divisor >= least)) continue;
            if (c.divisor == 1 || c.modulus == 1) continue;
            linear high, low;
            divide(begin, c.divisor, high, low);
            linear last = low;
            last.constant += factor * (extent - 1);
            if (stays_below(p, low, c.divisor) && stays_below(p, last, c.divisor)) continue;  // all of it lies in one part
            if (factor != 1 || low.count > 0 || low.constant != 0) return -1;
            least = c.divisor;
        }
        return least;
    }
    constexpr cuts cuts_of(movement_dimension const& d) const {
        cuts found;
        fixed_array<std::int64_t, cuts::most> weights{1};
        int count = 1;
        for (;;) {
            std::int64_t const last = weights[count - 1];
            std::int64_t next = next_cut(r.destination, d.destination_dimension, d.destination_factor,
                                         r.destination_at[d.destination_dimension], d.extent, last);
            std::int64_t other = 0;
            if (d.source_dimension >= 0)
                other = next_cut(r.source, d.source_dimension, d.source_factor, r.source_at[d.source_dimension], d.extent, last);
            if (next < 0 || other < 0) return {};
            if (next == 0 || (other > 0 && other < next)) next = other;
            if (next == 0) break;
            if (next % last != 0) return {};
            weights[count++] = next;
        }
        for (int at = count - 1; at >= 0; --at) {
            std::int64_t const weight = weights[at];
            std::int64_t const whole = at + 1 < count ? weights[at + 1] : d.extent;
            found.parts[found.count++] = {(whole - 1) / weight + 1, weight};
        }
        return found;
    }
    /// The dimension of a buffer that a part of a dimension of its box moves along, and the step there.
    struct direction {
        int dimension = -1;
        std::int64_t factor = 0;
    };
    constexpr direction direction_of(buffer_id buffer_at, int dimension, std::int64_t step) const {
        buffer_layout const* const l = layout_of(buffer_at);
        if (l == nullptr) return {dimension, step};
        direction found;
        std::int64_t divisor = 0;
        for (int at = 0; at < p.buffer_at(buffer_at).rank; ++at) {
            buffer_layout::coordinate const& c = l->coordinates[at];
            if (c.dimension != dimension || c.modulus == 1 || c.divisor > step || c.divisor <= divisor) continue;
            divisor = c.divisor;
            found = {at, step / divisor};
        }
        return found;
    }

    /// Makes a part of a dimension a loop. @param all  the loop is all of the dimension: it makes no call where the dimension has ended
    constexpr void peel(movement_dimension const& d, part const& of, bool all) {
        if (of.extent == 1) return;
        if (r.padded_ends(d.destination_dimension) != 0) {
            p.refuse(verdict_kind::transfer_region, rule::border_in_several_calls,
                     {p.of->where().transfers[transfer_at].name, p.buffer_at(r.destination).tensor}, ordinal,
                     {fact{fact_kind::need, of.extent}});
            return;
        }
        if (loop_count == static_cast<int>(loops.size())) return p.refuse_capacity("loops of a transfer", loop_count + 1, loop_count);
        int const loop = p.add(variable{.name = p.buffer_at(r.destination).tensor, .extent = of.extent});
        loops[loop_count++] = static_cast<std::int16_t>(loop);
        p.add(step_kind::loop, loop);
        if (d.source_dimension >= 0) r.source_at[d.source_dimension].add(d.source_factor * of.weight, loop);
        r.destination_at[d.destination_dimension].add(d.destination_factor * of.weight, loop);
        r.each_end(d.destination_dimension, [&](region::clipped& c) {
            c.form.add(of.weight, loop);
            if (all) region::call_where_there_is(c);
        });
    }
};

/// Moves a region of which a side has a layout, piece by piece.
class panel_mover : packing {
  public:
    constexpr panel_mover(writing& to, region const& whole, int by, int directive_at, ring_step const& when)
        : packing{to, whole, by, directive_at}, when_(when) {}

    constexpr void move() {
        if (move_last_panel_apart()) return;
        for (int position = 0; position < r.count && !p.refused(); ++position) take_parts(r.dimensions[position]);
        if (p.refused()) return;
        describe_by_buffers();
        put_row_last();
        move_dense(p, r, transfer_at, ordinal, when_);
        for (int at = loop_count - 1; at >= 0; --at) p.add(step_kind::end, loops[at]);
    }

  private:
    /// A part of a dimension that calls move, in the dimensions of the boxes.
    struct kept_part {
        movement_dimension moved{};
        part of{};
    };

    /// Moves the panels that the region fills, then the rest of the last panel. @return whether there is such a rest
    constexpr bool move_last_panel_apart() {
        for (int position = 0; position < r.count; ++position) {
            movement_dimension const& d = r.dimensions[position];
            if (r.is_clipped(d.destination_dimension)) continue;
            cuts const cut = cuts_of(d);
            if (cut.count < 2) continue;
            std::int64_t const rest = d.extent % cut.parts[0].weight, full = d.extent - rest;
            if (rest == 0) continue;
            region panels = r, last = r;
            panels.dimensions[position].extent = full;
            last.dimensions[position].extent = rest;
            if (d.source_dimension >= 0) last.source_at[d.source_dimension].constant += d.source_factor * full;
            last.destination_at[d.destination_dimension].constant += d.destination_factor * full;
            panel_mover(p, panels, transfer_at, ordinal, when_).move();
            if (!p.refused()) panel_mover(p, last, transfer_at, ordinal, when_).move();
            return true;
        }
        return false;
    }

    constexpr bool is_block_dimension(buffer_id buffer_at, int dimension, std::int64_t step) const {
        if (buffer_at < 0 || dimension < 0) return false;
        return direction_of(buffer_at, dimension, step).dimension < p.buffer_at(buffer_at).block_dimensions;
    }
    /// Makes the parts of a dimension dimensions of the call, or loops of the program.
    constexpr void take_parts(movement_dimension const d) {
        if (d.extent == 1) return;
        cuts const cut = cuts_of(d);
        if (cut.count == 0) return peel(d, {d.extent, 1}, true);
        bool const clipped = r.is_clipped(d.destination_dimension);
        if (clipped && d.extent % cut.parts[0].weight != 0) {
            // The last panel ends with the region.
            region::clipped end;
            end.bound = d.extent;
            end.dimension = d.destination_dimension;
            r.add(p, end);
        }
        for (int at = 0; at < cut.count && !p.refused(); ++at) {
            part const& one = cut.parts[at];
            bool const innermost = at + 1 == cut.count;
            bool const across = is_block_dimension(r.destination, d.destination_dimension, d.destination_factor * one.weight) ||
                                is_block_dimension(r.source, d.source_dimension, d.source_factor * one.weight);
            if (across || (clipped && !innermost) || count_ == max_rank) peel(d, one, innermost);
            else if (one.extent > 1) kept_[count_++] = {d, one};
        }
    }

    /// Goes from the dimensions of the boxes to those of the buffers, in the order of the destination.
    constexpr void describe_by_buffers() {
        constexpr int gone = -2;
        fixed_array<int, max_rank> inner_of_box{};
        set_all(inner_of_box, gone);
        r.count = 0;
        for (int at = 0; at < count_; ++at) {
            kept_part const& k = kept_[at];
            direction const to = direction_of(r.destination, k.moved.destination_dimension, k.moved.destination_factor * k.of.weight);
            direction from;
            if (k.moved.source_dimension >= 0) from = direction_of(r.source, k.moved.source_dimension, k.moved.source_factor * k.of.weight);
            inner_of_box[k.moved.destination_dimension] = to.dimension;
            insert({k.of.extent, static_cast<std::int8_t>(from.dimension), static_cast<std::int8_t>(to.dimension), from.factor, to.factor});
        }
        for (int at = 0; at < r.clips.size(); ++at) {
            region::clipped& c = r.clips[at];
            // A dimension of one element is gone: the element is there, or the loops around would not run.
            if (shortens(c.is) || pads(c.is)) c.dimension = static_cast<std::int8_t>(inner_of_box[c.dimension]);
        }
        r.source_at = r.source < 0 ? r.source_at : place_in_buffer(p, r.source, r.source_at);
        r.destination_at = place_in_buffer(p, r.destination, r.destination_at);
    }
    constexpr void insert(movement_dimension const& made) {
        int place = r.count++;
        for (; place > 0; --place) {
            movement_dimension const& before = r.dimensions[place - 1];
            bool const behind =
                before.destination_dimension < made.destination_dimension ||
                (before.destination_dimension == made.destination_dimension && before.destination_factor >= made.destination_factor);
            if (behind) break;
            r.dimensions[place] = before;
        }
        r.dimensions[place] = made;
    }
    /// Joins dimensions that lie in a row on both sides.
    constexpr void put_row_last() {
        auto const is_row = [&](movement_dimension const& one) { return source_step(p, r, one) <= 1 && destination_step(p, r, one) == 1; };
        for (int at = 0; at + 1 < r.count; ++at) {
            movement_dimension const d = r.dimensions[at];
            if (!is_row(d) || is_row(r.dimensions[r.count - 1])) continue;
            for (int next = at + 1; next < r.count; ++next) r.dimensions[next - 1] = r.dimensions[next];
            r.dimensions[r.count - 1] = d;
        }
    }

    ring_step const& when_;
    fixed_array<kept_part, 2 * max_rank> kept_{};
    int count_ = 0;
};

constexpr void move_pieces(writing& p, region const& whole, int transfer_at, int ordinal, ring_step const& when) {
    bool const has_layout = (whole.source >= 0 && p.buffer_at(whole.source).layout >= 0) || p.buffer_at(whole.destination).layout >= 0;
    if (!has_layout) return move_dense(p, whole, transfer_at, ordinal, when);
    panel_mover(p, whole, transfer_at, ordinal, when).move();
}

/// Whether the same elements of the source go to all places along a dimension of the destination.
constexpr bool is_repeated(region const& r, int position) {
    movement_dimension const& d = r.dimensions[position];
    return r.source >= 0 && d.source_dimension < 0 && d.extent > 1;
}
/// Moves elements that go to several places to one place after the other, in loops of the program.
constexpr void move_repeatedly(writing& p, region const& whole, int transfer_at, int ordinal, ring_step const& when) {
    packing work{p, whole, transfer_at, ordinal};
    int kept = 0;
    for (int position = 0; position < whole.count && !p.refused(); ++position) {
        movement_dimension const& d = whole.dimensions[position];
        if (is_repeated(whole, position)) work.peel(d, {d.extent, 1}, true);
        else work.r.dimensions[kept++] = d;
    }
    work.r.count = kept;
    move_pieces(p, work.r, transfer_at, ordinal, when);
    for (int at = work.loop_count - 1; at >= 0; --at) p.add(step_kind::end, work.loops[at]);
}

/// Adds the steps that move a region between the boxes of two buffers, by as few calls of `transfer_at` as can express it.
constexpr void move_region(writing& p, region const& whole, int transfer_at, int ordinal, ring_step const& when = {}) {
    int const first = p.plan.movements.count;
    bool repeats = false;
    for (int position = 0; position < whole.count; ++position) repeats |= is_repeated(whole, position);
    if (repeats) move_repeatedly(p, whole, transfer_at, ordinal, when);
    else move_pieces(p, whole, transfer_at, ordinal, when);
    int const pieces = p.plan.movements.count - first;
    for (int piece = 0; piece < pieces && !p.refused(); ++piece) {
        movement& m = p.plan.movements[first + piece];
        m.piece = static_cast<std::int8_t>(piece);
        m.pieces = static_cast<std::int8_t>(pieces);
    }
}

/// A ring of one step, for transfers that are waited for at once.
constexpr int alone_in(writing& p, buffer_id buffer_at, int transfer_at) {
    ring alone{.buffer = buffer_at};
    alone.engine = static_cast<std::int16_t>(p.of->where().engines.find(p.of->where().transfers[transfer_at].engine_name));
    alone.first_tag = p.take_tags(1);
    alone.first_channel = p.take_channels(alone.engine);
    return p.add(alone);
}

/// Moves a region where the program stands, and waits at once for a transfer that does not block.
constexpr void move_now(writing& p, region const& r, int transfer_at, int ordinal) {
    transfer_description const& t = p.of->where().transfers[transfer_at];
    if (!t.is_asynchronous) return move_region(p, r, transfer_at, ordinal);
    ring_step const only = step_number(alone_in(p, r.destination, transfer_at), 0);
    move_region(p, r, transfer_at, ordinal, only);
    p.add(step_kind::wait, p.add(only));
}

}  // namespace tilewright::detail
