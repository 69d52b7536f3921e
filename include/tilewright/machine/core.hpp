#pragma once
#include <tilewright/base/label.hpp>

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
    int count = 1;  ///< more than one is refused until plans can distribute
    /// A sum of products in floating point is carried out by fused multiply-adds: `s + a * b` is rounded once.
    bool fused_multiply_add = false;

    /// What its numbers may be, as of a memory.
    template <class Visit>
    constexpr void each_number(Visit&& visit) const {
        visit("count", count, 1);
        costs.each_number(visit);
    }
    friend constexpr bool operator==(core const&, core const&) = default;
};

}  // namespace tilewright
