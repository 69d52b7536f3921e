#pragma once
#include <cstdint>

namespace tilewright {

/// Most levels of caches of a core.
inline constexpr int max_cache_levels = 3;

/// A cache between a core and the memories that it sees through its caches. Which lines it holds, hardware decides: those used last.
///
/// Nothing has to be cleaned: engines and other cores see what the core has written. (Where they do not, `memory::cache_line` says so.)
struct cache_level {
    std::int64_t bytes = 0;            ///< that it holds; 0: there is no such level
    std::int64_t line = 64;            ///< bytes that come and go together, a power of two
    std::int64_t ways = 8;             ///< lines of a set; the address of a line says to which of the bytes / line / ways sets it belongs
    std::int64_t bytes_per_cycle = 1;  ///< that come into it from the next level, or from the memory

    friend constexpr bool operator==(cache_level const&, cache_level const&) = default;
    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("bytes of a cache", bytes, 0);
        visit("line of a cache", line, 1);
        visit("ways of a cache", ways, 1);
        visit("bytes_per_cycle of a cache", bytes_per_cycle, 1);
    }
    /// How many sets of lines it has.
    constexpr std::int64_t sets() const { return bytes / line / ways; }
    /// Whether its sets are whole ones, and its lines powers of two.
    constexpr bool is_whole() const { return (line & (line - 1)) == 0 && bytes % (line * ways) == 0; }
};

}  // namespace tilewright
