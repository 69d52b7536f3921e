#pragma once
#include <tilewright/machine/transfer.hpp>

namespace tilewright {

enum class direction : std::uint8_t { reads, writes, updates };

constexpr char const* name_of(direction d) {
    constexpr char const* names[] = {"reads", "writes", "updates"};
    return names[static_cast<int>(d)];
}

/// Where one operand of an intrinsic must live.
struct operand_constraint {
    label tensor{};
    label memory_name{};
    direction is = direction::reads;
};

/// What a machine keeps of an intrinsic.
struct intrinsic_description {
    static constexpr int most_operands = 6;

    label name{};
    label engine_name{};
    bool is_asynchronous = false;
    fixed_array<operand_constraint, most_operands> operands{};
    int operand_count = 0;
    std::int64_t cost_cycles = 1;
    std::int64_t address_alignment = 1;  ///< bytes; every operand's address is a multiple of it
    std::int64_t stride_alignment = 1;   ///< elements; every stride but the innermost, which is 1, is a multiple of it
    device_call call{};                  ///< without arguments: each operand's address and outer strides, in the order they are declared
    semantics_range semantics{};

    constexpr int find(label const& operand) const {
        for (int position = 0; position < operand_count && position < most_operands; ++position) {
            if (operands[static_cast<std::size_t>(position)].tensor == operand) return position;
        }
        return -1;
    }
};

/// An instruction: what it computes, where its operands live, and what it costs.
///
/// The axes of its semantics have the extents of the instruction. `c(i, j) += …` with `updates(c, …)` continues from the contents
/// of c; with `writes(c, …)`, or written `c(i, j) = sum(k, …)`, it overwrites them.
struct intrinsic : intrinsic_description {
    semantics_nodes does;

    template <int Count>
    constexpr intrinsic(label intrinsic_name, computation<Count> const& semantics)
        : intrinsic_description{.name = intrinsic_name, .call = {.symbol = intrinsic_name}}, does(semantics) {}

    constexpr intrinsic& reads(any_tensor const& operand, memory const& where) { return constrain(operand, where, direction::reads); }
    constexpr intrinsic& writes(any_tensor const& operand, memory const& where) { return constrain(operand, where, direction::writes); }
    constexpr intrinsic& updates(any_tensor const& operand, memory const& where) { return constrain(operand, where, direction::updates); }
    constexpr intrinsic& on(engine const& where) {
        engine_name = where.name;
        return *this;
    }
    /// Its call returns before it is complete; the plan orders what touches its operands, as the machine says.
    constexpr intrinsic& asynchronous() {
        is_asynchronous = true;
        return *this;
    }
    constexpr intrinsic& cycles(std::int64_t count) {
        cost_cycles = count;
        return *this;
    }
    constexpr intrinsic& alignment(std::int64_t bytes) {
        address_alignment = bytes;
        return *this;
    }
    constexpr intrinsic& stride_multiple(std::int64_t elements) {
        stride_alignment = elements;
        return *this;
    }
    /// The C function that carries it out, and its arguments in order. Comes after the operands are declared.
    template <class... Arguments>
    constexpr intrinsic& calls(label symbol, Arguments const&... arguments) {
        call = {.symbol = symbol};
        (push(arguments), ...);
        return *this;
    }

  private:
    constexpr void push(call_argument const& what) { call.push(what); }
    constexpr void push(operand_argument const& what) {
        call.push({what.is, what.dimension, static_cast<std::int8_t>(find(what.operand))});
    }
    constexpr intrinsic& constrain(any_tensor const& operand, memory const& where, direction is) {
        if (operand_count < most_operands) operands[static_cast<std::size_t>(operand_count)] = {operand.name, where.name, is};
        ++operand_count;
        return *this;
    }
};

}  // namespace tilewright
