#pragma once
#include <tilewright/machine/call_limits.hpp>
#include <tilewright/machine/clock.hpp>
#include <tilewright/plan/ir/planning.hpp>

// Whether the description of a machine makes sense by itself.
namespace tilewright::detail {

struct machine_check {
    refusals const& p;
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
    /// The numbers of a description are what it says that they may be.
    template <class Description>
    constexpr void check_numbers(Description const& of, label const& part) const {
        of.each_number(number_check{*this, part});
    }
    /// What a description calls with each of its numbers. One type for all, where a lambda would be one of each description.
    struct number_check {
        machine_check const& check;
        label const& part;
        constexpr void operator()(char const* what, std::int64_t number, std::int64_t least,
                                  std::int64_t most = highest_of(scalar_type::int64)) const {
            check.at_least(least, number, part, what);
            if (number > most) check.p.refuse_capacity(what, number, most, 0, part);
        }
    };
    constexpr void not_honoured(label const& part, char const* what, label const& beside = {}) const {
        p.refuse(verdict_kind::not_honoured).names = {part, what, beside};
    }
    constexpr void known(int position, label const& part) const {
        if (position < 0) p.refuse(verdict_kind::unknown_part).names = {part, m.name};
    }
    template <class List>
    constexpr void check_list(List const& list, char const* what, bool unique = true) const {
        if (list.count > list.most) p.refuse_capacity(what, list.count, list.most, 0, m.name);
        for (int at = 0; at < list.size(); ++at) {
            label const& name = list[at].name;
            check_part_name(name, what, unique && list.find(name) != at);
        }
    }
    constexpr void check_part_name(label const& name, char const* what, bool again) const {
        if (name.empty()) broken(rule::part_without_name, m.name, what);
        p.check_name(name);
        if (again) broken(rule::two_parts_of_one_name, name, what);
    }

    /// Of intrinsics of one name, each kind of core has its own, which does the same in another time and by another C function.
    constexpr void check_name_of(int at) const {
        intrinsic_description const& what = m.intrinsics[at];
        int const before = m.intrinsics.find(what.name);
        if (before == at) return;
        intrinsic_description const& other = m.intrinsics[before];
        if (what.core_name.empty() && other.core_name.empty()) broken(rule::two_parts_of_one_name, what.name, "intrinsics");
        bool alike = !what.core_name.empty() && !other.core_name.empty() && what.operand_count == other.operand_count &&
                     what.engine_name == other.engine_name && what.is_asynchronous == other.is_asynchronous &&
                     what.flexible_axes == other.flexible_axes && what.address_alignment == other.address_alignment &&
                     what.stride_alignment == other.stride_alignment && what.call.count == other.call.count &&
                     what.more_calls.count + other.more_calls.count + what.settings.count + other.settings.count == 0;
        for (int one = before; one < at; ++one)
            alike &= m.intrinsics[one].name != what.name || m.intrinsics[one].core_name != what.core_name;
        for (int o = 0; o < what.operand_count && o < what.most_operands && alike; ++o) alike = what.operands[o] == other.operands[o];
        for (int a = 0; a < what.call.count && a < device_call::most_arguments && alike; ++a)
            alike = what.call.arguments[a] == other.call.arguments[a];
        computation_view const a = m.view(what.semantics), b = m.view(other.semantics);
        alike &= a.count == b.count;
        for (int node = 0; node < a.count && alike; ++node) alike = a[node] == b[node];
        if (!alike) broken(rule::intrinsics_of_one_name, what.name, other.core_name);
    }

    constexpr void check_memory(int at) const {
        memory const& of = m.memories[at];
        check_numbers(of, of.name);
        if (!p.refused() && of.capacity % of.banks != 0) broken(rule::banks_of_unequal_size, of.name);
        bool const equal = of.registers <= 0 || (of.capacity > 0 && of.capacity % of.registers == 0);
        if (!p.refused() && of.registers > 0 && (!equal || of.banks > 1 || of.has_address() || of.is_numbered() || !of.host_visible))
            broken(rule::registers_of_another_kind, of.name);
        if (!p.refused() && !of.c_type.empty() && of.registers == 0) broken(rule::registers_of_another_kind, of.name);
        if (of.is_view()) check_view(at);
        if (of.has_core_bases()) check_core_bases(of);
        if (of.is_cached() && (of.registers > 0 || of.is_numbered() || of.alignment % of.cache_line != 0))
            broken(rule::cache_of_another_kind, of.name);
        if (of.behind_caches && (of.registers > 0 || !has_hardware_caches())) broken(rule::behind_no_caches, of.name);
        if (!of.c_type.empty() && !of.c_type.is_identifier()) broken(rule::no_identifier, of.name, of.c_type);
        p.check_name(of.c_type);
        auto const check_places = [&](memory const& whole) {
            if (whole.is_numbered() && !p.refused()) check_rows(whole, at == 0);
            if (of.has_address()) check_place(whole, at);
        };
        if (!of.is_view()) check_places(of);
        else if (!p.refused()) check_places(with_room(m, of));
    }
    /// Each core's own memory has its address, and no two of them overlap.
    constexpr void check_core_bases(memory const& of) const {
        bool right = of.per_core && of.has_address() && of.core_bases[0] == of.bank_base(0);
        std::uint64_t const bytes = of.bank_base(of.banks - 1) + static_cast<std::uint64_t>(of.bank_capacity()) - of.bank_base(0);
        for (int core = 0; core < m.core_count() && core < max_cores && right; ++core) {
            for (int other = 0; other < core; ++other) {
                std::uint64_t const a = of.core_bases[core], b = of.core_bases[other];
                right &= a != 0 && (a > b ? a - b : b - a) >= bytes;
            }
        }
        if (!right) broken(rule::bases_of_cores_of_another_kind, of.name);
    }
    /// Banks begin at aligned addresses, and no two memories have one address.
    constexpr void check_place(memory const& of, int at) const {
        for (int bank = 0; bank < of.banks && !p.refused(); ++bank) {
            if (of.bank_base(bank) % static_cast<std::uint64_t>(of.alignment) != 0) broken(rule::base_not_aligned, of.name);
            for (int other = 0; other <= at; ++other) {
                memory const& before = m.memories[other];
                if (!before.has_address()) continue;
                if (before.is_view() && other != at) check_apart(of, bank, with_room(m, before), with_room(m, before).banks);
                else check_apart(of, bank, before, other == at ? bank : before.banks);
            }
        }
    }
    constexpr void check_apart(memory const& of, int bank, memory const& before, int banks_before) const {
        for (int b = 0; b < banks_before; ++b) {
            bool const above = of.bank_base(bank) >= before.bank_base(b);
            std::uint64_t const gap = above ? of.bank_base(bank) - before.bank_base(b) : before.bank_base(b) - of.bank_base(bank);
            if (gap < static_cast<std::uint64_t>(above ? before.bank_capacity() : of.bank_capacity()))
                broken(rule::memories_overlap, of.name, before.name);
        }
    }
    /// A view says at which addresses the bytes of another memory are seen, and not how many there are.
    constexpr void check_view(int at) const {
        memory const& of = m.memories[at];
        int const under = m.memories.find(of.view_of);
        known(under, of.view_of);
        if (p.refused()) return;
        memory const& shown = m.memories[under];
        bool const apart = of.has_address() || of.is_numbered();
        bool const has_place = shown.is_pool() ? !apart : shown.has_address() || apart;
        bool const of_its_own = of.capacity != 0 || of.banks != 1 || of.bank_bases[0] != 0 || of.bank_bases[1] != 0 || of.registers > 0 ||
                                of.per_agent || of.ports != memory{}.ports;
        if (at == 0 || shown.is_view() || shown.registers > 0 || of_its_own || !has_place)
            broken(rule::view_of_another_kind, of.name, of.view_of);
    }
    /// Only device functions get numbers of rows, as arguments. The numbers leave the bits of flags free.
    constexpr void check_rows(memory const& of, bool of_arguments) const {
        if (of.host_visible || of_arguments) broken(rule::numbers_are_no_pointers, of.name);
        if (of.bank_capacity() % of.address_unit != 0) broken(rule::bank_of_broken_rows, of.name);
        for (int bank = 0; bank < of.banks && !p.refused(); ++bank) {
            if (of.position(bank, 0) % static_cast<std::uint64_t>(of.address_unit) != 0) broken(rule::bank_of_broken_rows, of.name);
        }
        if ((of.bits_of_numbers() & of.address_flags) != 0) broken(rule::flags_in_the_number, of.name);
    }
    constexpr void check_configuration(configuration const& of) const {
        check_numbers(of, of.name);
        device_call const call = set_call_of(of);
        p.check_name(call.symbol);
        check_call(of.name, call, 0);
        fixed_array<int, configuration::most_values> given{};
        bool others = false;
        for (int at = 0; at < call.count && !p.refused(); ++at) {
            call_argument const& a = call.arguments[at];
            bool const is_value = a.is == role::setting && a.dimension >= 0 && a.dimension < of.value_count;
            if (is_value) ++given[a.dimension];
            others |= !is_value && a.is != role::literal;
        }
        for (int value = 0; value < of.value_count && !p.refused(); ++value) others |= given[value] != 1;
        if (others) broken(rule::set_call_of_another_kind, of.name);
    }
    /// Calls `check(argument)` for all arguments of the calls of a part, and `check_value(value)` for those that it is configured with.
    template <class Description, class Check, class Value>
    constexpr void check_protocol(Description const& part, Check&& check, Value&& check_value) const {
        for (int at = part.more_calls.first; at < part.more_calls.first + part.more_calls.count && !p.refused(); ++at) {
            p.check_name(m.more_calls[at].symbol);
            check_call(part.name, m.more_calls[at], 0);
        }
        // Without arguments of its own, the first call has the arguments of `call_of`, which are right.
        if (part.call.count > 0) each_argument(part.call, check);
        for (int at = part.more_calls.first; at < part.more_calls.first + part.more_calls.count && !p.refused(); ++at)
            each_argument(m.more_calls[at], check);
        for (int at = part.settings.first; at < part.settings.first + part.settings.count && !p.refused(); ++at) {
            required_setting const& s = m.settings[at];
            int const which = m.configurations.find(s.configuration_name);
            known(which, s.configuration_name);
            for (int before = part.settings.first; before < at; ++before) {
                if (m.settings[before].configuration_name == s.configuration_name)
                    return broken(rule::configured_twice, part.name, s.configuration_name);
            }
            if (p.refused()) return;
            if (s.count != m.configurations[which].value_count)
                return broken(rule::other_number_of_settings, part.name, s.configuration_name);
            for (int value = 0; value < s.count; ++value) check_value(s.values[value]);
        }
    }
    template <class Check>
    constexpr void each_argument(device_call const& call, Check&& check) const {
        for (int at = 0; at < call.count && at < device_call::most_arguments && !p.refused(); ++at) check(call.arguments[at]);
    }
    /// Flags are bits of numbers that the number itself does not use; units are at least 1.
    constexpr void check_value_of(label const& part, call_argument const& a, int memory_at) const {
        if (a.is == role::literal || a.value == 0) return;
        bool const counts = is_stride(a.is) || a.is == role::bytes || a.is == role::row_bytes;
        if (counts) return at_least(1, a.value, part, "unit of an argument");
        if (!is_address(a.is)) return broken(rule::counted_in_units, part);
        memory const of = with_room(m, m.memories[memory_at]);
        if (!of.is_numbered()) return broken(rule::flags_of_a_pointer, part, of.name);
        if (((of.bits_of_numbers() | of.address_flags) & static_cast<std::uint64_t>(a.value)) != 0)
            broken(rule::flags_in_the_number, part, of.name);
    }
    /// C knows a function only by its name: parts that share one agree on which of its arguments are pointers.
    struct signature {
        label symbol{};
        int count = 0;
        std::uint32_t pointers = 0;  ///< a bit for each argument

        friend constexpr bool operator==(signature const&, signature const&) = default;
    };
    constexpr void check_symbols() const {
        fixed_array<signature, 64> seen{};
        int count = 0;
        auto const add = [&](label const& part, signature const& one) {
            for (int at = 0; at < count; ++at) {
                signature const& other = seen[at];
                if (other.symbol == one.symbol && !(other == one)) return broken(rule::symbol_of_two_signatures, part, one.symbol);
            }
            if (count < 64) seen[count++] = one;
        };
        auto const add_part = [&](auto const& part) {
            each_call(m, part, [&](device_call const& call) {
                signature one{call.symbol, call.count};
                for (int at = 0; at < call.count; ++at) {
                    int const where = memory_of(m, part, call.arguments[at]);
                    if (where >= 0 && !m.memories[where].is_numbered()) one.pointers |= std::uint32_t{1} << at;
                }
                add(part.name, one);
            });
        };
        for (int at = 0; at < m.transfers.size() && !p.refused(); ++at) {
            if (m.transfers[at].core_name.empty()) add_part(m.transfers[at]);  // a core that copies calls nothing
        }
        for (int at = 0; at < m.intrinsics.size() && !p.refused(); ++at) add_part(m.intrinsics[at]);
        for (int at = 0; at < m.configurations.size() && !p.refused(); ++at) {
            device_call const call = set_call_of(m.configurations[at]);
            add(m.configurations[at].name, {call.symbol, call.count});
        }
    }
    constexpr void check_engine(engine const& of) const {
        check_numbers(of, of.name);
        bool const tagged = of.completes == completion::by_transfer;
        bool has_channel = false;
        device_call const call = wait_call_of(of);
        for (int at = 0; at < call.count && at < device_call::most_arguments; ++at) {
            role const is = call.arguments[at].is;
            bool const told = of.completes != completion::by_engine && is == (tagged ? role::tag : role::pending);
            has_channel |= is == role::channel;
            if (is != role::literal && is != role::channel && !told) broken(rule::wait_of_another_kind, of.name);
        }
        // A tag stands for one channel already.
        if (of.has_channels() && !tagged && !has_channel) broken(rule::wait_without_channel, of.name);
    }
    constexpr void check_tokens(tokens const& of) const {
        known(m.engines.find(of.from), of.from);
        known(m.engines.find(of.to), of.to);
        if (of.from == of.to) broken(rule::tokens_to_itself, of.name, of.from);
        for (label const& name : {of.from, of.to}) {
            if (int const at = m.engines.find(name); at >= 0 && m.engines[at].has_channels())
                broken(rule::tokens_of_channels, of.name, name);
        }
        check_numbers(of, of.name);
        device_call const calls[] = {push_call_of(of), pop_call_of(of)};
        for (device_call const& call : calls) {
            p.check_name(call.symbol);
            check_call(of.name, call, 0);
            bool has_queue = false, others = false;
            for (int at = 0; at < call.count && at < device_call::most_arguments; ++at) {
                role const is = call.arguments[at].is;
                has_queue |= is == role::queue;
                others |= is != role::queue && is != role::literal;
            }
            if (others || (of.queue_count > 1 && !has_queue)) broken(rule::token_call_of_another_kind, of.name);
        }
    }
    constexpr void check_core(int at) const {
        core const& of = m.cores[at];
        check_numbers(of, of.name);
        if (of.fused_multiply_add != m.cores[0].fused_multiply_add) not_honoured(of.name, "sums rounded otherwise", m.cores[0].name);
        int const all = m.core_count();
        if (at + 1 == m.cores.size() && all > max_cores && !p.refused()) p.refuse_capacity("cores", all, max_cores, 0, m.name);
        device_call const call = barrier_call_of(of);
        bool others = false, told = false;
        each_argument(call, [&](call_argument const& a) {
            told |= a.is == role::status;
            others |= a.is != role::status && a.is != role::core && a.is != role::literal;
        });
        if (all > 1) p.check_name(call.symbol), check_call(of.name, call, 0);
        device_call const signals[] = {signal_call_of(of), await_call_of(of)};
        for (device_call const& signal : signals) {
            if (all > 1) p.check_name(signal.symbol), check_call(of.name, signal, 0);
            bool queue = false, peer = false, more = false;
            each_argument(signal, [&](call_argument const& a) {
                queue |= a.is == role::queue, peer |= a.is == role::peer;
                more |= a.is != role::queue && a.is != role::peer && a.is != role::core && a.is != role::literal;
            });
            if (all > 1 && (more || (of.signal_queues > 1 && !queue) || (all > 2 && !peer))) broken(rule::signal_of_another_kind, of.name);
        }
        if (all > 1 && (others || !told)) broken(rule::barrier_of_another_kind, of.name);
        if (m.has_caches()) check_upkeep(of);
        if (!p.refused() && !are_caches_right(of)) broken(rule::caches_of_another_kind, of.name);
    }
    constexpr bool has_hardware_caches() const {
        bool found = false;
        for (int at = 0; at < m.cores.size(); ++at) found |= m.cores[at].cache_levels() > 0;
        return found;
    }
    /// No level stands after one that is not there, and a further one holds more.
    static constexpr bool are_caches_right(core const& of) {
        bool right = true;
        std::int64_t before = 0;
        for (int at = 0; at < of.cache_levels(); ++at) {
            cache_level const& level = of.caches[at];
            right &= level.is_whole() && level.bytes > before;
            before = level.bytes;
        }
        for (int at = of.cache_levels(); at < max_cache_levels; ++at) right &= of.caches[at] == cache_level{};
        return right;
    }
    constexpr void check_upkeep(core const& of) const {
        device_call const calls[] = {clean_call_of(of), invalidate_call_of(of)};
        for (device_call const& call : calls) {
            p.check_name(call.symbol), check_call(of.name, call, 0);
            bool address = false, bytes = false, more = false;
            each_argument(call, [&](call_argument const& a) {
                address |= a.is == role::source, bytes |= a.is == role::bytes;
                more |= a.is != role::source && a.is != role::bytes && a.is != role::core && a.is != role::literal;
            });
            if (more || !address || !bytes) broken(rule::upkeep_of_another_kind, of.name);
        }
    }
    constexpr void check_transfer(transfer_description const& t) const {
        p.check_name(t.call.symbol);
        if (t.is_asynchronous && t.engine_name.empty() && t.core_name.empty()) broken(rule::asynchronous_without_engine, t.name);
        known(m.memories.find(t.source), t.source);
        known(m.memories.find(t.destination), t.destination);
        check_numbers(t.costs, t.name);
        if (t.is_multicast && !is_multicast_right(t)) broken(rule::multicast_of_another_kind, t.name);
        if (!t.core_name.empty()) return check_copy_by_core(t);
        for (label const& name : {t.source, t.destination}) {
            int const at = m.memories.find(name);
            if (at < 0 || m.memories[at].registers == 0) continue;
            std::int64_t const one = m.memories[at].register_bytes();
            if (!m.memories[at].passes_values()) broken(rule::registers_by_address, t.name, name);
            else if (t.is_asynchronous || t.most_dimensions != 1 || t.more_calls.count > 0 || t.semantics.count > 0 ||
                     t.largest_row_bytes != one || t.row_granularity != one)
                broken(rule::registers_in_another_way, t.name, name);
        }
        if (!t.engine_name.empty()) known(m.engines.find(t.engine_name), t.engine_name);
        check_numbers(t, t.name);
        if (t.limited_dimension >= t.most_dimensions) broken(rule::limit_of_no_dimension, t.name);
        bool const tagged = is_tagged(m, t);
        bool const dealt = is_dealt_out(m, t);
        check_call(t.name, t.call, call_of(t, tagged, dealt).count);
        check_border(t);
        bool has_tag = t.call.count == 0 && tagged, has_channel = t.call.count == 0 && dealt;
        auto const check = [&](call_argument const& a) {
            has_tag |= a.is == role::tag;
            bool const is_channel = a.is == role::channel && !t.engine_name.empty();
            has_channel |= is_channel;
            bool const is_returned = a.is == role::destination && passes_values(m, t.destination);
            if (passes_values(m, t) && (is_returned || (!is_address(a.is) && a.is != role::literal)))
                broken(rule::registers_in_another_way, t.name);
            else if (!is_region(a.is) && a.is != role::literal && a.is != role::tag && !is_channel && !(t.border.is && is_pad(a.is)) &&
                     !(t.is_multicast && a.is == role::cores))
                broken(rule::argument_of_no_transfer, t.name);
            else check_value_of(t.name, a, memory_of(m, t, a));
        };
        check_protocol(t, check, [&](call_argument const& a) {
            if (is_address(a.is) || (!is_region(a.is) && a.is != role::literal && !(t.border.is && is_pad(a.is))))
                broken(rule::argument_of_no_transfer, t.name);
            else check_value_of(t.name, a, -1);
        });
        if (dealt && !has_channel) broken(rule::call_without_channel, t.name, t.engine_name);
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
                plain &= axis >= 0 && !taken[axis];
                if (axis >= 0) taken[axis] = true;
            }
            if (!plain) broken(rule::transfer_that_rearranges, t.name, view[at].name);
        }
    }
    /// What all cores get lies in a memory of each; where it comes from is one place for all.
    constexpr bool is_multicast_right(transfer_description const& t) const {
        int const from = memory_under(m, t.source), to = memory_under(m, t.destination);
        auto const is_of_each_core = [&](int at) { return m.memories[at].per_core || m.memories[at].registers > 0; };
        return t.core_name.empty() && m.core_count() > 1 && from >= 0 && to >= 0 && !is_of_each_core(from) && m.memories[to].per_core;
    }
    /// A copy writes borders by a device function. The function is told where and, if the value varies, what.
    constexpr void check_border(transfer_description const& t) const {
        if (!t.border.is) return;
        bool told_where = t.call.count == 0, told_what = t.call.count == 0 || !t.border.any_value, beyond = false;
        each_value(m, t, [&](call_argument const& a) {
            told_where |= a.is == role::pad_before || a.is == role::pad_after;
            told_what |= a.is == role::pad_value;
            beyond |= is_pad(a.is) && (a.dimension < 0 || a.dimension >= t.most_dimensions);
        });
        if (!told_where || !told_what || beyond || t.semantics.count > 0 || passes_values(m, t))
            broken(rule::border_of_another_kind, t.name);
    }
    /// A core copies from and to memories that it sees, element by element. When it goes on, the copy is complete.
    constexpr void check_copy_by_core(transfer_description const& t) const {
        known(m.cores.find(t.core_name), t.core_name);
        if (t.is_asynchronous || t.border.is || !t.engine_name.empty() || t.semantics.count > 0 || t.call.count > 0 ||
            t.more_calls.count > 0 || t.settings.count > 0)
            broken(rule::copy_of_another_kind, t.name, t.core_name);
        for (label const& name : {t.source, t.destination}) {
            int const at = m.memories.find(name);
            if (at >= 0 && !m.memories[at].host_visible) broken(rule::copy_out_of_sight, t.name, name);
        }
    }
    constexpr void check_intrinsic(intrinsic_description const& i, stage& s) const {
        p.check_name(i.call.symbol);
        if (!i.engine_name.empty()) known(m.engines.find(i.engine_name), i.engine_name);
        if (!i.core_name.empty()) known(m.cores.find(i.core_name), i.core_name);
        if (i.is_asynchronous && i.engine_name.empty()) broken(rule::asynchronous_without_engine, i.name);
        if (int const at = m.engines.find(i.engine_name); at >= 0 && m.engines[at].has_channels())
            broken(rule::intrinsic_on_channels, i.name, i.engine_name);
        int const on = i.is_asynchronous ? m.engines.find(i.engine_name) : -1;
        if (on >= 0 && m.engines[on].completes == completion::by_transfer)
            broken(rule::intrinsic_waited_for_by_transfer, i.name, i.engine_name);
        check_numbers(i, i.name);
        if (passes_values(m, i) && (i.is_asynchronous || i.more_calls.count > 0)) broken(rule::registers_in_another_way, i.name);
        if (p.refused() || !check_semantics(i.name, i.semantics, s)) return;
        computation_view const view = m.view(i.semantics);
        fixed_array<int, intrinsic_description::most_operands> ranks{};
        set_all(ranks, -1);
        for (int at = s.first; at < s.store; ++at) {
            node const& n = view[at];
            if (n.op != operation::access) continue;
            int const which = i.find(n.name);
            if (which < 0) return broken(rule::operand_without_memory, i.name, n.name);
            int& rank = ranks[which];
            if (rank >= 0 && rank != n.argument_count) return broken(rule::used_with_two_ranks, i.name, n.name);
            rank = n.argument_count;
        }
        for (int at = 0; at < i.operand_count; ++at) {
            operand_constraint const& o = i.operands[at];
            if (o.memory_name.empty()) return broken(rule::operand_without_memory, i.name, o.tensor);
            known(m.memories.find(o.memory_name), o.memory_name);
            if (i.find(o.tensor) != at) return broken(rule::operand_declared_twice, i.name, o.tensor);
            check_numbers(o, i.name);
            bool const result = o.tensor == s.output;
            if (result && o.is == direction::reads) return broken(rule::result_only_read, i.name, o.tensor);
            if (result && s.continues && o.is != direction::updates) return broken(rule::result_not_updated, i.name, o.tensor);
            if (result && o.is == direction::updates && !s.reduces()) return broken(rule::update_without_reduction, i.name, o.tensor);
            if (result && o.is == direction::updates && s.start >= 0) return broken(rule::update_with_a_start, i.name, o.tensor);
            if (!result && o.is != direction::reads) return broken(rule::input_written, i.name, o.tensor);
        }
        if ((i.flexible_axes & i.unknown_axis) != 0) return broken(rule::axis_not_in_semantics, i.name);
        if ((i.costs.axes() & cycle_factor::wrong_axis) != 0) return broken(rule::cycles_of_a_wrong_axis, i.name);
        limit_cost(i, s);
        check_told(i, s);
        int by_default = 0;  // the address and the outer strides of every operand, and the extents that are not fixed
        for (int axis = 0; axis < s.axis_count; ++axis) by_default += i.is_flexible(axis) ? 1 : 0;
        for (int at = 0; at < i.operand_count; ++at) {
            int const rank = ranks[at];
            if (!i.operands[at].in_place) by_default += rank > 1 ? rank : rank < 0 ? 0 : 1;
        }
        if (!fits_in_place(i, view, s)) return broken(rule::operand_not_in_place, i.name, i.operands[i.find_in_place()].tensor);
        check_call(i.name, i.call, by_default);
        auto const check = [&](call_argument const& a) {
            if (a.is == role::value && a.operand >= 0) return check_passed_value(i, a, ranks[a.operand]);
            bool const of_operand = (a.is == role::address || a.is == role::stride) && a.operand >= 0;
            bool const inside = of_operand && (a.is == role::address || (a.dimension >= 0 && a.dimension < ranks[a.operand]));
            bool const of_axis = a.is == role::covered && a.dimension >= 0;
            operand_constraint const* const o = of_operand ? &i.operands[a.operand] : nullptr;
            if (o != nullptr && passes_values(m, o->memory_name) && (a.is == role::stride || o->is == direction::writes))
                return broken(rule::registers_in_another_way, i.name, o->tensor);
            if (of_axis && !i.is_flexible(a.dimension)) return broken(rule::extent_of_a_fixed_axis, i.name, s.axes[a.dimension].name);
            if (!inside && !of_axis && a.is != role::literal) broken(rule::argument_without_operand, i.name);
            else check_value_of(i.name, a, memory_of(m, i, a));
        };
        check_protocol(i, check,
                       [&](call_argument const& a) { is_address(a.is) ? broken(rule::argument_without_operand, i.name) : check(a); });
    }
    /// A step reads the operand in place at the element that it writes, and there is only one such operand.
    constexpr bool fits_in_place(intrinsic_description const& i, computation_view const& view, stage const& s) const {
        int const at = i.find_in_place(), result = i.find(s.output);
        if (at < 0) return true;
        operand_constraint const &o = i.operands[at], &target = i.operands[result];
        bool fits = at != result && o.memory_name == target.memory_name && target.is == direction::writes;
        for (int other = at + 1; other < i.operand_count; ++other) fits &= !i.operands[other].in_place;
        for (node_id node{s.first}; node < s.store && fits; ++node) {
            if (view[node].op != operation::access || view[node].name != o.tensor) continue;
            fits = view[node].type == s.type && view[node].argument_count == s.rank;
            for (int dimension = 0; dimension < s.rank && fits; ++dimension) {
                stage_index const read = index_of(view, s, node, dimension), written = index_of(view, s, s.target, dimension);
                fits = read.constant == written.constant && read.coefficients == written.coefficients;
            }
        }
        return fits;
    }
    /// The core reads what it passes by value when it makes the call.
    constexpr void check_passed_value(intrinsic_description const& i, call_argument const& a, int rank) const {
        operand_constraint const& o = i.operands[a.operand];
        int const at = m.memories.find(o.memory_name);
        bool const seen = at >= 0 && m.memories[at].host_visible && m.memories[at].registers == 0 && !m.memories[at].is_view();
        if (rank != 0 || o.is != direction::reads || !seen || i.is_asynchronous) broken(rule::value_out_of_reach, i.name, o.tensor);
        else if (a.value != 0) broken(rule::counted_in_units, i.name);
    }
    /// The cycles of a call that covers everything can be counted, and so can those of every other call.
    constexpr void limit_cost(intrinsic_description const& i, stage const& s) const {
        auto const count = [&](double number) { return p.limited(number, plan_value::most_total, "cycles", i.name); };
        double all = static_cast<double>(i.costs.cycles);
        for (int t = 0; t < i.costs.term_count; ++t) {
            cycle_term const& term = i.costs.terms[t];
            double cycles = static_cast<double>(term.cycles);
            for (int f = 0; f < term.factor_count; ++f) {
                cycle_factor const& factor = term.factors[f];
                double elements = 1;
                for (int axis = 0; axis < s.axis_count; ++axis) {
                    if (factor.has(axis)) elements *= static_cast<double>(s.axes[axis].extent);
                }
                cycles *= static_cast<double>(units_of(count(elements), factor.unit));
            }
            all += static_cast<double>(count(cycles));
        }
        count(all);
    }
    /// The C function must be told how much it covers of an axis without a fixed extent.
    constexpr void check_told(intrinsic_description const& i, stage const& s) const {
        for (int axis = 0; axis < s.axis_count && !p.refused(); ++axis) {
            bool told = !i.is_flexible(axis);
            auto const look = [&](call_argument const& a) { told |= a.is == role::covered && a.dimension == axis; };
            each_call(m, i, [&](device_call const& call) { each_argument(call, look); });
            for (int at = i.settings.first; at < i.settings.first + i.settings.count; ++at) {
                for (call_argument const& a : m.settings[at].values.elements) look(a);
            }
            if (!told) broken(rule::extent_not_told, i.name, s.axes[axis].name);
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
            if (s.axes[axis].run_time) broken(rule::run_time_semantics, part);
        }
        if (wrong) p.refuse_ill_formed(wrong, part);
        else if (s.store + 1 != view.count) broken(rule::several_stages, part);
        else if (uses_value(view, s.body) || (s.start >= 0 && uses_value(view, s.start))) broken(rule::parameter_in_semantics, part);
        for (int at = 0; at < view.count && !p.refused(); ++at) {
            if (view[at].op == operation::within) broken(rule::padding_in_semantics, part);
        }
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
        check_list(m.intrinsics, "intrinsics", false);
        for (int at = 0; at < m.intrinsics.size() && !p.refused(); ++at) check_name_of(at);
        check_list(m.configurations, "configurations");
        if (m.more_calls.count > m.more_calls.most) p.refuse_capacity("further calls", m.more_calls.count, m.more_calls.most, 0, m.name);
        if (m.settings.count > m.settings.most) p.refuse_capacity("settings", m.settings.count, m.settings.most, 0, m.name);
        if (m.memories.count == 0) broken(rule::machine_without_memory, m.name);
        if (m.semantics_count > machine::most_nodes)
            p.refuse_capacity("nodes of semantics", m.semantics_count, machine::most_nodes, 0, m.name);
        for (int at = 0; at < m.memories.size(); ++at) check_memory(at);
        for (int at = 0; at < m.engines.size(); ++at) check_engine(m.engines[at]);
        if (m.lane_count() > machine::most_lanes) p.refuse_capacity("channels of engines", m.lane_count(), machine::most_lanes, 0, m.name);
        for (int at = 0; at < m.tokens.size(); ++at) check_tokens(m.tokens[at]);
        for (int at = 0; at < m.cores.size(); ++at) check_core(at);
        for (int at = 0; at < m.configurations.size() && !p.refused(); ++at) check_configuration(m.configurations[at]);
        for (int at = 0; at < m.transfers.size(); ++at) check_transfer(m.transfers[at]);
        for (int at = 0; at < m.intrinsics.size(); ++at) {
            made.semantics.push({});
            check_intrinsic(m.intrinsics[at], made.semantics[at]);
        }
        check_symbols();
        for (int at = 0; at < m.transfers.size() && !p.refused(); ++at) made.limits.push(limits_of(m, m.transfers[at]));
    }
};

/// Reads the semantics of a machine's parts; refuses descriptions that do not fit together, or ask for what plans do not do yet.
constexpr machine_reading read_machine(machine const& what) {
    verdict_sheet sheet;
    machine_reading made;
    // The compiler has refused a call that makes the machine, or a part of it.
    if (what.name == ir::wrong_call) sheet.first.kind = verdict_kind::reported;
    else machine_check{refusals(sheet), what}.run(made);
    made.refusal = sheet.first;
    return made;
}

/// Read once for all schedules on it, and for its emulators.
template <machine const& Machine>
inline constexpr machine_reading reading_of = read_machine(Machine);

}  // namespace tilewright::detail
