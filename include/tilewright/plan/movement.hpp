#pragma once
#include <tilewright/plan/spread.hpp>

// Turns a region into calls of a transfer that can express it.
namespace tilewright::detail {

/// A region before it is cut to what a transfer can do: dimensions outermost first, the row not yet chosen. They are those of the boxes on
/// both sides, then those of the buffers.
struct region {
    int source = -1;  ///< buffer; -1: a fill
    int border = -1;  ///< of a fill by the core: the padded access whose border it writes
    int destination = -1;
    fixed_array<movement_dimension, max_rank> dimensions{};
    int count = 0;
    fixed_array<linear, max_rank> source_at{};
    fixed_array<linear, max_rank> destination_at{};

    /// How a dimension of the destination ends where a tile is partial, before it is known what becomes of it in the call.
    struct clipped {
        linear form;
        std::int64_t bound = 0;
        std::int8_t dimension = -1;
        clip_kind is = clip_kind::end;
    };
    static constexpr int most_clips = 16;
    part_pool<clipped, most_clips> clips{};

    constexpr void add(planning& p, clipped const& c) {
        if (clips.full()) return p.refuse_capacity("clips of one transfer", most_clips + 1, most_clips);
        clips.push(c);
    }
    /// Calls `visit(clip)` for those that shorten a dimension.
    template <class Visit>
    constexpr void each_end(int dimension, Visit&& visit) {
        for (int at = 0; at < clips.size(); ++at) {
            clipped& c = clips[static_cast<std::size_t>(at)];
            if (c.dimension == dimension && (c.is == clip_kind::end || c.is == clip_kind::begin)) visit(c);
        }
    }
    /// A dimension became a loop as a whole: there is no call where it has ended.
    static constexpr void call_where_there_is(clipped& c) {
        linear form;
        form.add(c.form, c.is == clip_kind::end ? 1 : -1);
        c = {form, c.is == clip_kind::end ? c.bound : 1 - c.bound, -1, clip_kind::only};
    }
    constexpr bool is_clipped(int dimension) {
        bool found = false;
        each_end(dimension, [&](clipped const&) { found = true; });
        return found;
    }
};

/// What is joined behind a dimension that ends early makes each of its elements several.
constexpr void scale_ends(region& r, int dimension, int joined, std::int64_t elements) {
    r.each_end(dimension, [&](region::clipped& c) {
        linear form;
        form.add(c.form, elements);
        c = {form, c.bound * elements, static_cast<std::int8_t>(joined), c.is};
    });
}

/// Elements that a step along a dimension of the region moves on one side. An argument counts as dense here.
constexpr std::int64_t source_step(planning& p, region const& r, movement_dimension const& d) {
    return r.source < 0 ? 0 : d.source_factor * p.buffer_at(r.source).stride(d.source_dimension);
}
constexpr std::int64_t destination_step(planning& p, region const& r, movement_dimension const& d) {
    return d.destination_factor * p.buffer_at(r.destination).stride(d.destination_dimension);
}

/// An argument whose dimensions were joined must come without gaps there: the entry of the kernel checks it.
constexpr void rely_on_dense(planning& p, int buffer_at, int dimension) {
    if (buffer_at < 0) return;
    buffer& b = p.buffer_at(buffer_at);
    if (b.dense_from > dimension) b.dense_from = static_cast<std::uint8_t>(dimension);
}

/// The largest divisor of `extent` that is at most `most`.
constexpr std::int64_t divisor_up_to(std::int64_t extent, std::int64_t most) {
    std::int64_t best = 1;
    for (std::int64_t d = 1; d * d <= extent; ++d) {
        if (extent % d != 0) continue;
        if (d <= most && d > best) best = d;
        if (extent / d <= most && extent / d > best) best = extent / d;
    }
    return best;
}

struct region_fault {
    rule broken = rule::none;
    std::int64_t value = 0, limit = 0;

    constexpr explicit operator bool() const { return broken != rule::none; }
};

/// Cycles that a load or store by code takes longer in the memory of a buffer than in one without wait states.
constexpr std::int32_t wait_at(planning& p, int buffer_at) {
    return static_cast<std::int32_t>(p.of->where().memories[p.buffer_at(buffer_at).memory].wait_cycles);
}

/// Elements between neighbours along a dimension of a buffer, where the plan knows them: of its own boxes, and of an argument that must
/// come without gaps there; 0: run time knows.
constexpr std::int64_t known_stride(planning const& p, int buffer_at, int dimension) {
    buffer const& b = p.plan.buffers[static_cast<std::size_t>(buffer_at)];
    if (b.kind != buffer_kind::argument || dimension == b.rank - 1) return b.stride(dimension);
    if (dimension < b.dense_from) return 0;
    for (int at = 0; at < p.plan.shapes.size(); ++at) {
        shape const& open = p.plan.shapes[static_cast<std::size_t>(at)];
        if (open.buffer == buffer_at && open.dimension > dimension && open.end.count > 0) return 0;
    }
    return b.stride(dimension);
}

/// Asks that `elements` along a dimension of a buffer lie a multiple of `unit` bytes apart. What the caller decides, the entry checks.
constexpr region_fault ask_for_multiple(planning& p, int buffer_at, int dimension, std::int64_t elements, std::int64_t unit) {
    buffer& b = p.buffer_at(buffer_at);
    std::int64_t const bytes = elements * bytes_of(b.type), stride = known_stride(p, buffer_at, dimension);
    if (unit <= 1 || bytes == 0) return {};
    if (stride != 0) return stride * bytes % unit == 0 ? region_fault{} : region_fault{rule::stride_not_aligned, stride * bytes, unit};
    std::int64_t& multiple = b.stride_multiples[static_cast<std::size_t>(dimension)];
    multiple = p.common_multiple(multiple > 0 ? multiple : 1, unit / std::gcd(unit, bytes), b.tensor);
    return {};
}

/// Strides of an argument that must be multiples of something and, since dimensions were joined later, are what they are.
constexpr region_fault contradiction_in(planning const& p, int buffer_at) {
    if (buffer_at < 0) return {};
    buffer const& b = p.plan.buffers[static_cast<std::size_t>(buffer_at)];
    for (int dimension = b.dense_from; dimension + 1 < b.rank && b.kind == buffer_kind::argument; ++dimension) {
        auto const d = static_cast<std::size_t>(dimension);
        std::int64_t const stride = known_stride(p, buffer_at, dimension), multiple = b.stride_multiples[d];
        if (multiple > 1 && b.extents[d] > 1 && stride % multiple != 0)
            return {rule::stride_not_aligned, stride * bytes_of(b.type), multiple * bytes_of(b.type)};
    }
    return {};
}

/// Whether addresses in a buffer at `at` are multiples of `alignment` bytes wherever the loops stand. Only what moves them counts: no loop
/// of one iteration, no dimension that stands still. Strides that run time knows are left to the check at the entry of the kernel.
constexpr region_fault align(planning& p, int buffer_at, fixed_array<linear, max_rank> const& at, std::int64_t alignment) {
    if (alignment <= 1) return {};
    buffer& b = p.buffer_at(buffer_at);
    b.alignment = p.common_multiple(b.alignment, alignment, b.tensor);
    for (int dimension = b.block_dimensions; dimension < b.rank; ++dimension) {  // a block begins where a buffer may
        linear const& form = at[static_cast<std::size_t>(dimension)];
        auto const moves = [&](std::int64_t elements) -> region_fault {
            region_fault const found = ask_for_multiple(p, buffer_at, dimension, elements, alignment);
            if (!found) return {};
            return {rule::address_not_aligned, (found.value % alignment + alignment) % alignment, alignment};
        };
        if (region_fault const found = moves(form.constant - b.minimum[static_cast<std::size_t>(dimension)])) return found;
        for (int t = 0; t < form.count; ++t) {
            term const& part = form.terms[static_cast<std::size_t>(t)];
            if (!is_given(p.var(part.variable)) && p.var(part.variable).extent == 1) continue;
            if (region_fault const found = moves(grain_of(p, part))) return found;
        }
    }
    return {};
}

/// What addresses in a buffer must be multiples of, in bytes: what is asked for, and where they are numbers, what those count.
/// @param seen_as  the buffer's memory, or a view of it, in which they are given
constexpr std::int64_t alignment_in(planning& p, int buffer_at, label const& seen_as, std::int64_t asked) {
    buffer const& b = p.buffer_at(buffer_at);
    machine const& where = p.of->where();
    memory const& in = where.memories[b.memory];
    if (in.is_numbered()) asked = p.common_multiple(asked, in.address_unit, b.tensor);
    if (in.name == seen_as) return asked;
    int const view = where.memories.find(seen_as);
    return view >= 0 && where.memories[view].is_numbered() ? p.common_multiple(asked, where.memories[view].address_unit, b.tensor) : asked;
}

/// Calls `visit(argument)` for what the calls of a part, and the settings that it uses, are given.
template <class Description, class Visit>
constexpr void each_value(machine const& where, Description const& part, Visit&& visit) {
    for (int at = 0; at < part.call.count; ++at) visit(part.call.arguments[static_cast<std::size_t>(at)]);
    for (int more = part.more_calls.first; more < part.more_calls.first + part.more_calls.count; ++more) {
        device_call const& call = where.more_calls[more];
        for (int at = 0; at < call.count; ++at) visit(call.arguments[static_cast<std::size_t>(at)]);
    }
    for (int which = part.settings.first; which < part.settings.first + part.settings.count; ++which) {
        required_setting const& setting = where.settings[which];
        for (int at = 0; at < setting.count; ++at) visit(setting.values[static_cast<std::size_t>(at)]);
    }
}

/// Adds the steps that move region `r` by `transfer_at`: one `start`, in loops over what one call cannot express.
/// @pre its dimensions are those of the buffers: see `move_region`
constexpr void move_dense(planning& p, region r, int transfer_at, int ordinal, ring_step const& when = {}) {
    transfer_description const& t = mover_of(p.plan, transfer_at);
    std::int64_t const size = bytes_of(p.buffer_at(r.destination).type);
    auto const refuse = [&](region_fault const& fault) {
        verdict& v = p.refuse(verdict_kind::transfer_region, ordinal);
        v.names = {t.name, p.buffer_at(r.destination).tensor};
        v.broken = fault.broken;
        v.facts = {fact{fact_kind::need, fault.value}, fact{fact_kind::limit, fault.limit}};
    };
    // Rows are whole granules, and whole units of what counts them.
    std::int64_t granularity = t.row_granularity;
    each_value(p.of->where(), t, [&](call_argument const& a) {
        if ((a.is == role::bytes || a.is == role::row_bytes) && a.value > 1) granularity = p.common_multiple(granularity, a.value, t.name);
    });
    movement m;
    m.transfer = static_cast<std::int16_t>(transfer_at);
    m.at = when;
    m.source = static_cast<std::int16_t>(r.source);
    m.destination = static_cast<std::int16_t>(r.destination);
    m.border = static_cast<std::int16_t>(r.border);

    auto& dims = r.dimensions;
    auto const remove = [&](int position) {
        for (int next = position + 1; next < r.count; ++next)
            dims[static_cast<std::size_t>(next - 1)] = dims[static_cast<std::size_t>(next)];
        --r.count;
    };
    for (int position = r.count - 1; position >= 0; --position) {
        if (dims[static_cast<std::size_t>(position)].extent == 1) remove(position);
    }
    auto const dim = [&](int position) -> movement_dimension& { return dims[static_cast<std::size_t>(position)]; };
    int row = -1, source_row = -1;  // the dimensions of the destination and of the source that the row begins in
    if (r.count > 0 && source_step(p, r, dim(r.count - 1)) <= 1 && destination_step(p, r, dim(r.count - 1)) == 1) {
        m.row_elements = dim(r.count - 1).extent;
        row = dim(r.count - 1).destination_dimension;
        source_row = dim(r.count - 1).source_dimension;
        rely_on_dense(p, r.source, source_row);
        rely_on_dense(p, r.destination, row);
        --r.count;
    }
    // Too many dimensions: join what lies without gaps on both sides, the row first.
    int const outer_most = t.most_dimensions - 1;
    auto const follows = [&](movement_dimension const& outer, std::int64_t source_reach, std::int64_t destination_reach) {
        return (r.source < 0 || source_step(p, r, outer) == source_reach) && destination_step(p, r, outer) == destination_reach;
    };
    auto const join = [&](movement_dimension const& outer, int source_dimension, int destination_dimension) {
        rely_on_dense(p, r.source, outer.source_dimension);
        rely_on_dense(p, r.destination, outer.destination_dimension);
        for (int d = outer.source_dimension; d < source_dimension; ++d)
            m.source_joined = static_cast<std::uint8_t>(m.source_joined | 1 << d);
        for (int d = outer.destination_dimension; d < destination_dimension; ++d)
            m.destination_joined = static_cast<std::uint8_t>(m.destination_joined | 1 << d);
    };
    while (r.count > outer_most && r.count > 0 && !r.is_clipped(row) && follows(dim(r.count - 1), m.row_elements, m.row_elements)) {
        if (row < 0) row = dim(r.count - 1).destination_dimension, source_row = dim(r.count - 1).source_dimension;
        scale_ends(r, dim(r.count - 1).destination_dimension, row, m.row_elements);
        join(dim(r.count - 1), source_row, row);
        m.row_elements *= dim(--r.count).extent;
    }
    for (int position = r.count - 2; position >= 0 && r.count > outer_most; --position) {
        movement_dimension& inner = dim(position + 1);
        if (r.is_clipped(inner.destination_dimension)) continue;
        if (!follows(dim(position), source_step(p, r, inner) * inner.extent, destination_step(p, r, inner) * inner.extent)) continue;
        join(dim(position), inner.source_dimension, inner.destination_dimension);
        scale_ends(r, dim(position).destination_dimension, inner.destination_dimension, inner.extent);
        inner.extent *= dim(position).extent;
        remove(position);
    }
    // Too long a row or a dimension: cut it in equal parts, one more dimension.
    auto const cut = [&](int position, std::int64_t extent, std::int64_t most) {
        std::int64_t const part = divisor_up_to(extent, most);
        for (int next = r.count; next > position; --next) dim(next) = dim(next - 1);
        ++r.count;
        dim(position).extent = extent / part;
        dim(position).source_factor *= part;
        dim(position).destination_factor *= part;
        return part;
    };
    if (t.largest_row_bytes > 0 && m.row_elements * size > t.largest_row_bytes) {
        bool const scalar = r.source >= 0 && p.buffer_at(r.source).rank == 0;
        std::int64_t const most = t.largest_row_bytes / size;
        if (scalar || most < 1 || (most > 1 && divisor_up_to(m.row_elements, most) == 1))
            return refuse({rule::row_without_parts, m.row_elements * size, t.largest_row_bytes});
        if (r.count == max_rank) return refuse({rule::too_many_dimensions, max_rank + 1, max_rank});
        dim(r.count) = {.source_dimension = static_cast<std::int8_t>(r.source < 0 ? -1 : p.buffer_at(r.source).rank - 1),
                        .destination_dimension = static_cast<std::int8_t>(p.buffer_at(r.destination).rank - 1)};
        m.row_elements = cut(r.count, m.row_elements, most);
    }
    for (int position = r.count - 1; position >= 0 && t.largest_extent > 0; --position) {
        if (dim(position).extent <= t.largest_extent) continue;
        if (t.largest_extent > 1 && divisor_up_to(dim(position).extent, t.largest_extent) == 1)
            return refuse({rule::extent_without_parts, dim(position).extent, t.largest_extent});
        if (r.count == max_rank) return refuse({rule::too_many_dimensions, max_rank + 1, max_rank});
        std::int64_t const part = cut(position, dim(position).extent, t.largest_extent);
        dim(position + 1).extent = part;
    }
    if (m.row_elements * size % granularity != 0) return refuse({rule::row_of_broken_granules, m.row_elements * size, granularity});
    // A row that ends early has what the loops leave of its bound, modulo the steps in which they move.
    std::int64_t partial_row = 0;
    r.each_end(row, [&](region::clipped const& c) {
        std::int64_t step = 0;
        for (int at = 0; at < c.form.count; ++at) step = std::gcd(step, grain_of(p, c.form.terms[static_cast<std::size_t>(at)]));
        std::int64_t const rest = step == 0 ? c.bound - c.form.constant : ((c.bound - c.form.constant) % step + step) % step;
        if (rest * size % granularity != 0 || step * size % granularity != 0) partial_row = rest > 0 ? rest : step;
    });
    if (partial_row > 0) return refuse({rule::row_of_broken_granules, partial_row * size, granularity});

    // Still too many, or a count of parts that is too large itself: the outermost become loops of the program.
    int peeled = r.count > outer_most ? r.count - outer_most : 0;
    for (int position = peeled; position < r.count && t.largest_extent > 0; ++position) {
        if (dim(position).extent > t.largest_extent) peeled = position + 1;
    }
    // One call has parts of one size: a dimension that was cut and ends early becomes a loop, too.
    auto const part_of = [&](int position) -> std::int64_t {
        std::int64_t innermost = 0;
        for (int inner = position + 1; inner < r.count; ++inner) {
            if (dim(inner).destination_dimension == dim(position).destination_dimension) innermost = dim(inner).destination_factor;
        }
        return row == dim(position).destination_dimension ? 1 : innermost;
    };
    for (int position = peeled; position < r.count; ++position) {
        if (r.is_clipped(dim(position).destination_dimension) && part_of(position) > 0) peeled = position + 1;
    }
    fixed_array<int, max_rank> loops{};
    for (int position = 0; position < peeled; ++position) {
        movement_dimension const& d = dim(position);
        // Registers have no addresses.
        bool const written_out = passes_values(p.of->where(), t);
        int const loop = p.add(variable{.name = p.buffer_at(r.destination).tensor, .extent = d.extent, .unrolled = written_out});
        loops[static_cast<std::size_t>(position)] = loop;
        if (r.source >= 0) r.source_at[static_cast<std::size_t>(d.source_dimension)].add(d.source_factor, loop);
        r.destination_at[static_cast<std::size_t>(d.destination_dimension)].add(d.destination_factor, loop);
        std::int64_t const part = part_of(position);
        r.each_end(d.destination_dimension, [&](region::clipped& c) {
            c.form.add(part > 0 ? d.destination_factor / part : 1, loop);
            if (part == 0) region::call_where_there_is(c);
        });
        p.add(step_kind::loop, loop);
    }
    m.dimension_count = static_cast<std::int16_t>(r.count - peeled);
    for (int position = peeled; position < r.count; ++position) m.dimensions[static_cast<std::size_t>(position - peeled)] = dim(position);

    auto const alignment_of = [&](int buffer_at) {
        return alignment_in(p, buffer_at, buffer_at == r.destination ? t.destination : t.source, t.address_alignment);
    };
    region_fault fault;
    // Steps along the dimensions of the call itself.
    auto const check_step = [&](bool of_source, movement_dimension const& d, std::int64_t unit) {
        int const side = of_source ? r.source : r.destination;
        if (side < 0 || fault) return;
        fault = ask_for_multiple(p, side, of_source ? d.source_dimension : d.destination_dimension,
                                 of_source ? d.source_factor : d.destination_factor, unit);
    };
    for (int position = 0; position < m.dimension_count; ++position) {
        movement_dimension const& d = m.dimensions[static_cast<std::size_t>(position)];
        check_step(false, d, alignment_of(r.destination));
        if (r.source >= 0) check_step(true, d, alignment_of(r.source));
    }
    if (!fault) fault = align(p, r.destination, r.destination_at, alignment_of(r.destination));
    if (!fault && r.source >= 0) fault = align(p, r.source, r.source_at, alignment_of(r.source));
    // Strides are whole units of what counts them.
    each_value(p.of->where(), t, [&](call_argument const& a) {
        int const position = m.dimension_count - a.dimension;
        if (!is_stride(a.is) || a.dimension < 1 || position < 0) return;
        check_step(a.is == role::source_stride, m.dimensions[static_cast<std::size_t>(position)], a.value);
    });
    if (!fault) fault = contradiction_in(p, r.destination);
    if (!fault) fault = contradiction_in(p, r.source);
    // A row that begins late begins at another address.
    r.each_end(row, [&](region::clipped const& c) {
        if (c.is != clip_kind::begin || fault) return;
        std::int64_t alignment = alignment_of(r.destination);
        if (r.source >= 0) alignment = p.common_multiple(alignment, alignment_of(r.source), p.buffer_at(r.source).tensor);
        std::int64_t move = (c.bound - c.form.constant) * size % alignment;
        for (int at = 0; at < c.form.count && move == 0; ++at)
            move = grain_of(p, c.form.terms[static_cast<std::size_t>(at)]) * size % alignment;
        if (move != 0) fault = {rule::address_not_aligned, (move + alignment) % alignment, alignment};
    });
    if (fault) return refuse(fault);

    m.first_clip = static_cast<std::int16_t>(p.plan.clips.size());
    for (int at = 0; at < r.clips.size(); ++at) {
        region::clipped const& c = r.clips[static_cast<std::size_t>(at)];
        clip kept{p.keep(c.form), c.bound, -1, c.is};
        bool moved = c.is == clip_kind::only || c.is == clip_kind::beyond || c.dimension == row;
        for (int position = 0; position < m.dimension_count; ++position) {
            if (moved || m.dimensions[static_cast<std::size_t>(position)].destination_dimension != c.dimension) continue;
            kept.dimension = static_cast<std::int8_t>(position);
            moved = true;
        }
        // A dimension of one element is gone: its only one is there, or the loops around would not run.
        if (moved) p.add(kept);
    }
    m.clip_count = static_cast<std::int16_t>(p.plan.clips.size() - m.first_clip);

    m.bytes = m.row_elements * size;
    for (int position = 0; position < m.dimension_count; ++position) m.bytes *= m.dimensions[static_cast<std::size_t>(position)].extent;
    m.cycles = t.costs.latency + t.costs.setup + (m.bytes + t.costs.bytes_per_cycle - 1) / t.costs.bytes_per_cycle;
    if (transfer_at < 0) m.cycles = m.bytes / size * (p.of->where().host().costs.store + wait_at(p, r.destination));
    for (int dimension = 0; dimension < max_rank; ++dimension) {
        auto const d = static_cast<std::size_t>(dimension);
        if (r.source >= 0 && dimension < p.buffer_at(r.source).rank) m.source_at[d] = p.keep(r.source_at[d]);
        if (dimension < p.buffer_at(r.destination).rank) m.destination_at[d] = p.keep(r.destination_at[d]);
    }
    p.add(step_kind::start, p.add(m));
    for (int position = 0; position < peeled; ++position) p.add(step_kind::end, loops[static_cast<std::size_t>(position)]);
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
