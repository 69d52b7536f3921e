#pragma once
#include <initializer_list>
#include <tilewright/base/part_pool.hpp>
#include <tilewright/base/verdict.hpp>
#include <tilewright/compute/stage.hpp>
#include <tilewright/plan/ir/body.hpp>
#include <tilewright/plan/ir/movement.hpp>
#include <tilewright/plan/ir/quantity.hpp>
#include <tilewright/plan/ir/setting.hpp>
#include <tilewright/plan/ir/step.hpp>
#include <tilewright/plan/ir/variable.hpp>
#include <tilewright/schedule/schedule.hpp>

// The parts of a plan stand in a namespace of their own, so that users keep words such as buffer, step and body.
namespace tilewright::ir {

/// The plan of a kernel: where every buffer is, and the program of loops, transfers and tile bodies. Back ends walk it.
struct plan_value {
    static constexpr int most_stages = 16, most_variables = 64, most_terms = 512, most_buffers = 28, most_movements = 32, most_uses = 64,
                         most_operands = 32, most_bodies = 16, most_steps = 128, most_rings = 16, most_waits = 64, most_links = 24,
                         most_limits = 48, most_clips = 64, most_tallies = 96, most_layouts = schedule::most_layouts, most_shapes = 32,
                         most_paddings = 24, most_settings = 24, most_messages = 48, most_step_extents = 32, most_upkeeps = 32;
    static constexpr std::int64_t most_iterations = std::int64_t{1} << 40, most_bytes = std::int64_t{1} << 40,
                                  most_total = std::int64_t{1} << 53;

    verdict refusal{};
    machine const* where = nullptr;
    computation_view what{};
    part_pool<stage, most_stages> stages{};
    part_pool<variable, most_variables> variables{};
    part_pool<term, most_terms> terms{};
    part_pool<buffer, most_buffers> buffers{};  ///< arguments first, in the order of their first use; the result last among them
    part_pool<buffer_layout, most_layouts> layouts{};
    part_pool<movement, most_movements> movements{};
    part_pool<ring, most_rings> rings{};
    part_pool<ring_step, most_waits> waits{};  ///< until the transfer of that step is complete, or what is pushed and popped
    part_pool<link, most_links> links{};
    part_pool<use, most_uses> uses{};
    part_pool<padding, most_paddings> paddings{};
    part_pool<operand_use, most_operands> operands{};
    part_pool<body, most_bodies> bodies{};
    part_pool<step, most_steps> steps{};
    part_pool<limit, most_limits> limits{};
    part_pool<clip, most_clips> clips{};
    part_pool<tally, most_tallies> tallies{};
    part_pool<shape, most_shapes> shapes{};
    part_pool<setting, most_settings> settings{};
    part_pool<step_extent, most_step_extents> step_extents{};
    part_pool<message, most_messages> messages{};
    part_pool<upkeep, most_upkeeps> upkeeps{};
    std::int16_t cores = 1;                     ///< that the kernel runs on, from core 0
    std::int16_t first_core = 0, end_core = 1;  ///< in distributed loops, those that have shares
    int run_time_extents = 0;                   ///< so many of the first variables are extents that are still open: see `at`
    std::int64_t total_cycles = 0;

    static constexpr quantity unknown{0, false};
    constexpr term const& term_at(affine const& form, int position) const { return terms[form.first + position]; }
    constexpr use const* use_at(int node) const {
        for (int position = 0; position < uses.count; ++position) {
            if (uses.slots[position].part.node == node) return &uses.slots[position].part;
        }
        return nullptr;
    }

    /// Calls `visit(padding)` for the dimensions in which the access at a node may leave its tensor.
    template <class Visit>
    constexpr void each_padding(int node, Visit&& visit) const {
        for (int at = 0; at < paddings.size(); ++at) {
            padding const& one = paddings[at];
            if (one.node == node) visit(one);
        }
    }
    /// Whether an access chooses at each element between the tensor and the border.
    constexpr bool is_guarded(int node) const {
        bool guarded = false;
        each_padding(node, [&](padding const& one) { guarded |= one.guarded; });
        return guarded;
    }

    /// Whether cores share a loop.
    constexpr bool has_shares() const {
        bool found = false;
        for (int at = 0; at < variables.size(); ++at) found |= variables[at].distributed;
        return found;
    }
    /// Whether there is one buffer for all cores.
    constexpr bool is_one_for_all(buffer const& b) const {
        return b.kind == buffer_kind::argument || (!where->memories[b.memory].per_core && where->memories[b.memory].registers == 0);
    }
    /// Whether the core goes on while a movement is carried out.
    constexpr bool is_asynchronous(movement const& m) const { return m.transfer >= 0 && where->transfers[m.transfer].is_asynchronous; }
    /// Whether a movement writes to the memories of all cores.
    constexpr bool is_multicast(movement const& m) const { return m.transfer >= 0 && where->transfers[m.transfer].is_multicast; }
    /// The engine that carries a movement out; -1: the core.
    constexpr int engine_of(movement const& m) const {
        return m.transfer < 0 ? -1 : where->engines.find(where->transfers[m.transfer].engine_name);
    }

    /// Whether the channels of an engine are dealt out to the cores: each has as many of them, from core * `channels_of` on.
    constexpr bool is_dealt_out(int engine_at) const {
        return cores > 1 && !where->engines[engine_at].per_core && where->channels_of(engine_at) >= cores;
    }
    /// The channels of an engine that one core uses.
    constexpr int channels_of(int engine_at) const {
        return is_dealt_out(engine_at) ? where->channels_of(engine_at) / cores : where->channels_of(engine_at);
    }
    /// The channel of its engine that moves a version of a ring, on core 0.
    constexpr int channel_of(ring const& r, std::int64_t version) const {
        return static_cast<int>((r.first_channel + version) % channels_of(r.engine));
    }
    /// Which of all channels of the machine carries a movement out at step `number` of its ring; -1: the core. A transfer that blocks goes
    /// to the first channel of its engine.
    constexpr int lane_of(movement const& m, std::int64_t number) const {
        int const on = engine_of(m);
        if (on < 0) return -1;
        return m.at.ring < 0 || !is_asynchronous(m) ? where->first_lane(on) : lane_of(rings[m.at.ring], number);
    }
    constexpr int lane_of(ring const& r, std::int64_t number) const {
        return where->first_lane(r.engine) + channel_of(r, number % r.versions);
    }
    /// Calls `visit(lane)` for those channels of an engine whose jobs the core does not wait for at once.
    template <class Visit>
    constexpr void each_busy_lane(int engine_at, Visit&& visit) const {
        int const first = where->first_lane(engine_at);
        for (int lane = first; lane < first + channels_of(engine_at); ++lane) {
            bool busy = !where->engines[engine_at].has_channels() && is_busy_aside(engine_at);
            for (int at = 0; at < rings.size(); ++at) {
                ring const& r = rings[at];
                for (int version = 0; r.engine == engine_at && version < r.versions; ++version) busy |= lane_of(r, version) == lane;
            }
            if (busy) visit(lane);
        }
    }

    /// The stage that a node stands in.
    constexpr int stage_of(int node) const {
        int found = 0;
        while (stages[found].store < node) ++found;
        return found;
    }

    /// Whether a body is an asynchronous intrinsic: the core goes on while an engine does it.
    constexpr bool is_aside(body const& b) const {
        return b.kind == body_kind::intrinsic && where->intrinsics[b.intrinsic].is_asynchronous;
    }

    /// Whether a transfer of a ring is started or waited for, or tokens or signals are passed, inside the loop that begins at a step. Past
    /// the end of an axis, such loops go on: all but transfers and tile bodies is done there. Other loops do nothing, not even barriers.
    constexpr bool holds_ring_steps(int loop_step) const {
        int depth = 0;
        for (int at = loop_step; at < steps.size(); ++at) {
            step const& s = steps[at];
            depth += s.kind == step_kind::loop ? 1 : s.kind == step_kind::end ? -1 : 0;
            if (depth == 0) return false;
            if (s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop) return true;
            if (s.kind == step_kind::signal || s.kind == step_kind::await) return true;
            if (s.kind == step_kind::start && movements[s.what].at.ring >= 0) return true;
        }
        return false;
    }

    /// The step at which a loop ends.
    constexpr int end_of_loop(int loop_step) const {
        int depth = 0;
        for (int at = loop_step;; ++at) {
            depth += steps[at].kind == step_kind::loop ? 1 : steps[at].kind == step_kind::end ? -1 : 0;
            if (depth == 0) return at;
        }
    }

    /// Whether an engine is given jobs that the core does not wait for at once.
    constexpr bool is_busy_aside(int engine_at) const {
        for (int at = 0; at < rings.size(); ++at) {
            if (rings[at].engine == engine_at) return true;
        }
        for (int at = 0; at < bodies.size(); ++at) {
            body const& b = bodies[at];
            if (is_aside(b) && where->engines.find(where->intrinsics[b.intrinsic].engine_name) == engine_at) return true;
        }
        return false;
    }

    /// How a body touches the buffer of a use; not at all, if the use is not of its stage.
    /// @param begins  of an intrinsic: in a step that may be the first of a reduction, which alone reads what it starts from
    struct touch {
        bool reads = false, writes = false;
    };
    constexpr touch touch_of(body const& b, use const& u, bool begins) const {
        if (u.buffer < 0) return {};
        stage const& st = stages[b.stage];
        bool const starts = st.is_in_start(u.node);
        bool const mine = starts ? b.kind != body_kind::update && !b.begun && begins : b.kind != body_kind::identity;
        return {.reads = mine && u.node > st.target && u.node < st.store, .writes = u.node == st.target};
    }
    /// Calls `visit(use, reads, writes)` for every buffer that a body touches. See `touch_of`.
    template <class Visit>
    constexpr void each_use(body const& b, Visit&& visit, bool begins = true) const {
        for (int position = 0; position < uses.count; ++position) {
            use const& u = uses.slots[position].part;
            touch const how = touch_of(b, u, begins);
            if (how.reads || how.writes) visit(u, how.reads, how.writes);
        }
    }

    /// How often a step runs, and how often with all its `first_loops` at 0.
    struct run_count {
        std::int64_t times = 1, first_times = 1;
    };
    /// @param around  iterations of the loops around the step, of all together
    constexpr run_count count_of(step const& s, std::int64_t around) const {
        if (s.tally >= 0) return {tallies[s.tally].times, tallies[s.tally].first_times};
        // If a step of a ring lies ahead of the loops around, or after them, some of their iterations have none.
        if (s.kind == step_kind::start) return {with_step(around, movements[s.what].at), around};
        if (s.kind == step_kind::wait || s.kind == step_kind::push || s.kind == step_kind::pop)
            return {with_step(around, waits[s.what]), around};
        if (is_upkeep(s.kind) && s.core < 0) return {around * cores, around};
        if (s.kind != step_kind::compute) return {around, around};
        body const& b = bodies[s.what];
        std::int64_t first_times = around;
        for (int loop = 0; loop < b.first_loop_count; ++loop) first_times /= variables[b.first_loops[loop]].extent;
        return {b.kind == body_kind::identity ? first_times : around, first_times};
    }
    /// Calls `visit(step, times, first_times)` for every step. See `count_of`. A loop ends as often as it begins.
    /// @throws bad_query while extents are left to run time
    template <class Visit>
    constexpr void walk(Visit&& visit) const {
        need_extents();
        std::int64_t around = 1;
        for (int position = 0; position < steps.count; ++position) {
            step const& s = steps.slots[position].part;
            if (s.kind == step_kind::end) around /= variables[s.what].extent;
            run_count const often = count_of(s, around);
            visit(s, often.times, often.first_times);
            if (s.kind == step_kind::loop) around *= variables[s.what].extent;
        }
    }

    /// Whether a step may lie before the first of its ring, or at `end_of` and beyond, at some iteration of the loops around.
    static constexpr bool may_precede(ring_step const& at) { return at.ring >= 0 && at.ahead < 0; }
    static constexpr bool may_exceed(ring_step const& at) { return at.ring >= 0 && at.ahead + at.fewer > 0; }
    constexpr std::int64_t end_of(ring_step const& at) const { return rings[at.ring].steps - at.fewer; }
    /// Iterations of a ring's loops at which there is no such step.
    static constexpr std::int64_t missing_steps(ring_step const& at) {
        return (may_precede(at) ? -at.ahead : 0) + (may_exceed(at) ? at.ahead + at.fewer : 0);
    }
    constexpr std::int64_t with_step(std::int64_t times, ring_step const& at) const {
        if (at.only_where >= 0) times /= variables[at.only_where].extent;
        std::int64_t const missing = missing_steps(at);
        if (missing == 0) return times;
        std::int64_t const all = rings[at.ring].steps;
        return missing < all ? times / all * (all - missing) : 0;
    }
    /// What a step does in one run, given what `walk` says of it.
    constexpr tally total_of(step const& s, std::int64_t times, std::int64_t first_times) const {
        if (s.tally >= 0) return tallies[s.tally];
        if (s.kind == step_kind::start) {
            movement const& m = movements[s.what];
            return {times, times, times * m.bytes, times * m.cycles, 0};
        }
        if (is_upkeep(s.kind)) return {times, times, 0, times * upkeep_cycles(upkeeps[s.what]), 0};
        if (s.kind != step_kind::compute) return {times, first_times, 0, 0, 0};
        body const& b = bodies[s.what];
        std::int64_t const first = b.first_intrinsic >= 0 ? first_times : 0;
        std::int64_t const first_cycles = first * b.first_cycles;
        return {times, first_times, 0, (times - first) * b.cycles + first_cycles, first_cycles};
    }

    /// Calls that clean or invalidate: one for each block, or argument.
    constexpr std::int64_t upkeep_calls(upkeep const& u) const {
        return u.of_version ? buffers[u.buffer].blocks : buffers[u.buffer].parts();
    }
    /// Cycles of a core for them.
    constexpr std::int64_t upkeep_cycles(upkeep const& u) const {
        buffer const& b = buffers[u.buffer];
        return upkeep_calls(u) * where->memories[b.memory].cycles_of_upkeep(b.part_bytes());
    }

    /// Position of a part of the machine. @throws bad_query when the machine has no part of that name
    template <class List>
    static constexpr int position_in(List const& parts, label const& name) {
        int const position = parts.find(name);
        if (position < 0) detail::throw_or_abort(bad_query(name, " is not a part of the plan's machine"));
        return position;
    }
    /// The most bytes of memory `of` that the kernel needs at one time, from the base; of all its banks together.
    constexpr quantity peak(memory const& of) const {
        if (refusal) return unknown;
        int const position = position_in(where->memories, of.name);
        std::int64_t all = 0;
        for (int bank = 0; bank < where->memories[position].banks; ++bank) all += peak_bytes(position, bank);
        return all;
    }
    /// Likewise of one bank. @throws bad_query when the memory has no bank of that number
    constexpr quantity peak(memory const& of, int bank) const {
        if (refusal) return unknown;
        int const position = position_in(where->memories, of.name);
        if (bank < 0 || bank >= where->memories[position].banks) detail::throw_or_abort(bad_query(of.name, " has no bank of this number"));
        return peak_bytes(position, bank);
    }
    constexpr std::int64_t peak_bytes(int memory_position, int bank) const {
        std::int64_t most = 0;
        int const banks = where->memories[memory_position].banks;
        for (int position = 0; position < buffers.count; ++position) {
            buffer const& b = buffers.slots[position].part;
            if (b.kind == buffer_kind::argument || b.memory != memory_position || !b.lies_in(bank, banks)) continue;
            most = most < b.offset + b.bytes_in_bank(banks) ? b.offset + b.bytes_in_bank(banks) : most;
        }
        return most;
    }
    /// The plan at extents that are left to run time, in any order: `at({{m, 100}, {k, 64}})`. Ask the plan at some extents for what is
    /// counted, drawn or checked.
    /// @throws bad_query when one is missing, less than 1, or beyond its upper bound
    /// `plan/check/specialise.hpp` defines it.
    constexpr plan_value at(std::initializer_list<axis_extent> extents) const;
    template <class List>
    constexpr plan_value at(List const& extents) const;
    /// @throws bad_query while extents are left to run time: no number would be right
    constexpr void need_extents() const {
        if (run_time_extents > 0) detail::throw_or_abort(bad_query("extents are left to run time: ask plan.at({{axis, extent}}) instead"));
    }
    /// Calls of a transfer, and the bytes that they move. `plan/check/totals.hpp` defines these and those below.
    constexpr quantity calls(transfer_description const& of) const;
    constexpr quantity bytes(transfer_description const& of) const;
    /// How often a configuration is set.
    constexpr quantity calls(configuration const& of) const;
    /// Executions of an intrinsic.
    constexpr quantity calls(intrinsic_description const& of) const;
    struct traffic {
        std::int64_t calls = 0, bytes = 0;
    };
    constexpr traffic traffic_of(int transfer_position) const;
    constexpr std::int64_t settings_of(int configuration_position) const;
    constexpr std::int64_t executions_of(int intrinsic_position) const;
    /// Cycles of the kernel, with its engines side by side. They are not resolved if the compiler did not find what repeats: see
    /// `cycles_resolved`. Counted on demand: `plan/check/prediction.hpp` defines it.
    constexpr quantity cycles() const;
    /// Whether `cycles` is known. After a refusal it is true, so that the verdict stays the only error.
    constexpr bool cycles_resolved() const;
    /// Cycles when every transfer is waited for and nothing overlaps.
    constexpr quantity serial_cycles() const { return refusal ? unknown : (need_extents(), quantity(total_cycles)); }
    /// Cycles that an engine works, all its channels together. For engine -1, the core: those of loops that stay code.
    constexpr quantity busy(engine const& on) const {
        return refusal ? unknown : quantity(busy_cycles(position_in(where->engines, on.name)));
    }
    constexpr std::int64_t busy_cycles(int engine_at) const {
        std::int64_t total = 0;
        walk([&](step const& s, std::int64_t times, std::int64_t first_times) {
            total += busy_in(s, total_of(s, times, first_times), engine_at);
        });
        return total;
    }
    /// Of what a step does in one run, the cycles that an engine works, or the core.
    constexpr std::int64_t busy_in(step const& s, tally const& all, int engine_at) const {
        auto const is_on = [&](label const& engine_name) {
            return engine_name.empty() ? engine_at < 0 : where->engines.find(engine_name) == engine_at;
        };
        if (s.kind == step_kind::start) {
            movement const& m = movements[s.what];
            std::int64_t const latency = m.transfer < 0 ? 0 : where->transfers[m.transfer].costs.latency;
            return engine_of(m) == engine_at ? all.cycles - all.times * latency : 0;
        }
        if (is_upkeep(s.kind)) return engine_at < 0 ? all.cycles : 0;
        if (s.kind != step_kind::compute) return 0;
        body const& b = bodies[s.what];
        if (b.kind != body_kind::intrinsic) return engine_at < 0 ? all.cycles : 0;
        std::int64_t total = 0;
        if (is_on(where->intrinsics[b.intrinsic].engine_name)) total += all.cycles - all.first_cycles;
        if (b.first_intrinsic >= 0 && is_on(where->intrinsics[b.first_intrinsic].engine_name)) total += all.first_cycles;
        return total;
    }
    /// The least cycles that an engine's work can take: its channels share it. Of several cores, the one with the largest share counts.
    /// `plan/check/core_shares.hpp` defines it, and the two below.
    constexpr std::int64_t shared_cycles(int engine_at) const;
    /// Of several cores, the most cycles that one of them has an engine work, or works itself.
    constexpr std::int64_t busiest_share(int engine_at) const;
    /// The kernel cannot be faster than this: the cycles of the core, or of the busiest engine, whose channels share them.
    constexpr quantity bound() const;
};

}  // namespace tilewright::ir

namespace tilewright {

using ir::plan_value;

}  // namespace tilewright
