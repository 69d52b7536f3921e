#pragma once
#include <initializer_list>
#include <tilewright/plan/ir/planning.hpp>

#include "catch.hpp"

// A machine and kernels of a few lines, and what it takes to write a plan down by hand: for the tests of single headers of plan/.
namespace small_kernels {

using namespace tilewright;
using namespace tilewright::ir;

// Positions in a plan that is written down by hand.
constexpr stage_id operator""_stage(unsigned long long at) { return stage_id(at); }
constexpr node_id operator""_node(unsigned long long at) { return node_id(at); }
constexpr buffer_id operator""_buffer(unsigned long long at) { return buffer_id(at); }
constexpr variable_id operator""_variable(unsigned long long at) { return variable_id(at); }

/// 1 KiB of scratchpad, and as much in two banks of one port each; what is asynchronous is loaded by one engine and stored by another.
inline constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x1000, .capacity = 1_KiB},
    banked{.name = "banked", .base = 0x9000'0000, .capacity = 1_KiB, .banks = 2, .ports = 1};
inline constexpr engine loader{"loader"}, storer{"storer"};
inline constexpr auto get = transfer("get", dram, spad).dimensions(2);
inline constexpr auto put = transfer("put", spad, dram).dimensions(2);
inline constexpr auto fetch = transfer("fetch", dram, spad).on(loader).asynchronous().dimensions(2);
inline constexpr auto drain = transfer("drain", spad, dram).on(storer).asynchronous().dimensions(2);
inline constexpr auto fetch_banked = transfer("fetch_banked", dram, banked).on(loader).asynchronous().dimensions(2);

/// Transfers that block; positions in it: memories dram 0, spad 1; transfers get 0, put 1.
inline constexpr auto blocking = machine("blocking", dram, spad, get, put);
/// Transfers that do not: memories dram 0, spad 1, banked 2; engines loader 0, storer 1; transfers fetch 0, drain 1, fetch_banked 2.
inline constexpr auto asynchronous = machine("asynchronous", dram, spad, banked, loader, storer, fetch, drain, fetch_banked);

inline constexpr tensor<std::int32_t> A{"A"}, B{"B"}, C{"C"};
inline constexpr axis m{"m", 10}, n{"n", 6}, k{"k", 5}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
/// Ten rows of six.
inline constexpr auto copy = C(m, n) = A(m, n);
inline constexpr auto product = C(m, n) = sum(k, A(m, k) * B(k, n));

/// 2 v + w + 3 is `sum_of(3, {{2, v}, {1, w}})`.
struct summand {
    std::int64_t coefficient;
    int variable;
};
inline linear sum_of(std::int64_t constant, std::initializer_list<summand> summands = {}) {
    linear form;
    form.constant = constant;
    for (summand const& s : summands) form.add(s.coefficient, s.variable);
    return form;
}
/// Likewise, kept in a plan.
inline affine keep(plan_value& plan, std::int64_t constant, std::initializer_list<summand> summands = {}) {
    linear const form = sum_of(constant, summands);
    affine const kept{constant, static_cast<std::int16_t>(plan.terms.size()), static_cast<std::int16_t>(form.count)};
    for (int at = 0; at < form.count; ++at) plan.terms.push(form.terms[at]);
    return kept;
}
inline bool same(linear const& a, linear const& b) { return a.constant == b.constant && a.same_terms(b); }

inline variable_id add_loop(plan_value& plan, label const& name, std::int64_t extent, bool reduction = false) {
    return variable_id(plan.variables.push({.name = name, .extent = extent, .reduction = reduction}));
}
inline variable_id add_component(plan_value& plan, affine const& fused, std::int64_t divisor, std::int64_t modulus, std::int64_t extent) {
    return variable_id(plan.variables.push(
        {.name = "part", .extent = extent, .kind = variable_kind::component, .fused = fused, .divisor = divisor, .modulus = modulus}));
}
inline void add_steps(plan_value& plan, std::initializer_list<step> steps) {
    for (step const& s : steps) plan.steps.push(s);
}
/// An empty plan on a machine, of a computation of one stage or several.
inline plan_value empty_plan(machine const& where, computation_view what) {
    plan_value plan;
    plan.where = &where;
    plan.what = what;
    for (int first = 0; first < what.count;) {
        stage s;
        read_stage(what, first, s);
        first = s.store + 1;
        plan.stages.push(s);
    }
    return plan;
}

/// What the planner works on, before its first pass, with the stages of the computation.
struct blank {
    schedule of;
    detail::machine_reading parts;
    plan_value plan;
    detail::groundwork from;
    detail::verdict_sheet sheet;
    detail::placing p;

    explicit blank(schedule const& what) : of(what), p(of, parts, sheet, plan, from) {
        for (int at = 0; at < of.where().transfers.size(); ++at) parts.limits.push(detail::limits_of(of.where(), of.where().transfers[at]));
        plan_value const read = empty_plan(of.where(), of.what());
        for (int s = 0; s < read.stages.size(); ++s) p.plan.stages.push(read.stages[s]), p.from.nests.push({}), p.from.placements.push({});
    }
    explicit blank(machine const& where = blocking, computation_view what = copy.view()) : blank(schedule(what, where)) {}
    blank(blank const&) = delete;
};

inline buffer_id add_staged(detail::writing& p, label const& name, int memory, std::int64_t bytes, int born = 0, int dead = 4,
                            int versions = 1) {
    return p.add(buffer{.name = name,
                        .tensor = name,
                        .kind = buffer_kind::staged,
                        .memory = static_cast<std::int16_t>(memory),
                        .type = scalar_type::int32,
                        .bytes = bytes,
                        .versions = static_cast<std::int16_t>(versions),
                        .born = static_cast<std::int16_t>(born),
                        .dead = static_cast<std::int16_t>(dead)});
}

}  // namespace small_kernels
