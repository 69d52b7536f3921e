#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/ir/step_cycles.hpp>
#include <tilewright/plan/write/call_shape.hpp>

// Turns a region into calls of a transfer that can express it.
namespace tilewright::detail {

/// What keeps a call from writing the border around what it reads. Each dimension with a border must be a dimension of the call, as a
/// whole, and the call must be told how much of it lies outside.
constexpr region_fault border_fault(planning const& p, call_shape const& s, call_limits const& limits) {
    region const& r = s.r;
    for (int at = 0; at < r.clips.size(); ++at) {
        region::clipped const& c = r.clips[at];
        if (!pads(c.is)) continue;
        bool const begins = c.is == clip_kind::border_begin;
        // The dimension of the call that it is, in how many parts, and with how many elements.
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

/// Writes the steps that move a region by a transfer: one `start`, in loops over what one call cannot express.
class movement_writer {
  public:
    constexpr movement_writer(writing& p, region const& whole, int transfer_at, ring_step const& when)
        : p_(p), t_(mover_of(p.plan, transfer_at)), whole_(whole), size_(bytes_of(p.buffer_at(whole.destination).type)) {
        m_.transfer = static_cast<std::int16_t>(transfer_at);
        m_.at = when;
    }

    /// @return what keeps the transfer from it; nothing also after a refusal
    constexpr region_fault write() {
        choose_units();
        call_limits const limits = m_.transfer < 0 ? limits_of(p_.of->where(), t_) : p_.parts.limits.slots[m_.transfer].part;
        if (region_fault const fault = shape_call(p_, whole_, limits, {unit_, {source_alignment_, destination_alignment_}}, s_))
            return fault;
        if (p_.refused()) return {};
        m_.source = s_.r.source;
        m_.destination = s_.r.destination;
        m_.border = s_.r.border;
        m_.row_elements = s_.row_elements;
        m_.source_joined = s_.source_joined, m_.destination_joined = s_.destination_joined;
        if (region_fault const fault = border_fault(p_, s_, limits)) return fault;
        if (region_fault const fault = row_fault()) return fault;
        rely_on_dense(p_, s_.r.source, s_.dense_source);
        rely_on_dense(p_, s_.r.destination, s_.dense_target);
        open_loops();
        region_fault fault = fit_dimensions(limits);
        if (!fault) fault = align(p_, s_.r.destination, s_.r.destination_at, alignment_of(s_.r.destination));
        if (!fault && s_.r.source >= 0) fault = align(p_, s_.r.source, first_read(), alignment_of(s_.r.source));
        if (!fault) fault = contradiction_in(p_, s_.r.destination);
        if (!fault) fault = contradiction_in(p_, s_.r.source);
        if (!fault) fault = late_row_fault();
        if (!fault) fault = keep_clips();
        if (fault) return fault;
        keep_places();
        m_.bytes = m_.row_elements * size_;
        for (int position = 0; position < m_.dimension_count; ++position) m_.bytes *= m_.dimensions.elements[position].extent;
        m_.cycles = t_.costs.latency + t_.costs.setup + (m_.bytes + t_.costs.bytes_per_cycle - 1) / t_.costs.bytes_per_cycle;
        for (int core = p_.running().first; core < p_.running().end && m_.transfer < 0; ++core) {
            std::int64_t const cycles = m_.bytes / size_ * fill_cycles(p_.plan, m_, core);
            if (core == p_.running().first || cycles > m_.cycles) m_.cycles = cycles;
        }
        p_.add(step_kind::start, p_.add(m_));
        for (int at = loop_count_ - 1; at >= 0; --at) p_.add(step_kind::end, loops_.elements[at]);
        return {};
    }

  private:
    constexpr std::int64_t alignment_of(int buffer_at) const {
        return buffer_at == whole_.destination ? destination_alignment_ : source_alignment_;
    }

    /// Rows are whole granules, and whole units of what counts them. Every part of a row begins at an address.
    constexpr void choose_units() {
        granularity_ = t_.row_granularity;
        each_value(p_.of->where(), t_, [&](call_argument const& a) {
            if ((a.is == role::bytes || a.is == role::row_bytes) && a.value > 1)
                granularity_ = p_.common_multiple(granularity_, a.value, t_.name);
        });
        unit_ = granularity_ / gcd(granularity_, size_);
        for (int side : {whole_.source, whole_.destination}) {
            if (side < 0) continue;
            bool const writes = side == whole_.destination;
            std::int64_t& alignment = writes ? destination_alignment_ : source_alignment_;
            alignment = alignment_in(p_, side, writes ? t_.destination : t_.source, t_.address_alignment);
            std::int64_t const element = bytes_of(p_.buffer_at(side).type);
            unit_ = p_.common_multiple(unit_, alignment / gcd(alignment, element), t_.name);
        }
    }

    /// The fault of a row that is not whole granules. The length of a row that ends early is its bound less what the loops move, modulo
    /// their steps.
    constexpr region_fault row_fault() {
        if (m_.row_elements * size_ % granularity_ != 0) return {rule::row_of_broken_granules, m_.row_elements * size_, granularity_};
        std::int64_t partial_row = 0;
        s_.r.each_end(s_.row, [&](region::clipped const& c) {
            if (pads(c.is)) return;  // the call writes all of the row
            std::int64_t step = 0;
            for (int at = 0; at < c.form.count; ++at) step = gcd(step, grain_of(p_, c.form.terms[at]));
            std::int64_t const rest = step == 0 ? c.bound - c.form.constant : ((c.bound - c.form.constant) % step + step) % step;
            if (rest * size_ % granularity_ != 0 || step * size_ % granularity_ != 0) partial_row = rest > 0 ? rest : step;
        });
        return partial_row > 0 ? region_fault{rule::row_of_broken_granules, partial_row * size_, granularity_} : region_fault{};
    }

    /// The rest of a dimension that a call leaves becomes a loop of the program.
    constexpr void open_loops() {
        region& r = s_.r;
        for (int position = 0; position < s_.count; ++position) {
            movement_dimension const& d = s_.at(position);
            if (s_.ends_short.elements[position]) end_short(p_, r, d.destination_dimension, d.extent);
            if (s_.left.elements[position] == 1) continue;
            // Registers have no addresses.
            bool const written_out = passes_values(p_.of->where(), t_);
            int const loop =
                p_.add(variable{.name = p_.buffer_at(r.destination).tensor, .extent = s_.left.elements[position], .unrolled = written_out});
            loops_.elements[loop_count_++] = loop;
            if (r.source >= 0) r.source_at.elements[d.source_dimension].add(d.source_factor * s_.taken.elements[position], loop);
            r.destination_at.elements[d.destination_dimension].add(d.destination_factor * s_.taken.elements[position], loop);
            bool const of_row = s_.row >= 0 && s_.row == d.destination_dimension;
            r.each_end(d.destination_dimension, [&](region::clipped& c) {
                c.form.add(of_row ? d.destination_factor * s_.taken.elements[position] : s_.taken.elements[position], loop);
                if (!of_row && s_.taken.elements[position] == 1) region::call_where_there_is(c);
            });
            p_.add(step_kind::loop, loop);
        }
    }

    /// Writes the dimensions of the call, from the innermost on, and asks both sides for their strides.
    constexpr region_fault fit_dimensions(call_limits const& limits) {
        m_.dimension_count = static_cast<std::int16_t>(s_.piece_count);
        fixed_array<std::int64_t, 2> follows{};  // of the destination, then of the source: bytes to what comes without gaps
        for (int side = 0; side < 2; ++side) {
            int const buffer_at = side == 1 ? s_.r.source : s_.r.destination;
            follows.elements[side] = buffer_at < 0 ? -1 : m_.row_elements * bytes_of(p_.buffer_at(buffer_at).type);
        }
        for (int slot = 1; slot <= s_.piece_count; ++slot) {
            call_piece const& piece = s_.pieces.elements[slot - 1];
            movement_dimension& d = m_.dimensions.elements[s_.piece_count - slot];
            // A dimension with a single element, and others further out: it moves nothing.
            if (piece.position < 0) {
                d = {.source_dimension = static_cast<std::int8_t>(s_.r.source < 0 ? -1 : 0), .destination_dimension = 0};
                continue;
            }
            d = s_.at(piece.position);
            d.extent = piece.extent;
            d.source_factor *= piece.weight, d.destination_factor *= piece.weight;
            for (bool const of_source : {false, true}) {
                if (region_fault const fault =
                        fit_stride(d, of_source, limits.strides(of_source, slot), follows.elements[of_source ? 1 : 0]))
                    return fault;
            }
        }
        return {};
    }
    /// @param next  bytes to the next element without gaps on that side; receives those after this dimension
    constexpr region_fault fit_stride(movement_dimension const& d, bool of_source, stride_limits const& limit, std::int64_t& next) {
        buffer_id const side = of_source ? s_.r.source : s_.r.destination;
        if (side < 0) return {};
        int const dimension = of_source ? d.source_dimension : d.destination_dimension;
        std::int64_t const factor = of_source ? d.source_factor : d.destination_factor;
        stride_fit const needs = fit(p_, s_, of_source, d, limit, next);
        if (needs.dense) rely_on_dense(p_, side, dimension);
        // No function is told a stride that the transfer fixes, so it need not be whole rows of a memory whose addresses are numbers.
        std::int64_t const unit = limit.is_told() ? alignment_of(side) : t_.address_alignment;
        region_fault const fault = ask_for_multiple(p_, side, dimension, factor, p_.common_multiple(needs.multiple, unit, t_.name));
        if (!fault && needs.most > 0) ask_for_at_most(p_, side, dimension, factor, needs.most);
        next = factor * p_.buffer_at(side).stride(dimension) * bytes_of(p_.buffer_at(side).type) * d.extent;
        return fault;
    }

    /// Where the first element that is read lies: the elements before it are border, which is not read.
    constexpr fixed_array<linear, max_rank> first_read() {
        region const& r = s_.r;
        fixed_array<linear, max_rank> read_at = r.source_at;
        for (int at = 0; at < r.clips.size(); ++at) {
            region::clipped const& c = r.clips[at];
            if (c.is != clip_kind::border_begin || c.form.count > 0) continue;
            if (c.dimension == s_.row) read_at.elements[s_.source_row].constant += c.bound - c.form.constant;
            for (int position = 0; position < s_.count; ++position) {
                movement_dimension const& d = s_.at(position);
                if (d.destination_dimension == c.dimension)
                    read_at.elements[d.source_dimension].constant += d.source_factor * (c.bound - c.form.constant);
            }
        }
        return read_at;
    }

    /// A row that begins late begins at another address.
    constexpr region_fault late_row_fault() {
        region_fault fault;
        s_.r.each_end(s_.row, [&](region::clipped const& c) {
            bool const border = c.is == clip_kind::border_begin;
            if ((c.is != clip_kind::begin && !border) || (border && c.form.count == 0) || fault) return;
            std::int64_t alignment = border ? 1 : alignment_of(s_.r.destination);
            if (s_.r.source >= 0) alignment = p_.common_multiple(alignment, alignment_of(s_.r.source), p_.buffer_at(s_.r.source).tensor);
            std::int64_t move = (c.bound - c.form.constant) * size_ % alignment;
            for (int at = 0; at < c.form.count && move == 0; ++at) move = grain_of(p_, c.form.terms[at]) * size_ % alignment;
            if (move != 0) fault = {rule::address_not_aligned, (move + alignment) % alignment, alignment};
        });
        return fault;
    }

    constexpr region_fault keep_clips() {
        m_.first_clip = static_cast<std::int16_t>(p_.plan.clips.count);
        for (int at = 0; at < s_.r.clips.size(); ++at) {
            region::clipped const& c = s_.r.clips[at];
            clip kept{p_.keep(c.form), c.bound, -1, c.is};
            bool moved = c.is == clip_kind::only || c.is == clip_kind::beyond || (c.dimension == s_.row && s_.row >= 0);
            for (int position = 0; position < m_.dimension_count; ++position) {
                if (moved || m_.dimensions.elements[position].destination_dimension != c.dimension) continue;
                kept.dimension = static_cast<std::int8_t>(position);
                moved = true;
            }
            // A dimension of one element is gone: the element is there, or the loops around would not run.
            if (moved) p_.add(kept);
            else if (pads(c.is)) return {rule::border_in_several_calls, 1};
        }
        m_.clip_count = static_cast<std::int16_t>(p_.plan.clips.count - m_.first_clip);
        return {};
    }
    constexpr void keep_places() {
        region const& r = s_.r;
        int const source_rank = r.source < 0 ? 0 : p_.buffer_at(r.source).rank, destination_rank = p_.buffer_at(r.destination).rank;
        for (int dimension = 0; dimension < source_rank || dimension < destination_rank; ++dimension) {
            if (dimension < source_rank) m_.source_at.elements[dimension] = p_.keep(r.source_at.elements[dimension]);
            if (dimension < destination_rank) m_.destination_at.elements[dimension] = p_.keep(r.destination_at.elements[dimension]);
        }
    }

    writing& p_;
    transfer_description const& t_;
    region const& whole_;
    std::int64_t size_;                                              // of an element
    std::int64_t granularity_ = 1;                                   // bytes that rows are whole multiples of
    std::int64_t unit_ = 1;                                          // elements that parts of rows are whole multiples of
    std::int64_t source_alignment_ = 1, destination_alignment_ = 1;  // bytes that addresses are multiples of
    call_shape s_{};                                                 // the region as calls move it
    movement m_{};
    fixed_array<int, call_shape::most> loops_{};
    int loop_count_ = 0;
};

/// Adds the steps that move region `whole` by `transfer_at`.
/// @pre its dimensions are those of the buffers: see `move_region`
constexpr void move_dense(writing& p, region const& whole, int transfer_at, int ordinal, ring_step const& when = {}) {
    region_fault const fault = movement_writer(p, whole, transfer_at, when).write();
    if (!fault) return;
    verdict& v = p.refuse(verdict_kind::transfer_region, ordinal);
    v.names = {mover_of(p.plan, transfer_at).name, p.buffer_at(whole.destination).tensor};
    v.broken = fault.broken;
    v.facts = {fact{fact_kind::need, fault.value}, fact{fact_kind::limit, fault.limit}};
}

/// The step that the loops around stand at, plus `ahead`.
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
/// @param multicast  whether multicasts are looked at, or all others; the other kind only where there is none, so that it is refused by
/// name
/// @param of_sum  the tensor, where what is moved are partial sums that are added to
/// @return its position, -1 after a refusal
constexpr int choose_transfer(planning const& p, label const& tensor, int source, int destination, int named, int ordinal,
                              bool multicast = false, label const& of_sum = {}) {
    machine const& where = p.of->where();
    label const& from_name = where.memories[source].name;
    label const& to_name = where.memories[destination].name;
    if (named >= 0) {
        transfer_description const& t = where.transfers[named];
        bool const leads = memory_under(where, t.source) == source && memory_under(where, t.destination) == destination;
        if (!leads) p.refuse(verdict_kind::transfer_mismatch, rule::other_memories, {t.name, tensor, from_name, to_name}, ordinal);
        if (leads && !copies(t)) p.refuse(verdict_kind::transfer_mismatch, rule::changing_the_data, {t.name, tensor}, ordinal);
        return p.refused() ? -1 : named;
    }
    fixed_array<int, 2> found{-1, -1};  // of the other kind, and of this one
    for (int at = 0; at < where.transfers.size(); ++at) {
        transfer_description const& t = where.transfers[at];
        if (memory_under(where, t.source) != source || memory_under(where, t.destination) != destination || !copies(t)) continue;
        int& first = found[t.is_multicast == multicast ? 1 : 0];
        if (first >= 0 && t.is_multicast == multicast) {
            p.refuse(verdict_kind::several_transfers, ordinal).names = {tensor, where.transfers[first].name, t.name};
            return -1;
        }
        if (first < 0) first = at;
    }
    int const chosen = found[1] >= 0 ? found[1] : found[0];
    if (chosen < 0) p.refuse(verdict_kind::no_transfer, ordinal).names = {tensor, from_name, to_name, of_sum};
    return chosen;
}

}  // namespace tilewright::detail
