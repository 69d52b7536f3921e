#pragma once
#include <algorithm>
#include <cstddef>
#include <tilewright/plan/offsets/placed_buffer.hpp>
#include <vector>

// Arrangements of buffers: whether one is right, and what the best one is, by trying all.
namespace arrangements {

using namespace tilewright::ir;

inline constexpr std::int64_t plenty = 50'000'000;

inline bool overlap(placed_buffer const& a, placed_buffer const& b, int banks) {
    std::vector<bool> taken(static_cast<std::size_t>(banks));
    for (int at = 0; at < a.bank_count; ++at) taken[(a.bank + at) % banks] = true;
    bool share = false;
    for (int at = 0; at < b.bank_count; ++at) share |= taken[(b.bank + at) % banks];
    return share && a.born < b.dead && b.born < a.dead && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}
/// Whether offsets are what they should be, and end at the peak.
inline bool is_valid(std::vector<placed_buffer> const& buffers, int banks, std::int64_t peak) {
    std::int64_t highest = 0;
    for (std::size_t at = 0; at < buffers.size(); ++at) {
        placed_buffer const& b = buffers[at];
        if (b.offset < 0 || b.offset % b.alignment != 0 || b.bank < 0 || b.bank >= banks) return false;
        if (b.born < b.dead && b.bytes > 0) highest = std::max(highest, b.offset + b.bytes);
        for (std::size_t other = 0; other < at; ++other) {
            if (overlap(b, buffers[other], banks)) return false;
        }
    }
    return highest == peak;
}

/// The smallest peak, by trying every bank and every offset for one buffer after the other.
inline std::int64_t smallest_peak(std::vector<placed_buffer>& buffers, int banks, std::size_t position, std::int64_t peak,
                                  std::int64_t best) {
    if (peak >= best) return best;
    if (position == buffers.size()) return peak;
    placed_buffer const asked = buffers[position];
    placed_buffer& b = buffers[position];
    for (int bank = 0; bank < banks; ++bank) {
        if (asked.bank >= 0 && asked.bank != bank) continue;
        if (asked.bank < 0 && asked.bank_count > 1 && bank > 0) continue;
        for (std::int64_t offset = asked.fixed ? asked.offset : 0; offset + b.bytes < best; offset += b.alignment) {
            b.bank = bank, b.offset = offset;
            bool free = true;
            for (std::size_t other = 0; other < position; ++other) free = free && !overlap(b, buffers[other], banks);
            if (free) best = smallest_peak(buffers, banks, position + 1, std::max(peak, offset + b.bytes), best);
            if (asked.fixed) break;
        }
    }
    b = asked;
    return best;
}

}  // namespace arrangements
