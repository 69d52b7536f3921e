#include <tilewright/c_source/lines.hpp>

#include "catch.hpp"

using tilewright::halide::detail::c_line;
using tilewright::halide::detail::chained;
using tilewright::halide::detail::end_with_code;
using tilewright::halide::detail::text_of;

// Lines of a C function, by hand.

namespace {

std::string ended(std::vector<c_line> lines) {
    end_with_code(lines, "status");
    std::string text;
    for (c_line const& one : lines) text += text_of(one);
    return text;
}

}  // namespace

TEST_CASE("a function that ends with a call returns its code") {
    CHECK(ended({{1, "status = f(1);"}, {1, "if (status != 0) return status;"}}) == "    return f(1);\n");
    CHECK(ended({{1, "status = f(1);"},
                 {1, "if (status != 0) return status;"},
                 {1, "status = g();"},
                 {1, "if (status != 0) return status;"}}) == "    status = f(1);\n    if (status != 0) return status;\n    return g();\n");
}
TEST_CASE("a function that ends otherwise returns 0") {
    CHECK(ended({}) == "    return 0;\n");
    CHECK(ended({{1, "a[0] = 1;"}}) == "    a[0] = 1;\n    return 0;\n");
    // In a loop, other calls follow; and a fence follows a call.
    CHECK(ended({{1, "for (;;) {"}, {2, "status = f();"}, {2, "if (status != 0) return status;"}, {1, "}"}}).find("return 0;") !=
          std::string::npos);
    CHECK(ended({{1, "status = f();"}, {1, "TILEWRIGHT_FENCE();"}, {1, "if (status != 0) return status;"}}) ==
          "    status = f();\n    TILEWRIGHT_FENCE();\n    if (status != 0) return status;\n    return 0;\n");
    // Something is in flight.
    CHECK(ended({{1, "status = f();"}, {1, "if (status != 0) goto drain;"}}).find("return 0;") != std::string::npos);
}
TEST_CASE("a long line goes on after a comma, a remark after a word") {
    std::string const word(50, 'a');
    CHECK(text_of({1, "f(" + word + ", " + word + ", " + word + ");"}) ==
          "    f(" + word + ", " + word + ",\n            " + word + ");\n");
    CHECK(text_of({1, "/* " + word + " " + word + " " + word + " */"}) == "    /* " + word + " " + word + "\n       " + word + " */\n");
    CHECK(text_of({0, "short;"}) == "short;\n");
}
TEST_CASE("directives are chained, and those of a stage begin a line") {
    std::string const letters(100, 'a');
    CHECK(chained({}).empty());
    CHECK(chained({".split(i, io, ii, 8)", ".vectorize(ii)", ".stage(s)", ".unroll(k)"}) ==
          " *     .split(i, io, ii, 8).vectorize(ii)\n *     .stage(s).unroll(k)\n");
    // 7 + 100 + 13 letters are a line.
    CHECK(chained({letters, ".aaaaaaaaaaa)", ".b()"}) == " *     " + letters + ".aaaaaaaaaaa)\n *     .b()\n");
    CHECK(chained({letters, ".aaaaaaaaaaaa)"}) == " *     " + letters + "\n *     .aaaaaaaaaaaa)\n");
}
