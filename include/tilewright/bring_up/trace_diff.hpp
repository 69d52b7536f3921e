#pragma once
#include <map>
#include <tilewright/bring_up/call_log.hpp>
#include <tilewright/bring_up/trace_log.hpp>

// The first step in which a device did something else than the emulator.
namespace tilewright::bring_up {

class trace_difference {
  public:
    /// @return the first wrong step of each core in words, with the calls in front of it; empty when there is none
    static std::string between(call_log const& expected, std::vector<core_trace> const& traces) {
        std::string text;
        for (core_trace const& one : traces) text += trace_difference(expected.of_core(one.core), one).find();
        for (int core = 0; core < expected.cores(); ++core) {
            bool found = false;
            for (core_trace const& one : traces) found |= one.core == core;
            if (!found && !expected.of_core(core).empty())
                text += "core " + std::to_string(core) + ": the trace has no calls of it, and it should make " +
                        std::to_string(expected.of_core(core).size()) + "\n";
        }
        return text;
    }

  private:
    trace_difference(std::vector<expected_call> const& wanted, core_trace const& got) : wanted_(wanted), got_(got) {}

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
        std::string text = "core " + std::to_string(got_.core) + ", call " + std::to_string(step) + layer_text(step) + ": " + what + "\n";
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
    std::map<std::string, std::int64_t> bases_;  ///< where what the kernel was given begins on the device
};

}  // namespace tilewright::bring_up
