#pragma once
#include <tilewright/plan/ir/plan_value.hpp>

// Cycles of plans that the compiler has made. If it did not find them, using them is one error.
namespace tilewright::ir {

/// Computed once, however often they are used.
template <class Planned, class Plan>
inline constexpr quantity cycles_found = static_cast<Plan const&>(Planned::value).cycles();

/// The cycles of `Planned::value`, which is a `Plan`. They become a `quantity` where they are compared.
///
/// @tparam Quantity  whose operators are meant
template <class Planned, class Plan, class Quantity = quantity>
struct planned_cycles {
    constexpr operator Quantity() const {
        constexpr bool is_resolved = cycles_found<Planned, Plan>.resolved;
        // clang-format off
        static_assert(
            is_resolved,
            "cycles not resolved: ask cycles_resolved(), or of a plan that is made at run time");
        // clang-format on
        return is_resolved ? cycles_found<Planned, Plan> : Plan::unknown;  // so that there is no second error
    }
    template <class Stream>
        requires requires(Stream& to) { to.flush(); }
    friend Stream& operator<<(Stream& to, planned_cycles) { return to << cycles_found<Planned, Plan>; }
    constexpr explicit operator double() const { return static_cast<double>(static_cast<Plan const&>(Planned::value).cycles()); }
};

}  // namespace tilewright::ir
