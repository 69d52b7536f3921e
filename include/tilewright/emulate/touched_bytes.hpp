#pragma once
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tilewright/emulate/transfer_job.hpp>

namespace tilewright::emulation {

/// Bytes that a core has touched, and of each when it did so last. Times are numbers that never fall.
class touched_bytes {
  public:
    void clear() { pieces_.clear(); }

    void touch(byte_range const& range, std::int64_t when) {
        if (range.begin >= range.end || goes_on(range, when)) return;
        cut(range.begin), cut(range.end);
        auto const behind = pieces_.lower_bound(range.end);
        auto const made =
            pieces_.insert_or_assign(pieces_.erase(pieces_.lower_bound(range.begin), behind), range.begin, piece{range.end, when});
        // Neighbours of one time are one piece: a core that goes through a tensor leaves few.
        if (behind != pieces_.end() && behind->first == range.end && behind->second.when == when) {
            made->second.end = behind->second.end;
            pieces_.erase(behind);
        }
        if (made == pieces_.begin()) return;
        auto const before = std::prev(made);
        if (before->second.end != range.begin || before->second.when != when) return;
        before->second.end = made->second.end;
        pieces_.erase(made);
    }
    /// The first byte of a range that was touched at `since` or later.
    std::optional<std::uintptr_t> find(byte_range const& range, std::int64_t since) const {
        auto at = pieces_.upper_bound(range.begin);
        if (at != pieces_.begin() && std::prev(at)->second.end > range.begin) --at;
        for (; at != pieces_.end() && at->first < range.end; ++at) {
            if (at->second.when >= since) return std::max(at->first, range.begin);
        }
        return {};
    }

  private:
    struct piece {
        std::uintptr_t end = 0;
        std::int64_t when = 0;
    };
    /// Most accesses go on where the one before ended, or touch what was touched already. @return whether it is written down
    bool goes_on(byte_range const& range, std::int64_t when) {
        auto const behind = pieces_.upper_bound(range.begin);
        if (behind == pieces_.begin()) return false;
        piece& before = std::prev(behind)->second;
        if (before.when != when || before.end < range.begin || (behind != pieces_.end() && behind->first <= range.end)) return false;
        before.end = std::max(before.end, range.end);
        return true;
    }
    /// No piece goes on beyond a place.
    void cut(std::uintptr_t place) {
        auto const behind = pieces_.lower_bound(place);
        if (behind == pieces_.begin()) return;
        piece& before = std::prev(behind)->second;
        if (before.end <= place) return;
        pieces_.emplace_hint(behind, place, before);
        before.end = place;
    }

    std::map<std::uintptr_t, piece> pieces_;  ///< by where they begin; apart from each other
};

}  // namespace tilewright::emulation
