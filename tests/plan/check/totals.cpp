#include <tilewright/plan/check/totals.hpp>

#include "plan/small_kernels.hpp"

// Totals of a plan.

using namespace small_kernels;
using namespace tilewright::detail;

namespace {

/// A transfer in a loop of 3, and a body in one of 4 more.
void write(plan_value& plan, std::int64_t outer = 3) {
    variable_id const o = add_loop(plan, "o", outer), i = add_loop(plan, "i", 4);
    plan.movements.push({.transfer = 0, .bytes = 16, .cycles = 20});
    plan.bodies.push({.cycles = 5});
    add_steps(plan, {{step_kind::loop, o},
                     {step_kind::start, 0},
                     {step_kind::loop, i},
                     {step_kind::compute, 0},
                     {step_kind::end, i},
                     {step_kind::end, o},
                     {step_kind::start, 0}});
}

}  // namespace

TEST_CASE("every step counts as often as its loops run, and of two forms the longer one") {
    blank t;
    write(t.p.plan);
    CHECK(totals_of(t.p.plan).cycles == 4 * 20 + 12 * 5);
    CHECK(totals_of(t.p.plan).bytes == 4 * 16);
    CHECK(count_cycles(t.p.plan) == 4 * 20 + 12 * 5);
    t.p.plan.bodies[0].first_cycles = 7;
    CHECK(totals_of(t.p.plan).cycles == 4 * 20 + 12 * 7);
    limit_totals(t.p.plan, t.p);
    CHECK_FALSE(t.p.refused());
}
TEST_CASE("totals that numbers cannot hold are refused before they are counted") {
    blank bytes;
    write(bytes.p.plan, std::int64_t{1} << 40);
    bytes.p.plan.movements[0].bytes = std::int64_t{1} << 40;
    bytes.p.plan.movements[0].cycles = 1;
    bytes.p.plan.bodies[0].cycles = 1;
    limit_totals(bytes.p.plan, bytes.p);
    CHECK(bytes.p.first_verdict().names[0] == "bytes moved");
    blank cycles;
    write(cycles.p.plan, std::int64_t{1} << 49);  // 2^51 bodies of 5 cycles
    cycles.p.plan.movements[0].bytes = 1;
    limit_totals(cycles.p.plan, cycles.p);
    CHECK(cycles.p.first_verdict().kind == verdict_kind::capacity_of_representation);
    CHECK((cycles.p.first_verdict().names[0] == "cycles" && cycles.p.first_verdict().names[1] == "C"));
    CHECK(cycles.p.first_verdict().facts[1].value == plan_value::most_total);
}
TEST_CASE("cycles of partial tiles are those that were counted") {
    blank t;
    write(t.p.plan);
    t.p.plan.steps[3].tally = static_cast<std::int16_t>(t.p.plan.tallies.push({10, 10, 0, 33, 0}));
    CHECK(count_cycles(t.p.plan) == 4 * 20 + 33);
}
