#pragma once
#include <tilewright/plan/loops/level.hpp>

// Transfers that write to the memories of all cores at once.
namespace tilewright::detail {

/// Whether all that is written to a buffer is brought to every core by multicasts.
constexpr bool is_sent_to_all(planning const& p, buffer_id buffer_at) {
    auto const& transfers = p.of->where().transfers;
    bool sent = false, others = false;
    auto const note = [&](bool multicast) { (multicast ? sent : others) = true; };
    for (int at = 0; at < p.staging_count(); ++at) {
        staging const& st = p.staging_at(at);
        if (st.buffer == buffer_at) note(!st.writes && transfers[st.mover].is_multicast);
    }
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        int const by = p.placed(s).transfer;
        if (p.placed(s).home == buffer_at) note(by >= 0 && transfers[by].is_multicast);
    }
    return sent && !others;
}

/// Checks that what one call brings to all cores is the same for all, and that it is brought while none of them is in its share.
class multicast_checker {
  public:
    constexpr explicit multicast_checker(planning const& planned) : p(planned), where_(planned.of->where()) {}

    constexpr void run() const {
        for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
            staging const& st = p.staging_at(at);
            for (int by : {int{st.mover}, int{st.loader}}) check(by, st.stage, st.depth, {st.tensor, st.moved_by(), is_shared(st.stage)});
        }
        for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
            brought what{p.stage_at(s).output, p.placed(s).transfer_ordinal};
            for (stage_id t{}; t < p.plan.stages.count; ++t) what.used_in_shares |= is_shared(t) && p.reads(t, what.tensor);
            check(p.placed(s).transfer, s, p.placed(s).outer_depth, what);
        }
    }

  private:
    struct brought {
        label tensor{};
        int ordinal = 0;  ///< of the directive
        bool used_in_shares = false;
    };
    constexpr bool is_shared(stage_id s) const { return share_depth(p, s, p.placed(s).path_length) > 0; }
    /// @param depth  how many loops of stage `s` stand around the transfer
    constexpr void check(int transfer_at, stage_id s, int depth, brought const& what) const {
        if (transfer_at < 0 || !where_.transfers[transfer_at].is_multicast || p.refused()) return;
        transfer_description const& t = where_.transfers[transfer_at];
        auto const refuse = [&](rule why, label const& loop, fixed_array<fact, 4> const& facts) {
            p.refuse(verdict_kind::multicast, why, {t.name, what.tensor, loop}, what.ordinal, facts);
        };
        if (int const share = share_depth(p, s, depth); share > 0) {
            variable_id const loop = p.placed(s).path[share - 1];
            tile_step const from_core_to_core = step_of_tiles(loop, s, what.tensor);
            fact const cores{fact_kind::need, p.plan.cores};
            if (from_core_to_core.elements == 0) return refuse(rule::multicast_in_a_share, p.var(loop).name, {cores});
            return refuse(
                rule::tiles_of_cores, p.var(loop).name,
                {fact{fact_kind::dimension, from_core_to_core.dimension}, fact{fact_kind::from, from_core_to_core.elements}, cores});
        }
        if (!what.used_in_shares) return refuse(rule::multicast_for_one_core, {}, {});
        bool told = false;
        each_call(where_, t, [&](device_call const& call) {
            for (int at = 0; at < call.count; ++at) told |= call.arguments[at].is == role::cores;
        });
        if (!told && p.plan.cores < where_.core_count())
            refuse(rule::multicast_to_more_cores, {}, {fact{fact_kind::have, p.plan.cores}, fact{fact_kind::limit, where_.core_count()}});
    }
    struct tile_step {
        int dimension = 0;
        std::int64_t elements = 0;
    };
    /// How far the tile of a core begins after that of the core before.
    constexpr tile_step step_of_tiles(variable_id loop, stage_id s, label const& tensor) const {
        tile_step found;
        p.each_access(s, [&](node_id at) {
            ir::node const& n = p.plan.what.nodes[at];
            for (int d = 0; d < n.argument_count && n.name == tensor && found.elements == 0; ++d)
                found = {d, p.index_form(s, at, d).coefficient_of(loop)};
        });
        return found;
    }

    planning const& p;
    machine const& where_;
};

constexpr void check_multicasts(planning const& p) { multicast_checker(p).run(); }

}  // namespace tilewright::detail
