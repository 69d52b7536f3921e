#pragma once
#include <tilewright/plan/write/call_shape.hpp>
#include <tilewright/plan/ir/step_cycles.hpp>

// Turns a region into calls of a transfer that can express it.
namespace tilewright::detail {

/// Cycles that a load or store by code takes longer in the memory of a buffer than in one without wait states.
constexpr std::int32_t wait_at(planning& p, int buffer_at) {
    return static_cast<std::int32_t>(p.of->where().memories[p.buffer_at(buffer_at).memory].wait_cycles);
}

/// What keeps a call from writing the border around what it reads: each dimension that has one is one of the call's, as a whole, and the
/// call is told how much of it lies outside.
constexpr region_fault border_fault(planning& p, call_shape const& s, call_limits const& limits) {
    region const& r = s.r;
    for (int at = 0; at < r.clips.size(); ++at) {
        region::clipped const& c = r.clips[at];
        if (!pads(c.is)) continue;
        bool const begins = c.is == clip_kind::border_begin;
        // Which dimension of the call it is, in how many parts, and of how many elements.
        int slot = c.dimension == s.row ? 0 : -1;
        std::int64_t parts = 1, extent = s.row_elements;
        for (int position = 0; position < s.count; ++position) {
            if (s.at(position).destination_dimension != c.dimension) continue;
            parts *= slot == 0 ? s.at(position).extent : s.left[position];
            if (slot != 0) extent = s.at(position).extent;
            for (int piece = 0; piece < s.piece_count && slot != 0; ++piece)
                if (s.pieces[piece].position == position) slot = piece + 1;
        }
        std::int64_t const most = reach_of_border(p, r, c, extent).outside;
        if (most < 1) continue;
        if (parts > 1 || slot < 0) return {rule::border_in_several_calls, parts > 1 ? parts : extent};
        if (!limits.pads(slot, begins ? 1 : 2)) return {rule::border_without_pad, most, slot};
        if (limits.longest_pad > 0 && most > limits.longest_pad) return {rule::border_beyond_limit, most, limits.longest_pad};
    }
    return {};
}

/// Adds the steps that move region `r` by `transfer_at`: one `start`, in loops over what one call cannot express.
/// @pre its dimensions are those of the buffers: see `move_region`
constexpr void move_dense(planning& p, region const& whole, int transfer_at, int ordinal, ring_step const& when = {}) {
    transfer_description const& t = mover_of(p.plan, transfer_at);
    std::int64_t const size = bytes_of(p.buffer_at(whole.destination).type);
    auto const refuse = [&](region_fault const& fault) {
        verdict& v = p.refuse(verdict_kind::transfer_region, ordinal);
        v.names = {t.name, p.buffer_at(whole.destination).tensor};
        v.broken = fault.broken;
        v.facts = {fact{fact_kind::need, fault.value}, fact{fact_kind::limit, fault.limit}};
    };
    // Rows are whole granules, and whole units of what counts them.
    std::int64_t granularity = t.row_granularity;
    each_value(p.of->where(), t, [&](call_argument const& a) {
        if ((a.is == role::bytes || a.is == role::row_bytes) && a.value > 1) granularity = p.common_multiple(granularity, a.value, t.name);
    });
    auto const alignment_of = [&](int buffer_at) {
        return alignment_in(p, buffer_at, buffer_at == whole.destination ? t.destination : t.source, t.address_alignment);
    };
    // Where a part of a row begins, there is an address.
    std::int64_t unit = granularity / std::gcd(granularity, size);
    for (int side : {whole.source, whole.destination}) {
        if (side < 0) continue;
        std::int64_t const element = bytes_of(p.buffer_at(side).type), alignment = alignment_of(side);
        unit = p.common_multiple(unit, alignment / std::gcd(alignment, element), t.name);
    }
    call_limits const limits = limits_of(p.of->where(), t);
    call_shape s;
    if (region_fault const fault = shape_call(p, whole, limits, unit, s)) return refuse(fault);
    if (p.refused()) return;
    region& r = s.r;
    int const row = s.row;
    movement m;
    m.transfer = static_cast<std::int16_t>(transfer_at);
    m.at = when;
    m.source = static_cast<std::int16_t>(r.source);
    m.destination = static_cast<std::int16_t>(r.destination);
    m.border = static_cast<std::int16_t>(r.border);
    if (region_fault const fault = border_fault(p, s, limits)) return refuse(fault);
    m.row_elements = s.row_elements;
    m.source_joined = s.source_joined, m.destination_joined = s.destination_joined;
    if (m.row_elements * size % granularity != 0) return refuse({rule::row_of_broken_granules, m.row_elements * size, granularity});
    // A row that ends early has what the loops leave of its bound, modulo the steps in which they move.
    std::int64_t partial_row = 0;
    r.each_end(row, [&](region::clipped const& c) {
        if (pads(c.is)) return;  // all of the row is written
        std::int64_t step = 0;
        for (int at = 0; at < c.form.count; ++at) step = std::gcd(step, grain_of(p, c.form.terms[at]));
        std::int64_t const rest = step == 0 ? c.bound - c.form.constant : ((c.bound - c.form.constant) % step + step) % step;
        if (rest * size % granularity != 0 || step * size % granularity != 0) partial_row = rest > 0 ? rest : step;
    });
    if (partial_row > 0) return refuse({rule::row_of_broken_granules, partial_row * size, granularity});

    rely_on_dense(p, r.source, s.dense_source);
    rely_on_dense(p, r.destination, s.dense_target);

    // What a call leaves of a dimension becomes a loop of the program.
    fixed_array<int, call_shape::most> loops{};
    int loop_count = 0;
    for (int position = 0; position < s.count; ++position) {
        movement_dimension const& d = s.at(position);
        if (s.ends_short[position]) end_short(p, r, d.destination_dimension, d.extent);
        if (s.left[position] == 1) continue;
        // Registers have no addresses.
        bool const written_out = passes_values(p.of->where(), t);
        int const loop = p.add(variable{.name = p.buffer_at(r.destination).tensor, .extent = s.left[position], .unrolled = written_out});
        loops[loop_count++] = loop;
        if (r.source >= 0) r.source_at[d.source_dimension].add(d.source_factor * s.taken[position], loop);
        r.destination_at[d.destination_dimension].add(d.destination_factor * s.taken[position], loop);
        bool const of_row = row >= 0 && row == d.destination_dimension;
        r.each_end(d.destination_dimension, [&](region::clipped& c) {
            c.form.add(of_row ? d.destination_factor * s.taken[position] : s.taken[position], loop);
            if (!of_row && s.taken[position] == 1) region::call_where_there_is(c);
        });
        p.add(step_kind::loop, loop);
    }
    m.dimension_count = static_cast<std::int16_t>(s.piece_count);
    fixed_array<std::int64_t, 2> follows{};  // of the destination, then of the source: bytes to what comes without gaps
    for (int side = 0; side < 2; ++side) {
        int const buffer_at = side == 1 ? r.source : r.destination;
        follows[side] = buffer_at < 0 ? -1 : m.row_elements * bytes_of(p.buffer_at(buffer_at).type);
    }
    region_fault fault;
    for (int slot = 1; slot <= s.piece_count && !fault; ++slot) {
        call_piece const& piece = s.pieces[slot - 1];
        movement_dimension& d = m.dimensions[s.piece_count - slot];
        // One that has a single element, where others stand further out: it moves nothing.
        if (piece.position < 0) {
            d = {.source_dimension = static_cast<std::int8_t>(r.source < 0 ? -1 : 0), .destination_dimension = 0};
            continue;
        }
        d = s.at(piece.position);
        d.extent = piece.extent;
        d.source_factor *= piece.weight, d.destination_factor *= piece.weight;
        for (bool const of_source : {false, true}) {
            int const side = of_source ? r.source : r.destination;
            if (side < 0 || fault) continue;
            int const dimension = of_source ? d.source_dimension : d.destination_dimension;
            std::int64_t const factor = of_source ? d.source_factor : d.destination_factor;
            std::int64_t& next = follows[of_source ? 1 : 0];
            stride_fit const needs = fit(p, s, of_source, d, limits.strides(of_source, slot), next);
            if (needs.dense) rely_on_dense(p, side, dimension);
            fault = ask_for_multiple(p, side, dimension, factor, p.common_multiple(needs.multiple, alignment_of(side), t.name));
            if (!fault && needs.most > 0) ask_for_at_most(p, side, dimension, factor, needs.most);
            next = factor * p.buffer_at(side).stride(dimension) * bytes_of(p.buffer_at(side).type) * d.extent;
        }
    }
    if (!fault) fault = align(p, r.destination, r.destination_at, alignment_of(r.destination));
    fixed_array<linear, max_rank> read_at = r.source_at;
    for (int at = 0; at < r.clips.size() && r.source >= 0; ++at) {
        region::clipped const& c = r.clips[at];
        // What lies in front of the first element is not read.
        if (c.is != clip_kind::border_begin || c.form.count > 0) continue;
        if (c.dimension == row) read_at[s.source_row].constant += c.bound - c.form.constant;
        for (int position = 0; position < s.count; ++position) {
            movement_dimension const& d = s.at(position);
            if (d.destination_dimension == c.dimension)
                read_at[d.source_dimension].constant += d.source_factor * (c.bound - c.form.constant);
        }
    }
    if (!fault && r.source >= 0) fault = align(p, r.source, read_at, alignment_of(r.source));
    if (!fault) fault = contradiction_in(p, r.destination);
    if (!fault) fault = contradiction_in(p, r.source);
    // A row that begins late begins at another address.
    r.each_end(row, [&](region::clipped const& c) {
        bool const border = c.is == clip_kind::border_begin;
        if ((c.is != clip_kind::begin && !border) || (border && c.form.count == 0) || fault) return;
        std::int64_t alignment = border ? 1 : alignment_of(r.destination);
        if (r.source >= 0) alignment = p.common_multiple(alignment, alignment_of(r.source), p.buffer_at(r.source).tensor);
        std::int64_t move = (c.bound - c.form.constant) * size % alignment;
        for (int at = 0; at < c.form.count && move == 0; ++at) move = grain_of(p, c.form.terms[at]) * size % alignment;
        if (move != 0) fault = {rule::address_not_aligned, (move + alignment) % alignment, alignment};
    });
    if (fault) return refuse(fault);

    m.first_clip = static_cast<std::int16_t>(p.plan.clips.size());
    for (int at = 0; at < r.clips.size(); ++at) {
        region::clipped const& c = r.clips[at];
        clip kept{p.keep(c.form), c.bound, -1, c.is};
        bool moved = c.is == clip_kind::only || c.is == clip_kind::beyond || (c.dimension == row && row >= 0);
        for (int position = 0; position < m.dimension_count; ++position) {
            if (moved || m.dimensions[position].destination_dimension != c.dimension) continue;
            kept.dimension = static_cast<std::int8_t>(position);
            moved = true;
        }
        // A dimension of one element is gone: its only one is there, or the loops around would not run.
        if (moved) p.add(kept);
        else if (pads(c.is)) return refuse({rule::border_in_several_calls, 1});
    }
    m.clip_count = static_cast<std::int16_t>(p.plan.clips.size() - m.first_clip);

    m.bytes = m.row_elements * size;
    for (int position = 0; position < m.dimension_count; ++position) m.bytes *= m.dimensions[position].extent;
    m.cycles = t.costs.latency + t.costs.setup + (m.bytes + t.costs.bytes_per_cycle - 1) / t.costs.bytes_per_cycle;
    if (transfer_at < 0) m.cycles = m.bytes / size * fill_cycles(p.plan, m);
    for (int dimension = 0; dimension < max_rank; ++dimension) {
        if (r.source >= 0 && dimension < p.buffer_at(r.source).rank) m.source_at[dimension] = p.keep(r.source_at[dimension]);
        if (dimension < p.buffer_at(r.destination).rank) m.destination_at[dimension] = p.keep(r.destination_at[dimension]);
    }
    p.add(step_kind::start, p.add(m));
    for (int at = loop_count - 1; at >= 0; --at) p.add(step_kind::end, loops[at]);
}

/// The step that the loops around stand at, and `ahead` more.
constexpr ring_step step_of(planning const& p, int ring_at, int ahead) {
    ring_step at{.ring = static_cast<std::int16_t>(ring_at), .step = p.ring_at(ring_at).step, .ahead = static_cast<std::int16_t>(ahead)};
    at.step.constant += ahead;
    return at;
}
/// A step by its number, which no loop moves.
constexpr ring_step step_number(int ring_at, std::int64_t number) {
    ring_step at{.ring = static_cast<std::int16_t>(ring_at)};
    at.step.constant = number;
    return at;
}

/// Whether a transfer copies unchanged.
constexpr bool copies(transfer_description const& t) { return t.semantics.count == 0; }

/// The transfer that moves data of one type from `source` to `destination`: the named one, or the only one there is.
/// @return its position, -1 after a refusal
constexpr int choose_transfer(planning& p, label const& tensor, int source, int destination, int named, int ordinal) {
    machine const& where = p.of->where();
    label const& from_name = where.memories[source].name;
    label const& to_name = where.memories[destination].name;
    int found = -1;
    if (named >= 0) {
        transfer_description const& t = where.transfers[named];
        bool const leads = memory_under(where, t.source) == source && memory_under(where, t.destination) == destination;
        if (!leads) p.refuse(verdict_kind::transfer_mismatch, rule::other_memories, {t.name, tensor, from_name, to_name}, ordinal);
        if (leads && !copies(t)) p.refuse(verdict_kind::transfer_mismatch, rule::changing_the_data, {t.name, tensor}, ordinal);
        return p.refused() ? -1 : named;
    }
    for (int at = 0; at < where.transfers.size(); ++at) {
        transfer_description const& t = where.transfers[at];
        if (memory_under(where, t.source) != source || memory_under(where, t.destination) != destination || !copies(t)) continue;
        if (found >= 0) {
            p.refuse(verdict_kind::several_transfers, ordinal).names = {tensor, where.transfers[found].name, t.name};
            return -1;
        }
        found = at;
    }
    if (found < 0) p.refuse(verdict_kind::no_transfer, ordinal).names = {tensor, from_name, to_name};
    return found;
}

}  // namespace tilewright::detail
