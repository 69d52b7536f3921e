#pragma once
#include <cstdio>
#include <string_view>
#include <tilewright/machine/structural.hpp>
#include <tilewright/report/directive_text.hpp>
#include <tilewright/report/plan_report.hpp>

namespace tilewright::tune {

namespace detail {

inline std::uint64_t hash_text(std::uint64_t seed, std::string_view text) {
    seed = tilewright::detail::mix(seed, text.size());
    for (char letter : text) seed = tilewright::detail::mix(seed, static_cast<unsigned char>(letter));
    return seed;
}

/// 16 digits.
inline std::string digits_of(std::uint64_t hash) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

inline std::uint64_t hash_of_computation(computation_view what) {
    std::uint64_t hash = 0;
    for (int at = 0; at < what.count; ++at) {
        ir::node const& n = what[at];
        for (std::uint64_t word :
             {static_cast<std::uint64_t>(n.op), static_cast<std::uint64_t>(n.type), static_cast<std::uint64_t>(n.argument_count),
              n.name.words[0], n.name.words[1], n.name.words[2], static_cast<std::uint64_t>(n.value)})
            hash = tilewright::detail::mix(hash, word);
        for (int argument = 0; argument < n.argument_count; ++argument)
            hash = tilewright::detail::mix(hash, static_cast<std::uint64_t>(n.arguments[argument]));
    }
    return hash;
}

}  // namespace detail

/// 16 digits over the computation, the directives, the machine, and everything that the planner has made of them: another version of the
/// planner that plans otherwise gives another hash.
/// @param plan  of these; where extents are left to run time, at some
inline std::string plan_hash(schedule const& of, plan_value const& plan) {
    std::uint64_t hash = detail::hash_of_computation(of.what());
    hash = tilewright::detail::mix(hash, hash_of(of.where()));
    for (int at = 0; at < of.directive_count() && at < schedule::most_directives; ++at)
        hash = detail::hash_text(hash, reports::one_directive_text(of, at));
    // The text of a refusal says lines of the source, which move.
    return detail::digits_of(detail::hash_text(hash, plan.refusal ? name_of(plan.refusal.kind) : to_json(plan)));
}

}  // namespace tilewright::tune
