#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/machine/machine.hpp>

// What one call of a transfer can express, by its declaration and by the arguments of its C functions.
namespace tilewright::detail {

/// What a call, or a setting, is given.
struct given_values {
    call_argument const* first;
    int count;
};
/// List `at` of the values that a part is given: for its first call, then for each further one, then for each setting that it uses.
constexpr given_values values_at(machine const& where, device_call const& call, part_range more, part_range settings, int at) {
    if (at == 0) return {call.arguments.elements, call.count};
    if (at <= more.count) {
        device_call const& further = where.more_calls[more.first + at - 1];
        return {further.arguments.elements, further.count};
    }
    required_setting const& setting = where.settings[settings.first + at - 1 - more.count];
    return {setting.values.elements, setting.count};
}
/// Calls `visit(argument)` for what the calls of a part, and the settings that it uses, are given.
template <class Description, class Visit>
constexpr void each_value(machine const& where, Description const& part, Visit&& visit) {
    for (int list = 0; list <= part.more_calls.count + part.settings.count; ++list) {
        given_values const given = values_at(where, part.call, part.more_calls, part.settings, list);
        for (int at = 0; at < given.count; ++at) visit(given.first[at]);
    }
}

/// Whether rows of the operand at `position` of an intrinsic may lie further apart in dimension `dimension` than without gaps: a function
/// is told how far, the machine says how far at most, or the operand is passed by value.
constexpr bool has_free_stride(machine const& where, intrinsic_description const& what, int position, int dimension) {
    operand_constraint const& wanted = what.operands[position];
    int const memory = where.memories.find(wanted.memory_name);
    if (what.call.count == 0 || wanted.longest_stride > 0 || (memory >= 0 && where.memories[memory].registers > 0))
        return true;  // without a list, all strides are told
    bool told = false;
    each_value(where, what,
               [&](call_argument const& a) { told |= a.is == role::stride && a.operand == position && a.dimension == dimension; });
    return told;
}
/// Whether calls take such gaps: those of the result are also those of an operand that it overwrites.
constexpr bool takes_gaps(machine const& where, intrinsic_description const& what, int position, int dimension) {
    int const tied = what.find_in_place();
    bool const overwrites = tied >= 0 && what.operands[position].is != ir::direction::reads;
    return has_free_stride(where, what, position, dimension) || (overwrites && has_free_stride(where, what, tied, dimension));
}

/// The limits of a call. Dimension d stands at d - 1.
struct call_limits {
    int dimensions = 0;                             ///< besides the row
    std::int64_t row_bytes = 0;                     ///< 0: any
    fixed_array<std::int64_t, max_rank> extents{};  ///< 0: any
    fixed_array<stride_limits, max_rank> sources{}, destinations{};
    unsigned told = 0;                         ///< a bit for each dimension whose extent the functions are told
    int deduced = 0;                           ///< dimensions whose extent they work out from the bytes of all rows
    unsigned pads_before = 0, pads_after = 0;  ///< a bit for each dimension whose border at that end they are told, 0 the row
    std::int64_t longest_pad = 0;              ///< 0: any

    constexpr stride_limits const& strides(bool of_source, int dimension) const {
        return (of_source ? sources : destinations).elements[dimension - 1];
    }
    constexpr std::int64_t extent(int dimension) const { return extents.elements[dimension - 1]; }
    /// Whether dimensions are taken at any stride, and any number of them.
    constexpr bool takes_any_stride() const {
        bool any = true;
        for (int dimension = 1; dimension <= dimensions && dimension <= max_rank; ++dimension)
            any &= tells(dimension) && strides(true, dimension) == stride_limits{} && strides(false, dimension) == stride_limits{};
        return any;
    }
    /// Whether a call writes the border at these ends of a dimension: 1 before, 2 after, 3 both.
    constexpr bool pads(int dimension, unsigned ends) const {
        return ((ends & 1) == 0 || (pads_before >> dimension & 1) != 0) && ((ends & 2) == 0 || (pads_after >> dimension & 1) != 0);
    }
    constexpr bool tells(int dimension) const { return (told >> (dimension - 1) & 1) != 0; }
};

/// If no argument gives the stride of rows, they follow each other, or have the declared stride. If no argument gives their number, there
/// is one row, unless the number follows from the bytes of all rows.
constexpr call_limits limits_of(machine const& where, transfer_description const& t) {
    call_limits made{.dimensions = t.most_dimensions - 1, .row_bytes = t.largest_row_bytes};
    bool const by_core = !t.core_name.empty();
    made.sources = t.source_strides, made.destinations = t.destination_strides;
    for (int d = 0; d < max_rank; ++d) {
        std::int64_t const own = t.largest_extents.elements[d];
        made.extents.elements[d] = own > 0 ? own : t.largest_extent;
    }
    made.told = ~0u;
    made.longest_pad = t.border.longest;
    if (t.border.is && t.call.count == 0) made.pads_before = made.pads_after = ~0u;
    if (by_core || t.call.count == 0) return made;
    unsigned sources = 0, destinations = 0;
    bool rows = false, bytes = false;
    made.told = 0;
    each_value(where, t, [&](call_argument const& a) {
        rows |= a.is == role::row_bytes || (a.is == role::extent && a.dimension == 0);
        bytes |= a.is == role::bytes;
        if (a.dimension >= 0 && a.dimension <= max_rank && a.is == role::pad_before) made.pads_before |= 1u << a.dimension;
        if (a.dimension >= 0 && a.dimension <= max_rank && a.is == role::pad_after) made.pads_after |= 1u << a.dimension;
        if (a.dimension < 1 || a.dimension > max_rank) return;
        unsigned const bit = 1u << (a.dimension - 1);
        if (a.is == role::extent) made.told |= bit;
        if (a.is != role::source_stride && a.is != role::destination_stride) return;
        (a.is == role::source_stride ? sources : destinations) |= bit;
        stride_limits& strides = (a.is == role::source_stride ? made.sources : made.destinations)[a.dimension - 1];
        if (a.value > 1 && strides.multiple >= 0) strides.multiple = lcm(strides.unit(), a.value);
    });
    made.deduced = rows && bytes ? 1 : 0;
    for (int d = 0; d < max_rank; ++d) {
        if ((sources >> d & 1) == 0 && made.sources[d].exactly == 0) made.sources[d].none = true;
        if ((destinations >> d & 1) == 0 && made.destinations[d].exactly == 0) made.destinations[d].none = true;
    }
    return made;
}

}  // namespace tilewright::detail
