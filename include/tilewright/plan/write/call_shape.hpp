#pragma once
#include <tilewright/machine/call_limits.hpp>
#include <tilewright/plan/write/alignment.hpp>

// Chooses the part of a region that one call of a transfer moves: the longest that is legal.
namespace tilewright::detail {

/// A part of a dimension of the region that is one dimension of the call.
struct call_piece {
    int position = -1;  ///< of the dimension; -1: the call has one element there
    std::int64_t extent = 1;
    std::int64_t weight = 1;  ///< steps along the dimension from one element of the piece to the next
};

/// A region as calls move it: a row, dimensions of the call, and loops around it over what is left of the dimensions.
struct call_shape {
    static constexpr int most = max_rank + 1;  ///< dimensions: those of the region, and the parts of a row

    region r;
    fixed_array<movement_dimension, most> dimensions{};  ///< besides the row, outermost first
    int count = 0;
    std::int64_t row_elements = 1;
    int row = -1, source_row = -1;                         ///< the dimensions of the destination and of the source that the row lies in
    int dense_source = max_rank, dense_target = max_rank;  ///< dimensions from here on were joined: an argument has no gaps there
    std::uint8_t source_joined = 0, destination_joined = 0;
    fixed_array<call_piece, max_rank> pieces{};  ///< of dimension 1, 2, … of the call
    int piece_count = 0;
    fixed_array<std::int64_t, most> left{};   ///< of each dimension, the pieces of calls that are left: a loop over them
    fixed_array<std::int64_t, most> taken{};  ///< of each dimension, how many of its elements all pieces together have
    fixed_array<bool, most> ends_short{};     ///< the last piece of the dimension has less
    std::int64_t elements = 0;                ///< of one call
    int borders_left = 0;                     ///< dimensions with a border that no call covers as a whole

    constexpr movement_dimension& at(int position) { return dimensions.elements[position]; }
    constexpr movement_dimension const& at(int position) const { return dimensions.elements[position]; }
    constexpr void remove(int position) {
        for (int next = position + 1; next < count; ++next) at(next - 1) = at(next);
        --count;
    }
    constexpr int& dense(bool of_source) { return of_source ? dense_source : dense_target; }
    constexpr int dense(bool of_source) const { return of_source ? dense_source : dense_target; }
    constexpr buffer_id side(bool of_source) const { return of_source ? r.source : r.destination; }
    constexpr void rely_on_dense(bool of_source, int dimension) {
        if (dimension >= 0 && dimension < dense(of_source)) dense(of_source) = dimension;
    }
    constexpr std::int64_t all_elements() const {
        std::int64_t all = row_elements;
        for (int position = 0; position < count; ++position) all *= at(position).extent;
        return all;
    }
};

/// @param s  of no region yet
constexpr void take_region(planning const& p, region const& r, call_shape& s) {
    s.r = r;
    for (int position = 0; position < r.count; ++position) {
        movement_dimension const& d = r.dimensions.elements[position];
        if (d.extent > 1) s.dimensions.elements[s.count++] = d;
    }
    if (s.count == 0) return;
    movement_dimension const& last = s.at(s.count - 1);
    if (source_step(p, r, last) > 1 || destination_step(p, r, last) != 1) return;
    s.row_elements = last.extent;
    s.row = last.destination_dimension, s.source_row = last.source_dimension;
    s.rely_on_dense(true, s.source_row);
    s.rely_on_dense(false, s.row);
    --s.count;
}

constexpr call_shape shape_of(planning const& p, region const& r) {
    call_shape s;
    take_region(p, r, s);
    return s;
}

/// Joins dimensions that lie without gaps on both sides, the row first, until there are no more than `most`.
constexpr void join(planning const& p, call_shape& s, int most) {
    region& r = s.r;
    auto const follows = [&](movement_dimension const& outer, std::int64_t source_reach, std::int64_t destination_reach) {
        return (r.source < 0 || source_step(p, r, outer) == source_reach) && destination_step(p, r, outer) == destination_reach;
    };
    auto const mark = [&](movement_dimension const& outer, int source_dimension, int destination_dimension) {
        s.rely_on_dense(true, outer.source_dimension);
        s.rely_on_dense(false, outer.destination_dimension);
        for (int d = outer.source_dimension; d < source_dimension; ++d)
            s.source_joined = static_cast<std::uint8_t>(s.source_joined | 1 << d);
        for (int d = outer.destination_dimension; d < destination_dimension; ++d)
            s.destination_joined = static_cast<std::uint8_t>(s.destination_joined | 1 << d);
    };
    while (s.count > most && s.count > 0 && !r.is_clipped(s.row) && follows(s.at(s.count - 1), s.row_elements, s.row_elements)) {
        movement_dimension const& outer = s.at(s.count - 1);
        if (s.row < 0) s.row = outer.destination_dimension, s.source_row = outer.source_dimension;
        scale_ends(r, outer.destination_dimension, s.row, s.row_elements);
        mark(outer, s.source_row, s.row);
        s.row_elements *= outer.extent;
        --s.count;
    }
    for (int position = s.count - 2; position >= 0 && s.count > most; --position) {
        movement_dimension& inner = s.at(position + 1);
        if (r.is_clipped(inner.destination_dimension)) continue;
        if (!follows(s.at(position), source_step(p, r, inner) * inner.extent, destination_step(p, r, inner) * inner.extent)) continue;
        mark(s.at(position), inner.source_dimension, inner.destination_dimension);
        scale_ends(r, s.at(position).destination_dimension, inner.destination_dimension, inner.extent);
        inner.extent *= s.at(position).extent;
        s.remove(position);
    }
}

/// Splits elements into parts of at most `most`, each a multiple of `unit`: into equal parts, or with a short last part if equal parts
/// would be more than twice as many. A part of 0: there is none.
struct cut {
    std::int64_t part = 0, count = 0;
    bool ends_short = false;
};
constexpr cut cut_into(std::int64_t extent, std::int64_t most, std::int64_t unit, bool may_end_short) {
    std::int64_t const largest = most / unit * unit;
    if (largest < 1) return {};
    std::int64_t const equal = extent % unit == 0 ? unit * divisor_up_to(extent / unit, largest / unit) : 0;
    std::int64_t const fewest = (extent - 1) / largest + 1;
    if (equal > 0 && (!may_end_short || extent / equal <= 2 * fewest)) return {equal, extent / equal, false};
    if (!may_end_short) return {};
    return {largest, fewest, extent % largest != 0};
}

/// A dimension whose last part is short has a clip like one whose tile is partial.
constexpr void end_short(planning const& p, region& r, int dimension, std::int64_t extent) {
    r.add(p, {.form = {}, .bound = extent, .dimension = static_cast<std::int8_t>(dimension), .is = clip_kind::end});
}

/// Cuts a row that is too long. Its parts become one more dimension.
/// @param unit  elements that every part begins at a multiple of
constexpr region_fault cut_row(planning const& p, call_shape& s, std::int64_t row_bytes, std::int64_t unit) {
    std::int64_t const size = bytes_of(p.buffer_at(s.r.destination).type);
    if (row_bytes <= 0 || s.row_elements * size <= row_bytes) return {};
    cut const parts = cut_into(s.row_elements, row_bytes / size, unit, true);
    if (parts.part == 0 || s.row < 0) return {rule::row_without_parts, (s.row < 0 ? s.row_elements : unit) * size, row_bytes};
    if (parts.ends_short) end_short(p, s.r, s.row, s.row_elements);
    s.at(s.count++) = {.extent = parts.count,
                       .source_dimension = static_cast<std::int8_t>(s.source_row),
                       .destination_dimension = static_cast<std::int8_t>(s.row),
                       .source_factor = parts.part,
                       .destination_factor = parts.part};
    s.row_elements = parts.part;
    return {};
}

/// What a call asks of the stride of one of its dimensions.
struct stride_fit {
    bool legal = false;
    bool dense = false;         ///< of an argument: it must come without gaps from this dimension on
    std::int64_t multiple = 1;  ///< bytes; of an argument
    std::int64_t most = 0;      ///< likewise; 0: any
};

/// @param follows  bytes from the first element to what would follow without gaps; -1: nothing can
constexpr stride_fit fit(planning const& p, call_shape const& s, bool of_source, movement_dimension const& d, stride_limits const& limits,
                         std::int64_t follows) {
    buffer_id const side = s.side(of_source);
    if (side < 0) return {.legal = true};
    buffer const& b = p.buffer_at(side);
    int const dimension = of_source ? d.source_dimension : d.destination_dimension;
    std::int64_t const step = (of_source ? d.source_factor : d.destination_factor) * bytes_of(b.type);
    std::int64_t const bytes = step * b.stride(dimension);
    bool const joined = dimension >= s.dense(of_source) && !has_open_extents(p, side, dimension);
    bool const known = joined || known_stride(p, side, dimension) != 0;
    if (limits.none) return {.legal = follows == bytes && (known || !has_open_extents(p, side, dimension)), .dense = true};
    if (known)
        return {.legal = limits.exactly > 0 ? bytes == limits.exactly
                                            : bytes % limits.unit() == 0 && (limits.most == 0 || bytes <= limits.most)};
    // Rows of an argument lie at least as far apart as they are long.
    std::int64_t const most = limits.exactly > 0 ? limits.exactly : limits.most,
                       multiple = limits.exactly > 0 ? limits.exactly : limits.unit();
    bool const reaches = most == 0 || (bytes + multiple - 1) / multiple * multiple <= most;
    return {.legal = reaches && (limits.exactly == 0 || limits.exactly % step == 0), .multiple = multiple, .most = most};
}

/// What parts of a region begin at multiples of.
struct call_units {
    std::int64_t row = 1;                        ///< elements, of a row
    fixed_array<std::int64_t, 2> bytes{{1, 1}};  ///< of the source, and of the destination
};

/// Chooses the dimensions of a call from the innermost outwards: the legal ones that make the longest call.
class call_search {
  public:
    constexpr call_search(planning const& p, call_shape& s, call_limits const& limits, call_units const& units)
        : p_(p), s_(s), limits_(limits), units_(units) {
        for (int position = 0; position < s.count; ++position) {
            now_.left.elements[position] = s.at(position).extent, now_.taken.elements[position] = 1;
            borders_ += s.r.padded_ends(s.at(position).destination_dimension) != 0;
        }
        all_ = s.all_elements();
        auto const row_bytes = [&](bool of_source) {
            buffer_id const side = s.side(of_source);
            bool const ends = of_source ? s.r.is_clipped(s.row) : s.r.is_shortened(s.row);
            return side < 0 || ends ? -1 : s.row_elements * bytes_of(p.buffer_at(side).type);
        };
        extend(0, s.row_elements, limits.deduced, row_bytes(true), row_bytes(false));
        for (int position = 0; position < s.count; ++position) {
            s.left.elements[position] = best_.left.elements[position], s.taken.elements[position] = best_.taken.elements[position];
            s.ends_short.elements[position] = best_.ends_short.elements[position];
        }
        s.pieces = best_.pieces, s.piece_count = best_.count, s.elements = best_elements_;
        s.borders_left = borders_ - best_.borders + (limits.pads(0, s.r.padded_ends(s.row)) ? 0 : 1);
    }

  private:
    struct choice {
        fixed_array<call_piece, max_rank> pieces{};
        int count = 0, borders = 0;
        fixed_array<std::int64_t, call_shape::most> left{}, taken{};
        fixed_array<bool, call_shape::most> ends_short{}, closed{};
    };

    /// Tries everything that can be dimension `at + 1` and further out.
    /// @param deduced  dimensions whose extent the functions may still work out
    constexpr void extend(int at, std::int64_t elements, int deduced, std::int64_t source_follows, std::int64_t destination_follows) {
        if (now_.borders > best_.borders || (now_.borders == best_.borders && elements > best_elements_))
            best_ = now_, best_elements_ = elements;
        int const slot = at + 1;
        if (slot > limits_.dimensions || slot > max_rank) return;
        if (best_.borders == borders_ && most_with(slot, elements) <= best_elements_) return;
        bool const has_extent = limits_.tells(slot) || deduced > 0;
        for (int position = s_.count - 1; position >= 0 && has_extent; --position) {
            if (now_.left.elements[position] == 1 || now_.closed.elements[position] || is_cut_and_ends(position)) continue;
            call_piece const piece = piece_of(position, limits_.extent(slot));
            if (piece.extent <= 1) continue;
            unsigned const border = s_.r.padded_ends(s_.at(position).destination_dimension);
            if (border != 0 && (piece.extent < s_.at(position).extent || !limits_.pads(slot, border))) continue;
            movement_dimension d = s_.at(position);
            d.source_factor *= piece.weight, d.destination_factor *= piece.weight;
            if (!fit(p_, s_, true, d, limits_.strides(true, slot), source_follows).legal) continue;
            if (!fit(p_, s_, false, d, limits_.strides(false, slot), destination_follows).legal) continue;
            // What this piece changes is put back below: to the compiler, a copy of all is dear.
            call_piece const other = now_.pieces.elements[at];
            int const count = now_.count, borders = now_.borders;
            std::int64_t const left = now_.left.elements[position], taken = now_.taken.elements[position];
            bool const clipped = s_.r.is_clipped(d.destination_dimension), shortened = s_.r.is_shortened(d.destination_dimension);
            bool const ends_short = left % piece.extent != 0, closed = clipped || ends_short;
            now_.pieces.elements[at] = piece;
            now_.count = slot;
            now_.borders = borders + (border != 0 ? 1 : 0);
            now_.left.elements[position] = (left - 1) / piece.extent + 1;
            now_.taken.elements[position] = taken * piece.extent;
            now_.ends_short.elements[position] = ends_short;
            now_.closed.elements[position] = closed;
            // Rows at the destination follow each other after their border.
            bool const at_destination = !shortened && !ends_short;
            auto const behind = [&](bool of_source) -> std::int64_t {
                int const side = s_.side(of_source);
                if (side < 0 || !(of_source ? !closed : at_destination)) return -1;
                buffer const& b = p_.buffer_at(side);
                std::int64_t const step =
                    of_source ? d.source_factor * b.stride(d.source_dimension) : d.destination_factor * b.stride(d.destination_dimension);
                return step * bytes_of(b.type) * piece.extent;
            };
            extend(slot, elements * piece.extent, deduced - (limits_.tells(slot) ? 0 : 1), behind(true), behind(false));
            now_.pieces.elements[at] = other;
            now_.count = count;
            now_.borders = borders;
            now_.left.elements[position] = left;
            now_.taken.elements[position] = taken;
            now_.ends_short.elements[position] = now_.closed.elements[position] = false;
        }
        // One row, plane, … here, and several further out.
        if (best_elements_ == all_ || slot == limits_.dimensions || slot == max_rank) return;
        int const count = now_.count;
        now_.pieces.elements[at] = {};
        now_.count = slot;
        extend(slot, elements, deduced, limits_.strides(true, slot).none ? source_follows : -1,
               limits_.strides(false, slot).none ? destination_follows : -1);
        now_.count = count;
    }
    /// The most elements of a call whose dimensions from `slot` on take all that they can.
    constexpr std::int64_t most_with(int slot, std::int64_t elements) const {
        fixed_array<std::int64_t, call_shape::most> left = now_.left;
        int const last = limits_.dimensions < max_rank ? limits_.dimensions : max_rank;
        for (; slot <= last; ++slot) {
            int longest = 0;
            for (int position = 1; position < s_.count; ++position)
                if (left.elements[position] > left.elements[longest]) longest = position;
            if (s_.count > 0) elements *= left.elements[longest];
            left.elements[longest] = 1;
        }
        return elements;
    }
    /// A call has parts of one size. If a dimension is cut and ends early, all parts but the innermost are loops.
    constexpr bool is_cut_and_ends(int position) const {
        int const dimension = s_.at(position).destination_dimension;
        bool inside = dimension == s_.row;
        for (int inner = position + 1; inner < s_.count; ++inner) inside |= s_.at(inner).destination_dimension == dimension;
        return inside && s_.r.is_clipped(dimension);
    }
    constexpr call_piece piece_of(int position, std::int64_t most) const {
        std::int64_t const left = now_.left.elements[position];
        if (most == 0 || left <= most) return {position, left, now_.taken.elements[position]};
        // The dimension in the destination tells that a part is short, so the part must be the only one there.
        int const dimension = s_.at(position).destination_dimension;
        bool alone = now_.taken[position] == 1 && dimension != s_.row;
        for (int other = 0; other < s_.count; ++other) alone &= other == position || s_.at(other).destination_dimension != dimension;
        return {position, cut_into(left, most, unit_of(position), alone).part, now_.taken[position]};
    }
    /// Elements of a dimension, as far as the pieces leave it, that lie whole units apart on both sides.
    constexpr std::int64_t unit_of(int position) const {
        movement_dimension const& d = s_.at(position);
        std::int64_t unit = 1;
        for (bool const of_source : {true, false}) {
            buffer_id const side = s_.side(of_source);
            if (side < 0) continue;
            int const dimension = of_source ? d.source_dimension : d.destination_dimension;
            std::int64_t const factor = of_source ? d.source_factor : d.destination_factor, stride = known_stride(p_, side, dimension);
            // The entry sees to strides that only run time knows.
            if (stride == 0) continue;
            std::int64_t const bytes = factor * now_.taken[position] * stride * bytes_of(p_.buffer_at(side).type);
            std::int64_t const whole = units_.bytes[of_source ? 0 : 1];
            unit = lcm(unit, whole / gcd(whole, bytes));
        }
        return unit;
    }

    planning const& p_;
    call_shape& s_;
    call_limits const& limits_;
    call_units const& units_;
    choice now_{}, best_{};
    std::int64_t all_ = 1, best_elements_ = 0;
    int borders_ = 0;  ///< dimensions with a border that the call writes
};

/// Whether joining asks an argument of the kernel to have no gaps where it could have some.
constexpr bool asks_for_more(planning const& p, call_shape const& before, call_shape const& joined) {
    bool more = false;
    for (bool const of_source : {false, true}) {
        int const side = before.side(of_source);
        if (side < 0 || p.buffer_at(side).kind != buffer_kind::argument) continue;
        more |= joined.dense(of_source) < before.dense(of_source) && joined.dense(of_source) < p.buffer_at(side).dense_from;
    }
    return more;
}

/// Makes the longest legal call of a region. Dimensions are joined if there are more than a call has. They are also joined for a longer
/// call, if that asks no more of arguments, or if the call takes no stride.
/// @param made  of no region yet
constexpr region_fault shape_call(planning const& p, region const& r, call_limits const& limits, call_units const& units,
                                  call_shape& made) {
    take_region(p, r, made);
    join(p, made, limits.dimensions);
    int const count = made.count;
    region_fault const fault = cut_row(p, made, limits.row_bytes, units.row);
    if (fault || p.refused()) return fault;
    call_search(p, made, limits, units);
    if (made.borders_left == 0 && (made.elements == made.all_elements() || count == 0)) return {};
    call_shape const apart = shape_of(p, r);
    call_shape joined = apart;
    join(p, joined, 0);
    if (made.borders_left == 0 && limits.takes_any_stride() && asks_for_more(p, made, joined)) return {};
    auto const take = [&](call_shape& other) {
        if (cut_row(p, other, limits.row_bytes, units.row)) return;
        call_search(p, other, limits, units);
        bool const as_good = other.borders_left == made.borders_left && other.elements > made.elements;
        if (other.borders_left < made.borders_left || as_good) made = other;
    };
    if (joined.count != count) take(joined);
    // A call without a pad for joined dimensions may have a pad for one of them by itself.
    if (made.borders_left > 0) take(joined = apart);
    return {};
}

}  // namespace tilewright::detail
