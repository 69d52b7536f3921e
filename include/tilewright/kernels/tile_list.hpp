#pragma once
#include <concepts>
#include <cstdint>
#include <tilewright/base/fixed_array.hpp>

namespace tilewright::kernel {

namespace detail {
constexpr std::int64_t at_most(std::int64_t value, std::int64_t most) { return value < most ? value : most; }
}  // namespace detail

/// Tiles that are worth trying, the likeliest first: candidates of `best_of` and `best_tile`.
template <class Tile>
struct tile_list {
    static constexpr int most = 36;
    fixed_array<Tile, most> tiles{};
    int count = 0;
    int limit = most;  ///< of them: a search in the compiler takes as long for each as for a kernel

    constexpr explicit tile_list(int at_most = most) : limit(at_most < most ? at_most : most) {}
    constexpr Tile const* begin() const { return tiles.elements; }
    constexpr Tile const* end() const { return tiles.elements + count; }
    /// A tile that is there already is not added again.
    constexpr void add(Tile const& tile) {
        if constexpr (std::equality_comparable<Tile>) {
            for (int at = 0; at < count; ++at) {
                if (tiles[at] == tile) return;
            }
        }
        if (count < limit) tiles[count++] = tile;
    }
};

}  // namespace tilewright::kernel
