#include <tilewright/plan/loops/level.hpp>

#include <vector>

#include "plan/loops/built_loops.hpp"

// What varies outside a loop, and what varies inside it.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis f{"f"};
/// Loops a of 3 and b of 4, and a number from run time of up to 9.
struct some_loops : blank {
    std::int16_t a = add_loop(p.plan, "a", 3), b = add_loop(p.plan, "b", 4);
    std::int16_t given = static_cast<std::int16_t>(p.add(variable{.name = "g", .extent = 9, .kind = variable_kind::extent}));
};

}  // namespace

TEST_CASE("a loop is outside of the levels behind it, and a part of a fused one where its whole is") {
    built t(schedule(copy, blocking).split(m, mo, mi, 4));
    variable_id const o = t.loop("mo"), i = t.loop("mi"), last = t.loop("n");
    auto const sides = [&](int depth) {
        return std::vector<side>{side_of(t.p, 0_stage, o, depth), side_of(t.p, 0_stage, i, depth), side_of(t.p, 0_stage, last, depth)};
    };
    CHECK(sides(0) == std::vector<side>{side::inside, side::inside, side::inside});
    CHECK(sides(2) == std::vector<side>{side::outside, side::outside, side::inside});
    variable_id const lane = t.p.add(variable{.kind = variable_kind::lane});
    CHECK(side_of(t.p, 0_stage, lane, 3) == side::inside);
    built fused(schedule(copy, blocking).fuse(m, n, f).split(f, mo, mi, 8));
    variable_id const row = fused.p.nest_at(0).axes[fused.axis_at("m")].variable;
    CHECK((side_of(fused.p, 0_stage, row, 0) == side::inside && side_of(fused.p, 0_stage, row, 1) == side::across &&
           side_of(fused.p, 0_stage, row, 2) == side::outside));
}
TEST_CASE("a form is highest where its loops are last, or first") {
    some_loops t;
    linear const form = sum_of(5, {{2, t.a}, {-3, t.b}});
    CHECK(highest_of(t.p, form) == 5 + 4);
    CHECK(lowest_of(t.p, form) == 5 - 9);
    // What run time gives is between 1 and the most.
    CHECK(highest_of(t.p, sum_of(0, {{2, t.given}})) == 18);
    CHECK(highest_of(t.p, sum_of(0, {{-2, t.given}})) == -2);
}
TEST_CASE("the values of a form are multiples of what its terms have in common") {
    some_loops t;
    CHECK(grain_of(t.p, sum_of(0, {{6, t.a}, {4, t.b}})) == 2);
    CHECK(grain_of(t.p, sum_of(9, {{6, t.a}})) == 3);
    CHECK(grain_of(t.p, linear{}) == 0);
    // (6 a) % 4 is even, 6 a / 3 too; 6 a / 4 can be anything.
    std::int16_t const wrapped = add_component(t.p.plan, keep(t.p.plan, 0, {{6, t.a}}), 1, 4, 4),
                       divided = add_component(t.p.plan, keep(t.p.plan, 0, {{6, t.a}}), 3, 0, 5),
                       broken = add_component(t.p.plan, keep(t.p.plan, 0, {{6, t.a}}), 4, 0, 4);
    CHECK(grain_of(t.p, sum_of(0, {{5, wrapped}})) == 10);
    CHECK(grain_of(t.p, sum_of(0, {{5, divided}})) == 10);
    CHECK(grain_of(t.p, sum_of(0, {{5, broken}})) == 5);
}
TEST_CASE("in a row lies what is no multiple of it, as far as loops and their grain allow") {
    some_loops t;
    CHECK((row_of({.divisor = 6}) == 6 && row_of({.divisor = 2, .modulus = 8}) == 8));
    CHECK(same(rest_of(sum_of(7, {{6, t.a}, {4, t.b}}), 6), sum_of(0, {{4, t.b}})));
    CHECK(furthest_in_row(t.p, sum_of(0, {{6, t.a}, {1, t.b}}), 6) == 3);
    CHECK(furthest_in_row(t.p, sum_of(0, {{4, t.b}}), 6) == 4);  // 0, 4, 2, 0
    CHECK(furthest_in_row(t.p, sum_of(0, {{5, t.b}}), 6) == 5);
}
TEST_CASE("a part of a whole is a form where that is linear, else a variable, which is made once") {
    some_loops t;
    variable const quotient{.extent = 10, .kind = variable_kind::component, .divisor = 6},
        remainder{.extent = 6, .kind = variable_kind::component, .modulus = 6};
    int const before = t.p.plan.variables.size();
    linear const rows = sum_of(0, {{12, t.a}, {1, t.b}});
    CHECK(same(part_of(t.p, rows, quotient), sum_of(0, {{2, t.a}})));
    CHECK(same(part_of(t.p, rows, remainder), sum_of(0, {{1, t.b}})));
    CHECK(t.p.plan.variables.size() == before);
    linear const across = sum_of(0, {{12, t.a}, {4, t.b}});  // 0, 4, 8, 12: rows 0, 0, 1, 2
    linear const made = part_of(t.p, across, quotient), again = part_of(t.p, across, quotient);
    REQUIRE(t.p.plan.variables.size() == before + 1);
    CHECK(same(made, sum_of(0, {{2, t.a}, {1, before}})));
    CHECK(same(again, made));
    CHECK((t.p.var(before).extent == 3 && same(t.p.form_of(t.p.var(before).fused), sum_of(0, {{4, t.b}}))));
    linear const rest = part_of(t.p, across, remainder);
    CHECK(t.p.var(rest.terms[0].variable).extent == 5);  // 0, 4, 2, 0
}
TEST_CASE("reductions around a level are those of several iterations") {
    built t(schedule(product, blocking).split(k, ko, ki, 5).reorder(ko, m, ki, n));
    std::vector<int> found;
    each_reduction_around(t.p, 0_stage, 3, [&](int loop) { found.push_back(loop); });
    CHECK(found == std::vector<int>{t.loop("ki")});  // ko has one
    found.clear();
    each_reduction_around(t.p, 0_stage, 2, [&](int loop) { found.push_back(loop); });
    CHECK(found.empty());
}
