#pragma once
#include <tilewright/base/whole_number.hpp>
#include <tilewright/compute/stage.hpp>
#include <tilewright/machine/intrinsic_cost.hpp>
#include <tilewright/machine/transfer.hpp>

namespace tilewright {

namespace ir {

enum class direction : std::uint8_t { reads, writes, updates };

constexpr char const* name_of(direction d) {
    constexpr char const* names[] = {"reads", "writes", "updates"};
    return names[static_cast<int>(d)];
}

}  // namespace ir

/// Where one operand of an intrinsic must live.
struct operand_constraint {
    ir::label tensor{};                       ///< of its semantics
    ir::label memory_name{};                  ///< where it lies
    ir::direction is = ir::direction::reads;  ///< whether a call reads it, writes it, or both
    std::int64_t alignment = 1;               ///< bytes; of its address, besides what all operands keep to
    std::int64_t stride_multiple = 1;         ///< elements; of its strides, likewise
    std::int64_t longest_stride = 0;          ///< elements; 0: no limit
    bool in_place = false;                    ///< the result overwrites it: both have one address and one set of strides

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("alignment", alignment, 1);
        visit("stride_multiple", stride_multiple, 1);
        visit("stride_at_most", longest_stride, 0);
    }
    friend constexpr bool operator==(operand_constraint const&, operand_constraint const&) = default;
};

/// What a machine keeps of an intrinsic.
struct intrinsic_description {
    static constexpr int most_operands = 16;  ///< the result included

    ir::label name{};                                           ///< by which schedules, errors and reports name it
    ir::label engine_name{};                                    ///< the engine that is busy with it; empty: none is
    ir::label core_name{};                                      ///< the kind of core that has it; empty: every core does
    bool is_asynchronous = false;                               ///< its call returns before it is complete
    fixed_array<operand_constraint, most_operands> operands{};  ///< in the order in which they are declared
    int operand_count = 0;                                      ///< above `most_operands` it marks an overflow, refused by the planner
    intrinsic_cost costs{};                                     ///< cycles of a call
    std::uint16_t flexible_axes = 0;  ///< a bit for each axis that is `up_to`: an argument says how much of its extent a call covers
    static constexpr std::uint16_t unknown_axis = 1 << 15;  ///< in `flexible_axes`: an axis was named that its semantics do not have
    std::int64_t address_alignment = 1;                     ///< bytes; every operand's address is a multiple of it
    std::int64_t stride_alignment = 1;                      ///< elements; every stride but the innermost, which is 1, is a multiple of it
    device_call call{};           ///< without arguments: each operand's address and outer strides, in the order they are declared
    part_range more_calls{};      ///< of the machine's: those that follow it in each step
    part_range settings{};        ///< of the machine's: what must be configured
    semantics_range semantics{};  ///< what a call computes, in `machine::semantics`

    /// What its numbers may be, as of a memory; but for those of its operands.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        costs.each_number(visit);
        visit("alignment", address_alignment, 1);
        visit("stride_multiple", stride_alignment, 1);
        visit("operands", operand_count, 0, most_operands);
    }
    /// The operand that the result overwrites where it lies; -1: none.
    constexpr int find_in_place() const {
        for (int position = 0; position < operand_count && position < most_operands; ++position) {
            if (operands[position].in_place) return position;
        }
        return -1;
    }
    /// Whether an axis of its semantics is `up_to`.
    constexpr bool is_flexible(int axis) const { return (flexible_axes >> axis & 1) != 0; }
    /// The position of the operand of this name; -1: there is none.
    constexpr int find(ir::label const& operand) const {
        for (int position = 0; position < operand_count && position < most_operands; ++position) {
            if (operands[position].tensor == operand) return position;
        }
        return -1;
    }

    friend constexpr bool operator==(intrinsic_description const&, intrinsic_description const&) = default;
};

/// An instruction: what it computes, where its operands live, and what it costs.
///
/// The axes of its semantics have the extents of the instruction. `c(i, j) += …` with `updates(c, …)` continues from the contents
/// of c; with `writes(c, …)`, or written `c(i, j) = sum(k, …)`, it overwrites them.
struct intrinsic : intrinsic_description {
    semantics_nodes does;      ///< what a call computes
    part_protocol protocol{};  ///< its further calls and the configurations that it uses

  private:
    constexpr intrinsic& leave() {
        name = ir::wrong_call;
        return *this;
    }
    template <class Change>
    constexpr intrinsic& change(any_tensor const& operand, Change&& what) {
        int const at = find(operand.name);
        // An operand that is not there is one that semantics do not have: the planner refuses it.
        if (at < 0) return constrain(operand, {}, ir::direction::reads);
        what(operands[at]);
        return *this;
    }
    constexpr intrinsic& constrain(any_tensor const& operand, memory const& where, ir::direction is) {
        if (operand_count < most_operands) operands[operand_count] = {operand.name, where.name, is};
        ++operand_count;
        return *this;
    }

  public:
    /// An instruction that computes `what`, by a C function of this name unless `calls` gives another one: `intrinsic("mac16", c(i, j) +=
    /// a(i, k)
    /// * b(k, j))`. Axes have the extents of one call. It blocks, and takes one cycle, until more is said.
    template <int Count>
    constexpr intrinsic(ir::label intrinsic_name, computation<Count> const& what)
        : intrinsic_description{.name = intrinsic_name, .call = {.symbol = intrinsic_name}}, does(what) {}

    /// Refused, with what an intrinsic takes.
    template <bool expected = false>
    constexpr explicit intrinsic(...) : intrinsic_description{.name = ir::wrong_call} {
        static_assert(expected, "intrinsic takes its name, and a stage: intrinsic(\"mac16\", c(i, j) += a(i, l) * b(l, j))");
    }

    /// The operand is read, in this memory. The plan puts it there by `cache_read`, or refuses the schedule (operand_memory). Operands are
    /// declared in the order of the C function, at most 16.
    constexpr intrinsic& reads(any_tensor const& operand, memory const& where) { return constrain(operand, where, ir::direction::reads); }
    /// Several operands are read from this memory, in this order.
    constexpr intrinsic& reads(std::initializer_list<any_tensor> all, memory const& where) {
        for (any_tensor const& operand : all) reads(operand, where);
        return *this;
    }
    /// The result is overwritten, in this memory, whatever it was before: the first form of a reduction, or all of it.
    constexpr intrinsic& writes(any_tensor const& operand, memory const& where) { return constrain(operand, where, ir::direction::writes); }
    /// The result is read and written, in this memory: a call adds to what is there. A reduction also needs a first form, which overwrites
    /// (missing_first_form).
    constexpr intrinsic& updates(any_tensor const& operand, memory const& where) {
        return constrain(operand, where, ir::direction::updates);
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr intrinsic& reads(...) {
        static_assert(expected, "reads takes an operand, or several in braces, and then a memory: reads(a, spad), reads({a, b}, spad)");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr intrinsic& writes(...) {
        static_assert(expected, "writes takes the result, and then a memory: writes(c, acc)");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr intrinsic& updates(...) {
        static_assert(expected, "updates takes the result, and then a memory: updates(c, acc)");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr intrinsic& on(...) {
        static_assert(expected, "on takes the engine that is busy with it, or the kind of cores that has it: on(array)");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr intrinsic& cycles(...) {
        static_assert(expected, "cycles takes a whole number, and rates of axes: cycles(16), cycles(4, per(i), 2 * per(j))");
        return leave();
    }
    /// Refused, with what it takes.
    template <bool expected = false>
    constexpr intrinsic& calls(...) {
        static_assert(expected,
                      "calls takes the C function, and its arguments: calls(\"mac\", argument::address(a), argument::stride(a, 0))");
        return leave();
    }
    /// The engine that is busy with it, one job after the other. It must be part of the machine (unknown_part).
    constexpr intrinsic& on(engine const& where) {
        engine_name = where.name;
        return *this;
    }
    /// Only cores of this kind have it. Each kind may have its own by one name: the same semantics, operands and arguments, with other
    /// cycles and another C function.
    constexpr intrinsic& on(core const& kind) {
        core_name = kind.name;
        return *this;
    }
    /// Its call returns before it is complete. The plan orders accesses to its operands, as the machine says.
    constexpr intrinsic& asynchronous() {
        is_asynchronous = true;
        return *this;
    }
    /// A call covers at most the extents of these axes: `argument::extent(axis)` says how much.
    template <class... Axes>
    constexpr intrinsic& up_to(Axes const&... axes) {
        for (int const at : {axis_of(axes.name)...})
            flexible_axes = static_cast<std::uint16_t>(flexible_axes | (at < 0 ? unknown_axis : 1 << at));
        return *this;
    }
    /// The cycles for which a call occupies its engine: a constant, and more for what it covers of its axes: `cycles(20, per(i), 2 *
    /// per(j).in_units_of(16))`. A call always covers all of an axis that is not `up_to`.
    template <class... Rates>
        requires(detail::converts_to<Rates, cycle_rate>&&...)
    constexpr intrinsic& cycles(whole_number count, Rates const&... rates) {
        costs = {.cycles = count.value};
        (add_cycles(rates), ...);
        return *this;
    }
    /// The address of every operand is a multiple of so many bytes, at least 1. The plan aligns buffers; what cannot be is refused
    /// (intrinsic_mismatch).
    constexpr intrinsic& alignment(std::int64_t bytes) {
        address_alignment = bytes;
        return *this;
    }
    /// Every stride of every operand, but for the innermost, is a multiple of so many elements, at least 1 (intrinsic_mismatch).
    constexpr intrinsic& stride_multiple(std::int64_t elements) {
        stride_alignment = elements;
        return *this;
    }
    /// Likewise of one operand, which is declared before.
    constexpr intrinsic& alignment(any_tensor const& operand, std::int64_t bytes) {
        return change(operand, [bytes](operand_constraint& o) { o.alignment = bytes; });
    }
    /// Likewise of one operand, which is declared before.
    constexpr intrinsic& stride_multiple(any_tensor const& operand, std::int64_t elements) {
        return change(operand, [elements](operand_constraint& o) { o.stride_multiple = elements; });
    }
    /// No stride of this operand, which is declared before, is more than so many elements; 0: no limit (intrinsic_mismatch).
    constexpr intrinsic& stride_at_most(any_tensor const& operand, std::int64_t elements) {
        return change(operand, [elements](operand_constraint& o) { o.longest_stride = elements; });
    }
    /// The result overwrites this operand, which is declared before: each element of it is read where that of the result is written. The
    /// plan gives both one buffer.
    constexpr intrinsic& in_place(any_tensor const& operand) {
        return change(operand, [](operand_constraint& o) { o.in_place = true; });
    }
    /// The C function that carries it out, and its arguments in order. Comes after the operands are declared.
    template <class... Arguments>
        requires((detail::converts_to<Arguments, call_argument> || detail::converts_to<Arguments, operand_argument>)&&...)
    constexpr intrinsic& calls(ir::label symbol, Arguments const&... arguments) {
        call = {.symbol = symbol};
        (call.push(resolved(arguments)), ...);
        return *this;
    }
    /// One more C function, which each step calls after those before. All of its arguments are given.
    template <class... Arguments>
    constexpr intrinsic& then(ir::label symbol, Arguments const&... arguments) {
        device_call next{.symbol = symbol};
        (next.push(resolved(arguments)), ...);
        protocol.push(next);
        return *this;
    }
    /// It uses what a configuration was set to: literals, strides of operands, extents of its axes. Comes after the operands are declared.
    template <class... Values>
    constexpr intrinsic& uses(configuration const& what, Values const&... values) {
        required_setting setting{.configuration_name = what.name};
        (setting.push(resolved(values)), ...);
        protocol.push(setting);
        return *this;
    }

  private:
    static constexpr call_argument resolved(call_argument const& what) { return what; }
    constexpr call_argument resolved(operand_argument const& what) const {
        if (what.is == role::covered) return {what.is, static_cast<std::int8_t>(axis_of(what.operand)), -1, what.value};
        return {what.is, what.dimension, static_cast<std::int8_t>(find(what.operand)), what.value};
    }
    constexpr void add_cycles(cycle_rate const& rate) {
        cycle_term term{.cycles = rate.cycles, .factor_count = rate.factor_count};
        for (int at = 0; at < rate.factor_count && at < rate.factors.size(); ++at) {
            cycle_rate::factor const& from = rate.factors[at];
            cycle_factor& to = term.factors[at];
            to.unit = from.unit;
            for (int named = 0; named < from.axis_count; ++named) {
                int const axis = axis_of(from.axes[named]);
                to.axes = static_cast<std::uint16_t>(to.axes | (axis < 0 || to.has(axis) ? to.wrong_axis : 1 << axis));
            }
        }
        if (costs.term_count < costs.most_terms) costs.terms[costs.term_count] = term;
        ++costs.term_count;
    }
    /// The position of an axis in the stage that the semantics are; -1: it has none of this name.
    constexpr int axis_of(ir::label const& axis_name) const {
        ir::stage s;
        if (does.count > max_semantics || read_stage({does.nodes.elements, does.count}, 0, s)) return -1;
        return s.find(axis_name);
    }
};

}  // namespace tilewright
