#include <tilewright/plan/place/joined_rows.hpp>

#include "plan/passes.hpp"

// Steps of an intrinsic go on from the end of a row to the next row, where rows follow each other without gaps.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis mn{"mn"};
constexpr tensor<std::int32_t> c{"c"}, d{"d"}, e{"e"};
constexpr auto negated = C(m, n) = -A(m, n);

/// Negates so many elements.
intrinsic negate_by(std::int64_t count) {
    axis const i{"i", count};
    return intrinsic("negate", c(i) = -d(i)).reads(d, spad).writes(c, spad);
}
/// Ten rows of six as one loop.
schedule as_one_loop(computation_view what, machine const& on, intrinsic const& step) {
    return schedule(what, on).fuse(m, n, mn).cache_read(A, spad).cache_write(C, spad).tensorize(mn, step);
}
void check_refused(schedule const& how, std::int64_t has, std::int64_t asked) {
    planned_to const t(pass::program, how);
    CHECK(t.refusal().kind == verdict_kind::intrinsic_mismatch);
    CHECK(t.refusal().broken == rule::covered_by_a_fused_loop);
    CHECK((t.refusal().facts[0].value == has && t.refusal().facts[1].value == asked));
}

}  // namespace

TEST_CASE("a step covers whole rows of a fused loop, and begins where the first of them does") {
    intrinsic const two_rows = negate_by(12);
    auto const on = machine("on", dram, spad, get, put, two_rows);
    planned_to const t(pass::program, as_one_loop(negated.view(), on, two_rows));
    REQUIRE_FALSE(t.p.refused());
    REQUIRE(t.p.plan.bodies.size() == 1);
    body const& step = t.p.plan.bodies[0];
    CHECK(t.p.var(t.variable("mn")).extent == 5);
    for (int operand : {0, 1}) {
        operand_use const& o = t.p.plan.operands[step.operands + operand];
        CHECK((o.joined == 0 && o.dimension[0] == 1 && o.factor[0] == 1));
        CHECK(same(t.p.form_of(o.at[0]), sum_of(0, {{2, t.variable("mn")}})));
        CHECK(same(t.p.form_of(o.at[1]), sum_of(0)));
    }
}
TEST_CASE("a step covers a part of each row, and never goes past its end") {
    intrinsic const half = negate_by(3);
    auto const on = machine("on", dram, spad, get, put, half);
    planned_to const t(pass::program, as_one_loop(negated.view(), on, half));
    REQUIRE_FALSE(t.p.refused());
    CHECK(t.p.var(t.variable("mn")).extent == 20);
    // Row 3 s / 6, from element 3 s % 6 on.
    operand_use const& o = t.p.plan.operands[t.p.plan.bodies[0].operands];
    for (int dimension : {0, 1}) {
        linear const at = t.p.form_of(o.at[dimension]);
        REQUIRE(at.count == 1);
        variable const& part = t.p.var(at.terms[0].variable);
        CHECK(same(t.p.form_of(part.fused), sum_of(0, {{3, t.variable("mn")}})));
        CHECK((part.divisor == (dimension == 0 ? 6 : 1) && part.modulus == (dimension == 0 ? 0 : 6)));
    }
}
TEST_CASE("a step begins in a row where the one before ended") {
    intrinsic const four = negate_by(4);
    auto const on = machine("on", dram, spad, get, put, four);
    planned_to const t(pass::program, as_one_loop(negated.view(), on, four));
    REQUIRE_FALSE(t.p.refused());
    CHECK(t.p.var(t.variable("mn")).extent == 15);
    operand_use const& o = t.p.plan.operands[t.p.plan.bodies[0].operands];
    variable const& column = t.p.var(t.p.form_of(o.at[1]).terms[0].variable);
    CHECK((o.joined == 0 && column.divisor == 1 && column.modulus == 6));
    CHECK(same(t.p.form_of(column.fused), sum_of(0, {{4, t.variable("mn")}})));
}
TEST_CASE("a fixed step does not go past the end of the last row") {
    intrinsic const two_rows = negate_by(12);
    auto const on = machine("on", dram, spad, get, put, two_rows);
    static constexpr axis seven{"m", 7};
    auto const odd = C(seven, n) = -A(seven, n);
    check_refused(as_one_loop(odd.view(), on, two_rows), 6, 0);
}
TEST_CASE("rows that are staged with more than a step covers lie apart") {
    axis const i{"i", 12};
    auto const add = intrinsic("add", c(i) = d(i) + e(i)).reads({d, e}, spad).writes(c, spad);
    auto const on = machine("on", dram, spad, get, put, add);
    auto const neighbours = C(m, n) = A(m, n) + A(m, n + 1);
    check_refused(as_one_loop(neighbours.view(), on, add), 7, 6);
}
TEST_CASE("rows that the caller provides may lie apart") {
    intrinsic const two_rows = negate_by(12);
    auto const on = machine("on", dram, spad, get, put, two_rows);
    check_refused(schedule(negated, on).fuse(m, n, mn).cache_read(A, spad).writes(C, spad).tensorize(mn, two_rows), 0, 6);
}
TEST_CASE("rows move by one index, and elements of a row by the next") {
    intrinsic const two_rows = negate_by(12);
    auto const on = machine("on", dram, spad, get, put, two_rows);
    auto const refused = [&](computation_view what) {
        planned_to const t(pass::program, as_one_loop(what, on, two_rows));
        CHECK((t.refusal().kind == verdict_kind::intrinsic_mismatch && t.refusal().broken == rule::covered_by_a_fused_loop));
    };
    auto const apart = C(m, n) = -A(2 * m, n);
    auto const exchanged = C(m, n) = -A(n, m);
    refused(apart.view());
    refused(exchanged.view());
}
TEST_CASE("an index that the parts of a fused loop move against each other is not one that stands still") {
    axis const i{"i", 12}, h{"h", 5};
    constexpr tensor<std::int32_t> cs{"cs"}, ds{"ds"};
    auto const scale = intrinsic("scale", cs(i, h) = ds(i, h) * e(h)).reads({ds, e}, spad).writes(cs, spad);
    auto const on = machine("on", dram, spad, get, put, scale);
    auto const kind_of = [&](computation_view what) {
        planned_to const t(
            pass::program,
            schedule(what, on).fuse(m, n, mn).cache_read(A, spad).cache_read(B, spad).cache_write(C, spad).tensorize(mn, k, scale));
        return t.refusal().broken;
    };
    auto const one_row = C(m, n, k) = A(m, n, k) * B(3, k);
    auto const diagonals = C(m, n, k) = A(m, n, k) * B(m - n + 5, k);
    CHECK(kind_of(one_row.view()) == rule::none);
    CHECK(kind_of(diagonals.view()) == rule::covered_by_a_fused_loop);
}
