#include <tilewright/plan/check/core_copies.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/cores.hpp"

// What lies in the memory of each core.

using namespace small_kernels;
using tilewright::detail::brought_to_one_core, tilewright::detail::reached_by_multicasts;

TEST_CASE("a multicast reaches its own buffer, and those that lie on the same bytes at other times") {
    // Each core's rows of S lie where those of A have been.
    static constexpr auto down = transfer("down", common, own);
    static constexpr auto where = machine("where", dram, own, common, dma_of_all, into_all, down, four_cores);
    plan_value const plan = make_plan(schedule(twice, where)
                                          .store_in(S, common)
                                          .distribute(m, four_cores)
                                          .cache_read(S, own)
                                          .at(m)
                                          .stage(S)
                                          .distribute(m, four_cores)
                                          .cache_read(A, own));
    REQUIRE_FALSE(plan.refusal);
    auto const reached = reached_by_multicasts(plan);
    for (buffer_id at{}; at < plan.buffers.size(); ++at) {
        buffer const& b = plan.buffers[at];
        bool const is_own = plan.where->memories[b.memory].name == "own";
        CHECK(plan.is_one_for_all(plan.buffers[at]) == !is_own);
        if (is_own) CHECK(b.offset == 0);
        CHECK(reached[at] == is_own);
    }
}
TEST_CASE("what core 0 alone fills, no other core reads") {
    plan_value plan = make_plan(schedule(product, four_at_once).distribute(m, four_cores).cache_read(B, own));
    REQUIRE_FALSE(plan.refusal);
    CHECK(brought_to_one_core(plan) < 0);
    for (int at = 0; at < plan.movements.size(); ++at)
        plan.movements[at].transfer = static_cast<std::int16_t>(four_at_once.transfers.find("into_own"));
    buffer_id const alone = brought_to_one_core(plan);
    REQUIRE(alone >= 0);
    CHECK(plan.buffers[alone].name == "B.own");
    CHECK(detail::find_core_hazard(plan).broken == rule::brought_to_one_core);
    // In its share, each core fills its own.
    CHECK(brought_to_one_core(make_plan(schedule(product, four_at_once).distribute(m, four_cores).cache_read(A, own).at(m))) < 0);
}
