#include <tilewright/plan/check/core_accesses.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/cores.hpp"

// What barriers and signals order between cores.

using namespace small_kernels;
using tilewright::detail::find_core_hazard, tilewright::detail::visiting;

namespace {

/// Takes the first step of a kind out of a plan.
plan_value without(plan_value plan, step_kind kind) {
    int at = 0;
    while (plan.steps[at].kind != kind) ++at;
    plan.steps.erase(at);
    return plan;
}
rule broken_in(plan_value const& plan) {
    rule const found = find_core_hazard(plan).broken;
    CHECK(find_core_hazard(plan, visiting::everything).broken == found);
    return found;
}
rule broken_without(step_kind kind, schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!plan->refusal);
    CHECK(broken_in(*plan) == rule::none);
    return broken_in(without(*plan, kind));
}
axis const f{"f"}, fo{"fo"}, fi{"fi"};
schedule distributed(schedule s) { return s.distribute(m, pair_of_cores); }

}  // namespace

TEST_CASE("shares of one loop lie apart, also where they are dealt out again and again") {
    for (schedule const& of :
         {schedule(copy, two).distribute(m, pair_of_cores), schedule(copy, two).distribute(n, pair_of_cores),
          // Rows 4 mo + 2 core + mi: in every mo, each core has two of them.
          schedule(copy, two).split(m, mo, mi, 4).distribute(mi, pair_of_cores),
          schedule(copy, two).split(m, mo, mi, 4).reorder(mi, mo, n).distribute(mi, pair_of_cores),
          schedule(copy, two).split(m, mo, mi, 4).distribute(mi, pair_of_cores).cache_read(A, own).at(mi).buffers(2)}) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        CHECK(!plan->refusal);
        CHECK(broken_in(*plan) == rule::none);
    }
}
TEST_CASE("shares lie apart where a tile, or the axis, ends inside of a piece") {
    static constexpr auto out_of_own = transfer("out_of_own", own, dram).on(own_dma).asynchronous().dimensions(2);
    static constexpr auto storing = machine("storing", dram, own, own_dma, out_of_own, pair_of_cores);
    axis const long_one{"m", 25}, around{"m", 75}, moo{"moo"}, moi{"moi"};
    auto const one = C(long_one) = A(long_one);
    auto const thrice = C(around) = A(around);
    for (schedule const& of : {
             // Core 0 has 0 to 18, core 1 has 19 to 24; ten steps of two each would be one more.
             schedule(one, four).split(long_one, mo, mi, 19).unroll(mi, 2).distribute(mo, four_cores),
             // Tiles of 11 and 2 in each 13.
             schedule(one, storing)
                 .split(long_one, mo, mi, 13)
                 .split(mi, moo, moi, 11)
                 .distribute(mo, pair_of_cores)
                 .cache_write(C, own)
                 .at(moo),
             // Three times 13 and 12, by steps of two.
             schedule(thrice, two)
                 .split(around, moo, moi, 25)
                 .split(moi, mo, mi, 13)
                 .reorder(mo, moo, mi)
                 .unroll(mi, 2)
                 .distribute(mo, pair_of_cores),
         }) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        CHECK(!plan->refusal);
        CHECK(broken_in(*plan) == rule::none);
    }
}
TEST_CASE("a race between shares that end inside of a piece is found") {
    axis const written{"rows", 25}, read{"m", 24};
    auto const next = stages(S(written) = A(written) + 1, C(read) = S(read + 1));
    auto const in_tiles = [](schedule s, axis const& over) {
        return s.split(over, mo, mi, 19).unroll(mi, 2).distribute(mo, pair_of_cores);
    };
    auto const of = in_tiles(in_tiles(schedule(next, two).store_in(S, common).stage(S), written).stage(C), read);
    // Core 0 reads element 19, which core 1 computes.
    CHECK(broken_without(step_kind::barrier, of) == rule::core_without_barrier);
    auto const same = stages(S(written) = A(written) + 1, C(written) = S(written));
    auto const own_ones = in_tiles(in_tiles(schedule(same, two).store_in(S, common).stage(S), written).stage(C), written);
    CHECK(broken_without(step_kind::barrier, own_ones) == rule::none);
}
TEST_CASE("a call that goes on past rows of one element touches the rows after") {
    axis const one{"n", 1};
    auto const column = C(m, one) = A(m, one);
    CHECK(broken_without(step_kind::barrier, distributed(schedule(column, two).cache_read(A, common))) == rule::core_without_barrier);
}
TEST_CASE("calls for rows of several planes reach all of the planes") {
    // 3 x 4 x 4 of 3 x 4 x 8: twelve calls, and core 1 computes the last plane.
    static constexpr auto row_by_row = transfer("row_by_row", common, dram).dimensions(1);
    static constexpr auto where = machine("where", dram, common, row_by_row, pair_of_cores);
    axis const plane{"plane", 3}, row{"row", 4}, i{"i", 8};
    auto const planes = C(plane, row, i) = A(plane, row, i);
    auto const of = schedule(planes, where)
                        .split(i, no, ni, 4)
                        .reorder(no, plane, row, ni)
                        .distribute(plane, pair_of_cores)
                        .cache_write(C, common)
                        .at(no);
    CHECK(broken_without(step_kind::barrier, of) == rule::core_without_barrier);
}
TEST_CASE("shares of a fused loop lie apart, though cores share rows") {
    // Sixty elements in rows of six: core 1 of four begins in the middle of row 2.
    schedule const fused = schedule(copy, four).fuse(m, n, f).distribute(f, four_cores);
    schedule const tiles =
        schedule(copy, four).split(m, mo, mi, 3).split(n, no, ni, 4).reorder(mo, no, mi, ni).fuse(mo, no, f).distribute(f, four_cores);
    axis const row{"row"};
    for (schedule const &of : {
             fused,
             tiles,
             schedule(tiles).cache_read(A, own).at(f).buffers(2),
             // Shares are dealt out in pieces of ten: core 1 has 3, 4 and 5 of each.
             schedule(copy, four).fuse(m, n, f).split(f, fo, fi, 10).distribute(fi, four_cores),
             // What is fused is fused again.
             schedule(copy, four).split(m, mo, mi, 2).fuse(mi, n, row).fuse(mo, row, f).distribute(f, four_cores),
             // Rows i % 3 of columns i / 3.
             schedule(twice, four)
                 .store_in(S, common)
                 .layout([](auto i, auto j) { return index_map(i % 3, i / 3, j); })
                 .stage(S)
                 .distribute(m, four_cores),
         }) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        CHECK(!plan->refusal);
        CHECK(broken_in(*plan) == rule::none);
    }
}
TEST_CASE("a race between shares of fused loops is found") {
    auto const stages_over = [](auto const& first, auto const& then) {
        return then(first(schedule(twice, four).store_in(S, common).stage(S)).stage(C));
    };
    auto const by_pieces = [](schedule s) { return s.fuse(m, n, f).split(f, fo, fi, 10).distribute(fi, four_cores); };
    auto const as_a_whole = [](schedule s) { return s.fuse(m, n, f).distribute(f, four_cores); };
    auto const by_rows = [](schedule s) { return s.distribute(m, four_cores); };
    // Each core reads what it has computed itself.
    CHECK(broken_without(step_kind::barrier, stages_over(as_a_whole, as_a_whole)) == rule::none);
    CHECK(broken_without(step_kind::barrier, stages_over(by_pieces, by_pieces)) == rule::none);
    CHECK(broken_without(step_kind::barrier, stages_over(by_pieces, as_a_whole)) == rule::core_without_barrier);
    CHECK(broken_without(step_kind::barrier, stages_over(as_a_whole, by_rows)) == rule::core_without_barrier);
    CHECK(broken_without(step_kind::barrier, stages_over(by_rows, by_pieces)) == rule::core_without_barrier);
}
TEST_CASE("parts that do not show which core has them are refused by a name of their own") {
    // The remainder itself is in no index: its parts are.
    auto const plan = make_plan(schedule(twice, four)
                                    .store_in(S, common)
                                    .layout([](auto i, auto j) { return index_map(i % 2, i / 4, i % 4 / 2, j); })
                                    .stage(S)
                                    .distribute(m, four_cores));
    CHECK(plan.refusal.kind == verdict_kind::distribution);
    CHECK(plan.refusal.broken == rule::parts_of_shares);
    CHECK(plan.refusal.names[0] == "S");
}
TEST_CASE("what another core computes needs a barrier, if it is read across shares") {
    auto const first_shared = [](auto const& what, axis const& over) {
        schedule s(what, two);
        return s.store_in(S, common).distribute(m, pair_of_cores).stage(S).distribute(over, pair_of_cores);
    };
    CHECK(broken_without(step_kind::barrier, first_shared(blur, rows)) == rule::core_without_barrier);
    // Each core reads what it has computed itself: the barrier is not needed, and no race without it.
    CHECK(broken_without(step_kind::barrier, first_shared(twice, m)) == rule::none);
    // It may be read anywhere.
    constexpr tensor<std::int8_t> which{"which"};
    auto const looked_up = stages(S(m, n) = A(m, n) + 1, C(m, n) = padded(S(m, n), 0)(which(m), n));
    CHECK(broken_without(step_kind::barrier, first_shared(looked_up, m)) == rule::core_without_barrier);
    // Core 0 computes all of it.
    CHECK(broken_without(step_kind::barrier, distributed(schedule(twice, two).store_in(S, common))) == rule::core_without_barrier);
}
TEST_CASE("a transfer counts until its core has waited for it, whatever barriers lie between") {
    auto const loaded = distributed(schedule(product, two).cache_read(B, common));
    auto const plan = std::make_unique<plan_value>(make_plan(loaded));
    REQUIRE(!plan->refusal);
    CHECK(broken_in(without(*plan, step_kind::barrier)) == rule::core_without_barrier);
    CHECK(broken_in(without(*plan, step_kind::wait)) == rule::core_without_barrier);
}
TEST_CASE("signals order what they tell of, version by version") {
    auto const told = schedule(twice, two).compute_at(S, m).stage(S).on(pair_of_cores, 1).store_in(S, common).buffers(2);
    CHECK(broken_without(step_kind::signal, told) == rule::signal_never_sent);
    auto const plan = std::make_unique<plan_value>(make_plan(told));
    // The second wait is the reader's: without it, it reads what may not be there.
    plan_value changed = *plan;
    int at = 0;
    for (int waits = 0; waits < 2; ++at) waits += changed.steps[at].kind == step_kind::await;
    changed.steps.erase(at - 1);
    CHECK(broken_in(changed) == rule::core_without_barrier);
    // A signal too early: before what it tells of.
    changed = *plan;
    for (at = 0; changed.steps[at].kind != step_kind::signal; ++at) {
    }
    std::swap(changed.steps[at], changed.steps[at - 1]);
    CHECK(broken_in(changed) == rule::core_without_barrier);
}
TEST_CASE("a barrier that some cores do not come to is refused") {
    plan_value plan = make_plan(distributed(schedule(copy, two)));
    int at = 0;
    while (plan.steps[at].kind != step_kind::compute) ++at;
    plan.steps.insert(at, {.kind = step_kind::barrier, .what = 0});
    CHECK(broken_in(plan) == rule::barrier_of_some_cores);
}
TEST_CASE("what a multicast writes in the memories of all cores is ordered by barriers, and by the wait for it") {
    for (schedule const& of :
         {schedule(product, four_at_once).distribute(m, four_cores).cache_read(B, own),
          schedule(product, four_at_once).split(n, no, ni, 2).reorder(no, m, ni, k).distribute(m, four_cores).cache_read(B, own).at(no),
          schedule(product, four_at_once)
              .split(n, no, ni, 2)
              .reorder(no, m, ni, k)
              .distribute(m, four_cores)
              .cache_read(B, own)
              .at(no)
              .buffers(2)}) {
        auto const plan = std::make_unique<plan_value>(make_plan(of));
        REQUIRE_FALSE(plan->refusal);
        INFO(plan->steps.size() << " steps");
        CHECK(broken_in(*plan) == rule::none);
        CHECK(broken_in(without(*plan, step_kind::wait)) == rule::core_without_barrier);
        for (int at = 0; at < plan->steps.size(); ++at) {
            if (plan->steps[at].kind != step_kind::barrier) continue;
            plan_value lost = *plan;
            lost.steps.erase(at);
            CHECK(broken_in(lost) == rule::core_without_barrier);
            // Too early: what stands before it comes after it now.
            plan_value early = *plan;
            std::swap(early.steps[at], early.steps[at - 1]);
            if (plan->steps[at - 1].kind != step_kind::end) CHECK(broken_in(early) == rule::core_without_barrier);
        }
    }
}
TEST_CASE("a multicast meets what other cores keep in the same bytes") {
    static constexpr auto from_common = transfer("from_common", common, own).multicast().dimensions(2);
    static constexpr auto where = machine("where", dram, own, common, own_dma, into_own, from_common, four_cores);
    auto const of = schedule(twice, where)
                        .store_in(S, common)
                        .distribute(m, four_cores)
                        .cache_read(S, own)
                        .stage(S)
                        .distribute(m, four_cores)
                        .cache_read(A, own)
                        .at(m);
    auto const meets = std::make_unique<plan_value>(make_plan(of));
    REQUIRE_FALSE(meets->refusal);
    CHECK(broken_in(*meets) == rule::none);
    // The first barrier keeps core 0 from bringing S where other cores still have their rows of A.
    CHECK(broken_in(without(*meets, step_kind::barrier)) == rule::core_without_barrier);
}
TEST_CASE("two cores that write through caches have whole lines each") {
    static constexpr memory outer{.name = "outer", .alignment = 64, .cache_line = 64};
    static constexpr auto both = machine("both", outer, core{.name = "pair", .count = 2});
    static constexpr axis rows{"rows", 8}, words{"words", 16}, odd{"odd", 10};
    static constexpr tensor<std::int32_t> x{"x"}, r{"r"};
    static constexpr auto whole = r(rows, words) = x(rows, words) + 1;
    static constexpr auto parted = r(rows, odd) = x(rows, odd) + 1;  // rows of 40 bytes
    core const& pair = both.cores[0];
    CHECK_FALSE(make_plan(schedule(whole, both).distribute(rows, pair)).refusal);
    // Half a line for each, in every row.
    verdict const half = make_plan(schedule(whole, both).distribute(words, pair)).refusal;
    CHECK(half.kind == verdict_kind::distribution);
    CHECK(half.broken == rule::line_of_two_cores);
    CHECK(half.names[0] == "r");
    CHECK(make_plan(schedule(parted, both).distribute(rows, pair)).refusal.broken == rule::line_of_two_cores);
    // Four rows of ten words are 160 bytes; sixteen of them are whole lines.
    static constexpr axis many{"many", 32};
    static constexpr auto in_blocks = r(many, odd) = x(many, odd) + 1;
    CHECK_FALSE(make_plan(schedule(in_blocks, both).distribute(many, pair)).refusal);
}
