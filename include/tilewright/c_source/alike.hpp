#pragma once
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tilewright/c_source/names.hpp>
#include <vector>

// Pieces of C that differ in nothing but the names of what is their own. Does not need Halide.
namespace tilewright::halide::detail {

/// Words of a piece of C that could be any others: nothing outside it is called so, or it has to be told.
struct c_own_words {
    std::set<std::string> in_code;     ///< its functions, their parameters and variables
    std::set<std::string> in_remarks;  ///< likewise, and what its comments call them: "conv.1"
};

/// A text with a number for each word of its own, counted as they first occur, and with one space where there are any. Two texts are the
/// same then if one is the other with its own words renamed, one to one. Everything else is equal: what others define, numbers, operators,
/// and, as parameters are counted in their order, the position of each parameter.
class c_unnamed {
  public:
    explicit c_unnamed(c_own_words const& own) : own_(own) {
        for (std::string const& word : own.in_remarks) {
            if (!std::all_of(word.begin(), word.end(), is_word_letter)) of_several_.push_back(word);
        }
        std::stable_sort(of_several_.begin(), of_several_.end(), [](auto const& a, auto const& b) { return a.size() > b.size(); });
    }
    std::string of(std::string const& text) {
        std::string made;
        bool in_remark = false;
        for (std::size_t at = 0; at < text.size();) {
            if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
                if (made.empty() || made.back() != ' ') made += ' ';
                ++at;
            } else if (is_word_letter(text[at])) {
                std::string const word = word_at(text, at, in_remark);
                made += is_own(word, in_remark) ? number_of(word) : word;
                at += word.size();
            } else {
                if (text.compare(at, 2, "/*") == 0) in_remark = true;
                if (text.compare(at, 2, "*/") == 0) in_remark = false;
                made += text[at++];
            }
        }
        return made;
    }

  private:
    /// The word that begins at a position: in remarks, the longest name there.
    std::string word_at(std::string const& text, std::size_t at, bool in_remark) const {
        for (std::size_t which = 0; which < of_several_.size() && in_remark; ++which) {
            std::string const& name = of_several_[which];
            std::size_t const end = at + name.size();
            if (text.compare(at, name.size(), name) == 0 && (end == text.size() || !is_word_letter(text[end]))) return name;
        }
        std::size_t end = at;
        while (end < text.size() && is_word_letter(text[end])) ++end;
        return text.substr(at, end - at);
    }
    /// What begins with a digit is a number, whatever a tensor is called.
    bool is_own(std::string const& word, bool in_remark) const {
        if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return false;
        return (in_remark ? own_.in_remarks : own_.in_code).count(word) != 0;
    }
    std::string number_of(std::string const& word) {
        auto const found = numbers_.emplace(word, numbers_.size()).first;
        return '\1' + std::to_string(found->second) + '\1';
    }

    c_own_words const& own_;
    std::vector<std::string> of_several_;  ///< names that are not one word of C, the longest first
    std::map<std::string, std::size_t> numbers_;
};

}  // namespace tilewright::halide::detail
