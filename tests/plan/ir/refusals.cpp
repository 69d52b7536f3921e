#include <tilewright/plan/ir/refusals.hpp>

#include "plan/small_kernels.hpp"

// The verdict of a schedule, while it is planned.

using namespace small_kernels;
using tilewright::detail::refusals;

TEST_CASE("the first verdict is kept, with the directive that it speaks of") {
    schedule const of = schedule(copy, blocking).split(m, mo, mi, 4).reorder(n, mo, mi);
    refusals p;
    p.of = &of;
    CHECK_FALSE(p.refused());
    p.refuse(verdict_kind::loop_order, rule::run_time_loop, {label("m")}, 2);
    CHECK(p.refused());
    p.refuse(verdict_kind::no_memory, 1).names = {label("other")};
    p.refuse_capacity("loops", 9, 8);
    CHECK(p.kept.kind == verdict_kind::loop_order);
    CHECK(p.kept.broken == rule::run_time_loop);
    CHECK(p.kept.ordinal == 2);
    CHECK(p.kept.directive == directive_kind::reorder);
    CHECK(p.kept.names[0] == "m");
}
TEST_CASE("a number is limited to what a plan can hold") {
    refusals p;
    CHECK(p.limited(1024, 1024, "bytes", "A") == 1024);
    CHECK_FALSE(p.refused());
    CHECK(p.limited(1025, 1024, "bytes", "A") == 0);
    CHECK(p.kept.kind == verdict_kind::capacity_of_representation);
    CHECK((p.kept.names[0] == "bytes" && p.kept.names[1] == "A"));
    CHECK((p.kept.facts[0].value == 1025 && p.kept.facts[1].value == 1024));
}
TEST_CASE("a common multiple that no plan can hold is refused, and is 1 then") {
    refusals p;
    CHECK(p.common_multiple(12, 8, "A") == 24);
    CHECK(p.common_multiple(64, 16, "A") == 64);
    CHECK_FALSE(p.refused());
    std::int64_t const large = plan_value::most_bytes;  // 2^40
    CHECK(p.common_multiple(large, 2, "A") == large);
    CHECK(p.common_multiple(large, 3, "A") == 1);
    CHECK(p.kept.names[0] == "alignment");
}
TEST_CASE("a mistake of a stage is a limit that is passed, or a rule") {
    refusals limit, rules;
    limit.refuse_ill_formed({.what = "axes", .need = 13, .limit = 12}, "C");
    CHECK(limit.kept.kind == verdict_kind::capacity_of_representation);
    CHECK(limit.kept.names[1] == "C");
    rules.refuse_ill_formed({.broken = rule::axis_only_on_the_right, .about = "k"}, "C");
    CHECK(rules.kept.kind == verdict_kind::ill_formed);
    CHECK((rules.kept.names[0] == "C" && rules.kept.names[1] == "k"));
}
