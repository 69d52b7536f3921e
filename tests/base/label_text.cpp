#include <tilewright/base/label_text.hpp>

#include "catch.hpp"

using tilewright::ir::label;

TEST_CASE("a name as text is the name") {
    CHECK(label().str().empty());
    CHECK(label("spad").str() == "spad");
    CHECK(label("three_and_twenty_letter").str() == "three_and_twenty_letter");
}

TEST_CASE("a name that was cut is marked") { CHECK(label("four_and_twenty_letters_").str() == "four_and_twenty_letters~"); }
