#include "host_gemm.hpp"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <tilewright/plan/best_tile.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "catch.hpp"
#include "gemm_in_blocks.h"
#include "reference/fill.hpp"

// A product whose buffers are in registers and in memory that the caller gives.

namespace {

constexpr std::size_t rows = host_gemm::odd.rows, columns = host_gemm::odd.columns, depth = host_gemm::odd.depth;

struct pool {
    char* first = static_cast<char*>(std::aligned_alloc(64, TILEWRIGHT_gemm_in_blocks_l2_BYTES + 64));
    pool() = default;
    pool(pool const&) = delete;
    ~pool() { std::free(first); }
};

struct operands {
    std::vector<float> a = std::vector<float>(rows * depth), b = std::vector<float>(depth * columns),
                       c = std::vector<float>(rows * columns, -7);
    operands() { reference::fill(a.data(), a.size(), 1), reference::fill(b.data(), b.size(), 2); }
    int run(void* l2) { return tilewright::call<host_gemm::in_blocks>(gemm_in_blocks, a.data(), b.data(), l2, c.data()); }
};

}  // namespace

TEST_CASE("a product in registers sums up in the order of its depth, each product fused with its sum") {
    operands given;
    pool const l2;
    REQUIRE(given.run(l2.first) == 0);
    int wrong = 0;
    for (std::size_t y = 0; y < rows; ++y) {
        for (std::size_t x = 0; x < columns; ++x) {
            float sum = 0;
            for (std::size_t z = 0; z < depth; ++z) sum = std::fma(given.a[y * depth + z], given.b[z * columns + x], sum);
            wrong += given.c[y * columns + x] != sum;
        }
    }
    CHECK(wrong == 0);
}
TEST_CASE("a memory that is not there, or not where it may be, is refused before anything runs") {
    operands given;
    pool const l2;
    constexpr int position = 3;  // behind a, b and c
    CHECK(given.run(nullptr) == TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_HOST, position));
    CHECK(given.run(l2.first + 4) == TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_MISALIGNED, position));
    for (float untouched : given.c) CHECK(untouched == -7);
}
TEST_CASE("a kernel touches no more of a memory than its header says") {
    operands given;
    pool const l2;
    std::fill(l2.first, l2.first + TILEWRIGHT_gemm_in_blocks_l2_BYTES + 64, char{42});
    REQUIRE(given.run(l2.first) == 0);
    for (int at = 0; at < 64; ++at) CHECK(l2.first[TILEWRIGHT_gemm_in_blocks_l2_BYTES + at] == 42);
    // A part of 20 x 48 values, in three panels, and one of 24 x 20, in four.
    STATIC_REQUIRE(TILEWRIGHT_gemm_in_blocks_l2_BYTES == (20 * 48 + 24 * 20) * 4);
}
TEST_CASE("the tile of least cost is the same in the compiler and at run time") {
    using tilewright::targets::avx2::cycles;
    constexpr auto best = tilewright::best_of<host_gemm::candidates, decltype(host_gemm::scheduled), cycles>();
    auto const again = tilewright::best_tile(host_gemm::candidates, host_gemm::scheduled, cycles{});
    CHECK(best.rows == again.rows);
    CHECK(best.vectors == again.vectors);
    CHECK(best.block_depth == again.block_depth);
    CHECK(best.block_columns == again.block_columns);
    // It costs no more than any other that has a plan.
    double const least = cycles{}(tilewright::make_plan(host_gemm::scheduled(best)));
    int planned = 0;
    for (auto const& tile : host_gemm::candidates) {
        tilewright::plan_value const plan = tilewright::make_plan(host_gemm::scheduled(tile));
        if (plan.refusal) continue;
        ++planned;
        CHECK(cycles{}(plan) >= least);
    }
    CHECK(planned > 3);
}
