#pragma once
#include <tilewright/plan/box.hpp>
#include <tilewright/plan/match.hpp>
#include <tilewright/plan/movement.hpp>

// Writes the loop program, stage by stage, from the outermost loop inwards.
namespace tilewright::detail {

constexpr std::int64_t trips(planning const& p, std::array<std::int16_t, body::most_loops> const& loops, int count, bool pure_only = false) {
    std::int64_t total = 1;
    for (int at = 0; at < count; ++at) {
        variable const& v = p.var(loops[static_cast<std::size_t>(at)]);
        if (!pure_only || !v.reduction) total *= v.extent;
    }
    return total;
}

constexpr void count_operations(planning const& p, int at, operation_counts& counts) {
    node const& n = p.plan.what[at];
    using enum operation;
    switch (n.op) {
        case access: ++counts.load; return;
        case constant:
        case parameter:
        case axis_value: return;
        case multiply: ++counts.multiply; break;
        case divide:
        case modulo: ++counts.divide; break;
        case cast: ++counts.convert; break;
        default: ++counts.arithmetic; break;
    }
    for (int argument = 0; argument < n.argument_count; ++argument) count_operations(p, n.argument(argument), counts);
}

/// Buffers that a body which stays code touches must be visible to the host.
constexpr void touch_from_code(planning& p, int s, bool reads) {
    p.each_access(s, [&](int node) {
        use const* u = p.plan.use_at(node);
        if (p.refused() || u == nullptr || (!reads && node != p.stage_at(s).target)) return;
        buffer& b = p.buffer_at(u->buffer);
        memory const& m = p.of->where().memories[b.memory];
        b.code_access = true;
        if (!m.host_visible) p.refuse(verdict_kind::host_access, b.ordinal).names = {m.name, b.tensor};
    }, true);
}

/// The identity of maximum (the lowest value) or of minimum (the highest), as a constant node holds it.
constexpr std::int64_t lowest_or_highest(scalar_type type, bool lowest) {
    return visit_scalar(type, [lowest]<class T>(T) {
        using limits = std::numeric_limits<T>;
        if constexpr (std::is_floating_point_v<T>) return std::bit_cast<std::int64_t>(static_cast<double>(lowest ? -limits::infinity() : limits::infinity()));
        else return static_cast<std::int64_t>(lowest ? limits::lowest() : limits::max());
    });
}

class program_writer {
  public:
    constexpr explicit program_writer(planning& planned) : p(planned) {}


    /// Writes a stage that stands in no other one's loops, with what is staged around it.
    constexpr void write_root(int s) {
        if (p.placed(s).transfer < 0) return write_loops(s, 0);
        open_level(s, -1);
        if (!p.refused()) transfer_stage(s);
        close_level(s, -1);
    }

  private:
    /// What stands first inside the loop `level` (-1: in front of the root stage `t`): copies into buffers that live there, and producers.
    constexpr void open_level(int t, int level) {
        for (int at = 0; at < p.staging_count; ++at) {
            if (p.producer_of(p.staging_at(at).tensor) < 0 || p.staging_at(at).writes) load(at, t, level);
        }
        for (int s = 0; s < p.plan.stage_count && !p.refused(); ++s) {
            for (int at = 0; at < p.staging_count; ++at) {
                staging const& st = p.staging_at(at);
                if (st.stage == s && !st.writes && p.producer_of(st.tensor) >= 0) load(at, t, level);
            }
            if (p.placed(s).at_stage < 0 || p.placed(s).level != level) continue;
            p.placed(s).transfer >= 0 ? transfer_stage(s) : write_loops(s, 0);
            close_level(s, level);
        }
    }
    /// The copies out of buffers that live inside the loop `level`.
    constexpr void close_level(int t, int level) {
        for (int at = p.staging_count - 1; at >= 0 && !p.refused(); --at) {
            staging const& st = p.staging_at(at);
            // What a stage computes at the level of another one is stored right behind it, before that one reads it.
            bool const mine = st.stage == t || p.placed(st.stage).at_stage < 0 || p.placed(st.stage).level != level;
            if (st.writes && mine && stands_at(st, t, level)) move(st, st.buffer, st.outward);
        }
    }

    constexpr machine const& where() const { return p.of->where(); }
    constexpr int root_of(int s) const {
        while (p.placed(s).at_stage >= 0) s = p.placed(s).at_stage;
        return s;
    }
    constexpr bool stands_at(staging const& st, int t, int level) const {
        return st.level == level && (level >= 0 || root_of(st.stage) == t);
    }
    constexpr void load(int at, int t, int level) {
        staging const& st = p.staging_at(at);
        if (p.refused() || !stands_at(st, t, level)) return;
        if (!st.writes) return move(st, st.outward, st.buffer);
        if (p.stage_at(st.stage).continues) move(st, st.outward, st.buffer, -1);
    }

    /// The box of a staged buffer, between it and the buffer that it is a part of.
    constexpr void move(staging const& st, int source, int destination) { move(st, source, destination, st.transfer); }
    constexpr void move(staging const& st, int source, int destination, int named) {
        buffer const staged = p.buffer_at(st.buffer);
        int const transfer_at = choose_transfer(p, st.tensor, p.buffer_at(source).memory, p.buffer_at(destination).memory, named,
                                                named >= 0 ? st.transfer_ordinal : st.ordinal);
        if (transfer_at < 0) return;
        region r{.source = source, .destination = destination};
        for (int dimension = 0; dimension < staged.rank; ++dimension) {
            auto const d = static_cast<std::size_t>(dimension);
            r.dimensions[d] = {staged.extents[d], static_cast<std::int8_t>(dimension), static_cast<std::int8_t>(dimension)};
            linear outward_at = p.form_of(p.box_at[static_cast<std::size_t>(st.buffer)][d]);
            outward_at.add(p.form_of(p.box_at[static_cast<std::size_t>(st.outward)][d]), -1);
            (st.outward == source ? r.source_at : r.destination_at)[d] = outward_at;
        }
        r.count = staged.rank;
        move_region(p, r, transfer_at, st.transfer >= 0 ? st.transfer_ordinal : st.ordinal);
    }

    /// A stage that one transfer carries out.
    constexpr void transfer_stage(int s) {
        stage const& st = p.stage_at(s);
        stage_placement const& place = p.placed(s);
        transfer_description const& t = where().transfers[place.transfer];
        int const home = place.home;
        auto const refuse = [&](rule why) { p.refuse(verdict_kind::transfer_mismatch, why, {t.name, st.output}, place.transfer_ordinal); };
        auto const refuse_memory = [&](rule why, int at) {
            p.refuse(verdict_kind::transfer_mismatch, why, {t.name, st.output, where().memories[p.buffer_at(at).memory].name}, place.transfer_ordinal);
        };
        if (where().memories.find(t.destination) != p.buffer_at(home).memory) return refuse_memory(rule::other_destination, home);
        // What the semantics compute for an element, with its one source; without semantics, a copy.
        stage semantics;
        computation_view const view = where().view(t.semantics);
        if (!copies(t)) read_stage(view, 0, semantics);  // is well formed: the machine was checked
        int source_node = -1, semantic_node = -1;
        if (st.reduces() || st.continues) return refuse(rule::a_reduction);
        if (copies(t)) {
            if (p.plan.what[st.body].op != operation::access) return refuse(rule::another_value);
            source_node = st.body;
        } else if (st.type != semantics.type) {
            return refuse(rule::another_type);
        } else if (!same_value(st.body, view, semantics.body, source_node, semantic_node)) {
            return refuse(rule::another_value);
        }
        region r{.source = source_node < 0 ? -1 : p.plan.use_at(source_node)->buffer, .destination = home};
        if (r.source >= 0) {
            if (where().memories.find(t.source) != p.buffer_at(r.source).memory) return refuse_memory(rule::other_source, r.source);
            if (copies(t) && p.buffer_at(r.source).type != st.type) return refuse(rule::another_type);
        }
        nest const& n = p.nest_at(s);
        std::array<bool, max_rank> taken{};
        int previous = -1;
        for (int dimension = 0; dimension < st.rank; ++dimension) {
            auto const d = static_cast<std::size_t>(dimension);
            movement_dimension& moved = r.dimensions[d];
            moved = {.extent = n.axes[d].extent, .destination_dimension = static_cast<std::int8_t>(dimension)};
            if (r.source < 0) continue;
            for (int from = 0; from < p.plan.what[source_node].argument_count; ++from) {
                std::int64_t const factor = index_of(p.plan.what, st, source_node, from).coefficients[d];
                if (factor == 0) continue;
                if (factor < 0 || moved.source_dimension >= 0 || taken[static_cast<std::size_t>(from)]) return refuse(rule::another_pattern);
                taken[static_cast<std::size_t>(from)] = true;
                moved.source_dimension = static_cast<std::int8_t>(from);
                moved.source_factor = factor;
            }
            if (moved.source_dimension < 0 && moved.extent > 1) return refuse(rule::another_pattern);
            int const wanted = previous_allowed(t, view, semantics, semantic_node, st.rank, dimension);
            if (wanted >= 0 ? wanted != moved.source_dimension : (moved.source_dimension >= 0 && moved.source_dimension < previous)) {
                return refuse(rule::another_order);
            }
            if (moved.source_dimension >= 0) previous = moved.source_dimension;
        }
        r.count = st.rank;
        if (r.source >= 0) {
            use const& u = *p.plan.use_at(source_node);
            for (int from = 0; from < p.buffer_at(r.source).rank; ++from) {
                // The region begins where all of the stage's own loops are at 0.
                linear outside;
                range inside;
                linear const at = p.form_of(u.at[static_cast<std::size_t>(from)]);
                split_at_level(p, s, at, place.outer_depth, outside, inside);
                outside.constant = at.constant;
                r.source_at[static_cast<std::size_t>(from)] = outside;
            }
        }
        move_region(p, r, place.transfer, place.transfer_ordinal);
    }
    /// A transfer whose semantics have two axes or more says which source dimension each of the last destination dimensions comes from.
    constexpr int previous_allowed(transfer_description const& t, computation_view view, stage const& semantics, int semantic_node, int rank, int dimension) const {
        if (copies(t) || semantic_node < 0 || semantics.rank < 2 || dimension < rank - semantics.rank) return -1;
        int const axis = dimension - (rank - semantics.rank);
        for (int from = 0; from < view[semantic_node].argument_count; ++from) {
            if (index_of(view, semantics, semantic_node, from).coefficients[static_cast<std::size_t>(axis)] != 0) return from + rank - semantics.rank;
        }
        return -1;
    }
    constexpr bool same_value(int node, computation_view view, int other, int& source_node, int& semantic_node) const {
        tilewright::node const& a = p.plan.what[node];
        tilewright::node const& b = view[other];
        if (a.op != b.op || a.type != b.type) return false;
        if (a.op == operation::access) {
            if (source_node >= 0 && !same_tree(p.plan.what, source_node, node)) return false;
            source_node = node;
            semantic_node = other;
            return true;
        }
        if (a.op == operation::axis_value || a.op == operation::parameter || a.value != b.value) return false;
        for (int argument = 0; argument < a.argument_count; ++argument) {
            if (!same_value(a.argument(argument), view, b.argument(argument), source_node, semantic_node)) return false;
        }
        return true;
    }

    constexpr void write_loops(int s, int depth) {
        nest const& n = p.nest_at(s);
        int const level = depth > 0 ? n.axis_of_loop(depth - 1).variable : p.placed(s).at_stage >= 0 ? -2 : -1;
        if (level != -2) open_level(s, level);
        if (p.refused()) return;
        if (depth == identity_depth(s)) write_identity(s, depth);
        if (depth < p.placed(s).owned) {
            nest_axis const& a = n.axis_of_loop(depth);
            if (a.vectorized) {
                return p.refuse(verdict_kind::loop_order, rule::vectorized_around_steps, {a.name}, a.marked_ordinal);
            }
            p.add(step_kind::loop, a.variable);
            write_loops(s, depth + 1);
            p.add(step_kind::end, a.variable);
        } else {
            n.intrinsic >= 0 ? write_intrinsic(s) : write_code(s);
        }
        if (level != -2) close_level(s, level);
    }

    /// The outermost reduction loop, when it is a loop of the program: in front of it the identity is written. -1: the body does both.
    constexpr int first_reduction(int s) const {
        nest const& n = p.nest_at(s);
        if (!p.stage_at(s).reduces() || p.stage_at(s).continues) return -1;
        for (int depth = 0; depth < p.placed(s).owned; ++depth) {
            if (n.axis_of_loop(depth).reduction) return depth;
        }
        return -1;
    }

    /// Where the identity is written. An instruction that continues needs it even where no loop of the program reduces.
    constexpr int identity_depth(int s) const {
        int const reduction = first_reduction(s);
        bool const by_steps = p.nest_at(s).intrinsic >= 0 && p.stage_at(s).reduces() && !p.stage_at(s).continues;
        return reduction < 0 && by_steps ? p.placed(s).owned : reduction;
    }

    constexpr void write_identity(int s, int depth) {
        nest const& n = p.nest_at(s);
        if (n.intrinsic >= 0) return write_fill(s, depth);
        body b{.kind = body_kind::identity, .stage = static_cast<std::int16_t>(s)};
        for (int position = depth; position < n.depth; ++position) {
            if (!n.axis_of_loop(position).reduction) b.loops[static_cast<std::size_t>(b.loop_count++)] = n.axis_of_loop(position).variable;
        }
        b.counts.store = 1;
        b.cycles = cycles_of_code(s, b, b.loop_count);
        touch_from_code(p, s, false);
        p.add(step_kind::compute, p.add(b));
    }

    constexpr std::int64_t cycles_of_code(int s, body const& b, int loop_count) {
        double const once = static_cast<double>(cycles_of(b.counts, where().host().costs));
        return p.limited(static_cast<double>(trips(p, b.loops, loop_count)) * once, plan_value::most_total, "cycles", p.stage_at(s).output);
    }

    constexpr void write_code(int s) {
        nest const& n = p.nest_at(s);
        stage const& st = p.stage_at(s);
        int const owned = p.placed(s).owned;
        body b{.stage = static_cast<std::int16_t>(s)};
        b.kind = !st.reduces() ? body_kind::value : st.continues || first_reduction(s) >= 0 ? body_kind::update : body_kind::reduction;
        for (int position = owned; position < n.depth; ++position) b.loops[static_cast<std::size_t>(b.loop_count++)] = n.axis_of_loop(position).variable;
        count_operations(p, st.body, b.counts);
        b.counts.store += 1;
        if (st.reduces()) b.counts.load += 1, b.counts.arithmetic += 1;
        b.cycles = cycles_of_code(s, b, b.loop_count);
        if (b.kind == body_kind::reduction) b.cycles += trips(p, b.loops, b.loop_count, true) * where().host().costs.store;
        touch_from_code(p, s, true);
        p.add(step_kind::compute, p.add(b));
    }

    constexpr void refuse_mismatch(int s, int intrinsic_at, mismatch const& wrong) {
        verdict& v = p.refuse(wrong.kind, p.nest_at(s).intrinsic_ordinal);
        v.broken = wrong.broken;
        v.names = {where().intrinsics[intrinsic_at].name, p.stage_at(s).output, wrong.about, wrong.other};
        if (wrong.kind == verdict_kind::intrinsic_mismatch && wrong.other.empty()) {
            v.facts[0] = {fact_kind::in_stage, wrong.stage_value};
            if (!wrong.one_number) v.facts[1] = {fact_kind::in_intrinsic, wrong.intrinsic_value};
        }
    }

    /// The operands of an intrinsic that lies on stage `s` as `found` says; checks their memories, strides and alignment.
    /// @return the first of them in the plan
    constexpr int keep_operands(int s, int intrinsic_at, matching const& found) {
        intrinsic_description const& what = where().intrinsics[intrinsic_at];
        int first = -1;
        for (int position = 0; position < what.operand_count && !p.refused(); ++position) {
            operand_constraint const& wanted = what.operands[static_cast<std::size_t>(position)];
            int const binding = found.find(wanted.tensor);
            if (binding < 0) {
                p.refuse(verdict_kind::invalid_part, rule::operand_not_in_semantics, {what.name, wanted.tensor}, p.nest_at(s).intrinsic_ordinal);
                return -1;
            }
            use const& u = *p.plan.use_at(found.nodes[static_cast<std::size_t>(binding)]);
            buffer& b = p.buffer_at(u.buffer);
            if (where().memories[b.memory].name != wanted.memory_name) {
                p.refuse(verdict_kind::operand_memory, p.nest_at(s).intrinsic_ordinal).names = {what.name, b.tensor, where().memories[b.memory].name, wanted.memory_name};
                return -1;
            }
            operand_use o{.buffer = u.buffer, .dimension = found.dimension[static_cast<std::size_t>(binding)], .factor = found.factor[static_cast<std::size_t>(binding)]};
            std::array<linear, max_rank> at{};
            for (int dimension = 0; dimension < b.rank; ++dimension) {
                linear const whole = p.form_of(u.at[static_cast<std::size_t>(dimension)]);
                linear& base = at[static_cast<std::size_t>(dimension)];
                base.constant = whole.constant;
                for (int t = 0; t < whole.count; ++t) {
                    term const& part = whole.terms[static_cast<std::size_t>(t)];
                    if (p.var(part.variable).kind != variable_kind::lane) base.add(part.coefficient, part.variable);
                }
                o.at[static_cast<std::size_t>(dimension)] = p.keep(base);
            }
            region_fault const fault = align(p, b, at, what.address_alignment);
            if (fault) {
                refuse_mismatch(s, intrinsic_at, differs(rule::operand_not_aligned, wanted.tensor, fault.value, fault.limit));
                return -1;
            }
            int const rank = p.plan.what[found.nodes[static_cast<std::size_t>(binding)]].argument_count;
            for (int dimension = 0; dimension < max_rank; ++dimension) {
                int const along = o.dimension[static_cast<std::size_t>(dimension)];
                if (along < 0 || along == rank - 1) continue;
                std::int64_t const stride = b.stride(along) * o.factor[static_cast<std::size_t>(dimension)];
                if (b.kind == buffer_kind::argument) b.stride_multiple = p.common_multiple(b.stride_multiple, what.stride_alignment, b.tensor);
                else if (stride % what.stride_alignment != 0) {
                    refuse_mismatch(s, intrinsic_at, differs(rule::stride_not_a_multiple, wanted.tensor, stride, what.stride_alignment));
                    return -1;
                }
            }
            int const kept = p.add(o);
            if (first < 0) first = kept;
        }
        return first;
    }

    /// The intrinsic that does what the named one does but overwrites, for the first step of a reduction; -1: none.
    constexpr int overwriting_form(int s, int named, matching& found) {
        for (int at = 0; at < where().intrinsics.size(); ++at) {
            if (at == named) continue;
            matching trial;
            if (match_intrinsic(p, s, at, trial, purpose::decide)) continue;
            if (accumulates(where().intrinsics[at], trial.semantics) || trial.semantics.continues) continue;
            bool same_extents = trial.semantics.axis_count == found.semantics.axis_count;
            for (int axis = 0; axis < p.nest_at(s).covered_count && same_extents; ++axis) {
                nest_axis const& loop = p.nest_at(s).axes[static_cast<std::size_t>(trial.loop_of_axis[static_cast<std::size_t>(axis)])];
                same_extents = trial.semantics.axes[static_cast<std::size_t>(axis)].extent == loop.lane_extent;
            }
            if (!same_extents) continue;
            found = trial;
            return at;
        }
        return -1;
    }

    constexpr void write_intrinsic(int s) {
        nest const& n = p.nest_at(s);
        stage const& st = p.stage_at(s);
        matching found;
        mismatch const wrong = match_intrinsic(p, s, n.intrinsic, found);
        if (wrong) return refuse_mismatch(s, n.intrinsic, wrong);
        body b{.kind = body_kind::intrinsic, .stage = static_cast<std::int16_t>(s), .intrinsic = n.intrinsic};
        b.cycles = where().intrinsics[n.intrinsic].cost_cycles;
        b.operands = static_cast<std::int16_t>(keep_operands(s, n.intrinsic, found));
        bool const adds = accumulates(where().intrinsics[n.intrinsic], found.semantics);
        for (int position = 0; position < n.depth; ++position) {
            nest_axis const& a = n.axis_of_loop(position);
            if (a.reduction && p.var(a.variable).extent > 1) b.first_loops[static_cast<std::size_t>(b.first_loop_count++)] = a.variable;
        }
        if (st.reduces() && !adds && (b.first_loop_count > 0 || st.continues)) {
            std::int64_t steps = 1;
            for (int position = 0; position < b.first_loop_count; ++position) steps *= p.var(b.first_loops[static_cast<std::size_t>(position)]).extent;
            return refuse_mismatch(s, n.intrinsic, only_in_stage(st.continues ? rule::overwriting_what_continues : rule::overwriting_every_step, found.semantics.output, steps));
        }
        if (adds && !st.continues && !filled_[static_cast<std::size_t>(s)]) {
            b.first_intrinsic = static_cast<std::int16_t>(overwriting_form(s, n.intrinsic, found));
            if (b.first_intrinsic < 0) {
                p.refuse(verdict_kind::missing_first_form, n.intrinsic_ordinal).names = {where().intrinsics[n.intrinsic].name, st.output};
                return;
            }
            b.first_cycles = where().intrinsics[b.first_intrinsic].cost_cycles;
            b.first_operands = static_cast<std::int16_t>(keep_operands(s, b.first_intrinsic, found));
        } else {
            b.first_loop_count = 0;
        }
        p.add(step_kind::compute, p.add(b));
    }

    /// In front of a reduction that an intrinsic continues: when no intrinsic overwrites, a transfer that fills with the identity.
    constexpr void write_fill(int s, int depth) {
        nest const& n = p.nest_at(s);
        stage const& st = p.stage_at(s);
        matching found;
        if (match_intrinsic(p, s, n.intrinsic, found) || !accumulates(where().intrinsics[n.intrinsic], found.semantics)) return;
        if (overwriting_form(s, n.intrinsic, found) >= 0) return;
        use const& target = *p.plan.use_at(st.target);
        for (int at = 0; at < where().transfers.size(); ++at) {
            transfer_description const& t = where().transfers[at];
            if (copies(t) || where().memories.find(t.destination) != p.buffer_at(target.buffer).memory) continue;
            computation_view const view = where().view(t.semantics);
            stage semantics;
            if (read_stage(view, 0, semantics) || semantics.type != st.type || semantics.reduces()) continue;
            if (view[semantics.body].op != operation::constant || !is_identity(view[semantics.body], st.reduction, st.type)) continue;
            coverage const filled = cover(p, s, p.placed(s).outer_depth + depth);
            if (filled.computed != filled.spanned) {
                p.refuse(verdict_kind::loop_order, rule::gaps_between_outputs, {n.axis_of_loop(depth).name, st.output}, n.intrinsic_ordinal);
                p.plan.refusal.facts = {fact{fact_kind::have, filled.computed}, fact{fact_kind::need, filled.spanned}};
                return;
            }
            region r{.destination = target.buffer};
            for (int dimension = 0; dimension < st.rank; ++dimension) {
                auto const d = static_cast<std::size_t>(dimension);
                range inside;
                linear const form = p.form_of(target.at[d]);
                int const outside = p.placed(s).outer_depth + depth;
                if (!split_at_level(p, s, form, outside, r.destination_at[d], inside)) return refuse_box(p, st.output, dimension, s, outside, n.intrinsic_ordinal);
                r.destination_at[d].constant = inside.low;
                r.dimensions[d] = {.extent = inside.high - inside.low + 1, .destination_dimension = static_cast<std::int8_t>(dimension)};
            }
            r.count = st.rank;
            filled_[static_cast<std::size_t>(s)] = true;
            return move_region(p, r, at, n.intrinsic_ordinal);
        }
    }
    static constexpr bool is_identity(node const& constant, operation reduction, scalar_type type) {
        if (reduction == operation::reduce_sum) return constant.value == 0;
        return constant.value == lowest_or_highest(type, reduction == operation::reduce_maximum);
    }

    planning& p;
    std::array<bool, plan_value::most_stages> filled_{};
};

}  // namespace tilewright::detail
