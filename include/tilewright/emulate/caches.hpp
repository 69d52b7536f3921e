#pragma once
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tilewright/base/list.hpp>
#include <tilewright/emulate/transfer_job.hpp>
#include <vector>

// Caches that nothing keeps coherent, as an adversary has them: a core may hold any line from long before, and may write a line that it has
// changed back at any time.
namespace tilewright::emulation {

/// Bytes, as ranges that lie apart.
class byte_set {
  public:
    bool empty() const { return ranges_.empty(); }
    void clear() { ranges_.clear(); }
    void add(byte_range range) {
        if (range.begin >= range.end) return;
        auto at = ranges_.upper_bound(range.begin);
        if (at != ranges_.begin() && std::prev(at)->second >= range.begin) --at;
        while (at != ranges_.end() && at->first <= range.end) {
            range.begin = std::min(range.begin, at->first);
            range.end = std::max(range.end, at->second);
            at = ranges_.erase(at);
        }
        ranges_.emplace(range.begin, range.end);
    }
    void remove(byte_range const& range) {
        for (byte_range const& part : shared_with(range)) {
            auto const whole = std::prev(ranges_.upper_bound(part.begin));
            std::uintptr_t const begin = whole->first, end = whole->second;
            ranges_.erase(whole);
            if (begin < part.begin) ranges_.emplace(begin, part.begin);
            if (part.end < end) ranges_.emplace(part.end, end);
        }
    }
    /// What it has of a range, in ascending order.
    std::vector<byte_range> shared_with(byte_range const& range) const {
        std::vector<byte_range> found;
        auto at = ranges_.upper_bound(range.begin);
        if (at != ranges_.begin()) --at;
        for (; at != ranges_.end() && at->first < range.end; ++at) {
            byte_range const part{std::max(at->first, range.begin), std::min(at->second, range.end)};
            if (part.begin < part.end) found.push_back(part);
        }
        return found;
    }
    /// The first byte of a range that it has.
    std::optional<std::uintptr_t> first_of(byte_range const& range) const {
        auto const found = shared_with(range);
        return found.empty() ? std::nullopt : std::optional(found.front().begin);
    }
    std::optional<std::uintptr_t> first() const { return ranges_.empty() ? std::nullopt : std::optional(ranges_.begin()->first); }

  private:
    std::map<std::uintptr_t, std::uintptr_t> ranges_;  ///< the end of each, by its beginning
};

/// The caches of all cores that see the same memories. It knows bytes only, and keeps no contents: what would go wrong on some device is
/// refused here.
class caches {
  public:
    /// What is wrong with an access, and at which byte.
    struct fault {
        std::uintptr_t at = 0;
        std::string why;
    };

    /// @return the number of one more core
    int join() {
        std::lock_guard<std::mutex> const lock(mutex_);
        views_.emplace_back();
        return static_cast<int>(views_.size()) - 1;
    }
    /// A core forgets what it knows, and has written nothing.
    void reset(int core) {
        std::lock_guard<std::mutex> const lock(mutex_);
        views_[core] = {};
        if (core == 0) lost_.clear();
    }
    /// Others have changed bytes before the core looks at them.
    void miss(int core, byte_range const& range) {
        std::lock_guard<std::mutex> const lock(mutex_);
        views_[core].unseen.add(range);
    }
    /// A core loads bytes. @return why they may be old
    std::optional<fault> read(int core, byte_range const& range) const {
        std::lock_guard<std::mutex> const lock(mutex_);
        if (auto const at = views_[core].unseen.first_of(range))
            return fault{*at, "its cache may still have what was there before: no invalidate comes between"};
        return in_memory(range, core);
    }
    /// A core stores bytes, into lines of so many.
    void write(int core, byte_range const& range, std::int64_t line) {
        std::lock_guard<std::mutex> const lock(mutex_);
        view& mine = views_[core];
        lost_.remove(range);
        mine.unseen.remove(range);
        // Bytes beside it that others have written since come back as they were when the line is written back.
        for (byte_range const& beside : mine.unseen.shared_with(lines_of(range, line))) lost_.add(beside);
        mine.changed.add(range);
    }
    /// An engine reads bytes of the memory. @return why they may be old
    std::optional<fault> read_memory(byte_range const& range) const {
        std::lock_guard<std::mutex> const lock(mutex_);
        return in_memory(range, -1);
    }
    /// An engine writes bytes of the memory.
    void write_memory(byte_range const& range, std::int64_t line) {
        std::lock_guard<std::mutex> const lock(mutex_);
        arrive(range, line, -1);
    }
    /// @param invalidates  whether the core forgets the lines, too
    /// @param arriving  bytes that its engines may still write: they stay unseen
    void keep_up(int core, byte_range const& asked, std::int64_t line, bool invalidates, std::vector<byte_range> const& arriving) {
        std::lock_guard<std::mutex> const lock(mutex_);
        view& mine = views_[core];
        byte_range const range = lines_of(asked, line);
        for (byte_range const& part : mine.changed.shared_with(range)) {
            mine.changed.remove(part);
            arrive(part, line, core);
        }
        if (!invalidates) return;
        std::vector<byte_range> stay;
        for (byte_range const& one : arriving) {
            for (byte_range const& part : mine.unseen.shared_with(one)) stay.push_back(part);
        }
        mine.unseen.remove(range);
        for (byte_range const& part : stay) mine.unseen.add(part);
    }
    /// A kernel of a core is over. @param results  what it was to compute @return what it has left undone
    std::optional<fault> end(int core, std::vector<byte_range> const& results) const {
        std::lock_guard<std::mutex> const lock(mutex_);
        if (auto const at = views_[core].changed.first()) return fault{*at, "the kernel ends, and nothing has cleaned it"};
        for (byte_range const& range : results) {
            if (auto const at = lost_.first_of(range)) return fault{*at, overwritten};
        }
        return {};
    }

  private:
    static constexpr char const* overwritten = "another byte of its line was written back over it";
    struct view {
        byte_set changed;  ///< by the core, and not in the memory yet
        byte_set unseen;   ///< changed by others since the core has looked last
    };

    static byte_range lines_of(byte_range const& range, std::int64_t line) {
        auto const bytes = static_cast<std::uintptr_t>(line);
        return {range.begin / bytes * bytes, (range.end + bytes - 1) / bytes * bytes};
    }
    std::optional<fault> in_memory(byte_range const& range, int reader) const {
        for (int core = 0; core < std::ssize(views_); ++core) {
            auto const at = core == reader ? std::nullopt : views_[core].changed.first_of(range);
            if (at) return fault{*at, "a core has written it in its cache, and nothing has cleaned that"};
        }
        if (auto const at = lost_.first_of(range)) return fault{*at, overwritten};
        return {};
    }
    /// Bytes come into the memory.
    void arrive(byte_range const& range, std::int64_t line, int from) {
        lost_.remove(range);
        for (int core = 0; core < std::ssize(views_); ++core) {
            if (core == from) continue;
            view& other = views_[core];
            other.unseen.add(range);
            // Lines that another core has changed may be written back over it.
            for (byte_range const& changed : other.changed.shared_with(lines_of(range, line))) {
                byte_range const lines = lines_of(changed, line);
                lost_.add({std::max(lines.begin, range.begin), std::min(lines.end, range.end)});
            }
        }
    }

    mutable std::mutex mutex_;
    ir::list<view> views_;
    byte_set lost_;  ///< what a line that was written back later has overwritten
};

}  // namespace tilewright::emulation
