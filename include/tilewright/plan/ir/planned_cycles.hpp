#pragma once
#include <tilewright/plan/ir/plan_value.hpp>

// Cycles of plans that the compiler has made. If it did not find them, using them is one error.
namespace tilewright::ir {

/// Whether they depend on extents that are left to run time.
template <class Plan>
constexpr bool is_open(Plan const& plan) {
    if constexpr (requires { plan.run_time_extents; }) return plan.run_time_extents > 0;
    else return false;
}

/// Computed once, however often they are used.
template <class Planned, class Plan>
inline constexpr quantity cycles_found = is_open(Planned::value) ? Plan::unknown : static_cast<Plan const&>(Planned::value).cycles();

/// The cycles of `Planned::value`, which is a `Plan`. They become a `quantity` where they are compared.
///
/// @tparam Quantity  whose operators are meant
template <class Planned, class Plan, class Quantity = quantity>
struct planned_cycles {
    constexpr operator Quantity() const {
        constexpr bool has_extents = !is_open(Planned::value);
        constexpr bool is_resolved = !has_extents || cycles_found<Planned, Plan>.resolved;
        // clang-format off
        static_assert(
            has_extents,
            "cycles depend on extents that are left to run time: ask plan<s>.at({{m, 100}}).cycles()");
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
