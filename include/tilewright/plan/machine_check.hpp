#pragma once
#include <tilewright/machine/clock.hpp>
#include <tilewright/plan/planning.hpp>

// Whether the description of a machine makes sense by itself.
namespace tilewright::detail {

struct machine_check {
    refusals& p;
    machine const& m;

    constexpr void broken(rule which, label const& part, label const& about = {}) const {
        p.refuse(verdict_kind::invalid_part, which, {part, about});
    }
    constexpr void at_least(std::int64_t least, std::int64_t value, label const& part, char const* what) const {
        if (value >= least) return;
        verdict& v = p.refuse(verdict_kind::invalid_number);
        v.names = {part, what};
        v.facts = {fact{fact_kind::have, value}, fact{fact_kind::limit, least}};
    }
    constexpr void not_honoured(label const& part, char const* what) const { p.refuse(verdict_kind::not_honoured).names = {part, what}; }
    constexpr void known(int position, label const& part) const {
        if (position < 0) p.refuse(verdict_kind::unknown_part).names = {part, m.name};
    }
    template <class List>
    constexpr void check_list(List const& list, char const* what) const {
        if (list.count > list.most) p.refuse_capacity(what, list.count, list.most, 0, m.name);
        for (int at = 0; at < list.size(); ++at) {
            label const& name = list[at].name;
            if (name.empty()) broken(rule::part_without_name, m.name, what);
            p.check_name(name);
            if (list.find(name) != at) broken(rule::two_parts_of_one_name, name, what);
        }
    }

    constexpr void check_memory(int at) const {
        memory const& of = m.memories[at];
        at_least(0, of.capacity, of.name, "capacity");
        at_least(1, of.alignment, of.name, "alignment");
        at_least(1, of.banks, of.name, "banks");
        at_least(1, of.ports, of.name, "ports");
        if (of.banks > max_banks) p.refuse_capacity("banks", of.banks, max_banks, 0, of.name);
        if (!p.refused() && of.capacity % of.banks != 0) broken(rule::banks_of_unequal_size, of.name);
        for (int bank = 0; bank < of.banks && of.has_address() && !p.refused(); ++bank) {
            if (of.bank_base(bank) % static_cast<std::uint64_t>(of.alignment) != 0) broken(rule::base_not_aligned, of.name);
            for (int other = 0; other <= at; ++other) {
                memory const& before = m.memories[other];
                int const banks_before = other == at ? bank : before.banks;
                for (int b = 0; b < banks_before && before.has_address(); ++b) {
                    bool const above = of.bank_base(bank) >= before.bank_base(b);
                    std::uint64_t const gap = above ? of.bank_base(bank) - before.bank_base(b) : before.bank_base(b) - of.bank_base(bank);
                    if (gap < static_cast<std::uint64_t>(above ? before.bank_capacity() : of.bank_capacity()))
                        broken(rule::memories_overlap, of.name, before.name);
                }
            }
        }
    }
    constexpr void check_engine(engine const& of) const {
        at_least(1, of.depth, of.name, "depth");
        if (of.depth > engine_clock::most_depth) p.refuse_capacity("depth of a queue", of.depth, engine_clock::most_depth, 0, of.name);
        bool const tagged = of.completes == completion::by_transfer;
        for (int at = 0; at < of.wait_call.count && at < device_call::most_arguments; ++at) {
            role const is = of.wait_call.arguments[static_cast<std::size_t>(at)].is;
            if (is != role::literal && is != (tagged ? role::tag : role::pending)) broken(rule::wait_of_another_kind, of.name);
        }
    }
    constexpr void check_tokens(tokens const& of) const {
        known(m.engines.find(of.from), of.from);
        known(m.engines.find(of.to), of.to);
        if (of.from == of.to) broken(rule::tokens_to_itself, of.name, of.from);
        at_least(1, of.queue_count, of.name, "queues");
        at_least(1, of.capacity, of.name, "capacity");
        for (device_call const& call : {push_call_of(of), pop_call_of(of)}) {
            p.check_name(call.symbol);
            check_call(of.name, call, 0);
            bool has_queue = false, others = false;
            for (int at = 0; at < call.count && at < device_call::most_arguments; ++at) {
                role const is = call.arguments[static_cast<std::size_t>(at)].is;
                has_queue |= is == role::queue;
                others |= is != role::queue && is != role::literal;
            }
            if (others || (of.queue_count > 1 && !has_queue)) broken(rule::token_call_of_another_kind, of.name);
        }
    }
    constexpr void check_core(core const& of) const {
        if (of.count != 1) not_honoured(of.name, "several cores");
        operation_costs const& c = of.costs;
        for (std::int64_t cost : {c.load, c.store, c.arithmetic, c.multiply, c.divide, c.convert})
            at_least(0, cost, of.name, "cost of an operation");
    }
    constexpr void check_transfer(transfer_description const& t) const {
        p.check_name(t.call.symbol);
        if (t.is_asynchronous && t.engine_name.empty()) broken(rule::asynchronous_without_engine, t.name);
        known(m.memories.find(t.source), t.source);
        known(m.memories.find(t.destination), t.destination);
        if (!t.engine_name.empty()) known(m.engines.find(t.engine_name), t.engine_name);
        at_least(1, t.most_dimensions, t.name, "dimensions");
        at_least(0, t.largest_row_bytes, t.name, "row_limit");
        at_least(0, t.largest_extent, t.name, "extent_limit");
        at_least(1, t.row_granularity, t.name, "granularity");
        at_least(1, t.address_alignment, t.name, "alignment");
        at_least(0, t.costs.latency, t.name, "latency");
        at_least(0, t.costs.setup, t.name, "setup");
        at_least(1, t.costs.bytes_per_cycle, t.name, "bytes_per_cycle");
        if (t.most_dimensions > max_rank + 1) p.refuse_capacity("dimensions", t.most_dimensions, max_rank + 1, 0, t.name);
        // Three arguments, then three for each dimension but the row: see `call_of`.
        bool const tagged = is_tagged(m, t);
        check_call(t.name, t.call, 3 * t.most_dimensions + (tagged ? 1 : 0));
        bool has_tag = t.call.count == 0 && tagged;
        for (int at = 0; at < t.call.count && at < device_call::most_arguments; ++at)
            has_tag |= t.call.arguments[static_cast<std::size_t>(at)].is == role::tag;
        if (has_tag != tagged) broken(tagged ? rule::call_without_tag : rule::tag_without_wait, t.name, t.engine_name);
        stage s;
        if (t.semantics.count == 0 || !check_semantics(t.name, t.semantics, s)) return;
        computation_view const view = m.view(t.semantics);
        if (s.reduces()) broken(rule::a_reduction, t.name);
        int source = -1;
        for (int at = s.target + 1; at < s.store; ++at) {
            if (view[at].op != operation::access) continue;
            if (source >= 0 && !same_tree(view, source, at)) broken(rule::transfer_with_two_sources, t.name, view[at].name);
            source = at;
            bool plain = view[at].argument_count == s.rank;
            fixed_array<bool, stage::most_axes> taken{};
            for (int dimension = 0; dimension < view[at].argument_count; ++dimension) {
                node const& index = view[view[at].argument(dimension)];
                int const axis = index.op == operation::axis_value ? s.find(index.name) : -1;
                plain &= axis >= 0 && !taken[static_cast<std::size_t>(axis)];
                if (axis >= 0) taken[static_cast<std::size_t>(axis)] = true;
            }
            if (!plain) broken(rule::transfer_that_rearranges, t.name, view[at].name);
        }
    }
    constexpr void check_intrinsic(intrinsic_description const& i, stage& s) const {
        p.check_name(i.call.symbol);
        if (!i.engine_name.empty()) known(m.engines.find(i.engine_name), i.engine_name);
        if (i.is_asynchronous && i.engine_name.empty()) broken(rule::asynchronous_without_engine, i.name);
        int const on = i.is_asynchronous ? m.engines.find(i.engine_name) : -1;
        if (on >= 0 && m.engines[on].completes != completion::by_channel)
            broken(rule::intrinsic_waited_for_by_transfer, i.name, i.engine_name);
        at_least(0, i.cost_cycles, i.name, "cycles");
        at_least(1, i.address_alignment, i.name, "alignment");
        at_least(1, i.stride_alignment, i.name, "stride_multiple");
        if (i.operand_count > i.most_operands) p.refuse_capacity("operands", i.operand_count, i.most_operands, 0, i.name);
        if (p.refused() || !check_semantics(i.name, i.semantics, s)) return;
        computation_view const view = m.view(i.semantics);
        fixed_array<int, intrinsic_description::most_operands> ranks{};
        ranks.fill(-1);
        for (int at = s.first; at < s.store; ++at) {
            node const& n = view[at];
            if (n.op != operation::access) continue;
            int const which = i.find(n.name);
            if (which < 0) return broken(rule::operand_without_memory, i.name, n.name);
            int& rank = ranks[static_cast<std::size_t>(which)];
            if (rank >= 0 && rank != n.argument_count) return broken(rule::used_with_two_ranks, i.name, n.name);
            rank = n.argument_count;
        }
        for (int at = 0; at < i.operand_count; ++at) {
            operand_constraint const& o = i.operands[static_cast<std::size_t>(at)];
            known(m.memories.find(o.memory_name), o.memory_name);
            if (i.find(o.tensor) != at) return broken(rule::operand_declared_twice, i.name, o.tensor);
            bool const result = o.tensor == s.output;
            if (result && o.is == direction::reads) return broken(rule::result_only_read, i.name, o.tensor);
            if (result && s.continues && o.is != direction::updates) return broken(rule::result_not_updated, i.name, o.tensor);
            if (result && o.is == direction::updates && !s.reduces()) return broken(rule::update_without_reduction, i.name, o.tensor);
            if (!result && o.is != direction::reads) return broken(rule::input_written, i.name, o.tensor);
        }
        int by_default = 0;  // the address and the outer strides of every operand
        for (int rank : ranks) by_default += rank > 1 ? rank : rank < 0 ? 0 : 1;
        check_call(i.name, i.call, by_default);
        for (int at = 0; at < i.call.count && !p.refused(); ++at) {
            call_argument const& a = i.call.arguments[static_cast<std::size_t>(at)];
            bool const of_operand = (a.is == role::address || a.is == role::stride) && a.operand >= 0;
            bool const inside =
                of_operand && (a.is == role::address || (a.dimension >= 0 && a.dimension < ranks[static_cast<std::size_t>(a.operand)]));
            if (!inside && a.is != role::literal) broken(rule::argument_without_operand, i.name);
        }
    }
    constexpr void check_call(label const& part, device_call const& call, int by_default) const {
        int const count = call.count > 0 ? call.count : by_default;
        if (count > device_call::most_arguments) p.refuse_capacity("arguments", count, device_call::most_arguments, 0, part);
        if (!call.symbol.is_identifier()) broken(rule::no_identifier, part, call.symbol);
    }

    /// Reads the semantics of a part into `s`; false after a refusal.
    constexpr bool check_semantics(label const& part, semantics_range const& range, stage& s) const {
        if (range.count > max_semantics) p.refuse_capacity("nodes of semantics", range.count, max_semantics, 0, part);
        if (p.refused()) return false;
        computation_view const view = m.view(range);
        for (int at = 0; at < view.count; ++at) p.check_name(view[at].name);
        stage_mistake const wrong = read_stage(view, 0, s);
        for (int axis = 0; axis < s.axis_count && !wrong; ++axis) {
            if (s.axes[static_cast<std::size_t>(axis)].run_time) broken(rule::run_time_semantics, part);
        }
        if (wrong) p.refuse_ill_formed(wrong, part);
        else if (s.store + 1 != view.count) broken(rule::several_stages, part);
        else if (uses_value(view, s.body)) broken(rule::parameter_in_semantics, part);
        return !p.refused();
    }
    static constexpr bool uses_value(computation_view view, int at) {
        node const& n = view[at];
        if (n.op == operation::parameter || n.op == operation::axis_value) return true;
        if (n.op == operation::access || n.op == operation::constant) return false;
        for (int argument = 0; argument < n.argument_count; ++argument) {
            if (uses_value(view, n.argument(argument))) return true;
        }
        return false;
    }

    constexpr void run(machine_reading& made) const {
        check_list(m.memories, "memories");
        check_list(m.engines, "engines");
        check_list(m.tokens, "tokens");
        check_list(m.cores, "cores");
        check_list(m.transfers, "transfers");
        check_list(m.intrinsics, "intrinsics");
        if (m.memories.count == 0) broken(rule::machine_without_memory, m.name);
        if (m.semantics_count > machine::most_nodes)
            p.refuse_capacity("nodes of semantics", m.semantics_count, machine::most_nodes, 0, m.name);
        for (int at = 0; at < m.memories.size(); ++at) check_memory(at);
        for (int at = 0; at < m.engines.size(); ++at) check_engine(m.engines[at]);
        for (int at = 0; at < m.tokens.size(); ++at) check_tokens(m.tokens[at]);
        for (int at = 0; at < m.cores.size(); ++at) check_core(m.cores[at]);
        for (int at = 0; at < m.transfers.size(); ++at) check_transfer(m.transfers[at]);
        for (int at = 0; at < m.intrinsics.size(); ++at) {
            made.semantics.push({});
            check_intrinsic(m.intrinsics[at], made.semantics[static_cast<std::size_t>(at)]);
        }
    }
};

/// Reads the semantics of a machine's parts; refuses descriptions that do not fit together, or ask for what plans do not do yet.
constexpr machine_reading read_machine(machine const& what) {
    refusals first;
    machine_reading made;
    machine_check{first, what}.run(made);
    made.refusal = first.kept;
    return made;
}

}  // namespace tilewright::detail
