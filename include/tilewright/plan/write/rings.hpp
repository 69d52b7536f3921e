#pragma once
#include <tilewright/plan/write/fills.hpp>

// Which staged buffers asynchronous transfers fill and empty, and over which loops their steps are counted.
namespace tilewright::detail {

/// Whether steps of two rings are counted over the same loops.
constexpr bool same_steps(ring const& a, ring const& b) {
    bool same = a.loop_count == b.loop_count;
    for (int at = 0; at < a.loop_count && same; ++at) {
        same = a.loops[at] == b.loops[at];
    }
    return same;
}

/// Steps of a buffer in one step of the buffer around it; 0 if only run time knows.
constexpr std::int64_t steps_inside(planning const& p, staging const& st, staging const& around) {
    double steps = 1;
    for (int position = around.depth; position < st.depth; ++position) {
        variable const& loop = p.var(p.placed(st.stage).path[position]);
        steps *= loop.trips >= 0 ? 0 : static_cast<double>(loop.extent);
    }
    return static_cast<std::int64_t>(steps < 1e15 ? steps : 1e15);
}

/// Steps that a load is started ahead of its use.
constexpr int distance_of(staging const& st) { return st.distance >= 0 ? st.distance : st.versions - 1; }

/// Whether loads of `st` may run ahead into the next step of the buffer that they read, which is loaded ahead itself. That buffer must then
/// be there earlier by the distance. Loaded two steps ahead, it is. Loaded one step ahead, it must keep at least half of a step.
constexpr bool runs_on(planning const& p, staging const& st, staging const& around, int mover) {
    if (st.writes || around.writes || around.ring < 0 || !p.of->where().transfers[mover].is_asynchronous) return false;
    int const distance = distance_of(st), around_distance = p.ring_at(around.ring).distance;
    std::int64_t const inside = steps_inside(p, st, around);
    return distance >= 1 && distance <= inside && (around_distance >= 2 || (around_distance == 1 && 2 * distance <= inside));
}

/// Finds the position on the path of `st` from which its transfers can run ahead: after it, the buffer on the other side is there for all
/// loops further in. A buffer that is made anew at a level can be read ahead of that level only if it has a version for the next step.
constexpr void set_scope(planning const& p, staging& st, int mover) {
    st.scope = share_depth(p, st.stage, st.depth);
    if (p.buffer_at(st.outward).kind == buffer_kind::argument) return;
    for (int at = 0; at < p.staging_count(); ++at) {
        staging const& around = p.staging_at(at);
        if (around.buffer != st.outward || around.tensor != st.tensor) continue;  // another result has overwritten it
        bool const on = st.scope <= around.depth && runs_on(p, st, around, mover);
        std::int16_t const scope = on ? around.scope : around.depth;
        st.scope = scope > st.scope ? scope : st.scope;
        st.around = static_cast<std::int16_t>(on ? at : -1);
        return;
    }
    std::int16_t const scope = static_cast<std::int16_t>(p.placed(p.producer_of(st.tensor)).outer_depth);
    st.scope = scope > st.scope ? scope : st.scope;
}

/// Calls `visit(position)` for every staged buffer, after the buffer that it is a part of.
template <class Visit>
constexpr void each_outward_first(planning const& p, Visit&& visit) {
    int const count = p.staging_count();
    int deepest = 0;
    for (int at = 0; at < count; ++at) deepest = p.staging_at(at).depth > deepest ? p.staging_at(at).depth : deepest;
    for (int depth = 0; depth <= deepest; ++depth) {
        for (int at = 0; at < count; ++at) {
            if (p.staging_at(at).depth == depth && !p.refused()) visit(at);
        }
    }
}

/// Counts the steps of a ring over the loops on the path of stage `s` at positions from `scope` up to `depth`. @return false after a
/// refusal
constexpr bool count_steps(writing& p, ring& of, stage_id s, int scope, int depth, label const& tensor, int ordinal) {
    linear step;
    double steps = 1;
    if (depth - scope > ring::most_loops)
        return p.refuse_capacity("loops around a buffer", depth - scope, ring::most_loops, ordinal, tensor), false;
    for (int position = depth - 1; position >= scope; --position) {
        std::int16_t const loop = p.placed(s).path[position];
        step.add(static_cast<std::int64_t>(steps), loop);
        of.run_time |= p.var(loop).trips >= 0;
        steps *= p.var(loop).trips >= 0 ? 1 : static_cast<double>(p.var(loop).extent);
    }
    of.steps = p.limited(steps, stage::most_index - most_versions, "iterations of a loop nest", tensor);
    for (int position = scope; position < depth; ++position) of.loops[of.loop_count++] = p.placed(s).path[position];
    if (!p.refused()) of.step = p.keep(step);
    return !p.refused();
}

/// A ring for transfer `mover` of `st`; -1 when the transfer blocks.
constexpr int make_ring(writing& p, staging const& st, int mover, bool stores) {
    transfer_description const& t = p.of->where().transfers[mover];
    if (!t.is_asynchronous) return -1;
    ring made{.buffer = st.buffer, .stores = stores, .versions = st.versions};
    made.engine = static_cast<std::int16_t>(p.of->where().engines.find(t.engine_name));
    made.first_tag = p.take_tags(st.versions);
    made.first_channel = p.take_channels(made.engine);
    bool const ahead = !st.writes;
    made.distance = static_cast<std::int16_t>(ahead ? distance_of(st) : 0);
    if (!count_steps(p, made, st.stage, st.scope, st.depth, st.tensor, st.ordinal)) return -1;
    if (made.loop_count == 0) made.distance = 0;  // there is only one step, so nothing can run ahead of it
    return p.add(made);
}

/// Finds the loop whose iterations ask for what a core will copy: a loop of the stage inside the buffer's loop, which stays a loop.
constexpr void find_asking_loop(planning const& p, staging& st) {
    stage_placement const& place = p.placed(st.stage);
    int found = -1;
    for (int position = 0; position < place.path_length; ++position) {
        if (p.var(place.path[position]).name == st.asking) found = position;
    }
    if (found < 0) {
        p.refuse(verdict_kind::unknown_axis, st.distance_ordinal).names = {st.asking, p.stage_at(st.stage).output};
        return;
    }
    st.asking_variable = place.path[found];
    variable const& loop = p.var(st.asking_variable);
    if (found < st.depth || loop.vectorized || loop.unrolled)
        p.refuse(verdict_kind::loop_order, rule::asked_for_elsewhere, {st.asking, st.tensor}, st.distance_ordinal);
}

/// How many steps ahead of its use a version is loaded into a buffer whose contents a result overwrites. The result must have been
/// stored, or read, that many steps earlier.
constexpr int loaded_ahead(planning const& p, buffer_id overwritten) {
    int distance = 0;
    for (int at = 0; at < p.staging_count(); ++at) {
        staging const& other = p.staging_at(at);
        if (other.buffer == overwritten && !other.writes && other.ring >= 0 && p.ring_at(other.ring).distance > distance)
            distance = p.ring_at(other.ring).distance;
    }
    return distance;
}

/// Checks that loads into a buffer, and stores from there after an instruction has overwritten it, go through the same versions.
constexpr void check_shared_rings(planning const& p) {
    for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
        staging const& out = p.staging_at(at);
        for (int other = 0; other < p.staging_count() && out.writes && out.ring >= 0; ++other) {
            staging const& in = p.staging_at(other);
            if (in.buffer != out.buffer || in.writes || in.ring < 0) continue;
            ring const &filled = p.ring_at(in.ring), &emptied = p.ring_at(out.ring);
            bool const versions = filled.versions != emptied.versions;
            if (!versions && same_steps(filled, emptied)) continue;
            label const& by = p.of->where().intrinsics[p.nest_at(in.stage).intrinsic].name;
            int const ordinal = in.versions_ordinal != 0 ? in.versions_ordinal : in.ordinal;
            p.refuse(verdict_kind::in_place, versions ? rule::overwrites_other_versions : rule::overwritten_by_other_steps,
                     {by, out.tensor, in.tensor}, ordinal,
                     {fact{fact_kind::have, versions ? filled.versions : filled.loop_count},
                      fact{fact_kind::need, versions ? emptied.versions : emptied.loop_count}});
            return;
        }
    }
}

/// Whether all cores read, in their shares, a buffer that is brought before into a memory of each: one multicast brings it to all of them.
constexpr bool is_for_all(planning const& p, staging const& st) {
    bool const shared = share_depth(p, st.stage, p.placed(st.stage).path_length) > 0;
    return !st.writes && shared && share_depth(p, st.stage, st.depth) == 0 && p.of->where().memories[st.memory].per_core;
}

/// Chooses the transfers of every staged buffer; makes rings of asynchronous ones.
constexpr void make_rings(placing& p) {
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        if (p.placed(s).store_bank >= 0) p.buffer_at(p.placed(s).home).bank = p.placed(s).store_bank;
    }
    each_outward_first(p, [&](int at) {
        staging& st = p.staging_at(at);
        int const inner = p.buffer_at(st.buffer).memory, outer = p.buffer_at(st.outward).memory;
        bool loads_first = st.writes && p.stage_at(st.stage).continues;
        if (st.writes) each_reduction_around(p, st.stage, st.depth, [&](int) { loads_first = true; });
        st.mover = static_cast<std::int16_t>(choose_transfer(p, st.tensor, st.writes ? inner : outer, st.writes ? outer : inner,
                                                             st.transfer, st.moved_by(), is_for_all(p, st)));
        if (loads_first && !p.refused())
            st.loader = static_cast<std::int16_t>(
                choose_transfer(p, st.tensor, outer, inner, -1, st.ordinal, false, st.partial_sums ? st.tensor : label{}));
        if (p.refused()) return;
        if (st.border >= 0) choose_border_fill(p, st);
        if (p.refused()) return;
        for (int transfer_at : {int{st.mover}, int{st.loader}}) {
            // The load of a part, some steps later, would have to wait for its store to the memory on the other side.
            if (st.partial_sums && transfer_at >= 0 && p.of->where().transfers[transfer_at].is_asynchronous)
                return p.refuse(verdict_kind::loop_order, rule::inside_a_reduction, {st.loop, st.tensor}, st.loop_ordinal);
        }
        auto const refuse = [&](rule broken, int ordinal, std::int64_t asked, std::int64_t have) {
            p.refuse(verdict_kind::versions_without_use, broken, {st.tensor, p.of->where().transfers[st.mover].name}, ordinal,
                     {fact{fact_kind::need, asked}, fact{fact_kind::have, have}});
        };
        bool const blocks = !p.of->where().transfers[st.mover].is_asynchronous;
        if (blocks && st.versions > 1) return refuse(rule::versions_of_a_blocking_transfer, st.versions_ordinal, st.versions, 1);
        // A core that copies asks its caches for what comes next, which needs no version.
        int const reads = st.writes ? st.loader : st.mover;
        bool const hints = reads >= 0 && !p.of->where().transfers[reads].core_name.empty() && st.level >= 0;
        if (st.writes && st.distance_ordinal != 0 && !hints)
            return p.refuse(verdict_kind::misplaced_directive, rule::prefetch_of_output, {st.tensor}, st.distance_ordinal);
        if (!st.asking.empty() && !hints)
            return p.refuse(verdict_kind::misplaced_directive, rule::asked_for_no_copy, {st.tensor, st.asking}, st.distance_ordinal);
        if (blocks && st.distance > 0 && !hints)
            return refuse(rule::versions_of_a_blocking_transfer, st.distance_ordinal, st.distance + 1, 1);
        if (st.distance >= st.versions && !hints)
            return refuse(rule::distance_beyond_versions, st.distance_ordinal, st.distance, st.versions);
        if (!st.asking.empty()) find_asking_loop(p, st);
        set_scope(p, st, st.mover);
        st.ring = static_cast<std::int16_t>(make_ring(p, st, st.mover, st.writes));
        if (loads_first && !p.refused()) st.loader_ring = static_cast<std::int16_t>(make_ring(p, st, st.loader, false));
        if (p.refused()) return;
        if (st.ring >= 0 && p.ring_at(st.ring).loop_count == 0 && st.versions > 1)
            return refuse(rule::versions_of_one_step, st.versions_ordinal, st.versions, 1);
        buffer& b = p.buffer_at(st.buffer);
        if (b.versions < st.versions) b.versions = st.versions;
        if (st.bank >= 0) b.bank = st.bank;
        if (st.ring >= 0 || st.loader_ring >= 0) b.ring = st.ring >= 0 ? st.ring : st.loader_ring;
    });
    check_shared_rings(p);
}

}  // namespace tilewright::detail
