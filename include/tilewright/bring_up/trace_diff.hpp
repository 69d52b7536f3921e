#pragma once
#include <map>
#include <set>
#include <stdexcept>
#include <tilewright/bring_up/call_log.hpp>
#include <tilewright/bring_up/trace_log.hpp>
#include <utility>

// The first step in which a device did something else than the emulator.
namespace tilewright::bring_up {

class trace_difference {
  public:
    /// @return the first wrong step of each core, and of each agent beside the caller, with the calls in front of it; empty when there is
    /// none
    /// @throws std::invalid_argument when a trace does not say who makes a call, or which calls are lost, or is of no agent
    static std::string between(call_log const& expected, std::vector<core_trace> const& traces) {
        std::string text;
        std::set<int> found;
        for (core_trace const& one : traces) {
            core_trace const own = part_of(expected, one, {});
            bool const is_of_agent = one.agent.empty() ? own.calls.empty() && !one.calls.empty() : !expected.whose(one.agent).empty();
            if (is_of_agent) continue;
            if (!found.insert(one.core).second)
                throw std::invalid_argument("core " + std::to_string(one.core) + " stands in several traces: write whose each is");
            text += trace_difference(expected.of_core(one.core), own, "core " + std::to_string(one.core)).find();
        }
        for (int core = 0; core < expected.cores(); ++core) {
            if (found.count(core) == 0) text += missing("core " + std::to_string(core), expected.of_core(core));
        }
        for (std::string const& agent : expected.all_beside()) text += of_agent(expected, traces, agent);
        return text;
    }

  private:
    trace_difference(std::vector<expected_call> const& wanted, core_trace const& got, std::string whose)
        : wanted_(wanted), got_(got), whose_(std::move(whose)) {}

    static std::string missing(std::string const& whose, std::vector<expected_call> const& wanted) {
        if (wanted.empty()) return {};
        return whose + ": the trace has no calls of it, and it should make " + std::to_string(wanted.size()) + "\n";
    }
    /// Calls of a ring that an agent beside the caller makes, or the caller.
    static core_trace part_of(call_log const& expected, core_trace const& all, std::string const& whose) {
        core_trace part{all.core, all.lost, {}};
        for (traced_call const& one : all.calls) {
            std::set<std::string> const& callers = expected.callers(one.symbol);
            if (all.agent.empty() && callers.size() > 1)
                throw std::invalid_argument("several agents call `" + one.symbol +
                                            "` beside each other: write whose trace it is, AGENT=TRACE");
            if ((all.agent.empty() ? *callers.begin() : expected.whose(all.agent)) == whose) part.calls.push_back(one);
        }
        if (all.lost > 0 && !part.calls.empty() && part.calls.size() < all.calls.size())
            throw std::invalid_argument("core " + std::to_string(all.core) +
                                        " lost calls, and its trace has those of agents that work beside each other: it is not known whose "
                                        "are lost. Raise TILEWRIGHT_TRACE_RECORDS, or give each agent a ring of its own");
        return part;
    }
    static std::string of_agent(call_log const& expected, std::vector<core_trace> const& traces, std::string const& agent) {
        core_trace made;
        for (core_trace const& one : traces) {
            core_trace part = part_of(expected, one, agent);
            if (part.calls.empty()) continue;
            if (!made.calls.empty())
                throw std::invalid_argument("calls of agent `" + agent + "` stand in several rings: they have no order");
            made = std::move(part);
        }
        if (made.calls.empty()) return missing("agent " + agent, expected.of_agent(agent));
        return trace_difference(expected.of_agent(agent), made, "agent " + agent).find();
    }

    std::string find() {
        std::size_t const lost = static_cast<std::size_t>(got_.lost);
        for (std::size_t at = 0; at < got_.calls.size(); ++at) {
            traced_call const& made = got_.calls[at];
            std::size_t const step = lost + at;
            if (step >= wanted_.size())
                return report(at, "one call more than the " + std::to_string(wanted_.size()) + " of the plan: " + text_of(made));
            expected_call const& should = wanted_[step];
            if (should.symbol != made.symbol) return report(at, "expected " + text_of(should) + "\n    got      " + text_of(made));
            if (should.arguments.size() != made.arguments.size())
                return report(at, made.symbol + " has " + std::to_string(made.arguments.size()) + " arguments, and should have " +
                                      std::to_string(should.arguments.size()));
            for (std::size_t argument = 0; argument < made.arguments.size(); ++argument) {
                std::string const wrong = compare(should.arguments[argument], made.arguments[argument]);
                if (!wrong.empty())
                    return report(at, made.symbol + ": " + wrong + "\n    expected " + text_of(should) + "\n    got      " + text_of(made));
            }
            if (!made.returned) return report(at, text_of(made) + " has not returned");
            if (made.code != 0) return report(at, text_of(made) + " returned " + std::to_string(made.code));
        }
        std::size_t const end = lost + got_.calls.size();
        if (end < wanted_.size())
            return report(got_.calls.size(), "the trace ends after " + std::to_string(end) + " of " + std::to_string(wanted_.size()) +
                                                 " calls; the next would be " + text_of(wanted_[end]));
        return {};
    }
    std::string compare(expected_argument const& should, std::int64_t is) {
        if (!should.known) return {};
        if (should.base.empty()) {
            if (should.value == is) return {};
            return "`" + should.name + "` should be " + number_text(should.value) + ", and is " + number_text(is);
        }
        auto const [known, is_first] = bases_.emplace(should.base, is - should.value);
        if (is_first || known->second + should.value == is) return {};
        return "`" + should.name + "` should be byte " + std::to_string(should.value) + " of " + should.base + ", which begins at " +
               number_text(known->second) + " by its first use, and is byte " + std::to_string(is - known->second);
    }
    /// @param at  of the calls that the trace has
    std::string report(std::size_t at, std::string const& what) const {
        std::size_t const step = static_cast<std::size_t>(got_.lost) + at;
        std::string text = whose_ + ", call " + std::to_string(step) + layer_text(step) + ": " + what + "\n";
        for (std::size_t before = at > 3 ? at - 3 : 0; before < at && before < got_.calls.size(); ++before)
            text += "    before   " + text_of(got_.calls[before]) + "\n";
        return text;
    }
    /// Of a program, which layer should make a call, and which one of its calls that is: they are counted from 0.
    std::string layer_text(std::size_t step) const {
        if (step >= wanted_.size() || wanted_[step].layer.empty()) return {};
        std::size_t first = step;
        while (first > 0 && wanted_[first - 1].layer == wanted_[step].layer) --first;
        return " (" + wanted_[step].layer + ", call " + std::to_string(step - first) + ")";
    }
    static std::string number_text(std::int64_t value) {
        if (value > -0x10000 && value < 0x10000) return std::to_string(value);
        char text[24]{};
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
        return text;
    }
    static std::string text_of(traced_call const& call) {
        std::string text = call.symbol + "(";
        for (std::size_t at = 0; at < call.arguments.size(); ++at) text += (at > 0 ? ", " : "") + number_text(call.arguments[at]);
        return text + ")";
    }
    std::string text_of(expected_call const& call) const {
        std::string text = call.symbol + "(";
        for (std::size_t at = 0; at < call.arguments.size(); ++at) {
            expected_argument const& a = call.arguments[at];
            text += at > 0 ? ", " : "";
            if (!a.known) text += "?";
            else if (a.base.empty()) text += number_text(a.value);
            else if (auto const known = bases_.find(a.base); known != bases_.end()) text += number_text(known->second + a.value);
            else text += a.base + " + " + std::to_string(a.value);
        }
        return text + ")";
    }

    std::vector<expected_call> const& wanted_;
    core_trace const& got_;
    std::string whose_;
    std::map<std::string, std::int64_t> bases_;  ///< where what the kernel was given begins on the device
};

}  // namespace tilewright::bring_up
