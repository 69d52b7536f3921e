#pragma once
#include <cstdint>
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
    std::vector<call_count> transfers, intrinsics;
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

}  // namespace tilewright::emulation
