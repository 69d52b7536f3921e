#pragma once
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/check_plan.hpp>
#include <tilewright/plan/ir/planned_cycles.hpp>
#include <tilewright/plan/planner.hpp>

namespace tilewright {

namespace detail {

/// Read once for all schedules on it.
template <machine const& Machine>
inline constexpr machine_reading reading_of = read_machine(Machine);

template <schedule const& Schedule>
inline constexpr machine_reading own_reading = read_machine(Schedule.where());

template <schedule const& Schedule>
constexpr machine_reading const& reading_for() {
    // clang 14 takes no reference to a part of an object
    if constexpr (requires { reading_of<Schedule.where()>; }) return reading_of<Schedule.where()>;
    else return own_reading<Schedule>;
}

}  // namespace detail

template <schedule const& Schedule>
struct planned;

/// A plan that the compiler has made. To use a number of it that the compiler did not find is an error.
template <schedule const& Schedule>
struct plan_of : plan_value {
    constexpr ir::planned_cycles<planned<Schedule>, plan_value> cycles() const { return {}; }
};

template <schedule const& Schedule>
struct planned {
    static constexpr plan_of<Schedule> value = detail::make_plan<plan_of<Schedule>>(Schedule, detail::reading_for<Schedule>());
    static constexpr verdict refusal = value.refusal;  // a static of its own, for the same reason
};

// Compilers repeat a line of this with every refusal, so it is short.
// clang-format off
/// The plan of a schedule. Its first use refuses a schedule that cannot be carried out.
template <schedule const& Schedule>
inline constexpr plan_of<Schedule> const& plan = (
    report_refusal<planned<Schedule>>(),
    planned<Schedule>::value);
// clang-format on

}  // namespace tilewright
