#pragma once
#include <cstdint>

// Common divisors and multiples. `<numeric>` has them too, but brings the parallel algorithms along: a fortieth of what a compiler spends
// on all headers that describe and plan kernels.
namespace tilewright::detail {

/// The greatest number that divides both; the other one where one is 0. Never negative.
constexpr std::int64_t gcd(std::int64_t a, std::int64_t b) {
    while (b != 0) {
        std::int64_t const rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}
/// The least positive multiple of both; 0 where one is 0.
constexpr std::int64_t lcm(std::int64_t a, std::int64_t b) {
    if (a == 0 || b == 0) return 0;
    std::int64_t const multiple = a / gcd(a, b) * b;
    return multiple < 0 ? -multiple : multiple;
}

}  // namespace tilewright::detail
