#include <tilewright/plan/check/cache_lines.hpp>

#include <tilewright/plan/planner.hpp>

#include "kernels/caches.hpp"
#include "plan/small_kernels.hpp"

// What is found where steps that clean or invalidate are missing, stand in the wrong place, or are about another buffer.

using namespace cached_cores;
using namespace tilewright::ir;
using namespace tilewright::detail;

namespace {

std::unique_ptr<plan_value> plan_of_kernel(schedule const& of) {
    auto made = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!made->refusal);
    return made;
}
int position_of(plan_value const& plan, step_kind kind, int number = 0) {
    int at = 0;
    while (plan.steps[at].kind != kind || number-- > 0) ++at;
    return at;
}
/// Step `from` stands before step `to`.
void move(plan_value& plan, int from, int to) {
    ir::step const moved = plan.steps[from];
    plan.steps.erase(from);
    plan.steps.insert(to > from ? to - 1 : to, moved);
}
auto const in_tiles =
    schedule(twice, cached_cores::two).split(y, yo, yi, 4).cache_read(in, l2).at(yo).buffers(2).cache_write(out, l2).at(yo);
auto const on_both = schedule(blur, cached_cores::two).distribute(y, dsp).store_in(S, l2).stage(S).distribute(p, dsp);

}  // namespace

TEST_CASE("plans as they are made have nothing stale") {
    for (schedule const& of : {in_tiles, on_both}) CHECK_FALSE(find_stale_line(*plan_of_kernel(of)));
}
TEST_CASE("an invalidate before the wait does not help") {
    auto const plan = plan_of_kernel(in_tiles);
    move(*plan, position_of(*plan, step_kind::invalidate), position_of(*plan, step_kind::wait, 1));
    hazard const found = find_stale_line(*plan);
    CHECK(found.broken == rule::line_not_invalidated);
    CHECK(plan->buffers[found.buffer].name == "in.l2");
}
TEST_CASE("a clean after the store is started is too late") {
    auto const plan = plan_of_kernel(in_tiles);
    int const clean = position_of(*plan, step_kind::clean);
    REQUIRE(plan->steps[clean + 1].kind == step_kind::start);
    move(*plan, clean, clean + 2);
    hazard const found = find_stale_line(*plan);
    CHECK(found.broken == rule::line_not_cleaned);
    CHECK(plan->buffers[found.buffer].name == "out.l2");
}
TEST_CASE("another version, or another buffer, is not cleaned") {
    auto const plan = plan_of_kernel(in_tiles);
    plan->upkeeps[plan->steps[position_of(*plan, step_kind::clean)].what].buffer = plan->rings[0].buffer;
    CHECK(find_stale_line(*plan).broken == rule::line_not_cleaned);
}
TEST_CASE("what cores share is cleaned before the barrier and invalidated after it") {
    auto const late = plan_of_kernel(on_both), early = plan_of_kernel(on_both);
    int const barrier = position_of(*late, step_kind::barrier);
    move(*late, barrier - 1, barrier + 1);
    CHECK(find_stale_line(*late).broken == rule::line_not_cleaned);
    REQUIRE(early->steps[barrier + 1].kind == step_kind::invalidate);
    move(*early, barrier + 1, barrier);
    CHECK(find_stale_line(*early).broken == rule::line_not_invalidated);
}
TEST_CASE("a result that is never cleaned is found at the end") {
    auto const plan = plan_of_kernel(schedule(twice, cached_cores::two));
    plan->steps.erase(position_of(*plan, step_kind::clean));
    hazard const found = find_stale_line(*plan);
    CHECK(found.broken == rule::line_not_cleaned);
    CHECK(plan->buffers[found.buffer].name == "out");
}
