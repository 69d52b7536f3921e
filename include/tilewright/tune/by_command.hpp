#pragma once
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <tilewright/c_source/kernel_source.hpp>
#include <tilewright/tune/child_process.hpp>
#include <tilewright/tune/log.hpp>
#include <tilewright/tune/measure.hpp>

namespace tilewright::tune {

namespace detail {

/// A folder of its own, which goes with this.
class temporary_folder {
  public:
    temporary_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "tilewright_tune_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder for a command: " + name);
        path_ = name;
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(temporary_folder const&) = delete;
    std::filesystem::path const& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

inline std::string upper(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return text;
}

/// The configuration as macros: TILEWRIGHT_ROWS.
inline std::string macros_of(configuration const& of) {
    std::string text = "#pragma once\n";
    for (named_value const& one : of) text += "#define TILEWRIGHT_" + upper(one.name.str()) + " " + std::to_string(one.value) + "\n";
    return text;
}

/// The number that a command printed, if that is all that it printed. @return NaN if not
inline double number_in(std::string const& output) {
    char const* const begin = output.c_str();
    char* end = nullptr;
    double const value = std::strtod(begin, &end);
    bool whole = end != begin && output.size() == std::char_traits<char>::length(begin);
    for (; *end != '\0'; ++end) whole = whole && std::isspace(static_cast<unsigned char>(*end));
    return whole && std::isfinite(value) ? value : std::nan("");
}

/// The beginning of what a command printed.
inline std::string shown(std::string output) {
    for (char& letter : output) letter = std::isprint(static_cast<unsigned char>(letter)) ? letter : ' ';
    return output.size() > 60 ? "\"" + output.substr(0, 60) + "\" and more" : "\"" + output + "\"";
}

}  // namespace detail

/// Measures by a command of the user's, such as one that compiles for a board and runs there. It prints a number; less is better.
///
/// The command gets the configuration as arguments, `rows=6`, in its environment, TILEWRIGHT_ROWS, and as macros in the file
/// TILEWRIGHT_CONFIGURATION; the kernel as C in the file TILEWRIGHT_SOURCE, with its header TILEWRIGHT_HEADER, unless the problem leaves it
/// out. TILEWRIGHT_PROBLEM is the name of the kernel's function, TILEWRIGHT_SHAPE "256x196x128", TILEWRIGHT_FOLDER a folder for it alone,
/// which goes afterwards.
class by_command final : public measurer {
  public:
    /// @param timeout  seconds
    by_command(problem const& of, std::string const& command, double timeout) : of_(of), command_(command), timeout_(timeout) {}

    std::string name() const override { return "command"; }
    std::string processor() const override { return command_; }
    std::string compiler() const override { return command_; }
    std::string objective() const override { return "printed"; }

    std::vector<outcome> measure(std::vector<candidate> const& candidates, std::function<bool()> const& stop) override {
        std::vector<outcome> outcomes;
        for (candidate const& one : candidates) {
            if (stop()) return {};
            outcomes.push_back(measure_one(one, stop));
            if (stop()) return {};
        }
        return outcomes;
    }

  private:
    outcome measure_one(candidate const& one, std::function<bool()> const& stop) const {
        detail::temporary_folder const folder;
        auto const file = [&](std::string const& name) { return (folder.path() / name).string(); };
        detail::stopwatch const compiling;
        std::vector<std::string> arguments;
        std::vector<std::pair<std::string, std::string>> variables{{"TILEWRIGHT_CONFIGURATION", file("configuration.h")},
                                                                   {"TILEWRIGHT_FOLDER", folder.path().string()},
                                                                   {"TILEWRIGHT_PROBLEM", of_.name},
                                                                   {"TILEWRIGHT_SHAPE", text_of(of_.shape)}};
        try {
            if (of_.c_source) {
                halide::c_source_text const text = halide::c_source(one.how, one.plan, {of_.name, halide::binding::device, of_.c_includes});
                replace_file(file(of_.name + ".c"), text.source);
                replace_file(file(of_.name + ".h"), text.header);
                variables.emplace_back("TILEWRIGHT_SOURCE", file(of_.name + ".c"));
                variables.emplace_back("TILEWRIGHT_HEADER", file(of_.name + ".h"));
            }
        } catch (std::exception const& wrong) {
            return outcome::failed(invalidity::compile, wrong.what());
        }
        replace_file(file("configuration.h"), detail::macros_of(one.what));
        outcome made;
        made.compilation_time = compiling.milliseconds();
        for (named_value const& number : one.what) {
            arguments.push_back(number.name.str() + "=" + std::to_string(number.value));
            variables.emplace_back("TILEWRIGHT_" + detail::upper(number.name.str()), std::to_string(number.value));
        }
        command_result const ran = run_command(command_, arguments, variables, timeout_, stop);
        using ending = command_result::ending;
        if (ran.how == ending::timed_out) return outcome::failed(invalidity::timeout, "no answer in " + std::to_string(timeout_) + " s");
        if (ran.how == ending::killed)
            return outcome::failed(invalidity::runtime, "signal " + std::to_string(ran.code) + " ended the command");
        if (ran.code != 0)
            return outcome::failed(invalidity::runtime,
                                   "the command ended with code " + std::to_string(ran.code) + " and printed " + detail::shown(ran.output));
        double const value = detail::number_in(ran.output);
        if (std::isnan(value))
            return outcome::failed(invalidity::runtime, "the command printed no number, but " + detail::shown(ran.output));
        made.runtimes.push_back(ran.milliseconds);
        made.measurements.push_back({"printed", value, ""});
        return made;
    }

    problem const& of_;
    std::string command_;
    double timeout_;
};

}  // namespace tilewright::tune
