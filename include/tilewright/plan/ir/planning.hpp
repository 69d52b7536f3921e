#pragma once
#include <numeric>
#include <tilewright/plan/ir/trip_count.hpp>

namespace tilewright::detail {

using namespace ir;

/// In the place of a transfer: loops of the core, which can write a constant.
inline constexpr int by_core = -1;
inline constexpr transfer_description loops_of_core{.name = "core", .most_dimensions = max_rank + 1};
constexpr transfer_description const& mover_of(plan_value const& plan, int transfer_at) {
    return transfer_at < 0 ? loops_of_core : plan.where->transfers[transfer_at];
}

/// A loop of a stage while directives are applied: a leaf is a loop of the nest, others were split or fused.
struct nest_axis {
    enum class role : std::uint8_t { leaf, split, fused };

    label name{};
    std::int64_t extent = 1;
    role is = role::leaf;
    bool reduction = false;
    bool unrolled = false;
    bool vectorized = false;
    bool parallel = false;
    std::int16_t marked_ordinal = 0;  ///< the directive that unrolls or vectorizes it, or makes it parallel
    std::int64_t lane_extent = 0;     ///< of a tensorized loop: elements that one step covers
    bool flexible = false;            ///< likewise: at most; the last step covers what is left
    std::int16_t outer = -1;          ///< split: the two parts; fused: the fused axis
    std::int16_t inner = -1;
    std::int64_t factor = 1;     ///< split: extent of the inner part; fused: divisor
    std::int64_t modulus = 0;    ///< fused: 0 for the outer of the two
    std::int16_t variable = -1;  ///< leaf and fused component, once the nest is complete
    std::int16_t lane = -1;
    std::int16_t trips = -1;  ///< the variable that gives its extent at run time, `extent` being the most; -1: always `extent`
};

/// The loops of one stage.
struct nest {
    static constexpr int most = 28;

    part_pool<nest_axis, most> axes{};
    fixed_array<std::int16_t, body::most_loops> order{};  ///< the leaves, outermost first
    int depth = 0;
    std::int16_t intrinsic = -1;
    std::int16_t intrinsic_ordinal = 0;
    fixed_array<std::int16_t, max_rank> covered{};  ///< tensorized axes, in the order they were named
    int covered_count = 0;
    bool partial = false;  ///< a tile or a step of its intrinsic does not divide its extent

    constexpr nest_axis& axis_of_loop(int position) { return axes[order[position]]; }
    constexpr nest_axis const& axis_of_loop(int position) const { return axes[order[position]]; }
    constexpr int position_of(label const& name) const {
        for (int position = 0; position < depth; ++position) {
            if (axis_of_loop(position).name == name) return position;
        }
        return -1;
    }
};

/// What directives say of one stage besides its loops.
struct stage_placement {
    std::int16_t store_memory = -1;  ///< position in the machine
    std::int16_t store_ordinal = 0;
    std::int16_t store_bank = -1;
    std::int16_t store_bank_ordinal = 0;
    std::int16_t store_layout = -1;  ///< position in the schedule
    std::int16_t store_layout_ordinal = 0;
    std::int16_t transfer = -1;  ///< carries the whole stage out
    std::int16_t transfer_ordinal = 0;
    label at_loop{};  ///< compute_at
    std::int16_t at_ordinal = 0;
    std::int16_t at_stage = -1;                            ///< the stage in whose nest it stands; -1: root
    std::int16_t level = -1;                               ///< the variable of the loop it stands in; -1: root
    std::int16_t home = -1;                                ///< the buffer that its output lives in
    fixed_array<linear, stage::most_axes> axis_values{};   ///< of each axis, over variables
    fixed_array<std::int64_t, stage::most_axes> lowest{};  ///< of each axis, over all that the kernel computes of it
    fixed_array<affine, stage::most_axes> highest{};       ///< likewise, over extents that are left to run time
    fixed_array<std::int16_t, 24> path{};                  ///< variables of the loops around and in it, outermost first
    int outer_depth = 0;                                   ///< how many of them stand around it
    int path_length = 0;
    int owned = 0;  ///< how many of its own loops the program holds; the others are its tile body
};

/// One cache_read or cache_write.
struct staging {
    std::int16_t stage = 0;
    bool writes = false;
    label tensor{};
    std::int16_t memory = -1;
    std::int16_t ordinal = 0;
    label loop{};
    std::int16_t loop_ordinal = 0;
    std::int16_t transfer = -1;
    std::int16_t transfer_ordinal = 0;
    std::int16_t level = -1;  ///< variable of the loop; -1: root
    std::int16_t depth = 0;   ///< position on the stage's path behind that loop
    std::int16_t buffer = -1;
    std::int16_t outward = -1;  ///< the buffer on the other side of its transfer
    static constexpr std::int16_t no_fill = -1, filled_by_core = -2;
    std::int16_t fill = no_fill;  ///< the transfer that writes what a load leaves out: of a border, and for partial steps of a reduction
    std::int16_t border = -1;     ///< a padded access whose border its box can hold, when it is not loaded with the rest; -1: none
    bool pads = false;            ///< the load writes that border itself
    std::int16_t versions = 1;
    std::int16_t versions_ordinal = 0;
    std::int16_t distance = -1;  ///< of prefetch; -1: not said
    std::int16_t distance_ordinal = 0;
    label asking{};                     ///< of prefetch: the loop whose iterations ask; empty: not said
    std::int16_t asking_variable = -1;  ///< likewise
    std::int16_t bank = -1;             ///< -1: any
    std::int16_t bank_ordinal = 0;
    std::int16_t layout = -1;  ///< position in the schedule; -1: none
    std::int16_t layout_ordinal = 0;
    std::int16_t scope = 0;    ///< position on the stage's path where its steps are counted from
    std::int16_t around = -1;  ///< the staging further out across whose steps its own are counted
    std::int16_t mover = -1;   ///< the transfer into the buffer, or out of it for a cache_write
    std::int16_t loader = -1;  ///< a cache_write that continues: the transfer into it
    std::int16_t ring = -1;    ///< of `mover`
    std::int16_t loader_ring = -1;
    bool partial_sums = false;  ///< a cache_write inside a reduction: what is stored is loaded again, but for the first time
    bool core_waits = true;     ///< the core waits where the buffer is used: what touches it is not ordered by links alone

    /// The directive that says how it is moved, for verdicts about it.
    constexpr int moved_by() const { return transfer >= 0 ? transfer_ordinal : ordinal; }
};

/// What orders the transfers of a staged buffer and an engine that uses it.
enum class link_role : std::uint8_t {
    load_to_user,   // what is loaded is there
    user_to_load,   // a version may be loaded anew
    user_to_store,  // what is computed is there
    store_to_user,  // a version may be written anew
};
struct staged_link {
    std::int16_t staging = -1;
    link_role is{};
    std::int16_t link = -1;
};

/// Keeps the first verdict; what is refused after it is ignored.
struct refusals {
    verdict kept{};
    schedule const* of = nullptr;

    constexpr bool refused() const { return static_cast<bool>(kept); }
    constexpr verdict& refuse(verdict_kind kind, int ordinal = 0) {
        if (refused()) {
            ignored_ = {};
            return ignored_;
        }
        verdict& v = kept;
        v.kind = kind;
        v.ordinal = static_cast<std::int16_t>(ordinal);
        if (ordinal > 0) {
            directive const& d = of->directive_at(ordinal - 1);
            v.line = d.line;
            v.directive = d.kind;
        }
        return v;
    }
    constexpr void refuse(verdict_kind kind, rule broken, fixed_array<label, 4> const& names, int ordinal = 0) {
        verdict& v = refuse(kind, ordinal);
        v.broken = broken;
        v.names = names;
    }
    constexpr void refuse_capacity(label const& what, std::int64_t needed, std::int64_t most, int ordinal = 0, label const& of_what = {}) {
        verdict& v = refuse(verdict_kind::capacity_of_representation, ordinal);
        v.names = {what, of_what};
        v.facts = {fact{fact_kind::need, needed}, fact{fact_kind::limit, most}};
    }
    constexpr void refuse_ill_formed(stage_mistake const& wrong, label const& output) {
        if (wrong.limit > 0) refuse_capacity(wrong.what, wrong.need, wrong.limit, 0, wrong.about.empty() ? output : wrong.about);
        else refuse(verdict_kind::ill_formed, wrong.broken, {output, wrong.about});
    }
    /// `need` as a number of which a plan can hold at most `most`; 0 after a refusal. A double holds products that an int64 would not.
    constexpr std::int64_t limited(double need, std::int64_t most, char const* what, label const& of_what) {
        if (need <= static_cast<double>(most)) return static_cast<std::int64_t>(need);
        refuse_capacity(what, static_cast<std::int64_t>(need < 4e18 ? need : 4e18), most, 0, of_what);
        return 0;
    }
    constexpr std::int64_t common_multiple(std::int64_t a, std::int64_t b, label const& of_what) {
        double const multiple = static_cast<double>(a / std::gcd(a, b)) * static_cast<double>(b);
        return limited(multiple, plan_value::most_bytes, "alignment", of_what) == 0 ? 1 : std::lcm(a, b);
    }
    constexpr void check_name(label const& name, int ordinal = 0) {
        if (name.cut()) refuse_capacity("letters", name.full_size(), label::longest, ordinal, name.beginning());
    }

  private:
    verdict ignored_{};
};

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
    /// The first of `count` tags that no other transfer is waited for by.
    /// The transfers of a ring begin with the channel behind those that the ring before, on its engine, has for its versions.
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
    constexpr stage_placement& placed(int position) { return placements[position]; }
    constexpr stage_placement const& placed(int position) const { return placements[position]; }
    constexpr nest const& nest_at(int position) const { return nests[position]; }
    constexpr nest& nest_at(int position) { return nests[position]; }
    constexpr ring const& ring_at(int position) const { return plan.rings[position]; }
    constexpr staging& staging_at(int position) { return stagings[position]; }

    /// Whether some of what is moved must be clipped: tiles can be partial, or axes end where only run time knows.
    constexpr bool is_partial() const { return cuts || borders || plan.limits.size() > 0 || plan.run_time_extents > 0; }
    /// Whether some steps of the program are not carried out in all iterations of the loops around, or not in full.
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

    /// From where to where index `dimension` of the access at `node` of stage `s` goes, over all that the kernel computes. Of a padded
    /// access, inside the tensor; it is at one of the ends where it is always outside.
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

    /// Calls `visit(node)` for every tensor that stage `s` reads and, when asked for, its target. What a stage continues from is its
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
