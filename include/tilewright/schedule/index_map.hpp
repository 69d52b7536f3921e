#pragma once
#include <tilewright/compute/node.hpp>
#include <utility>

namespace tilewright {

/// A coordinate of a box while an index map is written: the box's own, from 0, or a part of it.
///
/// `i / 6` and `i % 6` are the parts of a split by 6. Parts can be split again: `i / 24, i % 24 / 8, i % 8`. A map can only split a
/// coordinate, and give the parts other places.
struct box_index {
    static constexpr std::int64_t highest = std::int64_t{1} << 40;
    static constexpr int no_coordinate = -2;  ///< as a dimension

    int dimension = -1;        ///< of the tensor; -1: the separator
    bool is_broken = false;    ///< a part of `modulus` values, 0: all, was split by `divisor`, which does not divide it
    std::int64_t divisor = 1;  ///< (coordinate / divisor) % modulus
    std::int64_t modulus = 0;  ///< 0: none

    constexpr box_index operator/(std::int64_t factor) const {
        box_index part = *this;
        if (is_broken) return part;
        if (factor < 1 || (modulus != 0 && modulus % factor != 0)) return part.split_badly(factor);
        if (modulus != 0) part.modulus = modulus / factor;
        part.divisor = divisor < highest / factor ? divisor * factor : highest;
        return part;
    }
    constexpr box_index operator%(std::int64_t factor) const {
        box_index part = *this;
        if (is_broken) return part;
        if (factor < 1 || (modulus != 0 && modulus % factor != 0)) return part.split_badly(factor);
        part.modulus = factor;
        return part;
    }
    // What no map can do with a coordinate: the planner says so.
    template <class Other>
        requires(!detail::integral<Other>)
    constexpr box_index operator/(Other const&) const { return none(); }
    template <class Other>
        requires(!detail::integral<Other>)
    constexpr box_index operator%(Other const&) const { return none(); }
    template <class Other>
    constexpr box_index operator+(Other const&) const {
        return none();
    }
    template <class Other>
        requires(!detail::one_of<Other, box_index>)
    friend constexpr box_index operator+(Other const&, box_index const&) { return none(); }
    template <class Other>
    constexpr box_index operator-(Other const&) const {
        return none();
    }
    template <class Other>
        requires(!detail::one_of<Other, box_index>)
    friend constexpr box_index operator-(Other const&, box_index const&) { return none(); }
    template <class Other>
    constexpr box_index operator*(Other const&) const {
        return none();
    }
    template <class Other>
        requires(!detail::one_of<Other, box_index>)
    friend constexpr box_index operator*(Other const&, box_index const&) { return none(); }
    constexpr box_index operator>>(std::int64_t) const { return none(); }
    constexpr box_index operator&(std::int64_t) const { return none(); }
    constexpr box_index operator[](std::int64_t) const { return none(); }
    /// What is no coordinate.
    static constexpr box_index none() { return {.dimension = no_coordinate}; }

  private:
    constexpr box_index split_badly(std::int64_t factor) const {
        box_index part = *this;
        part.is_broken = true;
        part.divisor = factor;
        return part;
    }
};

/// Between the coordinates that say in which block of a memory an element is, and those that say where in the block.
struct block_separator {};
inline constexpr block_separator separator{};

/// Where the elements of a box are: the coordinates of the buffer, outermost first, over those of the box.
struct index_map_list {
    static constexpr int most = max_rank + 1;

    int arguments = 0;  ///< coordinates of the box that the map takes
    int count = 0;      ///< above `most` marks an overflow
    fixed_array<box_index, most> indices{};
};

/// What a function given to `layout` returns: `index_map(i / 6, j, i % 6)`, or with blocks `index_map(i % 2, separator, i / 2, j)`. What is
/// neither a coordinate nor a part of one is refused by the planner.
template <class... Indices>
constexpr index_map_list index_map(Indices const&... indices) {
    index_map_list list;
    [[maybe_unused]] auto const put = [&]<class Index>(Index const& index) {
        box_index kept;
        if constexpr (detail::one_of<Index, box_index>) kept = index;
        else if constexpr (!detail::one_of<Index, block_separator>) kept = box_index::none();
        if (list.count < list.most) list.indices[list.count] = kept;
        ++list.count;
    };
    (put(indices), ...);
    return list;
}

namespace detail {

/// How many coordinates a function of an index map takes; -1: it is no such function.
template <class Map, class... Coordinates>
constexpr int coordinates_of() {
    if constexpr (requires(Map const& map, Coordinates const&... coordinates) {
                      { map(coordinates...) } -> one_of<index_map_list>;
                  })
        return sizeof...(Coordinates);
    else if constexpr (sizeof...(Coordinates) < max_rank) return coordinates_of<Map, Coordinates..., box_index>();
    else return -1;
}

/// What a function of an index map returns for `Count` coordinates.
template <int Count, class Map>
constexpr index_map_list read_index_map(Map const& map) {
    index_map_list list = [&]<int... Dimension>(std::integer_sequence<int, Dimension...>) {
        return map(box_index{.dimension = Dimension}...);
    }
    (std::make_integer_sequence<int, Count>{});
    list.arguments = Count;
    return list;
}

}  // namespace detail

}  // namespace tilewright
