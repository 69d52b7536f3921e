#include "kernels/halves.hpp"

#include <algorithm>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "brain_rows.h"
#include "catch.hpp"
#include "half_matmul.h"

// Kernels with elements of 16 bits, called with arrays of `float16` and `bfloat16`: an object, and C.

using namespace tilewright;

TEST_CASE("an object takes arrays of float16") {
    std::vector<float16> left(24 * 40), right(40 * 32), result(24 * 32);
    for (std::size_t at = 0; at < left.size(); ++at) left[at] = float16(static_cast<float>(at % 37) / 8 - 2.0f);
    for (std::size_t at = 0; at < right.size(); ++at) right[at] = float16(0.1f * static_cast<float>(at % 23));
    REQUIRE(call<halves::half_matmul>(half_matmul, left, right, result) == 0);
    int wrong = 0;
    for (std::size_t y = 0; y < 24; ++y) {
        for (std::size_t x = 0; x < 32; ++x) {
            float sum = 0;
            for (std::size_t z = 0; z < 40; ++z) sum += left[y * 40 + z] * right[z * 32 + x];
            wrong += result[y * 32 + x].bits != float16(sum).bits;
        }
    }
    CHECK(wrong == 0);
}
TEST_CASE("C takes arrays of bfloat16") {
    std::vector<bfloat16> rows(20 * 48), result(20 * 48);
    for (std::size_t at = 0; at < rows.size(); ++at) rows[at] = bfloat16(static_cast<float>(at));
    REQUIRE(brain_rows(&rows[0].bits, 48, &result[0].bits, 48) == 0);
    int wrong = 0;
    for (int y = 0; y < 20; ++y) {
        for (int x = 0; x < 48; ++x) {
            bool const is_border = y < 2 || x + 1 >= 48;
            float const wanted = is_border ? 0.5f : float(rows[static_cast<std::size_t>((y - 2) * 48 + x + 1)]);
            wrong += float(result[static_cast<std::size_t>(y * 48 + x)]) != wanted;
        }
    }
    CHECK(wrong == 0);
}
