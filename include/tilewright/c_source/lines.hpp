#pragma once
#include <cstddef>
#include <string>
#include <vector>

// Lines of a C function: how long ones are broken, and how the last ones return.
namespace tilewright::halide::detail {

struct c_line {
    int depth;  ///< of blocks around it
    std::string text;
};

/// A line with its indent and its end. One that is too long goes on in the next one, after a comma or, in a remark, after a word.
inline std::string text_of(c_line const& l) {
    constexpr std::size_t most = 120;
    std::string indent(static_cast<std::size_t>(4 * l.depth), ' '), rest = l.text, text;
    bool const remark = rest.compare(0, 2, "/*") == 0;
    std::string const end = remark ? " " : ", ";
    while (indent.size() + rest.size() > most) {
        std::size_t at = rest.rfind(end, indent.size() + 40 < most ? most - indent.size() - 2 : 40);
        if (at == std::string::npos || at == 0) at = rest.find(end);
        if (at == std::string::npos) break;
        text += indent + rest.substr(0, at + end.size() - 1) + "\n";
        rest = rest.substr(at + end.size());
        indent = std::string(static_cast<std::size_t>(4 * l.depth + (remark ? 3 : 8)), ' ');
    }
    return text + indent + rest + "\n";
}

/// Directives of a schedule as lines of a comment, as many in each as it holds. Those of a stage begin a line.
inline std::string chained(std::vector<std::string> const& directives) {
    constexpr std::size_t most = 120;
    std::string text, line;
    for (std::string const& one : directives) {
        bool const begins = line.empty() || one.compare(0, 7, ".stage(") == 0 || line.size() + one.size() > most;
        if (begins && !line.empty()) text += line + "\n";
        if (begins) line = " *     ";
        line += one;
    }
    return line.empty() ? text : text + line + "\n";
}

/// Ends a function that returns the first code of a call that is not 0: where the last lines of the function itself are
/// `status = f(); if (status != 0) return status;`, it returns what the call returns; otherwise 0.
///
/// @param status  the variable that codes are in
inline void end_with_code(std::vector<c_line>& lines, std::string const& status) {
    std::size_t const count = lines.size();
    std::string const head = status + " = ";
    bool const ends_with_call = count >= 2 && lines[count - 1].text == "if (" + status + " != 0) return " + status + ";" &&
                                lines[count - 2].text.compare(0, head.size(), head) == 0;
    if (!ends_with_call) return lines.push_back({1, "return 0;"});
    lines.pop_back();
    lines.back().text.replace(0, head.size(), "return ");
}

}  // namespace tilewright::halide::detail
