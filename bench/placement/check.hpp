#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "instances.hpp"

/// What is wrong with offsets, in a sentence; empty: nothing is. Goes through time and keeps what is occupied, which is not how offsets are
/// found.
inline std::string fault_of(instance const& of, std::vector<std::int64_t> const& offsets, std::int64_t peak) {
    struct event {
        int when;
        bool begins;
        std::size_t which;
        bool operator<(event const& other) const { return when != other.when ? when < other.when : begins < other.begins; }
    };
    std::vector<event> events;
    for (std::size_t at = 0; at < of.buffers.size(); ++at) {
        events.push_back({of.buffers[at].lower, true, at});
        events.push_back({of.buffers[at].upper, false, at});
    }
    std::sort(events.begin(), events.end());
    std::map<std::int64_t, std::size_t> occupied;  // by offset
    auto const end_of = [&](std::size_t which) { return offsets[which] + of.buffers[which].size; };
    for (event const& e : events) {
        if (!e.begins) {
            occupied.erase(offsets[e.which]);
            continue;
        }
        std::string const& id = of.buffers[e.which].id;
        if (offsets[e.which] < 0 || end_of(e.which) > peak)
            return id + " ends at " + std::to_string(end_of(e.which)) + ", behind the peak " + std::to_string(peak);
        auto const next = occupied.lower_bound(offsets[e.which]);
        if (next != occupied.end() && next->first < end_of(e.which)) return id + " overlaps " + of.buffers[next->second].id;
        if (next != occupied.begin() && end_of(std::prev(next)->second) > offsets[e.which])
            return id + " overlaps " + of.buffers[std::prev(next)->second].id;
        occupied[offsets[e.which]] = e.which;
    }
    return "";
}
