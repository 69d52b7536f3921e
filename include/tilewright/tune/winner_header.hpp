#pragma once
#include <cctype>
#include <cstdio>
#include <tilewright/tune/record.hpp>

// Winners as C++.
namespace tilewright::tune {

namespace detail {

/// A string literal of C++.
inline std::string literal_of(std::string const& text) {
    std::string made = "\"";
    for (char letter : text) {
        auto const code = static_cast<unsigned char>(letter);
        char octal[8];
        std::snprintf(octal, sizeof octal, "\\%03o", code);
        if (letter == '"' || letter == '\\') (made += '\\') += letter;
        else if (code < 0x20 || code >= 0x7f) made += octal;
        else made += letter;
    }
    return made + '"';
}

/// A name for what stands in a file: that of the file, as an identifier.
inline std::string namespace_of(std::string const& file) {
    std::string name = file.substr(file.find_last_of('/') + 1);
    name = name.substr(0, name.find('.'));
    for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
    return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "tuned_" + name : name;
}

}  // namespace detail

/// A header with a table `NAMESPACE::winners` for `tuned` and `tuned_or`. Equal winners give equal bytes.
/// @throws std::invalid_argument when there is no winner
inline std::string header_of(std::vector<record> const& winners, std::string const& in_namespace) {
    if (winners.empty()) throw std::invalid_argument("no result is correct, so there is no winner to write");
    std::string rows;
    for (record const& one : winners) {
        char measured[64];
        std::snprintf(measured, sizeof measured, "%.6g %s", one.value(), one.unit().c_str());
        std::string values, extents;
        for (named_value const& number : one.what)
            values +=
                (values.empty() ? "" : ", ") + ("{" + detail::literal_of(number.name.str())) + ", " + std::to_string(number.value) + "}";
        for (std::int64_t extent : one.from.shape) extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
        std::string remark = one.objective + " " + measured;
        for (char& letter : remark) letter = letter == '\\' || std::iscntrl(static_cast<unsigned char>(letter)) ? ' ' : letter;
        rows += "    // " + remark + "\n    {" + detail::literal_of(one.from.problem) + ", {" + extents + "}, " +
                detail::literal_of(one.from.processor) + ",\n     {" + values + "}},\n";
    }
    return "// Written by a tuner from what it measured: tilewright::tune::tuned(" + in_namespace +
           "::winners, problem, shape, processor).\n#pragma once\n#include <tilewright/tune/tuned.hpp>\n\nnamespace " + in_namespace +
           " {\n\n// clang-format off\ninline constexpr tilewright::tune::winner winners[] = {\n" + rows +
           "};\n// clang-format on\n\n}  // namespace " + in_namespace + "\n";
}

}  // namespace tilewright::tune
