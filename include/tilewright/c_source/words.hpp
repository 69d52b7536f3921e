#pragma once
#include <Halide.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

// Types and literals of the C source of a kernel.
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

}  // namespace detail
}  // namespace tilewright::halide
