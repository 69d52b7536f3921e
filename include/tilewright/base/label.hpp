#pragma once
#include <cstdint>
#include <initializer_list>
#include <tilewright/base/fixed_array.hpp>

namespace tilewright::ir {

/// A name of at most 23 characters, held in three words so that comparing it in the compiler costs three comparisons.
///
/// A longer text is cut and marked with its length; the planner refuses a marked name (`capacity_of_representation`) instead of
/// confusing two names that share their beginning.
struct label {
    static constexpr int longest = 23;

    fixed_array<std::uint64_t, 3> words{};

    constexpr label() = default;
    constexpr label(char const* text) {
        // One word after the other, in a variable: the compiler takes longer to change a member.
        int position = 0;
        for (std::uint64_t word = 0; *text != '\0' && position < longest; word = 0) {
            int const at = position / 8;
            for (int shift = 0; shift < 64 && *text != '\0' && position < longest; shift += 8, ++text, ++position) {
                word |= static_cast<std::uint64_t>(static_cast<unsigned char>(*text)) << shift;
            }
            words.elements[at] = word;
        }
        if (*text == '\0') return;
        while (*text != '\0' && position < 0xff) ++text, ++position;
        words[2] |= static_cast<std::uint64_t>(position) << 56;
    }
    // What a compiler says to a std::string: names are texts as constants have them.
    template <template <class, class, class> class takes_a_literal_or_c_str, class Traits, class Allocator>
    label(takes_a_literal_or_c_str<char, Traits, Allocator> const&) = delete;

    /// The letter at `position`; `~` after a text that was cut.
    constexpr char operator[](int position) const { return position == longest && cut() ? '~' : byte(position); }
    constexpr int size() const {
        int length = 0;
        for (int at = 0; at < 3; ++at) {
            for (std::uint64_t rest = words.elements[at]; rest != 0; rest >>= 8) ++length;
        }
        return length;
    }
    /// Whether generated code can use the name as it is.
    constexpr bool is_identifier() const {
        std::uint64_t const begin = words.elements[0] & 0xff;
        if (begin == 0 || (begin >= '0' && begin <= '9')) return false;
        for (int at = 0; at < 3; ++at) {
            for (std::uint64_t rest = words.elements[at]; rest != 0; rest >>= 8) {
                std::uint64_t const letter = rest & 0xff, small = letter | 0x20;
                if (!((small >= 'a' && small <= 'z') || (letter >= '0' && letter <= '9') || letter == '_')) return false;
            }
        }
        return true;
    }
    constexpr bool empty() const { return words.elements[0] == 0; }
    constexpr bool cut() const { return words.elements[2] >> 56 != 0; }
    /// Letters of the text that the name was made from, up to 255.
    constexpr int full_size() const { return cut() ? static_cast<unsigned char>(byte(longest)) : size(); }

    /// The first letters of a name that is too long to be shown.
    constexpr label beginning() const {
        label first;
        first.words = {words[0], std::uint64_t{'~'} << 56 | (words[1] & ~(std::uint64_t{0xff} << 56)), 0};
        return first;
    }

    /// This name, a letter, and another name. @pre they fit
    constexpr label followed_by(char letter, label const& other) const {
        int const end = size(), after = end + 1;
        label made = *this;
        made.words.elements[end / 8] |= static_cast<std::uint64_t>(static_cast<unsigned char>(letter)) << end % 8 * 8;
        for (int from = 0, to = after / 8, shift = after % 8 * 8; to < 3; ++from, ++to) {
            made.words.elements[to] |= other.words.elements[from] << shift;
            if (shift > 0 && to < 2) made.words.elements[to + 1] |= other.words.elements[from] >> (64 - shift);
        }
        return made;
    }

    /// Three comparisons of elements, without a call for each: the compiler evaluates this more often than anything else. Loops over
    /// names compare the first word themselves, in which most names differ.
    friend constexpr bool operator==(label const& a, label const& b) {
        return a.words.elements[0] == b.words.elements[0] && a.words.elements[1] == b.words.elements[1] &&
               a.words.elements[2] == b.words.elements[2];
    }

    /// The name as a std::string. Include `base/label_text.hpp`, which defines it: a plan needs no <string>.
    auto str() const;

  private:
    constexpr char byte(int position) const { return static_cast<char>(words.elements[position / 8] >> (8 * (position % 8)) & 0xff); }
};

/// The name of what a wrong call has made: the compiler has refused it, and plans say nothing more.
inline constexpr label wrong_call{"(call)"};

/// `name` and `suffix` in one; cut, and marked so, where it is too long.
constexpr label joined(label const& name, label const& suffix) {
    char text[2 * label::longest + 2] = {};
    int at = 0;
    label const* const parts[] = {&name, &suffix};
    for (label const* part : parts) {
        for (int letter = 0; letter < label::longest && (*part)[letter] != '\0'; ++letter) text[at++] = (*part)[letter];
    }
    return label(text);
}

}  // namespace tilewright::ir

namespace tilewright::detail {
using namespace ir;
}
