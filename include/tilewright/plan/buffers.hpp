#pragma once
#include <tilewright/plan/box.hpp>
#include <tilewright/plan/layout.hpp>
#include <tilewright/plan/nest.hpp>

// The buffers of a plan: arguments, and boxes that it gives an address.
namespace tilewright::detail {

/// A buffer that the plan gives an address: its box from the forms of its first element and its extents.
/// @param layout  position in the schedule; -1: none
constexpr int add_planned(planning& p, label const& tensor, int memory_at, scalar_type type, box const& whole, int ordinal, int layout = -1,
                          int layout_ordinal = 0) {
    memory const& m = p.of->where().memories[memory_at];
    if (m.capacity <= 0) {
        p.refuse(verdict_kind::no_memory, ordinal).names = {tensor, m.name};
        return 0;
    }
    buffer b{.name = dotted(tensor, m.name),
             .tensor = tensor,
             .kind = buffer_kind::staged,
             .memory = static_cast<std::int16_t>(memory_at),
             .type = type,
             .rank = static_cast<std::int16_t>(whole.rank),
             .ordinal = static_cast<std::int16_t>(ordinal)};
    // A tensor staged twice in one memory: a number tells its buffers apart.
    for (int at = 0, again = 2; at < p.plan.buffers.size(); ++at) {
        if (p.buffer_at(at).name != b.name) continue;
        char const number[] = {static_cast<char>(again < 10 ? '0' + again : 'a' + again - 10), '\0'};
        ++again;
        b.name = dotted(dotted(tensor, m.name), number);
        at = -1;
    }
    double bytes = bytes_of(type);
    for (int dimension = 0; dimension < whole.rank; ++dimension) {
        auto const d = static_cast<std::size_t>(dimension);
        b.extents[d] = whole.extents[d];
        bytes *= static_cast<double>(whole.extents[d]);
    }
    b.bytes = p.limited(bytes, plan_value::most_bytes, "bytes", b.name);
    if (layout >= 0 && !p.refused()) apply_layout(p, b, p.of->layout_at(layout), layout_ordinal);
    int const at = p.add(b);
    for (int dimension = 0; dimension < whole.rank && !p.refused(); ++dimension) {
        p.box_at[static_cast<std::size_t>(at)][static_cast<std::size_t>(dimension)] = p.keep(whole.at[static_cast<std::size_t>(dimension)]);
    }
    return at;
}

/// Arguments in the order in which the computation names them, the result last.
constexpr void add_arguments(planning& p) {
    auto const agree = [&](tilewright::node const& n, int rank, scalar_type type) {
        if (rank != n.argument_count) p.refuse(verdict_kind::ill_formed, rule::used_with_two_ranks, {n.name});
        if (type != n.type) p.refuse(verdict_kind::ill_formed, rule::used_with_two_types, {n.name});
    };
    auto const add = [&](int node, bool written) {
        tilewright::node const& n = p.plan.what[node];
        for (int at = 0; at < p.plan.buffers.size(); ++at) {
            if (p.buffer_at(at).tensor == n.name) return agree(n, p.buffer_at(at).rank, p.buffer_at(at).type);
        }
        p.add(buffer{.name = n.name,
                     .tensor = n.name,
                     .written = written,
                     .type = n.type,
                     .rank = static_cast<std::int16_t>(n.argument_count),
                     .alignment = bytes_of(n.type),
                     .dense_from = static_cast<std::uint8_t>(n.argument_count > 0 ? n.argument_count - 1 : 0)});
    };
    for (int s = 0; s < p.plan.stages.size(); ++s) {
        p.each_access(s, [&](int node) {
            tilewright::node const& n = p.plan.what[node];
            int const producer = p.producer_of(n.name);
            if (producer < 0) add(node, false);
            else if (producer >= s) p.refuse(verdict_kind::ill_formed, rule::computed_too_late, {p.stage_at(s).output, n.name});
            else agree(n, p.stage_at(producer).rank, p.stage_at(producer).type);
        });
    }
    int const last = p.plan.stages.size() - 1;
    if (p.refused() || p.placed(last).store_memory >= 0) return;
    add(p.stage_at(last).target, true);
    p.placed(last).home = static_cast<std::int16_t>(p.plan.buffers.size() - 1);
}

/// The least box of every argument that holds all that the kernel touches.
constexpr void size_arguments(planning& p) {
    for (int at = 0; at < p.plan.buffers.size(); ++at) {
        buffer& b = p.buffer_at(at);
        if (b.kind != buffer_kind::argument) continue;
        bool started = false;
        for (int s = 0; s < p.plan.stages.size(); ++s) {
            p.each_access(
                s,
                [&](int node) {
                    if (p.plan.what[node].name != b.tensor) return;
                    for (int dimension = 0; dimension < b.rank; ++dimension) {
                        auto const d = static_cast<std::size_t>(dimension);
                        range const one = p.index_range(s, node, dimension);
                        std::int64_t const low = started && b.minimum[d] < one.low ? b.minimum[d] : one.low;
                        std::int64_t const high = started ? b.minimum[d] + b.extents[d] - 1 : one.high;
                        b.minimum[d] = low;
                        b.extents[d] = (high > one.high ? high : one.high) - low + 1;
                    }
                    started = true;
                },
                true);
        }
        double bytes = bytes_of(b.type);
        for (int dimension = 0; dimension < b.rank; ++dimension)
            bytes *= static_cast<double>(b.extents[static_cast<std::size_t>(dimension)]);
        b.bytes = p.limited(bytes, plan_value::most_bytes, "bytes", b.name);
    }
}

}  // namespace tilewright::detail
