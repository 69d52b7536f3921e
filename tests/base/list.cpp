#include <cstdint>
#include <stdexcept>
#include <tilewright/base/list.hpp>

#include "catch.hpp"

using tilewright::ir::list;

TEST_CASE("a list has its elements at positions of any integer type, and what is at none of them is refused where it is asked to look") {
    list<int> primes{2, 3, 5};
    list<int> const& read = primes;
    CHECK(read[0] == 2);
    CHECK(read[std::int8_t{1}] == 3);
    CHECK(read[std::size_t{2}] == 5);
    primes[std::int64_t{2}] = 7;
    CHECK(read.at(2) == 7);
    CHECK_THROWS_AS(read.at(3), std::out_of_range);
    CHECK_THROWS_AS(read.at(-1), std::out_of_range);
}

TEST_CASE("a list of truth values can be written") {
    list<bool> seen(2);
    seen[1] = true;
    CHECK(!seen[0]);
    CHECK(seen[1]);
}
