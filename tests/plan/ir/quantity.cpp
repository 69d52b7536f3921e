#include <tilewright/plan/ir/quantity.hpp>

#include <stdexcept>
#include <tilewright/plan/check/totals.hpp>

#include "catch.hpp"

// Numbers of plans, where there are none.

using tilewright::ir::quantity, tilewright::ir::plan_value;

TEST_CASE("known numbers compare and calculate as numbers") {
    quantity const four = 4, five = 5;
    CHECK((four < five && four <= 4 && five > four && five >= 5 && four == 4 && four != five));
    CHECK_FALSE((five < four || four >= five || four != 4));
    CHECK(static_cast<double>(four * five - 2) == 18);
    CHECK(static_cast<double>((four + five) / 2) == 4.5);
}
TEST_CASE("after a refusal every comparison is true, and what is calculated from it is refused, too") {
    quantity const refused = plan_value::unknown;
    CHECK((refused == 7 && refused != 7 && refused < 7 && refused > 7 && refused <= 7 && refused >= 7));
    CHECK(((refused + 1) == 7 && (1 - refused) > 7 && (2 * refused) < -7 && (1 / refused) != 0));
    CHECK_FALSE((refused + 1).known);
}
TEST_CASE("what is not resolved has a bound and no value, but beside a refusal") {
    quantity const open = quantity::at_least(12);
    CHECK(open.value == 12);
    CHECK_THROWS_AS(open == 12, tilewright::bad_query);
    CHECK_THROWS_AS(open < 12, tilewright::bad_query);
    CHECK_THROWS_AS(static_cast<double>(open), tilewright::bad_query);
    CHECK_THROWS_AS((open + 1) > 3, tilewright::bad_query);
    CHECK(open < plan_value::unknown);
    CHECK((open + plan_value::unknown).resolved);
}
