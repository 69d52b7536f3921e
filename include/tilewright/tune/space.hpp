#pragma once
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/tune/configuration.hpp>
#include <utility>
#include <vector>

namespace tilewright::tune {

/// A number that is left open, and what it may be.
struct parameter {
    std::string name;
    std::vector<std::int64_t> values;
};

/// `first`, `first + step`, … up to `last`, which is the last one where steps meet it.
inline parameter range(std::string const& name, std::int64_t first, std::int64_t last, std::int64_t step = 1) {
    if (step < 1) throw std::invalid_argument("parameter `" + name + "`: a step is at least 1");
    parameter made{name, {}};
    for (std::int64_t value = first; value <= last; value += step) made.values.push_back(value);
    return made;
}

/// "rows=6 vectors=2"
inline std::string text_of(configuration const& of) {
    std::string text;
    for (named_value const& one : of) text += (text.empty() ? "" : " ") + one.name.str() + "=" + std::to_string(one.value);
    return text;
}

namespace detail {
/// A configuration as a key.
inline auto values_of(configuration const& of) {
    std::vector<std::pair<std::string, std::int64_t>> values;
    for (named_value const& one : of) values.emplace_back(one.name.str(), one.value);
    return values;
}
}  // namespace detail

/// "256x196x128"
inline std::string text_of(problem_shape const& of) {
    std::string text;
    for (std::int64_t extent : of) text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

/// All configurations that may be tried, each at its place in an order that is the same in every process: all combinations of parameters,
/// of which the last one changes fastest; or a list.
class space {
  public:
    static constexpr std::int64_t most_combinations = std::int64_t{1} << 32;

    /// @param allowed  of combinations, those that make sense; without it, all
    /// @throws std::invalid_argument when a parameter has no value, one of them twice, or a name that is no identifier of at most 23
    /// letters; when two have the same name; when there are more than 16, or more than 2^32 combinations
    space(std::vector<parameter> parameters, std::function<bool(configuration const&)> allowed = {})
        : parameters_(std::move(parameters)), allowed_(std::move(allowed)) {
        if (parameters_.empty()) throw std::invalid_argument("a space needs a parameter");
        if (parameters_.size() > static_cast<std::size_t>(configuration::most))
            throw std::invalid_argument("a space has " + std::to_string(parameters_.size()) + " parameters; it can have " +
                                        std::to_string(configuration::most));
        for (std::size_t at = 0; at < parameters_.size(); ++at) {
            check(at);
            size_ *= static_cast<std::int64_t>(parameters_[at].values.size());
            if (size_ > most_combinations) throw std::invalid_argument("a space has more than 2^32 combinations: leave values out");
        }
    }
    /// Those of a list, the first of equal ones. @throws std::invalid_argument when the list is empty, or names differ
    static space listed(std::vector<configuration> const& candidates) {
        if (candidates.empty()) throw std::invalid_argument("a space needs a configuration");
        space made;
        for (configuration const& one : candidates) {
            bool same_names = one.count == candidates.front().count;
            for (int at = 0; at < one.count && same_names; ++at) same_names = one.values[at].name == candidates.front().values[at].name;
            if (!same_names) throw std::invalid_argument("configurations of a list have the same names, in the same order");
            if (std::find(made.list_.begin(), made.list_.end(), one) == made.list_.end()) made.list_.push_back(one);
        }
        made.size_ = static_cast<std::int64_t>(made.list_.size());
        return made;
    }

    /// Combinations, with those that are not allowed.
    std::int64_t size() const { return size_; }
    configuration at(std::int64_t position) const {
        if (!list_.empty()) return list_[static_cast<std::size_t>(position)];
        std::vector<std::int64_t> values(parameters_.size());
        for (std::size_t which = parameters_.size(); which-- > 0;) {
            auto const count = static_cast<std::int64_t>(parameters_[which].values.size());
            values[which] = parameters_[which].values[static_cast<std::size_t>(position % count)];
            position /= count;
        }
        configuration made;
        for (std::size_t which = 0; which < values.size(); ++which) made.add(parameters_[which].name.c_str(), values[which]);
        return made;
    }
    bool allows(configuration const& one) const { return !allowed_ || allowed_(one); }

  private:
    space() = default;
    void check(std::size_t at) const {
        parameter const& p = parameters_[at];
        auto const wrong = [&](std::string const& what) { throw std::invalid_argument("parameter `" + p.name + "` " + what); };
        ir::label const name(p.name.c_str());
        if (!name.is_identifier() || name.cut()) wrong("needs a name that is an identifier of at most 23 letters");
        if (p.values.empty()) wrong("has no value");
        std::vector<std::int64_t> sorted = p.values;
        std::sort(sorted.begin(), sorted.end());
        if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
            wrong("has the value " + std::to_string(*twice) + " twice");
        for (std::size_t before = 0; before < at; ++before) {
            if (parameters_[before].name == p.name) wrong("stands there twice");
        }
    }

    std::vector<parameter> parameters_;
    std::function<bool(configuration const&)> allowed_;
    std::vector<configuration> list_;
    std::int64_t size_ = 1;
};

}  // namespace tilewright::tune
