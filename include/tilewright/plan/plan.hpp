#pragma once
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/planner.hpp>

namespace tilewright {

template <schedule const& Schedule>
struct planned {
    static constexpr plan_value value = make_plan(Schedule);
    static constexpr verdict refusal = value.refusal;  // clang 14 takes no reference to a part of an object
};

// Compilers repeat a line of this with every refusal: it is a short one.
// clang-format off
/// The plan of a schedule. Its first use is where a schedule that cannot be carried out is refused.
template <schedule const& Schedule>
inline constexpr plan_value const& plan = (
    report_refusal<planned<Schedule>>(),
    planned<Schedule>::value);
// clang-format on

}  // namespace tilewright
