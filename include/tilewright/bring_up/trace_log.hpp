#pragma once
#include <cstddef>
#include <cstdint>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// What a device has called, as runtime/trace.h writes it.
namespace tilewright::bring_up {

struct traced_call {
    std::string symbol{};
    std::vector<std::int64_t> arguments{};
    std::int64_t code = 0;
    bool returned = true;
    std::uint64_t begin = 0, end = 0;  ///< cycles of the device's counter

    std::int64_t cycles() const { return static_cast<std::int64_t>(end - begin); }
};

/// The calls of one core. The first `lost` are not there: the ring was too short.
struct core_trace {
    int core = 0;
    std::int64_t lost = 0;
    std::vector<traced_call> calls{};
    std::string agent{};  ///< of a program, that makes all of them; empty: the functions say who
};

/// Reads a trace. Lines in front of the first core are left out: a board may have written other things there.
/// @throws std::invalid_argument with the line that is no record, when there is no core, or when calls of one are missing
inline std::vector<core_trace> read_trace(std::istream& from) {
    std::vector<core_trace> cores;
    std::vector<std::int64_t> kept;
    std::string line;
    for (int number = 1; std::getline(from, line); ++number) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        std::istringstream words(line);
        std::string word, calls, lost;
        if (!(words >> word)) continue;
        auto const wrong = [&](char const* what) {
            return std::invalid_argument("line " + std::to_string(number) + ": " + what + ": " + line);
        };
        if (word == "core") {
            core_trace& made = cores.emplace_back();
            std::int64_t all = 0;
            if (!(words >> made.core >> calls >> all >> lost >> made.lost) || calls != "calls" || lost != "lost")
                throw wrong("not `core N calls N lost N`");
            kept.push_back(all - made.lost);
            continue;
        }
        if (cores.empty()) continue;
        traced_call call{word};
        bool has_code = false;
        while (words >> word && word != "=") {
            try {
                std::size_t read = 0;
                call.arguments.push_back(std::stoll(word, &read));
                if (read != word.size()) throw wrong("an argument is no number");
            } catch (std::logic_error const&) {
                throw wrong("an argument is no number");
            }
        }
        if (words >> word) {
            has_code = true;
            call.returned = word != "?";
            if (call.returned) call.code = std::stoll(word);
        }
        if (!has_code || !(words >> word) || word != "@" || !(words >> call.begin >> call.end))
            throw wrong("not `symbol arguments = code @ begin end`");
        cores.back().calls.push_back(std::move(call));
    }
    if (cores.empty()) throw std::invalid_argument("no line `core N calls N lost N`: this is no trace");
    for (std::size_t at = 0; at < cores.size(); ++at) {
        if (static_cast<std::int64_t>(cores[at].calls.size()) != kept[at])
            throw std::invalid_argument("core " + std::to_string(cores[at].core) + ": calls that were kept: " + std::to_string(kept[at]) +
                                        ", calls in this trace: " + std::to_string(cores[at].calls.size()) + "; it is not whole");
    }
    return cores;
}

/// Which calls are not there, a line for each core whose ring was too short; empty: all are.
inline std::string lost_text(std::vector<core_trace> const& traces) {
    std::string text;
    for (core_trace const& one : traces) {
        if (one.lost > 0)
            text += "core " + std::to_string(one.core) + ": the first " + std::to_string(one.lost) +
                    " calls are lost, since the ring was too short: raise TILEWRIGHT_TRACE_RECORDS\n";
    }
    return text;
}

}  // namespace tilewright::bring_up
