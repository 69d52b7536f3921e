#pragma once
#include <tilewright/compute/value_range.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <tilewright/plan/place/machine_check.hpp>
#include <tilewright/plan/loops/run_time.hpp>

// What the computation and the directives say, before anything is decided.
namespace tilewright::detail {

/// Names that generated code takes over, and scalar parameters, which share them with tensors.
constexpr void check_names(planning& p) {
    computation_view const& what = p.plan.what;
    int parameters = 0;
    for (int at = 0; at < what.count && !p.refused(); ++at) {
        node const& n = what[at];
        if (n.op != operation::access && n.op != operation::parameter && n.op != operation::axis_value) continue;
        p.check_name(n.name);
        if (!n.name.is_identifier()) p.refuse(verdict_kind::ill_formed, rule::no_identifier, {n.name});
        if (n.op != operation::parameter) continue;
        bool known = false;
        for (int before = 0; before < what.count; ++before) {
            node const& other = what[before];
            if (other.name != n.name || other.op == operation::store) continue;
            if (other.op != operation::parameter) p.refuse(verdict_kind::ill_formed, rule::name_of_two_things, {n.name});
            if (other.type != n.type) p.refuse(verdict_kind::ill_formed, rule::used_with_two_types, {n.name});
            known |= before < at;
        }
        if (!known) ++parameters;
    }
    if (parameters > argument_list::most_parameters) p.refuse_capacity("parameters", parameters, argument_list::most_parameters);
}

/// No amount of a shift is known to be none of its type.
constexpr void check_shifts(planning& p) {
    computation_view const& what = p.plan.what;
    for (int at = 0; at < what.count && !p.refused(); ++at) {
        node const& n = what[at];
        if (n.op != operation::shift_left && n.op != operation::shift_right) continue;
        value_range const amounts = range_of(what, n.argument(1));
        std::int64_t const most = 8 * bytes_of(n.type) - 1;
        if (!amounts.known || (amounts.low <= most && amounts.high >= 0)) continue;
        p.refuse(verdict_kind::ill_formed, rule::no_shift_amount, {name_of(n.type)});
    }
}

/// The extents that padded accesses name are those of their tensor.
constexpr void check_paddings(planning& p) {
    computation_view const& what = p.plan.what;
    for (int at = 0; at < what.count && !p.refused(); ++at) {
        if (!is_padded(what, at)) continue;
        node const& n = what[at];
        int const producer = p.producer_of(n.name);
        for (int dimension = 0; dimension < n.argument_count; ++dimension) {
            std::int64_t const extent = padded_extent(what, at, dimension);
            bool same = true;
            if (producer >= 0 && dimension < p.stage_at(producer).rank) {
                stage_axis const& a = p.stage_at(producer).axes[dimension];
                same = a.extent == extent && !a.run_time;
            }
            for (int other = 0; other < at; ++other) {
                bool const comparable = what[other].name == n.name && is_padded(what, other) && dimension < what[other].argument_count;
                same &= !comparable || padded_extent(what, other, dimension) == extent;
            }
            if (!same) p.refuse(verdict_kind::ill_formed, rule::padding_with_two_extents, {n.name});
        }
    }
}

constexpr void read_stages(planning& p) {
    plan_value& plan = p.plan;
    for (int first = 0; first < plan.what.count && !p.refused();) {
        stage s;
        stage_mistake const wrong = read_stage(plan.what, first, s);
        if (wrong) return p.refuse_ill_formed(wrong, s.output);
        if (p.producer_of(s.output) >= 0) return p.refuse(verdict_kind::ill_formed, rule::computed_by_two_stages, {s.output});
        double iterations = 1;
        for (int axis = 0; axis < s.axis_count; ++axis) {
            stage_axis const& a = s.axes[axis];
            if (!a.run_time) iterations *= static_cast<double>(a.extent);
        }
        p.limited(iterations, plan_value::most_iterations, "iterations", s.output);
        first = s.store + 1;
        if (s.continues && first < plan.what.count) return p.refuse(verdict_kind::ill_formed, rule::continuing_in_the_middle, {s.output});
        p.keep(plan.stages, s, "stages");
        if (p.refused()) return;
        p.nests.push({});
        p.placements.push({});
    }
    if (!p.refused()) check_names(p);
    if (!p.refused()) check_shifts(p);
    if (!p.refused()) check_paddings(p);
    add_extents(p);
    for (int s = 0; s + 1 < plan.stages.size() && !p.refused(); ++s) {
        bool read = false;
        for (int consumer = s + 1; consumer < plan.stages.size(); ++consumer) {
            p.each_access(consumer, [&](int node) { read |= plan.what[node].name == p.stage_at(s).output; });
        }
        if (!read) return p.refuse(verdict_kind::ill_formed, rule::never_read, {p.stage_at(s).output});
    }
}

/// `reads` and `writes`: the tensor is an argument of that direction, said once, and every memory can hold arguments.
constexpr void read_residence(planning& p, directive const& d, int ordinal) {
    schedule const& of = *p.of;
    label const& tensor = of.name_at(d, 0);
    bool const writes = d.kind == directive_kind::writes;
    int const last = p.plan.stages.size() - 1;
    bool found = writes && p.stage_at(last).output == tensor;
    for (int s = 0; s <= last && !writes && p.producer_of(tensor) < 0; ++s)
        p.each_access(s, [&](int node) { found |= p.plan.what[node].name == tensor; });
    if (!found) return p.refuse(verdict_kind::unknown_tensor, writes ? rule::not_the_result : rule::not_an_input, {tensor}, ordinal);
    for (int at = 0; at < of.directive_count(); ++at) {
        directive const& other = of.directive_at(at);
        bool const again = other.kind == d.kind && at + 1 < ordinal && of.name_at(other, 0) == tensor;
        bool const kept = writes && other.kind == directive_kind::store_in && of.name_at(other, 0) == tensor;
        if (!again && !kept) continue;
        p.refuse(verdict_kind::conflicting_directives, ordinal).names = {tensor, name_of(other.kind)};
        return;
    }
    if (d.name_count - 1 > any_of::most) return p.refuse_capacity("memories", d.name_count - 1, any_of::most, ordinal, tensor);
    for (int at = 1; at < d.name_count && !p.refused(); ++at) {
        int const memory_at = of.where().memories.find(of.name_at(d, at));
        if (memory_at < 0) {
            p.refuse(verdict_kind::unknown_part, ordinal).names = {of.name_at(d, at), of.where().name};
            continue;
        }
        memory const& m = of.where().memories[memory_at];
        if (m.registers > 0 || m.is_numbered() || m.is_view())
            p.refuse(verdict_kind::misplaced_directive, rule::holds_no_arguments, {tensor, m.name}, ordinal);
    }
}

/// Reads the directives that place stages and stage tensors; loops are left to `build_loops`.
constexpr void read_directives(planning& p) {
    schedule const& of = *p.of;
    machine const& where = of.where();
    if (of.directive_count() > schedule::most_directives)
        return p.refuse_capacity("directives", of.directive_count(), schedule::most_directives);
    if (of.name_count() > schedule::most_names) return p.refuse_capacity("names in directives", of.name_count(), schedule::most_names);
    if (of.layout_count() > schedule::most_layouts) return p.refuse_capacity("layouts", of.layout_count(), schedule::most_layouts);
    int current = p.plan.stages.size() - 1;
    int last_staging = -1, last_stored = -1;
    bool by_caller = false;  // what was stored last lies where the caller says: it has no bank or layout to choose
    for (int at = 0; at < of.directive_count() && !p.refused(); ++at) {
        directive const& d = of.directive_at(at);
        int const ordinal = at + 1;
        auto const name = [&](int position) { return of.name_at(d, position); };
        bool const makes_loops = d.kind == directive_kind::split || d.kind == directive_kind::tile || d.kind == directive_kind::fuse;
        for (int position = 0; position < d.name_count; ++position) {
            p.check_name(name(position), ordinal);
            if (makes_loops && !name(position).is_identifier())
                p.refuse(verdict_kind::ill_formed, rule::no_identifier, {name(position)}, ordinal);
        }
        if (p.refused()) return;
        auto const stage_named = [&](label const& tensor) {
            int const s = p.producer_of(tensor);
            if (s < 0) p.refuse(verdict_kind::unknown_tensor, rule::not_computed, {tensor}, ordinal);
            return s;
        };
        auto const conflict = [&](label const& what) {
            p.refuse(verdict_kind::conflicting_directives, ordinal).names = {what, name_of(d.kind)};
        };
        auto const misplaced = [&] {
            label const about = d.name_count > 0 ? name(0) : label(name_of(d.kind));
            p.refuse(verdict_kind::misplaced_directive, rule::behind_no_staging, {about}, ordinal);
        };
        // A number of the buffer that a directive before it has made; it can be said once.
        auto const number = [&](std::int16_t& of_buffer, std::int16_t& said_by, label const& tensor, std::int64_t least) {
            if (said_by != 0) return conflict(tensor);
            if (d.factors[0] < least) {
                verdict& v = p.refuse(verdict_kind::invalid_number, ordinal);
                v.names = {tensor, name_of(d.kind)};
                v.facts = {fact{fact_kind::have, d.factors[0]}, fact{fact_kind::limit, least}};
            }
            if (d.factors[0] > most_versions) p.refuse_capacity("versions", d.factors[0], most_versions, ordinal, tensor);
            if (p.refused()) return;
            of_buffer = static_cast<std::int16_t>(d.factors[0]);
            said_by = static_cast<std::int16_t>(ordinal);
        };
        auto const memory_named = [&](label const& memory_name) {
            int const position = where.memories.find(memory_name);
            if (position < 0) p.refuse(verdict_kind::unknown_part, ordinal).names = {memory_name, where.name};
            return static_cast<std::int16_t>(position);
        };
        switch (d.kind) {
            case directive_kind::stage: current = stage_named(name(0)); break;
            case directive_kind::compute_at: {
                int const s = stage_named(name(0));
                if (s < 0) break;
                if (p.placed(s).at_ordinal != 0) return conflict(name(0));
                p.placed(s).at_loop = name(1);
                p.placed(s).at_ordinal = static_cast<std::int16_t>(ordinal);
                break;
            }
            case directive_kind::store_in: {
                int const s = stage_named(name(0));
                if (s < 0) break;
                if (p.placed(s).store_ordinal != 0) return conflict(name(0));
                p.placed(s).store_memory = memory_named(name(1));
                p.placed(s).store_ordinal = static_cast<std::int16_t>(ordinal);
                last_stored = s;
                by_caller = false;
                last_staging = -1;
                break;
            }
            case directive_kind::reads:
            case directive_kind::writes:
                read_residence(p, d, ordinal);
                last_stored = d.kind == directive_kind::writes ? p.plan.stages.size() - 1 : -1;
                by_caller = true;
                last_staging = -1;
                break;
            case directive_kind::cache_read:
            case directive_kind::cache_write: {
                bool const writes = d.kind == directive_kind::cache_write;
                bool used = writes && p.stage_at(current).output == name(0);
                if (!writes) p.each_access(current, [&](int node) { used |= p.plan.what[node].name == name(0); });
                if (!used) {
                    rule const missing = writes ? rule::not_computed_by_the_stage : rule::not_read_by_the_stage;
                    p.refuse(verdict_kind::unknown_tensor, missing, {name(0), p.stage_at(current).output}, ordinal);
                    break;
                }
                last_staging = p.keep(p.stagings,
                                      staging{.stage = static_cast<std::int16_t>(current),
                                              .writes = writes,
                                              .tensor = name(0),
                                              .memory = memory_named(name(1)),
                                              .ordinal = static_cast<std::int16_t>(ordinal)},
                                      "staged buffers");
                break;
            }
            case directive_kind::at:
                if (last_staging < 0) return misplaced();
                if (p.staging_at(last_staging).loop_ordinal != 0) return conflict(p.staging_at(last_staging).tensor);
                p.staging_at(last_staging).loop = name(0);
                p.staging_at(last_staging).loop_ordinal = static_cast<std::int16_t>(ordinal);
                break;
            case directive_kind::by: {
                auto const transfer_at = static_cast<std::int16_t>(where.transfers.find(name(0)));
                if (transfer_at < 0) p.refuse(verdict_kind::unknown_part, ordinal).names = {name(0), where.name};
                if (last_staging < 0 && last_stored < 0) return misplaced();
                if (last_staging >= 0) {
                    if (p.staging_at(last_staging).transfer >= 0) return conflict(p.staging_at(last_staging).tensor);
                    p.staging_at(last_staging).transfer = transfer_at;
                    p.staging_at(last_staging).transfer_ordinal = static_cast<std::int16_t>(ordinal);
                } else {
                    if (p.placed(last_stored).transfer >= 0) return conflict(p.stage_at(last_stored).output);
                    p.placed(last_stored).transfer = transfer_at;
                    p.placed(last_stored).transfer_ordinal = static_cast<std::int16_t>(ordinal);
                }
                break;
            }
            case directive_kind::buffers:
            case directive_kind::prefetch: {
                if (last_staging < 0) return misplaced();
                staging& st = p.staging_at(last_staging);
                bool const versions = d.kind == directive_kind::buffers;
                versions ? number(st.versions, st.versions_ordinal, st.tensor, 1) : number(st.distance, st.distance_ordinal, st.tensor, 0);
                if (d.name_count > 0) st.asking = name(0);
                break;
            }
            case directive_kind::layout: {
                if (last_staging < 0 && (last_stored < 0 || by_caller)) return misplaced();
                bool const staged = last_staging >= 0;
                std::int16_t& map = staged ? p.staging_at(last_staging).layout : p.placed(last_stored).store_layout;
                if (map >= 0) return conflict(staged ? p.staging_at(last_staging).tensor : p.stage_at(last_stored).output);
                map = static_cast<std::int16_t>(d.factors[0]);
                (staged ? p.staging_at(last_staging).layout_ordinal : p.placed(last_stored).store_layout_ordinal) =
                    static_cast<std::int16_t>(ordinal);
                break;
            }
            case directive_kind::in_bank:
                if (last_staging < 0 && (last_stored < 0 || by_caller)) return misplaced();
                if (last_staging >= 0) {
                    staging& st = p.staging_at(last_staging);
                    number(st.bank, st.bank_ordinal, st.tensor, 0);
                } else {
                    number(p.placed(last_stored).store_bank, p.placed(last_stored).store_bank_ordinal, p.stage_at(last_stored).output, 0);
                }
                break;
            default: break;
        }
    }
}

}  // namespace tilewright::detail
