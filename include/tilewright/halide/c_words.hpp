#pragma once
#include <Halide.h>

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

// Types, literals and names of the C source of a kernel.
namespace tilewright::halide {

/// A kernel has something that the C source cannot say: it is named, and nothing is written.
struct unsupported_in_c : std::runtime_error {
    explicit unsupported_in_c(std::string const& what) : std::runtime_error("the C source of a kernel cannot express " + what) {}
};

namespace detail {

/// The C type of one element.
inline std::string c_type(Halide::Type const& type) {
    if (type.is_bool()) return "bool";
    if (type.is_float() && type.bits() == 32) return "float";
    if (type.is_float() && type.bits() == 64) return "double";
    bool const whole = type.is_int() || type.is_uint();
    if (whole && (type.bits() == 8 || type.bits() == 16 || type.bits() == 32 || type.bits() == 64))
        return (type.is_int() ? "int" : "uint") + std::to_string(type.bits()) + "_t";
    std::ostringstream text;
    text << "values of type " << type;
    throw unsupported_in_c(text.str());
}
/// Likewise as a part of a function's name: "int32".
inline std::string type_word(Halide::Type const& type) {
    std::string word = c_type(type);
    if (word.size() > 2 && word.compare(word.size() - 2, 2, "_t") == 0) word.resize(word.size() - 2);
    return word;
}

inline std::string c_integer(std::int64_t value, int bits) {
    if (bits < 64) {
        if (value == INT32_MIN) return "(-2147483647 - 1)";
        return std::to_string(value);
    }
    if (value == INT64_MIN) return "(-INT64_C(9223372036854775807) - 1)";
    return value < 0 ? "-INT64_C(" + std::to_string(-value) + ")" : "INT64_C(" + std::to_string(value) + ")";
}
inline std::string c_unsigned(std::uint64_t value, int bits) {
    if (bits == 1) return value != 0 ? "true" : "false";
    if (bits < 32) return std::to_string(value);
    return bits == 32 ? std::to_string(value) + "u" : "UINT64_C(" + std::to_string(value) + ")";
}
/// Empty where C has no literal: of infinities and what is no number.
inline std::string c_float(double value, int bits) {
    if (!std::isfinite(value)) return {};
    char text[40]{};
    for (int digits = 1; digits <= 17; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, value);
        double const back = std::strtod(text, nullptr);
        if (bits == 32 ? std::strtof(text, nullptr) == static_cast<float>(value) : back == value) break;
    }
    std::string shortest = text;
    if (shortest.find_first_not_of("-0123456789") == std::string::npos) shortest += ".0";
    return bits == 32 ? shortest + "f" : shortest;
}

/// What a name of the generated program is called in C: an identifier, and none that is in use where it is defined.
class c_names {
  public:
    c_names() {
        for (char const* word :
             {"auto",          "break",         "case",     "char",     "const",     "continue", "default",   "do",       "double",
              "else",          "enum",          "extern",   "float",    "for",       "goto",     "if",        "inline",   "int",
              "long",          "register",      "restrict", "return",   "short",     "signed",   "sizeof",    "static",   "struct",
              "switch",        "typedef",       "union",    "unsigned", "void",      "volatile", "while",     "bool",     "true",
              "false",         "NULL",          "asm",      "typeof",   "alignas",   "alignof",  "constexpr", "nullptr",  "thread_local",
              "static_assert", "typeof_unqual", "int8_t",   "int16_t",  "int32_t",   "int64_t",  "uint8_t",   "uint16_t", "uint32_t",
              "uint64_t",      "uintptr_t",     "intptr_t", "size_t",   "ptrdiff_t", "offsetof", "wchar_t",   "linux",    "unix",
              "status",        "lane",          "drain",    "main"})
            taken_.insert(word);
    }
    void reserve(std::string const& word) { taken_.insert(word); }
    /// A word that nothing else has, which begins as `name` does.
    std::string take(std::string const& name) {
        std::string word;
        for (char letter : name) word += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
        // Words that begin with an underscore are the compiler's.
        if (word.empty() || word[0] == '_' || std::isdigit(static_cast<unsigned char>(word[0])) != 0) word = "v" + word;
        std::string const first = word;
        for (int number = 2; taken_.count(word) != 0; ++number) word = first + "_" + std::to_string(number);
        taken_.insert(word);
        return word;
    }
    void give_back(std::string const& word) { taken_.erase(word); }

  private:
    std::set<std::string> taken_;
};

}  // namespace detail
}  // namespace tilewright::halide
