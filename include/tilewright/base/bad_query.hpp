#pragma once
#include <new>  // has std::exception, at a seventh of the cost of <exception>
#include <tilewright/base/label.hpp>

#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace tilewright {

/// A question that a plan or a program has no answer to: a name that it does not have, a number that is not resolved, extents that are left
/// to run time. In the compiler, it is an error there.
///
/// It holds its text itself: `<string>`, which the types of `<stdexcept>` need, would be a quarter of what a compiler reads for a plan.
class bad_query : public std::exception {
  public:
    static constexpr int longest = 160;

    /// The text, with `name` in quotes in front of it. Letters beyond `longest` are cut.
    explicit bad_query(ir::label const& name, char const* text) {
        put('`');
        for (int position = 0; position < name.size(); ++position) put(name[position]);
        put('`');
        put(text);
    }
    explicit bad_query(char const* text) { put(text); }

    char const* what() const noexcept override { return letters_; }

  private:
    void put(char letter) {
        if (size_ < longest) letters_[size_++] = letter;
    }
    void put(char const* text) {
        while (*text != '\0') put(*text++);
    }

    char letters_[longest + 1] = {};
    int size_ = 0;
};

namespace detail {
/// Throws what it is given. Under -fno-exceptions it prints the text and aborts.
[[noreturn]] inline void throw_or_abort(bad_query const& why) {
#if defined(__cpp_exceptions)
    throw why;
#else
    std::fprintf(stderr, "tilewright: %s\n", why.what());
    std::abort();
#endif
}
}  // namespace detail

}  // namespace tilewright
