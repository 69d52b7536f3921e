#include <tilewright/plan/place/cores.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/cores.hpp"

// What cores have of their own, and what they share.

using namespace small_kernels;

namespace {
verdict refusal_of(schedule const& of) { return make_plan(of).refusal; }
}  // namespace

TEST_CASE("a buffer inside of a share is each core's own, and one outside is seen by all") {
    CHECK_FALSE(refusal_of(schedule(copy, two).distribute(m, pair_of_cores).cache_read(A, own).at(m)));
    verdict const inside = refusal_of(schedule(copy, two).distribute(m, pair_of_cores).cache_read(A, common).at(m));
    CHECK((inside.kind == verdict_kind::distribution && inside.broken == rule::copied_for_each_core));
    CHECK((inside.names[0] == "m.core" && inside.names[1] == "A" && inside.names[2] == "common" && inside.ordinal == 1));
    CHECK_FALSE(refusal_of(schedule(copy, two).distribute(m, pair_of_cores).cache_read(A, common)));
    verdict const outside = refusal_of(schedule(copy, two).distribute(m, pair_of_cores).cache_read(A, own));
    CHECK((outside.broken == rule::out_of_sight_of_cores && outside.names[1] == "A" && outside.names[2] == "own"));
    // What core 0 alone uses may be its own.
    CHECK_FALSE(refusal_of(schedule(twice, two).store_in(S, common).distribute(m, pair_of_cores).stage(S).cache_read(A, own)));
}
TEST_CASE("an engine for all has a channel for each core, or serves one of them") {
    static constexpr engine narrow{.name = "narrow", .channels = 3};
    static constexpr auto by_narrow = transfer("by_narrow", dram, own).on(narrow).asynchronous().dimensions(2);
    static constexpr auto with_narrow = machine("with_narrow", dram, own, common, narrow, by_narrow, four_cores);
    verdict const few = refusal_of(schedule(copy, with_narrow).distribute(m, four_cores).cache_read(A, own).at(m));
    CHECK((few.broken == rule::engine_of_all_cores && few.names[2] == "narrow" && few.facts[0].value == 3));
    plan_value const three = make_plan(schedule(copy, with_narrow).distribute(m, four_cores, 3).cache_read(A, own).at(m).buffers(2));
    REQUIRE_FALSE(three.refusal);
    CHECK((three.is_dealt_out(0) && three.channels_of(0) == 1));
    // Core 1 alone loads.
    plan_value const alone = make_plan(
        schedule(twice, with_narrow).compute_at(S, m).stage(S).on(four_cores, 3).store_in(S, common).cache_read(A, own).at(m).buffers(2));
    REQUIRE_FALSE(alone.refusal);
    CHECK((!alone.is_dealt_out(0) && alone.channels_of(0) == 3));
}
TEST_CASE("what a stage on another core computes has versions") {
    plan_value const plan = make_plan(schedule(twice, two).compute_at(S, m).stage(S).on(pair_of_cores, 1).store_in(S, common).buffers(3));
    REQUIRE_FALSE(plan.refusal);
    CHECK(plan.cores == 2);
    for (int at = 0; at < plan.buffers.size(); ++at) {
        buffer const& b = plan.buffers[at];
        if (b.tensor == "S") CHECK((b.versions == 3 && plan.variables[b.by_loop].name == "m"));
    }
    verdict const same_core = refusal_of(schedule(twice, two).compute_at(S, m).stage(S).store_in(S, common).buffers(3));
    CHECK((same_core.broken == rule::versions_of_a_blocking_reader && same_core.facts[0].value == 3));
    verdict const unseen = refusal_of(schedule(twice, two).compute_at(S, m).stage(S).on(pair_of_cores, 1).store_in(S, own));
    CHECK(unseen.broken == rule::out_of_sight_of_cores);
}

namespace {

/// Two fast cores and a slow one: a load of 1 or 9 cycles.
constexpr core fast{.name = "fast", .count = 2, .barrier_cycles = 7},
    slow{.name = "slow", .costs = {.load = 9, .store = 2}, .barrier_cycles = 3};
constexpr auto mixed = machine("mixed", dram, own, common, own_dma, into_own, fast, slow);
constexpr auto slow_first = machine("slow_first", dram, own, common, own_dma, into_own, slow, fast);

}  // namespace

TEST_CASE("core numbers run over the kinds of a machine") {
    static_assert(mixed.core_count() == 3 && mixed.first_core(1) == 2 && slow_first.first_core(1) == 1);
    static_assert(mixed.kind_of(0) == 0 && mixed.kind_of(1) == 0 && mixed.kind_of(2) == 1 && slow_first.kind_of(2) == 1);
    static_assert(mixed.core_at(1).name == "fast" && mixed.core_at(2).name == "slow");
    static_assert(small_kernels::two.core_count() == 2 && machine("none", dram).core_count() == 1);
    plan_value const whole = make_plan(schedule(copy, mixed).distribute(m, fast, slow)),
                     part = make_plan(schedule(copy, mixed).distribute(m, slow));
    CHECK((whole.cores == 3 && whole.first_core == 0 && part.cores == 3 && part.first_core == 2));
    plan_value const on_slow = make_plan(schedule(twice, mixed).store_in(S, common).stage(S).on(slow, 0));
    REQUIRE_FALSE(on_slow.refusal);
    CHECK(on_slow.cores == 3);
    verdict const beyond = refusal_of(schedule(twice, mixed).store_in(S, common).stage(S).on(slow, 1));
    CHECK((beyond.broken == rule::more_cores_than_there_are && beyond.facts[0].value == 2 && beyond.facts[1].value == 1));
    verdict const out_of_order = refusal_of(schedule(copy, mixed).distribute(m, slow, fast));
    CHECK((out_of_order.broken == rule::kinds_out_of_order && out_of_order.names[0] == "m" && out_of_order.names[1] == "fast"));
    CHECK(refusal_of(schedule(copy, mixed).distribute(m, fast, core{.name = "none"})).kind == verdict_kind::unknown_part);
}
TEST_CASE("all distributed loops of a kernel take the same cores") {
    verdict const others = refusal_of(schedule(twice, mixed).store_in(S, common).distribute(m, slow).stage(S).distribute(m, fast, 1));
    CHECK((others.broken == rule::other_cores && others.facts[0].value == 0 && others.facts[1].value == 2));
    CHECK_FALSE(refusal_of(schedule(twice, mixed).store_in(S, common).distribute(m, fast).stage(S).distribute(m, fast)));
}
