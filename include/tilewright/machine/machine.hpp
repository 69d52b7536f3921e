#pragma once
#include <tilewright/machine/core.hpp>
#include <tilewright/machine/intrinsic.hpp>
#include <tilewright/machine/tokens.hpp>

namespace tilewright {

/// A list of at most `Most` parts; `count` above `Most` marks an overflow, which the planner refuses.
template <class Part, int Most>
struct part_list {
    static constexpr int most = Most;  ///< parts of this kind
    fixed_array<Part, Most> parts{};   ///< those that are kept, in their order
    int count = 0;                     ///< above `Most` it marks an overflow

    /// One more part, after those before.
    constexpr void push(Part const& part) {
        if (count < Most) parts[count] = part;
        ++count;
    }
    /// A part, by its position from 0 on.
    constexpr Part const& operator[](int position) const { return parts.elements[position]; }
    /// How many parts are kept.
    constexpr int size() const { return count < Most ? count : Most; }
    /// Position of the part of that name, -1 when there is none.
    constexpr int find(ir::label const& name) const {
        int const end = size();
        for (int position = 0; position < end; ++position) {
            Part const& part = parts.elements[position];
            if (part.name.words.elements[0] == name.words.elements[0] && part.name == name) return position;
        }
        return -1;
    }

    friend constexpr bool operator==(part_list const&, part_list const&) = default;
};

/// A machine as one flat value. `machine("npu", dram, spad, loader, mvin, …)` takes its parts in any order;
/// at run time, `machine npu("npu"); npu.add(dram); …` builds the same value.
struct machine {
    static constexpr int most_nodes = 384;  ///< of the semantics of all parts together
    static constexpr int most_lanes = 16;   ///< channels of all engines together

    ir::label name;                                     ///< by which errors, reports and generated code name it
    part_list<memory, 8> memories{};                    ///< the first is where arguments live
    part_list<engine, 8> engines{};                     ///< in the order in which they are waited for after an error
    part_list<tilewright::tokens, 12> tokens{};         ///< between engines
    part_list<core, 4> cores{};                         ///< kinds of cores; none: one core "host", of one cycle an operation
    part_list<configuration, 6> configurations{};       ///< registers that C functions set
    part_list<transfer_description, 12> transfers{};    ///< what moves data
    part_list<intrinsic_description, 16> intrinsics{};  ///< what computes
    part_list<device_call, 12> more_calls{};            ///< of all parts: see `each_call`
    part_list<required_setting, 16> settings{};         ///< likewise
    fixed_array<ir::node, most_nodes> semantics{};      ///< of all transfers and intrinsics
    int semantics_count = 0;                            ///< above `most_nodes` it marks an overflow

  private:
    template <class Part>
    static constexpr bool can_be_part = detail::one_of<Part, memory, engine, tilewright::tokens, core, configuration, transfer, intrinsic>;

    constexpr semantics_range keep(semantics_nodes const& what) {
        semantics_range const range{semantics_count, what.count};
        semantics_count += what.count;
        if (semantics_count > most_nodes || what.count > max_semantics) return {0, what.count};
        for (int position = 0; position < what.count; ++position) {
            semantics[range.first + position] = what.nodes[position];
        }
        return range;
    }
    template <class Description>
    constexpr void keep(part_protocol const& protocol, Description& description) {
        // Too many calls of one part count as too many of all parts, because there is no room to keep them.
        auto const keep_all = [](auto& list, auto const& parts, int count) {
            part_range const range{list.count, count};
            for (int at = 0; at < count && at < part_protocol::most; ++at) list.push(parts[at]);
            if (count > part_protocol::most) list.count = list.most + 1;
            return count == 0 ? part_range{} : range;
        };
        description.more_calls = keep_all(more_calls, protocol.more_calls, protocol.more_call_count);
        description.settings = keep_all(settings, protocol.settings, protocol.setting_count);
    }

  public:
    constexpr machine() = default;
    /// A machine of these parts, in any order; but the first memory is where arguments live, which is DRAM as a rule. Parts refer to each
    /// other by name, and are copied. The planner checks the description when it is first used (unknown_part, invalid_part,
    /// invalid_number).
    template <class... Parts>
        requires((can_be_part<Parts>)&&...)
    constexpr explicit machine(ir::label machine_name, Parts const&... parts) : name(machine_name) { (add(parts), ...); }
    /// Refused: parts stand without braces.
    template <class Part>
    constexpr machine(ir::label, std::initializer_list<Part>, std::initializer_list<engine> = {}, std::initializer_list<transfer> = {},
                      std::initializer_list<intrinsic> = {})
        : name(ir::wrong_call) {
        static_assert(detail::as_expected<Part>,
                      "machine takes its parts without braces: machine(\"npu\", dram, spad, loader, mvin, mac16)");
    }
    /// Refused: a machine has a name.
    template <class Part>
        requires(can_be_part<Part>)
    constexpr explicit machine(Part const&) : name(ir::wrong_call) {
        static_assert(detail::as_expected<Part>,
                      "machine takes its name, and then parts of machines: machine(\"npu\", dram, spad, loader, mvin, mac16)");
    }
    /// Refused, with what a machine takes. A name alone is one, without parts.
    template <bool expected = false>
    constexpr explicit machine(detail::anything, detail::anything, ...) : name(ir::wrong_call) {
        static_assert(expected, "machine takes its name, and then parts of machines: machine(\"npu\", dram, spad, loader, mvin, mac16)");
    }

    /// One more memory. The first one is where arguments live.
    constexpr void add(memory const& part) { memories.push(part); }
    /// One more engine.
    constexpr void add(engine const& part) { engines.push(part); }
    /// Tokens between two more engines.
    constexpr void add(tilewright::tokens const& part) { tokens.push(part); }
    /// One more kind of core; of the first kind is core 0, which runs what is outside of distributed loops.
    constexpr void add(core const& part) { cores.push(part); }
    /// One more configuration.
    constexpr void add(configuration const& part) { configurations.push(part); }
    /// One more transfer.
    constexpr void add(transfer const& part) {
        if (part.name == ir::wrong_call) name = ir::wrong_call;
        transfer_description description = part;
        description.semantics = keep(part.does);
        keep(part.protocol, description);
        transfers.push(description);
    }
    /// One more intrinsic.
    constexpr void add(intrinsic const& part) {
        if (part.name == ir::wrong_call) name = ir::wrong_call;
        intrinsic_description description = part;
        description.semantics = keep(part.does);
        keep(part.protocol, description);
        intrinsics.push(description);
    }

    /// The nodes of the semantics of a part.
    constexpr computation_view view(semantics_range range) const { return {semantics.elements + range.first, range.count}; }
    /// How many channels an engine has. Each is in order by itself. The channels of all engines stand in one row, the lanes: those of
    /// engine 0, those of engine 1, …
    constexpr int channels_of(int engine_at) const {
        int const said = engines[engine_at].channels;
        return said < 1 ? 1 : said > most_lanes ? most_lanes + 1 : said;
    }
    /// The lane of channel 0 of an engine.
    constexpr int first_lane(int engine_at) const {
        int lane = 0;
        for (int before = 0; before < engine_at; ++before) lane += channels_of(before);
        return lane;
    }
    /// How many channels all engines have together.
    constexpr int lane_count() const { return first_lane(engines.size()); }
    /// The position of the engine whose channel a lane is.
    constexpr int engine_of_lane(int lane) const {
        int at = 0;
        while (lane >= channels_of(at)) lane -= channels_of(at++);
        return at;
    }
    /// The engine whose channel a lane is.
    constexpr engine const& engine_at_lane(int lane) const { return engines[engine_of_lane(lane)]; }

    /// How many cores there are, 1 where none is listed. Those of all kinds stand in one row, as lanes do: those of kind 0, of kind 1, …
    constexpr int core_count() const { return first_core(cores.size() > 0 ? cores.size() : 1); }
    /// The number of the first core of a kind.
    constexpr int first_core(int kind) const {
        int number = 0;
        for (int before = 0; before < kind; ++before) number += core_of_kind(before).count;
        return number;
    }
    /// The kind of the core of this number.
    constexpr int kind_of(int core_number) const {
        int kind = 0;
        while (kind + 1 < cores.size() && core_number >= cores[kind].count) core_number -= cores[kind++].count;
        return kind;
    }
    /// A kind of core, by its position; "host" where none is listed.
    constexpr core const& core_of_kind(int kind) const { return cores.count > 0 ? cores[kind] : host_by_default; }
    /// The kind of the core of this number.
    constexpr core const& core_at(int core_number) const { return core_of_kind(kind_of(core_number)); }
    /// The kind of core 0.
    constexpr core const& host() const { return core_of_kind(0); }
    /// Whether cores see a memory through caches.
    constexpr bool has_caches() const {
        bool found = false;
        for (int at = 0; at < memories.size(); ++at) found |= memories[at].is_cached();
        return found;
    }
    /// Of the first `count` cores, the barrier cycles of those that take the longest.
    constexpr std::int64_t longest_barrier(int count) const {
        std::int64_t longest = 0;
        for (int at = 0; at < count; ++at) longest = core_at(at).barrier_cycles > longest ? core_at(at).barrier_cycles : longest;
        return longest;
    }
    /// Whether there are several kinds of cores.
    constexpr bool has_unlike_cores() const { return cores.count > 1; }

    friend constexpr bool operator==(machine const&, machine const&) = default;
};

/// A machine whose cores have these caches, as those of a certain processor: `with_caches(targets::avx2::host, {{{.bytes = 48_KiB}}})`.
constexpr machine with_caches(machine of, fixed_array<cache_level, max_cache_levels> const& caches) {
    for (int at = 0; at < of.cores.size(); ++at) of.cores.parts[at].caches = caches;
    return of;
}

/// Whether a part of a kind of cores is there for a core: it belongs to no kind, or to that of the core.
constexpr bool is_on(machine const& where, ir::label const& kind, int core_number) {
    return kind.empty() || kind == where.core_at(core_number).name;
}
/// The intrinsic of this name that a core has: itself or, where each kind has its own, that of the core's kind. -1: it has none
constexpr int intrinsic_on(machine const& where, int intrinsic_at, int core_number) {
    if (is_on(where, where.intrinsics[intrinsic_at].core_name, core_number)) return intrinsic_at;
    for (int at = 0; at < where.intrinsics.size(); ++at) {
        intrinsic_description const& other = where.intrinsics[at];
        if (other.name == where.intrinsics[intrinsic_at].name && is_on(where, other.core_name, core_number)) return at;
    }
    return -1;
}

/// The memory whose bytes the memory of this name shows: itself or, for a view, the one that it shows. -1: there is none
constexpr int memory_under(machine const& where, ir::label const& name) {
    int const at = where.memories.find(name);
    return at >= 0 && where.memories[at].is_view() ? where.memories.find(where.memories[at].view_of) : at;
}
/// A view with the room of the memory that it shows, and with its banks as far apart as there; any other memory as it is.
constexpr memory with_room(machine const& where, memory seen) {
    int const under = seen.is_view() ? memory_under(where, seen.name) : -1;
    if (under < 0) return seen;
    memory const& shown = where.memories[under];
    seen.capacity = shown.capacity, seen.banks = shown.banks;
    if (!seen.has_address() && !seen.is_numbered()) seen.base = shown.base, seen.bank_bases = shown.bank_bases;
    for (int bank = 0; seen.base != no_address && shown.bank_bases[1] != 0 && bank < shown.banks && bank < max_banks; ++bank)
        seen.bank_bases[bank] = seen.base + (shown.bank_base(bank) - shown.bank_base(0));
    return seen;
}

/// Whether calls of a transfer carry a tag, by which it is waited for.
constexpr bool is_tagged(machine const& where, transfer_description const& t) {
    int const on = t.is_asynchronous ? where.engines.find(t.engine_name) : -1;
    return on >= 0 && where.engines[on].completes == completion::by_transfer;
}
/// Whether calls of a transfer say which channel of its engine they are for.
constexpr bool is_dealt_out(machine const& where, transfer_description const& t) {
    int const on = where.engines.find(t.engine_name);
    return on >= 0 && where.engines[on].has_channels();
}
/// Whether a memory of this name is registers that functions get by value.
constexpr bool passes_values(machine const& where, ir::label const& memory_name) {
    int const at = where.memories.find(memory_name);
    return at >= 0 && where.memories[at].passes_values();
}
constexpr bool passes_values(machine const& where, transfer_description const& t) {
    return passes_values(where, t.source) || passes_values(where, t.destination);
}
constexpr bool passes_values(machine const& where, intrinsic_description const& what) {
    bool any = false;
    for (int at = 0; at < what.operand_count && at < what.most_operands; ++at) any |= passes_values(where, what.operands[at].memory_name);
    return any;
}
/// Of a transfer from or to registers that are passed by value: of a load the source, of a store the destination and then the register.
constexpr device_call call_of(machine const& where, transfer_description const& t) {
    if (t.call.count > 0 || !passes_values(where, t)) return call_of(t, is_tagged(where, t), is_dealt_out(where, t));
    device_call call = t.call;
    if (!passes_values(where, t.destination)) call.push(argument::destination);
    call.push(argument::source);
    return call;
}

/// The call of an intrinsic, with its default arguments when none were given: of each operand, in the order they are declared, its
/// address and the strides of all its dimensions but the innermost; then the extents that are not fixed, in the order of the axes. What
/// the result overwrites in place is given once, as the result. Of an operand in registers that are passed by value, the register, but for
/// one that is overwritten.
constexpr device_call call_of(machine const& where, intrinsic_description const& what) {
    device_call call = what.call;
    if (call.count > 0) return call;
    computation_view const semantics = where.view(what.semantics);
    for (int operand = 0; operand < what.operand_count; ++operand) {
        operand_constraint const& declared = what.operands[operand];
        bool const by_value = passes_values(where, declared.memory_name);
        if (by_value ? declared.is == ir::direction::writes : declared.in_place) continue;
        call.push({role::address, 0, static_cast<std::int8_t>(operand)});
        int rank = 0;
        for (int at = 0; at < semantics.count && !by_value; ++at) {
            bool const mine = semantics[at].op == operation::access && semantics[at].name == declared.tensor;
            if (mine) rank = semantics[at].argument_count;
        }
        for (int dimension = 0; dimension + 1 < rank; ++dimension) {
            call.push({role::stride, static_cast<std::int8_t>(dimension), static_cast<std::int8_t>(operand)});
        }
    }
    for (int axis = 0; what.flexible_axes >> axis != 0; ++axis) {
        if (what.is_flexible(axis)) call.push({role::covered, static_cast<std::int8_t>(axis)});
    }
    return call;
}

/// Calls `visit(call)` for the calls that make one step of a transfer or intrinsic, in their order.
template <class Description, class Visit>
constexpr void each_call(machine const& where, Description const& part, Visit&& visit) {
    visit(call_of(where, part));
    for (int at = part.more_calls.first; at < part.more_calls.first + part.more_calls.count; ++at) visit(where.more_calls[at]);
}
/// The memory whose address an argument is; -1: it is no address.
constexpr int memory_of(machine const& where, transfer_description const& t, call_argument const& a) {
    if (a.is != role::source && a.is != role::destination) return -1;
    return where.memories.find(a.is == role::source ? t.source : t.destination);
}
constexpr int memory_of(machine const& where, intrinsic_description const& i, call_argument const& a) {
    return a.is != role::address ? -1 : where.memories.find(i.operands[a.operand].memory_name);
}

}  // namespace tilewright
