#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tilewright/import/lowering.hpp>
#include <variant>

// Which operators of ONNX are imported: from which opset on, with which attributes. A model that has others is refused, since what they
// mean is not known.
namespace tilewright::imported {

/// Whose operators those are that ONNX Runtime has and ONNX does not.
inline constexpr char microsoft_domain[] = "com.microsoft";
/// Whose operators are those that a rewriting makes and ONNX does not have: see quantised_pairs.hpp.
inline constexpr char rewritten_domain[] = "tilewright";

/// The newest opset of ONNX of which is known what its operators mean: that of ONNX 1.22.
inline constexpr std::int64_t newest_onnx_opset = 27;
/// Likewise, of ONNX Runtime's own operators.
inline constexpr std::int64_t newest_microsoft_opset = 1;

/// An operator that is imported: its name, and what makes its kernels.
struct operator_entry {
    std::string_view name;
    void (*make)(lowering&);

    /// The first opset in which the operator means what is imported. Of operators of TensorFlow Lite, neither this nor what follows counts.
    std::int64_t since = 1;

    /// The attributes that may be there: those that `make` reads, and those that change no result that is imported. `name<7` may be there
    /// before opset 7 alone, and `name=0,1` is an integer that has to be one of these.
    std::string_view attributes = {};

    std::string_view domain = {};  ///< whose operator; empty for the format's own
    std::int64_t until = 0;        ///< the last opset that has the operator, where there is one
};

namespace detail {

/// The first word of a list, which loses it and the character behind it.
inline std::string_view first_word(std::string_view& list, char between) {
    std::size_t const end = std::min(list.find(between), list.size());
    std::string_view const word = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    return word;
}
inline std::int64_t number_of_text(std::string_view text) {
    std::int64_t made = 0;
    std::from_chars(text.data(), text.data() + text.size(), made);
    return made;
}

/// @throws not_imported  where the operator means something else in the opset of the model, or what it means is not known
inline void need_known_opset(operator_entry const& known, network::node const& of) {
    std::int64_t const newest = known.domain == microsoft_domain ? newest_microsoft_opset : newest_onnx_opset;
    std::string const opset = "opset " + std::to_string(of.version) + (known.domain == microsoft_domain ? " of com.microsoft" : "");
    if (of.version > newest) throw not_imported(opset + " is newer than " + std::to_string(newest) + ", the newest that is known");
    if (of.version < known.since)
        throw not_imported(opset + " is older than " + std::to_string(known.since) + ", the first from which this operator is imported");
    if (known.until != 0 && of.version > known.until)
        throw not_imported(opset + " is newer than " + std::to_string(known.until) + ", the last that has this operator");
}
/// @throws not_imported  where an attribute may change what the operator computes, and is not imported
inline void need_known_attribute(operator_entry const& known, std::int64_t opset, network::attribute const& one) {
    // Before opset 6, any operator could say which operands it overwrites.
    if (one.name == "consumed_inputs" && opset < 6) return;
    for (std::string_view left = known.attributes; !left.empty();) {
        std::string_view word = first_word(left, ' ');
        std::string_view const name = word.substr(0, word.find_first_of("<="));
        if (name != one.name) continue;
        if (name == word) return;
        std::string_view values = word.substr(name.size() + 1);
        if (word[name.size()] == '<') {
            if (opset < number_of_text(values)) return;
            throw not_imported("attribute " + network::shown(one.name) + " is not one of opset " + std::to_string(opset) +
                               ": opsets before " + std::string(values) + " have it");
        }
        auto const* const given = std::get_if<std::int64_t>(&one.value);
        if (given == nullptr) throw not_imported("attribute " + network::shown(one.name) + " is no integer");
        while (!values.empty()) {
            if (number_of_text(first_word(values, ',')) == *given) return;
        }
        throw not_imported("attribute " + network::shown(one.name) + " of " + std::to_string(*given) + " is not imported");
    }
    throw not_imported("attribute " + network::shown(one.name) + " is not known");
}
/// @throws not_imported  where the opset of the model or an attribute of the node is none that the operator is imported with
inline void need_known_settings(operator_entry const& known, network::node const& of) {
    need_known_opset(known, of);
    for (network::attribute const& one : of.attributes) need_known_attribute(known, of.version, one);
}
/// The operator of a node, or null.
inline operator_entry const* entry_of(std::span<operator_entry const> operators, network::node const& of) {
    auto const found = std::find_if(operators.begin(), operators.end(),
                                    [&](operator_entry const& one) { return one.domain == of.domain && one.name == of.operation; });
    return found == operators.end() ? nullptr : &*found;
}

/// Whether such an entry is there, and takes the node's opset and attributes.
inline bool has_known_settings(std::span<operator_entry const> operators, network::node const& of) {
    operator_entry const* const known = entry_of(operators, of);
    if (known == nullptr) return false;
    try {
        need_known_settings(*known, of);
    } catch (not_imported const&) {
        return false;
    }
    return true;
}

}  // namespace detail

}  // namespace tilewright::imported
