#pragma once
#include <tilewright/plan/ir/loop_nest.hpp>
#include <tilewright/plan/ir/refusals.hpp>
#include <tilewright/plan/ir/staging.hpp>
#include <tilewright/plan/ir/trip_count.hpp>

namespace tilewright::detail {

using namespace ir;

/// In the place of a transfer: loops of the core, which can write a constant.
inline constexpr int by_core = -1;
inline constexpr transfer_description loops_of_core{.name = "core", .most_dimensions = max_rank + 1};
constexpr transfer_description const& mover_of(plan_value const& plan, int transfer_at) {
    return transfer_at < 0 ? loops_of_core : plan.where->transfers[transfer_at];
}

struct range {
    std::int64_t low = 0, high = 0;
};

/// What planning needs of a machine besides the machine itself; the same for every schedule on it.
struct machine_reading {
    verdict refusal{};
    part_pool<stage, decltype(machine::intrinsics)::most> semantics{};  ///< of the machine's intrinsics
};

/// What the planner works on. After the first verdict every step returns at once.
struct planning : refusals {
    static constexpr int most_stagings = 16;

    plan_value plan{};
    machine_reading const* parts = nullptr;
    part_pool<nest, plan_value::most_stages> nests{};
    part_pool<stage_placement, plan_value::most_stages> placements{};
    part_pool<staging, most_stagings> stagings{};
    part_pool<staged_link, plan_value::most_links> staged_links{};
    /// First element of every staged buffer's box in its tensor's coordinates.
    fixed_array<fixed_array<affine, max_rank>, plan_value::most_buffers> box_at{};
    bool borders = false;  ///< a box holds the border of a padded tensor
    bool cuts = false;     ///< a level cuts through a fused loop: a box can reach beyond the end of its tensor

    constexpr planning(schedule const& what, machine_reading const& reading) : parts(&reading) {
        of = &what;
        kept = reading.refusal;
        plan.where = &what.where();
        plan.what = what.what();
    }

    template <class Part, int Most>
    constexpr int keep(part_pool<Part, Most>& list, Part const& what, char const* name) {
        if (!list.full()) return list.push(what);
        refuse_capacity(name, Most + 1, Most);
        return 0;
    }
    constexpr int add(variable const& v) { return keep(plan.variables, v, "variables"); }
    constexpr int add(buffer const& b) { return keep(plan.buffers, b, "buffers"); }
    constexpr int add(body const& b) { return keep(plan.bodies, b, "tile bodies"); }
    constexpr int add(movement const& m) { return keep(plan.movements, m, "transfers"); }
    constexpr int add(operand_use const& o) { return keep(plan.operands, o, "operands"); }
    /// The first of `count` tags by which no other transfer is waited for. The transfers of a ring begin with the channel after those that
    /// the previous ring on its engine uses for its versions.
    constexpr std::int16_t take_channels(int engine_at) {
        int first = 0;
        for (int at = 0; at < plan.rings.size(); ++at) {
            ring const& before = plan.rings[at];
            if (before.engine == engine_at) first = before.first_channel + before.versions;
        }
        return static_cast<std::int16_t>(first % of->where().channels_of(engine_at));
    }
    constexpr std::int16_t take_tags(int count) {
        int const first = tags_;
        tags_ += count;
        return static_cast<std::int16_t>(first);
    }
    constexpr int add(ring const& r) { return keep(plan.rings, r, "asynchronous buffers"); }
    constexpr int add(ring_step const& w) { return keep(plan.waits, w, "waits"); }
    constexpr int add(link const& l) { return keep(plan.links, l, "links between engines"); }
    constexpr int add(limit const& l) { return keep(plan.limits, l, "limits of partial tiles"); }
    constexpr int add(clip const& c) { return keep(plan.clips, c, "clips of partial tiles"); }
    constexpr int add(padding const& one) { return keep(plan.paddings, one, "dimensions of padded accesses"); }
    constexpr int add(step_extent const& e) { return keep(plan.step_extents, e, "extents of steps"); }
    constexpr int add(setting const& s) { return keep(plan.settings, s, "settings"); }
    constexpr int add(use const& u) { return keep(plan.uses, u, "tensor accesses"); }
    constexpr int add(step_kind kind, int what) { return keep(plan.steps, step{kind, static_cast<std::int16_t>(what)}, "steps"); }

    constexpr affine keep(linear const& form) {
        affine kept{form.constant, static_cast<std::int16_t>(plan.terms.size()), static_cast<std::int16_t>(form.count)};
        if (form.count > linear::most || plan.terms.size() + form.count > plan_value::most_terms) {
            refuse_capacity("terms of indices", plan.terms.size() + form.count, plan_value::most_terms);
            return {};
        }
        for (int at = 0; at < form.count; ++at) plan.terms.push(form.terms[at]);
        return kept;
    }
    constexpr linear form_of(affine const& kept) const { return detail::form_of(plan, kept); }

    constexpr variable const& var(int position) const { return plan.variables[position]; }
    constexpr stage const& stage_at(int position) const { return plan.stages[position]; }
    constexpr buffer& buffer_at(int position) { return plan.buffers[position]; }
    constexpr buffer const& buffer_at(int position) const { return plan.buffers[position]; }
    constexpr stage_placement& placed(int position) { return placements[position]; }
    constexpr stage_placement const& placed(int position) const { return placements[position]; }
    constexpr nest const& nest_at(int position) const { return nests[position]; }
    constexpr nest& nest_at(int position) { return nests[position]; }
    constexpr ring const& ring_at(int position) const { return plan.rings[position]; }
    constexpr staging& staging_at(int position) { return stagings[position]; }
    constexpr staging const& staging_at(int position) const { return stagings[position]; }

    /// Whether some movements must be clipped: tiles can be partial, or only run time knows where axes end.
    constexpr bool is_partial() const { return cuts || borders || plan.limits.size() > 0 || plan.run_time_extents > 0; }
    /// Whether some steps of the program do not run in all iterations of the loops around, or not in full.
    constexpr bool is_conditional() const { return is_partial() || plan.clips.size() > 0; }

    /// The stage that computes `tensor`, -1 for an input.
    constexpr int producer_of(label const& tensor) const {
        for (int position = 0; position < plan.stages.size(); ++position) {
            if (stage_at(position).output == tensor) return position;
        }
        return -1;
    }

    /// Whether some buffer between stage `s` and a tensor that it reads or computes has a layout.
    constexpr bool has_layout(int s, label const& tensor, bool writes) const {
        int const producer = producer_of(tensor);
        if (producer >= 0 && placed(producer).store_layout >= 0) return true;
        for (int at = 0; at < stagings.size(); ++at) {
            staging const& st = stagings[at];
            if (st.layout >= 0 && st.stage == s && st.writes == writes && st.tensor == tensor) return true;
        }
        return false;
    }

    /// Index `dimension` of the access at `node` of stage `s`, over variables.
    constexpr linear index_form(int s, int node, int dimension) const {
        stage_index const index = index_of(plan.what, stage_at(s), node, dimension);
        linear form;
        form.constant = index.constant;
        for (int position = 0; position < stage_at(s).axis_count; ++position) {
            std::int64_t const coefficient = index.coefficients[position];
            if (coefficient != 0) form.add(placed(s).axis_values[position], coefficient);
        }
        return form;
    }

    /// The range of index `dimension` of the access at `node` of stage `s`, over all that the kernel computes. For a padded access it is
    /// the part inside the tensor; if the access is always outside, it is one of the ends.
    struct index_range {
        std::int64_t low = 0;
        linear high{};           ///< over extents that are left to run time
        std::int16_t open = -1;  ///< such an extent that the lowest index depends on
    };
    constexpr index_range range_of_index(int s, int node, int dimension) const {
        stage_index const index = index_of(plan.what, stage_at(s), node, dimension);
        index_range whole{.low = index.constant};
        whole.high.constant = index.constant;
        for (int position = 0; position < stage_at(s).axis_count; ++position) {
            std::int64_t const c = index.coefficients[position], lowest = placed(s).lowest[position];
            affine const& highest = placed(s).highest[position];
            if (c > 0) {
                whole.low += c * lowest;
                whole.high.constant += c * highest.constant;
                for (int t = 0; t < highest.count; ++t)
                    whole.high.add(c * plan.term_at(highest, t).coefficient, plan.term_at(highest, t).variable);
            } else if (c < 0) {
                whole.low += c * highest.constant;
                whole.high.constant += c * lowest;
                if (highest.count > 0) whole.open = plan.term_at(highest, 0).variable;
            }
        }
        if (!is_padded(plan.what, node)) return whole;
        std::int64_t const last = padded_extent(plan.what, node, dimension) - 1;
        auto const inside = [last](std::int64_t index) { return index < 0 ? 0 : index > last ? last : index; };
        index_range kept{.low = whole.open >= 0 ? 0 : inside(whole.low)};
        kept.high.constant = whole.high.count > 0 ? last : inside(whole.high.constant);
        return kept;
    }

    /// Calls `visit(node)` for every tensor that stage `s` reads and, if asked for, for its target. A stage that continues a sum reads its
    /// target.
    template <class Visit>
    constexpr void each_access(int s, Visit&& visit, bool with_target = false) const {
        stage const& st = stage_at(s);
        for (int node = st.first; node < st.store; ++node) {
            if (plan.what[node].op != operation::access) continue;
            if (node == st.target ? with_target : plan.what[node].name != st.output) visit(node);
        }
    }

  private:
    int tags_ = 0;
};

}  // namespace tilewright::detail
