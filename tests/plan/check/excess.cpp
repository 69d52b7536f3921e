#include <tilewright/plan/check/excess.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/small_kernels.hpp"

// Whether what a plan with partial tiles moves and computes stays where there is something.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// Ten rows in tiles of four through the scratchpad, in and out.
plan_value tiles_of_four() {
    return make_plan(schedule(copy, blocking).split(m, mo, mi, 4).cache_read(A, spad).at(mo).cache_write(C, spad).at(mo));
}
/// With the end of the movement between two buffers elsewhere.
hazard with_end(bool of_store, std::int64_t by) {
    plan_value plan = tiles_of_four();
    for (int at = 0; at < plan.movements.size(); ++at) {
        movement const& moved = plan.movements[at];
        if ((plan.buffers[moved.destination].kind == buffer_kind::argument) == of_store) plan.clips[moved.first_clip].bound += by;
    }
    return find_excess(plan);
}

}  // namespace

TEST_CASE("what is planned stays inside") { CHECK_FALSE(find_excess(tiles_of_four())); }
TEST_CASE("a load that ends a row late leaves the argument, and one that ends early leaves out what is read") {
    hazard const late = with_end(false, 1), early = with_end(false, -1);
    CHECK(late.broken == rule::outside_of_it);
    CHECK((late.buffer == 0 && late.first >= 0));
    CHECK(early.broken == rule::never_loaded);
    CHECK(early.first == -1);
}
TEST_CASE("a store that ends a row late stores what was never computed; one that ends early is not looked for here") {
    CHECK(with_end(true, 1).broken == rule::never_computed);
    CHECK_FALSE(with_end(true, -1));
}
TEST_CASE("what is stored was computed") {
    plan_value plan = tiles_of_four();
    for (int at = 0; at < plan.limits.size(); ++at) plan.limits[at].bound -= 1;
    CHECK(find_excess(plan).broken == rule::never_computed);
}
TEST_CASE("loops that run a row too far leave their buffer") {
    plan_value plan = make_plan(schedule(copy, blocking).split(m, mo, mi, 4));
    CHECK_FALSE(find_excess(plan));
    for (int at = 0; at < plan.limits.size(); ++at) plan.limits[at].bound += 1;
    CHECK(find_excess(plan).broken == rule::outside_of_it);
}
TEST_CASE("a padded access may reach beyond its tensor, and no further than its border") {
    constexpr axis x{"x", 10}, xo{"xo"}, xi{"xi"};
    auto const shifted = C(x) = padded(A(x), 0)(x - 2);
    plan_value plan = make_plan(schedule(shifted, blocking).split(x, xo, xi, 4));
    REQUIRE_FALSE(plan.refusal);
    CHECK_FALSE(find_excess(plan));
    for (int at = 0; at < plan.paddings.size(); ++at) plan.paddings[at].extent += 30, plan.paddings[at].index.constant += 2;
    CHECK(find_excess(plan).broken == rule::outside_of_it);
}
TEST_CASE("whole tiles have nothing to look for, nor does a refusal") {
    plan_value whole = make_plan(schedule(copy, blocking).split(m, mo, mi, 5).cache_read(A, spad).at(mo));
    whole.buffers[0].extents[0] = 3;
    CHECK_FALSE(find_excess(whole));
    plan_value refused = tiles_of_four();
    refused.buffers[0].extents[0] = 3;
    CHECK(find_excess(refused));
    refused.refusal.kind = verdict_kind::race;
    CHECK_FALSE(find_excess(refused));
}
