#pragma once
#include <tilewright/plan/loops/box.hpp>
#include <tilewright/plan/place/match.hpp>
#include <tilewright/plan/write/clipping.hpp>

// Stages that one transfer carries out: its semantics are what they compute.
namespace tilewright::detail {

/// A transfer whose semantics have two axes or more says from which source dimension each of the last destination dimensions comes.
constexpr int declared_source(transfer_description const& t, computation_view view, stage const& semantics, int semantic_node, int rank,
                              int dimension) {
    if (copies(t) || semantic_node < 0 || semantics.rank < 2 || dimension < rank - semantics.rank) return -1;
    int const axis = dimension - (rank - semantics.rank);
    for (int from = 0; from < view[semantic_node].argument_count; ++from) {
        if (index_of(view, semantics, semantic_node, from).coefficients[axis] != 0) return from + rank - semantics.rank;
    }
    return -1;
}

constexpr bool same_value(planning const& p, node_id node, computation_view view, node_id other, node_id& source_node,
                          node_id& semantic_node) {
    ir::node const& a = p.plan.what.nodes[node];
    ir::node const& b = view[other];
    if (a.op != b.op || a.type != b.type) return false;
    if (a.op == operation::access) {
        if (is_padded(p.plan.what, node)) return false;
        if (source_node >= 0 && !same_tree(p.plan.what, source_node, node)) return false;
        source_node = node;
        semantic_node = other;
        return true;
    }
    if (a.op == operation::axis_value || a.op == operation::parameter || a.value != b.value) return false;
    for (int argument = 0; argument < a.argument_count; ++argument) {
        if (!same_value(p, a.argument(argument), view, b.argument(argument), source_node, semantic_node)) return false;
    }
    return true;
}

/// Writes a stage that one transfer carries out, in every iteration of its own loops that the program holds.
class stage_transfer {
  public:
    constexpr stage_transfer(writing& p, stage_id s)
        : p_(p), s_(s), st_(p.stage_at(s)), place_(p.placed(s)), t_(p.of->where().transfers[p.placed(s).transfer]) {}

    constexpr void write() {
        r_.destination = place_.home;
        if (memory_under(where(), t_.destination) != p_.buffer_at(place_.home).memory)
            return refuse_memory(rule::other_destination, place_.home);
        find_source();
        if (!p_.refused()) check_gaps();
        for (int dimension = 0; dimension < st_.rank && !p_.refused(); ++dimension) add_dimension(dimension);
        if (p_.refused()) return;
        r_.count = st_.rank;
        if (r_.source >= 0) begin_source();
        for (int dimension = 0; dimension < st_.rank && p_.is_partial(); ++dimension) {
            std::int64_t const extent = clip_region(p_, touched_by(p_, s_, st_.target, dimension, depth(), 0), dimension, r_);
            if (place_.owned > 0) r_.dimensions[dimension].extent = extent;
        }
        move_now(p_, r_, place_.transfer, place_.transfer_ordinal);
    }

  private:
    constexpr machine const& where() const { return p_.of->where(); }
    /// How many loops stand around what one call moves.
    constexpr int depth() const { return place_.outer_depth + place_.owned; }
    constexpr void refuse(rule why) { p_.refuse(verdict_kind::transfer_mismatch, why, {t_.name, st_.output}, place_.transfer_ordinal); }
    constexpr void refuse_memory(rule why, int at) {
        p_.refuse(verdict_kind::transfer_mismatch, why, {t_.name, st_.output, where().memories[p_.buffer_at(at).memory].name},
                  place_.transfer_ordinal);
    }

    /// Reads what the semantics compute for an element, with its one source; without semantics, a copy.
    constexpr void find_source() {
        if (!copies(t_)) read_stage(where().view(t_.semantics), 0, semantics_);  // is well formed: the machine was checked
        if (st_.reduces() || st_.continues) return refuse(rule::a_reduction);
        if (copies(t_)) {
            if (p_.plan.what.nodes[st_.body].op != operation::access || is_padded(p_.plan.what, st_.body))
                return refuse(rule::another_value);
            source_node_ = st_.body;
        } else if (st_.type != semantics_.type) {
            return refuse(rule::another_type);
        } else if (!same_value(p_, st_.body, where().view(t_.semantics), semantics_.body, source_node_, semantic_node_)) {
            return refuse(rule::another_value);
        }
        if (source_node_ < 0) return;
        r_.source = p_.plan.use_at(source_node_)->buffer;
        if (memory_under(where(), t_.source) != p_.buffer_at(r_.source).memory) return refuse_memory(rule::other_source, r_.source);
        if (copies(t_) && p_.buffer_at(r_.source).type != st_.type) return refuse(rule::another_type);
    }
    constexpr void check_gaps() {
        coverage const moved_at_once = cover(p_, s_, depth());
        if (moved_at_once.computed == moved_at_once.spanned) return;
        p_.refuse(verdict_kind::loop_order, rule::gaps_between_outputs, {p_.nest_at(s_).axis_of_loop(place_.owned - 1).name, st_.output},
                  place_.transfer_ordinal, {fact{fact_kind::have, moved_at_once.computed}, fact{fact_kind::need, moved_at_once.spanned}});
    }

    constexpr void add_dimension(int dimension) {
        movement_dimension& moved = r_.dimensions[dimension];
        moved = {.extent = p_.nest_at(s_).axes[dimension].extent, .destination_dimension = static_cast<std::int8_t>(dimension)};
        if (place_.owned > 0) {
            range inside;
            split_at_level(p_, s_, place_in_box(p_, s_, st_.target, dimension, place_.home), depth(), r_.destination_at[dimension], inside);
            r_.destination_at[dimension].constant = inside.low;
            moved.extent = inside.high - inside.low + 1;
        }
        if (r_.source < 0) return;
        for (int from = 0; from < p_.plan.what.nodes[source_node_].argument_count; ++from) {
            std::int64_t const factor = index_of(p_.plan.what, st_, source_node_, from).coefficients[dimension];
            if (factor == 0) continue;
            if (factor < 0 || moved.source_dimension >= 0 || taken_[from]) return refuse(rule::another_pattern);
            taken_[from] = true;
            moved.source_dimension = static_cast<std::int8_t>(from);
            moved.source_factor = factor;
        }
        if (moved.source_dimension < 0 && moved.extent > 1) return refuse(rule::another_pattern);
        int const wanted = declared_source(t_, where().view(t_.semantics), semantics_, semantic_node_, st_.rank, dimension);
        if (wanted >= 0 ? wanted != moved.source_dimension : (moved.source_dimension >= 0 && moved.source_dimension < previous_))
            return refuse(rule::another_order);
        if (moved.source_dimension >= 0) previous_ = moved.source_dimension;
    }
    /// The region begins where all loops of one call are at 0.
    constexpr void begin_source() {
        for (int from = 0; from < box_rank(p_, p_.buffer_at(r_.source)); ++from) {
            linear outside;
            range inside;
            linear const at = place_in_box(p_, s_, source_node_, from, r_.source);
            split_at_level(p_, s_, at, depth(), outside, inside);
            outside.constant = at.constant;
            r_.source_at[from] = outside;
        }
    }

    writing& p_;
    stage_id s_;
    stage const& st_;
    stage_placement const& place_;
    transfer_description const& t_;
    stage semantics_{};                                        // of the transfer
    node_id source_node_ = no_node, semantic_node_ = no_node;  // the source in the stage, and in the semantics
    region r_{};
    fixed_array<bool, max_rank> taken_{};  // dimensions of the source
    int previous_ = -1;                    // the last of them
};

constexpr void transfer_stage(writing& p, stage_id s) { stage_transfer(p, s).write(); }

}  // namespace tilewright::detail
