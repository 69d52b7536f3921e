#pragma once
#include <cstdint>
#include <tilewright/base/list.hpp>
#include <tilewright/machine/clock.hpp>
#include <vector>

namespace tilewright::emulation {

struct call_count {
    std::int64_t calls = 0, bytes = 0, cycles = 0;

    void add(std::int64_t moved, job_time const& time) {
        calls += 1;
        bytes += moved;
        cycles += time.busy + time.latency;
    }
};

/// How often the parts of a machine were called, and what that cost.
struct call_counts {
    ir::list<call_count> transfers, intrinsics;
    call_count code, upkeep;

    /// Cycles when nothing overlaps.
    std::int64_t serial_cycles() const {
        std::int64_t total = code.cycles + upkeep.cycles;
        for (auto const* list : {&transfers, &intrinsics}) {
            for (call_count const& c : *list) total += c.cycles;
        }
        return total;
    }
};

/// What an emulated core and its engines have done since they were reset.
struct work_done {
    call_counts calls{};
    ir::list<std::int64_t> busy{};  ///< cycles of each engine
    std::int64_t cycles = 0;        ///< until all of it is complete
    std::size_t jobs = 0;           ///< so many are recorded

    /// What was done after `earlier`, which is of the same core.
    work_done since(work_done const& earlier) const {
        work_done later = *this;
        auto const take = [](call_count& from, call_count const& what) {
            from.calls -= what.calls, from.bytes -= what.bytes, from.cycles -= what.cycles;
        };
        for (int at = 0; at < std::ssize(calls.transfers); ++at) take(later.calls.transfers[at], earlier.calls.transfers[at]);
        for (int at = 0; at < std::ssize(calls.intrinsics); ++at) take(later.calls.intrinsics[at], earlier.calls.intrinsics[at]);
        take(later.calls.code, earlier.calls.code);
        take(later.calls.upkeep, earlier.calls.upkeep);
        for (std::size_t at = 0; at < busy.size(); ++at) later.busy[at] -= earlier.busy[at];
        later.cycles -= earlier.cycles;
        later.jobs -= earlier.jobs;
        return later;
    }
    /// Takes in what another core of the machine has done beside this one: the cycles of both pass at one time.
    void join(work_done const& beside) {
        auto const give = [](call_count& to, call_count const& what) {
            to.calls += what.calls, to.bytes += what.bytes, to.cycles += what.cycles;
        };
        for (std::size_t at = 0; at < calls.transfers.size(); ++at) give(calls.transfers[at], beside.calls.transfers[at]);
        for (std::size_t at = 0; at < calls.intrinsics.size(); ++at) give(calls.intrinsics[at], beside.calls.intrinsics[at]);
        give(calls.code, beside.calls.code);
        give(calls.upkeep, beside.calls.upkeep);
        for (std::size_t at = 0; at < busy.size(); ++at) busy[at] += beside.busy[at];
        cycles = cycles < beside.cycles ? beside.cycles : cycles;
        jobs += beside.jobs;
    }
};

}  // namespace tilewright::emulation
