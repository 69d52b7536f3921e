#include <tilewright/plan/loops/tile_rest.hpp>

#include "plan/small_kernels.hpp"

// What is left of a tile where its axis ends inside of it.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// Loops o outside; a of 2 and b of 2 in the body.
struct tiles {
    plan_value plan = empty_plan(blocking, copy.view());
    variable_id o = add_loop(plan, "o", 5), a = add_loop(plan, "a", 2), b = add_loop(plan, "b", 2);
    body in;
    tiles() { in.loops[in.loop_count++] = a, in.loops[in.loop_count++] = b; }
    tile_rest of(std::int64_t bound, std::int64_t constant, std::initializer_list<summand> summands) {
        return rest_of_tile(plan, {keep(plan, constant, summands), bound, 0_stage, no_variable, false}, in);
    }
};

}  // namespace

TEST_CASE("tiles of four of ten: the last one always has two") {
    tiles t;
    tile_rest const rest = t.of(10, 0, {{4, t.o}, {2, t.a}, {1, t.b}});
    CHECK((rest.constant && rest.values == 2));
    REQUIRE(rest.loop_count == 2);
    CHECK((rest.loops[0] == t.a && rest.steps[0] == 2 && rest.loops[1] == t.b && rest.steps[1] == 1));
    CHECK(t.of(12, 0, {{4, t.o}, {2, t.a}, {1, t.b}}).values == 0);
    CHECK(t.of(10, 3, {{4, t.o}, {2, t.a}, {1, t.b}}).values == 3);   // from 3 on: 10 - 3 - 4
    CHECK(t.of(10, 11, {{4, t.o}, {2, t.a}, {1, t.b}}).values == 3);  // -1 % 4
}
TEST_CASE("where tiles overlap, what is left changes") {
    tiles t;
    CHECK_FALSE(t.of(10, 0, {{2, t.o}, {2, t.a}, {1, t.b}}).constant);
    CHECK(t.of(10, 0, {{6, t.o}, {2, t.a}, {1, t.b}}).constant);
    // 10 % 6 is a whole tile of four
    CHECK(t.of(10, 0, {{6, t.o}, {2, t.a}, {1, t.b}}).values == 0);
}
TEST_CASE("a body that nothing moves outside has what the bound leaves") {
    tiles t;
    tile_rest const rest = t.of(3, 0, {{2, t.a}, {1, t.b}});
    CHECK((rest.constant && rest.values == 3));
    CHECK(t.of(4, 0, {{2, t.a}, {1, t.b}}).values == 0);
    CHECK(t.of(-1, 0, {{2, t.a}, {1, t.b}}).values == 0);
}
TEST_CASE("loops with gaps between them, that run down, or that run time ends have no such number") {
    tiles t;
    CHECK_FALSE(t.of(10, 0, {{4, t.o}, {3, t.a}, {1, t.b}}).constant);
    CHECK_FALSE(t.of(10, 0, {{4, t.o}, {2, t.a}}).constant);
    CHECK_FALSE(t.of(10, 0, {{4, t.o}, {2, t.a}, {-1, t.b}}).constant);
    std::int16_t const given = static_cast<std::int16_t>(t.plan.variables.push({.extent = 100, .kind = variable_kind::extent}));
    CHECK_FALSE(t.of(0, 0, {{4, t.o}, {2, t.a}, {1, t.b}, {-1, given}}).constant);
    // a part of a loop of the body
    variable_id const part = add_component(t.plan, keep(t.plan, 0, {{1, t.a}}), 1, 2, 2);
    CHECK_FALSE(t.of(10, 0, {{4, part}, {2, t.a}, {1, t.b}}).constant);
}
TEST_CASE("loops of one iteration do not count") {
    tiles t;
    t.plan.variables[t.a].extent = 1;
    CHECK(t.of(7, 0, {{2, t.o}, {9, t.a}, {1, t.b}}).values == 1);
}
