#include <tilewright/base/bad_query.hpp>

#include <string>

#include "catch.hpp"

using namespace tilewright;

TEST_CASE("a question without an answer says what it asked for") {
    CHECK(std::string(bad_query("spad", " is not a memory of the program").what()) == "`spad` is not a memory of the program");
    CHECK(std::string(bad_query("no candidate has a plan").what()) == "no candidate has a plan");
    std::exception const& caught = bad_query("as any exception");
    CHECK(std::string(caught.what()) == "as any exception");
}

TEST_CASE("a text that is too long is cut") {
    std::string const whole(bad_query::longest, 'x');
    CHECK(bad_query(whole.c_str()).what() == whole);
    CHECK(bad_query((whole + "y").c_str()).what() == whole);
}
