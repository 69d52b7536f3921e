#include <tilewright/plan/loops/spread.hpp>

#include "plan/loops/built_loops.hpp"

// What of an index, and of an axis, the loops inside a level reach.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis f{"f"}, r{"r", 3};
constexpr auto taps = C(m) = sum(r, A(2 * m + r) * B(r));
constexpr auto backwards = C(m) = A(9 - m);

schedule in_tiles() { return schedule(copy, blocking).split(m, mo, mi, 4); }
bool clips_at(clip_list const& ends, int at, linear const& form, std::int64_t bound, clip_kind is) {
    return at < ends.items.size() && same(ends.items[at].form, form) && ends.items[at].bound == bound && ends.items[at].is == is;
}

}  // namespace

TEST_CASE("a form is split at a level: loops outside stay, those inside are a range") {
    built t(in_tiles());
    linear outside;
    range inside;
    split_at_level(t.p, 0_stage, sum_of(3, {{4, t.loop("mo")}, {1, t.loop("mi")}, {-2, t.loop("n")}}), 1, outside, inside);
    CHECK(same(outside, sum_of(0, {{4, t.loop("mo")}})));
    CHECK((inside.low == 3 - 2 * 5 && inside.high == 3 + 3));
}
TEST_CASE("tiles of four of ten: a level reaches its tile, and all loops ten values") {
    built t(in_tiles());
    spread const tile = spread_of(t.p, 0_stage, 0, 1), all = spread_of(t.p, 0_stage, 0, 0), one = spread_of(t.p, 0_stage, 0, 2);
    CHECK((tile.valid == 4 && tile.count == 4 && tile.padded == 4));
    CHECK((all.valid == 10 && all.count == 10 && all.padded == 10));
    CHECK((one.valid == 1 && one.count == 1));
    CHECK(valid_of(t.p, 0_stage, 0, 1) == 4);
}
TEST_CASE("with the loops the other way round there are gaps") {
    // Inside of mi, mo takes values 0, 4 and 8: three of nine.
    built t(in_tiles().reorder(mi, mo));
    spread const gaps = spread_of(t.p, 0_stage, 0, 1);
    CHECK((gaps.valid == 9 && gaps.count == 3));
}
TEST_CASE("steps of an intrinsic cover whole lanes, beyond the end, unless they may cover less") {
    built t(schedule(copy, blocking));
    nest_axis& a = t.p.nest_at(0).axes[1];  // n, of 6, in lanes of 4
    a.lane_extent = 4;
    t.p.plan.variables[a.variable].extent = 2;
    spread const all = spread_of(t.p, 0_stage, 1, 0), step = spread_of(t.p, 0_stage, 1, 2);
    CHECK((all.valid == 6 && all.padded == 8 && all.grain == 4 && all.lanes == 3));
    CHECK((step.valid == 4 && step.padded == 4));
    a.flexible = true;
    CHECK(spread_of(t.p, 0_stage, 1, 0).padded == 6);
}
TEST_CASE("a level that cuts through a fused loop reaches rows that it may only touch") {
    // Pieces of 8 of 10 rows of 6: a piece begins at 0, 2 or 4 of its row, and ends in the next row at most.
    built t(schedule(copy, blocking).fuse(m, n, f).split(f, mo, mi, 8));
    variable_id const row = t.p.nest_at(0).axes[t.axis_at("m")].variable, column = t.p.nest_at(0).axes[t.axis_at("n")].variable;
    reached const rows = reach_of(t.p, 0_stage, row, 1), columns = reach_of(t.p, 0_stage, column, 1);
    CHECK((rows.count == 2 && columns.count == 6));
    CHECK((rows.begin.count == 1 && columns.begin.count == 0));
    CHECK(t.p.from.cuts);
    CHECK((is_across(t.p, 0_stage, t.axis_at("m"), 1) && !is_across(t.p, 0_stage, t.axis_at("m"), 0)));
    // Pieces of a row lie in it.
    built whole(schedule(copy, blocking).fuse(m, n, f).split(f, mo, mi, 6));
    CHECK(reach_of(whole.p, 0_stage, whole.p.nest_at(0).axes[whole.axis_at("m")].variable, 1).count == 1);
}
TEST_CASE("what lies beyond the end of an axis is taken from an index") {
    // All of 2 m + r: from 0 to 2 * 11 + 2 in whole tiles, to 2 * 9 + 2 of what there is.
    built t(schedule(taps, blocking).split(m, mo, mi, 4));
    linear outside;
    range inside;
    node_id const access = t.access("A");
    split_at_level(t.p, 0_stage, t.p.index_form(0_stage, access, 0), 0, outside, inside);
    CHECK((inside.low == 0 && inside.high == 24));
    trim(t.p, 0_stage, access, 0, 0, inside);
    CHECK((inside.low == 0 && inside.high == 20));
    // Backwards, the beginning goes.
    built back(schedule(backwards, blocking).split(m, mo, mi, 4));
    split_at_level(back.p, 0_stage, back.p.index_form(0_stage, back.access("A"), 0), 0, outside, inside);
    trim(back.p, 0_stage, back.access("A"), 0, 0, inside);
    CHECK((inside.low == 0 && inside.high == 9));
}
TEST_CASE("an axis ends where the loops outside leave less than a tile") {
    built t(in_tiles());
    CHECK((exceeds(t.p, 0_stage, 0) && !exceeds(t.p, 0_stage, 1)));
    clip_list tile, all, moved;
    add_ends(t.p, 0_stage, 0, 1, 0, tile);
    CHECK(tile.items.size() == 1);
    CHECK(clips_at(tile, 0, sum_of(0, {{4, t.loop("mo")}}), 10, clip_kind::end));
    add_ends(t.p, 0_stage, 0, 0, 0, all);
    CHECK(all.items.size() == 0);
    add_ends(t.p, 0_stage, 0, 1, 3, moved);  // behind three other values
    CHECK(clips_at(moved, 0, sum_of(0, {{4, t.loop("mo")}}), 13, clip_kind::end));
    built whole(schedule(copy, blocking).split(m, mo, mi, 5));
    CHECK_FALSE(exceeds(whole.p, 0_stage, 0));
}
TEST_CASE("a dimension ends with its axis, in as many elements as it moves them by") {
    built t(schedule(taps, blocking).split(m, mo, mi, 4));
    // 2 m + r: a tile touches 2 * 3 + 2 + 1; element i of it is there where 8 mo + i < 21, of 21 in all.
    touched const found = touched_by(t.p, 0_stage, t.access("A"), 0, 1, 0);
    CHECK(found.extent == 9);
    REQUIRE(found.clips.items.size() == 1);
    CHECK(clips_at(found.clips, 0, sum_of(0, {{8, t.loop("mo")}}), 21, clip_kind::end));
    CHECK(touched_by(t.p, 0_stage, t.access("A"), 0, 1, 5).extent == 14);  // accesses that lie 5 apart
    // 9 - m runs down: a tile begins where its axis ends.
    built back(schedule(backwards, blocking).split(m, mo, mi, 4));
    touched const down = touched_by(back.p, 0_stage, back.access("A"), 0, 1, 0);
    CHECK(down.extent == 4);
    CHECK(clips_at(down.clips, 0, sum_of(0, {{-4, back.loop("mo")}}), -6, clip_kind::begin));
}
TEST_CASE("more clips than a list holds are refused") {
    blank t;
    clip_list list;
    for (int at = 0; at < clip_list::most; ++at) list.add(t.p, sum_of(at), 0, clip_kind::end);
    CHECK_FALSE(t.p.refused());
    list.add(t.p, sum_of(0), 0, clip_kind::end);
    CHECK(t.p.first_verdict().names[0] == "clips of one dimension");
}
