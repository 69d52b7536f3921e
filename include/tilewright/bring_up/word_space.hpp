#pragma once
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>

// Generated C has words of its own, and functions and types of the user's may be called the same.
namespace tilewright::bring_up {

/// Stands in front of a word of the user's, until all words are known.
inline constexpr char of_the_user = '\1';

inline std::string user_word(std::string const& word) { return of_the_user + word; }

/// The text with its own words made different from those of the user's: each that is the same gets `tilewright_` before it. Members, tags
/// of structures, texts and comments stay.
inline std::string with_own_words(std::string const& text, std::set<std::string> const& users) {
    auto const is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::string made, before;
    std::size_t at = 0;
    auto const copy_to = [&](std::size_t end) {
        made.append(text, at, end - at);
        at = end;
    };
    while (at < text.size()) {
        char const here = text[at];
        if (here == of_the_user) {
            std::size_t end = ++at;
            while (end < text.size() && is_letter(text[end])) ++end;
            copy_to(end);
        } else if (here == '"' || here == '\'') {
            std::size_t end = at + 1;
            while (end < text.size() && text[end] != here) end += text[end] == '\\' ? 2 : 1;
            copy_to(std::min(end + 1, text.size()));
        } else if (text.compare(at, 2, "/*") == 0) {
            std::size_t const end = text.find("*/", at);
            copy_to(end == std::string::npos ? text.size() : end + 2);
        } else if (is_letter(here)) {
            std::size_t end = at;
            while (end < text.size() && is_letter(text[end])) ++end;
            bool const member =
                !made.empty() && (made.back() == '.' || (made.back() == '>' && made.size() > 1 && made[made.size() - 2] == '-'));
            std::string const word = text.substr(at, end - at);
            if (!member && before != "struct" && users.count(word) != 0) made += "tilewright_";
            before = word;
            copy_to(end);
        } else copy_to(at + 1);
    }
    return made;
}

}  // namespace tilewright::bring_up
