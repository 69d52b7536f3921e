#pragma once
#include <ostream>
#include <tilewright/tune/log.hpp>
#include <tilewright/tune/merge.hpp>
#include <tilewright/tune/planned_space.hpp>

namespace tilewright::tune {

/// Of the results of logs, those that a tuner can use: of this problem, as it is now, from the same origin.
class known_results {
  public:
    /// @param wanted  the origin of what this process measures
    /// @param any_processor  results of other processors and compilers count, too: of logs that are merged
    known_results(planned_space const& space, origin const& wanted, log_contents const& from, bool any_processor) {
        broken_ = from.broken;
        for (record const& one : from.results) {
            if (one.from.problem != wanted.problem || !(one.from.shape == wanted.shape)) {
                others_.push_back(one);
                continue;
            }
            std::string const why = why_not(space, wanted, one, any_processor);
            if (why.empty()) add(space, one);
            else ++foreign_[why];
        }
    }

    /// What is known of the configuration at a position; null: nothing.
    record const* of(std::size_t position) const {
        auto const found = known_.find(position);
        return found == known_.end() ? nullptr : &found->second;
    }
    /// One more result.
    void add(planned_space const& space, record const& one) {
        usable_.push_back(one);
        auto const at = static_cast<std::size_t>(space.find(one.what));
        auto const [found, is_new] = known_.emplace(at, one);
        if (!is_new && detail::weight_of(one) < detail::weight_of(found->second)) found->second = one;
    }
    /// All that can be used, by position. With `any_processor`, those of several origins are among them.
    std::map<std::size_t, record> const& known() const { return known_; }
    /// All results of this problem that can be used, and those of other problems.
    std::vector<record> everything() const {
        std::vector<record> all = usable_;
        all.insert(all.end(), others_.begin(), others_.end());
        return all;
    }

    /// What is not used, and why: a line for each reason; nothing where all is used.
    void say_what_is_left_out(std::ostream& out) const {
        if (!broken_.empty()) {
            broken_line const& first = broken_.front();
            out << broken_.size() << (broken_.size() == 1 ? " line" : " lines") << " of logs passed over: no results; the first is "
                << first.file << ":" << first.number << ": " << first.why << "\n";
        }
        for (auto const& [why, count] : foreign_) out << count << (count == 1 ? " result" : " results") << " not used: " << why << "\n";
        if (!others_.empty())
            out << others_.size() << (others_.size() == 1 ? " result is" : " results are") << " of other problems or shapes\n";
    }

  private:
    static std::string why_not(planned_space const& space, origin const& wanted, record const& one, bool any_processor) {
        if (one.from.machine != wanted.machine || one.from.machine_hash != wanted.machine_hash)
            return "the description of machine `" + one.from.machine + "` was another one";
        if (!any_processor) {
            if (one.from.measured_by != wanted.measured_by) return "measured by the " + one.from.measured_by;
            if (one.from.processor != wanted.processor) return "measured on the processor `" + one.from.processor + "`";
            if (one.from.model != wanted.model) return "measured on a processor of the model `" + one.from.model + "`";
            if (one.from.compiler != wanted.compiler) return "compiled by `" + one.from.compiler + "`";
        }
        std::int64_t const at = space.find(one.what);
        if (at < 0) return "the configuration is not among those that are tried now";
        if (space.hash(static_cast<std::size_t>(at)) != one.plan_hash) return "the plan was another one";
        return "";
    }

    std::map<std::size_t, record> known_;
    std::vector<record> usable_, others_;
    std::vector<broken_line> broken_;
    std::map<std::string, std::size_t> foreign_;
};

}  // namespace tilewright::tune
