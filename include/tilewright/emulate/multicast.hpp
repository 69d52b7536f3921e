#pragma once
#include <tilewright/emulate/call_reader.hpp>
#include <tilewright/emulate/core_meeting.hpp>

namespace tilewright::emulation {

/// Makes a job write to the memories of all cores that its call tells of: at the same offset in each.
///
/// @param core  the one that calls; its own memory gets the job's destination
/// @pre the ranges of the job are known if the team watches
inline std::optional<refused_call> send_to_all(transfer_request& asked, memories const& own, core_meeting const* team, int core) {
    transfer_part const& part = asked.part;
    transfer_job& job = *asked.next.moves;
    std::int64_t const told = asked.call.cores(part.is.border.is, part.has_channels);
    int const there = team == nullptr ? 1 : team->cores();
    if (told < 1 || told > there || core >= told)
        return refused_call{emulation_illegal_transfer, part.is.name.str() + " of core " + std::to_string(core) + " writes to " +
                                                            std::to_string(told) + " cores, and " + std::to_string(there) + " run"};
    place const at = own.find_in(part.destination, job.destination, job.destination_reach());
    for (int other = 0; other < told; ++other) {
        if (other == core) continue;
        auto const there_is = reinterpret_cast<std::uintptr_t>(team->base_of(other, at.memory, at.bank) + at.offset);
        std::uintptr_t const away = there_is - reinterpret_cast<std::uintptr_t>(job.destination);
        job.elsewhere.push_back(static_cast<std::ptrdiff_t>(away));
        for (byte_range const& range : asked.next.writes) asked.next.elsewhere.push_back({range.begin + away, range.end + away});
    }
    return {};
}

}  // namespace tilewright::emulation
