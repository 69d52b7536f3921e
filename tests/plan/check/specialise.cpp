#include <tilewright/plan/check/specialise.hpp>

#include <stdexcept>
#include <string>
#include <tilewright/plan/planner.hpp>
#include <vector>

#include "plan/small_kernels.hpp"

// What a plan with open extents is when they are known.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis rows{"m", dynamic}, few{"m", dynamic.up_to(20)};
constexpr auto open_copy = C(rows, n) = A(rows, n);
constexpr auto bounded_copy = C(few, n) = A(few, n);

plan_value in_tiles(computation_view what, machine const& on = blocking, int versions = 1) {
    schedule of(what, on);
    of.split("m", mo, mi, 4).cache_read(A, spad).at(mo);
    if (versions > 1) of.by(fetch).buffers(versions);
    plan_value made = make_plan(of);
    REQUIRE_FALSE(made.refusal);
    return made;
}
open_extents at(std::int64_t extent) {
    open_extents extents{};
    extents[0] = extent;
    return extents;
}
using sizes = std::vector<std::int64_t>;
sizes sizes_of(plan_value const& plan, bool thorough) {
    sizes all;
    for (representatives some(plan, thorough); some.next();) all.push_back(some.extents[0]);
    return all;
}

}  // namespace

TEST_CASE("extents, tiles and arguments have the numbers that are given") {
    plan_value const open = in_tiles(open_copy.view());
    specialisation const ten = specialised(open, at(10));
    REQUIRE(ten.wrong == nullptr);
    plan_value const& plan = ten.plan;
    CHECK(plan.run_time_extents == 0);
    CHECK(plan.variables[0].extent == 10);
    open_extents const numbers = given_numbers(open, at(10));
    for (int v = 1; v < open.variables.size(); ++v) {
        if (open.variables[v].kind == variable_kind::count) CHECK(numbers[v] == 3);  // tiles of 4, the last of 2
    }
    CHECK((plan.buffers[0].extents[0] == 10 && plan.buffers[0].bytes == 240));
    CHECK(plan.bytes(get) == 240);
    CHECK(plan.calls(get) == 3);
    CHECK(plan.total_cycles == 240 + 10 * 6 * 2);
    CHECK(plan.stages[0].axes[0].extent == 10);
}
TEST_CASE("a dimension that is read below 0 alone is as long as what is read of it") {
    constexpr auto below = C(rows) = A(rows, -3, -2);
    specialisation const five = specialised(make_plan(schedule(below, blocking)), at(5));
    buffer const& read = five.plan.buffers[0];
    CHECK((read.extents[0] == 5 && read.extents[1] == 1 && read.extents[2] == 1));
    CHECK((read.minimum[1] == -3 && read.minimum[2] == -2 && read.bytes == 20));
}
TEST_CASE("one tile that is whole, and one that is not") {
    plan_value const open = in_tiles(open_copy.view());
    CHECK(specialised(open, at(4)).plan.calls(get) == 1);
    CHECK(specialised(open, at(5)).plan.calls(get) == 2);
    CHECK(specialised(open, at(1)).plan.bytes(get) == 24);
}
TEST_CASE("an extent that is missing or too large is said") {
    plan_value const open = in_tiles(bounded_copy.view());
    CHECK(specialised(open, at(20)).wrong == nullptr);
    CHECK(std::string(specialised(open, at(21)).wrong) == "an extent is beyond the most that it can be");
    CHECK(std::string(specialised(open, at(0)).wrong) == "an extent is missing, or less than 1");
    plan_value const without_bound = in_tiles(open_copy.view());
    CHECK(std::string(specialised(without_bound, at(std::int64_t{1} << 30)).wrong) ==
          "an argument has more elements than can be counted");  // 6 * 2^30
}
TEST_CASE("a ring has the steps of its loops, and no more of them are loaded ahead") {
    plan_value const open = in_tiles(open_copy.view(), asynchronous, 3);
    REQUIRE(open.rings[0].run_time);
    plan_value const two = specialised(open, at(8)).plan, four = specialised(open, at(13)).plan;
    CHECK((two.rings[0].steps == 2 && four.rings[0].steps == 4 && !two.rings[0].run_time));
    CHECK((two.bytes(fetch) == 8 * 24 && four.bytes(fetch) == 13 * 24));
    CHECK(two.calls(fetch) == 2);
}
TEST_CASE("extents are told by name") {
    plan_value const open = in_tiles(bounded_copy.view());
    CHECK(extents_by_name(open, std::vector<axis_extent>{{"m", 7}})[0] == 7);
    CHECK(extents_by_name(open, std::vector<axis_extent>{})[0] == 0);
    CHECK_THROWS_AS(extents_by_name(open, std::vector<axis_extent>{{"n", 7}}), bad_query);
    CHECK(open.at({{few, 7}}).bytes(get) == 7 * 24);
    CHECK_THROWS_AS(open.at({{few, 21}}), bad_query);
}
TEST_CASE("extents that stand for others fill a pipeline and drain it, the last tile being partial") {
    plan_value const plain = in_tiles(open_copy.view()), deep = in_tiles(open_copy.view(), asynchronous, 3);
    CHECK(elements_of_iteration(plain, 0) == 4);
    CHECK(sizes_of(plain, false) == sizes{1, 5});
    CHECK(sizes_of(deep, false) == sizes{1, 3 * 4 + 1});
    // Then as many whole tiles as versions, and every number of tiles up to four, partial and whole.
    CHECK(sizes_of(plain, true) == sizes{1, 5, 4, 1, 4, 5, 8, 9, 12, 13, 16});
    // Of what has no room, each once.
    CHECK(sizes_of(in_tiles(bounded_copy.view(), asynchronous, 3), true) == sizes{1, 13, 12, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20});
}
TEST_CASE("a hazard at some extent is found, and refused") {
    plan_value open = in_tiles(open_copy.view(), asynchronous, 2);
    CHECK_FALSE(find_hazard_at_any(open));
    for (int s = 0; s < open.steps.size(); ++s) {
        if (open.steps[s].kind == step_kind::wait) open.steps[s] = {step_kind::barrier, -1};
    }
    CHECK(find_hazard_at_any(open).broken == rule::read_before_written);
    blank t(asynchronous, open_copy.view());
    t.p.plan = open;
    check_representatives(t.p.plan, t.p);
    CHECK(t.p.first_verdict().kind == verdict_kind::race);
}
