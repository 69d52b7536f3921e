#pragma once
#include <Halide.h>

#include <cctype>
#include <map>
#include <string>
#include <tilewright/base/list.hpp>

// Names in the generated program: those of users beside those that are made for them.
namespace tilewright::halide {

/// How buffers and variables of a plan are called in the generated code.
struct code_names {
    ir::list<std::string> buffers;
    ir::list<std::string> variables;
    std::map<std::string, Halide::Expr> parameters;
};

/// What the generated program calls a thing of the plan: "b2_A" is buffer 2, the user's A.
///
/// Halide makes names of a letter and a number, of a name and `$`, and of a name and what follows a dot; its C source writes dots as `_`.
/// With its kind and number in front no name of a user's is one of these, and what is derived from two names differs, too.
inline std::string code_name(char kind, int number, std::string const& name) {
    std::string word = kind + std::to_string(number) + "_";
    for (char letter : name) {
        char const kept = letter == '.' || std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
        // Names of arguments hold no `__`.
        if (kept != '_' || word.back() != '_') word += kept;
    }
    return word;
}

namespace detail {

/// What follows it in a name tells values apart, and is no part of the word that C has for them.
inline constexpr char number_apart = '@';

/// The user's part of a name that the generated program has.
inline std::string plain_name(std::string const& name) {
    std::size_t at = 1;
    while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0) ++at;
    bool const made = at > 1 && at + 1 < name.size() && name[at] == '_' && std::islower(static_cast<unsigned char>(name[0])) != 0;
    std::string const word = made ? name.substr(at + 1) : name;
    return word.substr(0, word.find(number_apart));
}

}  // namespace detail
}  // namespace tilewright::halide
