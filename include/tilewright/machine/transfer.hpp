#pragma once
#include <tilewright/machine/configuration.hpp>
#include <tilewright/machine/core.hpp>
#include <tilewright/machine/engine.hpp>
#include <tilewright/machine/memory.hpp>

namespace tilewright {

/// Most nodes in the semantics of one transfer or intrinsic, where equal subexpressions are one.
inline constexpr int max_semantics = 128;

/// Cycles of one transfer: its engine is busy for `setup + ceil(bytes / bytes_per_cycle)`; it is complete `latency` cycles later.
struct transfer_cost {
    std::int64_t latency = 0;          ///< cycles from the end of the job until its bytes are there
    std::int64_t setup = 0;            ///< cycles that the engine is busy with each call, besides those for the bytes
    std::int64_t bytes_per_cycle = 1;  ///< that the engine moves; at least 1

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("latency", latency, 0);
        visit("setup", setup, 0);
        visit("bytes_per_cycle", bytes_per_cycle, 1);
    }
    friend constexpr bool operator==(transfer_cost const&, transfer_cost const&) = default;
};

/// Semantics while they stand beside the part that they describe; `count` above `max_semantics` marks an overflow.
///
/// Equal subexpressions are one node, however often they were written. Nodes that nothing refers to are left out. An element that is
/// written and an element that is read are two nodes: whether a stage may read its own output is checked later.
struct semantics_nodes {
    fixed_array<ir::node, max_semantics> nodes{};  ///< operands stand before what uses them
    int count = 0;                                 ///< of nodes; above `max_semantics` it marks an overflow

    constexpr semantics_nodes() = default;
    /// The nodes of a computation that are used, equal ones once.
    template <int Count>
    constexpr semantics_nodes(computation<Count> const& what) {
        fixed_array<bool, Count> needed{};
        fixed_array<std::int16_t, Count> place{};
        fixed_array<ir::node, Count> kept{};
        auto const each_argument = [](ir::node const& n, auto const& visit) {
            for (int at = 0; n.op != operation::constant && at < n.argument_count; ++at) visit(at);
        };
        int target = Count;
        for (int at = Count; at-- > 0;) {
            ir::node const& n = what.nodes[at];
            if (n.op == operation::store) needed[at] = true, target = n.argument(0);
            if (needed[at]) each_argument(n, [&](int which) { needed[n.arguments[which]] = true; });
        }
        for (int at = 0; at < Count; ++at) {
            if (!needed[at]) continue;
            ir::node n = what.nodes[at];
            each_argument(n, [&](int which) { n.arguments[which] = place[n.arguments[which]]; });
            int found = 0;
            while (found < count && (found == target || !(kept[found] == n))) ++found;
            place[at] = static_cast<std::int16_t>(found);
            if (at == target) target = found;
            if (found < count) continue;
            if (count < max_semantics) nodes[count] = n;
            kept[count++] = n;
        }
    }
};

/// Position and length of one part's semantics in `machine::semantics`.
struct semantics_range {
    int first = 0;  ///< node
    int count = 0;  ///< nodes; 0: none are stated

    friend constexpr bool operator==(semantics_range const&, semantics_range const&) = default;
};

/// What strides one side of a call takes along one of its dimensions: how far apart rows, planes, … may lie. In bytes.
///
/// All of its defaults are 0, because parts have arrays of them: g++ 12 loses other defaults (docs/design/compilers.md).
struct stride_limits {
    std::int64_t most = 0;      ///< longest; 0: any
    std::int64_t multiple = 0;  ///< it is a multiple of this; 0: any
    std::int64_t exactly = 0;   ///< always so far apart, such as one row of the memory; 0: as the call is told
    bool none = false;          ///< rows follow each other without gaps, as do planes, …

    /// Whether a call is told the stride.
    constexpr bool is_told() const { return exactly == 0 && !none; }
    /// What it is a multiple of, at least 1.
    constexpr std::int64_t unit() const { return multiple > 0 ? multiple : 1; }
    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("longest stride", most, 0);
        visit("multiple of a stride", multiple, 0);
        visit("stride", exactly, 0);
    }
    friend constexpr bool operator==(stride_limits const&, stride_limits const&) = default;
};
/// A side without strides: rows follow each other.
inline constexpr stride_limits rows_follow{.none = true};

/// Whether a call itself writes the border of a padded tensor, and does not read the part of its box that lies outside.
struct border_writing {
    bool is = false;           ///< a call writes borders
    bool any_value = false;    ///< the call is told what to write
    std::int64_t value = 0;    ///< else it is always this number
    std::int64_t longest = 0;  ///< most elements at one end of a dimension; 0: no limit

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("pad_limit", longest, 0);
    }
    friend constexpr bool operator==(border_writing const&, border_writing const&) = default;
};

/// What a machine keeps of a transfer.
struct transfer_description {
    ir::label name{};                    ///< by which schedules, errors and reports name it
    ir::label source{};                  ///< the memory that it reads
    ir::label destination{};             ///< the memory that it writes
    ir::label engine_name{};             ///< the engine that is busy with it; empty: none is
    ir::label core_name{};               ///< the core that copies by loops of its own; empty: a C function does it
    bool is_asynchronous = false;        ///< its call returns before it is complete
    bool is_multicast = false;           ///< it writes to the memories of all cores at once, at one offset from where each begins
    int most_dimensions = 1;             ///< 1: contiguous bytes; 2: rows at a stride; …
    std::int64_t largest_row_bytes = 0;  ///< 0: no limit
    std::int64_t largest_extent = 0;     ///< of every dimension but the row; 0: no limit
    /// Of dimension 1, 2, …: instead of `largest_extent`; 0: none of its own.
    fixed_array<std::int64_t, max_rank> largest_extents{};
    fixed_array<stride_limits, max_rank> source_strides{}, destination_strides{};  ///< of dimension 1, 2, …
    std::int8_t limited_dimension = 0;                                             ///< the highest that has a limit
    std::int64_t row_granularity = 1;                                              ///< bytes; a row is a multiple of it
    std::int64_t address_alignment = 1;  ///< bytes; addresses and strides on both sides are multiples of it
    border_writing border{};             ///< what it writes where its box lies outside of a padded tensor
    transfer_cost costs{};               ///< cycles of a call
    device_call call{};                  ///< without arguments: see `call_of`
    part_range more_calls{};             ///< of the machine's: those that follow it in each step
    part_range settings{};               ///< of the machine's: what must be configured
    semantics_range semantics{};         ///< empty: identity

    /// What its numbers may be, as of a memory; but for those of its cost.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("dimensions", most_dimensions, 1, max_rank + 1);
        visit("row_limit", largest_row_bytes, 0);
        visit("extent_limit", largest_extent, 0);
        for (int d = 0; d < max_rank; ++d) {
            visit("extent_limit", largest_extents[d], 0);
            source_strides[d].each_number(visit);
            destination_strides[d].each_number(visit);
        }
        visit("granularity", row_granularity, 1);
        visit("alignment", address_alignment, 1);
        border.each_number(visit);
    }
    friend constexpr bool operator==(transfer_description const&, transfer_description const&) = default;
};

/// The call of a transfer, with its default arguments when none were given: (source, destination, bytes) for one dimension; for more,
/// (source, destination, row_bytes), then extent, source_stride and destination_stride of each dimension from 1 up, except sides that have
/// no strides. If it writes borders: pad_before and pad_after of each dimension from the row up, and the value if it is told one. If it is
/// a multicast: the cores. If its engine has several channels: the channel. Last, if the transfer is waited for by its tag: the tag.
constexpr device_call call_of(transfer_description const& t, bool with_tag, bool with_channel = false) {
    device_call call = t.call;
    if (call.count > 0) return call;
    call.push(argument::source);
    call.push(argument::destination);
    call.push(t.most_dimensions == 1 ? argument::bytes : argument::row_bytes);
    for (int dimension = 1; dimension < t.most_dimensions; ++dimension) {
        int const at = dimension - 1;
        call.push(argument::extent(dimension));
        if (at >= max_rank || t.source_strides[at].is_told()) call.push(argument::source_stride(dimension));
        if (at >= max_rank || t.destination_strides[at].is_told()) call.push(argument::destination_stride(dimension));
    }
    for (int dimension = 0; dimension < t.most_dimensions && t.border.is; ++dimension) {
        call.push(argument::pad_before(dimension));
        call.push(argument::pad_after(dimension));
    }
    if (t.border.any_value) call.push(argument::pad_value);
    if (t.is_multicast) call.push(argument::cores);
    if (with_channel) call.push(argument::channel);
    if (with_tag) call.push(argument::tag);
    return call;
}

/// An instruction or DMA job that moves a region from one memory to another.
///
/// By default it copies. `transfer("widen", dram, spad, d(i) = cast<std::int32_t>(s(i)))` states what it does to each element;
/// without a source, `d(i) = 0`, it is a fill.
struct transfer : transfer_description {
    semantics_nodes does{};    ///< what it does to an element; empty: it copies
    part_protocol protocol{};  ///< its further calls and the configurations that it uses

    /// A copy from one memory to another, by a C function of this name unless `calls` gives another one. It moves contiguous bytes, blocks,
    /// and needs no time but that of its bytes, one a cycle, until more is said.
    constexpr transfer(ir::label transfer_name, memory const& from, memory const& to)
        : transfer_description{.name = transfer_name, .source = from.name, .destination = to.name, .call = {.symbol = transfer_name}} {
        // A function moves one register, which it takes or returns by value.
        memory const* const files[] = {&from, &to};
        for (memory const* file : files) {
            if (file->passes_values()) largest_row_bytes = row_granularity = file->register_bytes();
        }
    }
    /// Likewise, with what it does to an element: `transfer("widen", dram, spad, d(i) = cast<std::int32_t>(s(i)))`. Target and source have
    /// the same axes, each once; there is no reduction and no parameter (invalid_part).
    template <int Count>
    constexpr transfer(ir::label transfer_name, memory const& from, memory const& to, computation<Count> const& what)
        : transfer(transfer_name, from, to) {
        does = what;
    }
    /// Refused, with what a transfer takes.
    template <bool expected = false>
    constexpr explicit transfer(...) : transfer_description{.name = ir::wrong_call} {
        static_assert(expected, "transfer takes its name, from where, and to where: transfer(\"mvin\", dram, spad)");
    }

    /// The engine that is busy with it, one job after the other. Without one, the core waits for each call. It must be part of the machine
    /// (unknown_part).
    constexpr transfer& on(engine const& where) {
        engine_name = where.name;
        return *this;
    }
    /// No instruction: the core copies, by loops in the generated code, with any number of dimensions.
    constexpr transfer& on(core const& which) {
        core_name = which.name;
        most_dimensions = max_rank + 1;
        return *this;
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr transfer& on(...) {
        static_assert(expected, "on takes the engine that is busy with it, or the core that copies: on(dma)");
        return leave();
    }
    /// Its call returns before it is complete. The plan places the waits, as the engine says.
    constexpr transfer& asynchronous() {
        is_asynchronous = true;
        return *this;
    }
    /// One call, of core 0, writes to the `per_core` memory of every core that runs the kernel: the same bytes, at the same offset from
    /// where the memory of each core begins. The destination that the call is given is that of core 0.
    constexpr transfer& multicast() {
        is_multicast = true;
        return *this;
    }
    /// How many dimensions a call moves at most: 1, contiguous bytes; 2, rows at a stride; 3, planes of rows; … up to 7 (invalid_number).
    /// What a region has more becomes loops around the call.
    constexpr transfer& dimensions(int most) {
        most_dimensions = most;
        return *this;
    }
    /// The longest row of a call, in bytes; 0: no limit. Longer rows are cut into equal parts.
    constexpr transfer& row_limit(std::int64_t bytes) {
        largest_row_bytes = bytes;
        return *this;
    }
    /// The largest count of rows, of planes, … of a call; 0: no limit. What is more is cut.
    constexpr transfer& extent_limit(std::int64_t rows) {
        largest_extent = rows;
        return *this;
    }
    /// Likewise of one dimension: 1 for rows, 2 for planes, …
    constexpr transfer& extent_limit(int dimension, std::int64_t most) {
        if (is_limited(dimension)) largest_extents[dimension - 1] = most;
        return *this;
    }
    /// What strides it takes at its source: in all dimensions, or in one of them.
    constexpr transfer& strides_of_source(stride_limits const& limits) {
        set_all(source_strides, limits);
        return *this;
    }
    /// Likewise of one dimension: 1 for rows, 2 for planes, …
    constexpr transfer& strides_of_source(int dimension, stride_limits const& limits) {
        if (is_limited(dimension)) source_strides[dimension - 1] = limits;
        return *this;
    }
    /// Likewise at its destination.
    constexpr transfer& strides_of_destination(stride_limits const& limits) {
        set_all(destination_strides, limits);
        return *this;
    }
    /// Likewise of one dimension.
    constexpr transfer& strides_of_destination(int dimension, stride_limits const& limits) {
        if (is_limited(dimension)) destination_strides[dimension - 1] = limits;
        return *this;
    }
    /// A row is a multiple of so many bytes, at least 1. A region with another row is refused (transfer_region).
    constexpr transfer& granularity(std::int64_t bytes) {
        row_granularity = bytes;
        return *this;
    }
    /// Addresses that a call is given, and the strides that it walks, are multiples of so many bytes, at least 1, on both sides. The plan
    /// aligns buffers, and the entry of the kernel checks arguments.
    constexpr transfer& alignment(std::int64_t bytes) {
        address_alignment = bytes;
        return *this;
    }
    /// It writes this number where its box lies outside of a padded tensor, and reads the rest.
    constexpr transfer& fills_border(std::int64_t value) {
        border.is = true, border.value = value;
        return *this;
    }
    /// Likewise whatever number it is told, by `argument::pad_value`.
    constexpr transfer& fills_border() {
        border.is = border.any_value = true;
        return *this;
    }
    /// Most elements of border at one end of a dimension.
    constexpr transfer& pad_limit(std::int64_t elements) {
        border.longest = elements;
        return *this;
    }
    /// What a call takes, in cycles: `.cost({.latency = 64, .setup = 8, .bytes_per_cycle = 16})`.
    constexpr transfer& cost(transfer_cost const& cycles) {
        costs = cycles;
        return *this;
    }
    /// Refused: numbers without their names.
    template <class Given, class... More>
    constexpr transfer& cost(Given const&, More const&...) {
        static_assert(!sizeof(Given), "cost takes its numbers by name: cost({.latency = 64, .bytes_per_cycle = 16})");
        return *this;
    }
    /// The C function that carries it out, and its arguments in order.
    template <class... Arguments>
        requires(detail::converts_to<Arguments, call_argument>&&...)
    constexpr transfer& calls(ir::label symbol, Arguments const&... arguments) {
        call = {.symbol = symbol};
        (call.push(arguments), ...);
        return *this;
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr transfer& calls(...) {
        static_assert(expected, "calls takes the C function, and its arguments: calls(\"dma\", argument::source, argument::bytes)");
        return leave();
    }
    /// One more C function, which each step calls after those before. All of its arguments are given.
    template <class... Arguments>
    constexpr transfer& then(ir::label symbol, Arguments const&... arguments) {
        device_call next{.symbol = symbol};
        (next.push(arguments), ...);
        protocol.push(next);
        return *this;
    }
    /// It uses what a configuration was set to: literals, strides or extents of what it moves.
    template <class... Values>
    constexpr transfer& uses(configuration const& what, Values const&... values) {
        required_setting setting{.configuration_name = what.name};
        (setting.push(values), ...);
        protocol.push(setting);
        return *this;
    }

  private:
    constexpr transfer& leave() {
        name = ir::wrong_call;
        return *this;
    }
    /// Notes that a dimension has a limit. @return whether there can be such a dimension
    constexpr bool is_limited(int dimension) {
        bool const is = dimension >= 1 && dimension <= max_rank;
        if (!is || dimension > limited_dimension) limited_dimension = static_cast<std::int8_t>(is ? dimension : max_rank + 1);
        return is;
    }
};

}  // namespace tilewright
