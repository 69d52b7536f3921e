#pragma once
#include <tilewright/plan/check/may_be_result.hpp>
#include <tilewright/plan/ir/arguments.hpp>
#include <tilewright/plan/loops/nest.hpp>
#include <tilewright/program/program_plan_value.hpp>

// The graph of a program: its memories, its tensors and who uses them from where.
namespace tilewright::detail {

/// A tensor that waits in another memory while nobody uses it: `readers` read it when it has come back.
struct spilled_tensor {
    label tensor{};
    label to{};
    ir::kernel_set readers{};
};

/// Where a tensor lies; -1: anywhere.
struct given_place {
    std::int64_t offset = -1, bank = -1;

    constexpr bool any() const { return offset >= 0 || bank >= 0; }
};

/// A program while it is planned.
struct program_planning : refusals {
    using refusals::refusals;

    plan_value const* const* plans = nullptr;  ///< of its kernels, as their schedules say
    program_plan_value plan{};
    ir::growing_pool<std::uint16_t, 96, 4096> banned{};  ///< of each tensor: memories that it left for lack of room
    ir::growing_pool<spilled_tensor, 16, 512> spilled{};
    bool spills_at_once = false;  ///< nothing is run while a copy out of a memory that is too small is under way

    constexpr ir::program_tensor& tensor(int at) { return plan.tensors[at]; }
    constexpr ir::program_kernel& kernel(int at) { return plan.kernels[at]; }
    constexpr ir::program_use& use(int at) { return plan.uses[at]; }
    constexpr ir::program_memory const& memory_at(int at) const { return plan.memories[at]; }
    constexpr plan_value const& plan_of(int kernel_at) const { return *plans[kernel_at]; }
    constexpr ir::buffer const& buffer_of(ir::program_use const& u) const { return plan_of(u.kernel).buffers[u.buffer]; }

    template <class Part, int Most, int Largest>
    constexpr int keep(ir::growing_pool<Part, Most, Largest>& list, Part const& part, char const* what) {
        if (!list.full()) return list.push(part);
        refuse_capacity(what, list.size() + 1, list.size());
        return 0;
    }
    constexpr std::uint16_t banned_from(int tensor_at) const { return tensor_at < banned.size() ? banned[tensor_at] : std::uint16_t{0}; }
    constexpr void ban(int tensor_at, int memory_at) {
        while (banned.size() <= tensor_at) banned.push(0);
        banned[tensor_at] |= static_cast<std::uint16_t>(1u << memory_at);
    }
    /// Calls `visit(use)` for the tensors of a kernel.
    template <class Visit>
    constexpr void each_use(int kernel_at, Visit&& visit) {
        for (int at = 0; at < plan.uses.size(); ++at) {
            if (use(at).kernel == kernel_at) visit(use(at));
        }
    }
    template <class Visit>
    constexpr void each_statement(Visit&& visit) const {
        for (int at = 0; at < plan.of->statements_size(); ++at) visit(at, plan.of->statement_at(at));
    }
    /// Whether a kernel writes elements of a tensor that another one reads or writes, too.
    constexpr bool meet(ir::program_use const& a, ir::program_use const& b) const {
        if (a.tensor != b.tensor) return false;
        bool const whole = a.reshaped || b.reshaped || plan.kernel_at(a.kernel).is_copy() || plan.kernel_at(b.kernel).is_copy();
        if (whole) return true;
        ir::buffer const &of_a = buffer_of(a), &of_b = buffer_of(b);
        for (int d = 0; d < of_a.rank; ++d) {
            std::int64_t const in_a = a.begin[d] + of_a.minimum[d], in_b = b.begin[d] + of_b.minimum[d];
            if (in_a >= in_b + of_b.extents[d] || in_b >= in_a + of_a.extents[d]) return false;
        }
        return true;
    }
    /// Calls `visit(kernel)` for those that write what a kernel reads.
    template <class Visit>
    constexpr void each_maker(ir::program_use const& reading, Visit&& visit) const {
        ir::program_tensor const& t = plan.tensor_at(reading.tensor);
        if (reading.written || t.producer < 0) return;
        if (!t.in_parts) return visit(static_cast<int>(t.producer));
        for (int at = 0; at < plan.uses.size(); ++at) {
            ir::program_use const& other = plan.uses[at];
            if (other.written && meet(reading, other)) visit(static_cast<int>(other.kernel));
        }
    }
    /// Calls `visit(before, after)` for what is kept from run to run.
    template <class Visit>
    constexpr void each_state(Visit&& visit) const {
        for (int at = 0; at < plan.tensors.size() && !refused(); ++at) {
            if (plan.tensor_at(at).state_of >= 0) visit(static_cast<int>(plan.tensor_at(at).state_of), at);
        }
    }
    /// Where the program says that a tensor lies in its memory; -1: anywhere.
    constexpr given_place place_given(label const& tensor) const {
        given_place place;
        if (!plan.of->gives_places) return place;
        each_statement([&](int, program::statement const& s) {
            if (s.tensor != tensor) return;
            if (s.kind == program::statement_kind::at_offset) place.offset = s.count;
            if (s.kind == program::statement_kind::in_bank) place.bank = s.count;
        });
        return place;
    }
};

/// The memories that the agents see. Memories of one name are one memory, and must be equal.
constexpr void read_memories(program_planning& p) {
    program const& of = *p.plan.of;
    for (int a = 0; a < of.agent_count && !p.refused(); ++a) {
        agent const& by = of.agents[a];
        p.check_name(by.name);
        for (int before = 0; before < a; ++before) {
            if (of.agents[before].name == by.name) p.refuse(verdict_kind::ill_formed, rule::agent_of_two_machines, {by.name});
        }
        for (int m = 0; m < by.where->memories.size() && !p.refused(); ++m) {
            memory const& what = by.where->memories[m];
            if (what.registers > 0) continue;
            label const name = what.per_agent ? dotted(by.name, what.name) : what.name;
            int const known = p.plan.find_memory(name);
            if (known < 0) {
                p.keep(p.plan.memories, {name, what, static_cast<std::uint8_t>(1u << a)}, "memories");
                continue;
            }
            if (!(p.memory_at(known).what == what)) p.refuse(verdict_kind::ill_formed, rule::memory_of_two_kinds, {name, {}, by.name});
            p.plan.memories[known].agents |= static_cast<std::uint8_t>(1u << a);
        }
    }
}

/// Memories named by a kernel's agent, as bits. Refuses memories that the agent does not see.
constexpr std::uint16_t memories_named(program_planning& p, ir::program_kernel const& k, label const& tensor, any_of const& where) {
    std::uint16_t bits = 0;
    if (where.count > any_of::most) p.refuse_capacity("memories", where.count, any_of::most, 0, tensor);
    for (int at = 0; at < where.size() && !p.refused(); ++at) {
        int const found = p.plan.memory_of(k.agent, where.names[at]);
        if (found < 0)
            p.refuse(verdict_kind::agent_memory, rule::kernel_sees_no_memory, {tensor, k.name, where.names[at], p.plan.agent_of(k).name});
        else bits |= static_cast<std::uint16_t>(1u << found);
    }
    return bits;
}

/// How often loops that stay code load or store an argument in one run; -1: transfers or instructions touch it, too.
constexpr std::int64_t accesses_by_code(plan_value const& plan, int buffer_at) {
    for (int at = 0; at < plan.movements.size(); ++at) {
        ir::movement const& m = plan.movements[at];
        if (m.source == buffer_at || m.destination == buffer_at) return -1;
    }
    for (int at = 0; at < plan.operands.size(); ++at) {
        if (plan.operands[at].buffer == buffer_at) return -1;
    }
    std::int64_t all = 0;
    plan.walk([&](ir::step const& s, std::int64_t times, std::int64_t first_times) {
        if (s.kind != ir::step_kind::compute) return;
        ir::body const& b = plan.bodies[s.what];
        std::int64_t const once = cycles_of(b.counts, plan.where->host().costs);
        if (b.kind == ir::body_kind::intrinsic || once == 0) return;
        std::int64_t nodes = 0;
        plan.each_use(b, [&](ir::use const& u, bool, bool) { nodes += u.buffer == buffer_at ? 1 : 0; });
        all += nodes * (plan.total_of(s, times, first_times).cycles / once);
    });
    return all;
}

/// Where a kernel can take an argument: in the memories that its schedule names. Otherwise where its plan has it or, if only loops that
/// stay code touch it, in every memory that they see.
constexpr std::uint16_t memories_for(program_planning& p, ir::program_kernel const& k, ir::buffer const& b, std::int64_t accesses) {
    schedule const& s = *k.what;
    for (int at = 0; at < s.directive_count(); ++at) {
        directive const& d = s.directive_at(at);
        if (d.kind != (b.written ? directive_kind::writes : directive_kind::reads) || s.name_at(d, 0) != b.tensor) continue;
        any_of named;
        for (int which = 1; which < d.name_count; ++which) named.names[named.count++] = s.name_at(d, which);
        return memories_named(p, k, b.tensor, named);
    }
    machine const& where = s.where();
    std::uint16_t bits = 0;
    for (int m = 0; m < where.memories.size(); ++m) {
        memory const& one = where.memories[m];
        bool const seen = accesses >= 0 && one.host_visible && one.registers == 0 && !one.is_numbered() && !one.is_view() &&
                          !(k.cores > 1 && one.per_core);
        if (m == b.memory || seen) bits |= static_cast<std::uint16_t>(1u << p.plan.memory_of(k.agent, one.name));
    }
    return bits;
}

/// What the program says of a kernel's tensor: its name there, whether the kernel reshapes it, and which statement says that it is a part.
struct argument_said {
    label name{};
    bool reshaped = false;
    int part = -1;
};
constexpr argument_said said_of(program_planning const& p, int kernel_at, label const& tensor) {
    argument_said said{tensor};
    p.each_statement([&](int at, program::statement const& s) {
        if (s.kernel != kernel_at || s.tensor != tensor) return;
        if (s.kind == program::statement_kind::bind) said.name = s.other;
        if (s.kind == program::statement_kind::reshapes) said.reshaped = true;
        if (s.kind == program::statement_kind::part) said.part = at;
    });
    return said;
}

/// Names a dimension of a tensor in which a kernel has elements that are not in [0, limit].
constexpr void refuse_outside(program_planning& p, label const& tensor, int dimension, std::int64_t from, std::int64_t to,
                              std::int64_t limit) {
    verdict& v = p.refuse(verdict_kind::outside_domain);
    v.names = {tensor};
    v.facts = {fact{fact_kind::dimension, dimension}, fact{fact_kind::from, from}, fact{fact_kind::to, to}, fact{fact_kind::limit, limit}};
}

/// The kernel writes this tensor, or a part of it.
constexpr void add_producer(program_planning& p, ir::program_tensor& t, ir::program_use const& u, ir::buffer const& b) {
    if (t.producer >= 0 && !(t.in_parts && u.is_part))
        return p.refuse(verdict_kind::ill_formed, t.in_parts || u.is_part ? rule::written_in_parts_and_whole : rule::written_by_two_kernels,
                        {t.name, p.kernel(u.kernel).name});
    if (t.producer < 0) t.producer = u.kernel;
    t.in_parts = u.is_part;
    t.sized = !u.reshaped;
    for (int d = 0; d < b.rank && t.sized; ++d) {
        std::int64_t const end = u.is_part ? u.begin[d] + b.minimum[d] + b.extents[d] : b.extents[d];
        t.extents[d] = t.extents[d] < end ? end : t.extents[d];
    }
}

/// Where a part begins: an index for each dimension of a kernel's tensor.
constexpr void read_part(program_planning& p, ir::program_use& u, ir::buffer const& b, int statement_at) {
    program::statement const& said = p.plan.of->statement_at(statement_at);
    label const &tensor = said.tensor, &kernel = p.kernel(u.kernel).name;
    if (u.reshaped) return p.refuse(verdict_kind::ill_formed, rule::part_reshaped, {tensor, {}, kernel});
    if (said.count != b.rank)
        return p.refuse(verdict_kind::ill_formed, rule::part_of_other_rank, {tensor, {}, kernel}, 0,
                        {fact{fact_kind::have, said.count}, fact{fact_kind::need, b.rank}});
    for (int d = 0; d < b.rank; ++d) {
        if (said.begin[d] >= 0 && said.begin[d] <= plan_value::most_bytes) continue;
        return refuse_outside(p, tensor, d, said.begin[d], said.begin[d], plan_value::most_bytes);
    }
    u.is_part = true;
    u.begin = said.begin;
}

constexpr void add_use(program_planning& p, int kernel_at, int buffer_at) {
    ir::program_kernel const k = p.kernel(kernel_at);
    ir::buffer const& b = p.plan_of(kernel_at).buffers[buffer_at];
    argument_said const said = said_of(p, kernel_at, b.tensor);
    label const& name = said.name;
    p.check_name(name);
    int at = p.plan.find_tensor(name);
    if (at < 0) at = p.keep(p.plan.tensors, ir::program_tensor{.name = name, .type = b.type, .rank = -1}, "tensors");
    if (p.refused()) return;
    ir::program_tensor& t = p.tensor(at);
    if (!said.reshaped && t.rank < 0) t.rank = b.rank;
    if (t.type != b.type) return p.refuse(verdict_kind::ill_formed, rule::used_with_two_types, {name, k.name});
    if (!said.reshaped && t.rank != b.rank) return p.refuse(verdict_kind::ill_formed, rule::used_with_two_ranks, {name, k.name});
    ir::program_use made{.kernel = static_cast<std::int16_t>(kernel_at),
                         .buffer = static_cast<std::int16_t>(buffer_at),
                         .tensor = static_cast<std::int16_t>(at),
                         .written = b.written,
                         .reshaped = said.reshaped};
    if (said.part >= 0) read_part(p, made, b, said.part);
    if (b.written && !p.refused()) add_producer(p, t, made, b);
    if (p.refused()) return;
    std::int64_t const accesses = accesses_by_code(p.plan_of(kernel_at), buffer_at);
    std::uint16_t allowed = memories_for(p, k, b, accesses);
    p.each_statement([&](int, program::statement const& s) {
        using enum program::statement_kind;
        if (s.kind != (b.written ? writes : reads) || s.kernel != kernel_at || s.tensor != name) return;
        std::uint16_t const asked = memories_named(p, k, name, s.where);
        if (p.refused()) return;
        if ((asked & ~allowed) != 0) p.refuse(verdict_kind::ill_formed, rule::memory_without_use, {name, k.name});
        allowed = asked;
    });
    made.allowed = allowed;
    made.accesses = accesses < 0 ? 0 : accesses;
    p.keep(p.plan.uses, made, "tensors of kernels");
}

/// Cores that share kernels are of one machine, and run all of the program: see `join_team`.
constexpr void check_cores(program_planning& p, program::kernel const& k, std::int16_t cores) {
    program const& of = *p.plan.of;
    auto const refuse = [&](label const& what) { p.refuse(verdict_kind::not_honoured).names = {k.name, what}; };
    if (of.agents[k.agent].works_beside()) refuse("several cores beside the caller");
    if (p.plan.shared_by >= 0 && of.agents[k.agent].where != of.agents[p.plan.shared_by].where) refuse("cores of two machines");
    if (p.plan.shared_by < 0) p.plan.shared_by = k.agent;
    if (cores > p.plan.cores) p.plan.cores = cores;
}

/// Cores of the program that a kernel has nothing for come to its barriers, too.
constexpr void join_team(plan_value& kernel, program_plan_value const& plan) {
    if (kernel.cores > 1) kernel.cores = plan.cores;
}

constexpr void read_kernels(program_planning& p) {
    program const& of = *p.plan.of;
    p.check_name(of.name);
    if (of.kernel_count > of.size()) p.refuse_capacity("kernels", of.kernel_count, of.size());
    if (of.agent_count > program::most_agents) p.refuse_capacity("agents", of.agent_count, program::most_agents);
    if (of.statement_count > of.statements_size()) p.refuse_capacity("statements", of.statement_count, of.statements_size());
    if (of.kernel_count == 0 && !p.refused()) p.refuse(verdict_kind::ill_formed, rule::program_without_kernels, {of.name});
    if (of.two_agents && !p.refused()) p.refuse(verdict_kind::ill_formed, rule::agent_of_two_machines, {of.name});
    if (!p.refused()) read_memories(p);
    for (int at = 0; at < of.size() && !p.refused(); ++at) {
        program::kernel const& k = of.kernel_at(at);
        plan_value const& made = p.plan_of(at);
        p.check_name(k.name);
        if (!k.name.is_identifier()) p.refuse(verdict_kind::ill_formed, rule::no_identifier, {k.name});
        if (p.plan.find_kernel(k.name) >= 0) p.refuse(verdict_kind::ill_formed, rule::two_kernels_of_one_name, {k.name});
        if (made.refusal) p.take(made.refusal);
        agent const& on = of.agents[k.agent];
        if (p.refused()) return;
        if (&k.what->where() != on.where)
            return p.refuse(verdict_kind::ill_formed, rule::kernel_for_another_machine, {k.name, {}, on.where->name});
        ir::argument_list const list = arguments_of(made);
        if (made.run_time_extents > 0) p.refuse(verdict_kind::not_honoured).names = {k.name, "extents left to run time"};
        if (made.cores > 1) check_cores(p, k, made.cores);
        if (list.parameter_count > 0) p.refuse(verdict_kind::not_honoured).names = {k.name, "scalar parameters"};
        if (list.kept_result >= 0) p.refuse(verdict_kind::ill_formed, rule::result_kept_by_kernel, {k.name});
        if (p.refused()) return;
        p.keep(p.plan.kernels, ir::program_kernel{.name = k.name, .agent = k.agent, .what = k.what, .cores = made.cores}, "kernels");
        for (int argument = 0; argument < list.tensor_count && !p.refused(); ++argument) add_use(p, at, list.tensors[argument]);
    }
    for (int at = 0; at < p.plan.kernels.size(); ++at) {
        if (p.kernel(at).cores > 1) p.kernel(at).cores = p.plan.cores;
    }
}

/// Checks that what is said of kernels names tensors that they have.
constexpr void check_statements(program_planning& p) {
    p.each_statement([&](int, program::statement const& s) {
        using enum program::statement_kind;
        if (p.refused() || (s.kind != bind && s.kind != reshapes && s.kind != part && s.kind != reads && s.kind != writes)) return;
        if (s.kernel < 0) return p.refuse(verdict_kind::misplaced_directive, rule::behind_no_kernel, {s.tensor});
        bool found = false;
        p.each_use(s.kernel, [&](ir::program_use const& u) {
            if (s.kind == bind || s.kind == reshapes || s.kind == part) found |= p.buffer_of(u).tensor == s.tensor;
            else found |= p.tensor(u.tensor).name == s.tensor && u.written == (s.kind == writes);
        });
        if (!found) p.refuse(verdict_kind::unknown_tensor, rule::not_of_the_kernel, {s.tensor, {}, p.kernel(s.kernel).name});
    });
}

/// The memory that a statement of a tensor names.
constexpr int memory_said(program_planning& p, program::statement const& s) {
    label const& name = s.where.names[0];
    int const found = p.plan.find_memory(name);
    if (found < 0) p.refuse(verdict_kind::agent_memory, rule::agents_see_no_memory, {s.tensor, name});
    else if (p.memory_at(found).what.is_numbered() || p.memory_at(found).what.is_view())
        p.refuse(verdict_kind::misplaced_directive, rule::holds_no_arguments, {s.tensor, name});
    return found;
}

/// Inputs, outputs and constants: what is said of tensors.
constexpr void read_tensors(program_planning& p) {
    p.each_statement([&](int at, program::statement const& s) {
        using enum program::statement_kind;
        if (p.refused() || s.kernel >= 0) return;
        int const found = p.plan.find_tensor(s.tensor);
        if (found < 0) return p.refuse(verdict_kind::unknown_tensor, rule::of_no_kernel, {s.tensor});
        if (s.kind == at_offset || s.kind == in_bank || s.kind == shape) return;
        if (s.kind == state) {
            p.tensor(p.plan.find_tensor(s.other)).state_of = static_cast<std::int16_t>(found);
            return;
        }
        ir::program_tensor& t = p.tensor(found);
        if (memory_said(p, s) < 0 || s.kind == pin || s.kind == may_spill) return;
        if (t.kind != ir::tensor_kind::between) return p.refuse(verdict_kind::ill_formed, rule::two_kinds_of_tensor, {s.tensor});
        if (s.type != t.type) return p.refuse(verdict_kind::ill_formed, rule::used_with_two_types, {s.tensor});
        t.kind = s.kind == input ? ir::tensor_kind::input : s.kind == output ? ir::tensor_kind::output : ir::tensor_kind::constant;
        t.statement = static_cast<std::int16_t>(at);
        if (s.kind == output && t.producer < 0) p.refuse(verdict_kind::no_producer, rule::computed_by_no_kernel, {s.tensor});
        if (s.kind != output && t.producer >= 0) p.refuse(verdict_kind::ill_formed, rule::given_and_computed, {s.tensor});
    });
    for (int at = 0; at < p.plan.tensors.size() && !p.refused(); ++at) {
        ir::program_tensor const& t = p.tensor(at);
        bool read = false;
        label reader{};
        for (int which = 0; which < p.plan.uses.size(); ++which) {
            if (p.use(which).tensor != at || p.use(which).written) continue;
            if (!read) reader = p.kernel(p.use(which).kernel).name;
            read = true;
        }
        if (t.kind == ir::tensor_kind::between && t.producer < 0)
            p.refuse(verdict_kind::no_producer, rule::read_without_producer, {t.name, reader});
        else if (t.kind == ir::tensor_kind::between && !read) p.refuse(verdict_kind::ill_formed, rule::neither_read_nor_output, {t.name});
    }
}

constexpr void connect(program_planning& p) {
    read_kernels(p);
    if (!p.refused()) check_statements(p);
    if (!p.refused()) read_tensors(p);
}

}  // namespace tilewright::detail
