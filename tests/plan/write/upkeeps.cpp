#include <tilewright/plan/write/upkeeps.hpp>

#include <tilewright/plan/plan.hpp>

#include "kernels/caches.hpp"
#include "plan/small_kernels.hpp"

// Where cores clean and invalidate their caches. A program is written as a letter for each step: l a loop, L a distributed one, e an end, b
// a barrier, s, w and c transfers, waits and code, < and > signals and waits for them, I and C what invalidates and cleans.

using namespace cached_cores;
using namespace tilewright::ir;
using namespace tilewright::detail;

namespace {

std::string steps_of(plan_value const& plan) {
    std::string text;
    for (int at = 0; at < plan.steps.size(); ++at) {
        switch (plan.steps[at].kind) {
            case step_kind::loop: text += plan.variables[plan.steps[at].what].distributed ? 'L' : 'l'; break;
            case step_kind::end: text += 'e'; break;
            case step_kind::barrier: text += 'b'; break;
            case step_kind::start: text += 's'; break;
            case step_kind::wait: text += 'w'; break;
            case step_kind::signal: text += '<'; break;
            case step_kind::await: text += '>'; break;
            case step_kind::clean: text += 'C'; break;
            case step_kind::invalidate: text += 'I'; break;
            case step_kind::fence: break;
            default: text += 'c'; break;
        }
    }
    return text;
}
std::unique_ptr<plan_value> plan_of_kernel(schedule const& of) {
    auto made = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!made->refusal);
    return made;
}
ir::step const& nth(plan_value const& plan, step_kind kind, int number = 0) {
    int at = 0;
    while (plan.steps[at].kind != kind || number-- > 0) ++at;
    return plan.steps[at];
}

}  // namespace

TEST_CASE("what the caller gives is read anew, and results are cleaned once") {
    auto const plan = plan_of_kernel(schedule(twice, cached_cores::two));
    CHECK(steps_of(*plan) == "IcC");
    CHECK(plan->buffers[plan->upkeeps[nth(*plan, step_kind::invalidate).what].buffer].name == "in");
    CHECK(plan->buffers[plan->upkeeps[nth(*plan, step_kind::clean).what].buffer].name == "out");
}
TEST_CASE("what an engine brings for the core to add to is read anew") {
    CHECK(steps_of(*plan_of_kernel(schedule(onward, cached_cores::two).cache_write(out, l2))) == "swIIcCsw");
    // Sums that the core itself has begun are its own. Those of the caller are not.
    constexpr static auto from_zero = out(x) = sum(row, in(row, x));
    CHECK(steps_of(*plan_of_kernel(schedule(from_zero, cached_cores::two))) == "IcC");
    CHECK(steps_of(*plan_of_kernel(schedule(summed_on, cached_cores::two))) == "IIcC");
    // Sums that an engine has stored, and brings again.
    constexpr static auto blocking =
        machine("blocking", dram, l2, dma, transfer("get", dram, l2).on(dma), transfer("put", l2, dram).on(dma));
    schedule in_passes(from_zero, blocking);
    in_passes.split(row, yo, yi, 11).reorder(yo, x, yi).cache_write(out, l2).at(yo);
    CHECK(steps_of(*plan_of_kernel(in_passes)) == "IlscCIcCse");
}
TEST_CASE("around an engine, the version that the loops stand at") {
    auto const plan = plan_of_kernel(
        schedule(twice, cached_cores::two).split(y, yo, yi, 4).cache_read(in, l2).at(yo).buffers(2).cache_write(out, l2).at(yo).buffers(2));
    CHECK(steps_of(*plan) == "slwswIcCseww");
    CHECK(plan->upkeeps[nth(*plan, step_kind::invalidate).what].of_version);
    CHECK(plan->upkeeps[nth(*plan, step_kind::clean).what].of_version);
}
TEST_CASE("in one version, as far out as no engine touches it") {
    // The tile is loaded once, outside of the loops that use it.
    auto const plan = plan_of_kernel(schedule(twice, cached_cores::two).split(y, yo, yi, 4).cache_read(in, l2));
    CHECK(steps_of(*plan) == "swIcC");
    CHECK_FALSE(plan->upkeeps[nth(*plan, step_kind::invalidate).what].of_version);
}
TEST_CASE("what cores share is clean before they meet, and read anew after that, on every core") {
    auto const plan = plan_of_kernel(schedule(blur, cached_cores::two).distribute(y, dsp).store_in(S, l2).stage(S).distribute(p, dsp));
    CHECK(steps_of(*plan) == "IILceCbIILceC");
    CHECK(nth(*plan, step_kind::clean).core == -1);
}
TEST_CASE("the compiler plans it, too") {
    static constexpr auto shared = schedule(blur, cached_cores::two).distribute(y, dsp).store_in(S, l2).stage(S).distribute(p, dsp);
    static_assert(!plan<shared>.refusal);
    CHECK(steps_of(plan<shared>) == "IILceCbIILceC");
}
