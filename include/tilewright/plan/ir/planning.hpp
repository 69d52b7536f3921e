#pragma once
#include <tilewright/machine/call_limits.hpp>
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
    part_pool<stage, decltype(machine::intrinsics)::most> semantics{};    ///< of the machine's intrinsics
    part_pool<call_limits, decltype(machine::transfers)::most> limits{};  ///< of the machine's transfers
};

// What a pass may write is the type of its parameter:
//
//   planning const&   reads all that is known so far, and may refuse it
//   planning&         also adds variables of indices, and forms over them
//   writing&          also writes the plan: buffers, movements, steps of the program
//   placing&          also writes what the plan is made from: nests, and where stages and staged buffers are
//
// A pass over a finished program takes the `plan_value` itself, and a `refusals const&` where it refuses.

/// What a plan is made from.
struct groundwork {
    static constexpr int most_stagings = 16;

    part_pool<nest, plan_value::most_stages> nests{};
    part_pool<stage_placement, plan_value::most_stages> placements{};
    part_pool<staging, most_stagings> stagings{};
    part_pool<staged_link, plan_value::most_links> staged_links{};
    /// First element of every staged buffer's box in its tensor's coordinates.
    fixed_array<fixed_array<affine, max_rank>, plan_value::most_buffers> box_at{};
    /// Indices of accesses that were asked for, and of each node the place of its first index, plus 1: see `planning::access_index`.
    static constexpr int most_indices = 48, most_indexed = 128;
    part_pool<stage_index, most_indices> indices{};
    fixed_array<std::int16_t, most_indexed> first_index{};
    /// Accesses of stages that were asked for; and of each stage the place of its first one, plus 1, that after its last one, and the first
    /// node that the list had no room for: see `planning::each_access`.
    part_pool<node_id, 64> accesses{};
    fixed_array<std::int16_t, plan_value::most_stages> first_access{}, end_access{}, unlisted{};
    bool borders = false;   ///< a box holds the border of a padded tensor
    bool cuts = false;      ///< a level cuts through a fused loop: a box can reach beyond the end of its tensor
    std::int16_t core = 0;  ///< that runs the steps which are written
    bool shared = false;    ///< they stand in a distributed loop: each core runs its share of them
    int tags = 0;           ///< that transfers are waited for by, so far
};

/// A schedule while it is planned: what is known of it so far. After the first verdict every pass returns at once.
struct planning : refusals {
  protected:
    plan_value& made_;
    groundwork& from_;

    // In front of what calls it: clang 14 does not evaluate a member template that follows.
    template <class Part, int Most>
    constexpr int keep(part_pool<Part, Most>& list, Part const& what, char const* name) const {
        return has_room(list.count, Most, name) ? list.push(what) : 0;
    }
    /// Refuses one more part than `most`.
    constexpr bool has_room(int count, int most, char const* name) const {
        if (count == most) refuse_capacity(name, most + 1, most);
        return count < most;
    }

  public:
    plan_value const& plan;
    groundwork const& from;
    machine_reading const& parts;

    /// @param made, made_from  what the planning writes; empty in the beginning
    constexpr planning(schedule const& what, machine_reading const& reading, verdict_sheet& sheet, plan_value& made, groundwork& made_from)
        : refusals(sheet, &what), made_(made), from_(made_from), plan(made), from(made_from), parts(reading) {
        sheet.first = reading.refusal;
        made.where = &what.where();
        made.what = what.what();
    }
    planning(planning const&) = delete;

    constexpr linear form_of(affine const& kept) const { return detail::form_of(plan, kept); }

    constexpr variable const& var(int position) const { return plan.variables.slots[position].part; }
    constexpr stage const& stage_at(int position) const { return plan.stages.slots[position].part; }
    constexpr buffer const& buffer_at(int position) const { return plan.buffers.slots[position].part; }
    constexpr ring const& ring_at(int position) const { return plan.rings.slots[position].part; }
    constexpr nest const& nest_at(int position) const { return from.nests.slots[position].part; }
    constexpr stage_placement const& placed(int position) const { return from.placements.slots[position].part; }
    constexpr staging const& staging_at(int position) const { return from.stagings.slots[position].part; }

    constexpr int staging_count() const { return from.stagings.count; }

    /// The cores that run what is written now: from `first` up to `end`.
    struct core_range {
        int first = 0, end = 1;
    };
    constexpr core_range running() const {
        if (from.shared) return {plan.first_core, plan.end_core};
        return {from.core, from.core + 1};
    }

    /// Whether some movements must be clipped: tiles can be partial, or only run time knows where axes end.
    constexpr bool is_partial() const { return from.cuts || from.borders || plan.limits.count > 0 || plan.run_time_extents > 0; }
    /// Whether some steps of the program do not run in all iterations of the loops around, or not in full.
    constexpr bool is_conditional() const { return is_partial() || plan.clips.count > 0; }

    /// The stage that computes `tensor`; none computes an input.
    constexpr stage_id producer_of(label const& tensor) const {
        for (int s = 0; s < plan.stages.count; ++s) {
            label const& output = plan.stages.slots[s].part.output;
            if (output.words.elements[0] == tensor.words.elements[0] && output == tensor) return stage_id(s);
        }
        return no_stage;
    }

    /// Whether some buffer between stage `s` and a tensor that it reads or computes has a layout.
    constexpr bool has_layout(stage_id s, label const& tensor, bool writes) const {
        stage_id const producer = producer_of(tensor);
        if (producer >= 0 && placed(producer).store_layout >= 0) return true;
        for (int at = 0; at < staging_count(); ++at) {
            staging const& st = staging_at(at);
            if (st.layout >= 0 && st.stage == s && st.writes == writes && st.tensor == tensor) return true;
        }
        return false;
    }

    /// Index `dimension` of the access at `node` of stage `s`, over the axes of the stage. Many passes ask for it: it is worked out once
    /// while there is room to keep it.
    constexpr stage_index access_index(stage_id s, node_id node, int dimension) const {
        computation_view const what = made_.what;
        int const rank = what.nodes[node].argument_count;
        if (node >= groundwork::most_indexed) return index_of(what, stage_at(s), node, dimension);
        std::int16_t& first = from_.first_index.elements[node];
        if (first == 0) {
            if (from_.indices.count + rank > groundwork::most_indices) return index_of(what, stage_at(s), node, dimension);
            first = static_cast<std::int16_t>(from_.indices.count + 1);
            for (int at = 0; at < rank; ++at) from_.indices.push(index_of(what, stage_at(s), node, at));
        }
        return from_.indices.slots[first - 1 + dimension].part;
    }

    /// Whether an expression gives an index of the access at `node` of stage `s`.
    constexpr bool computes_index(stage_id s, node_id node) const {
        bool found = false;
        for (int dimension = 0; dimension < plan.what[node].argument_count; ++dimension)
            found |= access_index(s, node, dimension).computed >= 0;
        return found;
    }
    /// The variable for the values of an index that the expression at a node gives.
    constexpr variable_id element_variable(node_id value) const {
        int at = 0;
        while (plan.variables[at].kind != variable_kind::element || plan.variables[at].value != value) ++at;
        return variable_id(at);
    }

    /// Index `dimension` of the access at `node` of stage `s`, over variables.
    constexpr linear index_form(stage_id s, node_id node, int dimension) const {
        stage_index const index = access_index(s, node, dimension);
        int const axes = stage_at(s).axis_count;
        linear form;
        if (index.computed >= 0) return form.add(1, element_variable(index.computed)), form;
        form.constant = index.constant;
        for (int position = 0; position < axes; ++position) {
            std::int64_t const coefficient = index.coefficients.elements[position];
            if (coefficient != 0) form.add(placed(s).axis_values.elements[position], coefficient);
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
    constexpr index_range range_of_index(stage_id s, node_id node, int dimension) const {
        stage_index const index = access_index(s, node, dimension);
        int const axes = stage_at(s).axis_count;
        stage_placement const& place = placed(s);
        if (index.computed >= 0) {
            index_range all{};
            all.high.constant = padded_extent(plan.what, node, dimension) - 1;
            return all;
        }
        index_range whole{.low = index.constant};
        whole.high.constant = index.constant;
        for (int position = 0; position < axes; ++position) {
            std::int64_t const c = index.coefficients.elements[position];
            if (c == 0) continue;
            std::int64_t const lowest = place.lowest.elements[position];
            affine const& highest = place.highest.elements[position];
            if (c > 0) {
                whole.low += c * lowest;
                whole.high.constant += c * highest.constant;
                for (int t = 0; t < highest.count; ++t)
                    whole.high.add(c * plan.term_at(highest, t).coefficient, plan.term_at(highest, t).variable);
            } else {
                whole.low += c * highest.constant;
                whole.high.constant += c * lowest;
                if (highest.count > 0) whole.open = plan.term_at(highest, 0).variable;
            }
        }
        if (!is_padded(plan.what, node)) return whole;
        std::int64_t const last = padded_extent(plan.what, node, dimension) - 1;
        auto const inside = [last](std::int64_t at) { return at < 0 ? 0 : at > last ? last : at; };
        index_range kept{.low = whole.open >= 0 ? 0 : inside(whole.low)};
        kept.high.constant = whole.high.count > 0 ? last : inside(whole.high.constant);
        return kept;
    }

    /// Whether a node of stage `s` is its target, or a tensor that it reads.
    constexpr bool is_access(stage_id s, int node) const {
        node_id const target = stage_at(s).target;
        return plan.what.nodes[node].op == operation::access && (node == target || plan.what.nodes[node].name != stage_at(s).output);
    }
    /// The place of the first access of a stage in the list of accesses. Many passes walk accesses: each stage is searched once.
    constexpr int list_accesses(stage_id s) const {
        std::int16_t& first = from_.first_access.elements[s];
        if (first != 0) return first - 1;
        first = static_cast<std::int16_t>(from_.accesses.count + 1);
        int node = stage_at(s).first;
        for (int const store = stage_at(s).store; node < store && !from.accesses.full(); ++node) {
            if (plan.what.nodes[node].op == operation::access && is_access(s, node)) from_.accesses.push(node_id(node));
        }
        from_.unlisted.elements[s] = static_cast<std::int16_t>(node);
        from_.end_access.elements[s] = static_cast<std::int16_t>(from_.accesses.count);
        return first - 1;
    }

    /// A walk over the accesses of a stage: those in the list from place `at` to `end`, then those of the nodes from `node` on.
    struct access_walk {
        stage_id stage = no_stage;
        int at = 0, end = 0, node = 0;
        node_id left_out = no_node;
    };
    /// @return the next access; `no_node` after the last one
    constexpr node_id next_access(access_walk& walk) const {
        while (walk.at < walk.end) {
            node_id const node = from.accesses.slots[walk.at++].part;
            if (node != walk.left_out) return node;
        }
        for (int const store = stage_at(walk.stage).store; walk.node < store;) {
            int const node = walk.node++;
            if (is_access(walk.stage, node) && node != walk.left_out) return node_id(node);
        }
        return no_node;
    }
    /// Calls `visit(node)` for every tensor that stage `s` reads and, if asked for, for its target. A stage that continues a sum reads its
    /// target.
    template <class Visit>
    constexpr void each_access(stage_id s, Visit&& visit, bool with_target = false) const {
        int const first = list_accesses(s);
        access_walk walk{s, first, from.end_access.elements[s], from.unlisted.elements[s], with_target ? no_node : stage_at(s).target};
        for (node_id node = next_access(walk); node >= 0; node = next_access(walk)) visit(node);
    }
    /// Whether stage `s` reads a tensor.
    constexpr bool reads(stage_id s, label const& tensor) const {
        bool found = false;
        each_access(s, [&](node_id node) { found |= plan.what.nodes[node].name == tensor; });
        return found;
    }

    constexpr variable_id add(variable const& v) { return variable_id(keep(made_.variables, v, "variables")); }
    constexpr affine keep(linear const& form) {
        int const before = made_.terms.count;
        affine kept{form.constant, static_cast<std::int16_t>(before), static_cast<std::int16_t>(form.count)};
        if (form.overflown) return refuse_capacity("terms of an index", linear::most + 1, linear::most), affine{};
        if (before + form.count > plan_value::most_terms) {
            refuse_capacity("terms of indices", before + form.count, plan_value::most_terms);
            return {};
        }
        for (int at = 0; at < form.count; ++at) made_.terms.push(form.terms[at]);
        return kept;
    }
    constexpr void note_cut() { from_.cuts = true; }
};

/// Writes the plan as well.
struct writing : planning {
    plan_value& plan;

    constexpr writing(schedule const& what, machine_reading const& reading, verdict_sheet& sheet, plan_value& made, groundwork& made_from)
        : planning(what, reading, sheet, made, made_from), plan(made) {}

    constexpr buffer& buffer_at(int position) { return made_.buffers.slots[position].part; }
    using planning::buffer_at;

    using planning::add;
    constexpr buffer_id add(buffer const& b) { return buffer_id(keep(plan.buffers, b, "buffers")); }
    constexpr int add(body const& b) { return keep(plan.bodies, b, "tile bodies"); }
    constexpr int add(movement const& m) { return keep(plan.movements, m, "transfers"); }
    constexpr int add(operand_use const& o) { return keep(plan.operands, o, "operands"); }
    constexpr int add(ring const& r) { return keep(plan.rings, r, "asynchronous buffers"); }
    constexpr int add(ring_step const& w) { return keep(plan.waits, w, "waits"); }
    constexpr int add(link const& l) { return keep(plan.links, l, "links between engines"); }
    constexpr int add(limit const& l) { return keep(plan.limits, l, "limits of partial tiles"); }
    constexpr int add(clip const& c) { return keep(plan.clips, c, "clips of partial tiles"); }
    constexpr int add(padding const& one) { return keep(plan.paddings, one, "dimensions of padded accesses"); }
    constexpr int add(step_extent const& e) { return keep(plan.step_extents, e, "extents of steps"); }
    constexpr int add(setting const& s) { return keep(plan.settings, s, "settings"); }
    constexpr int add(use const& u) { return keep(plan.uses, u, "tensor accesses"); }
    constexpr int add(stage const& s) { return keep(plan.stages, s, "stages"); }
    constexpr int add(buffer_layout const& l) { return keep(plan.layouts, l, "layouts"); }
    constexpr int add(shape const& s) { return keep(plan.shapes, s, "shapes of arguments"); }
    constexpr int add(message const& m) { return keep(plan.messages, m, "messages between cores"); }
    constexpr int add(step_kind kind, int what) {
        return keep(plan.steps, step{.kind = kind, .what = static_cast<std::int16_t>(what), .core = from_.core}, "steps");
    }
    /// The steps that are added from now on are those of a stage, on the core that runs it.
    constexpr void write_for(stage_id s) { from_core(placed(s).core); }
    constexpr void from_core(std::int16_t core) { from_.core = core; }
    constexpr void in_shares(bool shared) { from_.shared = shared; }
    /// The first channel of a ring: the one after those that the ring before it, on its engine, has for its versions.
    constexpr std::int16_t take_channels(int engine_at) {
        int first = 0;
        for (int at = 0; at < plan.rings.count; ++at) {
            ring const& before = plan.rings[at];
            if (before.engine == engine_at) first = before.first_channel + before.versions;
        }
        return static_cast<std::int16_t>(first % plan.channels_of(engine_at));
    }
    /// The first of `count` tags that no other transfer is waited for by.
    constexpr std::int16_t take_tags(int count) {
        int const first = from_.tags;
        from_.tags += count;
        return static_cast<std::int16_t>(first);
    }
};

/// Writes what the plan is made from as well.
struct placing : writing {
    groundwork& from;

    constexpr placing(schedule const& what, machine_reading const& reading, verdict_sheet& sheet, plan_value& made, groundwork& made_from)
        : writing(what, reading, sheet, made, made_from), from(made_from) {}

    constexpr nest& nest_at(int position) { return from_.nests.slots[position].part; }
    constexpr stage_placement& placed(int position) { return from_.placements.slots[position].part; }
    constexpr staging& staging_at(int position) { return from_.stagings.slots[position].part; }
    using planning::nest_at, planning::placed, planning::staging_at;

    constexpr int add(staging const& st) { return keep(from_.stagings, st, "staged buffers"); }
    constexpr int add(staged_link const& l) { return keep(from_.staged_links, l, "links between engines"); }
    using writing::add;
};

}  // namespace tilewright::detail
