#pragma once
#include <cstddef>
#include <tilewright/tune/configuration.hpp>

// What a header of winners consists of. The tuner writes such headers, and programs look winners up in them.
namespace tilewright::tune {

/// The configuration that was the fastest for a problem of a shape on a processor.
struct winner {
    char const* problem = "";
    problem_shape shape{};
    char const* processor = "";
    configuration best{};
};

namespace detail {

constexpr bool same_text(char const* a, char const* b) {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
}

constexpr winner const* find_winner(winner const* first, std::size_t count, char const* problem, problem_shape const& shape,
                                    char const* processor) {
    for (winner const* at = first; at != first + count; ++at) {
        if (same_text(at->problem, problem) && at->shape == shape && same_text(at->processor, processor)) return at;
    }
    return nullptr;
}

/// No constant expression can call it, so compilers show its name.
inline void no_winner_for_this_problem_shape_and_processor__tune_it_or_say_tuned_or_with_a_default() {}

}  // namespace detail

/// The winner of a problem, a shape and a processor. The compiler refuses a table that has none.
///
/// `constexpr auto best = tuned(gemm_winners::winners, "gemm", {256, 196, 128}, "zen4");`
template <std::size_t Count>
consteval configuration tuned(winner const (&table)[Count], char const* problem, problem_shape const& shape, char const* processor) {
    winner const* const found = detail::find_winner(table, Count, problem, shape, processor);
    if (found == nullptr) detail::no_winner_for_this_problem_shape_and_processor__tune_it_or_say_tuned_or_with_a_default();
    return found->best;
}

/// Likewise, and `otherwise` where the table has none.
template <std::size_t Count>
constexpr configuration tuned_or(winner const (&table)[Count], char const* problem, problem_shape const& shape, char const* processor,
                                 configuration const& otherwise) {
    winner const* const found = detail::find_winner(table, Count, problem, shape, processor);
    return found == nullptr ? otherwise : found->best;
}

/// Whether a table has a winner.
template <std::size_t Count>
constexpr bool is_tuned(winner const (&table)[Count], char const* problem, problem_shape const& shape, char const* processor) {
    return detail::find_winner(table, Count, problem, shape, processor) != nullptr;
}

}  // namespace tilewright::tune
