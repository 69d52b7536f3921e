#pragma once
#include <tilewright/plan/write/movement_writer.hpp>

// Constants that transfers write.
namespace tilewright::detail {

/// A value that does not depend on memory, or nothing. Floating point as `node` keeps it.
struct known {
    bool is = false;
    std::int64_t value = 0;
};

/// The constant with which a transfer fills a memory, by elements of a type; nothing if it does anything else.
constexpr known filled_value(planning const& p, int transfer_at, int memory_at, scalar_type type) {
    machine const& where = p.of->where();
    transfer_description const& t = where.transfers[transfer_at];
    if (copies(t) || memory_under(where, t.destination) != memory_at) return {};
    computation_view const view = where.view(t.semantics);
    stage semantics;
    if (read_stage(view, 0, semantics) || semantics.type != type || semantics.reduces()) return {};
    node const& value = view[semantics.body];
    return value.op == operation::constant ? known{true, value.value} : known{};
}

/// Whether a transfer reaches the copies of a staged buffer that its load reaches: those of all cores, or that of one.
constexpr bool reaches_as_load(planning const& p, staging const& st, int transfer_at) {
    auto const& transfers = p.of->where().transfers;
    return transfers[transfer_at].is_multicast == transfers[st.mover].is_multicast;
}

/// Whether a load itself writes the border of a padded access: it takes any value, or its own value is that of the border.
constexpr bool writes_border(transfer_description const& t, node const& padded) {
    if (!t.border.is || t.border.any_value) return t.border.is;
    if (is_half(padded.type)) return padded.value == half_bits_of(padded.type, static_cast<float>(t.border.value));
    if (!is_float(padded.type)) return padded.value == t.border.value;
    return padded.value == __builtin_bit_cast(std::int64_t, static_cast<double>(t.border.value));
}

/// Chooses what writes the border of a padded tensor's staged buffer: its load, another transfer, or else the core, if it sees the buffer.
constexpr void choose_border_fill(writing& p, staging& st) {
    node const& padded = p.plan.what.nodes[st.border];
    st.pads = writes_border(p.of->where().transfers[st.mover], padded);
    if (st.pads) return;
    for (int at = 0; at < p.of->where().transfers.size() && st.fill == staging::no_fill; ++at) {
        known const value = filled_value(p, at, st.memory, padded.type);
        if (value.is && value.value == padded.value && reaches_as_load(p, st, at)) st.fill = static_cast<std::int16_t>(at);
    }
    if (st.fill != staging::no_fill) return;
    if (p.of->where().transfers[st.mover].is_multicast)
        return p.refuse(verdict_kind::no_border, rule::border_of_one_core, {st.tensor, p.of->where().memories[st.memory].name},
                        st.moved_by());
    st.fill = staging::filled_by_core;
    p.buffer_at(st.buffer).code_access = true;
    // Registers have no address to fill.
    memory const& m = p.of->where().memories[st.memory];
    if (!m.host_visible || m.registers > 0) p.refuse(verdict_kind::no_border, rule::border_without_fill, {st.tensor, m.name}, st.ordinal);
}

/// Whether the core writes some of a staged buffer before it is loaded, by itself or by a transfer that it waits for.
constexpr bool is_filled_by_core(planning const& p, staging const& st) {
    return st.fill == staging::filled_by_core || (st.fill >= 0 && !p.of->where().transfers[st.fill].is_asynchronous);
}

}  // namespace tilewright::detail
