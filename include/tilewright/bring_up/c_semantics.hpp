#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <tilewright/compute/stage.hpp>
#include <utility>
#include <vector>

// What transfers and intrinsics declare to compute, as plain C. It is written from docs/reference/compute.md and shares nothing with the
// emulator, with Halide or with the planner: a device is judged by what was declared, not by what another part made of it.
namespace tilewright::bring_up {

inline std::string c_type_of(scalar_type type) {
    std::string const name = name_of(as_generated(type));
    return type == scalar_type::boolean || is_float(type) ? name : name + "_t";
}
constexpr bool may_not_overflow(scalar_type type) { return type == scalar_type::int32 || type == scalar_type::int64; }

/// C functions for operations that C does not have, or carries out in another way: each is written once, where it is used.
///
/// What the language leaves undefined (overflow of signed integers of 32 and 64 bits, amounts of shifts, conversions out of range) sets
/// `*off`. No argument makes the C itself undefined.
class c_operations {
  public:
    /// The name of the function.
    std::string use(operation op, scalar_type type) {
        if (op == operation::modulo && is_float(type)) use_floor(type);
        used_.insert({op, type});
        return function_name(op, type);
    }
    std::string use_conversion(scalar_type from, scalar_type to) {
        conversions_.insert({from, to});
        return conversion_name(from, to);
    }
    /// Of float to or from a number of 16 bits.
    std::string use_half(scalar_type from, scalar_type to) {
        halves_.insert({from, to});
        return conversion_name(from, to);
    }
    std::string use_bits(scalar_type from, scalar_type to) {
        bits_.insert({from, to});
        return bits_name(from, to);
    }
    std::string text() const {
        std::string all;
        for (auto const& [from, to] : bits_)
            all += "static " + c_type_of(to) + " " + bits_name(from, to) + "(" + c_type_of(from) + " a) {\n    " + c_type_of(to) +
                   " same;\n    copy(&same, &a, sizeof same);\n    return same;\n}\n";
        for (scalar_type const type : floors_) all += filled(floor_text, type);
        for (auto const& [op, type] : used_) all += filled(text_of(op, type), type, op);
        for (auto const& [from, to] : conversions_) all += conversion_text(from, to);
        for (auto const& [from, to] : halves_) all += is_half(from) ? from_half_text(from, to) : to_half_text(from, to);
        return all;
    }

  private:
    static std::string function_name(operation op, scalar_type type) { return std::string(name_of(op)) + "_" + name_of(type); }
    void use_floor(scalar_type type) { floors_.insert(type); }

    static constexpr char const* floor_text =
        "static $T floor_$N($T a) {\n"
        "    if (!(a > -$L && a < $L)) return a; /* a whole number, or none at all */\n"
        "    const $T whole = ($T)(int64_t)a;\n"
        "    return whole > a ? whole - 1 : whole == a ? a : whole; /* a zero keeps its sign */\n"
        "}\n";
    /// $T the type, $N its name, $F the function, $U the unsigned type in which it wraps, $W the type of its size without a sign, $S the
    /// sign of the operation, $B bits.
    static std::string filled(std::string const& pattern, scalar_type type, operation op = operation::add) {
        std::string const bits = std::to_string(8 * bytes_of(type));
        std::string text;
        for (std::size_t at = 0; at < pattern.size(); ++at) {
            if (pattern[at] != '$') {
                text += pattern[at];
                continue;
            }
            switch (pattern[++at]) {
                case 'T': text += c_type_of(type); break;
                case 'N': text += name_of(type); break;
                case 'F': text += function_name(op, type); break;
                case 'U': text += "uint" + (bytes_of(type) < 4 ? "32" : bits) + "_t"; break;
                case 'W': text += "uint" + bits + "_t"; break;
                case 'B': text += bits; break;
                case 'L': text += type == scalar_type::float32 ? "8388608.0f" : "4503599627370496.0"; break;
                default: text += op == operation::add ? "+" : op == operation::subtract ? "-" : "*"; break;
            }
        }
        return text;
    }
    static std::string text_of(operation op, scalar_type type) {
        std::string const head = "static $T $F($T a, $T b, bool *off) {\n";
        bool const is_signed = !is_unsigned(type), exact = may_not_overflow(type);
        std::string const unused = "    (void)off;\n";
        switch (op) {
            case operation::add:
            case operation::subtract:
            case operation::multiply:
                if (is_float(type)) return head + unused + "    return a $S b;\n}\n";
                if (type == scalar_type::int32)
                    return head +
                           "    const int64_t exact = (int64_t)a $S b;\n"
                           "    *off |= exact < -INT64_C(2147483648) || exact > INT64_C(2147483647);\n"
                           "    return (int32_t)(uint32_t)(uint64_t)exact;\n}\n";
                if (type == scalar_type::int64 && op == operation::multiply)
                    return head +
                           "    const int64_t low = (int64_t)((uint64_t)a * (uint64_t)b);\n"
                           "    if (a == -1 || b == -1) *off |= (a == -1 ? b : a) == INT64_MIN;\n"
                           "    else if (a != 0) *off |= low / a != b || low % a != 0;\n"
                           "    return low;\n}\n";
                if (type == scalar_type::int64)
                    return head +
                           "    const uint64_t sum = (uint64_t)a $S (uint64_t)b;\n"
                           "    *off |= ((((uint64_t)a ^ sum) & ((uint64_t)" +
                           std::string(op == operation::add ? "b ^ sum" : "a ^ (uint64_t)b") +
                           ")) >> 63) != 0;\n"
                           "    return (int64_t)sum;\n}\n";
                return head + unused + "    return ($T)(($U)a $S ($U)b);\n}\n";
            case operation::divide:
            case operation::modulo: {
                bool const quotient = op == operation::divide;
                if (is_float(type) && quotient) return head + unused + "    return a / b;\n}\n";
                if (is_float(type)) return head + unused + "    const $T whole = b * floor_$N(a / b);\n    return a - whole;\n}\n";
                if (!is_signed) return head + unused + "    return b == 0 ? 0 : ($T)(a " + (quotient ? "/" : "%") + " b);\n}\n";
                return head + (quotient && exact ? "" : unused) + "    if (b == 0) return 0;\n" +
                       (!quotient ? "    if (b == -1) return 0;\n"
                        : exact ? "    if (b == -1) {\n        *off |= a == ($T)((($W)1) << ($B - 1));\n        return ($T)(0u - ($W)a);\n "
                                  "   }\n"
                                : "    if (b == -1) return ($T)-a;\n") +
                       "    const $T rest = ($T)(a % b);\n" +
                       (quotient ? "    return ($T)(rest >= 0 ? a / b : b > 0 ? a / b - 1 : a / b + 1);\n}\n"
                                 : "    return ($T)(rest >= 0 ? rest : b > 0 ? rest + b : rest - b);\n}\n");
            }
            case operation::shift_left:
            case operation::shift_right:
                return head + "    const bool far = " + (is_signed ? "b < 0 || " : "") + "b >= $B;\n    *off |= far;\n" +
                       (op == operation::shift_left ? "    return far ? 0 : ($T)(($U)a << b);\n}\n"
                                                    : "    return far ? 0 : ($T)(a >> b);\n}\n");
            default: return {};
        }
    }
    static std::string conversion_text(scalar_type from, scalar_type to) {
        std::string const name = conversion_name(from, to), type = c_type_of(to);
        int const bits = 8 * bytes_of(to) - (is_unsigned(to) ? 0 : 1);
        std::string const top = "0x1p" + std::to_string(bits) + (from == scalar_type::float32 ? "f" : "");
        std::string const bottom = is_unsigned(to)                             ? "a > -1"
                                   : bits < 24 || from == scalar_type::float64 ? "a > -" + top + " - 1"
                                                                               : "a >= -" + top;
        std::string const low = !is_unsigned(to) && bits > 52 ? "a >= -" + top : bottom;
        return "static " + type + " " + name + "(" + c_type_of(from) + " a, bool *off) {\n    const bool in = " + low + " && a < " + top +
               ";\n    *off |= !in;\n    return in ? (" + type + ")a : 0;\n}\n";
    }

    static std::string bits_name(scalar_type from, scalar_type to) { return std::string(name_of(to)) + "_of_bits_of_" + name_of(from); }
    static std::string conversion_name(scalar_type from, scalar_type to) { return std::string(name_of(to)) + "_of_" + name_of(from); }
    /// $F bits of the fraction, $E the largest exponent, $B the difference of the exponents of 1, $Z what the smallest fraction is worth.
    static std::string of_format(std::string const& pattern, scalar_type half) {
        bool const ieee = half == scalar_type::float16;
        std::string text;
        for (std::size_t at = 0; at < pattern.size(); ++at) {
            if (pattern[at] != '$') text += pattern[at];
            else if (pattern[++at] == 'F') text += ieee ? "10" : "7";
            else if (pattern[at] == 'E') text += ieee ? "31" : "255";
            else if (pattern[at] == 'B') text += ieee ? "112" : "0";
            else text += ieee ? "0x1p-24f" : "0x1p-133f";
        }
        return text;
    }
    static std::string from_half_text(scalar_type from, scalar_type to) {
        return "static float " + conversion_name(from, to) +
               of_format(
                   "(uint16_t a) {\n"
                   "    const uint32_t exponent = (uint32_t)a >> $F & $E, fraction = a & ((1u << $F) - 1);\n"
                   "    float size = (float)fraction * $Z;\n"
                   "    uint32_t bits = 0;\n"
                   "    copy(&bits, &size, sizeof bits);\n"
                   "    if (exponent > 0 || $B == 0) bits = (exponent + $B) << 23 | fraction << (23 - $F);\n"
                   "    if (exponent == $E) bits = 0x7f800000u | fraction << (23 - $F) | (fraction > 0 ? 0x400000u : 0);\n"
                   "    bits |= (uint32_t)(a >> 15) << 31;\n"
                   "    copy(&size, &bits, sizeof size);\n"
                   "    return size;\n}\n",
                   from);
    }
    static std::string to_half_text(scalar_type from, scalar_type to) {
        return "static uint16_t " + conversion_name(from, to) +
               of_format(
                   "(float a) {\n"
                   "    uint32_t bits = 0;\n"
                   "    copy(&bits, &a, sizeof bits);\n"
                   "    const uint32_t sign = bits >> 31 << 15, exponent = bits >> 23 & 255;\n"
                   "    uint32_t fraction = bits & 0x7fffff;\n"
                   "    if (exponent == 255 && fraction > 0) return (uint16_t)(sign | $Eu << $F | 1u << ($F - 1) | fraction >> (23 - "
                   "$F));\n"
                   "    if (exponent > 0) fraction |= 0x800000; /* the leading 1 */\n"
                   "    const uint32_t from = exponent > 0 ? exponent : 1, lost = 23 - $F + (from > $B ? 0 : $B + 1 - from);\n"
                   "    if (lost > 24) return (uint16_t)sign;\n"
                   "    const uint32_t kept = fraction >> lost, rest = fraction & ((1u << lost) - 1), middle = 1u << (lost - 1);\n"
                   "    uint32_t size = kept + (rest > middle || (rest == middle && (kept & 1) != 0));\n"
                   "    if (from > $B) size += (from - $B - 1) << $F; /* with the leading 1 the exponent is one more */\n"
                   "    return (uint16_t)(sign | (size < $Eu << $F ? size : $Eu << $F));\n}\n",
                   to);
    }

    std::set<std::pair<operation, scalar_type>> used_;
    std::set<std::pair<scalar_type, scalar_type>> conversions_, bits_, halves_;
    std::set<scalar_type> floors_;
};

/// Writes the value of a node of semantics, each operation as a line: `const int32_t v5 = add_int32(v3, v4, &o5);`.
class c_value {
  public:
    struct written {
        std::string value, off;  ///< names; `off` is empty where the value is always defined
    };
    /// @param access  `access(node)`: the C expression of an element that is read
    template <class Access>
    c_value(computation_view nodes, ir::stage const& of, c_operations& operations, std::string indent, Access const& access)
        : nodes_(nodes), stage_(of), operations_(operations), indent_(std::move(indent)), access_(access) {}

    /// Appends the lines that compute node `root`.
    written write(int root, std::string& lines) {
        std::vector<bool> needed(static_cast<std::size_t>(root) + 1);
        needed[static_cast<std::size_t>(root)] = true;
        off_.resize(std::max(off_.size(), needed.size()));
        known_.resize(off_.size());
        for (int at = root; at >= 0; --at) {
            ir::node const& n = nodes_[at];
            if (!needed[static_cast<std::size_t>(at)] || is_leaf(n)) continue;
            for (int argument = 0; argument < n.argument_count; ++argument)
                needed[static_cast<std::size_t>(int(n.argument(argument)))] = true;
        }
        for (int at = 0; at <= root; ++at) {
            if (!needed[static_cast<std::size_t>(at)] || known_[static_cast<std::size_t>(at)]) continue;
            known_[static_cast<std::size_t>(at)] = true;
            write_node(at, lines);
        }
        return {name(at_value, root), off_[static_cast<std::size_t>(root)] ? name(at_off, root) : std::string()};
    }
    static std::string constant(scalar_type type, std::int64_t value) {
        if (type == scalar_type::boolean) return value != 0 ? "true" : "false";
        char text[48]{};
        if (is_float(type)) {
            std::snprintf(text, sizeof text, "%a%s", std::bit_cast<double>(value), type == scalar_type::float32 ? "f" : "");
            double const number = std::bit_cast<double>(value);
            if (std::isnan(number)) return "(0.0f / 0.0f)";
            return std::isinf(number) ? (number < 0 ? "(-1.0f / 0.0f)" : "(1.0f / 0.0f)") : std::string(text);
        }
        if (is_unsigned(type)) return "UINT64_C(" + std::to_string(static_cast<std::uint64_t>(value)) + ")";
        return value == INT64_MIN ? "INT64_MIN" : "INT64_C(" + std::to_string(value) + ")";
    }

  private:
    static constexpr char at_value = 'v', at_off = 'o';
    static std::string name(char kind, int node) { return kind + std::to_string(node); }
    static bool is_leaf(ir::node const& n) {
        return n.op == operation::access || n.op == operation::constant || n.op == operation::axis_value;
    }
    std::string value_of(ir::node const& n, int argument) const { return name(at_value, n.argument(argument)); }

    void write_node(int at, std::string& lines) {
        ir::node const& n = nodes_[at];
        std::string const type = c_type_of(n.type), head = indent_ + "const " + type + " " + name(at_value, at) + " = ";
        if (n.op == operation::constant) return void(lines += head + "(" + type + ")" + constant(n.type, n.value) + ";\n");
        if (n.op == operation::axis_value) return void(lines += head + "(" + type + ")x" + std::to_string(stage_.find(n.name)) + ";\n");
        if (n.op == operation::access) return void(lines += head + access_(at) + ";\n");
        std::string text;
        bool const can = n.op == operation::cast && is_float(nodes_[n.argument(0)].type) && !is_float(n.type) && !is_half(n.type) &&
                         n.type != scalar_type::boolean;
        bool const calls = is_function(n.op);
        std::string off = inherited_off(n);
        if (can || (calls && may_be_off(n))) off = off.empty() ? "false" : off;
        off_[static_cast<std::size_t>(at)] = !off.empty();
        if (!off.empty()) lines += indent_ + (can || calls ? "bool " : "const bool ") + name(at_off, at) + " = " + off + ";\n";
        std::string const pointer = off.empty() ? "&unused" : "&" + name(at_off, at);
        auto const a = [&] { return value_of(n, 0); };
        auto const b = [&] { return value_of(n, 1); };
        if (can) text = operations_.use_conversion(nodes_[n.argument(0)].type, n.type) + "(" + a() + ", " + pointer + ")";
        else if (calls) text = operations_.use(n.op, n.type) + "(" + a() + ", " + b() + ", " + pointer + ")";
        else text = plain(n, type, a, b);
        lines += head + text + ";\n";
    }
    template <class A, class B>
    std::string plain(ir::node const& n, std::string const& type, A const& a, B const& b) const {
        switch (n.op) {
            case operation::cast: {
                scalar_type const from = nodes_[n.argument(0)].type;
                if (is_half(from) != is_half(n.type)) return operations_.use_half(from, n.type) + "(" + a() + ")";
                return n.type == scalar_type::boolean ? a() + " != 0" : "(" + type + ")" + a();
            }
            case operation::reinterpret: return operations_.use_bits(nodes_[n.argument(0)].type, n.type) + "(" + a() + ")";
            case operation::logical_not: return "!" + a();
            case operation::logical_and: return a() + " && " + b();
            case operation::logical_or: return a() + " || " + b();
            case operation::minimum: return b() + " < " + a() + " ? " + b() + " : " + a();
            case operation::maximum: return a() + " < " + b() + " ? " + b() + " : " + a();
            case operation::select: return a() + " ? " + b() + " : " + value_of(n, 2);
            default: return a() + " " + name_of(n.op) + " " + b();
        }
    }
    static bool is_function(operation op) {
        using enum operation;
        return op == add || op == subtract || op == multiply || op == divide || op == modulo || op == shift_left || op == shift_right;
    }
    static bool may_be_off(ir::node const& n) {
        bool const shift = n.op == operation::shift_left || n.op == operation::shift_right;
        return shift || (may_not_overflow(n.type) && n.op != operation::modulo);
    }
    /// A choice depends on what it takes.
    std::string inherited_off(ir::node const& n) const {
        auto const of = [&](int argument) {
            int const at = n.argument(argument);
            return off_[static_cast<std::size_t>(at)] ? name(at_off, at) : std::string();
        };
        if (n.op == operation::select) {
            std::string const condition = of(0), then = of(1), otherwise = of(2);
            std::string chosen;
            if (!then.empty() || !otherwise.empty())
                chosen = "(" + value_of(n, 0) + " ? " + (then.empty() ? "false" : then) + " : " +
                         (otherwise.empty() ? "false" : otherwise) + ")";
            return condition.empty() ? chosen : chosen.empty() ? condition : condition + " || " + chosen;
        }
        std::string all;
        for (int argument = 0; argument < n.argument_count; ++argument) {
            std::string const one = of(argument);
            if (!one.empty()) all += (all.empty() ? "" : " || ") + one;
        }
        return all;
    }

    computation_view nodes_;
    ir::stage const& stage_;
    c_operations& operations_;
    std::string indent_;
    std::function<std::string(int)> access_;
    std::vector<bool> off_, known_;
};

}  // namespace tilewright::bring_up
