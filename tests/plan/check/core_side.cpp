#include <tilewright/plan/check/core_side.hpp>

#include <vector>

#include "plan/small_kernels.hpp"

// Which indices the cores' accesses take.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// One index of a body, as each core takes it.
struct sides {
    using run = program_run<sides>;
    static constexpr int most_visits = 1000;
    affine index{};
    range reach{};
    bool limited = true, pure_only = false;
    std::vector<core_side> found{};

    void start(run&, int) {}
    void wait(run&, int) {}
    void push(run&, int) {}
    void pop(run&, int) {}
    void compute(run& in, int at, std::int64_t) {
        body const* const of = limited ? &in.plan().bodies[at] : nullptr;
        found.push_back(side_maker(in, {.in = of, .pure_only = pure_only}).side_of(index, reach));
    }
    void sign(run const&, run_signature&) const {}
    void skip(run const&, std::int64_t, run_signature const&, run_signature const&) {}
};
/// Two cores with a tile of 19 each, by steps of two: a core's tile has ten steps, of 20 iterations. `o` is around.
struct tiles {
    plan_value plan = empty_plan(blocking, copy.view());
    variable_id core = add_loop(plan, "core", 2), o = add_loop(plan, "o", 3), i = add_loop(plan, "i", 10), c = add_loop(plan, "c", 2);

    tiles() {
        plan.variables[core].distributed = true;
        body b{.stage = 0_stage};
        for (variable_id const loop : {o, i, c}) b.loops[b.loop_count++] = loop;
        plan.bodies.push(b);
        limit_at(19, {{2, i}, {1, c}});
        add_steps(plan, {{step_kind::loop, core}, {step_kind::compute, 0}, {step_kind::end, core}});
    }
    void limit_at(std::int64_t bound, std::initializer_list<summand> form, bool reduction = false) {
        plan.limits.push({keep(plan, 0, form), bound, 0_stage, no_variable, reduction});
    }
    std::vector<core_side> of(std::int64_t constant, std::initializer_list<summand> index, sides state = {}) {
        state.index = keep(plan, constant, index);
        CHECK(program_run<sides>(plan, state, visiting::everything).run());
        REQUIRE(state.found.size() == 2);
        return state.found;
    }
};
bool spans(core_side const& s, std::int64_t low, std::int64_t high) { return s.low == low && s.high == high; }
bool spans(core_side const& s, std::int64_t period, std::int64_t first, std::int64_t last) {
    return s.period == period && s.first == first && s.last == last;
}

}  // namespace

TEST_CASE("sides are apart as a whole, or inside of their period") {
    core_side const first{0, 40, 20, 0, 9}, second{10, 50, 20, 10, 19};
    CHECK(first.apart(second));
    CHECK(second.apart(first));
    CHECK_FALSE(first.apart({10, 50, 20, 9, 19}));
    CHECK_FALSE(first.apart({10, 50, 25, 10, 19}));
    CHECK_FALSE(first.apart({40, 50}));
    CHECK(first.apart({41, 50}));
}
TEST_CASE("sides that are taken together reach as far as both, and keep a period that both have") {
    core_side both{4, 8, 20, 4, 8};
    both.include({30, 35, 20, 10, 15});
    CHECK((spans(both, 4, 35) && spans(both, 20, 4, 15)));
    both.include({0, 1, 10, 0, 1});
    CHECK((spans(both, 0, 35) && both.period == 0));
}
TEST_CASE("a share ends where its tile ends") {
    tiles t;
    auto const cut = t.of(0, {{19, t.core}, {2, t.i}, {1, t.c}});
    CHECK((spans(cut[0], 0, 18) && spans(cut[1], 19, 37)));
    // What a tile body does not limit runs to the end of its loops.
    auto const whole = t.of(0, {{19, t.core}, {2, t.i}, {1, t.c}}, {.limited = false});
    CHECK((spans(whole[0], 0, 19) && spans(whole[1], 19, 38)));
    // And where the axis ends.
    t.limit_at(25, {{19, t.core}, {2, t.i}, {1, t.c}});
    auto const last = t.of(3, {{19, t.core}, {2, t.i}, {1, t.c}});
    CHECK((spans(last[0], 3, 21) && spans(last[1], 22, 27)));
    // Indices that run down begin at the loops' ends, which limits do not raise.
    auto const down = t.of(0, {{-19, t.core}, {-2, t.i}, {-1, t.c}});
    CHECK((spans(down[0], -19, 0) && spans(down[1], -38, -19)));
}
TEST_CASE("shares that are dealt out again and again begin anew where the shares of all cores end") {
    tiles t;
    // 38 o + 19 core + …: o at 0, 1 and 2.
    auto const even = t.of(0, {{38, t.o}, {19, t.core}, {2, t.i}, {1, t.c}});
    CHECK((spans(even[0], 0, 94) && spans(even[0], 38, 0, 18)));
    CHECK((spans(even[1], 19, 113) && spans(even[1], 38, 19, 37)));
    // Without the limit, core 1 comes to the first element of core 0: there is no period.
    auto const whole = t.of(0, {{38, t.o}, {19, t.core}, {2, t.i}, {1, t.c}}, {.limited = false});
    CHECK((spans(whole[0], 38, 0, 19) && whole[1].period == 0));
    // Shares of 19 and 6: they begin anew at 25, 50, …
    t.limit_at(25, {{19, t.core}, {2, t.i}, {1, t.c}});
    auto const uneven = t.of(0, {{25, t.o}, {19, t.core}, {2, t.i}, {1, t.c}});
    CHECK((spans(uneven[0], 25, 0, 18) && spans(uneven[1], 25, 19, 24)));
    // Core 0 has 7 to 25 then, which is in two periods, and core 1 has 26 to 31.
    auto const moved = t.of(7, {{25, t.o}, {19, t.core}, {2, t.i}, {1, t.c}});
    CHECK((moved[0].period == 0 && spans(moved[1], 25, 1, 6)));
}
TEST_CASE("an access of several elements reaches further, and may come into the next share") {
    tiles t;
    auto const wide = t.of(0, {{38, t.o}, {19, t.core}, {2, t.i}, {1, t.c}}, {.reach = {0, 2}});
    CHECK((spans(wide[0], 0, 96) && spans(wide[0], 38, 0, 20)));
    CHECK((spans(wide[1], 19, 115) && wide[1].period == 0));
    CHECK_FALSE(wide[0].apart(wide[1]));
    auto const later = t.of(0, {{38, t.o}, {19, t.core}, {2, t.i}, {1, t.c}}, {.reach = {19, 19}});
    CHECK((spans(later[0], 19, 113) && spans(later[0], 38, 19, 37)));
}
TEST_CASE("where a reduction begins, its own ends cut nothing") {
    tiles t;
    t.plan.limits[0].reduction = true;
    auto const all = t.of(0, {{19, t.core}, {2, t.i}, {1, t.c}}, {.pure_only = true});
    CHECK((spans(all[0], 0, 19) && spans(all[1], 19, 38)));
    CHECK(spans(t.of(0, {{19, t.core}, {2, t.i}, {1, t.c}})[0], 0, 18));
}
TEST_CASE("lines of bytes: those of a period stay apart if the period is one of whole lines") {
    core_side const some{3, 9};  // 12 bytes each: bytes 36 to 119
    CHECK(some.in_lines(0, 12, 64).low == 0);
    CHECK(some.in_lines(0, 12, 64).high == 1);
    CHECK(some.in_lines(3, 12, 64).low == 0);
    CHECK(some.in_lines(3, 12, 21).high == 3);  // bytes 0 to 83
    CHECK(core_side{0, 7}.in_lines(0, 8, 64).apart(core_side{8, 15}.in_lines(0, 8, 64)));
    CHECK_FALSE(core_side{0, 7}.in_lines(0, 4, 64).apart(core_side{8, 15}.in_lines(0, 4, 64)));
    core_side const mine{0, 27, 16, 0, 7}, other{8, 31, 16, 8, 15};
    CHECK(mine.in_lines(0, 4, 16).apart(other.in_lines(0, 4, 16)));
    CHECK_FALSE(mine.in_lines(0, 4, 24).apart(other.in_lines(0, 4, 24)));  // 64 bytes are no whole lines
}
