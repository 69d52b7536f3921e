#pragma once
#include <tilewright/diagnostics/refusal.hpp>
#include <tilewright/plan/check_plan.hpp>
#include <tilewright/plan/ir/planned_cycles.hpp>
#include <tilewright/plan/planner.hpp>

namespace tilewright {

namespace detail {

template <schedule const& Schedule>
inline constexpr machine_reading own_reading = read_machine(Schedule.where());

template <schedule const& Schedule>
constexpr machine_reading const& reading_for() {
    // clang 14 takes no reference to a part of an object
    if constexpr (requires { reading_of<Schedule.where()>; }) return reading_of<Schedule.where()>;
    else return own_reading<Schedule>;
}

template <int>
struct known_number;
#if defined(__clang__)
template <schedule const& Schedule>
inline constexpr bool is_constant = requires {
    typename known_number<Schedule.directive_count()>;
};
#endif
template <schedule const& Schedule>
inline constexpr bool is_on_constant_machine = requires {
    typename known_number<Schedule.where().memories.count>;
};
constexpr int number_in(computation_view what) { return what.count > 0 ? what.nodes->argument_count : 0; }
/// Whether the compiler knows the value of a schedule, of its machine and of its computation.
template <schedule const& Schedule>
inline constexpr bool is_known = requires {
    requires is_on_constant_machine<Schedule>;
    typename known_number<number_in(Schedule.what())>;
};

inline void not_in_the_machine(memory const& asked) {
    // Compilers show this name where a constant needs the number.
    throw_or_abort(bad_query(asked.name, " is not a part of the plan's machine"));
}
inline void not_a_bank_of_the_memory(memory const& asked) { throw_or_abort(bad_query(asked.name, " has no bank of this number")); }

}  // namespace detail

namespace ir {
/// Prints the summary of a plan: `report/summary.hpp` does it.
template <class Stream>
    requires requires(Stream& to) { to.flush(); }
Stream& operator<<(Stream& to, plan_value const& plan) {
    constexpr bool can_print = requires { print_summary(to, plan); };
    static_assert(can_print, "plans print where tilewright/report/text.hpp is included");
    if constexpr (can_print) print_summary(to, plan);
    return to;
}
}  // namespace ir

template <schedule const& Schedule>
struct planned;

/// A plan that the compiler has made. To use a number of it that the compiler did not find is an error.
template <schedule const& Schedule>
struct plan_of : plan_value {
    constexpr ir::planned_cycles<planned<Schedule>, plan_value> cycles() const { return {}; }
    /// The most bytes of a memory that the kernel needs at one time, from its base; of one bank, where its number follows.
    /// A plain number, so that compilers show it where a comparison is false. The memory is a constant; of one that only the run knows, ask
    /// a `plan_value const&`.
    // clang-format off
    template <class... Bank>
#if defined(__cpp_consteval)
    // Where the memory is not the machine's, g++ would add an error for what the number stands in.
    consteval
#else
    // clang 14 refuses consteval members in members of templates.
    constexpr
#endif
    auto peak(memory const& of, Bank... bank) const {
        // clang-format on
        if constexpr (planned<Schedule>::refusal) {
            return plan_value::unknown;
        } else {
            int const position = Schedule.where().memories.find(of.name);
            if (position < 0) detail::not_in_the_machine(of);  // no such memory: list it in machine(...), or name one that is
            bool const has = (... && (bank >= 0 && bank < Schedule.where().memories[position].banks));
            if (!has) detail::not_a_bank_of_the_memory(of);  // no such bank: they are numbered from 0 on, .banks of them
            return static_cast<std::int64_t>(plan_value::peak(of, bank...).value);
        }
    }
};

template <schedule const& Schedule>
struct planned {
    static constexpr plan_of<Schedule> value = detail::make_plan<plan_of<Schedule>>(Schedule, detail::reading_for<Schedule>());
    static constexpr verdict refusal = value.refusal;  // a static of its own, for the same reason
};
template <schedule const& Schedule>
    requires(!detail::is_known<Schedule>)
struct planned<Schedule> {
#if !defined(__clang__)
    // Where g++ uses the value, it says which variable has none. It says nothing if it has refused that variable before.
    // clang-format off
    explicit(Schedule.machine_->memories.count + Schedule.computation_.nodes->argument_count > 0)
    planned();  // no constant: write `inline constexpr auto name = ...` at namespace scope
    // clang-format on
#endif
#if defined(__clang__)
    static constexpr verdict refusal{.kind = verdict_kind::no_constant, .names = {
                                         !detail::is_constant<Schedule>              ? "schedule"
                                         : !detail::is_on_constant_machine<Schedule> ? "machine"
                                                                                     : "computation"
                                     }};
#else
    static constexpr verdict refusal{.kind = verdict_kind::no_constant};
#endif
    static constexpr plan_of<Schedule> value{{.refusal = refusal}};
};

namespace detail {
/// Of what is no schedule, or of one that is no constant, compilers say that it is not a variable of this type.
using schedule_in_an_inline_constexpr_variable = schedule const;
}  // namespace detail

// Compilers repeat a line of this with every refusal, so it is short.
// clang-format off
/// The plan of a schedule. Its first use refuses a schedule that cannot be carried out.
template <detail::schedule_in_an_inline_constexpr_variable& Schedule>
inline constexpr plan_of<Schedule> const& plan = (
    judge<planned<Schedule>>(),
    planned<Schedule>::value);
// clang-format on

}  // namespace tilewright
