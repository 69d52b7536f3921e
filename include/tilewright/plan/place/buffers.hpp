#pragma once
#include <tilewright/plan/loops/box.hpp>
#include <tilewright/plan/loops/nest.hpp>
#include <tilewright/plan/place/layout.hpp>
#include <tilewright/plan/place/registers.hpp>

// The buffers of a plan: arguments, and boxes that it gives an address.
namespace tilewright::detail {

/// A buffer that the plan makes for a tensor.
struct wanted_buffer {
    ir::label tensor;
    int memory;  ///< position in the machine
    scalar_type type;
    int ordinal;      ///< of the directive that asks for it
    int layout = -1;  ///< position in the schedule; -1: none
    int layout_ordinal = 0;
};

/// A buffer that the plan gives an address: its box from the forms of its first element and its extents.
constexpr buffer_id add_planned(placing& p, wanted_buffer const& wanted, box const& whole) {
    memory const& m = p.of->where().memories[wanted.memory];
    if (m.capacity <= 0) {
        p.refuse(verdict_kind::no_memory, wanted.ordinal).names = {wanted.tensor, m.name};
        return buffer_id{};
    }
    buffer b{.name = dotted(wanted.tensor, m.name),
             .tensor = wanted.tensor,
             .kind = buffer_kind::staged,
             .memory = static_cast<std::int16_t>(wanted.memory),
             .type = wanted.type,
             .rank = static_cast<std::int16_t>(whole.rank),
             .ordinal = static_cast<std::int16_t>(wanted.ordinal)};
    // If a tensor is staged twice in one memory, a number tells its buffers apart.
    for (int at = 0, again = 2; at < p.plan.buffers.count; ++at) {
        if (p.buffer_at(at).name != b.name) continue;
        char const number[] = {static_cast<char>(again < 10 ? '0' + again : 'a' + again - 10), '\0'};
        ++again;
        b.name = dotted(dotted(wanted.tensor, m.name), number);
        at = -1;
    }
    double bytes = bytes_of(wanted.type);
    for (int dimension = 0; dimension < whole.rank; ++dimension) {
        std::int64_t const extent = whole.extents.elements[dimension];
        b.extents.elements[dimension] = extent;
        bytes *= static_cast<double>(extent);
    }
    b.bytes = p.limited(bytes, plan_value::most_bytes, "bytes", b.name);
    if (m.registers > 0) b.bytes = bytes_in_registers(b, m);
    if (wanted.layout >= 0 && !p.refused()) apply_layout(p, b, p.of->layout_at(wanted.layout), wanted.layout_ordinal);
    buffer_id const at = p.add(b);
    for (int dimension = 0; dimension < whole.rank && !p.refused(); ++dimension) {
        p.from.box_at.elements[at].elements[dimension] = p.keep(whole.at.elements[dimension]);
    }
    return at;
}

/// Where the caller keeps an argument: what `reads` or `writes` names first, or else the machine's first memory.
constexpr void put_argument(planning const& p, buffer& b) {
    schedule const& of = *p.of;
    directive_kind const wanted = b.written ? directive_kind::writes : directive_kind::reads;
    for (int at = 0, count = of.directive_count(); at < count; ++at) {
        directive const& d = of.directive_at(at);
        if (d.kind != wanted || of.name_at(d, 0) != b.tensor) continue;
        b.memory = static_cast<std::int16_t>(of.where().memories.find(of.name_at(d, 1)));
        b.ordinal = static_cast<std::int16_t>(at + 1);
    }
}

/// Arguments in the order in which the computation names them, the result last.
constexpr void add_arguments(placing& p) {
    auto const agree = [&](ir::node const& n, int rank, scalar_type type) {
        if (rank != n.argument_count) p.refuse(verdict_kind::ill_formed, rule::used_with_two_ranks, {n.name});
        if (type != n.type) p.refuse(verdict_kind::ill_formed, rule::used_with_two_types, {n.name});
    };
    auto const add = [&](int node, bool written) {
        ir::node const& n = p.plan.what.nodes[node];
        for (int at = 0; at < p.plan.buffers.count; ++at) {
            if (p.buffer_at(at).tensor == n.name) return agree(n, p.buffer_at(at).rank, p.buffer_at(at).type);
        }
        buffer argument{.name = n.name,
                        .tensor = n.name,
                        .written = written,
                        .type = n.type,
                        .rank = static_cast<std::int16_t>(n.argument_count),
                        .alignment = bytes_of(n.type),
                        .dense_from = static_cast<std::uint8_t>(n.argument_count > 0 ? n.argument_count - 1 : 0)};
        put_argument(p, argument);
        p.add(argument);
    };
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        p.each_access(s, [&](node_id node) {
            ir::node const& n = p.plan.what.nodes[node];
            stage_id const producer = p.producer_of(n.name);
            if (producer < 0) add(node, false);
            else if (producer >= s) p.refuse(verdict_kind::ill_formed, rule::computed_too_late, {p.stage_at(s).output, n.name});
            else agree(n, p.stage_at(producer).rank, p.stage_at(producer).type);
        });
    }
    int const last = p.plan.stages.count - 1;
    if (p.refused() || p.placed(last).store_memory >= 0) return;
    add(p.stage_at(last).target, true);
    p.placed(last).home = buffer_id(p.plan.buffers.count - 1);
}

/// Keeps how far one access reaches in a dimension of an argument, if run time decides that.
constexpr void add_shape(writing& p, buffer_id buffer_at, int dimension, planning::index_range const& one) {
    if (one.open >= 0) {
        p.refuse(verdict_kind::run_time_domain).names = {p.buffer_at(buffer_at).tensor, p.var(one.open).name};
        return;
    }
    linear end = one.high;
    end.constant += 1;
    for (int t = 0; t < end.count; ++t) {
        term const& part = end.terms[t];
        restrict_extent(p, part.variable, stage::most_index / part.coefficient, 0);
    }
    for (int at = 0; at < p.plan.shapes.count; ++at) {
        shape& known = p.plan.shapes[at];
        if (known.buffer != buffer_at || known.dimension != dimension || !p.form_of(known.end).same_terms(end)) continue;
        if (known.end.constant < end.constant) known.end.constant = end.constant;
        known.plain &= end.constant == 0;
        return;
    }
    bool const plain = end.constant == 0 && one.low == 0 && end.count == 1 && end.terms[0].coefficient == 1;
    p.add(shape{buffer_at, static_cast<std::int16_t>(dimension), p.keep(end), plain});
}

/// Every extent that is left to run time must be an extent of an argument: the kernel reads it there.
constexpr void check_extents(writing& p) {
    // A dimension that several accesses use is at least as long as the furthest of them needs.
    for (int a = 0; a < p.plan.shapes.count; ++a) {
        for (int b = 0; b < p.plan.shapes.count; ++b) {
            shape& one = p.plan.shapes[a];
            shape const& other = p.plan.shapes[b];
            one.plain &= a == b || one.buffer != other.buffer || one.dimension != other.dimension;
        }
    }
    for (int extent = 0; extent < p.plan.run_time_extents && !p.refused(); ++extent) {
        bool read = false;
        for (int at = 0; at < p.plan.shapes.count; ++at) {
            shape const& one = p.plan.shapes[at];
            read |= one.plain && p.plan.term_at(one.end, 0).variable == extent;
        }
        if (!read) p.refuse(verdict_kind::ill_formed, rule::extent_of_no_argument, {p.var(extent).name});
    }
}

/// Gives every argument the least box that holds all that the kernel touches.
constexpr void size_arguments(writing& p) {
    for (buffer_id at{}; at < p.plan.buffers.count; ++at) {
        buffer& b = p.buffer_at(at);
        if (b.kind != buffer_kind::argument) continue;
        bool started = false;
        for (stage_id s{}; s < p.plan.stages.count; ++s) {
            p.each_access(
                s,
                [&](node_id node) {
                    if (p.plan.what.nodes[node].name != b.tensor) return;
                    for (int dimension = 0; dimension < b.rank; ++dimension) {
                        planning::index_range one = p.range_of_index(s, node, dimension);
                        // A padded tensor has the extents that the access names.
                        if (is_padded(p.plan.what, node)) one.low = 0, one.high.constant = padded_extent(p.plan.what, node, dimension) - 1;
                        std::int64_t const low =
                            started && b.minimum.elements[dimension] < one.low ? b.minimum.elements[dimension] : one.low;
                        // While extents are open, each stands at 2: rows then lie as far apart as they can be taken to.
                        std::int64_t here = one.high.constant;
                        for (int t = 0; t < one.high.count; ++t) here += 2 * one.high.terms[t].coefficient;
                        std::int64_t const high = started ? b.minimum.elements[dimension] + b.extents.elements[dimension] - 1 : here;
                        if (p.plan.run_time_extents > 0) add_shape(p, at, dimension, one);
                        b.minimum.elements[dimension] = low;
                        b.extents.elements[dimension] = (high > here ? high : here) - low + 1;
                    }
                    started = true;
                },
                true);
        }
        double bytes = bytes_of(b.type);
        for (int dimension = 0; dimension < b.rank; ++dimension) bytes *= static_cast<double>(b.extents.elements[dimension]);
        b.bytes = p.limited(bytes, plan_value::most_bytes, "bytes", b.name);
    }
    check_extents(p);
}

}  // namespace tilewright::detail
