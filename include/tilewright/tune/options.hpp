#pragma once
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tilewright/tune/shard.hpp>
#include <vector>

namespace tilewright::tune {

/// What a user asks a tuner for.
struct options {
    std::string log{};                  ///< the file of results; empty: none
    shard part{};                       ///< of the work, that this process does
    std::int64_t limit = 0;             ///< configurations that are measured, those that cost least; 0: all
    std::string measure = "processor";  ///< "processor", "emulator", or a command
    std::string processor{};            ///< what winners are kept by; empty: the measurer's own name for it
    std::string compiler{};             ///< of a command, for the log; empty: the command
    std::vector<std::string> merge{};   ///< logs that are merged into `log`; then nothing is measured
    std::string write_header{};         ///< the file of winners
    std::string write_t4{};             ///< the file of all results as one document of T4
    std::uint64_t seed = 1;             ///< of operands, and of the order in which candidates take turns
    double timeout = 60;                ///< seconds, of a command
    int rounds = 12;                    ///< turns of each candidate on the processor
    bool retry = false;                 ///< configurations that failed before are measured again
    bool help = false;
};

namespace detail {

inline std::int64_t number_of(std::string const& option, std::string const& text, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    auto const [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size() || value < least || value > most)
        throw std::invalid_argument(option + " takes a number from " + std::to_string(least) + " to " + std::to_string(most) + "; \"" +
                                    text + "\" is none");
    return value;
}

}  // namespace detail

inline constexpr char const* usage =
    "  --log FILE            results, a line for each; what it has already is not measured again\n"
    "  --shard I/N           does part I of N: start N processes, each with a log of its own or the same\n"
    "  --limit N             measures the N configurations that cost least, all processes together (0: all)\n"
    "  --measure WHERE       processor (default), emulator, or a command that prints a number; less is better\n"
    "  --timeout SECONDS     of a command (60)\n"
    "  --rounds N            turns of each configuration on the processor (12)\n"
    "  --processor NAME      what winners are kept by (default: the processor's model, emulator, or the command)\n"
    "  --compiler NAME       of a command: results of another one are not used\n"
    "  --seed N              of operands and of the order of turns (1)\n"
    "  --retry               measures again what failed\n"
    "  --merge FILE...       merges logs into that of --log, and measures nothing\n"
    "  --write-header FILE   winners as C++\n"
    "  --write-t4 FILE       all results as one document of T4\n"
    "  --help\n";

/// @throws std::invalid_argument when an argument is wrong, with its name
inline options options_of(std::vector<std::string> const& arguments) {
    options made;
    std::size_t at = 0;
    auto const next = [&](std::string const& option) -> std::string const& {
        if (at + 1 >= arguments.size()) throw std::invalid_argument(option + " takes a value");
        return arguments[++at];
    };
    for (; at < arguments.size(); ++at) {
        std::string const option = arguments[at];
        if (option == "--log") made.log = next(option);
        else if (option == "--shard") made.part = shard_of(next(option));
        else if (option == "--limit") made.limit = detail::number_of(option, next(option), 0, std::int64_t{1} << 40);
        else if (option == "--measure") made.measure = next(option);
        else if (option == "--processor") made.processor = next(option);
        else if (option == "--compiler") made.compiler = next(option);
        else if (option == "--write-header") made.write_header = next(option);
        else if (option == "--write-t4") made.write_t4 = next(option);
        else if (option == "--seed")
            made.seed = static_cast<std::uint64_t>(detail::number_of(option, next(option), 0, std::int64_t{1} << 62));
        else if (option == "--timeout") made.timeout = static_cast<double>(detail::number_of(option, next(option), 1, 1000000));
        else if (option == "--rounds") made.rounds = static_cast<int>(detail::number_of(option, next(option), 1, 10000));
        else if (option == "--retry") made.retry = true;
        else if (option == "--help") made.help = true;
        else if (option == "--merge") {
            while (at + 1 < arguments.size() && arguments[at + 1].rfind("--", 0) != 0) made.merge.push_back(arguments[++at]);
            if (made.merge.empty()) throw std::invalid_argument("--merge takes files");
        } else throw std::invalid_argument("unknown option " + option);
    }
    if (made.measure.empty()) throw std::invalid_argument("--measure takes processor, emulator or a command");
    if (!made.merge.empty() && made.log.empty() && made.write_header.empty() && made.write_t4.empty())
        throw std::invalid_argument("--merge needs --log, --write-header or --write-t4: where to?");
    return made;
}

}  // namespace tilewright::tune
