#include <tilewright/plan/loops/box.hpp>

#include "plan/loops/built_loops.hpp"

// The part of a tensor that one iteration of a loop touches.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

constexpr axis r{"r", 3}, open{"m", dynamic}, bounded{"m", dynamic.up_to(30)}, f{"f"};
constexpr auto taps = C(m) = sum(r, A(2 * m + r) * B(r));
constexpr auto apart = C(m) = A(m) + A(m + 2);
constexpr auto unlike = C(m) = A(m) + A(2 * m);

/// The box of all accesses to A inside of `depth` loops.
struct boxed : built {
    box whole{};
    int wrong = -1;
    boxed(schedule const& of, int depth) : built(of) {
        for (int number = 0; access("A", number) >= 0 && wrong < 0; ++number) wrong = widen(p, whole, 0_stage, access("A", number), depth);
    }
};

}  // namespace

TEST_CASE("a tile of a convolution touches what its taps reach, and all of it what there is") {
    schedule const of = schedule(taps, blocking).split(m, mo, mi, 4);
    boxed const tile(of, 1), all(of, 0), one(of, 3);
    CHECK((tile.whole.rank == 1 && tile.whole.extents[0] == 2 * 3 + 2 + 1));
    CHECK(same(tile.whole.at[0], sum_of(0, {{8, tile.loop("mo")}})));
    CHECK((all.whole.extents[0] == 2 * 9 + 2 + 1 && all.whole.at[0].count == 0));  // beyond the end of m there is nothing
    CHECK((one.whole.extents[0] == 1 && one.whole.at[0].count == 3));
}
TEST_CASE("several accesses widen a box while they move alike") {
    schedule const of = schedule(apart, blocking).split(m, mo, mi, 5);
    boxed const both(of, 1);
    CHECK(both.whole.extents[0] == 5 + 2);
    CHECK(both.wrong == -1);
    boxed changing(schedule(unlike, blocking).split(m, mo, mi, 5), 1);
    CHECK(changing.wrong == 0);
    refuse_box(changing.p, "A", 0, 0_stage, 1, 2);
    CHECK(changing.p.first_verdict().kind == verdict_kind::box_not_constant);
    CHECK((changing.p.first_verdict().names[1] == "mo" && changing.p.first_verdict().facts[0].value == 0));
    CHECK(boxed(schedule(unlike, blocking).split(m, mo, mi, 5), 0).wrong == -1);  // all of it is constant
}
TEST_CASE("an extent without a bound makes no box, a tile of it does") {
    static constexpr auto open_copy = C(open, n) = A(open, n);
    static constexpr auto bounded_copy = C(bounded, n) = A(bounded, n);
    boxed outside(schedule(open_copy, blocking).split(open, mo, mi, 4), 0);
    CHECK(outside.whole.open == 0);
    refuse_open_box(outside.p, "A", outside.whole.open, 0_stage, 0, 1);
    CHECK((outside.p.first_verdict().names[1] == "m" && outside.p.first_verdict().names[2] == "the kernel"));
    boxed const tile(schedule(open_copy, blocking).split(open, mo, mi, 4), 1);
    CHECK((tile.whole.open == -1 && tile.whole.extents[0] == 4));
    CHECK(boxed(schedule(bounded_copy, blocking), 0).whole.extents[0] == 30);
}
TEST_CASE("loops that leave gaps compute less than they span") {
    built dense(schedule(copy, blocking).split(m, mo, mi, 4)), gaps(schedule(copy, blocking).split(m, mo, mi, 4).reorder(mi, mo, n));
    coverage const whole = cover(dense.p, 0_stage, 1), some = cover(gaps.p, 0_stage, 1);
    CHECK(whole.computed == whole.spanned);
    CHECK((some.computed == 3 && some.spanned == 9));
    // A piece of 8 of rows of 6 touches two rows: 8 of 12 elements.
    built cut(schedule(copy, blocking).fuse(m, n, f).split(f, mo, mi, 8));
    coverage const across = cover(cut.p, 0_stage, 1);
    CHECK((across.computed == 8 && across.spanned == 12));
}
