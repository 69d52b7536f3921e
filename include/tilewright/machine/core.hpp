#pragma once
#include <tilewright/machine/call.hpp>
#include <tilewright/machine/memory.hpp>

namespace tilewright {

/// Cycles of each operation in loops that stay code.
struct operation_costs {
    std::int64_t load = 1;
    std::int64_t store = 1;
    std::int64_t arithmetic = 1;  ///< add, subtract, minimum, maximum, compare, logic, shift, select
    std::int64_t multiply = 1;
    std::int64_t divide = 1;  ///< divide, modulo
    std::int64_t convert = 1;

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        for (std::int64_t cost : {load, store, arithmetic, multiply, divide, convert}) visit("cost of an operation", cost, 0);
    }
    friend constexpr bool operator==(operation_costs const&, operation_costs const&) = default;
};

/// The core that runs the loops which stay code. A machine without one has a core "host" of one cycle an operation.
struct core {
    ir::label name;
    operation_costs costs{};
    int count = 1;  ///< alike, each with its number, from 0: see `schedule::distribute`
    /// A sum of products in floating point is carried out by fused multiply-adds: `s + a * b` is rounded once.
    bool fused_multiply_add = false;
    std::int64_t barrier_cycles = 0;  ///< from the arrival of the last core at a barrier until all go on
    device_call barrier_call{};       ///< without a symbol: see `barrier_call_of`

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("count", count, 1, max_cores);
        visit("barrier_cycles", barrier_cycles, 0, most_wait_cycles);
        costs.each_number(visit);
    }
    /// The C function at which all cores wait for each other, and its arguments in order.
    template <class... Arguments>
    constexpr core barrier(ir::label symbol, Arguments const&... arguments) const {
        core changed = *this;
        changed.barrier_call = {.symbol = symbol};
        (changed.barrier_call.push(arguments), ...);
        return changed;
    }
    friend constexpr bool operator==(core const&, core const&) = default;
};

/// Several cores that are alike: `cores("dsp", 4)`.
constexpr core cores(ir::label name, int count, operation_costs const& costs = {}) {
    return {.name = name, .costs = costs, .count = count};
}

/// The call at which the cores wait for each other: by default `int NAME_barrier(int64_t core, int64_t status)`.
///
/// With a status of 0 it returns when every core has come: 0, or the status of a core that has failed. A core that fails calls it a last
/// time with its code, which is not 0, and does not wait: the others then get this code, there or at their next barrier.
constexpr device_call barrier_call_of(core const& of) {
    device_call call = of.barrier_call;
    if (call.symbol.empty()) call.symbol = joined(of.name, "_barrier");
    if (call.count == 0) call.push(argument::core), call.push(argument::status);
    return call;
}

}  // namespace tilewright
