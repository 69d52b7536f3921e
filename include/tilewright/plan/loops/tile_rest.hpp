#pragma once
#include <tilewright/base/divisors.hpp>
#include <tilewright/plan/ir/trip_count.hpp>
#include <tilewright/plan/loops/run_time.hpp>

// What is left of a tile if its axis ends inside the tile.
namespace tilewright::detail {

/// How many values of a limit's axis a partial tile of a body has.
struct tile_rest {
    bool constant = false;                                ///< every partial tile has the same number
    std::int64_t values = 0;                              ///< if so, how many; 0: there are no partial tiles
    fixed_array<variable_id, body::most_loops> loops{};   ///< of the body, that run over the tile: the one that steps furthest first
    fixed_array<std::int64_t, body::most_loops> steps{};  ///< values from one iteration to the next
    int loop_count = 0;
};

/// The loops of a body that a limit can end, and what a partial tile has of them. Partial tiles have the same number of values if the loops
/// outside move by multiples of a whole tile or more: then the axis can end inside a tile at one place only.
constexpr tile_rest rest_of_tile(plan_value const& plan, limit const& l, body const& b) {
    tile_rest found;
    std::int64_t grain = 0;
    for (int at = 0; at < l.form.count; ++at) {
        term const& t = plan.term_at(l.form, at);
        variable const& v = plan.variables[t.variable];
        if (v.extent == 1 && v.trips < 0 && !is_given(v)) continue;
        bool inside = false;
        for (int loop = 0; loop < b.loop_count; ++loop) inside |= b.loops[loop] == t.variable;
        if (!inside) {
            linear one;
            one.add(1, t.variable);
            // A part of a fused loop that the body runs over, or an end that only run time knows.
            for (int loop = 0; loop < b.loop_count; ++loop)
                if (moves_with(plan, one, b.loops[loop])) return {};
            if (is_given(v)) return {};
            grain = gcd(grain, t.coefficient);
            continue;
        }
        if (t.coefficient <= 0) return {};
        int position = found.loop_count++;
        for (; position > 0 && found.steps[position - 1] < t.coefficient; --position) {
            found.loops[position] = found.loops[position - 1];
            found.steps[position] = found.steps[position - 1];
        }
        found.loops[position] = t.variable;
        found.steps[position] = t.coefficient;
    }
    // Together they go over the tile without gaps.
    std::int64_t reach = 1;
    for (int at = found.loop_count - 1; at >= 0; --at) {
        if (found.steps[at] != reach) return {};
        reach *= plan.variables[found.loops[at]].extent;
    }
    std::int64_t const room = l.bound - l.form.constant;
    found.constant = grain == 0 || grain >= reach;
    if (grain != 0) found.values = (room % grain + grain) % grain;
    else found.values = room;
    if (found.values >= reach || found.values < 0) found.values = 0;
    return found;
}

}  // namespace tilewright::detail
