#pragma once
#include <tilewright/machine/clock.hpp>
#include <tilewright/plan/ir/required_value.hpp>

// Cycles of single steps: of an intrinsic, by how much of its axes it covers, and of elements that the core fills.
namespace tilewright::detail {

using namespace ir;

/// Cycles of a step that no end shortens.
/// @param semantics  of the intrinsic
constexpr std::int64_t cycles_of_whole_step(plan_value const& plan, intrinsic_form const& form, stage const& semantics) {
    fixed_array<std::int64_t, stage::most_axes> extents{};
    for (int axis = 0; axis < semantics.axis_count; ++axis) extents[axis] = semantics.axes[axis].extent;
    for (int at = form.extents; at < form.extents + form.extent_count; ++at) {
        step_extent const& e = plan.step_extents[at];
        extents[e.axis] = e.most;
    }
    return time_of(plan.where->intrinsics[form.intrinsic].costs, extents.elements).busy;
}

/// The form with the intrinsic of its name that a core has.
constexpr intrinsic_form form_on(plan_value const& plan, intrinsic_form form, int core) {
    if (plan.where->has_unlike_cores())
        form.intrinsic = static_cast<decltype(form.intrinsic)>(intrinsic_on(*plan.where, form.intrinsic, core));
    return form;
}
/// Cycles of a whole step on the core whose form it is.
/// @param most  on the slowest of the cores that run it
constexpr std::int64_t whole_step_on(plan_value const& plan, intrinsic_form const& form, std::int64_t most) {
    intrinsic_description const& own = plan.where->intrinsics[form.intrinsic];
    if (own.core_name.empty()) return most;
    stage semantics;
    read_stage(plan.where->view(own.semantics), 0, semantics);
    return cycles_of_whole_step(plan, form, semantics);
}

/// A bit for each axis whose ends make steps cover less, and so cost less.
constexpr unsigned costly_ends(plan_value const& plan, intrinsic_form const& form) {
    unsigned ends = 0;
    for (int at = form.extents; at < form.extents + form.extent_count; ++at) {
        step_extent const& e = plan.step_extents[at];
        if (e.weight != 0) ends |= 1u << e.axis;
    }
    return ends == 0 ? 0 : ends & plan.where->intrinsics[form.intrinsic].costs.axes();
}

/// Elements of each axis that one step of an intrinsic covers, where the loops stand.
template <class Run>
constexpr void cover(Run const& in, intrinsic_form const& form, fixed_array<std::int64_t, stage::most_axes>& extents) {
    for (int at = form.extents; at < form.extents + form.extent_count; ++at) {
        step_extent const& e = in.plan().step_extents[at];
        std::int64_t& extent = extents[e.axis];
        if (e.most < extent) extent = e.most;
        if (e.weight == 0) continue;
        std::int64_t const left = (e.bound + e.weight - 1 - in.value_of(e.form)) / e.weight;
        if (left < extent) extent = left;
    }
}

/// Cycles of one step where the loops stand.
/// @param whole  of one that no end shortens
template <class Run>
constexpr std::int64_t cycles_of_step(Run const& in, intrinsic_form const& form, std::int64_t whole) {
    if (costly_ends(in.plan(), form) == 0) return whole;
    fixed_array<std::int64_t, stage::most_axes> extents{};
    set_all(extents, stage::most_index);
    cover(in, form, extents);
    return time_of(in.plan().where->intrinsics[form.intrinsic].costs, extents.elements).busy;
}

/// Cycles of a core for one element that it fills.
constexpr std::int64_t fill_cycles(plan_value const& plan, movement const& m, int core) {
    buffer const& b = plan.buffers[m.destination];
    return plan.where->core_at(core).costs.store + plan.where->memories[b.memory].wait_cycles;
}

/// Whether cores of several kinds take shares of a loop: a step there takes each kind its own cycles.
constexpr bool has_unlike_shares(plan_value const& plan) {
    return plan.where->has_unlike_cores() && plan.has_shares() &&
           plan.where->kind_of(plan.first_core) != plan.where->kind_of(plan.end_core - 1);
}

}  // namespace tilewright::detail
