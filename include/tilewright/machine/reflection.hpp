#pragma once
#include <boost/hana/adapt_adt.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/append.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/unpack.hpp>
#include <iterator>
#include <span>
#include <tilewright/machine/every_member.hpp>
#include <tilewright/machine/machine.hpp>

// The members of the descriptions by name: equality, hashing, printing and JSON walk them. A list that forgets one does not compile where
// it is walked.
namespace tilewright {

/// A device address on its way into a report; `no_address` when the memory has none.
struct device_address {
    std::uint64_t value = no_address;

    friend constexpr bool operator==(device_address, device_address) = default;
};

constexpr char const* name_of(role is) {
    constexpr char const* names[] = {
        "source",  "destination", "bytes",   "row_bytes",    "extent",    "source_stride", "destination_stride",
        "address", "stride",      "literal", "tag",          "pending",   "queue",         "covered",
        "setting", "value",       "channel", "pad_before",   "pad_after", "pad_value",     "core",
        "peer",    "status",      "cores",   "element_bytes"};
    return names[static_cast<int>(is)];
}

/// A type whose members are named below, or by BOOST_HANA_ADAPT_STRUCT elsewhere.
template <class T>
concept reflected = boost::hana::Struct<T>::value;

namespace detail {

template <class T>
concept has_name_of = requires(T value) {
    name_of(value);
};

template <class T>
concept range_of_parts = requires(T const& many) {
    std::size(many), std::ranges::begin(many), std::ranges::end(many);
};

/// The parts of a list that are in use; `count` may be higher than that when it overflowed.
template <class Part, int Most>
constexpr std::span<Part const> in_use(fixed_array<Part, Most> const& parts, int count) {
    return {parts.elements, static_cast<std::size_t>(count < Most ? count : Most)};
}

/// The bases of a memory's banks; none where its base says everything.
struct bank_base_list {
    fixed_array<device_address, max_banks> bases{};
    int count = 0;

    constexpr int size() const { return count; }
    constexpr device_address const* begin() const { return bases.elements; }
    constexpr device_address const* end() const { return bases.elements + count; }
};
constexpr bank_base_list bases_of_banks(memory const& m) {
    bank_base_list list;
    bool const shown = m.has_address() && (m.banks > 1 || m.bank_bases[0] != 0);
    for (int bank = 0; shown && bank < m.banks && bank < max_banks; ++bank) list.bases[list.count++] = {m.bank_base(bank)};
    return list;
}

constexpr bank_base_list bases_of_cores(memory const& m) {
    static_assert(max_cores <= max_banks);
    bank_base_list list;
    for (int core = 0; m.has_core_bases() && core < max_cores; ++core) list.bases[list.count++] = {m.core_bases[core]};
    return list;
}

/// Calls `visit(name, member)` for every member of `whole`.
template <reflected T, class Visit>
constexpr void each_member(T const& whole, Visit&& visit) {
    boost::hana::unpack(members_of<T>(), [&](auto const&... members) {
        (visit(boost::hana::first(members).c_str(), boost::hana::second(members)(whole)), ...);
    });
}

// Counts of what stands in a list: the list is as long.
template <>
inline constexpr int left_out<device_call> = 1;  // count
template <>
inline constexpr int left_out<required_setting> = 1;  // count
template <>
inline constexpr int left_out<part_protocol> = 2;  // more_call_count, setting_count
template <>
inline constexpr int left_out<cycle_term> = 1;  // factor_count
template <>
inline constexpr int left_out<intrinsic_cost> = 1;  // term_count
template <>
inline constexpr int left_out<intrinsic_description> = 1;  // operand_count
template <>
inline constexpr int left_out<machine> = 1;  // semantics_count

template <>
inline constexpr bool extends_its_base<transfer> = true;
template <>
inline constexpr bool extends_its_base<intrinsic> = true;
template <class T>
inline constexpr bool extends_its_base<tensor<T>> = true;

}  // namespace detail
}  // namespace tilewright

BOOST_HANA_ADAPT_ADT(tilewright::memory, (name, [](auto const& m) { return m.name; }),
                     (base, [](auto const& m) { return tilewright::device_address{m.base}; }),
                     (capacity, [](auto const& m) { return m.capacity; }), (alignment, [](auto const& m) { return m.alignment; }),
                     (banks, [](auto const& m) { return m.banks; }), (ports, [](auto const& m) { return m.ports; }),
                     (bank_bases, [](auto const& m) { return tilewright::detail::bases_of_banks(m); }),
                     (host_visible, [](auto const& m) { return m.host_visible; }), (registers, [](auto const& m) { return m.registers; }),
                     (address_unit, [](auto const& m) { return m.address_unit; }),
                     (address_flags, [](auto const& m) { return tilewright::device_address{m.address_flags}; }),
                     (per_agent, [](auto const& m) { return m.per_agent; }), (wait_cycles, [](auto const& m) { return m.wait_cycles; }),
                     (c_type, [](auto const& m) { return m.c_type; }), (view_of, [](auto const& m) { return m.view_of; }),
                     (per_core, [](auto const& m) { return m.per_core; }),
                     (core_bases, [](auto const& m) { return tilewright::detail::bases_of_cores(m); }),
                     (cache_line, [](auto const& m) { return m.cache_line; }), (line_cycles, [](auto const& m) { return m.line_cycles; }),
                     (upkeep_cycles, [](auto const& m) { return m.upkeep_cycles; }),
                     (behind_caches, [](auto const& m) { return m.behind_caches; }));
BOOST_HANA_ADAPT_STRUCT(tilewright::cache_level, bytes, line, ways, bytes_per_cycle);
BOOST_HANA_ADAPT_STRUCT(tilewright::operation_costs, load, store, arithmetic, multiply, divide, convert);
BOOST_HANA_ADAPT_ADT(
    tilewright::core, (name, [](auto const& c) { return c.name; }), (costs, [](auto const& c) { return c.costs; }),
    (count, [](auto const& c) { return c.count; }), (fused_multiply_add, [](auto const& c) { return c.fused_multiply_add; }),
    (instructions, [](auto const& c) { return c.instructions; }), (barrier_cycles, [](auto const& c) { return c.barrier_cycles; }),
    (barrier_call, [](auto const& c) { return c.barrier_call; }), (signal_queues, [](auto const& c) { return c.signal_queues; }),
    (signal_capacity, [](auto const& c) { return c.signal_capacity; }), (signal_cycles, [](auto const& c) { return c.signal_cycles; }),
    (signal_call, [](auto const& c) { return c.signal_call; }), (await_call, [](auto const& c) { return c.await_call; }),
    (clean_call, [](auto const& c) { return c.clean_call; }), (invalidate_call, [](auto const& c) { return c.invalidate_call; }),
    (caches, [](auto const& c) { return tilewright::detail::in_use(c.caches, c.cache_levels()); }));
BOOST_HANA_ADAPT_STRUCT(tilewright::transfer_cost, latency, setup, bytes_per_cycle);
BOOST_HANA_ADAPT_STRUCT(tilewright::call_argument, is, dimension, operand, value);
BOOST_HANA_ADAPT_ADT(tilewright::device_call, (symbol, [](auto const& c) { return c.symbol; }),
                     (arguments, [](auto const& c) { return tilewright::detail::in_use(c.arguments, c.count); }));
BOOST_HANA_ADAPT_STRUCT(tilewright::configuration, name, value_count, per_agent, set_call);
BOOST_HANA_ADAPT_ADT(tilewright::required_setting, (configuration_name, [](auto const& s) { return s.configuration_name; }),
                     (values, [](auto const& s) { return tilewright::detail::in_use(s.values, s.count); }));
BOOST_HANA_ADAPT_STRUCT(tilewright::part_range, first, count);
BOOST_HANA_ADAPT_STRUCT(tilewright::engine, name, depth, channels, completes, interlocked, per_agent, per_core, wait_call);
BOOST_HANA_ADAPT_STRUCT(tilewright::tokens, name, from, to, queue_count, capacity, push_call, pop_call);
BOOST_HANA_ADAPT_STRUCT(tilewright::semantics_range, first, count);
BOOST_HANA_ADAPT_STRUCT(tilewright::stride_limits, most, multiple, exactly, none);
BOOST_HANA_ADAPT_STRUCT(tilewright::border_writing, is, any_value, value, longest);
BOOST_HANA_ADAPT_STRUCT(tilewright::transfer_description, name, source, destination, engine_name, core_name, is_asynchronous, is_multicast,
                        most_dimensions, largest_row_bytes, largest_extent, largest_extents, source_strides, destination_strides,
                        limited_dimension, row_granularity, address_alignment, border, costs, call, more_calls, settings, semantics);
BOOST_HANA_ADAPT_STRUCT(tilewright::operand_constraint, tensor, memory_name, is, alignment, stride_multiple, longest_stride, in_place);
BOOST_HANA_ADAPT_STRUCT(tilewright::cycle_factor, axes, unit);
BOOST_HANA_ADAPT_ADT(tilewright::cycle_term, (cycles, [](auto const& t) { return t.cycles; }),
                     (factors, [](auto const& t) { return tilewright::detail::in_use(t.factors, t.factor_count); }));
BOOST_HANA_ADAPT_ADT(tilewright::intrinsic_cost, (cycles, [](auto const& c) { return c.cycles; }),
                     (terms, [](auto const& c) { return tilewright::detail::in_use(c.terms, c.term_count); }));
BOOST_HANA_ADAPT_ADT(tilewright::intrinsic_description, (name, [](auto const& i) { return i.name; }),
                     (engine_name, [](auto const& i) { return i.engine_name; }), (core_name, [](auto const& i) { return i.core_name; }),
                     (operands, [](auto const& i) { return tilewright::detail::in_use(i.operands, i.operand_count); }),
                     (is_asynchronous, [](auto const& i) { return i.is_asynchronous; }), (costs, [](auto const& i) { return i.costs; }),
                     (flexible_axes, [](auto const& i) { return i.flexible_axes; }),
                     (address_alignment, [](auto const& i) { return i.address_alignment; }),
                     (stride_alignment, [](auto const& i) { return i.stride_alignment; }), (call, [](auto const& i) { return i.call; }),
                     (more_calls, [](auto const& i) { return i.more_calls; }), (settings, [](auto const& i) { return i.settings; }),
                     (semantics, [](auto const& i) { return i.semantics; }));
BOOST_HANA_ADAPT_STRUCT(tilewright::ir::node, op, type, argument_count, arguments, name, value);
BOOST_HANA_ADAPT_STRUCT(tilewright::axis, name, extent);
BOOST_HANA_ADAPT_STRUCT(tilewright::any_tensor, name, type);
BOOST_HANA_ADAPT_ADT(tilewright::machine, (name, [](auto const& m) { return m.name; }),
                     (memories, [](auto const& m) { return tilewright::detail::in_use(m.memories.parts, m.memories.count); }),
                     (engines, [](auto const& m) { return tilewright::detail::in_use(m.engines.parts, m.engines.count); }),
                     (tokens, [](auto const& m) { return tilewright::detail::in_use(m.tokens.parts, m.tokens.count); }),
                     (configurations,
                      [](auto const& m) { return tilewright::detail::in_use(m.configurations.parts, m.configurations.count); }),
                     (cores, [](auto const& m) { return tilewright::detail::in_use(m.cores.parts, m.cores.count); }),
                     (transfers, [](auto const& m) { return tilewright::detail::in_use(m.transfers.parts, m.transfers.count); }),
                     (intrinsics, [](auto const& m) { return tilewright::detail::in_use(m.intrinsics.parts, m.intrinsics.count); }),
                     (more_calls, [](auto const& m) { return tilewright::detail::in_use(m.more_calls.parts, m.more_calls.count); }),
                     (settings, [](auto const& m) { return tilewright::detail::in_use(m.settings.parts, m.settings.count); }),
                     (semantics, [](auto const& m) { return tilewright::detail::in_use(m.semantics, m.semantics_count); }));

// A part that still carries its semantics, further calls and settings: the members of its description, then those.
template <>
struct boost::hana::accessors_impl<tilewright::part_protocol> {
    template <class...>
    static constexpr auto apply() {
        return make_tuple(make_pair(BOOST_HANA_STRING("more_calls"),
                                    [](auto const& p) { return tilewright::detail::in_use(p.more_calls, p.more_call_count); }),
                          make_pair(BOOST_HANA_STRING("settings"),
                                    [](auto const& p) { return tilewright::detail::in_use(p.settings, p.setting_count); }));
    }
};
namespace tilewright::detail {

template <class Part, class Description>
constexpr auto accessors_of_part() {
    static_assert(sizeof(Part) == sizeof(Description) + sizeof(Part::does) + sizeof(Part::protocol),
                  "a part has a member of its own that is not named here");
    namespace hana = boost::hana;
    return hana::append(
        hana::append(hana::accessors<Description>(),
                     hana::make_pair(BOOST_HANA_STRING("does"), [](auto const& p) { return in_use(p.does.nodes, p.does.count); })),
        hana::make_pair(BOOST_HANA_STRING("protocol"), [](auto const& p) { return p.protocol; }));
}

}  // namespace tilewright::detail
template <>
struct boost::hana::accessors_impl<tilewright::transfer> {
    template <class...>
    static constexpr auto apply() {
        return tilewright::detail::accessors_of_part<tilewright::transfer, tilewright::transfer_description>();
    }
};
template <>
struct boost::hana::accessors_impl<tilewright::intrinsic> {
    template <class...>
    static constexpr auto apply() {
        return tilewright::detail::accessors_of_part<tilewright::intrinsic, tilewright::intrinsic_description>();
    }
};
template <class T>
struct boost::hana::accessors_impl<tilewright::tensor<T>> : accessors_impl<tilewright::any_tensor> {};
