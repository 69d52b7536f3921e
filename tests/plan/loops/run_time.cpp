#include <tilewright/plan/loops/run_time.hpp>

#include "plan/small_kernels.hpp"

// Extents that are left to run time, and the counts of tiles that follow from them.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis open{"m", dynamic}, bounded{"k", dynamic.up_to(50)};
constexpr tensor<std::int32_t> S{"S"};
constexpr auto sums = C(open, n) = sum(bounded, A(open, bounded));

/// Extents m 0, without a bound, and k 1, up to 50.
struct extents : blank {
    extents() : blank(blocking, sums.view()) { add_extents(p); }
};
constexpr std::int64_t most = run_time_extent::most_of_all;

}  // namespace

TEST_CASE("extents of the result and of reductions are the first variables, each once") {
    extents t;
    REQUIRE(t.p.plan.run_time_extents == 2);
    CHECK((t.p.var(0).name == "m" && t.p.var(0).extent == most && t.p.var(1).name == "k" && t.p.var(1).extent == 50));
    stage const& st = t.p.stage_at(0);
    CHECK((extent_of(t.p, st.axes[0]) == 0 && extent_of(t.p, st.axes[2]) == 1 && extent_of(t.p, st.axes[1]) == -1));
    CHECK((is_given(t.p.var(0)) && !is_given(variable{}) && is_given(variable{.kind = variable_kind::count})));
    // An axis of an intermediate tensor that is no extent goes as far as it is read.
    static constexpr axis between{"b", dynamic};
    auto const two = stages(S(between) = A(between, n), C(open, n) = S(open));
    blank other(blocking, two.view());
    add_extents(other.p);
    CHECK(other.p.plan.run_time_extents == 1);
    CHECK(reaches_as_read(other.p, other.p.stage_at(0).axes[0]));
    CHECK_FALSE(reaches_as_read(other.p, other.p.stage_at(1).axes[0]));
}
TEST_CASE("an axis of one name has one bound") {
    static constexpr axis other{"m", dynamic.up_to(9)};
    auto const two = stages(S(other) = A(other, 0), C(open, n) = S(open));
    blank t(blocking, two.view());
    add_extents(t.p);
    CHECK(t.p.first_verdict().broken == rule::axis_with_two_extents);
}
TEST_CASE("tiles of an extent are counted, the last one included, and all of it is itself") {
    extents t;
    int const tiles = count_of(t.p, 1_variable, 1, 8, "ko", 0);
    variable const& count = t.p.var(tiles);
    CHECK((count.kind == variable_kind::count && count.extent == 7 && count.divisor == 8));  // of 50
    CHECK(same(t.p.form_of(count.fused), sum_of(7, {{1, 1}})));
    CHECK(count_of(t.p, 1_variable, 1, 1, "all", 0) == 1);
    // six of each
    int const six = count_of(t.p, 1_variable, 6, 1, "f", 0);
    CHECK((t.p.var(six).extent == 300 && same(t.p.form_of(t.p.var(six).fused), sum_of(0, {{6, 1}}))));
}
TEST_CASE("an extent without a bound gets one that numbers can hold, a bounded one is refused") {
    extents t;
    count_of(t.p, 0_variable, 8, 1, "f", 0);
    CHECK(t.p.var(0).extent == most / 8);
    CHECK_FALSE(t.p.refused());
    extents tight;
    restrict_extent(tight.p, 1, 50, 3);
    CHECK_FALSE(tight.p.refused());
    restrict_extent(tight.p, 1, 49, 3);
    CHECK(tight.p.first_verdict().kind == verdict_kind::capacity_of_representation);
    CHECK((tight.p.first_verdict().facts[0].value == 50 && tight.p.first_verdict().facts[1].value == 49 &&
           tight.p.first_verdict().names[1] == "k"));
    // A count hands it on to the extent that it follows from.
    extents counted;
    int const tiles = count_of(counted.p, 0_variable, 1, 4, "mo", 0);
    restrict_extent(counted.p, tiles, 1000, 0);
    CHECK((counted.p.var(tiles).extent == 1000 && counted.p.var(0).extent == 4000));
}
TEST_CASE("where an axis ends is a number, or run time's") {
    linear form = sum_of(0, {{1, 5}});
    CHECK(end_before(form, {.extent = 10}) == 10);
    CHECK(form.count == 1);
    CHECK(end_before(form, {.extent = 10, .trips = 0_variable}) == 0);
    CHECK(same(form, sum_of(0, {{-1, 0}, {1, 5}})));
    extents t;
    linear beyond = sum_of(3, {{1, 5}});
    CHECK(take_highest(t.p, t.p.keep(sum_of(-1, {{1, 0}})), beyond) == -1);
    CHECK(same(beyond, sum_of(3, {{-1, 0}, {1, 5}})));
}
TEST_CASE("an extent is open when nothing bounds it, and so is what is counted of it") {
    extents t;
    CHECK((is_open(t.p, 0) && !is_open(t.p, 1)));
    int const of_open = count_of(t.p, 0_variable, 1, 4, "mo", 0), of_bounded = count_of(t.p, 1_variable, 1, 4, "ko", 0);
    CHECK(open_extent_of(t.p, of_open) == 0);
    CHECK(open_extent_of(t.p, of_bounded) == -1);
    CHECK(open_extent_of(t.p, -1) == -1);
}
