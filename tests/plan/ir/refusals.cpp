#include <tilewright/plan/ir/refusals.hpp>

#include "plan/small_kernels.hpp"

// The verdict of a schedule, while it is planned.

using namespace small_kernels;
using tilewright::detail::refusals, tilewright::detail::verdict_sheet;

TEST_CASE("the first verdict is kept, with the directive that it speaks of") {
    schedule const of = schedule(copy, blocking).split(m, mo, mi, 4).reorder(n, mo, mi);
    verdict_sheet sheet;
    refusals const p(sheet, &of);
    CHECK_FALSE(p.refused());
    p.refuse(verdict_kind::loop_order, ir::rule::run_time_loop, {label("m")}, 2);
    CHECK(p.refused());
    p.refuse(verdict_kind::no_memory, 1).names = {label("other")};
    p.refuse_capacity("loops", 9, 8);
    CHECK(p.first_verdict().kind == verdict_kind::loop_order);
    CHECK(p.first_verdict().broken == ir::rule::run_time_loop);
    CHECK(p.first_verdict().ordinal == 2);
    CHECK(p.first_verdict().directive == directive_kind::reorder);
    CHECK(p.first_verdict().names[0] == "m");
}
TEST_CASE("a number is limited to what a plan can hold") {
    verdict_sheet sheet;
    refusals const p(sheet);
    CHECK(p.limited(1024, 1024, "bytes", "A") == 1024);
    CHECK_FALSE(p.refused());
    CHECK(p.limited(1025, 1024, "bytes", "A") == 0);
    CHECK(p.first_verdict().kind == verdict_kind::capacity_of_representation);
    CHECK((p.first_verdict().names[0] == "bytes" && p.first_verdict().names[1] == "A"));
    CHECK((p.first_verdict().facts[0].value == 1025 && p.first_verdict().facts[1].value == 1024));
}
TEST_CASE("a common multiple that no plan can hold is refused, and is 1 then") {
    verdict_sheet sheet;
    refusals const p(sheet);
    CHECK(p.common_multiple(12, 8, "A") == 24);
    CHECK(p.common_multiple(64, 16, "A") == 64);
    CHECK_FALSE(p.refused());
    std::int64_t const large = plan_value::most_bytes;  // 2^40
    CHECK(p.common_multiple(large, 2, "A") == large);
    CHECK(p.common_multiple(large, 3, "A") == 1);
    CHECK(p.first_verdict().names[0] == "alignment");
}
TEST_CASE("a mistake of a stage is a limit that is passed, or a rule") {
    verdict_sheet sheets[2];
    refusals const limit(sheets[0]), rules(sheets[1]);
    limit.refuse_ill_formed({.what = "axes", .need = 13, .limit = 12}, "C");
    CHECK(limit.first_verdict().kind == verdict_kind::capacity_of_representation);
    CHECK(limit.first_verdict().names[1] == "C");
    rules.refuse_ill_formed({.broken = ir::rule::axis_only_on_the_right, .about = "k"}, "C");
    CHECK(rules.first_verdict().kind == verdict_kind::ill_formed);
    CHECK((rules.first_verdict().names[0] == "C" && rules.first_verdict().names[1] == "k"));
}
TEST_CASE(
    "what is refused after the first verdict changes nothing, also where it adds names and facts; a verdict that is forgotten is none") {
    verdict_sheet sheet;
    refusals const p(sheet);
    p.refuse(verdict_kind::race, ir::rule::setting_not_made, {label("A")}, 0, {fact{ir::fact_kind::version, 2}});
    verdict& ignored = p.refuse(verdict_kind::deadlock);
    ignored.names = {label("B")};
    p.take({.kind = verdict_kind::in_place});
    CHECK(p.first_verdict().kind == verdict_kind::race);
    CHECK((p.first_verdict().names[0] == "A" && p.first_verdict().facts[0].value == 2));
    p.forget();
    CHECK_FALSE(p.refused());
    p.take({.kind = verdict_kind::in_place});
    CHECK(p.first_verdict().kind == verdict_kind::in_place);
}
