#include <tilewright/c_source/alike.hpp>

#include "catch.hpp"

using tilewright::halide::detail::c_own_words;
using tilewright::halide::detail::c_unnamed;

// What is left of C without the names of what is its own.

namespace {

/// Whether two texts are the same but for their own words, which are also those of remarks.
bool alike(std::string const& one, std::set<std::string> const& own, std::string const& other, std::set<std::string> const& others) {
    c_own_words const first{own, own}, second{others, others};
    return c_unnamed(first).of(one) == c_unnamed(second).of(other);
}

}  // namespace

TEST_CASE("own words may be others, one to one") {
    CHECK(alike("int f(int a, int b) { return a - b; }", {"f", "a", "b"}, "int g(int x, int y) { return x - y; }", {"g", "x", "y"}));
    // The names of two parameters are exchanged: positions count.
    CHECK(alike("int f(int a, int b) { return a - b; }", {"f", "a", "b"}, "int f(int b, int a) { return b - a; }", {"f", "a", "b"}));
    CHECK(!alike("int f(int a, int b) { return a - b; }", {"f", "a", "b"}, "int f(int a, int b) { return b - a; }", {"f", "a", "b"}));
    // Two words are one in the other text.
    CHECK(!alike("a = b + a;", {"a", "b"}, "x = x + x;", {"x"}));
    CHECK(!alike("x = x + x;", {"x"}, "a = b + a;", {"a", "b"}));
}
TEST_CASE("words of others are equal") {
    CHECK(!alike("a = add(a);", {"a"}, "x = sub(x);", {"x"}));
    CHECK(!alike("int32_t a;", {"a"}, "int16_t x;", {"x"}));
    // Of one text it is its own, of the other it is not.
    CHECK(!alike("a = b;", {"a", "b"}, "a = b;", {"a"}));
    CHECK(!alike("a = sub(a);", {"a", "sub"}, "a = sub(a);", {"a"}));
}
TEST_CASE("numbers are equal, with every letter") {
    CHECK(!alike("a = 10;", {"a"}, "x = 11;", {"x"}));
    CHECK(!alike("a = 0.5f;", {"a"}, "x = 0.5;", {"x"}));
    CHECK(!alike("a = 1e5f;", {"a", "e5f"}, "x = 1e6f;", {"x", "e6f"}));
    CHECK(!alike("a = 10u;", {"a", "u"}, "x = 10v;", {"x", "v"}));
    // Whatever tensors are called.
    CHECK(!alike("a = 1.0;", {"a", "1.0", "1"}, "x = 2.0;", {"x", "2.0", "2"}));
    CHECK(!alike("/* a = 1.0 */", {"a", "1.0", "1"}, "/* x = 2.0 */", {"x", "2.0", "2"}));
}
TEST_CASE("lines may break elsewhere, and words are not joined") {
    CHECK(alike("a = b +\n        a;", {"a", "b"}, "long_name = other + long_name;", {"long_name", "other"}));
    CHECK(!alike("a = + +b;", {"a", "b"}, "a = ++b;", {"a", "b"}));
}
TEST_CASE("remarks say the same of tensors of other names, which need not be words of C") {
    c_own_words const first{{"conv_1"}, {"conv_1", "conv.1", "conv"}}, second{{"conv_22"}, {"conv_22", "conv.22", "conv"}};
    auto const same = [&](char const* one, char const* other) { return c_unnamed(first).of(one) == c_unnamed(second).of(other); };
    CHECK(same("/* bring conv.1[0, 4] */ conv_1 = 1;", "/* bring conv.22[0, 4] */ conv_22 = 1;"));
    CHECK(!same("/* bring conv.1[0, 4] */", "/* bring conv.22[0, 5] */"));
    CHECK(!same("/* bring conv.1[0, 4] */", "/* move conv.22[0, 4] */"));
    CHECK(!same("/* bring conv.1 */", "/* bring conv.2 */"));
    // In code they are no words.
    CHECK(!same("conv.1", "conv.22"));
}
