#pragma once
#include <tilewright/plan/planner.hpp>
#include <utility>
#include <vector>

namespace tilewright {

/// What a plan costs, unless a search is told otherwise: its cycles, with engines side by side. Where these are not known, the bound: a
/// plan is not faster than that.
struct by_cycles {
    constexpr double operator()(plan_value const& plan) const {
        if (plan.rings.size() == 0 && plan.links.size() == 0) return static_cast<double>(plan.serial_cycles());
        ir::quantity const cycles = plan.cycles();
        return static_cast<double>(cycles.known ? cycles : plan.bound());
    }
};

namespace detail {

/// What a schedule's plan costs; negative: it is refused. The search proves only the plan that it takes in the end.
template <class Cost>
constexpr double cost_of_schedule(schedule const& of, machine_reading const& parts, Cost const& cost) {
    plan_value const plan = make_plan(of, parts, proof::left_out);
    return plan.refusal ? -1 : cost(plan);
}

/// Read once for all candidates.
template <auto const& Candidates, class Scheduled>
inline constexpr machine_reading reading_of_candidates = read_machine(Scheduled{}(*Candidates.begin()).where());

/// The cost of one candidate, in an evaluation of its own: compilers limit each.
template <auto const& Candidates, class Scheduled, class Cost, std::size_t Which>
inline constexpr double cost_of_candidate = cost_of_schedule(Scheduled{}(*(Candidates.begin() + Which)),
                                                             reading_of_candidates<Candidates, Scheduled>, Cost{});

/// The position of the least cost that is not negative, the first of equal ones; -1: there is none.
template <class Costs>
constexpr int position_of_least(Costs const& costs) {
    int best = -1, at = 0;
    double least = 0;
    for (double one : costs) {
        if (one >= 0 && (best < 0 || one < least)) best = at, least = one;
        ++at;
    }
    return best;
}

}  // namespace detail

/// The candidate whose plan costs least, the first of equal ones. The search passes over candidates that do not fit, or are refused for
/// another reason.
///
/// For tools at run time; `best_of` is the same for the compiler.
///
/// @param candidates  tiles, in whatever form
/// @param scheduled   the schedule with a tile, of one computation and machine for all
/// @param cost        of a plan that was not refused
/// @throws bad_query when all are refused
template <class Candidates, class Scheduled, class Cost = by_cycles>
auto best_tile(Candidates const& candidates, Scheduled const& scheduled, Cost const& cost = {}) {
    detail::machine_reading const reading = detail::read_machine(scheduled(*candidates.begin()).where());
    std::vector<double> costs;
    for (auto const& tile : candidates) costs.push_back(detail::cost_of_schedule(scheduled(tile), reading, cost));
    int const best = detail::position_of_least(costs);
    if (best < 0) detail::throw_or_abort(bad_query("no candidate has a plan"));
    return *(candidates.begin() + best);
}

/// Likewise in the compiler: `constexpr auto tile = best_of<candidates, decltype(scheduled)>();`, where `candidates` has static storage and
/// `scheduled` is a lambda without captures.
template <auto const& Candidates, class Scheduled, class Cost = by_cycles>
constexpr auto best_of() {
    constexpr int best = []<std::size_t... Which>(std::index_sequence<Which...>) {
        constexpr double costs[] = {detail::cost_of_candidate<Candidates, Scheduled, Cost, Which>...};
        return detail::position_of_least(costs);
    }
    (std::make_index_sequence<static_cast<std::size_t>(Candidates.end() - Candidates.begin())>());
    static_assert(best >= 0, "best_of: no candidate has a plan");
    return *(Candidates.begin() + best);
}

}  // namespace tilewright
