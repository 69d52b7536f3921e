#include <tilewright/report/cycle_account.hpp>

#include "02_instruction/matmul.hpp"
#include "catch.hpp"
#include "kernels/caches.hpp"
#include "kernels/cores.hpp"
#include "kernels/features.hpp"
#include "kernels/multicast.hpp"
#include "kernels/schedules.hpp"
#include "kernels/unlike_cores.hpp"
#include "report/drawn.hpp"

using namespace tilewright;
using namespace tilewright::reports;

namespace {

/// Nothing is lost, and nothing counted twice.
void check_sums(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!plan->refusal);
    cycle_accounts const all = accounts_of(*plan);
    CAPTURE(plan->where->name.str(), cycle_account(*plan));
    REQUIRE(all.resolved);
    CHECK(plan->cycles() == all.cycles);
    REQUIRE(std::ssize(all.cores) == plan->cores);
    for (core_account const& one : all.cores) {
        std::int64_t sum = 0;
        for (auto const& [what, cycles] : one.core) {
            CHECK(cycles > 0);
            sum += cycles;
        }
        CHECK(sum == all.cycles);
        for (channel_account const& c : one.channels) {
            CHECK(std::min({c.busy, c.not_asked, c.held_back, c.after}) >= 0);
            CHECK(c.busy + c.not_asked + c.held_back + c.after == all.cycles);
        }
    }
    // What an engine of one core works is what the plan counts for it.
    for (int at = 0; at < plan->where->engines.size() && plan->cores == 1; ++at) {
        std::int64_t busy = 0;
        for (int lane = plan->where->first_lane(at); lane < plan->where->first_lane(at + 1); ++lane)
            busy += all.cores[0].channels[static_cast<std::size_t>(lane)].busy;
        CHECK(busy == plan->busy_cycles(at));
    }
}

}  // namespace

TEST_CASE("the cycles of cores and engines add up") {
    for (schedule const* of : {&lesson_matmul::matmul_on_npu, &kernels::matmul_nt_on_dsp, &kernels::matmul_tn_on_dsp, &kernels::blur_on_dsp,
                               &kernels::row_max_on_dsp, &features::matmul_by_dots, &features::matmul_by_mac, &features::widened_by_dma})
        check_sums(*of);
}
TEST_CASE("so do those of several cores, with barriers, signals, multicasts and caches") {
    for (auto const& list :
         {cached_cores::with_caches(), cores_of_dsp::with_barriers(), cores_of_dsp::with_signals(), cores_of_dsp::with_multicasts(),
          unlike_cores::in_shares(), unlike_cores::by_stages(), unlike_cores::with_multicasts()}) {
        for (schedule const& of : list) check_sums(of);
    }
}
