#include <tilewright/plan/place/staging.hpp>

#include "plan/passes.hpp"

// cache_read and cache_write: levels, boxes, and which buffer every access uses.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr memory outer{.name = "outer", .base = 0x4000'0000, .capacity = 4_KiB};
constexpr auto down = transfer("down", outer, spad).dimensions(2);
constexpr auto into = transfer("into", dram, outer).dimensions(2);
constexpr auto two_levels = machine("two_levels", dram, spad, outer, get, put, into, down);
constexpr tensor<std::int32_t> S{"S"};
constexpr auto two_stages = stages(S(m, n) = A(m, n) + 1, C(m, n) = S(m, n) * 2);
constexpr axis x{"x", 10}, xo{"xo"}, xi{"xi"};

schedule copied() { return schedule(copy, blocking).split(m, mo, mi, 4); }
verdict refusal_of(schedule const& of) { return planned_to(pass::accesses, of).refusal(); }

}  // namespace

TEST_CASE("a box is staged inside of its loop, or all of it in front of the loops") {
    planned_to const t(pass::stagings, copied().cache_read(A, spad).at(mo).cache_write(C, spad));
    REQUIRE_FALSE(t.p.refused());
    staging const &in = t.p.staging_at(0), &out = t.p.staging_at(1);
    CHECK((in.level == t.variable("mo") && in.depth == 1));
    CHECK((out.level == -1 && out.depth == 0));
    ir::buffer const &tile = t.p.buffer_at(in.buffer), &whole = t.p.buffer_at(out.buffer);
    CHECK((tile.extents[0] == 4 && tile.extents[1] == 6 && tile.bytes == 96));
    CHECK((whole.extents[0] == 10 && whole.bytes == 240));
    CHECK(same(t.p.form_of(t.p.from.box_at[in.buffer][0]), sum_of(0, {{4, t.variable("mo")}})));
    CHECK(refusal_of(copied().cache_read(A, spad).at(m)).kind == verdict_kind::unknown_axis);  // which was split
}
TEST_CASE("what is staged inside of a reduction holds partial sums, and what is stored has no gaps") {
    planned_to const inside(pass::stagings, schedule(product, blocking).reorder(k, m, n).cache_write(C, spad).at(k)),
        outside(pass::stagings, schedule(product, blocking).reorder(m, k, n).cache_write(C, spad).at(m));
    CHECK((inside.p.staging_at(0).partial_sums && !outside.p.staging_at(0).partial_sums));
    verdict const gaps = refusal_of(copied().reorder(mi, mo).cache_write(C, spad).at(mi));
    CHECK(gaps.broken == rule::gaps_between_outputs);
    CHECK((gaps.facts[0].value == 3 && gaps.facts[1].value == 9));
    CHECK_FALSE(refusal_of(copied().reorder(mi, mo).cache_read(A, spad).at(mi)));  // loading them is fine
}
TEST_CASE("a tensor that is computed in a loop is there only inside of it") {
    schedule const of = schedule(two_stages, blocking).compute_at(S, m).store_in(S, spad);
    CHECK(refusal_of(schedule(of).cache_read(S, spad)).broken == rule::outside_its_producer);
    CHECK(refusal_of(schedule(of).cache_read(S, spad).at(m)).broken != rule::outside_its_producer);
}
TEST_CASE("a loop that an intrinsic covers has no iterations to stage in") {
    static constexpr axis r{"r", 6};
    static constexpr tensor<std::int32_t> from{"from"}, to{"to"};
    static constexpr auto step = intrinsic("step", to(r) = from(r)).reads(from, spad).writes(to, spad);
    static constexpr auto on = machine("on", dram, spad, get, put, step);
    planned_to const t(pass::stages, schedule(copy, on).tensorize(n, step));
    CHECK((is_covered(t.p, 0_stage, t.variable("n")) && !is_covered(t.p, 0_stage, t.variable("m"))));
    CHECK(refusal_of(schedule(copy, on).tensorize(n, step).cache_read(A, spad).at(n)).broken == rule::inside_the_intrinsic);
}
TEST_CASE("an access uses the innermost buffer, which is a part of the one around it") {
    planned_to const t(pass::accesses,
                       schedule(copy, two_levels).split(m, mo, mi, 4).cache_read(A, spad).at(mi).cache_read(A, outer).at(mo));
    REQUIRE_FALSE(t.p.refused());
    int const inner = t.buffer("A.spad"), around = t.buffer("A.outer"), argument = t.buffer("A");
    CHECK((t.p.staging_at(0).outward == around && t.p.staging_at(1).outward == argument));
    use const& read = *t.p.plan.use_at(t.access("A"));
    CHECK(read.buffer == inner);
    CHECK(same(t.p.form_of(read.at[0]), sum_of(0)));  // one row
    CHECK(same(t.p.form_of(read.at[1]), sum_of(0, {{1, t.variable("n")}})));
    CHECK(t.p.plan.use_at(t.access("C"))->buffer == t.buffer("C"));
    CHECK(buffer_for(t.p, 0_stage, "A", false, 1, 9) == around);
    CHECK(buffer_for(t.p, 0_stage, "A", false, 0, 9) == argument);
    CHECK(buffer_for(t.p, 0_stage, "B", false, 0, 9) == -1);
    CHECK((is_staged(t.p, inner) && !is_staged(t.p, argument)));
}
TEST_CASE("at one level, the earlier directive is further out") {
    planned_to const t(pass::accesses, schedule(copy, two_levels).cache_read(A, outer).at(m).cache_read(A, spad).at(m));
    REQUIRE_FALSE(t.p.refused());
    CHECK(t.p.staging_at(1).outward == t.buffer("A.outer"));
    CHECK(t.p.plan.use_at(t.access("A"))->buffer == t.buffer("A.spad"));
}
TEST_CASE("a box has a border where it can reach outside of a padded tensor") {
    auto const shifted = C(x) = padded(A(x), 7)(x - 1);
    auto const inside = C(x) = padded(A(x), 7)(x);
    planned_to const all(pass::accesses, schedule(shifted, blocking).split(x, xo, xi, 5).cache_read(A, spad).at(xo));
    CHECK(all.p.staging_at(0).border == all.access("A"));
    CHECK(all.p.from.borders);
    REQUIRE(all.p.plan.paddings.size() == 1);
    CHECK_FALSE(all.p.plan.paddings[0].guarded);
    planned_to const none(pass::accesses, schedule(inside, blocking).cache_read(A, spad));
    CHECK((none.p.staging_at(0).border == -1 && none.p.plan.paddings.size() == 0 && !none.p.from.borders));
    // What is not staged is guarded at each access.
    planned_to const guarded(pass::accesses, schedule(shifted, blocking));
    CHECK((guarded.p.plan.paddings.size() == 1 && guarded.p.plan.paddings[0].guarded && guarded.p.plan.paddings[0].extent == 10));
    auto const two_values = C(x) = padded(A(x), 7)(x - 1) + padded(A(x), 8)(x + 1);
    CHECK(refusal_of(schedule(two_values, blocking).cache_read(A, spad)).broken == rule::border_of_two_values);
    auto const beside = C(x) = padded(A(x), 7)(x - 1) + A(x);
    CHECK(refusal_of(schedule(beside, blocking).cache_read(A, spad)).broken == rule::none);
}
TEST_CASE("an axis that is used as a value is a use without a buffer") {
    auto const ramp = C(m, n) = A(m, n) + cast<std::int32_t>(m);
    planned_to const t(pass::accesses, schedule(ramp, blocking).split(m, mo, mi, 4));
    REQUIRE_FALSE(t.p.refused());
    int values = 0;
    for (int at = 0; at < t.p.plan.uses.size(); ++at) {
        if (t.p.plan.uses[at].buffer >= 0) continue;
        ++values;
        CHECK(same(t.p.form_of(t.p.plan.uses[at].at[0]), sum_of(0, {{4, t.variable("mo")}, {1, t.variable("mi")}})));
    }
    CHECK(values == 1);
}
