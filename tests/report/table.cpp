#include <tilewright/report/table.hpp>

#include "catch.hpp"

using namespace tilewright;
using namespace tilewright::reports;

TEST_CASE("thousands are apart") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(4194304) == "4,194,304");
    CHECK(grouped(-999) == "-999");
    CHECK(grouped(-1000) == "-1,000");
    CHECK(grouped(-123456) == "-123,456");
}

TEST_CASE("percents are rounded to one decimal, and nothing has no parts") {
    CHECK(percent(8192, 262144) == "3.1 %");  // 3.125
    CHECK(percent(1, 3) == "33.3 %");
    CHECK(percent(2, 3) == "66.7 %");
    CHECK(percent(5, 5) == "100.0 %");
    CHECK(percent(3, 2) == "150.0 %");
    CHECK(percent(0, 7) == "0.0 %");
    CHECK(percent(1, 0) == "-");
}

TEST_CASE("a bar has a column for each that is begun") {
    CHECK(filled_columns(0, 10, 4, '.') == "....");
    CHECK(filled_columns(1, 10, 4, '.') == "#...");
    CHECK(filled_columns(5, 10, 4, '.') == "##..");
    CHECK(filled_columns(6, 10, 4, '.') == "###.");
    CHECK(filled_columns(12, 10, 4, '.') == "####");
    CHECK(filled_columns(1, 0, 4, ' ') == "    ");
}

TEST_CASE("columns are as wide as their widest cell, and lines end with their last letter") {
    using enum table::side;
    table t({left, right, left});
    t.add({"a", "1", "x"});
    t.add({"long", "1,000", ""});
    t.add({"b"});
    CHECK(t.str("> ") == "> a         1  x\n> long  1,000\n> b\n");
}
