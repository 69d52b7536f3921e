#include <tilewright/plan/loops/nest.hpp>

#include <tilewright/base/label_text.hpp>

#include "plan/loops/built_loops.hpp"

// The directives of one stage make its loops.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

schedule copied() { return schedule(copy, blocking); }
constexpr axis f{"f"};
rule broken_by(schedule const& of) { return built(of).p.first_verdict().broken; }
verdict_kind refused_by(schedule const& of) { return built(of).p.first_verdict().kind; }
constexpr tensor<float> x{"x"}, y{"y"};
constexpr auto sums = y(m) = sum(k, x(m, k));

}  // namespace

TEST_CASE("a split makes tiles, rounded up, around what a tile has") {
    built const tiles(copied().split(m, mo, mi, 4));
    CHECK(tiles.order() == "mo mi n");
    CHECK((tiles.p.var(tiles.loop("mo")).extent == 3 && tiles.p.var(tiles.loop("mi")).extent == 4));
    CHECK(tiles.p.nest_at(0).partial);
    CHECK(same(tiles.p.placed(0).axis_values[0], sum_of(0, {{4, tiles.loop("mo")}, {1, tiles.loop("mi")}})));
    built const whole(copied().split(m, mo, mi, 5));
    CHECK((whole.p.var(whole.loop("mo")).extent == 2 && !whole.p.nest_at(0).partial));
    // One tile needs no more than there is.
    built const one(copied().split(m, mo, mi, 64));
    CHECK((one.p.var(one.loop("mo")).extent == 1 && one.p.var(one.loop("mi")).extent == 10));
    verdict const zero = built(copied().split(m, mo, mi, 0)).p.first_verdict();
    CHECK(zero.kind == verdict_kind::invalid_number);
    CHECK((zero.facts[0].value == 0 && zero.facts[1].value == 1));
}
TEST_CASE("tiles of two loops, and another order: loops that are not named keep their places") {
    CHECK(built(copied().tile(m, n, mo, no, mi, ni, 4, 3)).order() == "mo no mi ni");
    CHECK(built(copied().split(m, mo, mi, 4).reorder(n, mo)).order() == "n mi mo");
    CHECK(refused_by(copied().reorder(m, m)) == verdict_kind::axis_used_twice);
    CHECK(refused_by(copied().split(m, mo, mi, 4).reorder(m, n)) == verdict_kind::unknown_axis);
    CHECK(refused_by(copied().split(m, n, mi, 4)) == verdict_kind::axis_used_twice);
}
TEST_CASE("a fused loop runs over both, which are its quotient and its remainder") {
    built const fused(copied().fuse(m, n, f));
    CHECK(fused.order() == "f");
    CHECK(fused.p.var(fused.loop("f")).extent == 60);
    variable const& row = fused.p.var(fused.p.nest_at(0).axes[fused.axis_at("m")].variable);
    variable const& column = fused.p.var(fused.p.nest_at(0).axes[fused.axis_at("n")].variable);
    CHECK((row.kind == variable_kind::component && row.divisor == 6 && row.modulus == 0 && row.extent == 10));
    CHECK((column.divisor == 1 && column.modulus == 6 && column.extent == 6));
    // Split again, the whole is a form of its parts.
    built const again(copied().fuse(m, n, f).split(f, mo, mi, 8));
    variable const& part = again.p.var(again.p.nest_at(0).axes[again.axis_at("m")].variable);
    CHECK(same(again.p.form_of(part.fused), sum_of(0, {{8, again.loop("mo")}, {1, again.loop("mi")}})));
    CHECK(broken_by(copied().fuse(n, m, f)) == rule::not_directly_around);
    CHECK(broken_by(schedule(sums, blocking).fuse(m, k, f)) == rule::reduction_fused_with_another);
}
TEST_CASE("marks split what they do not take as a whole, and a marked loop stays as it is") {
    built const lanes(copied().vectorize(n, 4));
    CHECK(lanes.order() == "m n.outer n.lanes");
    CHECK((lanes.p.var(lanes.loop("n.lanes")).vectorized && lanes.p.var(lanes.loop("n.lanes")).extent == 4));
    CHECK_FALSE(lanes.p.var(lanes.loop("n.outer")).vectorized);
    CHECK(built(copied().vectorize(n, 6)).order() == "m n");
    CHECK(built(copied().unroll(m)).p.plan.variables[0].unrolled);
    CHECK(refused_by(copied().unroll(m).split(m, mo, mi, 2)) == verdict_kind::conflicting_directives);
    CHECK(broken_by(schedule(sums, blocking).vectorize(k)) == rule::vectorized_reduction);
    CHECK(broken_by(schedule(sums, blocking).parallel(k)) == rule::parallel_reduction);
    CHECK(refused_by(schedule(product, blocking).vectorize(k)) == verdict_kind::none);  // of integers any order is the same
}
TEST_CASE("a tensorized loop is one of the innermost, and stays where it is") {
    static constexpr axis r{"r", 4};
    static constexpr tensor<std::int32_t> from{"from"}, to{"to"};
    static constexpr auto step = intrinsic("step", to(r) = from(r) + 1).reads(from, spad).writes(to, spad);
    static constexpr auto on = machine("on", dram, spad, step);
    built const taken(schedule(copy, on).tensorize(n, step));
    CHECK((taken.p.nest_at(0).intrinsic == 0 && taken.p.nest_at(0).covered_count == 1));
    CHECK(taken.p.nest_at(0).covered[0] == taken.axis_at("n"));
    verdict const outer = built(schedule(copy, on).tensorize(m, step)).p.first_verdict();
    CHECK((outer.broken == rule::not_innermost && outer.names[0] == "m" && outer.names[1] == "n"));
    CHECK(broken_by(schedule(copy, on).tensorize(n, step).split(n, no, ni, 2)) == rule::behind_tensorize);
    CHECK(refused_by(schedule(copy, on).tensorize(n, step).tensorize(n, step)) == verdict_kind::conflicting_directives);
    CHECK(refused_by(schedule(copy, blocking).tensorize(n, step)) == verdict_kind::unknown_part);
}
TEST_CASE("a name that is made is cut where it would be too long, in front of the dot") {
    CHECK(dotted("A", "spad") == "A.spad");
    std::string const longest(label::longest, 'a');
    label const cut = dotted(label(longest.c_str()), "outer");
    CHECK(cut.str() == longest.substr(0, label::longest - 6) + ".outer");
}
TEST_CASE("loops over extents that run time gives have counts of tiles") {
    static constexpr axis open{"m", dynamic.up_to(100)};
    static constexpr auto open_copy = C(open, n) = A(open, n);
    built const tiles(schedule(open_copy, blocking).split(open, mo, mi, 8));
    variable const& outer = tiles.p.var(tiles.loop("mo"));
    REQUIRE(outer.trips >= 0);
    variable const& count = tiles.p.var(outer.trips);
    CHECK((outer.extent == 13 && count.kind == variable_kind::count && count.divisor == 8));
    CHECK(same(tiles.p.form_of(count.fused), sum_of(7, {{1, 0}})));
    CHECK(tiles.p.nest_at(0).partial);
    CHECK(broken_by(schedule(open_copy, blocking).unroll(open)) == rule::run_time_loop);
    CHECK(broken_by(schedule(open_copy, blocking).reorder(n, open).fuse(n, open, f)) == rule::run_time_inside_fused);
}
