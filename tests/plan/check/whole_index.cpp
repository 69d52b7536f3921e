#include <tilewright/plan/check/whole_index.hpp>

#include "plan/small_kernels.hpp"

// Which indices tell the number that they are parts of.

using namespace small_kernels;
using tilewright::detail::place_of_parts, tilewright::detail::whole_finder;

namespace {

/// f = 5 core + step, of 20; row = f / 6, column = f % 6.
struct shared_loop {
    plan_value plan{};
    variable_id core = add_loop(plan, "core", 4), step = add_loop(plan, "step", 5), other = add_loop(plan, "other", 3), row{}, column{};

    shared_loop() {
        plan.variables[core].distributed = true;
        row = part(4, 6, 0), column = part(6, 1, 6);
    }
    variable_id part(std::int64_t extent, std::int64_t divisor, std::int64_t modulus) {
        return add_component(plan, keep(plan, 0, {{5, core}, {1, step}}), divisor, modulus, extent);
    }
    /// Whether two indices tell f.
    bool tell(affine const& first, affine const& second, std::int64_t reach = 0, bool goes_on = false) const {
        fixed_array<affine, 2> const at{first, second};
        whole_finder finder(plan, {at.elements, 2, {0, reach}, {false, goes_on}});
        CHECK(finder.has_parts_of_shares());
        return finder.find() && finder.limit() == 0;
    }
};

}  // namespace

TEST_CASE("quotient and remainder tell the whole") {
    shared_loop of;
    plan_value& p = of.plan;
    CHECK(of.tell(keep(p, 0, {{1, of.row}}), keep(p, 2, {{1, of.column}})));
    CHECK(of.tell(keep(p, 0, {{1, of.column}}), keep(p, 0, {{1, of.row}})));
    // Two rows a step, four columns a step, of which a tile takes all.
    CHECK(of.tell(keep(p, 0, {{3, of.row}, {1, of.other}}), keep(p, 0, {{4, of.column}}), 3));
    // Both in one index.
    CHECK(of.tell(keep(p, 0, {{6, of.row}, {1, of.column}}), keep(p, 0)));
    // Whole rounds of columns beside them.
    CHECK(of.tell(keep(p, 0, {{1, of.row}}), keep(p, 0, {{1, of.column}, {6, of.other}})));
}
TEST_CASE("an index that reaches beyond a step does not tell its part") {
    shared_loop of;
    plan_value& p = of.plan;
    CHECK_FALSE(of.tell(keep(p, 0, {{1, of.row}}), keep(p, 0, {{4, of.column}}), 4));
    CHECK_FALSE(of.tell(keep(p, 0, {{2, of.row}, {1, of.other}}), keep(p, 0, {{1, of.column}})));
    CHECK_FALSE(of.tell(keep(p, 0, {{1, of.row}}), keep(p, 0, {{1, of.column}, {5, of.other}})));
    CHECK_FALSE(of.tell(keep(p, 5, {{-1, of.row}}), keep(p, 0, {{1, of.column}})));
    CHECK_FALSE(of.tell(keep(p, 0, {{1, of.row}}), keep(p, 0, {{1, of.column}}), 0, true));
}
TEST_CASE("a part alone, or parts by other divisors, do not tell the whole") {
    shared_loop of;
    plan_value& p = of.plan;
    CHECK_FALSE(of.tell(keep(p, 0, {{1, of.row}}), keep(p, 0)));
    CHECK_FALSE(of.tell(keep(p, 0, {{1, of.row}}), keep(p, 0, {{1, of.part(4, 1, 4)}})));
    // A remainder does, of numbers that are smaller.
    fixed_array<affine, 1> const at{keep(p, 0, {{1, of.column}})};
    whole_finder finder(p, {at.elements, 1});
    REQUIRE(finder.find());
    CHECK(finder.limit() == 6);
    // Without a core there is nothing to tell.
    fixed_array<affine, 1> const still{keep(p, 0, {{1, of.other}})};
    CHECK_FALSE(whole_finder(p, {still.elements, 1}).has_parts_of_shares());
}
