#include <tilewright/plan/place/stage_placement.hpp>

#include "plan/passes.hpp"

// Where every stage stands, and which of its loops the program holds.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr tensor<std::int32_t> S{"S"}, T{"T"};
constexpr axis x{"x", 12}, y{"y", 10}, yo{"yo"}, yi{"yi"}, open{"y", dynamic}, between{"b", dynamic}, bounded{"y", dynamic.up_to(30)};
/// Ten outputs of three neighbours of twelve.
constexpr auto blur = stages(S(x) = A(x) * 2, C(y) = S(y) + S(y + 2));
schedule blurred() { return schedule(blur, blocking).store_in(S, spad); }
verdict refusal_of(schedule const& of, pass last = pass::stages) { return planned_to(last, of).refusal(); }

}  // namespace

TEST_CASE("a stage that is computed once is computed whole") {
    planned_to const t(pass::stages, blurred());
    REQUIRE_FALSE(t.p.refused());
    ir::buffer const& home = t.p.plan.buffers[t.p.placed(0).home];
    CHECK((home.name == "S.spad" && home.extents[0] == 12 && home.kind == buffer_kind::staged));
    CHECK((t.p.placed(0).level == -1 && t.p.placed(0).path_length == 1));
    CHECK(t.p.var(t.p.placed(0).path[0]).extent == 12);
}
TEST_CASE("in a loop of its reader, a stage computes what one iteration needs") {
    planned_to const t(pass::stages, blurred().split(y, yo, yi, 5).compute_at(S, yo));
    REQUIRE_FALSE(t.p.refused());
    stage_placement const& place = t.p.placed(0);
    CHECK((place.at_stage == 1 && place.level == t.variable("yo") && place.outer_depth == 1 && place.path_length == 2));
    CHECK(t.p.plan.buffers[place.home].extents[0] == 5 + 2);
    CHECK(same(place.axis_values[0], sum_of(0, {{5, t.variable("yo")}, {1, t.variable("x")}})));
    CHECK((place.lowest[0] == 0 && place.highest[0].constant == 11));
}
TEST_CASE("a stage ends where its tiles do, and where its reader does") {
    planned_to const t(pass::stages, blurred().split(y, yo, yi, 4).compute_at(S, yo));
    REQUIRE_FALSE(t.p.refused());
    // Of C: 4 yo + yi < 10. Of S: 4 yo + x < 12, of 4 + 2 in the last of three tiles.
    REQUIRE(t.p.plan.limits.size() == 2);
    limit const *of_reader = nullptr, *of_producer = nullptr;
    for (int at = 0; at < 2; ++at) (t.p.plan.limits[at].stage == 1 ? of_reader : of_producer) = &t.p.plan.limits[at];
    REQUIRE((of_reader != nullptr && of_producer != nullptr));
    CHECK(of_reader->bound == 10);
    CHECK(same(t.p.form_of(of_reader->form), sum_of(0, {{4, t.variable("yo")}, {1, t.variable("yi")}})));
    CHECK((of_producer->bound == 12 && of_producer->loop == -1 && !of_producer->reduction));
    CHECK(planned_to(pass::stages, blurred().split(y, yo, yi, 5)).p.plan.limits.size() == 0);
}
TEST_CASE("what is read must be computed") {
    auto const further = stages(S(x) = A(x), C(y) = S(y + 3));
    verdict const v = refusal_of(schedule(further, blocking).store_in(S, spad));
    CHECK(v.kind == verdict_kind::outside_domain);
    CHECK((v.facts[0].value == 0 && v.facts[1].value == 3 && v.facts[2].value == 12 && v.facts[3].value == 11));
    auto const before = stages(S(x) = A(x), C(y) = S(y - 1));
    CHECK(refusal_of(schedule(before, blocking).store_in(S, spad)).facts[1].value == -1);
}
TEST_CASE("a stage stands in a loop of what reads it, and has a memory") {
    CHECK(refusal_of(blurred().compute_at(C, y)).broken == rule::without_consumer);
    CHECK(refusal_of(blurred().compute_at(S, yo)).kind == verdict_kind::unknown_axis);
    CHECK(refusal_of(schedule(blur, blocking)).kind == verdict_kind::no_memory);
    // A stage that reads it elsewhere
    auto const three = stages(S(x) = A(x), T(x) = S(x), C(y) = S(y) + T(y));
    CHECK(refusal_of(schedule(three, blocking).store_in(S, spad).store_in(T, spad).compute_at(S, y)).broken == rule::read_outside);
    auto const changing = stages(S(x) = A(x), C(y) = S(y) + S(11 - y));
    CHECK(refusal_of(schedule(changing, blocking).store_in(S, spad).compute_at(S, y)).kind == verdict_kind::box_not_constant);
}
TEST_CASE("a stage goes as far as it is read where run time decides, when that has a bound") {
    auto const endless = stages(S(between) = A(between), C(open) = S(open + 1));
    CHECK(refusal_of(schedule(endless, blocking).store_in(S, spad)).kind == verdict_kind::run_time_box);
    auto const known = stages(S(between) = A(between), C(bounded) = S(bounded + 1));
    planned_to const t(pass::stages, schedule(known, blocking).store_in(S, spad));
    REQUIRE_FALSE(t.p.refused());
    CHECK(t.p.plan.buffers[t.p.placed(0).home].extents[0] == 31);
    auto const backwards = stages(S(x) = A(x), C(bounded) = S(11 - bounded));
    CHECK(refusal_of(schedule(backwards, blocking).store_in(S, spad)).kind == verdict_kind::run_time_domain);
}
TEST_CASE("the result of a stage that stays in the machine has a buffer, and no argument") {
    planned_to const t(pass::stages, schedule(copy, blocking).store_in(C, spad));
    REQUIRE_FALSE(t.p.refused());
    CHECK(t.p.plan.buffers[t.p.placed(0).home].kind == buffer_kind::result);
    CHECK(t.buffer("C") == -1);
}
TEST_CASE("steps of an intrinsic have room in the buffer that they compute") {
    static constexpr axis r{"r", 4};
    static constexpr tensor<std::int32_t> from{"from"}, to{"to"};
    static constexpr auto step = intrinsic("step", to(r) = from(r)).reads(from, spad).writes(to, spad);
    static constexpr auto on = machine("on", dram, spad, get, put, step);
    planned_to const t(pass::stages, schedule(copy, on).tensorize(n, step).store_in(C, spad));
    REQUIRE_FALSE(t.p.refused());
    CHECK((t.p.nest_at(0).axes[1].lane_extent == 4 && t.p.nest_at(0).partial));
    CHECK(t.p.plan.buffers[t.p.placed(0).home].extents[1] == 8);  // of 6
}
TEST_CASE("the program holds the loops that something is made in, and those around") {
    auto const owned = [](schedule const& of) {
        planned_to const t(pass::owned, of);
        REQUIRE_FALSE(t.p.refused());
        return t.p.placed(t.p.plan.stages.size() - 1).owned;
    };
    CHECK(owned(schedule(copy, blocking)) == 0);
    CHECK(owned(schedule(copy, blocking).split(m, mo, mi, 4).cache_read(A, spad).at(mi)) == 2);
    CHECK(owned(blurred().split(y, yo, yi, 5).compute_at(S, yo)) == 1);
    CHECK(owned(schedule(copy, blocking).reorder(n, m).parallel(m)) == 2);
    static constexpr auto open_copy = C(n, bounded) = A(n, bounded);
    CHECK(owned(schedule(open_copy, blocking)) == 2);
}
TEST_CASE("a stage that a transfer carries out has no loops to direct") {
    auto const moved = stages(S(x) = A(x), C(y) = S(y) + S(y + 2));
    schedule const of = schedule(moved, blocking).store_in(S, spad).by(get);
    CHECK_FALSE(refusal_of(of, pass::owned));
    CHECK(refusal_of(schedule(of).stage(S).split(x, "xo", "xi", 4), pass::owned).broken == rule::without_loops);
    CHECK(refusal_of(schedule(of).stage(S).vectorize(x), pass::owned).broken == rule::without_loops);
    CHECK(refusal_of(schedule(of).stage(S).cache_read(A, spad), pass::owned).broken == rule::without_loops);
}
