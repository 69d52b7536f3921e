#include <tilewright/plan/check/hazards.hpp>

#include <memory>
#include <set>
#include <tilewright/plan/check/core_accesses.hpp>
#include <tilewright/plan/planner.hpp>

#include "plan/cores.hpp"

// Each core waits for its own engines: what another one waits for does not count.

namespace hazards_of_cores {

using namespace small_kernels;
using tilewright::detail::find_core_hazard, tilewright::detail::find_hazard, tilewright::detail::visiting;

constexpr engine adder{.name = "adder", .completes = completion::by_channel, .per_core = true};
constexpr axis r{"r", 4};
constexpr tensor<std::int32_t> x{"x"}, y{"y"};
constexpr auto add = intrinsic("add", y(r) = x(r) + 1).reads(x, own).writes(y, common).on(adder).asynchronous().cycles(40);
constexpr auto beside = machine("beside", dram, own, common, own_dma, adder, into_own, add, pair_of_cores);
constexpr axis no{"no"}, ni{"ni"};

/// What core 1 loads is read by its unit, of which core 0 reads the results.
schedule loaded_there(int versions) {
    return schedule(twice, beside)
        .compute_at(S, m)
        .stage(S)
        .on(pair_of_cores, 1)
        .store_in(S, common)
        .split(n, no, ni, 4)
        .cache_read(A, own)
        .at(no)
        .buffers(versions)
        .tensorize(ni, add);
}
/// By the check of each core's own engines, or of what other cores see of them.
rule broken_in(plan_value const& plan, visiting how) {
    rule const found = find_hazard(plan, how).broken;
    return found == rule::none ? find_core_hazard(plan, how).broken : found;
}
/// What is found when step `moved` stands on core 0.
rule broken_on_core_0(plan_value plan, int moved) {
    REQUIRE(plan.steps[moved].core == 1);
    plan.steps[moved].core = 0;
    rule const found = broken_in(plan, visiting::periods);
    CHECK(broken_in(plan, visiting::everything) == found);
    return found;
}

TEST_CASE("a wait that stands on another core than what it waits for is a race") {
    for (int versions : {1, 2}) {
        auto const plan = std::make_unique<plan_value>(make_plan(loaded_there(versions)));
        INFO(versions << " versions");
        REQUIRE(!plan->refusal);
        for (visiting how : {visiting::periods, visiting::everything}) CHECK(broken_in(*plan, how) == rule::none);
        std::set<rule> found;
        int waits = 0, behind = plan->steps.size();
        while (plan->steps[behind - 1].kind != step_kind::end) --behind;  // the engine has nothing more to do there
        for (int at = 0; at < behind; ++at) {
            step_kind const kind = plan->steps[at].kind;
            if (kind != step_kind::wait && kind != step_kind::push && kind != step_kind::pop) continue;
            INFO("step " << at);
            rule const broken = broken_on_core_0(*plan, at);
            CHECK(broken != rule::none);
            found.insert(broken), ++waits;
        }
        CHECK(waits > 1);
        CHECK(found.count(rule::read_before_written) == 1);
    }
}

}  // namespace hazards_of_cores
