#include "host_gemm.hpp"

#include <algorithm>
#include <memory>
#include <tilewright/kernels/avx2/cycles.hpp>
#include <tilewright/plan/best_tile.hpp>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "catch.hpp"
#include "gemm_in_blocks.h"
#include "guarded_operands.hpp"

// A product whose buffers are in registers and in memory that the caller gives.

namespace {

constexpr std::size_t rows = host_gemm::odd.rows, columns = host_gemm::odd.columns;

using pool = guarded::array<unsigned char>;
pool l2_at(guarded::side at) { return pool(TILEWRIGHT_gemm_in_blocks_l2_BYTES, at, 64); }

int run(guarded_operands const& given, void* l2) {
    return tilewright::call<host_gemm::in_blocks>(gemm_in_blocks, given.at<float>(0), given.at<float>(1), l2, given.at<float>(2));
}

}  // namespace

TEST_CASE("a product in registers sums up in the order of its depth, each product fused with its sum") {
    // Nothing outside of operands and memory is touched; the header says how much of it is.
    for (guarded::side at : guarded::both_sides) {
        guarded_operands const given(tilewright::plan<host_gemm::in_blocks>, at);
        pool const l2 = l2_at(at);
        REQUIRE(run(given, l2.data()) == 0);
        given.check();
        CHECK(l2.is_intact());
    }
    // A part of 20 x 48 values, in three panels, and one of 24 x 20, in four.
    STATIC_REQUIRE(TILEWRIGHT_gemm_in_blocks_l2_BYTES == (20 * 48 + 24 * 20) * 4);
}
TEST_CASE("a memory that is not there, or not where it may be, is refused before anything runs") {
    guarded_operands const given(tilewright::plan<host_gemm::in_blocks>, guarded::side::end);
    pool const l2 = l2_at(guarded::side::beginning);
    constexpr int position = 3;  // behind a, b and c
    std::vector<float> const before(given.at<float>(2), given.at<float>(2) + rows * columns);
    CHECK(run(given, nullptr) == TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_HOST, position));
    CHECK(run(given, l2.data() + 4) == TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_MISALIGNED, position));
    CHECK(std::equal(before.begin(), before.end(), given.at<float>(2)));
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
