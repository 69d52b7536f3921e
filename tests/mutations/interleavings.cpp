#include "interleavings.hpp"

#include <tilewright/plan/check_plan.hpp>

#include "catch.hpp"
#include "good_plans.hpp"
#include "mutate.hpp"

// The benchmark `mutations` runs all mutants on the emulator, too.

using namespace mutations;

TEST_CASE("a plan computes the same in every order, and the check of hazards takes it") {
    for (good_plan const& good : good_plans().all) {
        INFO(good.name);
        REQUIRE(!good.plan->refusal);
        std::size_t states = 0;
        CHECK(fault_of(*good.plan, meaning_of(*good.plan), &states) == "");
        CHECK(states > 30);
        CHECK(!check_plan(*good.plan));
    }
}
TEST_CASE("without a wait there is an order in which code sees other data, or the kernel ends too early") {
    good_plans const all;
    plan_value const& good = *all.all.front().plan;
    meaning const wanted = meaning_of(good);
    int seen = 0;
    for (mutant const& m : mutants_of(good).all) {
        INFO(text_of(m.is) << ": " << m.where);
        std::string const fault = fault_of(m.plan, wanted);
        if (m.is == mutation::final_wait_dropped) CHECK(fault == "the kernel ends while l1_dram is under way");
        // The wait for B comes behind the one for A, on the same engine.
        if (m.is == mutation::wait_dropped) CHECK(fault.empty() == (m.where.find("A.l1") == 0));
        if (m.is == mutation::more_tags) CHECK(fault.empty());
        seen += m.is == mutation::final_wait_dropped || m.is == mutation::wait_dropped || m.is == mutation::more_tags ? 1 : 0;
    }
    CHECK(seen > 4);
}
TEST_CASE("the check of hazards finds every mutant that can go wrong") {
    for (good_plan const& good : good_plans().all) {
        meaning const wanted = meaning_of(*good.plan);
        for (mutant const& m : mutants_of(*good.plan).all) {
            INFO(good.name << ": " << text_of(m.is) << ", " << m.where);
            bool const found(check_plan(m.plan));
            CHECK((found || fault_of(m.plan, wanted).empty()));
            CHECK(found == bool(check_plan(m.plan, ir::visiting::everything)));
        }
    }
}
