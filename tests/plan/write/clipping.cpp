#include <tilewright/plan/write/clipping.hpp>

#include "plan/passes.hpp"

// Where tiles are partial: which part of a staged box is moved, and which iterations do nothing.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis x{"x", 10}, xo{"xo"}, xi{"xi"};
constexpr auto apart = C(x) = A(x) + A(x + 2);
constexpr auto unlike = C(x) = A(x) + A(2 * x);
constexpr auto shifted = C(x) = padded(A(x), 0)(x - 2);
schedule tiled(computation_view what) { return schedule(what, blocking).split(x, xo, xi, 4); }
region::clipped clipped_at(linear const& form, std::int64_t bound, clip_kind is, int dimension = 0) {
    return {form, bound, static_cast<std::int8_t>(dimension), is};
}
bool is_clip(region::clipped const& c, linear const& form, std::int64_t bound, clip_kind kind) {
    return same(c.form, form) && c.bound == bound && c.is == kind;
}

}  // namespace

TEST_CASE("accesses that move alike lie so far apart") {
    planned_to const t(pass::accesses, tiled(apart.view()).cache_read(A, spad).at(xo));
    staged_access const alike = access_of(t.p, t.p.staging_at(0), 0);
    CHECK((alike.alike && alike.node == t.access("A") && alike.constants.low == 0 && alike.constants.high == 2));
    planned_to const other(pass::accesses, tiled(unlike.view()).cache_read(A, spad));
    CHECK_FALSE(access_of(other.p, other.p.staging_at(0), 0).alike);
}
TEST_CASE("a staged box is clipped to what there is for its iteration") {
    planned_to t(pass::rings, tiled(apart.view()).cache_read(A, spad).at(xo));
    region r{.source = t.p.staging_at(0).outward, .destination = t.p.staging_at(0).buffer};
    CHECK(clip_staged(t.p, t.p.staging_at(0), 0, r) == 4 + 2);
    REQUIRE(r.clips.size() == 1);
    CHECK(is_clip(r.clips[0], sum_of(0, {{4, t.variable("xo")}}), 10 + 2, clip_kind::end));
}
TEST_CASE("a box with a border is clipped to its tensor, and what the load pads is border") {
    planned_to t(pass::rings, tiled(shifted.view()).cache_read(A, spad).at(xo));
    REQUIRE_FALSE(t.p.refused());
    staging st = t.p.staging_at(0);
    linear const at = sum_of(-2, {{4, t.variable("xo")}});
    region r{.source = st.outward, .destination = st.buffer};
    CHECK(clip_staged(t.p, st, 0, r) == 4);
    REQUIRE(r.clips.size() == 2);
    CHECK(is_clip(r.clips[0], at, 0, clip_kind::begin));  // from -2 on; up to 9, as far as there is
    CHECK(r.clips[1].is == clip_kind::end);
    st.pads = true;
    region padded_by_load = {.source = st.outward, .destination = st.buffer};
    clip_staged(t.p, st, 0, padded_by_load);
    CHECK(is_clip(padded_by_load.clips[0], at, 0, clip_kind::border_begin));
}
TEST_CASE("clips that no loop moves make a dimension smaller in all calls") {
    blank t;
    std::int16_t const o = add_loop(t.p.plan, "o", 3);
    region r{.source = 0_buffer, .destination = 0_buffer};
    r.dimensions[0] = {.extent = 8, .source_dimension = 0, .destination_dimension = 0, .source_factor = 2};
    r.clips.push(clipped_at(sum_of(1), 7, clip_kind::end));    // up to 5
    r.clips.push(clipped_at(sum_of(1), 3, clip_kind::begin));  // from 2 on
    r.clips.push(clipped_at(sum_of(0, {{4, o}}), 10, clip_kind::end));
    settle_clips(t.p, r, 0);
    CHECK(r.dimensions[0].extent == 4);
    CHECK((r.source_at[0].constant == 4 && r.destination_at[0].constant == 2));
    REQUIRE(r.clips.size() == 1);
    CHECK(r.clips[0].bound == 8);  // two elements less in front
    // One element, which may lie in a border, is moved where it does not.
    t.p.from.borders = true;
    r.clips.push(clipped_at(sum_of(0), 1, clip_kind::end));
    settle_clips(t.p, r, 0);
    CHECK((r.dimensions[0].extent == 1 && r.clips[0].is == clip_kind::only));
}
TEST_CASE("how far one form lies behind another") {
    blank t;
    std::int16_t const o = add_loop(t.p.plan, "o", 3), i = add_loop(t.p.plan, "i", 4);
    range const plain = lead_of(t.p, sum_of(1, {{4, o}}), sum_of(3, {{4, o}, {1, i}}));
    CHECK((plain.low == 2 && plain.high == 5));
    range const back = lead_of(t.p, sum_of(0, {{1, i}}), sum_of(0));
    CHECK((back.low == -3 && back.high == 0));
    // (4 o + i) / 8 is at most one row behind (4 o) / 8, not as many as there are.
    std::int16_t const whole = add_component(t.p.plan, keep(t.p.plan, 0, {{4, o}}), 8, 0, 2),
                       part = add_component(t.p.plan, keep(t.p.plan, 0, {{4, o}, {1, i}}), 8, 0, 2);
    range const parts = lead_of(t.p, sum_of(0, {{1, whole}}), sum_of(0, {{1, part}}));
    CHECK((parts.low == 0 && parts.high == 0));  // 4 o is 0 or 4 in its row: three more stay in it
}
TEST_CASE("borders that are never reached are dropped, and those around nothing refused") {
    planned_to t(pass::rings, tiled(shifted.view()).cache_read(A, spad).at(xo));
    staging const& st = t.p.staging_at(0);
    linear const at = sum_of(-2, {{4, t.variable("xo")}});
    region r{.source = st.outward, .destination = st.buffer};
    r.dimensions[0].extent = 4;
    r.clips.push(clipped_at(at, 0, clip_kind::border_begin));
    r.clips.push(clipped_at(at, 10, clip_kind::border_end));  // it ends at 9
    drop_idle_borders(t.p, 0, r);
    REQUIRE(r.clips.size() == 1);
    CHECK(r.clips[0].is == clip_kind::border_begin);
    settle_border(t.p, st, 0, r, 0);
    CHECK_FALSE(t.p.refused());
    r.dimensions[0].extent = 2;  // the first tile would be border alone
    settle_border(t.p, st, 0, r, 0);
    CHECK(t.p.first_verdict().broken == rule::border_around_nothing);
    CHECK((t.p.first_verdict().facts[0].value == 2 && t.p.first_verdict().facts[1].value == 2));
}
TEST_CASE("iterations of a loop of the program are skipped that lie beyond an end") {
    // Two levels of tiles: 8 xo + 4 xm + xi < 10; at xm, where 8 xo + 4 xm does not stay below 10.
    constexpr axis xm{"xm"}, rest{"rest"};
    planned_to t(pass::owned, schedule(shifted, blocking).split(x, xo, rest, 8).split(rest, xm, xi, 4).cache_read(A, spad).at(xm));
    REQUIRE_FALSE(t.p.refused());
    int const before = t.p.plan.limits.size();
    add_guards(t.p, 0_stage, 0);
    CHECK(t.p.plan.limits.size() == before);  // 8 xo goes to 8
    add_guards(t.p, 0_stage, 1);
    REQUIRE(t.p.plan.limits.size() == before + 1);
    limit const& l = t.p.plan.limits[before];
    CHECK((l.loop == t.variable("xm") && l.bound == 10));
    CHECK(same(t.p.form_of(l.form), sum_of(0, {{8, t.variable("xo")}, {4, t.variable("xm")}})));
    // The last tile of twelve would begin at 12.
    constexpr axis twelve{"x", 12};
    auto const whole = C(twelve) = A(twelve) + 1;
    planned_to last(pass::owned, schedule(whole, blocking).split(twelve, xo, rest, 8).split(rest, xm, xi, 4).cache_read(A, spad).at(xm));
    int const known = last.p.plan.limits.size();
    add_guards(last.p, 0_stage, 1);
    CHECK(last.p.plan.limits.size() == known + 1);
}
