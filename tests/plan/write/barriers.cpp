#include <tilewright/plan/write/barriers.hpp>

#include <tilewright/plan/planner.hpp>

#include "plan/cores.hpp"

// Where cores wait for each other. A program is written as a letter for each step: l a loop, L a distributed one, e an end, b a barrier, s,
// w and c transfers, waits and code.

using namespace small_kernels;

namespace {
std::string steps_of(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    REQUIRE(!plan->refusal);
    std::string text;
    for (int at = 0; at < plan->steps.size(); ++at) {
        step const& s = plan->steps[at];
        if (s.kind == step_kind::fence) continue;
        text += s.kind == step_kind::loop      ? (plan->variables[s.what].distributed ? 'L' : 'l')
                : s.kind == step_kind::end     ? 'e'
                : s.kind == step_kind::barrier ? 'b'
                : s.kind == step_kind::start   ? 's'
                : s.kind == step_kind::wait    ? 'w'
                                               : 'c';
    }
    return text;
}
}  // namespace

TEST_CASE("cores that share nothing but arguments do not wait for each other") {
    CHECK(steps_of(schedule(copy, two).distribute(m, pair_of_cores)) == "Lce");
    CHECK(steps_of(schedule(copy, two).split(m, mo, mi, 5).distribute(mi, pair_of_cores)) == "lLcee");
}
TEST_CASE("all wait until core 0 has loaded, and core 0 until all have used it") {
    CHECK(steps_of(schedule(product, two).distribute(m, pair_of_cores).cache_read(B, common)) == "swbLce");
    // Again and again: the next iteration loads into the place that all have used.
    CHECK(steps_of(
              schedule(product, two).split(n, no, ni, 3).reorder(no, m, ni, k).distribute(m, pair_of_cores).cache_read(B, common).at(no)) ==
          "lswbLcebe");
}
TEST_CASE("stages that all share follow each other") {
    auto const both = [] { return schedule(twice, two).store_in(S, common).distribute(m, pair_of_cores); };
    CHECK(steps_of(both().stage(S).distribute(m, pair_of_cores)) == "LcebLce");
    CHECK(steps_of(both()) == "cbLce");
}
TEST_CASE("sums of parts, one for each core, are added up when all are there") {
    axis const part{"part", 2}, step{"step", 5};
    auto const in_parts = stages(S(part, m) += A(m, 5 * part + step), C(m) += S(part, m));
    auto const parts = [&] { return schedule(in_parts, two).stage(S).distribute(part, pair_of_cores).store_in(S, common); };
    CHECK(steps_of(parts()) == "Lcebc");
    CHECK(steps_of(parts().stage(C).distribute(m, pair_of_cores)) == "LcebLce");
}
TEST_CASE("steps are led by one core, but for loops, settings, fences and barriers") {
    for (step_kind kind :
         {step_kind::start, step_kind::wait, step_kind::push, step_kind::pop, step_kind::compute, step_kind::signal, step_kind::await})
        CHECK(is_led({.kind = kind}));
    for (step_kind kind : {step_kind::loop, step_kind::end, step_kind::fence, step_kind::configure, step_kind::barrier})
        CHECK_FALSE(is_led({.kind = kind}));
}
