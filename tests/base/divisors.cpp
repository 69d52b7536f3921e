#include <tilewright/base/divisors.hpp>

#include <numeric>

#include "catch.hpp"

// The standard library says what divisors and multiples are.

using tilewright::detail::gcd, tilewright::detail::lcm;

TEST_CASE("divisors and multiples are those of the standard library, whatever the signs") {
    for (std::int64_t a = -24; a <= 24; ++a) {
        for (std::int64_t b = -24; b <= 24; ++b) {
            CHECK(gcd(a, b) == std::gcd(a, b));
            CHECK(lcm(a, b) == std::lcm(a, b));
        }
    }
    CHECK(gcd(std::int64_t{1} << 40, 6'000'000'000) == std::gcd(std::int64_t{1} << 40, std::int64_t{6'000'000'000}));
    CHECK(lcm(std::int64_t{1} << 40, 6) == 3 * (std::int64_t{1} << 40));
}
