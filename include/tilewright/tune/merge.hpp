#pragma once
#include <map>
#include <tilewright/tune/result_line.hpp>

// What many results say together. Nothing here depends on the order in which they come.
namespace tilewright::tune {

namespace detail {

/// Of two results of one configuration and plan, which one counts, as a key: the lesser one does.
///
/// A wrong result always does: a kernel that was wrong once is not to be chosen. Then the least measurement: what disturbs a measurement
/// makes it larger. Of those that say nothing else, the later one.
inline auto weight_of(record const& r) {
    int const kind = r.is == invalidity::correctness ? 0 : r.is == invalidity::correct ? 1 : 2;
    std::string later = r.timestamp;
    for (char& letter : later) letter = static_cast<char>(0x7f - letter);
    return std::tuple(kind, kind == 1 ? r.value() : 0.0, later, to_line(r));
}

inline auto key_of(record const& r) { return std::tuple(r.from.key(), values_of(r.what), r.plan_hash); }

}  // namespace detail

/// One result for each origin, configuration and plan, in an order of their own: `merged` of the same results is the same, in whatever
/// files and order they were. A correct result counts before one that failed, and of several the least; a wrong one before all.
inline std::vector<record> merged(std::vector<record> const& results) {
    std::map<decltype(detail::key_of(results.front())), record const*> best;
    for (record const& one : results) {
        record const*& kept = best[detail::key_of(one)];
        if (kept == nullptr || detail::weight_of(one) < detail::weight_of(*kept)) kept = &one;
    }
    std::vector<record> all;
    for (auto const& [key, one] : best) all.push_back(*one);
    return all;
}

/// The fastest result for each problem, shape and processor, in the order of these; and how many results had no say.
struct winner_list {
    std::vector<record> winners;
    std::size_t outdated = 0;  ///< another origin, or another plan of that configuration, has a later result
};

/// Results of one problem, shape and processor can have several origins: a machine description or a compiler that has changed. Those of the
/// origin with the latest result count; likewise the latest plan of each configuration.
inline winner_list winners_of(std::vector<record> const& results) {
    using place = std::tuple<std::string, std::vector<std::int64_t>, std::string>;
    auto const place_of = [](record const& r) {
        return place(r.from.problem, std::vector<std::int64_t>(r.from.shape.begin(), r.from.shape.end()), r.from.processor);
    };
    auto const age = [](record const& r) { return std::tuple(r.timestamp, r.from.key(), r.plan_hash); };
    std::map<place, record const*> latest;
    std::map<std::pair<decltype(results.front().from.key()), decltype(detail::values_of(results.front().what))>, record const*> latest_plan;
    for (record const& one : results) {
        record const*& found = latest[place_of(one)];
        if (found == nullptr || age(*found) < age(one)) found = &one;
        record const*& plan = latest_plan[{one.from.key(), detail::values_of(one.what)}];
        if (plan == nullptr || age(*plan) < age(one)) plan = &one;
    }
    winner_list made;
    std::map<place, record> best;
    for (record const& one : merged(results)) {
        bool const counts = latest.at(place_of(one))->from.key() == one.from.key() &&
                            latest_plan.at({one.from.key(), detail::values_of(one.what)})->plan_hash == one.plan_hash;
        made.outdated += counts ? 0 : 1;
        if (!counts || one.is != invalidity::correct) continue;
        auto const [at, added] = best.emplace(place_of(one), one);
        if (!added && one.value() < at->second.value()) at->second = one;
    }
    for (auto const& [where, one] : best) made.winners.push_back(one);
    return made;
}

}  // namespace tilewright::tune
