#pragma once
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/planner.hpp>

namespace tilewright {

namespace detail {

template <schedule const& Schedule>
struct planned {
    static constexpr plan_value value = make_plan(Schedule);
    static constexpr verdict refusal = value.refusal;  // clang 14 takes no reference to a part of an object
};

/// Reports the plan's verdict, once: everybody who asks for a plan comes through here.
template <schedule const& Schedule>
struct checked : report_refusal<planned<Schedule>::refusal> {
    static constexpr plan_value const& value = planned<Schedule>::value;
};

}  // namespace detail

/// The plan of a schedule. Its first use is where a schedule that cannot be carried out is refused.
template <schedule const& Schedule>
inline constexpr plan_value const& plan = detail::checked<Schedule>::value;

}  // namespace tilewright
