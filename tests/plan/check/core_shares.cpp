#include <tilewright/plan/check/core_shares.hpp>

#include "catch.hpp"
#include "kernels/unlike_cores.hpp"
#include <tilewright/plan/plan.hpp>

// The bound of a kernel for several cores is what the busiest of them does.

using namespace tilewright;
using namespace cores_of_dsp;

namespace {

/// Cycles of a row of C: its sums begin at 0, and each step loads three operands, converts two, multiplies, adds and stores.
constexpr std::int64_t row_cycles = 18 * (20 * 8 + 1);

/// What moves `bytes`, without its latency.
constexpr std::int64_t moved(std::int64_t bytes, std::int64_t rate = 8) { return (bytes + rate - 1) / rate; }

// clang-format off: schedules are read line by line, a buffer a line.
/// 5 tiles of 5 rows, the last one of 4: two for the cores 0 and 1, the last one for core 2, and none for core 3.
constexpr auto uneven = schedule(matmul, four)
                            .split(m, mo, mi, 5)
                            .distribute(mo, dsp)
                            .cache_read(A, tcm)
                            .at(mo)
                            .buffers(2)
                            .cache_read(B, tcm)
                            .at("mo.core")
                            .cache_write(C, tcm)
                            .at(mo)
                            .buffers(2);
/// 8 tiles of 3 rows: two for each core. Core 0 loads B for all.
constexpr auto shared =
    schedule(matmul, four).split(m, mo, mi, 3).distribute(mo, dsp).cache_read(B, l2).cache_read(A, tcm).at(mo).cache_write(C, tcm).at(mo);

}  // namespace

TEST_CASE("of uneven shares, the largest one counts") {
    static_assert(plan<uneven>.busy_cycles(-1) == 24 * row_cycles);
    static_assert(plan<uneven>.busiest_share(-1) == 10 * row_cycles);
    static_assert(plan<uneven>.bound() == 10 * row_cycles);
    // All of B, two tiles of A and two of C.
    static_assert(plan<uneven>.shared_cycles(0) == moved(20 * 18) + 2 * moved(5 * 20) + 2 * moved(5 * 18 * 4));
    constexpr auto share = [](int core) { return detail::share_of_core(plan<uneven>, -1, core); };
    static_assert(share(1) == 10 * row_cycles && share(2) == 4 * row_cycles && share(3) == 0);
    static_assert(detail::share_of_core(plan<uneven>, 0, 3) == 0);
}
TEST_CASE("what core 0 does for all is its own") {
    static_assert(plan<shared>.busiest_share(-1) == 6 * row_cycles);
    // Two of the channels are those of core 0.
    static_assert(plan<shared>.channels_of(1) == 2);
    static_assert(plan<shared>.busiest_share(1) == moved(20 * 18, 16));
    static_assert(detail::share_of_core(plan<shared>, 1, 1) == 0);
    static_assert(plan<shared>.shared_cycles(1) == (moved(20 * 18, 16) + 1) / 2);
}
TEST_CASE("a stage on a core of its own is the work of that core") {
    auto const pipelined = std::make_unique<plan_value>(make_plan(with_signals()[3]));
    REQUIRE(!pipelined->refusal);
    // 24 x 16 elements of T: load, convert, multiply, store; 22 x 16 of R: three loads, two additions, a store.
    CHECK(detail::share_of_core(*pipelined, -1, 1) == 24 * 16 * 4);
    CHECK(detail::share_of_core(*pipelined, -1, 0) == 22 * 16 * 6);
    CHECK(pipelined->bound() == 22 * 16 * 6);
}

namespace {

/// A row of C on a core of each kind: each step loads three operands, converts two, multiplies, adds and stores.
constexpr std::int64_t row_of_control = 18 * (20 * (3 * 4 + 2 * 1 + 9 + 2 + 3) + 3),
                       row_of_vector = 18 * (20 * (3 * 1 + 2 * 1 + 1 + 1 + 2) + 2);
constexpr auto of_both = schedule(matmul, unlike_cores::mixed).distribute(m, unlike_cores::control, unlike_cores::vector);

}  // namespace

TEST_CASE("equal shares take cores of two kinds their own cycles") {
    static_assert(row_of_control == 10'134 && row_of_vector == 3'276);
    static_assert(plan<of_both>.busiest_share(-1) == 8 * row_of_control && plan<of_both>.bound() == 8 * row_of_control);
    static_assert(plan<of_both>.cycles() == 8 * row_of_control);
    static_assert(plan<of_both>.serial_cycles() == 8 * (row_of_control + 2 * row_of_vector));
    static_assert(detail::share_of_core(plan<of_both>, -1, 2) == 8 * row_of_vector);
}
TEST_CASE("uneven shares, and those of some kinds") {
    auto const share = [](int which, int core) {
        auto const made = std::make_unique<plan_value>(make_plan(unlike_cores::in_shares()[static_cast<std::size_t>(which)]));
        REQUIRE(!made->refusal);
        std::int64_t all = 0;
        for (int one = 0; one < made->cores; ++one) all += detail::share_of_core(*made, -1, one);
        CHECK(made->busy_cycles(-1) == all);
        return detail::share_of_core(*made, -1, core);
    };
    CHECK((share(1, 0) == 10 * row_of_control && share(1, 1) == 10 * row_of_vector && share(1, 2) == 4 * row_of_vector));
    CHECK((share(2, 0) == 0 && share(2, 1) == 12 * row_of_vector && share(2, 2) == 12 * row_of_vector));
    CHECK((share(3, 0) == 0 && share(3, 1) == 15 * row_of_vector && share(3, 2) == 9 * row_of_vector));
    CHECK((share(4, 0) == 0 && share(4, 1) == 24 * row_of_vector));
    // Of 8 rows in steps of 3, 3 and 2: each kind has its own instructions, whose cycles follow the rows.
    CHECK(share(9, 0) == 3 * (2 * (28 + 18 + 3 * (31 + 21)) + 28 + 12 + 3 * (31 + 14)));
    CHECK(share(9, 2) == 3 * (2 * (3 + 3 * (4 + 3)) + 3 + 3 * (4 + 2)));
}
