#pragma once
#include <tilewright/plan/write/border_fills.hpp>
#include <tilewright/plan/write/code_steps.hpp>
#include <tilewright/plan/write/signals.hpp>
#include <tilewright/plan/write/transfer_stage.hpp>

// Writes the loop program, stage by stage, from the outermost loop inwards.
namespace tilewright::detail {

class program_writer : core_signals {
  public:
    constexpr explicit program_writer(writing& planned) : core_signals(planned) {}

    /// Writes a stage that stands in no other one's loops, with what is staged around it.
    constexpr void write_root(stage_id s) {
        write_loops(s, 0);
        order_behind(s, true);
        hand_over(s);
    }

  private:
    /// Writes what stands first inside the loop `level` (-1: before the root stage `t`): copies into buffers that live there, and
    /// producers.
    constexpr void open_level(stage_id t, int level) {
        int const stagings = p.staging_count();
        for (int at = 0; at < stagings; ++at) {
            // The version that is written next is free when it has been stored.
            staging const& st = p.staging_at(at);
            if (!st.writes || st.ring < 0 || !stands_at(st, t, level)) continue;
            int const back = loaded_ahead(p, st.buffer) - st.versions;
            p.write_for(st.stage);
            if (st.core_waits) wait(step_of(p, st.ring, back));
            pass(at, link_role::store_to_user, step_kind::pop, step_of(p, st.ring, back));
        }
        for (stage_id s{}; s < p.plan.stages.count; ++s) {
            if (is_made_at(s, t, level) && shares_its_place(s)) take_back(s);
        }
        auto const first = [&](staging const& st) { return p.producer_of(st.tensor) < 0 || st.writes; };
        int started = 0;
        auto const wait_up_to = [&](int end) {
            for (; started < end; ++started) {
                if (first(p.staging_at(started))) wait_for_load(started, t, level);
            }
        };
        for (int at = 0; at < stagings; ++at) {
            if (!first(p.staging_at(at))) continue;
            // A load from a buffer of the same level comes after that buffer is loaded.
            if (is_loaded_here(p.staging_at(at).outward, t, level)) wait_up_to(at);
            load(at, t, level);
        }
        wait_up_to(stagings);
        for (stage_id s{}; s < p.plan.stages.count && !p.refused(); ++s) {
            for (int at = 0; at < stagings; ++at) {
                staging const& st = p.staging_at(at);
                if (st.stage == s && !st.writes && p.producer_of(st.tensor) >= 0) load(at, t, level), wait_for_load(at, t, level);
            }
            if (p.placed(s).at_stage < 0 || p.placed(s).level != level) continue;
            p.write_for(s);
            if (level >= 0) order_before(s);
            if (!shares_its_place(s)) take_back(s);
            write_loops(s, 0);
            close_level(s, level, true);
            p.write_for(s);
            order_behind(s, false);
            hand_over(s);
        }
    }
    /// Writes the copies out of buffers that live inside the loop `level`.
    constexpr void close_level(stage_id t, int level, bool producer = false) {
        for (int at = p.staging_count() - 1; at >= 0 && !p.refused(); --at) {
            staging const& st = p.staging_at(at);
            // What a stage computes at the level of another stage is stored right after it, before the other stage reads it.
            bool const mine = st.stage == t || (!producer && p.placed(st.stage).level != level);
            if (!st.writes || !mine || !stands_at(st, t, level)) continue;
            p.write_for(st.stage);
            if (st.ring < 0) {
                if (computes_aside_) drain(users_of(p, st.buffer, at));
                move(st, st.buffer, st.outward, st.mover, {});
                continue;
            }
            ring_step const now = step_of(p, st.ring, 0);
            pass(at, link_role::user_to_store, step_kind::push, now);
            pass(at, link_role::user_to_store, step_kind::pop, now);
            move(st, st.buffer, st.outward, st.mover, now);
            pass(at, link_role::store_to_user, step_kind::push, now, st.versions - loaded_ahead(p, st.buffer));
            if (st.scope == st.depth) wait(step_number(st.ring, 0));
        }
        for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
            staging const& st = p.staging_at(at);
            bool const mine = st.stage == t || (!producer && p.placed(st.stage).level != level);
            p.write_for(st.stage);
            if (!st.writes && st.ring >= 0 && mine && stands_at(st, t, level))
                pass(at, link_role::user_to_load, step_kind::push, step_of(p, st.ring, 0), st.versions);
        }
    }

    /// Whether an asynchronous transfer stores the result of a stage and the core waits for it, no later than `depth`, where the next
    /// version begins. A result that another stage overwrites and stores elsewhere in the program does not count.
    constexpr bool is_stored_by_steps(stage_id s, int depth = 0) {
        int const computed = p.plan.use_at(p.stage_at(s).target)->buffer;
        for (int at = 0; at < p.staging_count(); ++at) {
            staging const& st = p.staging_at(at);
            bool const same_place = st.stage == s || root_of(st.stage) == root_of(s);
            if (st.writes && st.buffer == computed && st.ring >= 0 && st.depth >= depth && same_place) return true;
        }
        return false;
    }
    /// Before a producer that runs again and again: waits until its last result has been read.
    constexpr void order_before(stage_id s) {
        int const ring_at = p.placed(s).ring;
        // The version that is computed next has been read some steps ago.
        if (ring_at >= 0) pass_versions(s, step_kind::pop, step_of(p, ring_at, -p.ring_at(ring_at).versions));
        else if (computes_aside_) order_all(users_of(p, p.placed(s).home), writers_of(p, s));
    }
    /// After a stage: waits until its result is there for the others. `last`: it stands in no loops of another one.
    constexpr void order_behind(stage_id s, bool last) {
        if (!computes_aside_) return;
        // A signal to another core says that it is computed.
        if (!last) return order_all(agents_of(p, s), is_read_on_another_core(p, s) ? agents{.core = true} : readers_of(s));
        for (stage_id t{}; t < p.plan.stages.count; ++t) {
            if (root_of(t) != s || is_stored_by_steps(t)) continue;
            p.from_core(p.placed(t).core);  // a core waits for its own engines
            drain(agents_of(p, t));
        }
    }

    constexpr bool is_loaded_here(buffer_id buffer_at, stage_id t, int level) const {
        for (int at = 0, count = p.staging_count(); at < count; ++at) {
            staging const& st = p.staging_at(at);
            if (st.buffer == buffer_at && stands_at(st, t, level)) return true;
        }
        return false;
    }
    constexpr int root_of(stage_id s) const {
        while (p.placed(s).at_stage >= 0) s = p.placed(s).at_stage;
        return s;
    }
    constexpr bool stands_at(staging const& st, stage_id t, int level) const {
        return st.level == level && (level >= 0 || root_of(st.stage) == t);
    }
    constexpr void load(int at, stage_id t, int level) {
        staging const& st = p.staging_at(at);
        if (p.refused() || !stands_at(st, t, level)) return;
        p.write_for(st.stage);
        int const ring_at = st.writes ? st.loader_ring : st.ring, mover = st.writes ? st.loader : st.mover;
        if (mover < 0) return;
        ring_step when;
        if (ring_at >= 0) when = step_of(p, ring_at, p.ring_at(ring_at).distance);
        if (st.around >= 0) wait_for_next(st);
        if (st.scope == st.depth) order_anew(at);
        if (ring_at < 0 || p.ring_at(ring_at).run_time || when.ahead < p.ring_at(ring_at).steps)
            fill_and_load(at, mover, when, ring_at >= 0);
    }
    /// `used_before`: another step may have used the version; before the loops there is none.
    constexpr void fill_and_load(int at, int mover, ring_step const& when, bool used_before) {
        staging const& st = p.staging_at(at);
        if (when.ring < 0 && computes_aside_) drain(users_of(p, st.buffer, at));
        if (used_before) {
            ring_step freed = when;
            freed.step.constant -= st.versions;
            freed.ahead = static_cast<std::int16_t>(freed.ahead - st.versions);
            pass(at, link_role::user_to_load, step_kind::pop, freed, st.versions);
        }
        if (st.fill != staging::no_fill) write_fill_of_staged(p, st, when);
        if (!p.refused()) move(st, st.outward, st.buffer, mover, when);
        if (when.ring >= 0) pass(at, link_role::load_to_user, step_kind::push, when);
    }
    /// Before the first load that reads the next step of the buffer around: waits until that step is there.
    constexpr void wait_for_next(staging const& st) {
        staging const& around = p.staging_at(st.around);
        ring_step next = step_of(p, around.ring, 1);
        std::int64_t const inside = steps_inside(p, st, around);
        variable where{.name = st.tensor, .extent = inside, .kind = variable_kind::component, .modulus = inside};
        linear step = rest_of(p.form_of(p.ring_at(st.ring).step), inside);
        step.constant = p.ring_at(st.ring).distance;
        where.fused = p.keep(step);
        if (inside > 1) next.only_where = p.add(where);
        wait(next);
    }
    constexpr void wait_for_load(int at, stage_id t, int level) {
        staging const& st = p.staging_at(at);
        int const ring_at = st.writes ? st.loader_ring : st.ring;
        if (p.refused() || ring_at < 0 || !stands_at(st, t, level)) return;
        p.write_for(st.stage);
        if (st.core_waits) wait(step_of(p, ring_at, 0));
        pass(at, link_role::load_to_user, step_kind::pop, step_of(p, ring_at, 0));
    }
    /// Before the loop `level`, the first of those over which steps are counted: starts the loads that its iterations take as started.
    constexpr void start_ahead(int position, int level) {
        fixed_array<bool, groundwork::most_stagings> waited{};
        each_outward_first(p, [&](int at) {
            staging const& st = p.staging_at(at);
            if (st.writes || !counts_from(st, position, level)) return;
            p.write_for(st.stage);
            order_anew(at);
            ring const& r = p.ring_at(st.ring);
            std::int64_t const ahead = r.run_time || r.distance < r.steps ? r.distance : r.steps;
            if (ahead == 0) return;
            if (st.around >= 0 && !waited[st.around]) {
                wait(step_number(p.staging_at(st.around).ring, 0));
                waited[st.around] = true;
            }
            if (ahead == 1) return fill_and_load(at, st.mover, step_number(st.ring, 0), false);
            int const loop = p.add(variable{.name = st.tensor, .extent = ahead, .first_of = r.run_time ? st.ring : std::int16_t{-1}});
            linear number;
            number.add(1, loop);
            p.add(step_kind::loop, loop);
            fill_and_load(at, st.mover, {.ring = st.ring, .step = p.keep(number)}, false);
            p.add(step_kind::end, loop);
        });
    }
    /// After that loop: waits for the stores that are still under way.
    constexpr void finish_stores(int position, int level) {
        for (int at = 0; at < p.staging_count() && !p.refused(); ++at) {
            staging const& st = p.staging_at(at);
            if (!st.writes || !counts_from(st, position, level)) continue;
            p.write_for(st.stage);
            // Jobs of one channel complete in order. Where tiles are partial, the last steps may have stored nothing.
            bool const open = p.ring_at(st.ring).run_time;  // the last step of a version is not known, but the version is
            std::int64_t const steps = open ? st.versions : p.ring_at(st.ring).steps, all = steps < st.versions ? steps : st.versions;
            bool const each = p.is_partial() || where().engines[p.ring_at(st.ring).engine].has_channels();
            for (std::int64_t step = each ? steps - all : steps - 1; step < steps; ++step) wait(step_number(st.ring, step));
        }
    }
    constexpr bool counts_from(staging const& st, int position, int level) const {
        return st.ring >= 0 && st.scope == position && st.depth > position && p.placed(st.stage).path[position] == level;
    }

    /// Moves the box of a staged buffer between it and the buffer that it is a part of.
    constexpr void move(staging const& st, buffer_id source, buffer_id destination, int transfer_at, ring_step const& when) {
        buffer const& staged = p.buffer_at(st.buffer);
        region r{.source = source, .destination = destination};
        r.count = box_rank(p, staged);
        // Partial sums of a reduction are loaded again, except where the reduction begins.
        if (st.writes && destination == st.buffer && !p.stage_at(st.stage).continues) {
            each_reduction_around(p, st.stage, st.depth, [&](int loop) {
                linear at;
                at.add(1, loop);
                r.add(p, {at, 1, -1, clip_kind::beyond});
            });
        }
        for (int dimension = 0; dimension < r.count; ++dimension) {
            std::int64_t const extent = p.is_partial() ? clip_staged(p, st, dimension, r) : box_extent(p, staged, dimension);
            r.dimensions.elements[dimension] = {extent, static_cast<std::int8_t>(dimension), static_cast<std::int8_t>(dimension)};
            linear outward_at = p.form_of(p.from.box_at.elements[st.buffer].elements[dimension]);
            outward_at.add(p.form_of(p.from.box_at.elements[st.outward].elements[dimension]), -1);
            (st.outward == source ? r.source_at : r.destination_at).elements[dimension] = outward_at;
            if (p.is_partial()) settle_clips(p, r, dimension);
            if (st.pads) settle_border(p, st, dimension, r, transfer_at);
            if (r.dimensions.elements[dimension].extent < 1)
                return p.refuse(verdict_kind::no_border, rule::nothing_but_border, {st.tensor}, st.ordinal);
        }
        if (p.refused()) return;
        if (st.pads) r.border = st.border;
        int const first = p.plan.movements.count;
        move_region(p, r, transfer_at, st.moved_by(), when);
        bool const hints = st.distance > 0 && source == st.outward && !mover_of(p.plan, transfer_at).core_name.empty();
        for (int at = first; at < p.plan.movements.count && hints; ++at) {
            p.plan.movements[at].hint_loop = st.level;
            p.plan.movements[at].hint = st.distance;
            p.plan.movements[at].hint_in = st.asking_variable;
        }
    }

    constexpr void write_loops(stage_id s, int depth) {
        nest const& n = p.nest_at(s);
        int const level = depth > 0 ? n.axis_of_loop(depth - 1).variable : p.placed(s).at_stage >= 0 ? -2 : -1;
        if (level != -2) open_level(s, level);
        if (p.refused()) return;
        p.write_for(s);
        if (depth == identity_depth(s)) write_identity(s, depth);
        if (depth < p.placed(s).owned) {
            nest_axis const& a = n.axis_of_loop(depth);
            if (a.vectorized) {
                return p.refuse(verdict_kind::loop_order, rule::vectorized_around_steps, {a.name}, a.marked_ordinal);
            }
            int const position = p.placed(s).outer_depth + depth;
            start_ahead(position, a.variable);
            p.add(step_kind::loop, a.variable);
            if (p.plan.limits.count > 0) add_guards(p, s, depth);
            bool const around = p.from.shared;
            p.in_shares(around || a.distributed);
            write_loops(s, depth + 1);
            // Only the core that gave its engines jobs can wait for them.
            if (a.distributed && computes_aside_) drain(agents_of(p, s));
            give_back(s, a.variable);
            p.in_shares(around);
            p.add(step_kind::end, a.variable);
            await_rest(s, a.variable);
            finish_stores(position, a.variable);
        } else if (p.placed(s).transfer >= 0) {
            transfer_stage(p, s);
        } else {
            n.intrinsic >= 0 ? write_intrinsic(p, s, filled_[s]) : write_code(s);
        }
        if (level != -2) close_level(s, level);
    }

    /// The outermost reduction loop, if it is a loop of the program: the identity is written before it. -1: the body does both.
    constexpr int first_reduction(stage_id s) const {
        nest const& n = p.nest_at(s);
        if (!p.stage_at(s).reduces() || p.stage_at(s).continues) return -1;
        for (int depth = 0; depth < p.placed(s).owned; ++depth) {
            if (n.axis_of_loop(depth).reduction) return depth;
        }
        return -1;
    }

    /// Where the identity, or the starting value, is written. An instruction that continues needs it even if no loop of the program
    /// reduces. A buffer that holds partial sums exists only inside of its level, and so do the buffers that a start reads.
    constexpr int identity_depth(stage_id s) const {
        int reduction = first_reduction(s);
        for (int at = 0; at < p.staging_count() && reduction >= 0; ++at) {
            staging const& st = p.staging_at(at);
            int const inside = st.depth - p.placed(s).outer_depth;
            bool const started_from = !st.writes && starts_from(s, st.tensor);
            if (st.stage == s && (st.partial_sums || started_from) && inside > reduction) reduction = inside;
        }
        for (int producer = 0; producer < s && reduction >= 0; ++producer) {
            int const inside = p.placed(producer).outer_depth - p.placed(s).outer_depth;
            if (p.placed(producer).at_stage == s && starts_from(s, p.stage_at(producer).output) && inside > reduction) reduction = inside;
        }
        bool const by_steps = p.nest_at(s).intrinsic >= 0 && p.stage_at(s).reduces() && !p.stage_at(s).continues;
        return reduction < 0 && by_steps ? p.placed(s).owned : reduction;
    }

    constexpr bool starts_from(stage_id s, label const& tensor) const {
        bool found = false;
        p.each_access(s, [&](node_id node) { found |= p.stage_at(s).is_in_start(node) && p.plan.what.nodes[node].name == tensor; });
        return found;
    }

    constexpr void write_identity(stage_id s, int depth) {
        nest const& n = p.nest_at(s);
        // A buffer that the core fills must not be in use any more.
        if (computes_aside_ && agents_of(p, s).core && !is_stored_by_steps(s, p.placed(s).outer_depth + depth)) drain(agents_of(p, s));
        if (n.intrinsic >= 0) return void(filled_[s] = write_fill(p, s, depth));
        // Tile bodies have loops of constant extents. Loops whose extents run time decides, and the loops around them, are the program's.
        int inside = depth;
        for (int position = depth; position < n.depth; ++position) {
            if (!n.axis_of_loop(position).reduction && n.axis_of_loop(position).trips >= 0) inside = position + 1;
        }
        for (int position = depth; position < inside; ++position) {
            if (!n.axis_of_loop(position).reduction) p.add(step_kind::loop, n.axis_of_loop(position).variable);
        }
        body b{.kind = body_kind::identity, .stage = s};
        for (int position = inside; position < n.depth; ++position) {
            if (!n.axis_of_loop(position).reduction) b.loops[b.loop_count++] = n.axis_of_loop(position).variable;
        }
        each_reduction_around(p, s, p.placed(s).outer_depth + depth, [&](variable_id loop) { b.first_loops[b.first_loop_count++] = loop; });
        b.counts = count_start(p, p.stage_at(s));
        b.cycles = cycles_of_code(s, b);
        touch_from_code(p, s, p.stage_at(s).start >= 0);
        p.add(step_kind::compute, p.add(b));
        for (int position = inside - 1; position >= depth; --position) {
            if (!n.axis_of_loop(position).reduction) p.add(step_kind::end, n.axis_of_loop(position).variable);
        }
    }

    /// On the slowest of the cores that run it.
    constexpr std::int64_t cycles_of_code(stage_id s, body const& b) {
        double const all = static_cast<double>(trips(p, b.loops, b.loop_count));
        std::int64_t const starts = b.kind == body_kind::reduction ? trips(p, b.loops, b.loop_count, true) : 0;
        std::int64_t most = 0;
        for (int core = p.running().first; core < p.running().end; ++core) {
            operation_costs const& costs = where().core_at(core).costs;
            double const once = static_cast<double>(cycles_of(b.counts, costs));
            std::int64_t const cycles = p.limited(all * once, plan_value::most_total, "cycles", p.stage_at(s).output);
            if (most < cycles + starts * cycles_of(b.start_counts, costs)) most = cycles + starts * cycles_of(b.start_counts, costs);
        }
        return most;
    }

    constexpr void write_code(stage_id s) {
        nest const& n = p.nest_at(s);
        stage const& st = p.stage_at(s);
        int const owned = p.placed(s).owned;
        body b{.stage = s};
        b.kind = !st.reduces() ? body_kind::value : st.continues || first_reduction(s) >= 0 ? body_kind::update : body_kind::reduction;
        for (int position = owned; position < n.depth; ++position) b.loops[b.loop_count++] = n.axis_of_loop(position).variable;
        keep_lanes_in_a_block(p, s);
        counted_nodes counted{.first = st.first};
        count_operations(p, st.body, b.counts, counted);
        use const* const target = p.plan.use_at(st.target);
        std::int32_t const wait = target == nullptr ? 0 : wait_at(p, target->buffer);
        b.counts.store += 1, b.counts.wait += wait;
        if (st.reduces()) b.counts.load += 1, b.counts.arithmetic += 1, b.counts.wait += wait;
        b.start_counts = count_start(p, st);
        b.cycles = cycles_of_code(s, b);
        touch_from_code(p, s, true);
        p.add(step_kind::compute, p.add(b));
    }

    fixed_array<bool, plan_value::most_stages> filled_{};
};

}  // namespace tilewright::detail
