#include "kernels/caches.hpp"

#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "kernels/on_cores.hpp"

// Kernels on cores with caches: results are right, and no step that cleans or invalidates can be left out.

using namespace tilewright;
using namespace cached_cores;

namespace {

/// A plan without its step `at`.
plan_value without(plan_value plan, int at) {
    plan.steps.erase(at);
    for (int b = 0; b < plan.buffers.size(); ++b) {
        ir::buffer& of = plan.buffers[b];
        for (std::int16_t* end : {&of.born, &of.dead}) *end = static_cast<std::int16_t>(*end - (*end > at));
    }
    return plan;
}

/// Whether cores only write what a step invalidates, up to where they meet.
bool is_only_written_after(plan_value const& plan, int at) {
    if (plan.steps[at].kind != ir::step_kind::invalidate) return false;
    bool read = false;
    for (int next = at + 1; next < plan.steps.size() && plan.steps[next].kind != ir::step_kind::barrier; ++next) {
        auto const accesses = tilewright::detail::accesses_of(plan, plan.steps[next]);
        for (int which = 0; which < accesses.size(); ++which)
            read |= accesses[which].reads && accesses[which].buffer == plan.upkeeps[plan.steps[at].what].buffer;
    }
    return !read;
}

}  // namespace

TEST_CASE("kernels on cores with caches") {
    for (schedule const& of : with_caches()) check_on_cores<cached_cores::two>(of);
}

TEST_CASE("no step that cleans or invalidates can be left out: the check finds it, and so does the emulated machine") {
    int left_out = 0, needless = 0;
    for (schedule const& of : with_caches()) {
        auto const whole = std::make_unique<plan_value>(make_plan(of));
        REQUIRE((whole->refusal ? to_string(whole->refusal) : "") == "");
        for (int at = 0; at < whole->steps.size(); ++at) {
            if (!ir::is_upkeep(whole->steps[at].kind)) continue;
            ++left_out;
            auto const plan = std::make_unique<plan_value>(without(*whole, at));
            bool const cleans = whole->steps[at].kind == ir::step_kind::clean;
            INFO("without step " << at << " of\n" << loop_program(*whole));
            CHECK(check_plan(*plan).broken == (cleans ? ir::rule::line_not_cleaned : ir::rule::line_not_invalidated));
            CHECK(check_plan(*plan, ir::visiting::everything).broken == check_plan(*plan).broken);
            core_team team(*plan->where, semantics_of<cached_cores::two>, plan->cores);
            kernels::operand_data const data = kernels::random_operands(*plan, 3);
            kernels::guarded_buffer made = kernels::make_result(data);
            halide::jit_kernel watched(*plan, team, true);
            std::int32_t said = 0;
            // A core may do in time what another one waits for, by chance.
            for (interleaving how : {interleaving::first, interleaving::last}) {
                team.use(how);
                team.reset();
                if (said == 0) said = watched.run(team, data.inputs, made.elements);
            }
            // A line of which a core writes a part may be old: here, cores write whole lines.
            bool const only_written = is_only_written_after(*whole, at);
            needless += only_written && said == 0;
            CHECK((said == emulation_stale_line || only_written));
        }
    }
    CHECK(left_out >= 29);
    CHECK(needless <= 5);
}
