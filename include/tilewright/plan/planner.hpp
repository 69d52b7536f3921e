#pragma once
#include <tilewright/plan/check/core_accesses.hpp>
#include <tilewright/plan/check/excess.hpp>
#include <tilewright/plan/check/hazards.hpp>
#include <tilewright/plan/check/partial_counts.hpp>
#include <tilewright/plan/check/prediction.hpp>
#include <tilewright/plan/check/specialise.hpp>
#include <tilewright/plan/check/stale_settings.hpp>
#include <tilewright/plan/check/totals.hpp>
#include <tilewright/plan/offsets/addresses.hpp>
#include <tilewright/plan/offsets/banks.hpp>
#include <tilewright/plan/offsets/lifetimes.hpp>
#include <tilewright/plan/place/cores.hpp>
#include <tilewright/plan/place/machine_check.hpp>
#include <tilewright/plan/place/multicasts.hpp>
#include <tilewright/plan/place/parallel.hpp>
#include <tilewright/plan/place/reading.hpp>
#include <tilewright/plan/place/registers.hpp>
#include <tilewright/plan/place/stage_placement.hpp>
#include <tilewright/plan/place/staging.hpp>
#include <tilewright/plan/write/barriers.hpp>
#include <tilewright/plan/write/links.hpp>
#include <tilewright/plan/write/needless_waits.hpp>
#include <tilewright/plan/write/place_settings.hpp>
#include <tilewright/plan/write/program_writer.hpp>
#include <tilewright/plan/write/tied.hpp>
#include <tilewright/plan/write/upkeeps.hpp>

namespace tilewright {

namespace detail {

/// Whether to follow the finished program and prove that its accesses are in order. A search of many plans proves only the one that it
/// takes.
enum class proof : std::uint8_t { given, left_out };

constexpr void write_plan(placing& p, proof wanted) {
    schedule const& of = *p.of;
    plan_value& plan = p.plan;
    if (!of.temporary().empty()) {
        p.forget();  // of a machine that is not there
        p.refuse(of.temporary() == ir::wrong_call ? verdict_kind::reported : verdict_kind::temporary).names = {of.temporary()};
    }
    if (!p.refused()) read_stages(p);
    if (!p.refused()) read_directives(p);
    if (!p.refused()) add_arguments(p);
    for (stage_id s{stage_id(plan.stages.count - 1)}; s >= 0 && !p.refused(); --s) place_stage(p, s);
    if (!p.refused()) size_arguments(p);
    if (!p.refused()) place_stagings(p);
    if (!p.refused()) bind_accesses(p);
    if (!p.refused()) tie_operands(p);
    if (!p.refused()) choose_owned_loops(p);
    if (!p.refused()) check_transfer_stages(p);
    if (!p.refused()) make_rings(p);
    if (!p.refused()) place_parallel(p);
    if (!p.refused() && plan.where->core_count() > 1) check_multicasts(p);
    if (!p.refused() && (plan.where->has_unlike_cores() || plan.where->host().count > 1)) place_cores(p);
    for (stage_id s{}; s < plan.stages.count && plan.limits.count > 0 && !p.refused(); ++s) {
        if (p.nest_at(s).intrinsic >= 0) choose_fills(p, s);
    }
    if (!p.refused()) make_links(p);
    program_writer writer{p};
    for (stage_id s{}; s < plan.stages.count && !p.refused(); ++s) {
        if (p.placed(s).at_stage < 0) writer.write_root(s);
    }
    if (!p.refused()) place_settings(p);
    if (!p.refused() && plan.has_shares()) place_barriers(p);
    if (!p.refused() && plan.where->has_caches()) place_upkeeps(p);
    if (p.refused()) return;
    set_lifetimes(plan, p, levels_of_buffers(p));
    if (!p.refused()) check_registers(plan, p);
    if (!p.refused()) place_buffers(plan, p);
    if (!p.refused()) check_banks(plan, p);
    if (!p.refused() && !add_fences(plan)) p.refuse_capacity("steps", plan.steps.most + 1, plan.steps.most);
    if (!p.refused()) refuse_stale_setting(plan, p, find_stale_setting(plan));
    if (p.refused()) return;
    if (has_asynchronous_intrinsics(of.where())) drop_needless_waits(plan);
    if (plan.run_time_extents > 0) return check_representatives(plan, p);
    limit_totals(plan, p);
    if (!p.refused() && (p.is_conditional() || has_unlike_shares(plan))) refuse_excess(p, count_partial(plan));
    if (!p.refused()) plan.total_cycles = count_cycles(plan);
    if (wanted == proof::left_out) return;
    if (!p.refused()) refuse_hazard(plan, p, find_hazard(plan));
    if (!p.refused() && (plan.cores > 1 || plan.where->has_caches())) refuse_hazard(plan, p, find_core_hazard(plan));
    if (!p.refused() && p.is_partial()) refuse_hazard(plan, p, find_excess(plan));
}

/// @tparam Plan  what is made: a plan, or a class that is a plan and has nothing more. A plan is large, and the compiler should not copy it
/// once more
template <class Plan = plan_value>
constexpr Plan make_plan(schedule const& of, machine_reading const& parts, proof wanted = proof::given) {
    Plan plan{};
    groundwork from;
    verdict_sheet sheet;
    placing p(of, parts, sheet, plan, from);
    write_plan(p, wanted);
    plan.refusal = sheet.first;
    return plan;
}

}  // namespace detail

/// Plans a schedule: boxes, addresses and the loop program, or the first verdict.
///
/// The same function serves the compiler (through `plan<S>`) and tools at run time.
constexpr plan_value make_plan(schedule const& of) { return detail::make_plan(of, detail::read_machine(of.where())); }

}  // namespace tilewright
