#pragma once
#include <tilewright/plan/planner.hpp>

#include "plan/small_kernels.hpp"

namespace small_kernels {

/// Passes of the planner in its order: see `write_plan`.
enum class pass { read, arguments, stages, sizes, stagings, accesses, tied, owned, rings, fills, links, program };

/// What the planner has made of a schedule behind one of its passes, or where it refused.
struct planned_to {
    schedule of;
    detail::machine_reading parts;
    plan_value plan;
    detail::groundwork from;
    detail::verdict_sheet sheet;
    detail::placing p;

    planned_to(pass last, schedule const& what) : of(what), parts(detail::read_machine(of.where())), p(of, parts, sheet, plan, from) {
        using namespace detail;
        auto const carry_out = [&](pass one, auto&& step) {
            if (one <= last && !p.refused()) step();
        };
        carry_out(pass::read, [&] { read_stages(p); });
        carry_out(pass::read, [&] { read_directives(p); });
        carry_out(pass::arguments, [&] { add_arguments(p); });
        for (stage_id s{stage_id(p.plan.stages.size() - 1)}; s >= 0; --s) carry_out(pass::stages, [&] { place_stage(p, s); });
        carry_out(pass::sizes, [&] { size_arguments(p); });
        carry_out(pass::stagings, [&] { place_stagings(p); });
        carry_out(pass::accesses, [&] { bind_accesses(p); });
        carry_out(pass::tied, [&] { tie_operands(p); });
        carry_out(pass::owned, [&] { choose_owned_loops(p); });
        carry_out(pass::owned, [&] { check_transfer_stages(p); });
        carry_out(pass::rings, [&] { make_rings(p); });
        carry_out(pass::rings, [&] { place_parallel(p); });
        for (stage_id s{}; s < p.plan.stages.size(); ++s) {
            carry_out(pass::fills, [&] {
                if (p.plan.limits.size() > 0 && p.nest_at(s).intrinsic >= 0) choose_fills(p, s);
            });
        }
        carry_out(pass::links, [&] { make_links(p); });
        program_writer writer{p};
        for (stage_id s{}; s < p.plan.stages.size(); ++s) {
            carry_out(pass::program, [&] {
                if (p.placed(s).at_stage < 0) writer.write_root(s);
            });
        }
    }
    planned_to(planned_to const&) = delete;

    verdict const& refusal() const { return p.first_verdict(); }
    /// A buffer by its name, a loop or a number by its own, and the n-th access to a tensor; -1: there is none.
    buffer_id buffer(label const& name) const {
        buffer_id found = no_buffer;
        for (buffer_id at{}; at < p.plan.buffers.size(); ++at) found = p.buffer_at(at).name == name ? at : found;
        return found;
    }
    variable_id variable(label const& name) const {
        variable_id found = no_variable;
        for (variable_id at{}; at < p.plan.variables.size(); ++at) found = p.var(at).name == name && found < 0 ? at : found;
        return found;
    }
    node_id access(label const& name, int number = 0) const {
        for (node_id at{}; at < p.plan.what.count; ++at) {
            if (p.plan.what[at].op == operation::access && p.plan.what[at].name == name && number-- == 0) return at;
        }
        return no_node;
    }
};

}  // namespace small_kernels
