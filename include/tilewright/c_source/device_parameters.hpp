#pragma once
#include <tilewright/base/label_text.hpp>
#include <tilewright/c_source/names.hpp>
#include <tilewright/machine/machine.hpp>

// The signatures of a machine's C functions: types and names of their parameters.
namespace tilewright::halide::detail {

inline std::string literal_parameter(int position) { return "int64_t literal_" + std::to_string(position); }

/// Type and name of one parameter of a transfer's function.
inline std::string transfer_parameter(machine const& where, transfer_description const& t, call_argument const& a, int position) {
    std::string const d = std::to_string(a.dimension);
    int const in = memory_of(where, t, a);
    bool const numbered = in >= 0 && where.memories[in].is_numbered();
    switch (a.is) {
        case role::source: return numbered ? "int64_t source" : "const void *source";
        case role::destination: return numbered ? "int64_t destination" : "void *destination";
        case role::bytes: return "int64_t bytes";
        case role::row_bytes: return "int64_t row_bytes";
        case role::extent: return "int64_t extent_" + d;
        case role::source_stride: return "int64_t source_stride_" + d;
        case role::destination_stride: return "int64_t destination_stride_" + d;
        case role::pad_before: return "int64_t pad_before_" + d;
        case role::pad_after: return "int64_t pad_after_" + d;
        case role::pad_value: return "int64_t pad_value";
        case role::tag: return "int64_t tag";
        case role::channel: return "int64_t channel";
        case role::cores: return "int64_t cores";
        case role::element_bytes: return "int64_t element_bytes";
        default: return literal_parameter(position);
    }
}
inline std::string intrinsic_parameter(machine const& where, intrinsic_description const& i, call_argument const& a, int position) {
    if (a.is == role::literal) return literal_parameter(position);
    if (a.is == role::covered) return "int64_t extent_" + std::to_string(a.dimension);
    operand_constraint const& o = i.operands[a.operand];
    if (a.is == role::stride) return "int64_t " + o.tensor.str() + "_stride_" + std::to_string(a.dimension);
    if (a.is == role::value) return "int64_t " + o.tensor.str() + "_value";
    if (where.memories[memory_of(where, i, a)].is_numbered()) return "int64_t " + o.tensor.str();
    return std::string(o.is == ir::direction::reads && !o.in_place ? "const void *" : "void *") + o.tensor.str();
}
/// Of a function that sets a configuration.
inline std::string setting_parameter(call_argument const& a, int position) {
    return a.is == role::literal ? literal_parameter(position) : "int64_t value_" + std::to_string(a.dimension);
}
/// Of a function that is given one value, and maybe a channel.
inline std::string value_parameter(call_argument const& a, int position, char const* name) {
    if (a.is == role::channel) return "int64_t channel";
    return a.is == role::literal ? literal_parameter(position) : std::string("int64_t ") + name;
}
/// Of a function that cleans or invalidates a cache.
inline std::string upkeep_parameter(call_argument const& a, int position) {
    return a.is == role::core     ? "int64_t core"
           : a.is == role::source ? "const void *address"
           : a.is == role::bytes  ? "int64_t bytes"
                                  : literal_parameter(position);
}

/// The parameters of a call, each with a name of its own.
/// @param parameter  `parameter(description, position)`: type and name of one
template <class Parameter>
std::vector<std::string> parameters_of_call(device_call const& call, Parameter const& parameter) {
    std::vector<std::string> made;
    c_names names;  // what is passed twice has two
    for (int at = 0; at < call.count; ++at) {
        std::string const one = parameter(call.arguments[at], at);
        std::size_t const name = one.find_last_of(" *") + 1;
        made.push_back(one.substr(0, name) + names.take(one.substr(name)));
    }
    return made;
}
/// "int mvin(const void *source, void *destination, int64_t bytes)".
inline std::string signature_text(std::string const& symbol, std::vector<std::string> const& parameters) {
    std::string text = "int " + symbol + "(";
    for (std::size_t at = 0; at < parameters.size(); ++at) text += (at > 0 ? ", " : "") + parameters[at];
    return text + (parameters.empty() ? "void)" : ")");
}

}  // namespace tilewright::halide::detail
