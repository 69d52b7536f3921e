#pragma once
#include <algorithm>
#include <tilewright/base/divisors.hpp>
#include <tilewright/machine/call_limits.hpp>
#include <tilewright/machine/machine.hpp>
#include <vector>

// How a core comes at memories that its loads and stores do not reach: by plain copies of the machine's own transfers.
namespace tilewright::bring_up {

/// Whether loads and stores of a core reach a memory.
constexpr bool is_direct(memory const& m) { return m.host_visible && !m.is_numbered() && m.registers == 0; }
/// Whether a C function carries a transfer out, from one address to another.
inline bool is_called(machine const& where, transfer_description const& t) { return t.core_name.empty() && !passes_values(where, t); }
/// Bytes that addresses in a memory, as a part sees it, are multiples of.
inline std::int64_t address_step(memory const& seen, std::int64_t alignment) {
    std::int64_t const own = seen.is_numbered() ? seen.address_unit : 1;
    return detail::lcm(std::max<std::int64_t>(alignment, 1), own);
}
/// Bytes that a row of a transfer is a multiple of, by its declaration and by the units in which its functions are told it.
inline std::int64_t row_granule(machine const& where, transfer_description const& t) {
    std::int64_t granule = t.row_granularity;
    each_call(where, t, [&](device_call const& call) {
        for (int at = 0; at < call.count; ++at) {
            call_argument const& a = call.arguments[at];
            if (a.value > 1 && (a.is == role::bytes || a.is == role::row_bytes)) granule = detail::lcm(granule, a.value);
        }
    });
    return granule;
}

/// For each memory, the transfer that brings bytes into it or out of it, nearest to a memory that the core reaches; -1: none.
struct memory_ways {
    std::vector<int> in, out;
    std::vector<std::int64_t> grain;  ///< bytes that windows there begin at multiples of, and have multiples of

    explicit memory_ways(machine const& where) : in(static_cast<std::size_t>(where.memories.size()), -1), out(in), grain(in.size(), 1) {
        find(where, in, true);
        find(where, out, false);
        for (int at = 0; at < where.memories.size(); ++at) {
            memory const& m = where.memories[at];
            std::int64_t& own = grain[static_cast<std::size_t>(at)];
            own = detail::lcm(address_step(m, 1), std::max<std::int64_t>(m.cache_line, 1));
            if (m.registers == 0) own = detail::lcm(own, std::max<std::int64_t>(m.alignment, 1));
        }
        // Both ends of a way are multiples of what the transfer takes; so are those of the memory that it comes from.
        for (std::size_t again = 0; again < in.size(); ++again) {
            for (std::size_t at = 0; at < in.size(); ++at) {
                for (int which : {in[at], out[at]}) {
                    if (which >= 0) join(where, where.transfers[which]);
                }
            }
        }
    }
    bool is_reached(machine const& where, int memory_at, bool into) const {
        memory const& m = where.memories[memory_at];
        return is_direct(m) || m.passes_values() || (into ? in : out)[static_cast<std::size_t>(memory_at)] >= 0;
    }

  private:
    static void find(machine const& where, std::vector<int>& ways, bool into) {
        bool again = true;
        auto const reached = [&](int at) { return is_direct(where.memories[at]) || ways[static_cast<std::size_t>(at)] >= 0; };
        while (again) {
            again = false;
            std::vector<int> found = ways;
            for (int at = 0; at < where.transfers.size(); ++at) {
                transfer_description const& t = where.transfers[at];
                if (!is_called(where, t) || t.semantics.count > 0 || t.is_multicast) continue;
                int const from = memory_under(where, t.source), to = memory_under(where, t.destination);
                int const near = into ? from : to, far = into ? to : from;
                if (near < 0 || far < 0 || !reached(near) || reached(far) || found[static_cast<std::size_t>(far)] >= 0) continue;
                found[static_cast<std::size_t>(far)] = at;
                again = true;
            }
            ways = found;
        }
    }
    void join(machine const& where, transfer_description const& t) {
        std::size_t const from = static_cast<std::size_t>(memory_under(where, t.source)),
                          to = static_cast<std::size_t>(memory_under(where, t.destination));
        std::int64_t step = detail::lcm(row_granule(where, t), t.address_alignment);
        for (ir::label const& name : {t.source, t.destination})
            step = detail::lcm(step, address_step(where.memories[where.memories.find(name)], 1));
        step = detail::lcm(step, detail::lcm(grain[from], grain[to]));
        grain[from] = grain[to] = step;
    }
};

}  // namespace tilewright::bring_up
