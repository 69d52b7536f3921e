#pragma once
#include <set>
#include <stdexcept>
#include <string>
#include <tilewright/c_source/words.hpp>
#include <utility>

// Small functions in the C source of a kernel: operations that C does not have, or rounds in another way.
namespace tilewright::halide::detail {

/// The helpers that a kernel uses, by name and type.
class c_helpers {
  public:
    /// A call's function: `use("divide", Int(32))` is "tilewright_divide_int32".
    std::string use(std::string const& what, Halide::Type const& type) {
        if (what == "modulo" && type.is_float()) use("floor", type);
        used_.insert({what, type_word(type)});
        types_[type_word(type)] = type.element_of();
        return "tilewright_" + what + "_" + type_word(type);
    }
    /// Those of another kernel, too.
    void add(c_helpers const& others) {
        used_.insert(others.used_.begin(), others.used_.end());
        types_.insert(others.types_.begin(), others.types_.end());
    }
    std::string text() const {
        std::string all;
        for (auto const& [what, word] : used_) all += text_of(what, types_.at(word)) + "\n";
        return all;
    }

  private:
    static std::string filled(std::string pattern, std::map<char, std::string> const& words) {
        std::string text;
        for (std::size_t at = 0; at < pattern.size(); ++at) {
            if (pattern[at] == '$' && words.count(pattern[at + 1]) != 0) text += words.at(pattern[++at]);
            else text += pattern[at];
        }
        return text;
    }
    static std::string text_of(std::string const& what, Halide::Type const& type) {
        std::string const word = type_word(type);
        Halide::Type const integer = type.is_float() ? Halide::UInt(type.bits()) : type;
        // $T the type, $W its name, $U the unsigned type of its size, $B its bits, $L from where on all its values are whole numbers.
        std::map<char, std::string> const words{{'T', c_type(type)},
                                                {'W', word},
                                                {'U', c_type(integer.with_code(halide_type_uint))},
                                                {'I', c_type(Halide::Int(type.bits() == 1 ? 8 : type.bits()))},
                                                {'B', std::to_string(type.bits())},
                                                {'L', type.bits() == 32 ? "8388608.0f" : "4503599627370496.0"}};
        auto const made = [&](char const* pattern) { return filled(pattern, words); };
        if (what == "divide" && type.is_int())
            return made(
                "/* Rounds so that the remainder is not negative; 0 where b is 0. */\n"
                "static inline $T tilewright_divide_$W($T a, $T b) {\n"
                "    if (b == 0) return 0;\n"
                "    if (b == -1) return ($T)(0u - ($U)a);\n"
                "    return a % b < 0 ? a / b + (b > 0 ? -1 : 1) : a / b;\n"
                "}\n");
        if (what == "modulo" && type.is_int())
            return made(
                "/* The remainder that is not negative; 0 where b is 0. */\n"
                "static inline $T tilewright_modulo_$W($T a, $T b) {\n"
                "    if (b == 0 || b == -1) return 0;\n"
                "    return a % b < 0 ? (b > 0 ? a % b + b : a % b - b) : a % b;\n"
                "}\n");
        if (what == "divide") return made("static inline $T tilewright_divide_$W($T a, $T b) { return b == 0 ? 0 : a / b; }\n");
        if (what == "floor")
            return made(
                "static inline $T tilewright_floor_$W($T a) {\n"
                "    if (!(a > -$L && a < $L)) return a; /* a whole number, or none at all */\n"
                "    const $T truncated = ($T)($I)a;\n"
                "    return truncated > a ? truncated - 1 : truncated == a ? a : truncated;\n"
                "}\n");
        if (what == "modulo" && type.is_float())
            return made(
                "static inline $T tilewright_modulo_$W($T a, $T b) {\n"
                "    const $T whole = b * tilewright_floor_$W(a / b);\n"
                "    return a - whole;\n"
                "}\n");
        if (what == "modulo") return made("static inline $T tilewright_modulo_$W($T a, $T b) { return b == 0 ? 0 : a % b; }\n");
        if (what == "minimum") return made("static inline $T tilewright_minimum_$W($T a, $T b) { return a < b ? a : b; }\n");
        if (what == "maximum") return made("static inline $T tilewright_maximum_$W($T a, $T b) { return a > b ? a : b; }\n");
        if (what == "absolute") return made("static inline $U tilewright_absolute_$W($T a) { return a < 0 ? ($U)(0u - ($U)a) : ($U)a; }\n");
        if (what == "of_bits")
            return made(
                "static inline $T tilewright_of_bits_$W($U bits) {\n"
                "    const union { $U bits; $T value; } both = {bits};\n"
                "    return both.value;\n"
                "}\n");
        if (what == "bits")
            return made(
                "static inline $U tilewright_bits_$W($T value) {\n"
                "    const union { $T value; $U bits; } both = {value};\n"
                "    return both.bits;\n"
                "}\n");
        throw std::logic_error("no helper of C is called " + what);
    }

    std::set<std::pair<std::string, std::string>> used_;
    std::map<std::string, Halide::Type> types_;
};

}  // namespace tilewright::halide::detail
