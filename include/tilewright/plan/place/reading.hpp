#pragma once
#include <tilewright/compute/value_range.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <tilewright/plan/loops/run_time.hpp>
#include <tilewright/plan/place/machine_check.hpp>

// Reads what the computation and the directives say, before anything is decided.
namespace tilewright::detail {

/// Checks the names that generated code uses. Scalar parameters and tensors share one set of names.
constexpr void check_names(planning const& p) {
    computation_view const& what = p.plan.what;
    int parameters = 0;
    for (int at = 0; at < what.count; ++at) {
        node const& n = what.nodes[at];
        if (n.op != operation::access && n.op != operation::parameter && n.op != operation::axis_value) continue;
        if (p.refused()) return;
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

/// Refuses shifts whose amounts are all known to be outside of what their type has.
constexpr void check_shifts(planning const& p) {
    computation_view const& what = p.plan.what;
    for (int at = 0; at < what.count; ++at) {
        node const& n = what.nodes[at];
        if (n.op != operation::shift_left && n.op != operation::shift_right) continue;
        if (p.refused()) return;
        value_range const amounts = range_of(what, n.argument(1));
        std::int64_t const most = 8 * bytes_of(n.type) - 1;
        if (!amounts.known || (amounts.low <= most && amounts.high >= 0)) continue;
        p.refuse(verdict_kind::ill_formed, rule::no_shift_amount, {name_of(n.type)});
    }
}

/// Checks that padded accesses name the extents of their tensor.
constexpr void check_paddings(planning const& p) {
    computation_view const& what = p.plan.what;
    for (int at = 0; at < what.count; ++at) {
        if (what.nodes[at].op != operation::access || !is_padded(what, at)) continue;
        if (p.refused()) return;
        node const& n = what[at];
        stage_id const producer = p.producer_of(n.name);
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

/// Makes a variable for each index that an expression gives.
constexpr void add_computed_indices(placing& p) {
    for (stage_id s{}; s < p.plan.stages.count; ++s) {
        p.each_access(s, [&](node_id node) {
            for (int dimension = 0; dimension < p.plan.what[node].argument_count && !p.refused(); ++dimension) {
                node_id const value = p.access_index(s, node, dimension).computed;
                if (value < 0) continue;
                p.add(variable{.name = p.plan.what[node].name,
                               .extent = padded_extent(p.plan.what, node, dimension),
                               .kind = variable_kind::element,
                               .value = value});
            }
        });
    }
}

constexpr void read_stages(placing& p) {
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
        p.add(s);
        if (p.refused()) return;
        p.from.nests.push({});
        p.from.placements.push({});
    }
    if (!p.refused()) check_names(p);
    if (!p.refused()) check_shifts(p);
    if (!p.refused()) check_paddings(p);
    add_extents(p);
    add_computed_indices(p);
    for (stage_id s{}; s + 1 < plan.stages.count && !p.refused(); ++s) {
        bool read = false;
        for (stage_id consumer{stage_id(s + 1)}; consumer < plan.stages.count; ++consumer) read |= p.reads(consumer, p.stage_at(s).output);
        if (!read) return p.refuse(verdict_kind::ill_formed, rule::never_read, {p.stage_at(s).output});
    }
}

/// Reads the directives that place stages and stage tensors; loops are left to `build_loops`.
class directive_reader {
  public:
    constexpr explicit directive_reader(placing& p)
        : p_(p), of_(*p.of), where_(p.of->where()), current_(stage_id(p.plan.stages.count - 1)) {}

    constexpr void read_all() {
        if (of_.directive_count() > schedule::most_directives)
            return p_.refuse_capacity("directives", of_.directive_count(), schedule::most_directives);
        if (of_.name_count() > schedule::most_names)
            return p_.refuse_capacity("names in directives", of_.name_count(), schedule::most_names);
        if (of_.layout_count() > schedule::most_layouts) return p_.refuse_capacity("layouts", of_.layout_count(), schedule::most_layouts);
        for (int at = 0; at < of_.directive_count() && !p_.refused(); ++at) {
            d_ = &of_.directive_at(at);
            ordinal_ = static_cast<std::int16_t>(at + 1);
            check_names();
            if (!p_.refused()) read();
        }
    }

  private:
    constexpr label const& name(int position) const { return of_.name_at(*d_, position); }

    constexpr void check_names() {
        bool const makes_loops = description_of(d_->kind).makes_loops();
        for (int position = 0; position < d_->name_count; ++position) {
            p_.check_name(name(position), ordinal_);
            if (makes_loops && !name(position).is_identifier())
                p_.refuse(verdict_kind::ill_formed, rule::no_identifier, {name(position)}, ordinal_);
        }
    }
    constexpr void read() {
        switch (d_->kind) {
            case directive_kind::stage: current_ = stage_named(name(0)); break;
            case directive_kind::compute_at: return read_compute_at();
            case directive_kind::on: return read_on();
            case directive_kind::store_in: return read_store_in();
            case directive_kind::reads:
            case directive_kind::writes: return read_residence();
            case directive_kind::cache_read:
            case directive_kind::cache_write: return read_staging();
            case directive_kind::at: return read_at();
            case directive_kind::by: return read_by();
            case directive_kind::buffers: return read_buffers();
            case directive_kind::prefetch: return read_prefetch();
            case directive_kind::in_bank: return read_in_bank();
            case directive_kind::layout: return read_layout();
            default: break;
        }
    }

    /// @return -1 after a refusal
    constexpr stage_id stage_named(label const& tensor) {
        stage_id const s = p_.producer_of(tensor);
        if (s < 0) p_.refuse(verdict_kind::unknown_tensor, rule::not_computed, {tensor}, ordinal_);
        return s;
    }
    constexpr std::int16_t memory_named(label const& memory_name) {
        int const position = where_.memories.find(memory_name);
        if (position < 0) p_.refuse(verdict_kind::unknown_part, ordinal_).names = {memory_name, where_.name};
        return static_cast<std::int16_t>(position);
    }
    constexpr void refuse_conflict(label const& what) {
        p_.refuse(verdict_kind::conflicting_directives, ordinal_).names = {what, name_of(d_->kind)};
    }

    constexpr void read_compute_at() {
        stage_id const s = stage_named(name(0));
        if (s < 0) return;
        if (p_.placed(s).at_ordinal != 0) return refuse_conflict(name(0));
        p_.placed(s).at_loop = name(1);
        p_.placed(s).at_ordinal = ordinal_;
    }
    constexpr void read_on() {
        int const kind = where_.cores.find(name(0));
        if (kind < 0) return void(p_.refuse(verdict_kind::unknown_part, ordinal_).names = {name(0), where_.name});
        std::int64_t const number = d_->factors[0], there = where_.cores[kind].count;
        if (number < 0 || number >= there) {
            verdict& v = p_.refuse(verdict_kind::distribution, ordinal_);
            v.broken = rule::more_cores_than_there_are;
            v.names = {p_.stage_at(current_).output, name(0)};
            v.facts = {fact{fact_kind::have, number + 1}, fact{fact_kind::limit, there}};
            return;
        }
        stage_placement& place = p_.placed(current_);
        if (place.core_ordinal != 0) return refuse_conflict(p_.stage_at(current_).output);
        place.core = static_cast<std::int16_t>(where_.first_core(kind) + number);
        place.core_ordinal = ordinal_;
        if (place.core >= p_.plan.cores) p_.plan.cores = static_cast<std::int16_t>(place.core + 1);
    }
    constexpr void read_store_in() {
        stage_id const s = stage_named(name(0));
        if (s < 0) return;
        if (p_.placed(s).store_ordinal != 0) return refuse_conflict(name(0));
        p_.placed(s).store_memory = memory_named(name(1));
        p_.placed(s).store_ordinal = ordinal_;
        stored_ = s;
        by_caller_ = false;
        staged_ = -1;
    }
    constexpr void read_staging() {
        bool const writes = d_->kind == directive_kind::cache_write;
        bool const used = writes ? p_.stage_at(current_).output == name(0) : p_.reads(current_, name(0));
        if (!used) {
            rule const missing = writes ? rule::not_computed_by_the_stage : rule::not_read_by_the_stage;
            return p_.refuse(verdict_kind::unknown_tensor, missing, {name(0), p_.stage_at(current_).output}, ordinal_);
        }
        staged_ =
            p_.add(staging{.stage = current_, .writes = writes, .tensor = name(0), .memory = memory_named(name(1)), .ordinal = ordinal_});
    }

    /// `reads` and `writes`: the tensor is an argument of that direction, is named once, and every memory can hold arguments.
    constexpr void read_residence() {
        bool const writes = d_->kind == directive_kind::writes;
        check_residence(writes);
        stored_ = writes ? p_.plan.stages.count - 1 : -1;
        by_caller_ = true;
        staged_ = -1;
    }
    constexpr void check_residence(bool writes) {
        label const& tensor = name(0);
        int const last = p_.plan.stages.count - 1;
        bool found = writes && p_.stage_at(last).output == tensor;
        for (stage_id s{}; s <= last && !writes && p_.producer_of(tensor) < 0; ++s) found |= p_.reads(s, tensor);
        if (!found) return p_.refuse(verdict_kind::unknown_tensor, writes ? rule::not_the_result : rule::not_an_input, {tensor}, ordinal_);
        for (int at = 0; at < of_.directive_count(); ++at) {
            directive const& other = of_.directive_at(at);
            bool const again = other.kind == d_->kind && at + 1 < ordinal_ && of_.name_at(other, 0) == tensor;
            bool const kept = writes && other.kind == directive_kind::store_in && of_.name_at(other, 0) == tensor;
            if (!again && !kept) continue;
            p_.refuse(verdict_kind::conflicting_directives, ordinal_).names = {tensor, name_of(other.kind)};
            return;
        }
        if (d_->name_count - 1 > any_of::most) return p_.refuse_capacity("memories", d_->name_count - 1, any_of::most, ordinal_, tensor);
        for (int at = 1; at < d_->name_count && !p_.refused(); ++at) {
            int const memory_at = memory_named(name(at));
            if (memory_at < 0) return;
            memory const& m = where_.memories[memory_at];
            if (m.registers > 0 || m.is_numbered() || m.is_view())
                p_.refuse(verdict_kind::misplaced_directive, rule::holds_no_arguments, {tensor, m.name}, ordinal_);
        }
    }

    // The next directives are about the directive before them: about what it has staged or stored.

    /// @return whether there is no such directive; that is refused
    constexpr bool speaks_of_nothing(bool also_stored, bool also_by_caller = false) {
        if (staged_ >= 0 || (also_stored && stored_ >= 0 && (also_by_caller || !by_caller_))) return false;
        label const about = d_->name_count > 0 ? name(0) : label(name_of(d_->kind));
        p_.refuse(verdict_kind::misplaced_directive, rule::behind_no_staging, {about}, ordinal_);
        return true;
    }
    constexpr label const& tensor_spoken_of() const { return staged_ >= 0 ? p_.staging_at(staged_).tensor : p_.stage_at(stored_).output; }
    /// Sets a value that a schedule gives once. @param said_by  the directive that said it, 0: none
    constexpr void say_once(bool said, std::int16_t& kept, std::int16_t& said_by, std::int64_t value) {
        if (said) return refuse_conflict(tensor_spoken_of());
        kept = static_cast<std::int16_t>(value);
        said_by = ordinal_;
    }
    /// A number of the buffer, which a schedule gives once.
    constexpr void say_number(std::int16_t& kept, std::int16_t& said_by, std::int64_t least) {
        label const& tensor = tensor_spoken_of();
        if (said_by != 0) return refuse_conflict(tensor);
        if (d_->factors[0] < least) {
            verdict& v = p_.refuse(verdict_kind::invalid_number, ordinal_);
            v.names = {tensor, name_of(d_->kind)};
            v.facts = {fact{fact_kind::have, d_->factors[0]}, fact{fact_kind::limit, least}};
        }
        if (d_->factors[0] > most_versions) p_.refuse_capacity("versions", d_->factors[0], most_versions, ordinal_, tensor);
        if (!p_.refused()) say_once(false, kept, said_by, d_->factors[0]);
    }

    constexpr void read_at() {
        if (speaks_of_nothing(false)) return;
        staging& st = p_.staging_at(staged_);
        if (st.loop_ordinal != 0) return refuse_conflict(st.tensor);
        st.loop = name(0);
        st.loop_ordinal = ordinal_;
    }
    constexpr void read_by() {
        int const transfer_at = where_.transfers.find(name(0));
        if (transfer_at < 0) p_.refuse(verdict_kind::unknown_part, ordinal_).names = {name(0), where_.name};
        if (speaks_of_nothing(true, true)) return;
        if (staged_ >= 0) {
            staging& st = p_.staging_at(staged_);
            say_once(st.transfer >= 0, st.transfer, st.transfer_ordinal, transfer_at);
        } else {
            stage_placement& place = p_.placed(stored_);
            say_once(place.transfer >= 0, place.transfer, place.transfer_ordinal, transfer_at);
        }
    }
    constexpr void read_buffers() {
        if (staged_ < 0 && stored_ >= 0 && !by_caller_)
            return say_number(p_.placed(stored_).store_versions, p_.placed(stored_).store_versions_ordinal, 1);
        if (speaks_of_nothing(false)) return;
        staging& st = p_.staging_at(staged_);
        say_number(st.versions, st.versions_ordinal, 1);
    }
    constexpr void read_prefetch() {
        if (speaks_of_nothing(false)) return;
        staging& st = p_.staging_at(staged_);
        say_number(st.distance, st.distance_ordinal, 0);
        if (d_->name_count > 0) st.asking = name(0);
    }
    constexpr void read_in_bank() {
        if (speaks_of_nothing(true)) return;
        if (staged_ >= 0) say_number(p_.staging_at(staged_).bank, p_.staging_at(staged_).bank_ordinal, 0);
        else say_number(p_.placed(stored_).store_bank, p_.placed(stored_).store_bank_ordinal, 0);
    }
    constexpr void read_layout() {
        if (speaks_of_nothing(true)) return;
        if (staged_ >= 0) {
            staging& st = p_.staging_at(staged_);
            say_once(st.layout >= 0, st.layout, st.layout_ordinal, d_->factors[0]);
        } else {
            stage_placement& place = p_.placed(stored_);
            say_once(place.store_layout >= 0, place.store_layout, place.store_layout_ordinal, d_->factors[0]);
        }
    }

    placing& p_;
    schedule const& of_;
    machine const& where_;
    stage_id current_;               // the stage that directives speak of
    int staged_ = -1, stored_ = -1;  // what the directive before has staged, or stored
    bool by_caller_ = false;         // what was stored lies where the caller says: it has no bank or layout to choose
    directive const* d_ = nullptr;
    std::int16_t ordinal_ = 0;  // of the directive, from 1
};

constexpr void read_directives(placing& p) { directive_reader(p).read_all(); }

}  // namespace tilewright::detail
