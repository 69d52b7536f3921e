#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <tilewright/diagnostics/text.hpp>
#include <tilewright/tune/plan_hash.hpp>
#include <tilewright/tune/problem.hpp>

namespace tilewright::tune {

/// A configuration, and what its plan costs.
struct planned_configuration {
    configuration what;
    double cost = 0;       ///< infinity: the cost is no number
    bool refused = false;  ///< by the planner
};

/// The plans of a problem: made at need, since a plan takes more memory than a configuration.
class planned_space {
  public:
    /// Plans all configurations that are allowed. @param stop asked often; when it says yes, the rest is left out
    /// @throws std::invalid_argument when a name is no identifier, or configurations have different machines
    planned_space(problem const& of, std::function<bool()> const& stop) : of_(of) {
        ir::label const name(of.name.c_str());
        if (!name.is_identifier() || name.cut())
            throw std::invalid_argument("a problem needs a name that is an identifier of at most 23 letters; \"" + of.name + "\" is none");
        for (std::int64_t at = 0; at < of.configurations.size() && !stop(); ++at) {
            configuration const one = of.configurations.at(at);
            if (!of.configurations.allows(one)) {
                ++left_out_;
                continue;
            }
            add(one);
        }
        for (std::size_t at = 0; at < all_.size(); ++at) (all_[at].refused ? refused_ : ranked_).push_back(at);
        std::stable_sort(ranked_.begin(), ranked_.end(), [&](std::size_t a, std::size_t b) { return all_[a].cost < all_[b].cost; });
    }

    std::vector<planned_configuration> const& all() const { return all_; }
    /// Positions of those that have a plan, the cheapest first.
    std::vector<std::size_t> const& ranked() const { return ranked_; }
    std::vector<std::size_t> const& refused() const { return refused_; }
    std::int64_t left_out() const { return left_out_; }
    std::string const& machine_name() const { return machine_name_; }
    std::string const& machine_hash() const { return machine_hash_; }

    /// Where a configuration stands; -1: it is not in the space.
    std::int64_t find(configuration const& one) const {
        auto const at = positions_.find(detail::values_of(one));
        return at == positions_.end() ? -1 : static_cast<std::int64_t>(at->second);
    }
    /// The plan of a configuration, proven, as a candidate, while `visit(candidate)` runs. @return whether the planner takes it; if not,
    /// `visit` is not called
    template <class Visit>
    bool with_plan(std::size_t at, Visit&& visit) const {
        schedule const how = of_.scheduled(all_[at].what);
        auto const plan = std::make_unique<plan_value>(make_plan(how));
        if (plan->refusal) return false;
        std::unique_ptr<plan_value> const sized = sized_of(*plan);
        visit(candidate{all_[at].what, how, *plan, sized ? *sized : *plan, hash_of_plan(at, how, sized ? *sized : *plan)});
        return true;
    }
    std::string const& hash(std::size_t at) const {
        auto const known = hashes_.find(at);
        if (known != hashes_.end()) return known->second;
        schedule const how = of_.scheduled(all_[at].what);
        auto const plan = std::make_unique<plan_value>(make_plan(how));
        std::unique_ptr<plan_value> const sized = plan->refusal ? nullptr : sized_of(*plan);
        return hash_of_plan(at, how, sized ? *sized : *plan);
    }
    /// Why the planner refuses it.
    std::string verdict_of(std::size_t at) const {
        auto const plan = std::make_unique<plan_value>(make_plan(of_.scheduled(all_[at].what)));
        return plan->refusal ? to_string(plan->refusal) : "";
    }

  private:
    void add(configuration const& one) {
        schedule const how = of_.scheduled(one);
        if (all_.empty()) {
            machine_name_ = how.where().name.str();
            machine_hash_ = detail::digits_of(hash_of(how.where()));
            where_ = &how.where();
            reading_ = std::make_unique<tilewright::detail::machine_reading>(tilewright::detail::read_machine(*where_));
        } else if (&how.where() != where_)
            throw std::invalid_argument("configurations of one problem are for one machine; `" + how.where().name.str() +
                                        "` is another one");
        using tilewright::detail::proof;
        auto const plan = std::make_unique<plan_value>(tilewright::detail::make_plan(how, *reading_, proof::left_out));
        planned_configuration made{one, 0, static_cast<bool>(plan->refusal)};
        if (!made.refused) {
            std::unique_ptr<plan_value> const sized = sized_of(*plan);
            made.cost = of_.cost(sized ? *sized : *plan);
            if (!std::isfinite(made.cost)) made.cost = std::numeric_limits<double>::infinity();
        }
        positions_[detail::values_of(one)] = all_.size();
        all_.push_back(made);
    }
    std::unique_ptr<plan_value> sized_of(plan_value const& plan) const {
        return plan.run_time_extents == 0 ? nullptr : std::make_unique<plan_value>(plan.at(of_.extents));
    }
    std::string const& hash_of_plan(std::size_t at, schedule const& how, plan_value const& plan) const {
        std::string& known = hashes_[at];
        if (known.empty()) known = plan_hash(how, plan);
        return known;
    }

    problem const& of_;
    std::vector<planned_configuration> all_;
    std::vector<std::size_t> ranked_, refused_;
    std::int64_t left_out_ = 0;
    std::string machine_name_, machine_hash_;
    machine const* where_ = nullptr;
    std::unique_ptr<tilewright::detail::machine_reading> reading_;
    std::map<decltype(detail::values_of({})), std::size_t> positions_;
    mutable std::map<std::size_t, std::string> hashes_;
};

}  // namespace tilewright::tune
