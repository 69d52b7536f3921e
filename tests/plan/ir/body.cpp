#include <tilewright/plan/ir/body.hpp>

#include "catch.hpp"

// What one iteration of a tile body costs.

using namespace tilewright::ir;

TEST_CASE("operations cost what the core says of each, and waits of memories come on top") {
    operation_counts const counts{.load = 2, .store = 1, .arithmetic = 3, .multiply = 4, .divide = 5, .convert = 6, .wait = 7};
    tilewright::operation_costs const cost{
        .load = 1, .store = 10, .arithmetic = 100, .multiply = 1'000, .divide = 10'000, .convert = 100'000};
    CHECK(cycles_of(counts, cost) == 654'312 + 7);
    CHECK(cycles_of({}, cost) == 0);
}
