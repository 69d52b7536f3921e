#pragma once
#include <tilewright/compute/node.hpp>

namespace tilewright {

/// An extent that each call of the kernel gives by the shapes of its arguments; see `dynamic`.
struct run_time_extent {
    /// Generated code counts in 32 bits, and rounds up to whole tiles.
    static constexpr std::int64_t most_of_all = std::int64_t{1} << 30;

    static constexpr std::int64_t most_kept = std::int64_t{1} << 32;

    std::int64_t most = most_of_all;

    /// With an upper bound: a staged box that no tile bounds is then as large as that.
    constexpr run_time_extent up_to(std::int64_t bound) const { return {bound < 0 ? 0 : bound < most_kept ? bound : most_kept}; }
    /// How an axis keeps it: a number that no extent can be.
    constexpr operator std::int64_t() const { return lowest_of(scalar_type::int64) + most; }
    static constexpr bool is_kept_in(std::int64_t extent) { return extent <= lowest_of(scalar_type::int64) + most_kept; }
    static constexpr std::int64_t most_of(std::int64_t extent) { return extent - lowest_of(scalar_type::int64); }
};

/// `axis m{"m", dynamic}`, `axis m{"m", dynamic.up_to(4096)}`: an extent that is left to run time.
inline constexpr run_time_extent dynamic{};

/// A loop of the computation: `i` runs over [0, extent). Without an extent it only names a loop that a directive makes.
struct axis {
    ir::label name;
    std::int64_t extent = 0;
};

/// The extent of an axis that is left to run time: `{m, 100}`.
struct axis_extent {
    ir::label name{};
    std::int64_t extent = 0;

    constexpr axis_extent() = default;
    constexpr axis_extent(axis const& of, std::int64_t value) : name(of.name), extent(value) {}
    constexpr axis_extent(ir::label const& of, std::int64_t value) : name(of), extent(value) {}
};

}  // namespace tilewright
