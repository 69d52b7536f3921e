#pragma once
#include <tilewright/plan/write/intrinsic_steps.hpp>
#include <tilewright/plan/write/rings.hpp>

// Which engines depend on each other, and what orders them: tokens, interlocks, or waits of the core.
namespace tilewright::detail {

/// Who touches a buffer: the core, and engines whose jobs the core does not wait for at once.
struct agents {
    bool core = false;
    std::uint32_t engines = 0;  ///< a bit for each that computes
    std::uint32_t movers = 0;   ///< a bit for each that transfers

    constexpr agents& operator|=(agents const& others) {
        core |= others.core;
        engines |= others.engines;
        movers |= others.movers;
        return *this;
    }
    template <class Visit>
    constexpr void each_engine(Visit&& visit) const {
        each_of(engines | movers, visit);
    }
    template <class Visit>
    static constexpr void each_of(std::uint32_t some, Visit&& visit) {
        for (int engine = 0; some >> engine != 0; ++engine) {
            if ((some >> engine & 1) != 0) visit(engine);
        }
    }
};

constexpr bool has_asynchronous_intrinsics(machine const& where) {
    for (int at = 0; at < where.intrinsics.size(); ++at) {
        if (where.intrinsics[at].is_asynchronous) return true;
    }
    return false;
}

/// Who carries out the tile bodies of a stage, and what comes before them.
constexpr agents agents_of(planning const& p, stage_id s) {
    int const named = p.nest_at(s).intrinsic;
    machine const& where = p.of->where();
    if (named < 0 || !where.intrinsics[named].is_asynchronous) return {.core = true};
    agents who;
    who.engines = std::uint32_t{1} << where.engines.find(where.intrinsics[named].engine_name);
    matching found;
    if (!p.stage_at(s).reduces() || p.stage_at(s).continues || match_intrinsic(p, s, named, found)) return who;
    if (!accumulates(where.intrinsics[named], found.semantics)) return who;
    int const first = overwriting_form(p, s, named, found);
    if (first < 0) who.core = true;  // a transfer fills what the intrinsic accumulates into
    else if (where.intrinsics[first].engine_name != where.intrinsics[named].engine_name || !where.intrinsics[first].is_asynchronous)
        p.refuse(verdict_kind::intrinsic_mismatch, rule::first_form_elsewhere,
                 {where.intrinsics[named].name, p.stage_at(s).output, where.intrinsics[first].name}, p.nest_at(s).intrinsic_ordinal);
    return who;
}

/// Who touches a buffer, besides the transfers of staging `but`.
constexpr agents users_of(planning const& p, buffer_id buffer_at, int but = -1) {
    agents who;
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        bool mine = false;
        p.each_access(
            s, [&](node_id node) { mine |= p.plan.use_at(node)->buffer == buffer_at; }, true);
        if (mine) who |= agents_of(p, s);
    }
    for (int at = 0; at < p.staging_count(); ++at) {
        staging const& st = p.staging_at(at);
        if (at == but || st.outward != buffer_at) continue;
        for (int ring_at : {int{st.ring}, int{st.loader_ring}}) {
            if (ring_at >= 0) who.movers |= std::uint32_t{1} << p.ring_at(ring_at).engine;
        }
        who.core |= (st.mover >= 0 && st.ring < 0) || (st.loader >= 0 && st.loader_ring < 0);
    }
    return who;
}

constexpr bool is_interlocked(planning const& p, int engine_a, int engine_b) {
    return p.of->where().engines[engine_a].interlocked && p.of->where().engines[engine_b].interlocked;
}
/// The tokens that one engine gives to another; -1: none.
constexpr int tokens_between(machine const& where, int from, int to) {
    for (int at = 0; at < where.tokens.size(); ++at) {
        bool const leads = where.engines.find(where.tokens[at].from) == from && where.engines.find(where.tokens[at].to) == to;
        if (leads) return at;
    }
    return -1;
}

/// A link. It gets a queue of tokens that no other link uses, if there is one left.
constexpr int make_link(writing& p, int from, int to, int ring_at) {
    link made{.from = static_cast<std::int16_t>(from), .to = static_cast<std::int16_t>(to), .ring = static_cast<std::int16_t>(ring_at)};
    for (int at = 0; at < p.plan.links.count; ++at) {
        link const& l = p.plan.links[at];
        made.first_count = static_cast<std::int16_t>(l.first_count + (l.ring < 0 ? 1 : p.ring_at(l.ring).versions));
    }
    if (to >= 0) {
        made.tokens = static_cast<std::int16_t>(tokens_between(p.of->where(), from, to));
        int others = 0;
        for (int at = 0; at < p.plan.links.count; ++at) others += p.plan.links[at].tokens == made.tokens ? 1 : 0;
        int const queues = p.of->where().tokens[made.tokens].queue_count;
        made.queue = static_cast<std::int16_t>(others % queues);
        for (int at = 0; at < p.plan.links.count && others >= queues; ++at) {
            link& other = p.plan.links[at];
            if (other.tokens == made.tokens && other.queue == made.queue) other.shared = made.shared = true;
        }
    }
    return p.add(made);
}

/// The link of this kind that already stands for the two engines and another buffer, which the same engine moves in the same steps, one
/// load after the other. -1: none
constexpr int link_in_common(planning const& p, staging const& st, link_role is, int from, int to, int ring_at) {
    ring const& r = p.ring_at(ring_at);
    for (int which = 0; which < p.from.staged_links.size(); ++which) {
        staged_link const& l = p.from.staged_links[which];
        if (l.is != is) continue;
        staging const& other = p.staging_at(l.staging);
        link const& made = p.plan.links[l.link];
        ring const& of = p.ring_at(made.ring);
        bool const of_arguments =
            p.buffer_at(other.outward).kind == buffer_kind::argument && p.buffer_at(st.outward).kind == buffer_kind::argument;
        bool const alike = made.from == from && made.to == to && other.stage == st.stage && other.level == st.level && same_steps(of, r) &&
                           of.distance == r.distance && of_arguments;
        if (alike && (is == link_role::load_to_user || (is == link_role::user_to_load && of.versions == r.versions))) return which;
    }
    return -1;
}

/// Who writes the result of stage `s` to its place. A copy that brings it there is started and awaited by the core.
constexpr agents writers_of(planning const& p, stage_id s) {
    return p.plan.use_at(p.stage_at(s).target)->buffer == p.placed(s).home ? agents_of(p, s) : agents{.core = true};
}
/// The engines that read it there and are still at work when the next result is computed. At the end of a share, cores wait for them.
constexpr std::uint32_t late_readers_of(planning const& p, stage_id s) {
    bool const in_share = share_depth(p, s, p.placed(s).outer_depth) > 0;
    std::uint32_t engines = 0;
    for (stage_id t{}; t < p.plan.stages.count; ++t) {
        bool reads = false;
        p.each_access(t, [&](node_id node) { reads |= t != s && p.plan.use_at(node)->buffer == p.placed(s).home; });
        if (reads && (in_share || share_depth(p, t, p.placed(t).path_length) == 0)) engines |= agents_of(p, t).engines;
    }
    return engines & ~writers_of(p, s).engines;
}

/// Gives results of stages the versions that the schedule asks for: engines read one while the next is computed. They are linked with what
/// computes it. Where another core reads a result, signals say when its place is free.
constexpr void make_stage_rings(placing& p) {
    machine const& where = p.of->where();
    for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
        stage_placement& place = p.placed(s);
        if (place.store_versions == 1 || (place.level >= 0 && is_read_on_another_core(p, s))) continue;
        buffer& home = p.buffer_at(place.home);
        stage_id first{};  // of those whose results take turns in this place
        while (p.placed(first).home != place.home) first = stage_id(first + 1);
        agents const writers = writers_of(p, s);
        std::uint32_t const readers = late_readers_of(p, s);
        int const scope = share_depth(p, s, place.outer_depth);
        rule broken = rule::none;
        if (place.level < 0 || scope == place.outer_depth) broken = rule::versions_of_one_step;
        else if (first != s) broken = rule::versions_of_what_it_overwrites;
        else if (readers == 0) broken = rule::versions_of_a_blocking_reader;
        else if (home.ring >= 0) broken = rule::versions_of_what_overwrites_it;
        if (broken != rule::none) {
            return p.refuse(verdict_kind::versions_without_use, broken, {p.stage_at(s).output, p.stage_at(first).output},
                            place.store_versions_ordinal,
                            {fact{fact_kind::need, place.store_versions}, fact{fact_kind::have, home.versions}});
        }
        ring made{.buffer = place.home, .versions = place.store_versions};
        if (!count_steps(p, made, s, scope, place.outer_depth, p.stage_at(s).output, place.store_versions_ordinal)) return;
        place.ring = home.ring = static_cast<std::int16_t>(p.add(made));
        home.versions = place.store_versions;
        int const writer = writers.core ? -1 : __builtin_ctz(writers.engines);  // one instruction computes a stage
        for (int from = 0; readers >> from != 0 && !p.refused(); ++from) {
            if ((readers >> from & 1) == 0 || (writer >= 0 && is_interlocked(p, from, writer))) continue;
            int const to = writer >= 0 && tokens_between(where, from, writer) >= 0 ? writer : -1;
            p.add(staged_link{-1, link_role::reader_to_stage, static_cast<std::int16_t>(make_link(p, from, to, place.ring)), s});
        }
    }
}

/// Links what uses the staged buffers with the transfers that fill and empty them.
constexpr void make_links(placing& p) {
    machine const& where = p.of->where();
    make_stage_rings(p);
    if (!has_asynchronous_intrinsics(where)) return;
    fixed_array<agents, groundwork::most_stagings> users{};
    for (int at = 0; at < p.staging_count(); ++at) {
        staging& st = p.staging_at(at);
        users[at] = users_of(p, st.buffer, at);
        // The core waits for loads from where a stage computes before that stage runs again.
        bool const computed = !st.writes && p.producer_of(st.tensor) >= 0 && p.buffer_at(st.outward).kind != buffer_kind::argument;
        // What is moved outside of the shares is used in them by the engines of other cores, too, which no queue of one engine orders.
        bool const of_all = share_depth(p, st.stage, st.depth) == 0 && share_depth(p, st.stage, p.placed(st.stage).path_length) > 0;
        st.core_waits = users[at].core || computed || of_all;
    }
    for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
        staging& st = p.staging_at(at);
        int mover = -1;  // the engine at the other end of the links that are made
        // Channels of one engine are not in order with each other.
        auto const apart = [&](int user) {
            return (user != mover || where.engines[mover].has_channels()) && !is_interlocked(p, user, mover);
        };
        auto const add = [&](link_role is, int from, int to, int ring_at) {
            int const common = link_in_common(p, st, is, from, to, ring_at);
            if (common >= 0) {
                // After the last of the loads; before the first.
                if (is == link_role::load_to_user) p.from.staged_links[common].staging = static_cast<std::int16_t>(at);
                return;
            }
            int const made = make_link(p, from, to, ring_at);
            p.add(staged_link{static_cast<std::int16_t>(at), is, static_cast<std::int16_t>(made)});
        };
        // By tokens, or the core waits where the buffer is used.
        auto const to_user = [&](int user, link_role is, int ring_at) {
            if (apart(user) && tokens_between(where, mover, user) >= 0) add(is, mover, user, ring_at);
            else st.core_waits |= apart(user);
        };
        // By tokens, or through the core.
        auto const from_user = [&](int user, link_role is, int ring_at, bool to_core) {
            if (!to_core && !apart(user)) return;
            bool const by_tokens = !to_core && tokens_between(where, user, mover) >= 0;
            if (by_tokens || (users[at].engines >> user & 1) != 0) return add(is, user, by_tokens ? mover : -1, ring_at);
            // For the transfers of another staged buffer, the core waits there.
            for (int other = 0; other < p.staging_count(); ++other)
                p.staging_at(other).core_waits |= p.staging_at(other).outward == st.buffer;
        };
        auto const load = [&](int ring_at, bool anew) {
            mover = p.ring_at(ring_at).engine;
            bool const filled_by_core = is_filled_by_core(p, st);
            users[at].each_engine([&](int user) {
                to_user(user, link_role::load_to_user, ring_at);
                if (anew) from_user(user, link_role::user_to_load, ring_at, filled_by_core);
            });
        };
        if (st.loader_ring >= 0) load(st.loader_ring, false);
        if (st.ring >= 0 && !st.writes) load(st.ring, true);
        if (st.ring < 0 || !st.writes) continue;
        mover = p.ring_at(st.ring).engine;
        users[at].each_engine([&](int user) {
            from_user(user, link_role::user_to_store, st.ring, false);
            to_user(user, link_role::store_to_user, st.ring);
        });
        if (st.loader_ring >= 0) to_user(p.ring_at(st.loader_ring).engine, link_role::store_to_user, st.ring);
        else st.core_waits |= st.loader >= 0;
        // Loads into a buffer that an instruction then overwrites, and stores from there.
        for (int other = 0; other < p.staging_count(); ++other) {
            staging const& in = p.staging_at(other);
            if (in.buffer != st.buffer || in.writes) continue;
            if (in.ring >= 0) to_user(p.ring_at(in.ring).engine, link_role::store_to_user, st.ring);
            else st.core_waits = true;
        }
    }
}

}  // namespace tilewright::detail
