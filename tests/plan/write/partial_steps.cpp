#include <tilewright/plan/write/partial_steps.hpp>

#include <vector>

#include "plan/passes.hpp"

// Steps of an intrinsic that reach beyond the end of an axis.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis i{"i", 4}, l{"l", 4}, z{"z", 1};
constexpr tensor<std::int32_t> a{"a"}, b{"b"}, c{"c"}, d{"d"};
constexpr auto mac = intrinsic("mac", c(i) += a(i, l) * b(l)).reads(a, spad).reads(b, spad).updates(c, spad);
constexpr auto zero = transfer("zero", dram, spad, d(z) = 0).dimensions(2);
constexpr auto one = transfer("one", dram, spad, d(z) = 1).dimensions(2);
constexpr auto with_zero = machine("with_zero", dram, spad, get, put, zero, mac),
               with_one = machine("with_one", dram, spad, get, put, one, mac), without = machine("without", dram, spad, get, put, mac);
/// Ten rows in steps of four, six columns likewise.
constexpr auto product_of_column = C(m) = sum(n, A(m, n) * B(n));

schedule stepped(machine const& on) {
    return schedule(product_of_column, on).cache_read(A, spad).cache_read(B, spad).cache_write(C, spad).tensorize(m, n, mac);
}
std::vector<partial_lane> lanes_of(planned_to& t) {
    std::vector<partial_lane> all;
    each_partial_lane(t.p, 0_stage, [&](partial_lane const& lane) { all.push_back(lane); });
    return all;
}

}  // namespace

TEST_CASE("an end inside of a step is a partial lane, of the axis that has it") {
    planned_to t(pass::rings, stepped(with_zero));
    REQUIRE_FALSE(t.p.refused());
    auto const lanes = lanes_of(t);
    REQUIRE(lanes.size() == 2);
    CHECK((lanes[0].name == "m" && lanes[0].extent == 10 && lanes[0].step == 4 && !lanes[0].reduction));
    CHECK((lanes[1].name == "n" && lanes[1].extent == 6 && lanes[1].reduction));
    nest const& loops = t.p.nest_at(0);
    int const step = loops.axes[0].variable;
    CHECK(same(lanes[0].axis, sum_of(0, {{4, step}, {1, loops.axes[0].lane}})));
    CHECK(lanes[0].lane == loops.axes[0].lane);
}
TEST_CASE("ends between steps are none") {
    constexpr axis rows{"m", 8}, columns{"n", 12};
    auto const whole = C(rows) = sum(columns, A(rows, columns) * B(columns));
    planned_to t(pass::rings,
                 schedule(whole, with_zero).cache_read(A, spad).cache_read(B, spad).cache_write(C, spad).tensorize(rows, columns, mac));
    REQUIRE_FALSE(t.p.refused());
    CHECK(lanes_of(t).empty());
}
TEST_CASE("one operand of the reduction is filled with what adds nothing") {
    planned_to const t(pass::fills, stepped(with_zero));
    REQUIRE_FALSE(t.p.refused());
    // Zero times anything: one of A and B is enough.
    int filled = 0;
    for (int at = 0; at < t.p.from.stagings.size(); ++at) filled += t.p.staging_at(at).fill == 2 ? 1 : 0;
    CHECK(filled == 1);
    verdict const of_one = planned_to(pass::fills, stepped(with_one)).refusal(),
                  of_none = planned_to(pass::fills, stepped(without)).refusal();
    CHECK((of_one.kind == verdict_kind::partial_step && of_one.broken == rule::step_behind_a_reduction));
    CHECK((of_none.facts[0].value == 6 && of_none.facts[1].value == 4 && of_none.names[1] == "n"));
}
TEST_CASE("what a step reaches beyond the end must have room, and be nobody's") {
    // The rows of the next tile of five stand behind those of this one.
    CHECK(planned_to(pass::fills, stepped(with_zero).split(m, mo, mi, 5)).refusal().kind == verdict_kind::misplaced_directive);
    schedule const tiles = schedule(product_of_column, with_zero).split(m, mo, mi, 5).cache_read(A, spad).cache_read(B, spad);
    CHECK(planned_to(pass::fills, schedule(tiles).cache_write(C, spad).tensorize(mi, n, mac)).refusal().broken ==
          rule::step_on_the_next_tile);
    CHECK(planned_to(pass::fills, schedule(tiles).cache_write(C, spad).at(mo).tensorize(mi, n, mac)).refusal().kind == verdict_kind::none);
}
TEST_CASE("a buffer stands inside of so many loops of a stage") {
    planned_to t(pass::rings, schedule(product_of_column, with_zero)
                                  .split(m, mo, mi, 5)
                                  .cache_read(A, spad)
                                  .at(mo)
                                  .cache_read(B, spad)
                                  .cache_write(C, spad)
                                  .at(mo)
                                  .tensorize(mi, n, mac));
    REQUIRE_FALSE(t.p.refused());
    CHECK((depth_of(t.p, 0_stage, t.buffer("A.spad")) == 1 && depth_of(t.p, 0_stage, t.buffer("B.spad")) == 0 &&
           depth_of(t.p, 0_stage, t.buffer("A")) == 0));
    // Behind a tile of five rows stands the next one, where a buffer has several.
    int tiles = 0;
    for (partial_lane const& lane : lanes_of(t)) {
        if (lane.extent != 5) continue;
        ++tiles;
        CHECK((holds_next(t.p, 0_stage, lane, 0) && !holds_next(t.p, 0_stage, lane, 1)));
    }
    CHECK(tiles == 1);
}
TEST_CASE("an intrinsic that covers up to so many ends where its axis does") {
    static constexpr auto flexible = intrinsic(mac).up_to(i, l);
    static constexpr auto on = machine("on", dram, spad, get, put, flexible);
    planned_to t(pass::fills,
                 schedule(product_of_column, on).cache_read(A, spad).cache_read(B, spad).cache_write(C, spad).tensorize(m, n, flexible));
    REQUIRE_FALSE(t.p.refused());
    CHECK(lanes_of(t).empty());
}
