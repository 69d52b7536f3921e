#pragma once
#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <tilewright/machine/core.hpp>
#include <tilewright/machine/intrinsic.hpp>
#include <tilewright/machine/tokens.hpp>

namespace tilewright {

/// A list of at most `Most` parts; `count` above `Most` marks an overflow, which the planner refuses.
template <class Part, int Most>
struct part_list {
    static constexpr int most = Most;
    fixed_array<Part, Most> parts{};
    int count = 0;

    constexpr void push(Part const& part) {
        if (count < Most) parts[static_cast<std::size_t>(count)] = part;
        ++count;
    }
    constexpr Part const& operator[](int position) const { return parts[static_cast<std::size_t>(position)]; }
    constexpr int size() const { return count < Most ? count : Most; }
    /// Position of the part of that name, -1 when there is none.
    constexpr int find(label const& name) const {
        for (int position = 0; position < size(); ++position) {
            if ((*this)[position].name == name) return position;
        }
        return -1;
    }
};

/// A machine as one flat value. `machine("npu", dram, spad, loader, mvin, …)` takes its parts in any order;
/// at run time, `machine npu("npu"); npu.add(dram); …` builds the same value.
struct machine {
    static constexpr int most_nodes = 256;

    label name;
    part_list<memory, 8> memories{};
    part_list<engine, 8> engines{};
    part_list<tilewright::tokens, 12> tokens{};
    part_list<core, 4> cores{};
    part_list<transfer_description, 12> transfers{};
    part_list<intrinsic_description, 16> intrinsics{};
    fixed_array<node, most_nodes> semantics{};
    int semantics_count = 0;

    constexpr machine() = default;
    template <class... Parts>
    constexpr explicit machine(label machine_name, Parts const&... parts) : name(machine_name) {
        boost::hana::for_each(boost::hana::make_tuple(&parts...), [this](auto const* part) { this->add(*part); });
    }

    constexpr void add(memory const& part) { memories.push(part); }
    constexpr void add(engine const& part) { engines.push(part); }
    constexpr void add(tilewright::tokens const& part) { tokens.push(part); }
    constexpr void add(core const& part) { cores.push(part); }
    constexpr void add(transfer const& part) {
        transfer_description description = part;
        description.semantics = keep(part.does);
        transfers.push(description);
    }
    constexpr void add(intrinsic const& part) {
        intrinsic_description description = part;
        description.semantics = keep(part.does);
        intrinsics.push(description);
    }

    constexpr computation_view view(semantics_range range) const { return {semantics.data() + range.first, range.count}; }
    constexpr core host() const { return cores.count > 0 ? cores[0] : core{.name = "host"}; }

  private:
    constexpr semantics_range keep(semantics_nodes const& what) {
        semantics_range const range{semantics_count, what.count};
        semantics_count += what.count;
        if (semantics_count > most_nodes || what.count > max_semantics) return {0, what.count};
        for (int position = 0; position < what.count; ++position) {
            semantics[static_cast<std::size_t>(range.first + position)] = what.nodes[static_cast<std::size_t>(position)];
        }
        return range;
    }
};

/// Whether calls of a transfer carry a tag that it is waited for by.
constexpr bool is_tagged(machine const& where, transfer_description const& t) {
    int const on = t.is_asynchronous ? where.engines.find(t.engine_name) : -1;
    return on >= 0 && where.engines[on].completes == completion::by_transfer;
}
constexpr device_call call_of(machine const& where, transfer_description const& t) { return call_of(t, is_tagged(where, t)); }

/// The call of an intrinsic, with its default arguments when none were given: of each operand, in the order they are declared, its
/// address and the strides of all its dimensions but the innermost.
constexpr device_call call_of(machine const& where, intrinsic_description const& what) {
    device_call call = what.call;
    if (call.count > 0) return call;
    computation_view const semantics = where.view(what.semantics);
    for (int operand = 0; operand < what.operand_count; ++operand) {
        call.push({role::address, 0, static_cast<std::int8_t>(operand)});
        int rank = 0;
        for (int at = 0; at < semantics.count; ++at) {
            bool const mine =
                semantics[at].op == operation::access && semantics[at].name == what.operands[static_cast<std::size_t>(operand)].tensor;
            if (mine) rank = semantics[at].argument_count;
        }
        for (int dimension = 0; dimension + 1 < rank; ++dimension) {
            call.push({role::stride, static_cast<std::int8_t>(dimension), static_cast<std::int8_t>(operand)});
        }
    }
    return call;
}

}  // namespace tilewright
