#pragma once
#include <cctype>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// Words of generated C: those of users beside those that are made for them, and what C keeps for itself.
namespace tilewright::halide::detail {

/// Whether a word has a meaning of its own in C, in C++, which reads headers, or in what C source includes.
inline bool is_reserved(std::string const& word) {
    static std::set<std::string_view> const words{
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char8_t",
        "char16_t", "char32_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval",
        "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
        "export", "extern", "false", "float", "for", "fortran", "friend", "goto", "if", "inline", "int", "long", "max_align_t", "mutable",
        "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "nullptr_t", "offsetof", "operator", "or", "or_eq", "private",
        "protected", "ptrdiff_t", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "size_t",
        "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
        "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union", "unreachable", "unsigned", "using", "virtual", "void",
        "volatile", "wchar_t", "while", "xor", "xor_eq",
        // of the library, or of the compiler where it is not strict
        "EOF", "NULL", "main", "memcpy", "i386", "linux", "unix", "arm", "hpux", "mips", "sparc", "sun", "vax"};
    auto const begins = [&](std::string_view with) { return word.compare(0, with.size(), with) == 0; };
    bool const of_a_type = (begins("int") || begins("uint")) && word.size() > 5 && word.compare(word.size() - 2, 2, "_t") == 0;
    std::size_t const number = begins("INT") ? 3 : begins("UINT") ? 4 : 0;  // INT8_MAX, UINT64_C, INTPTR_MAX
    bool limits = number > 0 && word.size() > number &&
                  (word[number] == '_' || std::isdigit(static_cast<unsigned char>(word[number])) != 0 ||
                   word.compare(number, 3, "PTR") == 0 || word.compare(number, 3, "MAX") == 0);
    for (char const* macro : {"SIZE_", "PTRDIFF_", "WCHAR_", "WINT_", "SIG_ATOMIC_", "FLT_", "DBL_", "LDBL_", "DECIMAL_"})
        limits |= begins(macro);
    return words.count(word) != 0 || of_a_type || limits || begins("tilewright_") || begins("TILEWRIGHT_") || begins("halide_");
}

inline bool is_word_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether a text of C has a word.
inline bool has_word(std::string const& text, std::string const& word) {
    for (std::size_t found = text.find(word); found != std::string::npos; found = text.find(word, found + 1)) {
        std::size_t const end = found + word.size();
        if ((found == 0 || !is_word_letter(text[found - 1])) && (end == text.size() || !is_word_letter(text[end]))) return true;
    }
    return false;
}

/// The words of one piece of generated C: each stands for one thing. Words of users come first and stay what they are, if they can.
/// Generated words avoid them. At file scope, generated words begin with `tilewright_` or with the kernel's name.
class c_names {
  public:
    void reserve(std::string const& word) { taken_.insert(word); }
    /// A word that nothing else has: `name`, or one that holds it.
    /// @param families  suffixes that make more words of it
    std::string take(std::string const& name, std::vector<std::string> const& families = {}) {
        std::string word;
        for (char letter : name) word += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
        // Words that begin with an underscore are the compiler's.
        if (word.empty() || word[0] == '_' || std::isdigit(static_cast<unsigned char>(word[0])) != 0) word = "v" + word;
        if (is_reserved(word)) word = "v_" + word;
        std::string const first = word;
        auto const is_taken = [&](std::string const& whole) {
            bool found = taken_.count(whole) != 0;
            for (std::string const& more : families) found |= taken_.count(whole + more) != 0;
            return found;
        };
        for (int number = 2; is_taken(word); ++number) word = first + "_" + std::to_string(number);
        taken_.insert(word), made_.insert(word);
        for (std::string const& more : families) taken_.insert(word + more);
        return word;
    }
    void give_back(std::string const& word) { taken_.erase(word); }
    /// All words that `take` has returned, those that were given back, too.
    std::set<std::string> const& made() const { return made_; }

  private:
    std::set<std::string> taken_, made_;
};

/// The name of a kernel's or program's function, and of its files.
/// @throws std::invalid_argument where C cannot call it so
inline void check_function_name(std::string const& name) {
    bool good = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && name[0] != '_' && !is_reserved(name);
    for (char letter : name) good = good && (letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0);
    if (!good) throw std::invalid_argument("no function of C can be called `" + name + "`: name the kernel otherwise");
}

}  // namespace tilewright::halide::detail
