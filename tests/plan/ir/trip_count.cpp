#include <tilewright/plan/ir/trip_count.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "plan/small_kernels.hpp"

// How often loops run that limits end early, and what is moved in them.

using namespace small_kernels;
using tilewright::detail::trip_count;

namespace {

/// Tiles of 4 of an axis of 10, three of them, and tiles of 3 of one of 7, likewise three.
struct tiles {
    plan_value plan = empty_plan(blocking, copy.view());
    variable_id o = add_loop(plan, "o", 3), i = add_loop(plan, "i", 4), p = add_loop(plan, "p", 3), q = add_loop(plan, "q", 3);
    limit first{keep(plan, 0, {{4, o}, {1, i}}), 10, 0_stage, no_variable, false},
        second{keep(plan, 0, {{3, p}, {1, q}}), 7, 0_stage, no_variable, false};
};
using amounts = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// Elements, and how often, the most elements first.
amounts counted(trip_count& trips) {
    auto const all = trips.counted();
    amounts found;
    for (int at = 0; at < all.size(); ++at) {
        if (all[at].times != 0) found.emplace_back(all[at].elements, all[at].times);
    }
    std::sort(found.rbegin(), found.rend());
    return found;
}
movement row_of(plan_value& plan, std::int64_t elements, std::initializer_list<clip> clips) {
    movement moved{.row_elements = elements, .first_clip = static_cast<std::int16_t>(plan.clips.size())};
    for (clip const& c : clips) plan.clips.push(c), ++moved.clip_count;
    return moved;
}

}  // namespace

TEST_CASE("loops without an end run as often as their extents say, each counted once") {
    tiles t;
    trip_count trips(t.plan);
    trips.add_loop(t.o);
    trips.add_loop(t.i);
    trips.add_loop(t.o);
    CHECK_FALSE(trips.limited());
    CHECK(counted(trips) == amounts{{1, 12}});
}
TEST_CASE("a limit leaves the iterations that the axis has, and axes are counted apart") {
    tiles t;
    trip_count trips(t.plan);
    for (int loop : {t.o, t.i, t.p, t.q}) trips.add_loop(loop);
    trips.add_limit(t.first);
    trips.add_limit(t.second);
    CHECK(trips.limited());
    CHECK(counted(trips) == amounts{{1, 10 * 7}});
}
TEST_CASE("a loop that stands somewhere leaves what its tile has") {
    for (auto const& [at, left] : {std::pair{0, 4}, {1, 4}, {2, 2}}) {
        tiles t;
        trip_count trips(t.plan);
        trips.add_loop_at(t.o, at);
        trips.add_loop(t.i);
        trips.add_limit(t.first);
        CHECK(counted(trips) == amounts{{1, left}});
    }
}
TEST_CASE("two limits of one loop: the range that both leave, also where it runs down") {
    tiles t;
    std::int16_t const down = add_loop(t.plan, "down", 9);
    trip_count trips(t.plan);
    trips.add_loop(down);
    trips.add_limit({keep(t.plan, 8, {{-2, down}}), 5, 0_stage, no_variable, false});  // 8 - 2 d < 5: from 2 on
    trips.add_limit({keep(t.plan, 0, {{3, down}}), 20, 0_stage, no_variable, false});  // up to 6
    CHECK(counted(trips) == amounts{{1, 5}});
}
TEST_CASE("a part of a fused loop is followed iteration by iteration") {
    // f of 12 is (f / 4, f % 4); f % 4 < 3 and f / 4 < 2 leave 3 of 4 in two of three rows.
    tiles t;
    std::int16_t const f = add_loop(t.plan, "f", 12);
    std::int16_t const row = add_component(t.plan, keep(t.plan, 0, {{1, f}}), 4, 0, 3),
                       column = add_component(t.plan, keep(t.plan, 0, {{1, f}}), 1, 4, 4);
    trip_count trips(t.plan);
    trips.add_loop(f);
    trips.add_limit({keep(t.plan, 0, {{1, column}}), 3, 0_stage, no_variable, false});
    trips.add_limit({keep(t.plan, 0, {{1, row}}), 2, 0_stage, no_variable, false});
    CHECK(counted(trips) == amounts{{1, 6}});
}
TEST_CASE("a row that ends early is moved in the sizes that tiles leave") {
    tiles t;
    movement moved = row_of(t.plan, 4, {{keep(t.plan, 0, {{4, t.o}}), 10, -1, clip_kind::end}});
    moved.dimensions[moved.dimension_count++] = {.extent = 5};
    trip_count trips(t.plan);
    trips.add_loop(t.o);
    trips.add_loop(t.p);
    trips.add_movement(moved);
    CHECK(trips.limited());
    CHECK(counted(trips) == amounts{{4 * 5, 2 * 3}, {2 * 5, 1 * 3}});
}
TEST_CASE("a row that begins late and ends early has what lies between, and no call moves less than nothing") {
    // Tiles of 4 from 3 o - 2 on, of elements from 0 to 7.
    tiles t;
    variable_id const o = add_loop(t.plan, "four", 5);
    affine const at = keep(t.plan, -2, {{3, o}});
    movement const moved = row_of(t.plan, 4, {{at, 8, -1, clip_kind::end}, {at, 0, -1, clip_kind::begin}});
    trip_count trips(t.plan);
    trips.add_loop(o);
    trips.add_movement(moved);
    // from -2: 2 of 4; from 1: 4; from 4: 4; from 7: 1; from 10: none, which is no call
    CHECK(counted(trips) == amounts{{4, 2}, {2, 1}, {1, 1}});
}
TEST_CASE("a call is made where its form stays below, or where one reaches an end") {
    tiles t;
    affine const at = keep(t.plan, 0, {{4, t.o}}), other = keep(t.plan, 0, {{3, t.p}});
    movement const only = row_of(t.plan, 6, {{at, 5, -1, clip_kind::only}});
    trip_count trips(t.plan);
    trips.add_loop(t.o);
    trips.add_movement(only);
    CHECK(counted(trips) == amounts{{6, 2}});
    // of 3 x 3, all but those with o = 0 and p below 2
    movement const beyond = row_of(t.plan, 6, {{at, 4, -1, clip_kind::beyond}, {other, 6, -1, clip_kind::beyond}});
    trip_count at_ends(t.plan);
    at_ends.add_loop(t.o);
    at_ends.add_loop(t.p);
    at_ends.add_movement(beyond);
    CHECK(counted(at_ends) == amounts{{6, 9 - 2}});
    movement const always = row_of(t.plan, 6, {{keep(t.plan, 4), 4, -1, clip_kind::beyond}, {other, 6, -1, clip_kind::beyond}});
    trip_count everywhere(t.plan);
    everywhere.add_loop(t.p);
    everywhere.add_movement(always);
    CHECK(counted(everywhere) == amounts{{6, 3}});
}
TEST_CASE("a border shortens nothing: it is written") {
    tiles t;
    movement const moved = row_of(t.plan, 4, {{keep(t.plan, 0, {{4, t.o}}), 10, -1, clip_kind::border_end}});
    trip_count trips(t.plan);
    trips.add_loop(t.o);
    trips.add_movement(moved);
    CHECK_FALSE(trips.limited());
    CHECK(counted(trips) == amounts{{4, 3}});
}
TEST_CASE("steps cover what an end leaves of an axis, rounded up to the loops that move it") {
    // Steps of up to 4 of an axis of 10, and of up to 3 of one of 7 by two elements at a time: of (7 + 1 - 3 p) / 2 there are 4, 2, 1.
    tiles t;
    t.plan.step_extents.push({.axis = 0, .most = 4});
    t.plan.step_extents.push({0, 4, 1, keep(t.plan, 0, {{4, t.o}}), 10});
    t.plan.step_extents.push({.axis = 1, .most = 3});
    t.plan.step_extents.push({1, 3, 2, keep(t.plan, 0, {{3, t.p}}), 7});
    auto const covered = [&](unsigned axes) {
        trip_count trips(t.plan);
        trips.add_loop(t.o);
        trips.add_loop(t.p);
        trips.add_steps(0, 4, axes);
        auto const all = trips.counted_steps();
        std::vector<std::array<std::int64_t, 3>> found;
        for (int at = 0; at < all.size(); ++at) found.push_back({all[at].extents[0], all[at].extents[1], all[at].times});
        std::sort(found.rbegin(), found.rend());
        return found;
    };
    using steps = std::vector<std::array<std::int64_t, 3>>;
    CHECK(covered(0b01) == steps{{4, 3, 2 * 3}, {2, 3, 1 * 3}});
    CHECK(covered(0b11) == steps{{4, 3, 2}, {4, 2, 2}, {4, 1, 2}, {2, 3, 1}, {2, 2, 1}, {2, 1, 1}});
    CHECK(covered(0) == steps{{4, 3, 9}});
}
TEST_CASE("what cannot be counted is said, with how many can") {
    // Rows of 65 elements, each shorter by one than the one before.
    tiles t;
    std::int16_t const rows = add_loop(t.plan, "rows", 65);
    movement const triangle = row_of(t.plan, 65, {{keep(t.plan, 0, {{1, rows}}), 65, -1, clip_kind::end}});
    trip_count trips(t.plan);
    trips.add_loop(rows);
    trips.add_movement(triangle);
    trips.counted();
    REQUIRE(trips.beyond().what != nullptr);
    CHECK(std::string(trips.beyond().what) == "sizes of partial tiles");
    CHECK(trips.beyond().most == 64);
    trip_count loops(t.plan);
    for (int at = 0; at < 37; ++at) loops.add_loop(add_loop(t.plan, "another", 1));
    CHECK(std::string(loops.beyond().what) == "nested loops");
    CHECK(loops.beyond().most == 36);
}
