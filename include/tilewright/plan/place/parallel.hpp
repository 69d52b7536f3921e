#pragma once
#include <tilewright/plan/ir/planning.hpp>

// Loops whose iterations run on several threads.
namespace tilewright::detail {

/// Whether `loop` is one of the first `depth` loops on the path of a stage.
constexpr bool stands_inside(planning const& p, stage_id s, int loop, int depth) {
    for (int position = 0; position < depth; ++position) {
        if (p.placed(s).path[position] == loop) return true;
    }
    return false;
}

/// A buffer that is made inside of a parallel loop has a version for each iteration, so iterations that run side by side never share one.
constexpr void replicate(writing& p, buffer_id buffer_at, int loop, int ordinal) {
    buffer& b = p.buffer_at(buffer_at);
    variable const& v = p.var(loop);
    if (p.of->where().memories[b.memory].registers > 0 || b.kind == buffer_kind::argument) return;
    if (v.extent > most_versions) return p.refuse_capacity("iterations of a parallel loop", v.extent, most_versions, ordinal, v.name);
    b.versions = static_cast<std::int16_t>(v.extent);
    b.by_loop = static_cast<std::int16_t>(loop);
}

/// Checks parallel loops, and gives buffers that are made inside of them a version for each iteration. Only code of the core may stand
/// inside: an engine has one queue for all threads.
constexpr void place_parallel(writing& p) {
    for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
        stage_placement const& place = p.placed(s);
        nest const& n = p.nest_at(s);
        for (int position = 0; position < n.depth && !p.refused(); ++position) {
            nest_axis const& a = n.axis_of_loop(position);
            if (!a.parallel) continue;
            int const ordinal = a.marked_ordinal, depth = place.outer_depth + position;
            auto const refuse = [&](rule why) { p.refuse(verdict_kind::loop_order, why, {a.name, p.stage_at(s).output}, ordinal); };
            if (n.intrinsic >= 0) return refuse(rule::parallel_with_calls);
            for (int around = 0; around < depth; ++around)
                if (p.var(place.path[around]).parallel) return refuse(rule::parallel_in_parallel);
            int const loop = a.variable;
            for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
                staging const& st = p.staging_at(at);
                if (!stands_inside(p, st.stage, loop, st.depth)) continue;
                for (int by : {int{st.mover}, int{st.loader}}) {
                    if (by >= 0 && p.of->where().transfers[by].core_name.empty()) return refuse(rule::parallel_with_calls);
                }
                replicate(p, st.buffer, loop, ordinal);
            }
            for (stage_id t{}; t < p.plan.stages.count && !p.refused(); ++t) {
                if (t == s || !stands_inside(p, t, loop, p.placed(t).outer_depth)) continue;
                if (p.placed(t).transfer >= 0 || p.nest_at(t).intrinsic >= 0) return refuse(rule::parallel_with_calls);
                replicate(p, p.placed(t).home, loop, ordinal);
            }
            // An extent that is left to run time would need as many versions.
            if (p.var(loop).trips >= 0) return refuse(rule::run_time_loop);
        }
    }
}

}  // namespace tilewright::detail
