#pragma once
#include <tilewright/plan/loops/level.hpp>
#include <tilewright/plan/place/multicasts.hpp>
#include <tilewright/plan/place/parallel.hpp>

// Loops whose iterations are the shares of several cores.
namespace tilewright::detail {

/// Checks that what stands inside of a distributed loop uses only what each core has of its own, and what all cores see.
class core_placer {
  public:
    constexpr explicit core_placer(writing& planned) : p(planned), where_(planned.of->where()) {}

    constexpr void run() {
        place_stages();
        check_arguments();
        if (where_.has_unlike_cores()) check_parts();
        if (p.refused()) return;
        for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
            for (int position = 0; position < p.nest_at(s).depth && !p.refused(); ++position) {
                if (p.nest_at(s).axis_of_loop(position).distributed) check_share(s, position);
            }
        }
        for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
            stage_placement const& place = p.placed(s);
            if (share_depth(p, s, place.path_length) == 0) continue;
            p.each_access(
                s, [&](node_id node) { check_seen(p.plan.use_at(node)->buffer, s); }, true);
        }
        for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
            staging const& st = p.staging_at(at);
            if (share_depth(p, st.stage, st.depth) > 0) check_seen(st.outward, st.stage);
        }
    }

  private:
    /// A tensor that the caller provides is one for all cores.
    constexpr void check_arguments() {
        for (buffer_id at{}; at < p.plan.buffers.count && p.plan.cores > 1 && !p.refused(); ++at) {
            buffer const& b = p.buffer_at(at);
            if (b.kind != buffer_kind::argument || !where_.memories[b.memory].per_core) continue;
            name_ = b.tensor, ordinal_ = b.ordinal;
            refuse(rule::out_of_sight_of_cores, b.tensor, where_.memories[b.memory].name);
        }
    }
    /// Stages on cores of their own: what is between them lies where both see it, in versions that they take in turn.
    constexpr void place_stages() {
        int told = 0;
        for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
            stage_placement const& place = p.placed(s);
            name_ = p.stage_at(s).output, ordinal_ = place.core_ordinal;
            if (place.core_ordinal != 0) told = place.core_ordinal;
            bool const handed_over = is_read_on_another_core(p, s);
            buffer& home = p.buffer_at(place.home);
            if (handed_over && is_of_each_core(home)) refuse(rule::out_of_sight_of_cores, name_, where_.memories[home.memory].name);
            if (handed_over && place.level >= 0 && p.var(place.level).trips >= 0) refuse(rule::run_time_loop, p.var(place.level).name);
            if (p.refused() || !handed_over || place.level < 0) continue;
            if (home.versions < place.store_versions) home.versions = place.store_versions;
            home.by_loop = place.level;
        }
        ordinal_ = told;
        for (int at = 0; at < where_.engines.size() && told > 0 && !p.refused(); ++at) check_users(at);
    }
    /// An engine that is not dealt out serves the stages of one core.
    constexpr void check_users(int engine_at) {
        label const& name = where_.engines[engine_at].name;
        int user = -1;
        auto const use_by = [&](stage_id s, label const& on) {
            if (on != name || p.refused() || where_.engines[engine_at].per_core || p.plan.is_dealt_out(engine_at)) return;
            name_ = p.stage_at(s).output;
            if (user >= 0 && user != p.placed(s).core) refuse(rule::engine_of_all_cores, {}, name, where_.channels_of(engine_at));
            user = p.placed(s).core;
        };
        for (stage_id s{}; s < p.plan.stages.count; ++s) {
            if (p.nest_at(s).intrinsic >= 0) use_by(s, where_.intrinsics[p.nest_at(s).intrinsic].engine_name);
            if (p.placed(s).transfer >= 0) use_by(s, where_.transfers[p.placed(s).transfer].engine_name);
        }
        for (int at = 0; at < p.staging_count(); ++at) {
            staging const& st = p.staging_at(at);
            for (int by : {int{st.mover}, int{st.loader}, int{st.fill}}) {
                if (by >= 0) use_by(st.stage, where_.transfers[by].engine_name);
            }
        }
    }
    /// What a stage calls is there for all cores that run it.
    constexpr void check_parts() {
        for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
            ordinal_ = p.nest_at(s).intrinsic_ordinal;
            check_part(s, p.placed(s).path_length, p.nest_at(s).intrinsic, -1);
            ordinal_ = p.placed(s).transfer_ordinal;
            check_part(s, p.placed(s).path_length, -1, p.placed(s).transfer);
        }
        for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
            staging const& st = p.staging_at(at);
            ordinal_ = st.moved_by();
            for (int by : {int{st.mover}, int{st.loader}, int{st.fill}}) check_part(st.stage, st.depth, -1, by);
        }
    }
    constexpr void check_part(stage_id s, int depth, int intrinsic_at, int transfer_at) {
        planning::core_range const running = cores_of(p, s, depth);
        for (int core = running.first; core < running.end && !p.refused(); ++core) {
            bool const has_both = (intrinsic_at < 0 || intrinsic_on(where_, intrinsic_at, core) >= 0) &&
                                  (transfer_at < 0 || is_on(where_, where_.transfers[transfer_at].core_name, core));
            if (has_both) continue;
            label const& part = intrinsic_at < 0 ? where_.transfers[transfer_at].name : where_.intrinsics[intrinsic_at].name;
            verdict& v = p.refuse(verdict_kind::core_without_part, ordinal_);
            v.names = {p.stage_at(s).output, where_.core_at(core).name, part};
            v.facts = {fact{fact_kind::have, core}};
        }
    }
    /// What stands inside of the distributed loop at a position of the nest of stage `s`.
    constexpr void check_share(stage_id s, int position) {
        nest_axis const& a = p.nest_at(s).axis_of_loop(position);
        loop_ = a.variable, name_ = a.name, ordinal_ = a.marked_ordinal;
        int const depth = p.placed(s).outer_depth + position;
        if (share_depth(p, s, depth) > 0) return refuse(rule::distributed_twice, p.stage_at(s).output);
        for (stage_id t{}; t < p.plan.stages.count && !p.refused(); ++t) {
            bool const computed_inside = t != s && stands_inside(p, t, loop_, p.placed(t).outer_depth);
            if (t != s && !computed_inside) continue;
            if (computed_inside) keep_apart(p.placed(t).home);
            if (p.nest_at(t).intrinsic >= 0) check_engine(where_.intrinsics[p.nest_at(t).intrinsic].engine_name, p.stage_at(t).output);
            if (p.placed(t).transfer >= 0) check_transfer(p.placed(t).transfer, p.stage_at(t).output);
        }
        for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
            staging const& st = p.staging_at(at);
            if (!stands_inside(p, st.stage, loop_, st.depth)) continue;
            keep_apart(st.buffer);
            for (int by : {int{st.mover}, int{st.loader}, int{st.fill}}) {
                if (by >= 0) check_transfer(by, st.tensor);
            }
        }
    }
    constexpr void refuse(rule why, label const& about, label const& part = {}, std::int64_t number = 0) {
        verdict& v = p.refuse(verdict_kind::distribution, ordinal_);
        v.broken = why;
        v.names = {name_, about, part};
        v.facts = {fact{fact_kind::have, number}};
    }
    constexpr bool is_of_each_core(buffer const& b) const {
        memory const& m = where_.memories[b.memory];
        return m.per_core || m.registers > 0;
    }
    /// A buffer that is made inside is each core's own.
    constexpr void keep_apart(buffer_id buffer_at) {
        buffer const& b = p.buffer_at(buffer_at);
        if (b.kind != buffer_kind::argument && !is_of_each_core(b) && !p.refused())
            refuse(rule::copied_for_each_core, b.tensor, where_.memories[b.memory].name);
    }
    constexpr void check_transfer(int transfer_at, label const& tensor) {
        transfer_description const& t = where_.transfers[transfer_at];
        if (t.core_name.empty()) check_engine(t.engine_name, tensor);
    }
    constexpr void check_engine(label const& engine_name, label const& tensor) {
        int const at = where_.engines.find(engine_name);
        if (at < 0 || p.refused() || where_.engines[at].per_core) return;
        int const channels = where_.channels_of(at);
        if (channels < p.plan.cores) refuse(rule::engine_of_all_cores, tensor, engine_name, channels);
    }
    /// A buffer that is made outside, and that all cores use, is one that all of them see.
    constexpr void check_seen(buffer_id buffer_at, stage_id s) {
        if (p.refused() || buffer_at < 0) return;
        buffer const& b = p.buffer_at(buffer_at);
        if (b.kind == buffer_kind::argument || !is_of_each_core(b) || is_made_inside(buffer_at) || is_sent_to_all(p, buffer_at)) return;
        for (int position = 0; position < p.placed(s).path_length; ++position) {
            variable const& v = p.var(p.placed(s).path[position]);
            if (v.distributed) name_ = v.name;
        }
        ordinal_ = b.ordinal;
        refuse(rule::out_of_sight_of_cores, b.tensor, where_.memories[b.memory].name);
    }
    constexpr bool is_made_inside(buffer_id buffer_at) const {
        bool inside = false;
        for (int at = 0; at < p.staging_count(); ++at) {
            staging const& st = p.staging_at(at);
            if (st.buffer == buffer_at) inside |= share_depth(p, st.stage, st.depth) > 0;
        }
        for (stage_id t{}; t < p.plan.stages.count; ++t) {
            if (p.placed(t).home == buffer_at) inside |= share_depth(p, t, p.placed(t).outer_depth) > 0;
        }
        return inside;
    }

    writing& p;
    machine const& where_;
    variable_id loop_ = no_variable;
    label name_{};
    int ordinal_ = 0;
};

constexpr void place_cores(writing& p) { core_placer(p).run(); }

}  // namespace tilewright::detail
