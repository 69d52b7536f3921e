#pragma once
#include <tilewright/compute/expression.hpp>
#include <tilewright/compute/stage.hpp>

namespace tilewright {

/// Elements of one axis of an intrinsic, or of several together, that the cycles of a call are counted by. Units that are begun count.
struct cycle_factor {
    static constexpr std::uint16_t wrong_axis = 1 << 15;  ///< in `axes`: see there

    std::uint16_t axes = 0;  ///< a bit for each axis; `wrong_axis`: one was named that is not there, or one twice
    std::int64_t unit = 1;   ///< elements

    /// Whether it counts elements of this axis.
    constexpr bool has(int axis) const { return (axes >> axis & 1) != 0; }
    friend constexpr bool operator==(cycle_factor const&, cycle_factor const&) = default;
};

/// Cycles for each unit of the product of its factors.
struct cycle_term {
    static constexpr int most_factors = 4;  ///< of one term

    std::int64_t cycles = 1;                            ///< for each unit
    fixed_array<cycle_factor, most_factors> factors{};  ///< whose units are multiplied
    int factor_count = 0;                               ///< above `most_factors` it marks an overflow, refused by the planner

    friend constexpr bool operator==(cycle_term const&, cycle_term const&) = default;
};

/// Cycles of one call of an intrinsic: see `time_of` in clock.hpp.
struct intrinsic_cost {
    static constexpr int most_terms = 4;  ///< of one intrinsic

    std::int64_t cycles = 1;                      ///< of every call
    fixed_array<cycle_term, most_terms> terms{};  ///< what a call takes besides, by what it covers of its axes
    int term_count = 0;                           ///< above `most_terms` it marks an overflow, likewise

    /// A bit for each axis that counts: what a call covers of other axes makes no difference.
    constexpr unsigned axes() const {
        unsigned all = 0;
        for (int t = 0; t < term_count; ++t) {
            cycle_term const& term = terms[t];
            for (int f = 0; f < term.factor_count; ++f) all |= term.factors[f].axes;
        }
        return all;
    }
    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("cycles", cycles, 0);
        visit("terms of its cycles", term_count, 0, most_terms);
        for (int t = 0; t < term_count && t < most_terms; ++t) {
            cycle_term const& term = terms[t];
            visit("a term of cycles", term.cycles, 0);
            visit("factors of its cycles", term.factor_count, 0, term.most_factors);
            for (int f = 0; f < term.factor_count && f < term.most_factors; ++f) visit("in_units_of", term.factors[f].unit, 1);
        }
    }
    friend constexpr bool operator==(intrinsic_cost const&, intrinsic_cost const&) = default;
};

/// The units for which a call takes cycles, by names of axes: made by `per`.
struct cycle_rate {
    /// Axes whose elements are counted together.
    struct factor {
        fixed_array<ir::label, ir::stage::most_axes> axes{};  ///< by name
        int axis_count = 0;                                   ///< how many are named
        std::int64_t unit = 1;                                ///< elements that count as one, where begun
    };

    std::int64_t cycles = 1;                                  ///< for each unit
    fixed_array<factor, cycle_term::most_factors> factors{};  ///< whose units are multiplied
    int factor_count = 0;                                     ///< above the most it marks an overflow, refused by the planner
};

/// Elements that cycles are counted by: `per(i, j)`.
struct cycle_elements {
    cycle_rate::factor counted{};  ///< the axes, and the elements of a unit

    /// Counted in parts of so many elements. One that is begun counts: `per(j).in_units_of(16)` is 2 for 17 to 32 elements.
    constexpr cycle_elements in_units_of(std::int64_t elements) const {
        cycle_elements changed = *this;
        changed.counted.unit = elements;
        return changed;
    }
    /// A cycle for each unit.
    constexpr operator cycle_rate() const { return {.factors = {counted}, .factor_count = 1}; }
};

/// A cycle for each element that a call covers of an axis of its intrinsic; of several axes, for each combination: `per(i, j)` is i times
/// j.
///
/// Numbers and further elements multiply it: `2 * per(i)`, `per(i) * per(j).in_units_of(16)`.
template <class... More>
constexpr cycle_elements per(axis const& first, More const&... more) {
    static_assert(sizeof...(More) < ir::stage::most_axes, "per names more axes than an intrinsic can have");
    return {.counted = {.axes = {first.name, more.name...}, .axis_count = 1 + static_cast<int>(sizeof...(More))}};
}
constexpr cycle_rate operator*(cycle_rate rate, cycle_rate const& other) {
    if (__builtin_mul_overflow(rate.cycles, other.cycles, &rate.cycles)) rate.cycles = highest_of(scalar_type::int64);
    for (int at = 0; at < other.factor_count; ++at) {
        bool const fits = rate.factor_count < cycle_term::most_factors && at < cycle_term::most_factors;
        if (fits) rate.factors[rate.factor_count] = other.factors[at];
        ++rate.factor_count;
    }
    return rate;
}
constexpr cycle_rate operator*(std::int64_t cycles, cycle_rate const& rate) { return cycle_rate{.cycles = cycles} * rate; }
constexpr cycle_rate operator*(cycle_rate const& rate, std::int64_t cycles) { return cycles * rate; }

}  // namespace tilewright
